"""Ids of clusters: an id stays with its cluster for life, while cluster numbers change.

From one clustering that is shown to the next, every cluster inherits the id of the old cluster with which it shares
most items; pairs of clusters that share more come first, and an id is given once. Others get new ids. So ids are a
function of the clusterings that were shown, one after another, and a replay gives the same. A session that goes on
with other features brings the ids that its clusters had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from typing import NamedTuple

from cobras.core.partition import Partition
from cobras.core.progress import shared_items


class GivenIds(NamedTuple):
    """How far ids have been given: to how many clusterings, by place, the last of them, and how many ids."""

    n_shown: int
    ids: tuple[tuple[int, ...], ...]
    last: Partition | None
    n_used: int


class KeptIds(NamedTuple):
    """Ids that clusters had before: after how many entries of the history they count, and the parts of each.

    A part is a row that stands for it, and how many rows it has.
    """

    place: int
    clusters: tuple[tuple[int, tuple[tuple[int, int], ...]], ...]

    def next_ids(self, partition: Partition, n_used: int) -> tuple[int, ...]:
        """The ids of a clustering, whose clusters inherit by the parts that they hold."""
        ids = [id for id, _ in self.clusters]
        homes = partition.clusters_of([row for _, parts in self.clusters for row, _ in parts])
        shared: Counter[tuple[int, int]] = Counter()
        for old, (_, parts) in enumerate(self.clusters):
            for row, size in parts:
                shared[old, homes[row]] += size
        return next_ids(ids, shared, partition, max([n_used, *(id + 1 for id in ids)]))


class ClusterIds:
    """The ids along a sequence of clusterings, computed when they are asked for.

    Parameters
    ----------
    shown : list of (Partition, bool)
        The clusterings in the order in which they were shown, and whether each has a place of its own or takes that
        of the one before. It may grow.
    kept : dict of int to KeptIds
        Ids from elsewhere, by the number of the clustering in that order.

    Examples
    --------
    >>> import numpy as np
    >>> from cobras import SuperInstance
    >>> a, b, c = (SuperInstance(np.array(rows), rows[0], np.zeros(1), 2) for rows in ([0, 3], [1, 2], [4]))
    >>> groups = ((b, c), (a,)), ((b,), (a,), (c,)), ((b,), (a, c))
    >>> ids = ClusterIds([(Partition(some), True) for some in groups])
    >>> ids.at(0), ids.at(1), ids.at(2)
    ((0, 1), (0, 1, 2), (0, 1))
    """

    def __init__(
        self, shown: list[tuple[Partition, bool]], kept: Mapping[int, KeptIds] | None = None
    ) -> None:
        self._shown, self._kept = shown, kept or {}
        self._given = GivenIds(0, (), None, 0)

    def at(self, place: int) -> tuple[int, ...]:
        """The ids of the clusters at a place, by cluster number."""
        n_shown, places, last, n_used = self._given
        ids = list(places)
        for partition, is_new in self._shown[n_shown:]:
            new = ids[-1] if ids else ()
            if n_shown in self._kept:
                new = self._kept[n_shown].next_ids(partition, n_used)
            elif partition is not last:
                new = next_ids(new, {} if last is None else shared_items(last, partition), partition, n_used)
            n_used = max(n_used, *(number + 1 for number in new))
            last = partition
            if not is_new:
                ids.pop()
            ids.append(new)
            n_shown += 1
        # In one step: Ctrl-C may come between any two.
        self._given = GivenIds(n_shown, tuple(ids), last, n_used)
        return ids[place]


def next_ids(
    ids: Sequence[int], shared: dict[tuple[int, int], int], partition: Partition, n_used: int
) -> tuple[int, ...]:
    """The ids of a clustering, by cluster number: those of the one before, and new ones from `n_used` on."""
    found, unused = inherited_ids(ids, shared), count(n_used)
    return tuple(found[x] if x in found else next(unused) for x in range(partition.n_clusters))


def inherited_ids(ids: Sequence[int], shared: dict[tuple[int, int], int]) -> dict[int, int]:
    """The ids that new clusters inherit: those that share most come first, then those with the older id."""
    found: dict[int, int] = {}
    given: set[int] = set()
    for old, new in sorted(shared, key=lambda pair: (-shared[pair], ids[pair[0]], pair[1])):
        if old not in given and new not in found:
            given.add(old)
            found[new] = ids[old]
    return found
