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
N_COLOURS = 10  # that the page can tell apart; further ones are shades of these


@dataclass(frozen=True, slots=True, eq=False)
class TimelinePoint:
    """A clustering, the colour of each of its clusters, and the share of items that did not move lately."""

    partition: Partition
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
    set_aside: frozenset[Pair] = frozenset()
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
    points: Sequence[TimelinePoint], partitions: Sequence[Partition]
) -> tuple[TimelinePoint, ...]:
    """Return the points of all clusterings of a session; those that are as before are not computed again."""
    n_same = 0
    for point, partition in zip(points, partitions, strict=False):
        if point.partition is not partition and point.partition.groups != partition.groups:
            break
        n_same += 1
    found = list(points[:n_same])
    for partition in partitions[n_same:]:
        found.append(_next_point(found, partition))
    return tuple(found)


def _next_point(points: list[TimelinePoint], partition: Partition) -> TimelinePoint:
    if not points:
        return TimelinePoint(partition, tuple(range(partition.n_clusters)), None)
    last = points[-1]
    same = last.partition is partition
    colours = last.colours if same else match_colours(last.colours, overlap(last.partition, partition))
    share = None
    if len(points) >= WINDOW:
        before = points[-WINDOW].partition
        # Most answers change neither end of the window: then nothing is to be compared.
        if same and len(points) > WINDOW and points[-WINDOW - 1].partition is before:
            share = last.stable_share
        else:
            share = kept_share(overlap(before, partition))
    return TimelinePoint(partition, colours, share)


def match_colours(colours: Sequence[int], shared: IndexArray) -> tuple[int, ...]:
    """Return the colours of the clusters: of the earlier one that each matches; new ones get the first free ones.

    Only a colour beyond the distinct ones is given up, as soon as one of those is free: many parts that are merged
    into a few clusters end up in colours that can be told apart.

    Examples
    --------
    >>> match_colours([0, 1], np.array([[0, 7, 1], [4, 0, 0]]))
    (1, 0, 2)
    >>> match_colours([0, 12], np.array([[5, 0], [0, 5]]))
    (0, 1)
    """
    from scipy.optimize import linear_sum_assignment

    found = [N_COLOURS + max(colours) + 1] * shared.shape[1]
    for before, now in zip(*linear_sum_assignment(shared, maximize=True), strict=True):
        if shared[before, now] > 0:
            found[now] = colours[int(before)]
    in_use = set(found)
    free = (colour for colour in count() if colour not in in_use)
    # The largest cluster chooses first.
    for c in np.argsort(-shared.sum(axis=0), kind="stable").tolist():
        if found[c] >= N_COLOURS:
            lowest = next(free)
            if lowest < N_COLOURS or found[c] not in colours:
                found[c] = lowest
    return tuple(found)
