"""Which answers are asked again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from cobras import Answer, Constraints, LabelOracle, Session, run
from cobras.core.types import Pair
from cobras.methods.adder.predictors import KnownPoints
from cobras.methods.adder.recheck import answers_to_recheck, believed_clusters
from tests.laws.problems import problems

X, y = load_iris(return_X_y=True)


def in_force(session):
    """The answers that are in force, as constraints."""
    known = Constraints()
    for record in session.history:
        if record.in_force:
            known.add(*record.pair, record.answer)
    return known


@pytest.mark.parametrize("join", [False, True])
def test_the_worth_of_asking_again_from_the_definition(iris, join):
    """Components {0, 1, 2, 3}, {60, 61} and {140}, of which the last two may be one group.

    Some answers nothing else confirms; one was doubted before.
    """
    constraints = Constraints()
    for i, j in ((0, 1), (1, 2), (2, 3), (60, 61)):
        constraints.add(i, j, Answer.SAME)
    constraints.add(0, 60, Answer.DIFFERENT)
    constraints.add(0, 140, Answer.DIFFERENT)
    constraints.add(2, 61, Answer.DIFFERENT)
    constraints.doubt(Pair(2, 61))
    constraints.volunteered.add(Pair(2, 3))
    seeds = [0, 1, 2, 3, 60, 61, 140]
    known = KnownPoints(iris.of(seeds), np.array([0, 0, 0, 0, 1, 1, 2]), np.ones(7, bool))
    groups = known._replace(clusters=np.array([0, 0, 0, 0, 1, 1, 1])) if join else known
    rng = np.random.default_rng(0)
    similarity = rng.random((7, 7))
    similarity = (similarity + similarity.T) / 2
    left_out = rng.random((7, groups.n_clusters))
    left_out[0] = [1.0, *([0.0] * (groups.n_clusters - 1))]  # surer than anything is taken to be
    left_out /= left_out.sum(axis=1, keepdims=True)
    found = answers_to_recheck(iris, constraints, seeds, known, groups, similarity, left_out)
    # What the person volunteered is not asked again.
    assert {case.pair for case in found} == {
        Pair(0, 1),
        Pair(1, 2),
        Pair(60, 61),
        Pair(0, 60),
        Pair(0, 140),
    }
    mass = np.bincount(iris.columns("distance", known.points).argmin(axis=1), minlength=7)
    inside = mass[:4].sum() ** 2 + mass[4:6].sum() ** 2 + mass[6] ** 2
    e = (1 + 1) / (30 + 6 + 1)
    for case in found:
        small, large = ([seeds.index(i) for i in side] for side in case.sides)
        b = np.mean([left_out[x, groups.clusters[large[0]]] for x in small])
        if len(small) > 1:
            alike = similarity[np.ix_(small, large)].mean()
            b = alike if case.answer is Answer.SAME else max(b, alike)
        against = np.clip(b if case.answer is Answer.DIFFERENT else 1 - b, 0.01, 0.99)
        wrong = e * against / (e * against + (1 - e) * (1 - against))
        assert case.worth == pytest.approx(wrong * mass[small].sum() * mass[large].sum() / inside)
        # After a second answer that contradicts it, one of the two is wrong.
        assert case.wrong == pytest.approx(wrong * (1 - e) / (wrong * (1 - e) + (1 - wrong) * e))
    assert [case.worth for case in found] == sorted((case.worth for case in found), reverse=True)


def test_nothing_is_asked_again_where_nothing_was_asked(iris):
    known = KnownPoints(np.array([0, 60]), np.array([0, 1]), np.zeros(2, bool))
    found = answers_to_recheck(iris, Constraints(), [0, 60], known, known, np.eye(2), np.eye(2))
    assert found == []


@st.composite
def votes(draw):
    """Points in clusters of two or more, and right answers about some pairs."""
    n, k = draw(st.integers(4, 14)), draw(st.integers(1, 2))
    clusters = np.arange(n) % k
    asked = np.triu(np.random.default_rng(draw(st.integers(0, 99))).random((n, n)) < 0.6, 1)
    asked |= asked.T
    together = clusters[:, None] == clusters
    known = KnownPoints(np.arange(n), clusters, np.ones(n, bool))
    return known, (asked & together).astype(float), (asked & ~together).astype(float)


@given(votes(), st.floats(0.5, 1))
def test_right_answers_and_predictions_that_agree_move_nothing(given_votes, sure):
    known, same, different = given_votes
    M = known.membership
    left_out = sure * M + (1 - sure) / M.shape[1]
    np.testing.assert_array_equal(believed_clusters(known, left_out, same, different), known.clusters)


@pytest.mark.parametrize("predicted", [0.5, 0.9])
def test_one_wrong_answer_among_many_is_outvoted(predicted):
    """Point 0 was put into cluster 1 by one wrong "same"; three answers, and perhaps the others, say cluster 0."""
    clusters = np.array([1, 0, 0, 0, 0, 1, 1, 1, 1])
    known = KnownPoints(np.arange(9), clusters, np.ones(9, bool))
    same, different = np.zeros((9, 9)), np.zeros((9, 9))
    for votes, pairs in (
        (same, [(0, 5), (0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (5, 6), (6, 7), (7, 8)]),
        (different, [(0, 6), (1, 7), (2, 8), (3, 5)]),
    ):
        for i, j in pairs:
            votes[i, j] = votes[j, i] = 1
    left_out = 0.9 * known.membership + 0.05
    left_out[0] = predicted, 1 - predicted
    np.testing.assert_array_equal(believed_clusters(known, left_out, same, different), [0, *clusters[1:]])


def test_a_point_that_is_alone_stays_so_unless_an_answer_takes_it_along():
    known = KnownPoints(np.arange(5), np.array([0, 0, 0, 0, 1]), np.ones(5, bool))
    left_out = np.tile([1.0, 0.0], (5, 1))
    same, different = np.zeros((5, 5)), np.zeros((5, 5))
    different[4, 0] = different[0, 4] = 1
    assert believed_clusters(known, left_out, same, different)[4] == 1
    different[:] = 0
    same[4, :2] = same[:2, 4] = 1
    assert believed_clusters(known, left_out, same, different)[4] == 0


def test_a_wrong_answer_is_found_and_not_in_force():
    """One answer of many is wrong: it is asked again by another pair, which contradicts it."""
    found = 0
    for wrong in range(4, 16):
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
    assert found >= 3


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
