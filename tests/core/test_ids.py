"""Ids stay with clusters; clusterings are compared by super-instances, without looking at rows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cobras import Answer, Constraints, Pair, Partition
from cobras.core.edits import Edit, Editor
from cobras.core.ids import ClusterIds, inherited_ids
from cobras.core.progress import overlap, shared_items
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


def test_rows_are_not_looked_at(monkeypatch):
    """An answer must not cost a pass over all rows."""
    halves = SPACE.split(SPACE.root(0), 2)
    quarters = [part for half in halves for part in SPACE.split(half, 2)]
    monkeypatch.setattr(Partition, "labels", property(lambda self: 1 / 0))
    shown = [(Partition.of([halves]), True), (Partition.of((half,) for half in halves), True)]
    ids = ClusterIds(shown)
    assert ids.at(0) == (0,)
    shown.append((Partition.of((part,) for part in quarters), False))
    assert sorted(ids.at(1)) == [0, 1, 2, 3]


def test_who_shares_more_comes_first_and_an_id_is_given_once():
    assert inherited_ids([7, 3], {(0, 0): 5, (0, 1): 6, (1, 0): 1, (1, 1): 9}) == {1: 3, 0: 7}
    assert inherited_ids([7, 3], {(0, 0): 5, (1, 0): 5}) == {0: 3}


def test_an_id_that_was_given_up_is_not_used_again():
    a, b = SPACE.split(SPACE.root(0), 2)
    groups = ([(a, b)], [(a,), (b,)], [(a, b)], [(a,), (b,)])
    ids = ClusterIds([(Partition.of(some), True) for some in groups])
    assert [sorted(ids.at(n)) for n in range(4)] == [[0], [0, 1], [0], [0, 2]]
