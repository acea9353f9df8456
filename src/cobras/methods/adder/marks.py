"""Clusters that the person marked as pure or complete, kept as they were when they were marked.

The clusters of ADDER change with every answer, and their super-instances with them. So the super-instances of a
marked cluster are kept: they stay as they are, and together. Of a pure cluster no further instance is asked about,
but it may be compared with others and may grow; nothing is asked about a complete one, and it does not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

import numpy as np

from cobras.core.constraints import Constraints, Marked
from cobras.core.exceptions import InconsistentAnswersError
from cobras.core.partition import SuperInstance
from cobras.core.types import Answer, BoolArray, IndexArray
from cobras.methods.adder.geometry.points import Points


class Marks:
    """The marked clusters; false if there are none."""

    def __init__(self, constraints: Constraints, points: Points) -> None:
        self._constraints = constraints
        self._points = points
        self._points_in: dict[SuperInstance, IndexArray] = {}

    def __bool__(self) -> bool:
        return bool(self._marked())

    @property
    def key(self) -> tuple[object, ...]:
        """What identifies the marks: results that depend on them are kept under it."""
        complete = self._constraints.complete
        return tuple((*found, mark in complete) for mark, found in self._marked().items())

    def parts(self) -> list[IndexArray]:
        """The points of the super-instances that stay as they are."""
        return [self._points_of(found.super_instance) for found in self._marked().values()]

    def clusters(self, *, complete: bool) -> list[IndexArray]:
        """The points of the clusters that are complete, or those of the pure ones."""
        together: dict[int, list[IndexArray]] = {}
        for mark, found in self._marked().items():
            if complete is (mark in self._constraints.complete):
                together.setdefault(found.number, []).append(self._points_of(found.super_instance))
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

    def _marked(self) -> dict[tuple[int, int], Marked]:
        # Rows that are being added, and are marked already, are no points yet.
        n, marked = self._points.n_instances, self._constraints.marked
        return {mark: found for mark, found in marked.items() if found.super_instance.first < n}

    def _points_of(self, s: SuperInstance) -> IndexArray:
        if s not in self._points_in:
            self._points_in[s] = np.unique(self._points.of(s.members.tolist()))
        return self._points_in[s]
