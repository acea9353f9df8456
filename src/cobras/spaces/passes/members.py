"""The members of large super-instances: one byte per row and split, from which they are found when needed.

COBRAS makes many splits of which it needs only the representatives, and thinking ahead makes more. Row numbers take
four bytes each, so only those of the splits that were used last are kept; the others are found again from the
labels, without a look at the rows.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

import numpy as np

from cobras.core.partition import SuperInstance
from cobras.core.types import IndexArray
from cobras.spaces.kernels.blocks import arrange

KEPT = 1.5  # times all row numbers: what the shelf holds at most
SMALL = 2**20  # row numbers that it may hold in any case


class Shelf:
    """The row numbers of the splits that were used last, ordered by part."""

    def __init__(self, n: int) -> None:
        self._limit = max(KEPT * n, SMALL)
        self._kept: OrderedDict[Division, IndexArray] = OrderedDict()
        self._lock = threading.Lock()

    def ordered(self, division: Division) -> IndexArray:
        """The members of a split super-instance, ordered by part."""
        with self._lock:
            if division in self._kept:
                self._kept.move_to_end(division)
                return self._kept[division]
        ordered: IndexArray = arrange(division.parent.members, division.labels, division.starts[:-1])
        with self._lock:
            self._kept[division] = ordered
            while sum(map(len, self._kept.values())) > self._limit and len(self._kept) > 1:
                self._kept.popitem(last=False)
        return ordered


class Division:
    """How one super-instance was divided: the label of every member."""

    def __init__(self, shelf: Shelf, parent: SuperInstance, labels: IndexArray, sizes: IndexArray) -> None:
        self.shelf, self.parent, self.labels = shelf, parent, labels
        self.starts = np.concatenate([[0], np.cumsum(sizes)])


class Part:
    """The members of one part of a divided super-instance."""

    def __init__(self, division: Division, number: int, first: int) -> None:
        self.first = first
        self._division, self._number = division, number

    def __len__(self) -> int:
        start, stop = self._division.starts[self._number : self._number + 2]
        return int(stop - start)

    def found(self) -> IndexArray:
        """All of them, ascending."""
        start, stop = self._division.starts[self._number : self._number + 2]
        return self._division.shelf.ordered(self._division)[start:stop]


class Everything:
    """All instances."""

    first = 0

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    def found(self) -> IndexArray:
        """All of them, ascending."""
        return np.arange(self._n, dtype=np.int32 if self._n < 2**31 else np.int64)
