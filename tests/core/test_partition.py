"""Partitions: labels, clusters by number, and the clusters of a few rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import InvalidDataError, Partition, Session, SuperInstance
from cobras.core import partition as module
from cobras.core.partition import NodeRandom


def part(*members):
    return SuperInstance(np.array(members), members[0], np.zeros(1), len(members))


groupings = st.lists(st.integers(0, 5), min_size=1, max_size=20)


def partition_of(labels, order):
    """A partition with up to two super-instances in each cluster, in any order."""
    groups = []
    for label in sorted(set(labels), key=order.index):
        members = [i for i, other in enumerate(labels) if other == label]
        groups.append(tuple(part(*half) for half in (members[::2], members[1::2]) if half))
    return Partition.of([*groups, ()])


@given(groupings, st.permutations(range(6)), st.sampled_from([0, 2**16]))
def test_equal_clusterings_have_equal_labels(labels, order, at_once):
    partition = partition_of(labels, order)
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "AT_ONCE", at_once)
        assert partition.labels.tolist() == [numbers[label] for label in labels]
    assert partition.n_clusters == len(numbers)
    for number, cluster in enumerate(partition.clusters):
        assert cluster.members.tolist() == np.flatnonzero(partition.labels == number).tolist()
        assert len(cluster) == len(cluster.members)
        assert set(cluster.representatives) <= set(cluster.members.tolist())


@given(groupings, st.permutations(range(6)), st.data())
def test_the_clusters_of_some_rows_are_their_labels(labels, order, data):
    partition, homes = partition_of(labels, order), {}
    for _ in range(2):  # the second time from memory
        rows = data.draw(st.lists(st.integers(0, len(labels) - 1)))
        assert partition.clusters_of(rows, homes) == {row: partition.labels[row] for row in rows}


@given(
    seed=st.integers(0, 99),
    steps=st.lists(st.sampled_from([True, False, None, "undo", "revise"]), max_size=25),
    method=st.sampled_from(["cobras", "cobra", "adder"]),
)
def test_a_session_finds_clusters_from_one_clustering_to_the_next(seed, steps, method):
    session = Session(np.random.default_rng(seed).normal(size=(50, 2)), method, random_state=seed)
    rows = list(range(0, 50, 3))
    for step in steps:
        if step == "undo" and session.can_undo:
            session.undo()
        elif step == "revise" and session.history:
            session.revise(0, None)
        elif (step is None or isinstance(step, bool)) and (pair := session.ask()) is not None:
            session.tell(step, pair)
        assert session.clusters_of(rows) == {row: session.labels_[row] for row in rows}


def test_wrong_numbers_are_named():
    partition = Partition.of([(part(0, 2),), (part(1),)])
    for rows in ([3], [-1, 0]):
        with pytest.raises(InvalidDataError, match="Rows go from 0 to 2"):
            partition.clusters_of(rows)
    with pytest.raises(InvalidDataError, match="There is no cluster 2; there are 2, counted from 0"):
        partition.cluster(2)
    with pytest.raises(InvalidDataError, match="by its number, not by 'first'"):
        partition.cluster("first")


def test_random_numbers_belong_to_the_node():
    s = SuperInstance(np.arange(3), 0, np.zeros(1), 3, seed=7)
    first, again, other = s.random(), s.random(), NodeRandom(8, (0,))
    numbers = first.random(1000)
    np.testing.assert_array_equal(numbers, again.random(1000))
    assert not np.array_equal(numbers, first.random(1000))
    assert not np.array_equal(numbers, other.random(1000))
    assert 0 <= numbers.min() < 0.05
    assert 0.95 < numbers.max() < 1


def test_a_bool_is_no_number_of_a_cluster():
    session = Session([[0.0], [0.1], [5.0]], "cobras", random_state=0)
    with pytest.raises(InvalidDataError, match="A cluster is given by its number, not by False"):
        session.name(False, "first")
