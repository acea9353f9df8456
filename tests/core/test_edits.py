"""Moves and merges on top of a clustering, on six rows by hand."""

import numpy as np
import pytest

from cobras import Answer, Constraints, Pair, Partition, SuperInstance
from cobras.core.edits import Edit, EditedPartition, Editor

SAME, DIFFERENT = Answer.SAME, Answer.DIFFERENT


def part(*rows, representative=None):
    return SuperInstance(
        np.array(rows), rows[0] if representative is None else representative, np.zeros(1), 1
    )


def cut(s, rows):
    kept = [row for row in s.members.tolist() if row not in rows]
    rest = (
        part(*kept, representative=s.representative if s.representative in kept else kept[0])
        if kept
        else None
    )
    return rest, part(*rows)


A, B, C = part(0, 1, 2), part(3, 4), part(5)
BASE = Partition(((A,), (B,), (C,)))


def edited(*edits, base=BASE):
    constraints = Constraints()
    made = []
    for rows, said in edits:
        pairs = tuple((Pair(i, j), answer) for i, j, answer in said)
        for pair, answer in pairs:
            constraints.add(*pair, answer)
        made.append(Edit(tuple(rows), pairs))
    return Editor(cut).edit(base, made, constraints)


@pytest.mark.parametrize(
    ("edits", "labels"),
    [
        # A row goes to another cluster, or out of its own.
        ([([1], [(1, 3, SAME), (1, 0, DIFFERENT)])], [0, 1, 0, 1, 1, 2]),
        ([([1], [(1, 0, DIFFERENT)])], [0, 1, 0, 2, 2, 3]),
        ([([1, 4], [(1, 4, SAME), (1, 0, DIFFERENT), (4, 3, DIFFERENT)])], [0, 1, 0, 2, 1, 3]),
        # The representative goes, and the others stay: the method may have moved all of them (see below).
        ([([0], [(0, 3, SAME), (0, 1, DIFFERENT)])], [0, 1, 1, 0, 0, 2]),
        # All of a cluster goes.
        ([([5], [(5, 3, SAME)])], [0, 0, 0, 1, 1, 1]),
        # Clusters become one, also where a row was moved to one of them before, or is one by itself.
        ([([], [(0, 5, SAME)])], [0, 0, 0, 1, 1, 0]),
        ([([1], [(1, 3, SAME), (1, 0, DIFFERENT)]), ([], [(3, 5, SAME)])], [0, 1, 0, 1, 1, 1]),
        ([([1], [(1, 0, DIFFERENT)]), ([], [(1, 5, SAME)])], [0, 1, 0, 2, 2, 1]),
        # A row that was moved alone, to which another is moved.
        ([([1], [(1, 0, DIFFERENT)]), ([4], [(4, 1, SAME), (4, 3, DIFFERENT)])], [0, 1, 0, 2, 1, 3]),
    ],
)
def test_edits(edits, labels):
    found = edited(*edits)
    assert found.labels.tolist() == labels
    assert isinstance(found, EditedPartition)
    assert found.base is BASE
    rows = np.concatenate([s.members for c in found.clusters for s in c.super_instances])
    assert sorted(rows.tolist()) == list(range(6))
    assert all(s.representative in s.members for c in found.clusters for s in c.super_instances)


def test_what_agrees_already_is_the_same_object():
    assert edited(([1], [(1, 2, SAME), (1, 3, DIFFERENT)])) is BASE
    assert edited(([], [(0, 1, SAME)])) is BASE
    assert edited(([1], [(1, 3, DIFFERENT)])) is BASE


def test_the_rest_does_not_follow_a_representative_that_was_moved():
    """COBRAS has put all of A into the cluster of B, since its representative is the same as row 3."""
    base = Partition(((A, B), (C,)))
    found = edited(([0], [(0, 3, SAME), (0, 1, DIFFERENT)]), base=base)
    assert found.labels.tolist() == [0, 1, 1, 0, 0, 2]
    together = edited(([1, 0], [(1, 0, SAME), (1, 3, SAME), (1, 2, DIFFERENT)]), base=base)
    assert together.labels.tolist() == [0, 0, 1, 0, 0, 2]


def test_a_row_that_joins_the_rest_later_is_with_the_rest():
    """Row 4 leaves those whose representative it was; then row 0 is said to be the same as row 2, which stayed."""
    base = Partition(((part(0, 2, 3, 4, representative=4), part(1, 5)),))
    found = edited(([4], [(4, 1, SAME), (4, 3, DIFFERENT)]), ([0], [(0, 2, SAME)]), base=base)
    assert found.labels.tolist() == [0, 1, 0, 0, 1, 1]


def test_later_answers_say_where_a_row_that_was_moved_out_belongs():
    constraints = Constraints()
    said = ((Pair(1, 0), DIFFERENT),)
    for pair, answer in (*said, (Pair(1, 5), SAME)):
        constraints.add(*pair, answer)
    assert Editor(cut).edit(BASE, [Edit((1,), said)], constraints).labels.tolist() == [0, 1, 0, 2, 2, 1]


def test_the_same_clustering_is_the_same_object():
    constraints, editor = Constraints(), Editor(cut)
    edit = Edit((1,), ((Pair(1, 0), DIFFERENT),))
    constraints.add(1, 0, DIFFERENT)
    first = editor.edit(BASE, [edit], constraints)
    assert editor.edit(Partition(BASE.groups), [edit], constraints) is first
