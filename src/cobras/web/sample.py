"""The rows that the page shows: all of them, or of very many a fixed random choice.

A map of more points than the screen has room for tells nothing more, and labels of millions of rows would travel
after every answer. The cluster of a sampled row is looked up per super-instance, and those that stay are not looked
at again; so an answer costs what its new super-instances cost.
"""

from __future__ import annotations

import threading

import numpy as np

from cobras.core.partition import Partition, SuperInstance
from cobras.core.types import IndexArray, LabelArray
from cobras.session.session import Session
from cobras.spaces.base import RemoteSpace

N_SHOWN = 100_000  # rows on the map
N_REMOTE = 2_000  # of rows that lie on other machines


class Sample:
    """Which of n rows are shown; `rows` holds their numbers, ascending, and is None where it is all of them.

    Examples
    --------
    >>> Sample(1_000).rows is None, len(Sample(1_000_000).rows)
    (True, 100000)
    """

    def __init__(self, n: int, remote: bool = False) -> None:
        self.n = n
        size = N_REMOTE if remote else N_SHOWN
        self.rows: IndexArray | None = None
        if n > size:
            self.rows = np.sort(np.random.default_rng(0).choice(n, size, replace=False, shuffle=False))
        self._space: RemoteSpace | None = None
        self._mask = np.empty(0, bool)
        self._places: dict[int, tuple[SuperInstance, IndexArray]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self.n if self.rows is None else len(self.rows)

    def bind(self, session: Session) -> None:
        """Take note of where the rows lie."""
        if isinstance(session.space, RemoteSpace):
            self._space = session.space

    def numbers(self) -> IndexArray:
        """The rows that are shown, by number."""
        return np.arange(self.n) if self.rows is None else self.rows

    def place(self, row: int) -> int | None:
        """Where a row stands among those that are shown, if it does."""
        if self.rows is None:
            return row
        at = int(np.searchsorted(self.rows, row))
        return at if at < len(self.rows) and self.rows[at] == row else None

    def labels(self, partition: Partition) -> LabelArray:
        """The cluster of every row that is shown."""
        if self.rows is None and self._space is None:
            return partition.labels
        if self._space is not None:
            return np.array(list(partition.clusters_of(self.numbers().tolist()).values()), np.int32)
        labels = np.zeros(len(self), np.int32)
        with self._lock:
            for number, cluster in enumerate(partition.clusters):
                for s in cluster.super_instances:
                    labels[self._places_in(s)] = number
        return labels

    def members(self, partition: Partition, number: int) -> IndexArray | None:
        """All rows of a cluster, ascending; None where they are more than are shown, or lie on other machines."""
        cluster = partition.clusters[number]
        return cluster.members if self._space is None and len(cluster) <= len(self) else None

    def _places_in(self, s: SuperInstance) -> IndexArray:
        if id(s) not in self._places:
            assert self.rows is not None
            if not len(self._mask):
                self._mask = np.zeros(self.n, bool)
                self._mask[self.rows] = True
            members = s.members
            # The super-instance is kept with its places, so that no other one takes its identity.
            self._places[id(s)] = s, np.searchsorted(self.rows, members[self._mask[members]])
        return self._places[id(s)][1]
