"""Large super-instances in memory: their rows, read block by block on all cores, and their members.

COBRAS makes many splits of which it needs only the representatives, and thinking ahead makes more. Row numbers take
four bytes each, so a split keeps one byte per row, its label. Row numbers are kept only for the splits that were
used last; those of others are found again from the labels, without a look at the rows.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cobras.core.partition import SuperInstance
from cobras.core.threads import on_all_cores
from cobras.core.types import BoolArray, FloatArray, IndexArray
from cobras.spaces.base import index_type, squared_distances
from cobras.spaces.kernels.blocks import assign, order_by_label
from cobras.spaces.passes.sampling import BLOCK, Sums, relative_centers

KEPT = 1.5  # times all row numbers: what the cache of members holds at most
SMALL = 2**20  # row numbers that it may hold in any case


class MemoryRegion:
    """Rows of an array in memory or in a mapped file; see `cobras.spaces.passes.sampling.Region`.

    Parameters
    ----------
    members : array of int, ascending, or None for all rows
    shown : array of bool, or None if every row may be shown
    block : row numbers per block
    each : how work is spread, over all cores or `on_one_core`
    """

    def __init__(
        self,
        X: FloatArray,
        members: IndexArray | None,
        shown: BoolArray | None,
        block: int = BLOCK,
        each: Callable[..., Sequence[Any]] = on_all_cores,
    ) -> None:
        self.X, self.members, self.block, self.each = X, members, block, each
        self.n_columns = X.shape[1]
        self.shown = np.empty(0, bool) if shown is None else shown

    def __len__(self) -> int:
        return len(self.X if self.members is None else self.members)

    def rows(self, positions: IndexArray) -> FloatArray:
        """Return some of the rows, by their position in the region, ascending."""
        return self.at(positions if self.members is None else self.members[positions])

    def at(self, members: IndexArray) -> FloatArray:
        """Return the rows of these members."""
        found: FloatArray = self.X[members]
        return found

    def assign(self, centers: FloatArray, *, find_farthest: bool = False) -> tuple[Any, Sums]:
        """Return the number of the center nearest to every row, and the sums of the blocks."""
        relative, origin = relative_centers(centers, self.X.dtype)
        # One byte per row for up to 256 groups.
        labels = np.empty(len(self), np.min_scalar_type(len(centers) - 1))

        def work(run: BlockRun) -> tuple[FloatArray | IndexArray, ...]:
            mine = labels[run.start : run.start + len(run.members)]
            return assign(self.X, run.members, run.bounds, relative, origin, self.shown, mine, find_farthest)

        sums, *others = self._join(work)
        return labels, Sums(sums[:, :, : self.X.shape[1]], *others)

    def nearest(self, point: FloatArray, count: int) -> tuple[IndexArray, FloatArray]:
        """Return the best `count` members of every run of blocks, and the squared distances."""

        def work(run: BlockRun) -> tuple[IndexArray, FloatArray]:
            members = run.members if not len(self.shown) else run.members[self.shown[run.members]]
            away = squared_distances(self.X[members], point)
            best = np.argsort(away, kind="stable")[:count]
            return members[best], away[best]

        members, away = self._join(work)
        return members, away

    def _join(self, work: Callable[[BlockRun], tuple[Any, ...]]) -> list[Any]:
        """Return what work gives for all runs of blocks, each of its results joined in their order."""
        found = self.each(work, block_runs(len(self.X), self.members, self.block))
        return [np.concatenate(part) for part in zip(*found, strict=True)]


class BlockRun(NamedTuple):
    """Neighbouring blocks with members enough to be worth a call.

    Attributes
    ----------
    bounds : where each block begins among the members, and the end
    start : the position of the first member in the region
    """

    members: IndexArray
    bounds: IndexArray
    start: int


def block_runs(n: int, members: IndexArray | None, block: int) -> Iterator[BlockRun]:
    """Yield the members in whole blocks of row numbers."""
    if members is None:
        for start in range(0, n, block):
            rows: IndexArray = np.arange(start, min(start + block, n), dtype=index_type(n))
            yield BlockRun(rows, np.array([0, len(rows)]), start)
        return
    bounds = np.append(np.searchsorted(members, np.arange(0, n, block)), len(members))
    first = 0
    for last in range(1, len(bounds)):
        if bounds[last] - bounds[first] >= block // 8 or last == len(bounds) - 1:
            start, stop = bounds[first], bounds[last]
            yield BlockRun(members[start:stop], bounds[first : last + 1] - start, int(start))
            first = last


class MemberCache:
    """The row numbers of the splits that were used last, ordered by part."""

    def __init__(self, n: int) -> None:
        self._limit = max(KEPT * n, SMALL)
        self._kept: OrderedDict[SplitLabels, IndexArray] = OrderedDict()
        self._lock = threading.Lock()

    def members_by_part(self, split: SplitLabels) -> IndexArray:
        """Return the members of a split super-instance, ordered by part."""
        with self._lock:
            if split in self._kept:
                self._kept.move_to_end(split)
                return self._kept[split]
        # Outside the lock, because the members of the parent may come from the cache as well.
        ordered: IndexArray = order_by_label(split.parent.members, split.labels, split.starts[:-1])
        with self._lock:
            self._kept[split] = ordered
            while sum(map(len, self._kept.values())) > self._limit and len(self._kept) > 1:
                self._kept.popitem(last=False)
        return ordered


class SplitLabels:
    """How one super-instance was split: the label of every member."""

    def __init__(
        self, cache: MemberCache, parent: SuperInstance, labels: IndexArray, sizes: IndexArray
    ) -> None:
        self.cache, self.parent, self.labels = cache, parent, labels
        self.starts = np.concatenate([[0], np.cumsum(sizes)])


class PartMembers:
    """The members of one part of a split super-instance; see `cobras.core.partition.Members`."""

    def __init__(self, split: SplitLabels, number: int, first: int) -> None:
        self.first = first
        self._split = split
        self._start, self._stop = map(int, split.starts[number : number + 2])

    def __len__(self) -> int:
        return self._stop - self._start

    def indices(self) -> IndexArray:
        """Return all of them, ascending."""
        return self._split.cache.members_by_part(self._split)[self._start : self._stop]
