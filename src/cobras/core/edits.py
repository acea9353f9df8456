"""Moves and merges of a person, put on top of the clustering of a method.

A method may be unable to show what a person did: COBRAS moves whole super-instances, and a method of a user's own
may know nothing of rows that it did not ask about. So what a move or a merge says is enforced here, and nowhere
else. Where the method's clustering agrees with it, nothing is changed. A row that has to leave its super-instance
is cut out of it; the method itself goes on with whole super-instances. A new row that the method puts where others
were moved away is shown with these if one of them is the nearest to it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from cobras.core.constraints import Constraints
from cobras.core.partition import Partition, SuperInstance
from cobras.core.types import Answer, FloatArray, IndexArray, Said

# A super-instance without some of its rows, None if none is left; and these rows alone.
Pieces: TypeAlias = tuple[SuperInstance | None, SuperInstance]

FIRST_BLOCK = 256  # old rows that are looked at first: mostly one of them is nearer than a moved one
AT_ONCE = 2**20  # distances that are held at a time, of eight bytes each


class Edit(NamedTuple):
    """A move or a merge: the rows that were moved, none for a merge, and what it says about pairs."""

    rows: tuple[int, ...]
    said: Said


@dataclass(frozen=True, eq=False, repr=False)
class EditedPartition(Partition):
    """A clustering of a method with moves and merges on top.

    Attributes
    ----------
    base : Partition
        The clustering of the method.
    cut : dict of int to SuperInstance
        The rows that were cut out of their super-instance, and this one.
    whole : dict of SuperInstance to SuperInstance
        The super-instances but for those of cut rows, and what the method has in their place.
    """

    base: Partition = field(default_factory=lambda: Partition(()))
    cut: Mapping[int, SuperInstance] = field(default_factory=dict)
    whole: Mapping[SuperInstance, SuperInstance] = field(default_factory=dict)


class Editor:
    """Puts edits on top of one clustering after another.

    Parameters
    ----------
    cut : callable
        Makes two super-instances of one: what is left without some rows, and these rows. The same call should
        give the same objects.
    """

    def __init__(self, cut: Callable[[SuperInstance, tuple[int, ...]], Pieces]) -> None:
        self._cut = cut
        self._homes: dict[int, SuperInstance] = {}
        self._last: tuple[object, Partition] | None = None

    def edit(
        self,
        base: Partition,
        edits: Sequence[Edit],
        constraints: Constraints,
        beside: Mapping[int, int] | None = None,
    ) -> Partition:
        """The clustering with the edits on top; the same object if it agrees with them already.

        `beside` has the new rows that are shown with another one, while the method has both in one cluster.
        """
        layout = Layout(base, edits, constraints, self._homes, beside or {})
        if layout.is_plain:
            return base
        # A clustering as before is the same object, so that whoever compares two sees it at once.
        key = base.groups, layout.key()
        if self._last is None or self._last[0] != key:
            self._last = key, self._build(base, layout)
        return self._last[1]

    def _build(self, base: Partition, layout: Layout) -> Partition:
        leaving: dict[SuperInstance, dict[int, list[int]]] = {}
        for row, group in layout.place.items():
            leaving.setdefault(self._homes[row], {}).setdefault(layout.group(group), []).append(row)
        groups: dict[int, list[SuperInstance]] = {}
        whole: dict[SuperInstance, SuperInstance] = {}
        for number, cluster in enumerate(base.clusters):
            for s in cluster.super_instances:
                rest: SuperInstance | None = s
                for group, rows in leaving.get(s, {}).items():
                    groups.setdefault(group, []).append(self._cut(s, tuple(sorted(rows)))[1])
                if s in leaving:
                    gone = [row for rows in leaving[s].values() for row in rows]
                    rest = self._cut(s, tuple(sorted(gone)))[0]
                if rest is not None:
                    whole[rest] = s
                    groups.setdefault(layout.group(layout.rest.get(s, number)), []).append(rest)
        cut = {row: self._homes[row] for row in layout.place}
        return EditedPartition(tuple(map(tuple, groups.values())), base, cut, whole)


class Layout:
    """Where rows and super-instances have to be shown.

    Groups are numbers: those of the clusters of the method, and new ones after them.

    Attributes
    ----------
    place : dict of int to int
        The rows that have to be cut out of their super-instance, and their groups.
    rest : dict of SuperInstance to int
        The groups of super-instances whose representative was moved away, where they do not stay in theirs.
    """

    def __init__(
        self,
        base: Partition,
        edits: Sequence[Edit],
        constraints: Constraints,
        homes: dict[int, SuperInstance],
        beside: Mapping[int, int],
    ) -> None:
        self._base, self._edits, self._constraints, self._homes = base, edits, constraints, homes
        self._into: dict[int, int] = {}
        self._n_groups = base.n_clusters
        self.place: dict[int, int] = {}
        self.rest: dict[SuperInstance, int] = {}
        self._moved = dict.fromkeys(row for edit in edits for row in edit.rows)
        named = {*self._moved, *(i for edit in edits for pair, _ in edit.said for i in pair)}
        named |= {*beside, *beside.values()}
        self._number = base.clusters_of(named, homes)
        # Twice: rows are moved among the clusters as they were merged. Which clusters a merge of moved rows joins
        # is known only when these have their places.
        self._join_merged(without=self._moved)
        if self._moved:
            homes.update(base.super_instances_of(named, homes))
            self._place_moved()
            self._join_merged()
            self._place_beside(beside)

    @property
    def is_plain(self) -> bool:
        """Whether the clustering of the method agrees with all edits."""
        return not (self._into or self.place or self.rest)

    def key(self) -> object:
        """What tells it from other layouts of the same clustering."""
        return tuple(self._into.items()), tuple(self.place.items()), tuple(self.rest.items())

    def group(self, number: int) -> int:
        """The group that a group was joined into."""
        while number in self._into:
            number = self._into[number]
        return number

    def _where(self, row: int) -> int:
        """The group of a row as far as is known by now."""
        number = self._number[row]
        if self.rest and self._homes[row] in self.rest:
            number = self.rest[self._homes[row]]
        return self.group(self.place.get(row, number))

    def _new_group(self) -> int:
        self._n_groups += 1
        return self._n_groups - 1

    def _join_merged(self, without: Collection[int] = ()) -> None:
        """Join the groups of merged clusters; a row that was moved is where it was moved to."""
        for edit in self._edits:
            for (i, j), answer in () if edit.rows else edit.said:
                if answer is Answer.SAME and i not in without and j not in without:
                    a, b = sorted((self._where(i), self._where(j)))
                    if a != b:
                        self._into[b] = a

    def _place_moved(self) -> None:
        # In the order of the moves: one that takes a representative away puts the rest of its super-instance into
        # another group, and those after it were made by a person who saw the rest there.
        together: dict[int, list[int]] = {}
        for row in self._moved:
            together.setdefault(self._constraints.component(row), []).append(row)
        for rows in together.values():
            # One that they were moved away from may have been moved later: then it has left the same group.
            apart = self._rows_apart(rows)
            groups, left = {*map(self._where, rows)}, {*map(self._where, apart)}
            left |= {self.group(self._number[row]) for row in apart}
            target = self._target(rows[0], left)
            if target is not None:
                group = self._where(target)
            elif len(groups) == 1 and groups.isdisjoint(left):
                continue
            else:
                group = self._new_group()
            self.place.update((row, group) for row in rows if self._where(row) != group)
            if target is not None:
                self._keep_rest(rows, target)

    def _place_beside(self, beside: Mapping[int, int]) -> None:
        known = {*self._constraints.rows()} if beside else set()
        for row, other in beside.items():
            # What is said of a row itself counts more.
            is_free = row not in known or self._constraints.relation(row, other) is Answer.SAME
            if is_free and row not in self._moved and self._number[row] == self._number[other]:
                group = self._where(other)
                if self._where(row) != group:
                    self.place[row] = group

    def _target(self, row: int, left: set[int]) -> int | None:
        """A row that was not moved and is the same: the latest one that others were moved to.

        Without one, any that is not in the groups that were left.
        """
        root = self._constraints.component(row)
        targets = [
            i
            for edit in reversed(self._edits)
            for pair, answer in edit.said
            if answer is Answer.SAME
            for i in pair
            if i not in self._moved and self._constraints.component(i) == root
        ]
        if targets:
            return targets[0]
        others = [i for i in self._constraints.members(row) if i not in self._moved]
        self._number.update(self._base.clusters_of(others, self._homes))
        self._homes.update(self._base.super_instances_of(others, self._homes))
        return next((i for i in others if self._where(i) not in left), None)

    def _rows_apart(self, rows: Sequence[int]) -> list[int]:
        """The rows that these were moved away from."""
        pairs = [p for edit in self._edits for p, answer in edit.said if answer is Answer.DIFFERENT]
        here = set(rows)
        return [j if i in here else i for i, j in pairs if (i in here) != (j in here)]

    def _keep_rest(self, rows: Sequence[int], target: int) -> None:
        """Leave super-instances in a group of their own whose representative alone was moved to another cluster.

        The method lets them follow their representative.
        """
        found = self._base.super_instances_of([target, *self._rows_apart(rows)], self._homes)
        apart = {s for s in found.values() if s is not found[target]}
        for row in rows:
            s = self._homes[row]
            if (
                s.representative == row
                and s in apart
                and self.group(self._number[row]) == self._where(target)
            ):
                # Already where they were moved to, they have no place of their own, and would go with the rest.
                here = [i for i in self._moved if self._homes[i] is s]
                self.place.update((i, self._where(i)) for i in here if i not in self.place)
                self.rest[s] = self._new_group()


def rows_beside(X: FloatArray, n_old: int, shown: EditedPartition) -> dict[int, int]:
    """Return the new rows whose nearest row, in their cluster of the method, was cut out of it; and that row."""
    found: dict[int, int] = {}
    for cluster, gone in rows_by_cluster(shown.base, [row for row in shown.cut if row < n_old]).items():
        members = shown.base.clusters[cluster].members
        new, stay = members[members >= n_old], np.setdiff1d(members[members < n_old], gone)
        at, away = nearest(X, new, np.array(gone))
        start, size = 0, FIRST_BLOCK
        while start < len(stay) and len(new):
            far = away < nearest(X, new, stay[start : start + size])[1]
            new, at, away = new[far], at[far], away[far]
            start, size = start + size, 2 * size
        found |= dict(zip(new.tolist(), at.tolist(), strict=True))
    return found


def rows_by_cluster(partition: Partition, rows: Sequence[int]) -> dict[int, list[int]]:
    """Return some rows by the number of their cluster."""
    found: dict[int, list[int]] = {}
    for row, number in partition.clusters_of(rows).items():
        found.setdefault(number, []).append(row)
    return found


def nearest(X: FloatArray, rows: IndexArray, others: IndexArray) -> tuple[IndexArray, FloatArray]:
    """Return the nearest of other rows for each row, and how far it is, squared."""
    from scipy.spatial.distance import cdist  # 0.2 s that the first question does not wait for

    at, away = np.empty(len(rows), dtype=np.intp), np.full(len(rows), np.inf)
    size = max(1, AT_ONCE // max(1, len(rows)))
    for start in range(0, len(others), size):
        some = others[start : start + size]
        found = cdist(X[rows], X[some], "sqeuclidean")
        best = found.argmin(axis=1)
        nearer = found[np.arange(len(rows)), best] < away
        at[nearer], away[nearer] = some[best[nearer]], found.min(axis=1)[nearer]
    return at, away
