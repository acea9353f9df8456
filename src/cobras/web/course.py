"""The course of a session: what every clustering so far looked like beside the one before it.

Two clusterings of one split tree are compared by their super-instances, not by their rows: a super-instance of the
later one lies in exactly one of the earlier one, the one whose path begins its own. So the cost does not depend on
the size of the data. Clusterings without paths are compared by labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from cobras.partition import Partition, SuperInstance
from cobras.progress import WINDOW
from cobras.types import IndexArray

N_COLOURS = 10  # that the page can tell apart; further ones are shades of these


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A clustering, the colour of each of its clusters, and the share of items that did not move lately."""

    partition: Partition
    colours: tuple[int, ...]
    stable_share: float | None


class Course:
    """The clustering before the first answer and after each one, with colours that stay."""

    def __init__(self) -> None:
        self.points: tuple[Point, ...] = ()

    def follow(self, partitions: Sequence[Partition]) -> tuple[Point, ...]:
        """Take in the clusterings of a session; what is as before is not computed again."""
        kept = 0
        for point, partition in zip(self.points, partitions, strict=False):
            if point.partition is not partition and point.partition.groups != partition.groups:
                break
            kept += 1
        points = list(self.points[:kept])
        for partition in partitions[kept:]:
            points.append(_next(points, partition))
        self.points = tuple(points)
        return self.points


def _next(points: list[Point], partition: Partition) -> Point:
    if not points:
        return Point(partition, tuple(range(partition.n_clusters)), None)
    last = points[-1]
    same = last.partition is partition
    colours = last.colours if same else recoloured(last.colours, overlap(last.partition, partition))
    share = None
    if len(points) >= WINDOW:
        before = points[-WINDOW].partition
        if same and len(points) > WINDOW and points[-WINDOW - 1].partition is before:
            share = last.stable_share
        else:
            share = kept_share(overlap(before, partition))
    return Point(partition, colours, share)


def overlap(before: Partition, now: Partition) -> IndexArray:
    """How many items each cluster of `before` (rows) shares with each cluster of `now` (columns)."""
    shared = np.zeros((before.n_clusters, now.n_clusters), np.int64)
    homes = {s.path: c for c, cluster in enumerate(before.clusters) for s in cluster.super_instances}
    if len(homes) == sum(map(len, before.groups)):
        homeless = False
        for c, cluster in enumerate(now.clusters):
            for s in cluster.super_instances:
                home = _home(homes, s)
                homeless |= home is None
                shared[home or 0, c] += len(s)
        if not homeless:
            return shared
    pairs = before.labels.astype(np.int64) * now.n_clusters + now.labels
    counts: IndexArray = np.bincount(pairs, minlength=shared.size)
    return counts.reshape(shared.shape)


def _home(homes: dict[tuple[int, ...], int], s: SuperInstance) -> int | None:
    path = s.path
    for length in range(len(path), -1, -1):
        if path[:length] in homes:
            return homes[path[:length]]
    return None


def kept_share(shared: IndexArray) -> float:
    """Share of the items that stayed in their cluster, when clusters are matched by overlap."""
    from scipy.optimize import linear_sum_assignment

    return float(shared[linear_sum_assignment(shared, maximize=True)].sum() / shared.sum())


def recoloured(colours: Sequence[int], shared: IndexArray) -> tuple[int, ...]:
    """Every cluster keeps the colour of the earlier one that it matches; new ones get the first colours free.

    Only a colour beyond the distinct ones is given up, as soon as one of those is free: many parts that are merged
    into a few clusters end up in colours that can be told apart.

    Examples
    --------
    >>> recoloured([0, 1], np.array([[0, 7, 1], [4, 0, 0]]))
    (1, 0, 2)
    >>> recoloured([0, 12], np.array([[5, 0], [0, 5]]))
    (0, 1)
    """
    from scipy.optimize import linear_sum_assignment

    found = [N_COLOURS + max(colours) + 1] * shared.shape[1]
    for before, now in zip(*linear_sum_assignment(shared, maximize=True), strict=True):
        if shared[before, now] > 0:
            found[now] = colours[int(before)]
    taken = set(found)
    free = (colour for colour in count() if colour not in taken)
    for c in np.argsort(-shared.sum(axis=0), kind="stable").tolist():  # the largest first
        if found[c] >= N_COLOURS:
            lowest = next(free)
            if lowest < N_COLOURS or found[c] not in colours:
                found[c] = lowest
    return tuple(found)
