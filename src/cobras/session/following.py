"""Which new rows go where rows were moved by hand: to the method, these may still be where they were moved from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping

import numpy as np

from cobras.core.edits import Companion, EditedPartition
from cobras.core.partition import Partition
from cobras.core.types import Answer, FloatArray, IndexArray, Said

FIRST_BLOCK = 256  # old rows that are looked at first: mostly one of them is nearer than a moved one
AT_ONCE = 2**20  # distances that are held at a time, of eight bytes each


class Following:
    """The new rows that are shown beside rows that were moved by hand.

    Attributes
    ----------
    beside : dict of int to Companion
    """

    def __init__(self) -> None:
        self.beside: dict[int, Companion] = {}

    def take_in(
        self, X: FloatArray, n_old: int, moved: Container[int], shown: Callable[[], Partition]
    ) -> None:
        """Take the new rows that are nearest to moved ones, and those that would be shown alone.

        `shown` returns the clustering with those that were taken.
        """
        for find in (nearest_moved, strays):
            partition = shown()
            if isinstance(partition, EditedPartition):
                self._take(find(X, n_old, partition), n_old, moved, partition.base)

    def leave_behind(self, moved: Collection[int], said: Said, shown: Partition) -> None:
        """Let new rows stay where they are shown when the row beside which they are is moved without them."""
        left = [x for x, other in self.beside.items() if other.row in moved and x not in moved]
        if not left:
            return
        apart = {i for pair, answer in said if answer is Answer.DIFFERENT for i in pair}
        stay = apart.difference(moved)
        number = shown.clusters_of([*left, *stay])
        by_cluster = {number[i]: i for i in stay}
        for x in left:
            if number[x] in by_cluster:
                self.beside[x] = self.beside[x]._replace(row=by_cluster[number[x]])

    def _take(self, found: Mapping[int, int], n_old: int, moved: Container[int], base: Partition) -> None:
        number = base.clusters_of([*found, *found.values()])
        first = [min(s.first for s in cluster.super_instances) for cluster in base.clusters] if found else []
        for row, near in found.items():
            home = near if number[row] == number[near] else first[number[row]]
            if home < n_old:  # else the method, which began again, has only new rows there
                self.beside[row] = Companion(near if near in moved else self.beside[near].row, home)


def nearest_moved(X: FloatArray, n_old: int, shown: EditedPartition) -> dict[int, int]:
    """Return the new rows that are nearer to a row that was moved than to any other old one, and to which."""
    moved = [row for row in shown.cut if row < n_old]
    waiting = np.arange(n_old, len(X))
    at, away = nearest(X, waiting, np.array(moved, dtype=np.intp))
    stay = np.ones(n_old, dtype=bool)
    stay[moved] = False
    start, size = 0, FIRST_BLOCK
    while start < n_old and len(waiting):
        block = np.flatnonzero(stay[start : start + size]) + start
        far = away < nearest(X, waiting, block)[1]
        waiting, at, away = waiting[far], at[far], away[far]
        start, size = start + size, 2 * size
    return dict(zip(waiting.tolist(), at.tolist(), strict=True))


def strays(X: FloatArray, n_old: int, shown: EditedPartition) -> dict[int, int]:
    """Return the new rows that are shown without old ones since these were moved, and the nearest of these."""
    alone = [c.members for c in shown.clusters if min(s.first for s in c.super_instances) >= n_old]
    rows = np.concatenate(alone).tolist() if alone else []
    moved = [row for row in shown.cut if row < n_old]
    number = shown.base.clusters_of([*rows, *moved])
    found: dict[int, int] = {}
    for cluster in dict.fromkeys(number[row] for row in rows):
        here, left = ([row for row in some if number[row] == cluster] for some in (rows, moved))
        if left:
            at, _ = nearest(X, np.array(here), np.array(left))
            found |= dict(zip(here, at.tolist(), strict=True))
    return found


def nearest(X: FloatArray, rows: IndexArray, others: IndexArray) -> tuple[IndexArray, FloatArray]:
    """Return the nearest of other rows for each row, and how far it is, squared."""
    from scipy.spatial.distance import cdist  # 0.2 s that the first question does not wait for

    at, away = np.empty(len(rows), dtype=np.intp), np.full(len(rows), np.inf)
    size = max(1, AT_ONCE // len(rows))
    for start in range(0, len(others), size):
        some = others[start : start + size]
        found = cdist(X[rows], X[some], "sqeuclidean")
        best = found.argmin(axis=1)
        nearer = found[np.arange(len(rows)), best] < away
        at[nearer], away[nearer] = some[best[nearer]], found.min(axis=1)[nearer]
    return at, away
