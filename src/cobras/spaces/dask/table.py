"""Passes over rows on other machines: one task for each partition of a dask array.

A task runs the passes of `spaces.passes.memory` on its partition and sends back what they add up to, block by
block. Partitions begin where blocks of global row numbers begin, so these are the very numbers that memory gives.
The labels of a split stay beside the rows, as one byte per member; the members of a part are found from the labels
of all splits above it. A worker that dies costs the time to make its partitions and labels again, from their graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import dask
import numpy as np

from cobras.core.exceptions import InvalidDataError
from cobras.core.partition import Partition
from cobras.core.types import FloatArray, IndexArray, LabelArray
from cobras.spaces.base import index_type
from cobras.spaces.dask.workers import (
    Chain,
    Workers,
    assign_rows,
    label_rows,
    members_of_part,
    nearest_rows,
    take_all,
    take_rows,
)
from cobras.spaces.passes.sampling import Sums


class RemoteTable:
    """A table in partitions, which begin where blocks of row numbers begin.

    Attributes
    ----------
    partitions : one task each, which gives the rows
    starts : the number of the first row of every partition, and of the end
    """

    def __init__(self, X: Any, workers: Workers, block: int, *, persist: bool) -> None:
        self.workers, self.block = workers, block
        self.shape: tuple[int, int] = X.shape
        self.dtype, self.nbytes = X.dtype, X.nbytes
        partitions = X.to_delayed(optimize_graph=False).ravel().tolist()
        self.partitions: Sequence[Any] = workers.keep(partitions) if persist else partitions
        self.starts = np.concatenate([[0], np.cumsum(X.chunks[0], dtype=np.int64)])
        # Whether all numbers are finite is found out in the first pass, which reads every row anyway.
        self.checked = False

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: IndexArray) -> FloatArray:
        """Return some rows by their numbers, in any order."""
        found: FloatArray = self.take(self.partitions, rows)
        return found

    def take(self, partitions: Sequence[Any], rows: IndexArray) -> Any:
        """Return what tasks, one for each partition, give for some rows."""
        partition = np.searchsorted(self.starts, rows, side="right") - 1
        where = {p: np.flatnonzero(partition == p) for p in np.unique(partition)}
        # Pure tasks would be named after their arguments, for which dask hashes whole arrays.
        pick = dask.delayed(np.take, pure=False)
        tasks = [pick(partitions[p], rows[at] - self.starts[p], axis=0) for p, at in where.items()]
        found = np.concatenate(self.workers.results(tasks))
        # They came by partition, but were asked for in another order.
        ordered = np.empty_like(found)
        ordered[np.concatenate([*where.values()])] = found
        return ordered


class RemoteLabels(NamedTuple):
    """The labels of a split, which stay in the partitions, and how often each label occurs in each of them."""

    partitions: Sequence[Any]
    counts: IndexArray


class RemotePart:
    """The members of one part of a super-instance; see `cobras.core.partition.Members`.

    Attributes
    ----------
    chain : tuple of (labels, number)
        The splits above it, from the first on, and which part of each it lies in.
    fetched : array of int, or None
        The members, once they have been sent here.
    """

    def __init__(
        self, table: RemoteTable, above: RemotePart | None, labels: RemoteLabels, number: int, first: int
    ) -> None:
        self.table, self.first = table, first
        self.chain: tuple[tuple[RemoteLabels, int], ...] = (*(above.chain if above else ()), (labels, number))
        self.counts = labels.counts[:, number]
        self.fetched: IndexArray | None = None

    def __len__(self) -> int:
        return int(self.counts.sum())

    def members(self) -> list[Any]:
        """Return the numbers of the members within each partition, as tasks."""
        numbers = [number for _, number in self.chain]
        find = dask.delayed(members_of_part, pure=False)
        return [
            find([labels.partitions[p] for labels, _ in self.chain], numbers) for p in range(len(self.counts))
        ]

    def indices(self) -> IndexArray:
        """Return all of them, ascending; they are sent here."""
        if self.fetched is not None:
            return self.fetched
        here = [p for p in range(len(self.counts)) if self.counts[p]]
        members = self.members()
        found = self.table.workers.results([members[p] for p in here])
        numbers = [self.table.starts[p] + m for p, m in zip(here, found, strict=True)]
        return np.concatenate(numbers, dtype=index_type(len(self.table)))

    def labels(self, partition: Partition) -> LabelArray:
        """Return the cluster number of every row of the table; one byte each is sent, or two."""
        found: LabelArray = np.concatenate(
            self.table.workers.results(label_tasks(self.table, partition)), dtype=np.int32
        )
        return found

    def labels_of(self, partition: Partition, instances: Sequence[int]) -> list[int]:
        """Return the cluster numbers of some rows; only these are sent here."""
        found: list[int] = self.table.take(label_tasks(self.table, partition), np.asarray(instances)).tolist()
        return found


class RemoteRegion:
    """Rows in the partitions of a table; see `cobras.spaces.passes.sampling.Region`. All of them may be shown.

    Parameters
    ----------
    part : RemotePart, or None for all rows
    """

    def __init__(self, table: RemoteTable, part: RemotePart | None) -> None:
        self.table, self.n_columns = table, table.shape[1]
        self.members: Sequence[Any] = [None] * len(table.partitions)
        self.counts = np.diff(table.starts)
        self._candidates: tuple[IndexArray, FloatArray] = np.empty(0, np.int64), np.empty((0, table.shape[1]))
        if part is not None:
            # Kept beside the rows: every pass of a split needs them, and would follow the chain of splits again.
            self.members, self.counts = table.workers.keep(part.members()), part.counts

    def __len__(self) -> int:
        return int(self.counts.sum())

    def rows(self, positions: IndexArray) -> FloatArray:
        """Return some of the rows, by their position in the region, ascending."""
        ends = np.cumsum(self.counts)
        bounds = [0, *np.searchsorted(positions, ends)]
        wanted = [positions[bounds[p] : bounds[p + 1]] - (ends[p] - self.counts[p]) for p in range(len(ends))]
        here = [p for p, mine in enumerate(wanted) if len(mine)]
        found: FloatArray = np.concatenate(self._results(take_rows, here, [(wanted[p],) for p in here]))
        return found

    def at(self, members: IndexArray) -> FloatArray:
        """Return the rows of these members; those of the candidates of the last pass are here already."""
        numbers, rows = self._candidates
        if not np.isin(members, numbers).all():
            return self.table[members]
        order = np.argsort(numbers)
        found: FloatArray = rows[order[np.searchsorted(numbers, members, sorter=order)]]
        return found

    def all_rows(self) -> tuple[IndexArray, FloatArray]:
        """Return all members and their rows; for what is small enough to be sent here."""
        here = np.flatnonzero(self.counts).tolist()
        members, rows = zip(*self._results(take_all, here), strict=True)
        return np.concatenate(members, dtype=index_type(len(self.table))), np.concatenate(rows)

    def assign(self, centers: FloatArray, *, find_farthest: bool = False) -> tuple[RemoteLabels, Sums]:
        """Return the number of the center nearest to every row, and the sums of the blocks."""
        check = not self.table.checked
        tasks = self._tasks(assign_rows, range(len(self.members)), [(centers, find_farthest, check)])
        # Labels stay, the rest is sent here; both are asked for at once, or else the pass might be made twice.
        both = self.table.workers.keep([task[part] for part in (0, 1) for task in tasks])
        labels, sums_and_rows = both[: len(tasks)], both[len(tasks) :]
        found = self.table.workers.results(sums_and_rows)
        for sentence in found:
            if isinstance(sentence, str):
                raise InvalidDataError(sentence)
        self.table.checked = True
        *joined, rows = map(np.concatenate, zip(*found, strict=True))
        sums = Sums(*joined)
        # The representatives of the parts are among them, so their rows need not be fetched.
        self._candidates = sums.candidates[sums.candidates >= 0], rows
        sizes = np.array([each[1][:, :, 0].sum(axis=0) for each in found])
        return RemoteLabels(labels, sizes), sums

    def nearest(self, point: FloatArray, count: int) -> tuple[IndexArray, FloatArray]:
        """Return the best members of every partition, at least `count` of all."""
        here = np.flatnonzero(self.counts).tolist()
        members, away = zip(*self._results(nearest_rows, here, [(point, count)]), strict=True)
        return np.concatenate(members), np.concatenate(away)

    def _results(self, *task: Any) -> Sequence[Any]:
        return self.table.workers.results(self._tasks(*task))

    def _tasks(
        self, function: Callable[..., Any], here: Sequence[int], arguments: Sequence[tuple[Any, ...]] = ((),)
    ) -> list[Any]:
        """Return a call for each partition in `here`, with arguments of its own or the same for all."""
        if len(arguments) < len(here):
            arguments = list(arguments) * len(here)
        task, table = dask.delayed(function, pure=False), self.table
        return [
            task(table.partitions[p], self.members[p], int(table.starts[p]), table.block, *more)
            for p, more in zip(here, arguments, strict=True)
        ]


def label_tasks(table: RemoteTable, partition: Partition) -> list[Any]:
    """Return the cluster number of every row, as a task for each partition of the table.

    A part is found there from the splits above it; the members of what was split here go there one by one.
    """
    splits: dict[int, tuple[int, RemoteLabels]] = {}
    leaves: list[tuple[Chain, int]] = []
    members: list[IndexArray] = [np.empty(0, np.int32)]
    clusters = [np.empty(0, dtype := np.min_scalar_type(partition.n_clusters - 1))]
    for number, cluster in enumerate(partition.clusters):
        for s in cluster.super_instances:
            if isinstance(s.holding, np.ndarray):
                members.append(s.holding)
                clusters.append(np.full(len(s), number, dtype))
            else:
                above = s.holding.chain if isinstance(s.holding, RemotePart) else ()
                places = (splits.setdefault(id(labels), (len(splits), labels))[0] for labels, _ in above)
                leaves.append((tuple(zip(places, (g for _, g in above), strict=True)), number))
    together, numbers = np.concatenate(members), np.concatenate(clusters)
    task, tasks = dask.delayed(label_rows, pure=False), []
    for p, (start, stop) in enumerate(pairwise(table.starts.tolist())):
        here = (together >= start) & (together < stop)
        mine = [labels.partitions[p] for _, labels in splits.values()]
        tasks.append(task(stop - start, mine, leaves, together[here] - start, numbers[here]))
    return tasks
