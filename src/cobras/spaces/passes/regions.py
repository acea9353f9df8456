"""Passes over rows in memory: blocks of them, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cobras.core.threads import in_turn, on_all_cores
from cobras.core.types import BoolArray, FloatArray, IndexArray
from cobras.spaces.kernels.blocks import assign, farthest
from cobras.spaces.parts import squared_distances
from cobras.spaces.passes.sampled import BLOCK, Region, Sums, framed

Each: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Sequence[Any]]


class MemoryRegion:
    """Rows of an array in memory or in a mapped file; see `cobras.spaces.passes.sampled.Region`.

    Parameters
    ----------
    members : array of int, ascending, or None for all rows
    shown : array of bool, or None if every row may be shown
    block : int
        Row numbers per block.
    serial : bool
        Use this thread alone.
    """

    def __init__(
        self,
        X: FloatArray,
        members: IndexArray | None,
        shown: BoolArray | None,
        block: int = BLOCK,
        *,
        serial: bool = False,
    ) -> None:
        self.X, self.members, self.block = X, members, block
        self.n_columns = X.shape[1]
        self.each: Each = in_turn if serial else on_all_cores
        self.shown = np.empty(0, bool) if shown is None else shown

    def __len__(self) -> int:
        return len(self.X if self.members is None else self.members)

    def rows(self, positions: IndexArray) -> FloatArray:
        """Some of the rows, by their position in the region, ascending."""
        return self.at(positions if self.members is None else self.members[positions])

    def at(self, members: IndexArray) -> FloatArray:
        """The rows of these members."""
        found: FloatArray = self.X[members]
        return found

    def assign(self, centers: FloatArray, *, keep: bool) -> tuple[Any, Sums]:
        """The label of every row, where they are to be kept, and what the blocks add up to."""
        centers, origin = framed(centers, self.X.dtype)
        labels = np.empty(len(self) if keep else 0, np.min_scalar_type(len(centers) - 1))

        def work(stretch: Stretch) -> tuple[FloatArray, IndexArray, IndexArray]:
            members, bounds, start = stretch
            mine = labels[start : start + len(members)]
            return assign(self.X, members, bounds, centers, origin, self.shown, mine)

        found = zip(*self.each(work, self._stretches()), strict=True)
        sums, counts, candidates = (np.concatenate(part) for part in found)
        return labels, Sums(sums[:, :, : self.X.shape[1]], counts, candidates)

    def farthest(self, centers: FloatArray) -> tuple[FloatArray, float]:
        """The row farthest from its nearest center, and the squared distance."""
        framed_centers, origin = framed(centers, self.X.dtype)

        def work(stretch: Stretch) -> tuple[IndexArray, FloatArray]:
            return farthest(self.X, stretch.members, stretch.bounds, framed_centers, origin)

        at, away = (np.concatenate(part) for part in zip(*self.each(work, self._stretches()), strict=True))
        return self.X[at[away.argmax()]], float(away.max())

    def relabelled(self, labels: Any, new: IndexArray) -> Any:
        """Labels with another number for each."""
        return new.astype(labels.dtype)[labels]

    def nearest(self, point: FloatArray, count: int) -> tuple[IndexArray, FloatArray]:
        """The best `count` members of every stretch."""

        def work(stretch: Stretch) -> tuple[IndexArray, FloatArray]:
            members = stretch.members if not len(self.shown) else stretch.members[self.shown[stretch.members]]
            away = squared_distances(self.X[members], point)
            best = np.argsort(away, kind="stable")[:count]
            return members[best], away[best]

        found = zip(*self.each(work, self._stretches()), strict=True)
        members, away = (np.concatenate(part) for part in found)
        return members, away

    def shown_only(self) -> Region:
        """The part of the region that may be shown."""
        if not len(self.shown):
            return self
        members = (
            np.flatnonzero(self.shown) if self.members is None else self.members[self.shown[self.members]]
        )
        return MemoryRegion(self.X, members, None, self.block, serial=self.each is in_turn)

    def _stretches(self) -> Iterator[Stretch]:
        return stretches(len(self.X), self.members, self.block)


class Stretch(NamedTuple):
    """Neighbouring blocks with members enough to be worth a call."""

    members: IndexArray
    bounds: IndexArray
    start: int


def stretches(n: int, members: IndexArray | None, block: int) -> Iterator[Stretch]:
    """The members in whole blocks of row numbers."""
    if members is None:
        dtype = np.int32 if n < 2**31 else np.int64
        for start in range(0, n, block):
            rows: IndexArray = np.arange(start, min(start + block, n), dtype=dtype)
            yield Stretch(rows, np.array([0, len(rows)]), start)
        return
    bounds = np.append(np.searchsorted(members, np.arange(0, n, block)), len(members))
    first = 0
    for last in range(1, len(bounds)):
        if bounds[last] - bounds[first] >= block // 8 or last == len(bounds) - 1:
            start, stop = bounds[first], bounds[last]
            yield Stretch(members[start:stop], bounds[first : last + 1] - start, int(start))
            first = last
