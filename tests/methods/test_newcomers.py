"""Where new rows go, and what is asked first after they came."""

import numpy as np
import pytest

from cobras import Constraints, EuclideanSpace, LabelOracle, Session, run
from cobras.core.partition import Partition
from cobras.core.types import Answer
from cobras.methods.newcomers import grow_partition, keep_known_rows
from cobras.spaces.growth import GrownSpace
from tests.session.durability.test_growth import X, Y, answered


@pytest.mark.parametrize("method", ["cobras", "cobra", "adder"])
def test_rows_unlike_anything_seen_are_asked_about_first(method):
    session = answered(method, 30)
    session.append([[40.0, -40.0], [40.1, -40.0], [39.9, -40.1], *X[60:62]])
    assert any(60 <= row < 63 for row in session.ask())


@pytest.mark.parametrize("method", ["cobras", "cobra", "adder"])
def test_new_rows_of_a_marked_cluster_leave_the_mark_as_it_is(method):
    session = answered(method, 40)
    number = int(session.labels_[0])
    session.mark(number, complete=True)
    session.name(number, "done")
    session.append(X[60:])
    assert set(session.labels_[60:][Y[60:] == Y[0]].tolist()) == {number}
    assert (session.marks, session.names) == ({number: "complete"}, {number: "done"})
    inside = set(np.flatnonzero(session.labels_ == number).tolist())
    for _ in range(15):
        if (pair := session.ask()) is None:
            break
        assert inside.isdisjoint(pair)
        session.tell(Y[pair.i] == Y[pair.j], pair)
    assert set(np.flatnonzero(session.labels_ == session.labels_[0]).tolist()) == inside
    session.mark(int(session.labels_[0]))
    assert session.marks == {}


def test_new_rows_near_a_super_instance_of_one_row_are_not_far():
    old = EuclideanSpace(np.array([[0.0], [0.1], [9.0]]))
    space = GrownSpace(old, np.array([[9.1], [60.0]]))
    parts = sorted(old.split(old.root(0), 2), key=lambda s: s.first)
    base, likely = Partition.of((s,) for s in parts), np.array([[0.0, 1.0], [0.0, 1.0]])
    growth = grow_partition(base, space, likely, set(), set(), sees_far=False)
    assert growth.unsure.tolist() == [4]


def test_rows_that_were_asked_about_represent_parts_only_once_rows_were_added():
    rows = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    old, constraints = EuclideanSpace(rows), Constraints()
    constraints.add(0, 5, Answer.DIFFERENT)
    constraints.add(1, 4, Answer.DIFFERENT)
    constraints.volunteered.add((1, 4))  # said without being asked
    for space, wanted in ((old, {1, 4}), (GrownSpace(old, np.array([[1.1]])), {0, 5})):
        parts = keep_known_rows(space, constraints, space.split(space.root(0), 2))
        assert {s.representative for s in parts} == wanted


@pytest.mark.parametrize("first_iteration", ["partial", "unmerged", "single", "eager"])
def test_a_new_row_that_is_different_leaves_the_others_where_they_are(first_iteration):
    session = Session([[0.73], [0.54]], "cobras", 0, first_iteration=first_iteration)
    session.tell(False, session.ask())
    session.append([[0.94]])
    session.tell(False, session.ask())
    assert len(session.labels_) == 3
    run(session, LabelOracle([0, 1, 2]))
    assert session.labels_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("method", ["cobras", "cobra", "adder"])
def test_a_new_row_that_differs_from_a_cluster_is_not_shown_in_it_once_that_is_marked(method):
    session = Session([[0.73], [0.54]], method, random_state=0)
    session.tell(Answer.DIFFERENT, session.ask())
    session.append([[0.94]])
    session.tell(Answer.DIFFERENT, session.ask())
    labels = session.labels_.tolist()
    session.mark(0, complete=True)
    assert session.labels_.tolist() == labels == [0, 1, 2]
