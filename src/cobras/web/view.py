"""What the session looks like at one moment, and at all moments before.

A `View` is frozen, so that any thread may read it while the session goes on. Its timeline holds the clustering
before the first answer and after each one, with colours that stay with their clusters.

The page shows all rows, or of very many a fixed random sample: more points than the screen has room for say no
more, and labels of millions of rows would travel after every answer.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any, Literal, TypeAlias

import numpy as np

from cobras.core.constraints import ConstraintPairs
from cobras.core.partition import Partition, SuperInstance
from cobras.core.progress import WINDOW, Progress, kept_share, overlap
from cobras.core.types import IndexArray, LabelArray, Pair, Record
from cobras.web.api.models import Versions

State: TypeAlias = Literal["asking", "computing", "done", "failed"]
N_SHOWN = 100_000  # rows on the map
N_REMOTE = 2_000  # the same where the rows lie on other machines


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
        self._is_remote = remote
        self._mask = np.empty(0, bool)
        self._places: dict[int, tuple[SuperInstance, IndexArray]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self.n if self.rows is None else len(self.rows)

    def numbers(self) -> IndexArray:
        """The rows that are shown, by number."""
        return np.arange(self.n) if self.rows is None else self.rows

    def place(self, row: int) -> int | None:
        """The place of a row among those that are shown; None if it is not shown."""
        if self.rows is None:
            return row
        at = int(np.searchsorted(self.rows, row))
        return at if at < len(self.rows) and self.rows[at] == row else None

    def labels(self, partition: Partition) -> LabelArray:
        """The cluster of every row that is shown."""
        if self.rows is None and not self._is_remote:
            labels = partition.labels
            # In clusterings from before rows were added, these are in the first cluster.
            return (
                np.append(labels, np.zeros(self.n - len(labels), np.int32))
                if len(labels) < self.n
                else labels
            )
        if self._is_remote:
            return np.array(list(partition.clusters_of(self.numbers().tolist()).values()), np.int32)
        labels = np.zeros(len(self), np.int32)
        # Places are kept per super-instance, so an answer costs what its new super-instances cost.
        with self._lock:
            for number, cluster in enumerate(partition.clusters):
                for s in cluster.super_instances:
                    labels[self._places_in(s)] = number
        return labels

    def members(self, partition: Partition, number: int) -> IndexArray | None:
        """All rows of a cluster, ascending; None where they are more than are shown, or lie on other machines."""
        cluster = partition.clusters[number]
        return cluster.members if not self._is_remote and len(cluster) <= len(self) else None

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


@dataclass(frozen=True, slots=True, eq=False)
class TimelinePoint:
    """A clustering, id and colour of each of its clusters, and the share of items that did not move lately."""

    partition: Partition
    ids: tuple[int, ...]
    colours: tuple[int, ...]
    stable_share: float | None


@dataclass(frozen=True)
class View:
    """A session between two changes.

    `asked` holds the clusters of all rows that questions and answers are about.
    """

    sample: Sample
    versions: Versions
    state: State = "computing"
    message: str = ""
    pair: Pair | None = None
    timeline: tuple[TimelinePoint, ...] = ()
    records: tuple[Record, ...] = ()
    progress: Progress | None = None
    names: tuple[tuple[int, str], ...] = ()
    marks: tuple[tuple[int, str], ...] = ()
    to_split: tuple[int, ...] = ()
    set_aside: frozenset[Pair] = frozenset()
    expected: tuple[float | None, ...] = ()
    constraints: ConstraintPairs | None = None
    can_undo: bool = False
    can_redo: bool = False
    saved_at: float | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    asked: Mapping[int, int] = field(default_factory=dict)

    @property
    def n_items(self) -> int:
        """How many rows there are."""
        return self.sample.n

    @property
    def n_answers(self) -> int:
        """How many questions were answered."""
        return max(0, len(self.timeline) - 1)

    @property
    def colours(self) -> tuple[int, ...]:
        """The colour of each cluster; one cluster before the session is open."""
        return self.timeline[-1].colours if self.timeline else (0,)

    @property
    def ids(self) -> tuple[int, ...]:
        """The id of each cluster, by which a person knows it: numbers change, ids do not."""
        return self.timeline[-1].ids if self.timeline else (0,)

    @cached_property
    def labels(self) -> LabelArray:
        """The cluster of every row."""
        return self.timeline[-1].partition.labels if self.timeline else np.zeros(self.n_items, np.int32)

    @cached_property
    def shown_labels(self) -> LabelArray:
        """The cluster of every row that the page shows."""
        return self.labels_at(len(self.timeline) - 1)

    def labels_at(self, n_answers: int) -> LabelArray:
        """The clusters of the rows that the page shows after so many answers; one before the session is open."""
        if not self.timeline:
            return np.zeros(len(self.sample), np.int32)
        return self.sample.labels(self.timeline[n_answers].partition)

    def cluster_of(self, row: int) -> int:
        """The cluster of one row."""
        return self.clusters_of([row])[row]

    def clusters_of(self, rows: Iterable[int]) -> dict[int, int]:
        """The clusters of some rows."""
        found = {row: self._cluster_at_hand(row) for row in rows}
        unknown = [row for row, number in found.items() if number is None]
        if unknown:
            found.update(self.timeline[-1].partition.clusters_of(unknown))
        return {row: number or 0 for row, number in found.items()}

    def _cluster_at_hand(self, row: int) -> int | None:
        """The cluster of a row that is shown or was asked about; None for another one."""
        if row in self.asked or not self.timeline:
            return self.asked.get(row, 0)
        place = self.sample.place(row)
        return None if place is None else int(self.shown_labels[place])

    def members(self, number: int) -> IndexArray:
        """The rows of a cluster, ascending: all of them, or of very many those that the page shows."""
        everyone = None
        if self.timeline and number < self.timeline[-1].partition.n_clusters:
            everyone = self.sample.members(self.timeline[-1].partition, number)
        return self.sample.numbers()[self.shown_labels == number] if everyone is None else everyone


def update_timeline(
    points: Sequence[TimelinePoint], partitions: Sequence[Partition], ids: Sequence[tuple[int, ...]]
) -> tuple[TimelinePoint, ...]:
    """Return the points of all clusterings of a session; those that are as before are not computed again.

    A cluster that is on the screen, at the last of the old points, keeps its colour.
    """
    n_same = 0
    for point, partition, own in zip(points, partitions, ids, strict=False):
        if point.ids != own:
            break
        if point.partition is not partition and point.partition.groups != partition.groups:
            break
        n_same += 1
    shown = dict(zip(points[-1].ids, points[-1].colours, strict=True)) if points else {}
    found = list(points[:n_same])
    for partition, own in zip(partitions[n_same:], ids[n_same:], strict=True):
        found.append(_next_point(found, partition, own, shown))
    return tuple(found)


def _next_point(
    points: list[TimelinePoint], partition: Partition, ids: tuple[int, ...], shown: Mapping[int, int]
) -> TimelinePoint:
    if not points:
        return TimelinePoint(partition, ids, next_colours({}, ids, shown), None)
    last = points[-1]
    same = last.partition is partition
    colours = next_colours(dict(zip(last.ids, last.colours, strict=True)), ids, shown)
    share = None
    if len(points) >= WINDOW:
        before = points[-WINDOW].partition
        # Most answers change neither end of the window: then nothing is to be compared.
        if same and len(points) > WINDOW and points[-WINDOW - 1].partition is before:
            share = last.stable_share
        else:
            share = kept_share(overlap(before, partition))
    return TimelinePoint(partition, ids, colours, share)


def next_colours(
    before: Mapping[int, int], ids: Sequence[int], shown: Mapping[int, int] | None = None
) -> tuple[int, ...]:
    """Return the colours of the clusters with these ids: that which each had, and new ones the first free ones.

    `before` holds the colours at the clustering before, `shown` those on the screen, which are preferred.

    Examples
    --------
    >>> next_colours({0: 0, 1: 1, 2: 2}, [2, 0, 3, 4])
    (2, 0, 1, 3)
    >>> next_colours({0: 0, 1: 1, 2: 2}, [2, 0, 3, 4], {3: 5})
    (2, 0, 5, 1)
    """
    found = {number: before[number] for number in ids if number in before}
    for number in ids:
        wanted = (shown or {}).get(number)
        if number not in found and wanted is not None and wanted not in found.values():
            found[number] = wanted
    taken = set(found.values())
    free = (colour for colour in count() if colour not in taken)
    for number in sorted(set(ids) - found.keys()):
        found[number] = next(free)
    return tuple(found[number] for number in ids)
