"""The course of a session: what every clustering so far looked like beside the one before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from cobras.core.partition import Partition
from cobras.core.progress import WINDOW, kept_share, overlap
from cobras.core.types import IndexArray

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
