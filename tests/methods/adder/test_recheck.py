"""Which answers are asked again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from cobras import Answer, Constraints, LabelOracle, Session, run
from cobras.core.types import Pair
from cobras.methods.adder.predictors import KnownPoints, left_out_influence
from cobras.methods.adder.recheck import answers_to_recheck
from tests.laws.problems import problems

X, y = load_iris(return_X_y=True)


def in_force(session):
    """The answers that are in force, as constraints."""
    known = Constraints()
    for record in session.history:
        if record.in_force:
            known.add(*record.pair, record.answer)
    return known


def test_the_worth_of_asking_again_from_the_definition(iris):
    """Two clusters, {0, 1, 2} and {60, 61}, and one answer in between that nothing confirms."""
    constraints = Constraints()
    for i, j in ((0, 1), (1, 2), (60, 61)):
        constraints.add(i, j, Answer.SAME)
    constraints.add(0, 60, Answer.DIFFERENT)
    constraints.volunteered.add(Pair(1, 2))
    seeds = [0, 1, 2, 60, 61]
    known = KnownPoints(iris.of(seeds), np.array([0, 0, 0, 1, 1]), np.ones(5, bool))
    similarity = np.full((5, 5), 0.25)
    found = answers_to_recheck(iris, constraints, seeds, known, similarity, ("near", "linear"))
    # What the person volunteered is not asked again.
    assert {case.pair for case in found} == {Pair(0, 1), Pair(60, 61), Pair(0, 60)}
    influence = left_out_influence(iris, known, ("near", "linear"))
    squared = iris.columns("distance", known.points)
    mass = np.bincount(squared.argmin(axis=1), minlength=5)
    e = 1 / (30 + 4)
    for case in found:
        small, large = ([seeds.index(i) for i in side] for side in case.sides)
        b = np.mean([influence[x, large].sum() + (1 - influence[x].sum()) / 2 for x in small])
        if len(small) > 1:
            b = max(b, 0.25)
        against = np.clip(b if case.answer is Answer.DIFFERENT else 1 - b, 0.02, 0.98)
        wrong = e * against / (e * against + (1 - e) * (1 - against))
        inside = mass[:3].sum() ** 2 + mass[3:].sum() ** 2
        assert case.worth == pytest.approx(wrong * mass[small].sum() * mass[large].sum() / inside)
    assert [case.worth for case in found] == sorted((case.worth for case in found), reverse=True)


def test_nothing_is_asked_again_where_nothing_was_asked(iris):
    known = KnownPoints(np.array([0, 60]), np.array([0, 1]), np.zeros(2, bool))
    assert answers_to_recheck(iris, Constraints(), [0, 60], known, np.eye(2), ("near",)) == []


def test_a_wrong_answer_is_found_and_not_in_force():
    """One answer of many is wrong: it is asked again by another pair, which contradicts it."""
    found = 0
    for wrong in range(4, 12):
        session = Session(X, "adder", random_state=0)
        for at in range(70):
            i, j = session.ask()
            session.tell((y[i] == y[j]) != (at == wrong), (i, j))
        void = [record.index for record in session.history if not record.in_force]
        links = [tuple(pair) for pairs in session.constraints() for pair in pairs.tolist()]
        assert sorted(links) == sorted(tuple(r.pair.ordered) for r in session.history if r.in_force)
        found += void == [wrong]
        if void == [wrong]:
            assert adjusted_rand_score(y, session.labels_) > 0.95
    assert found >= 4


def test_right_answers_cost_few_second_questions():
    session = run(Session(X, "adder", random_state=0), LabelOracle(y), until=lambda s: s.n_answers >= 60)
    known, again = Constraints(), 0
    for record in session.history:
        again += known.relation(*record.pair) is not None
        known.add(*record.pair, record.answer)
        assert record.in_force
    assert again <= 3


@given(problems(methods=("adder",), unsure=False), st.booleans())
def test_the_person_may_say_something_about_the_very_answer_that_is_asked_again(problem, confirm):
    problem.options["doubt"] = 0.0  # every answer is asked again
    session = problem.session()
    while (pair := session.ask()) is not None:
        doubted = [record for record in session.history if not record.in_force]
        if doubted:
            about, answer = doubted[0].pair, doubted[0].answer
            said = answer if confirm else Answer(1 - answer)
            session.add_constraint(*about, said)
            assert in_force(session).relation(*about) is said
            assert session.history[doubted[0].index].in_force is confirm
            return
        session.tell(problem.answer(*pair), pair)


def test_which_answers_may_be_asked_again_is_not_kept_from_other_answers():
    """The same two answers, of which first the second, then the first is volunteered."""
    rows = np.array([[0.03], [-0.74], [-1.29], [1.42], [0.45]])
    used, fresh = (Session(rows, "adder", random_state=0, n_parts=1, doubt=0.0) for _ in range(2))
    used.tell(True, used.ask())
    used.add_constraint(*used.ask(), False)
    used.undo()
    used.undo()
    for session in (used, fresh):
        session.add_constraint(*session.ask(), True)
        session.tell(False, session.ask())
    assert used.constraints().must_link.tolist() == fresh.constraints().must_link.tolist()
    assert used.ask() == fresh.ask()
