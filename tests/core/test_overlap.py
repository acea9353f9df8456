"""Clusterings are compared by super-instances, and it is as if their rows were counted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.cluster import contingency_matrix

from cobras import Answer, Constraints, Pair, Partition, Session
from cobras.core.edits import Edit, Editor
from cobras.core.overlap import kept_share, overlap, shared_items
from cobras.spaces.base import cut_rows
from cobras.spaces.euclidean import EuclideanSpace

X = np.random.default_rng(0).normal(size=(40, 2))
SPACE = EuclideanSpace(X)


def group(parts, data):
    """The parts of a split tree, split further at random, in groups at random."""
    parts = [p for part in parts for p in (SPACE.split(part, 2) if data.draw(st.booleans()) else (part,))]
    homes = data.draw(st.lists(st.integers(0, 3), min_size=len(parts), max_size=len(parts)))
    groups = [tuple(p for p, home in zip(parts, homes, strict=True) if home == g) for g in range(4)]
    return parts, Partition.of(groups)


def cut_some(partition, data):
    rows = data.draw(st.lists(st.integers(0, 39), max_size=4, unique=True))
    if not rows:
        return partition
    constraints = Constraints()
    homes = partition.super_instances_of(rows)
    edits = []
    for row in rows:
        others = [i for i in homes[row].members.tolist() if i not in rows]
        if others:
            constraints.add(row, others[0], Answer.DIFFERENT)
            edits.append(Edit((row,), ((Pair(row, others[0]), Answer.DIFFERENT),)))
    if not edits:
        return partition
    return Editor(lambda s, cut: cut_rows(SPACE, s, cut)).edit(partition, edits, constraints)


@given(st.data())
def test_overlap_of_clusterings_with_cut_rows_equals_that_of_their_labels(data):
    parts, before = group([SPACE.root(0)], data)
    _, now = group(parts, data)
    before, now = cut_some(before, data), cut_some(now, data)
    expected = np.zeros((before.n_clusters, now.n_clusters), int)
    np.add.at(expected, (before.labels, now.labels), 1)
    np.testing.assert_array_equal(overlap(before, now), expected)
    assert all(shared_items(before, now).values())


@pytest.mark.parametrize(
    ("method", "options"), [("cobras", {}), ("cobra", {}), ("min_max", {"n_clusters": 3})]
)
@given(seed=st.integers(0, 99), answers=st.lists(st.sampled_from([True, False, False, None]), max_size=40))
def test_overlap_is_what_counting_rows_gives(method, options, seed, answers):
    X = np.random.default_rng(seed).normal(size=(40, 2))
    session = Session(X, method, random_state=seed, **options)
    for answer in answers:
        if (pair := session.ask()) is not None:
            session.tell(answer, pair)
    partitions = session.partitions
    for before, now in (
        (partitions[a], partitions[b]) for a, b in ((0, -1), (-1, 0), (len(partitions) // 2, -1))
    ):
        np.testing.assert_array_equal(overlap(before, now), contingency_matrix(before.labels, now.labels))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.permutations(range(5)))
def test_new_numbers_for_the_same_clusters_are_no_change(labels, numbers):
    assert kept_share(contingency_matrix(labels, np.array(numbers)[labels])) == 1


def test_the_share_is_that_of_the_best_match():
    assert kept_share(contingency_matrix([0, 0, 1, 1], [1, 1, 1, 0])) == 0.75
