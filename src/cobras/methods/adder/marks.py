"""Clusters that the person promised to be pure or complete, kept as they were when the promise was made.

The clusters of ADDER change with every answer, and their super-instances with them. So the super-instances of a
promised cluster are kept: they stay as they are, and together. Of a pure cluster no further instance is asked
about, but it may be compared with others and may grow; a complete one is left alone altogether.
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
from cobras.methods.adder.points import Landscape


class Kept(NamedTuple):
    """A super-instance of a promised cluster: its points, and the cluster, by one of its representatives."""

    points: IndexArray
    cluster: int


class Promises:
    """What was promised, as far as the clustering had it when the promise was made."""

    def __init__(self, constraints: Constraints, land: Landscape) -> None:
        self._constraints = constraints
        self._land = land
        self._kept: dict[tuple[int, int], Kept] = {}

    def heed(self, shown: Partition) -> None:
        """Keep what was promised about the clustering that is shown, and forget what was taken back."""
        promised = self._constraints.pure | self._constraints.complete.keys()
        self._kept = {mark: kept for mark, kept in self._kept.items() if mark in promised}
        for cluster in shown.clusters if promised - self._kept.keys() else ():
            marked = [s for s in cluster.super_instances if s.mark in promised]
            homes = [self._kept[s.mark].cluster for s in marked if s.mark in self._kept]
            for s in marked:
                if s.mark not in self._kept:
                    home = homes[0] if homes else marked[0].representative
                    self._kept[s.mark] = Kept(np.unique(self._land.points(s.members.tolist())), home)

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return bool(self._kept)

    @property
    def state(self) -> tuple[object, ...]:
        """What everything that depends on the promises depends on."""
        complete = self._constraints.complete
        return tuple((mark, kept.cluster, complete.get(mark)) for mark, kept in self._kept.items())

    def pieces(self) -> list[IndexArray]:
        """The points of the super-instances that stay as they are."""
        return [kept.points for kept in self._kept.values()]

    def clusters(self, *, complete: bool) -> list[IndexArray]:
        """The points of the clusters that are complete, or those of the others."""
        together: dict[tuple[bool, int], list[IndexArray]] = {}
        for mark, kept in self._kept.items():
            number = self._constraints.complete.get(mark)
            key = (False, kept.cluster) if number is None else (True, number)
            together.setdefault(key, []).append(kept.points)
        return [
            np.concatenate(found) for (is_complete, _), found in together.items() if is_complete is complete
        ]

    def inside(self, *, complete_only: bool = False) -> BoolArray:
        """Which points are in promised clusters."""
        found = np.zeros(self._land.n, dtype=bool)
        for points in self.clusters(complete=True) + ([] if complete_only else self.clusters(complete=False)):
            found[points] = True
        return found

    def linked(self, seeds: Sequence[int]) -> Constraints:
        """The answers, and that the seeds inside a promised cluster belong together; an answer counts for more."""
        links = Constraints()
        for pair, answer in self._constraints:
            links.add(*pair, answer)
        at = self._land.points(seeds)
        for points in self.clusters(complete=True) + self.clusters(complete=False):
            for x, y in pairwise(np.flatnonzero(np.isin(at, points)).tolist()):
                with suppress(InconsistentAnswersError):
                    links.add(seeds[x], seeds[y], Answer.SAME)
        return links
