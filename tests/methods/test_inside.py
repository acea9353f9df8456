"""The search inside a cluster that is to be split."""

import numpy as np
import pytest

from cobras import Answer, Constraints, EuclideanSpace, Partition, Session
from cobras.methods.inside import search_inside

X = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [9.0], [9.5]])
SPACE = EuclideanSpace(X)


def search(answer, marks=None):
    """All pairs that are asked about the whole table, and what is found."""
    constraints, whole = Constraints(), SPACE.root(0)
    constraints.to_split = dict.fromkeys([whole.mark] if marks is None else marks, 0)
    steps, asked = search_inside(SPACE, constraints, Partition(((whole,),))), []
    try:
        step = next(steps)
        while True:
            asked.append(step.pair)
            step = steps.send(answer(*step.pair))
    except StopIteration as end:
        return asked, end.value


def test_the_first_two_halves_may_be_different():
    asked, divided = search(lambda i, j: Answer.DIFFERENT)
    assert len(asked) == 1
    assert {tuple(s.members.tolist()) for s in divided.parts} == {(0, 1, 2, 3), (4, 5, 6, 7)}


def test_it_goes_deeper_until_two_parts_are_different():
    asked, divided = search(lambda i, j: Answer.of((i == 7) == (j == 7)))
    assert len(asked) > 1
    assert np.sort(np.concatenate([s.members for s in divided.parts])).tolist() == list(range(8))
    assert divided.whole is SPACE.root(0)
    assert sorted(len(s) for s in divided.parts[-2:])[0] == 1


def test_it_ends_when_all_are_the_same():
    asked, divided = search(lambda i, j: Answer.SAME)
    assert divided is None
    assert len(asked) <= len(X) - 1


def test_nothing_is_asked_where_nobody_wants_a_split():
    assert search(lambda i, j: Answer.SAME, marks=[]) == ([], None)


@pytest.mark.parametrize("method", ["cobras", "cobra"])
def test_a_cluster_is_split_where_the_person_finds_a_difference(method):
    """Row 0 differs from all others, and no representative says so; COBRA splits no further than it is asked."""
    options = {"n_super_instances": 2} if method == "cobra" else {}
    session = Session(X, method, 0, **options)
    truth = lambda i, j: (i == 0) == (j == 0)  # noqa: E731
    while session.n_answers < 1 and (pair := session.ask()) is not None:
        session.tell(truth(*pair), pair)
    before = session.labels_[0]
    session.split(before)
    assert session.to_split == (before,)
    while session.to_split:
        session.tell(truth(*session.ask()), session.ask())
    while (pair := session.ask()) is not None and session.n_answers < 40:
        session.tell(truth(*pair), pair)
    assert session.labels_.tolist() == [0, *[1] * 7] or method == "cobra"
    assert session.labels_[0] != session.labels_[7]
