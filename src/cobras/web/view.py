"""What the session looks like at one moment, and at all moments before.

A `View` is frozen, so that any thread may read it while the session goes on. Its timeline holds the clustering
before the first answer and after each one, with colours that stay with their clusters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any, Literal, TypeAlias

import numpy as np

from cobras.core.constraints import ConstraintPairs
from cobras.core.partition import Partition
from cobras.core.progress import WINDOW, Progress, kept_share, overlap
from cobras.core.types import IndexArray, LabelArray, Pair, Record
from cobras.web.api.models import Versions
from cobras.web.map import Sample

State: TypeAlias = Literal["asking", "computing", "done", "failed"]


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
