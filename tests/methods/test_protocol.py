"""How questions are asked: what is known, what a person is unsure about, and what is shown next."""

import numpy as np
import pytest

from cobras import Answer, Constraints, EuclideanSpace, Pair, Session
from cobras.core.partition import Partition
from cobras.methods.protocol import Reconsider, Step, ask, representative_pairs

SAME, DIFFERENT, UNSURE = Answer.SAME, Answer.DIFFERENT, Answer.UNSURE
X = np.array([[0.0], [1.0], [2.25], [10.0], [11.0]])
PAIRS = [(0, 1), (2, 3), (4, 5)]


def questions(constraints, answers):
    """The pairs that are asked when these answers are given, and the outcome."""
    asked, steps = [], ask(constraints, PAIRS, Partition(()), constraints.relation)
    try:
        step = next(steps)
        for answer in answers:
            asked.append(tuple(step.pair))
            step = steps.send(answer)
    except StopIteration as end:
        return asked, end.value
    raise AssertionError("more is asked than was answered")


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ([SAME], SAME),
        ([DIFFERENT], DIFFERENT),
        ([UNSURE, SAME], SAME),
        ([UNSURE, UNSURE, DIFFERENT], DIFFERENT),
        ([UNSURE, UNSURE, UNSURE], UNSURE),
    ],
)
def test_the_next_pair_is_asked_while_the_person_is_unsure(answers, outcome):
    constraints = Constraints()
    assert questions(constraints, answers) == (PAIRS[: len(answers)], outcome)
    assert [answer for _, answer in constraints] == [a for a in answers if a is not UNSURE]
    assert list(constraints.set_aside) == PAIRS[: answers.count(UNSURE)]


def test_what_is_known_is_not_asked():
    constraints = Constraints()
    constraints.add(0, 1, DIFFERENT)
    assert questions(constraints, []) == ([], DIFFERENT)


def test_a_pair_that_was_set_aside_is_not_asked_again():
    constraints = Constraints()
    constraints.add(0, 1, UNSURE)
    assert questions(constraints, [SAME]) == ([(2, 3)], SAME)


def test_pairs_of_representatives_from_the_medoids_on():
    """The mean of 0, 1, 2.25 is 1.08: 1, then 0, then 2. Of 10 and 11 both are equally near."""
    space = EuclideanSpace(X)
    a, b = sorted(space.split(space.root(0), 2), key=lambda part: part.first)
    assert list(representative_pairs(space, a, b)) == [(1, 3), (0, 4), (2, 4)]


def patient_method(space, constraints, seed, *, n_questions=2):
    """A method as the protocol wants it: it asks about neighbours, and looks again on `Reconsider`."""
    whole = Partition.of([(space.root(seed),)])
    while True:
        try:
            for i in range(n_questions):
                if constraints.relation(i, i + 1) is None:
                    constraints.add(i, i + 1, (yield Step(Pair(i, i + 1), whole)))
            yield Step(None, whole)
        except Reconsider:
            continue


def test_a_method_of_ones_own():
    session = Session(X, patient_method, random_state=0, n_questions=3)
    assert session.parameters["n_questions"] == 3
    session.tell(True, session.ask())
    session.add_constraint(1, 2, False)
    assert session.ask() == (2, 3)
    session.tell(True, (2, 3))
    assert session.ask() is None
    session.undo()
    assert session.ask() == (2, 3)
