"""Clusters that the person marked as pure or complete, kept as they were when they were marked.

The clusters of ADDER change with every answer, and their super-instances with them. So the super-instances of a
marked cluster are kept: they stay as they are, and together. Of a pure cluster no further instance is asked about,
but it may be compared with others and may grow; nothing is asked about a complete one, and it does not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cobras.core.constraints import Constraints
from cobras.core.exceptions import InconsistentAnswersError
from cobras.core.partition import Partition
from cobras.core.types import Answer, BoolArray, IndexArray
from cobras.methods.adder.points import Points


class MarkedPart(NamedTuple):
    """A super-instance of a marked cluster: its points, and the cluster, by one of its representatives."""

    points: IndexArray
    cluster: int


class Marks:
    """The marked clusters; false if there are none."""

    def __init__(self, constraints: Constraints, points: Points) -> None:
        self._constraints = constraints
        self._points = points
        self._parts: dict[tuple[int, int], MarkedPart] = {}

    def __bool__(self) -> bool:
        return bool(self._parts)

    def update(self, partition: Partition) -> None:
        """Keep what has been marked in the clustering that is shown, and drop what is no longer marked."""
        marks = self._constraints.pure | self._constraints.complete.keys()
        self._parts = {mark: part for mark, part in self._parts.items() if mark in marks}
        for cluster in partition.clusters if marks - self._parts.keys() else ():
            marked = [s for s in cluster.super_instances if s.mark in marks]
            before = [self._parts[s.mark].cluster for s in marked if s.mark in self._parts]
            for s in marked:
                if s.mark not in self._parts:
                    number = before[0] if before else marked[0].representative
                    self._parts[s.mark] = MarkedPart(np.unique(self._points.of(s.members.tolist())), number)

    @property
    def key(self) -> tuple[object, ...]:
        """What identifies the marks: results that depend on them are kept under it."""
        complete = self._constraints.complete
        return tuple((mark, part.cluster, complete.get(mark)) for mark, part in self._parts.items())

    def parts(self) -> list[IndexArray]:
        """The points of the super-instances that stay as they are."""
        return [part.points for part in self._parts.values()]

    def clusters(self, *, complete: bool) -> list[IndexArray]:
        """The points of the clusters that are complete, or those of the pure ones."""
        together: dict[int, list[IndexArray]] = {}
        for mark, part in self._parts.items():
            number = self._constraints.complete.get(mark)
            if complete is (number is not None):
                together.setdefault(part.cluster if number is None else number, []).append(part.points)
        return [np.concatenate(points) for points in together.values()]

    def inside(self, *, complete_only: bool = False) -> BoolArray:
        """Which points are in marked clusters."""
        found = np.zeros(self._points.n, dtype=bool)
        for points in self.clusters(complete=True) + ([] if complete_only else self.clusters(complete=False)):
            found[points] = True
        return found

    def links(self, seeds: Sequence[int]) -> Constraints:
        """The answers, and that the seeds in a marked cluster belong together unless an answer says otherwise."""
        links = self._constraints.copy()
        at = self._points.of(seeds)
        for points in self.clusters(complete=True) + self.clusters(complete=False):
            for x, y in pairwise(np.flatnonzero(np.isin(at, points)).tolist()):
                with suppress(InconsistentAnswersError):
                    links.add(seeds[x], seeds[y], Answer.SAME)
        return links
