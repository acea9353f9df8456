"""What ADDER knows of the data before any answer: points, and how each is related to the points asked about.

A point is an instance, or a super-instance of a few similar ones where there are more instances than `MOST_POINTS`,
so that the cost of an answer grows with the data only where the first parts are split anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from cobras.core.partition import Partition, SuperInstance
from cobras.core.types import BoolArray, FloatArray, IndexArray
from cobras.methods.adder.geometry.relations import Relations
from cobras.spaces.base import EmbeddedSpace, Space, VectorSpace

if TYPE_CHECKING:
    from cobras.methods.protocol import Grown
    from cobras.spaces.growth import GrownInstance

MOST_POINTS = 5000
FOLLOW = 1.1  # times as many rows as were measured, until all points are measured anew


class Parts(NamedTuple):
    """The parts that points are made of.

    Attributes
    ----------
    first_parts : tuple of SuperInstance
        Those of everything.
    micro : tuple of SuperInstance
        Those that are points; none if each instance is one.
    before : Points, optional
        The points before rows were added, where they are so few that the old points stay where they are.
    """

    first_parts: tuple[SuperInstance, ...]
    micro: tuple[SuperInstance, ...]
    before: Points | None = None


class Points(Relations):
    """The points of a space, and their relations. Several threads may use one object."""

    def __init__(
        self, space: VectorSpace | EmbeddedSpace, seed: int, n_parts: int, parts: Parts | None = None
    ) -> None:
        self._space = space
        self._seed = seed
        if parts is None:
            micro: tuple[SuperInstance, ...] = ()
            if isinstance(space, VectorSpace) and space.n > MOST_POINTS:
                micro = micro_clusters(space, space.root(seed))
            parts = Parts(tuple(self.split(n_parts)), micro)
        self.first_parts, self._micro, before = parts
        self._set_points(before)
        super().__init__(self._new_rows(before), seed, isinstance(space, VectorSpace), before)
        self._n_measured: int = space.n if before is None else before._n_measured

    def _new_rows(self, before: Points | None) -> FloatArray:
        """What the space says of the points; of those that are new, if there were points before."""
        if self._micro:
            new = self._micro[0 if before is None else before.n :]
            return np.array([s.centroid for s in new], dtype=np.float64)
        space = self._space
        rows: FloatArray = space.X if isinstance(space, VectorSpace) else space.coordinates()
        return rows.astype(np.float64)

    @property
    def n_instances(self) -> int:
        """How many instances the points hold."""
        return self._space.n

    def split(self, n_parts: int) -> list[SuperInstance]:
        """A split of everything, largest part first."""
        return split_all(self._space, self._seed, n_parts)

    def grown_parts(self, first_parts: tuple[SuperInstance, ...], signal: Grown) -> Parts:
        """The parts of the points after rows were added; the old points keep their numbers."""
        space, growth = signal.space, signal.growth
        key = "adder", self, first_parts, growth
        if key not in space.memo:
            at = space.nearest(space.new_rows, first_parts)[0]
            first = space.grow(first_parts, space.new_rows, at)
            micro: tuple[SuperInstance, ...] = ()
            before: Points | None = None
            if self._micro:
                micro = (*(growth.replaced.get(s, s) for s in self._micro), *growth.added)
                before = self if space.n <= FOLLOW * self._n_measured else None
            elif space.n > 2 * MOST_POINTS:
                # From now on new rows are many to a point, while each of the old ones stays a point.
                groups = self._space.partition(np.arange(self.n)).groups
                micro = (
                    *(s for (s,) in groups),
                    *micro_clusters(space, space.group(space.new_rows, self._seed)),
                )
            space.memo[key] = Parts(first, micro, before)
        found: Parts = space.memo[key]
        return found

    def means(self, values: FloatArray) -> FloatArray:
        """What is known of the last instances, as means over those of each point; 0 where it has none."""
        at = self._point[-len(values) :]
        # Column by column: four times as fast as `np.add.at`.
        sums = np.column_stack([np.bincount(at, column, self.n) for column in values.T])
        return sums / np.maximum(np.bincount(at, minlength=self.n), 1)[:, None]

    def _set_points(self, before: Points | None) -> None:
        # For each point: how many instances it holds, the one that is shown for it, and whether that is allowed.
        space = self._space
        if not self._micro:
            self.weight = np.ones(space.n)
            self.instance: IndexArray = np.arange(space.n)
            self._point: IndexArray = self.instance
            self.may_show: BoolArray = np.ones(space.n, dtype=bool) if space.train is None else space.train
            return
        self.weight = np.array([len(s) for s in self._micro], dtype=np.float64)
        self.instance = np.array([s.representative for s in self._micro])
        self.may_show = np.array([s.n_train > 0 for s in self._micro])
        self._point = np.empty(space.n, dtype=np.int32)
        n_old = 0
        if before is not None:
            n_old = before.n
            self._point[: before.n_instances] = before._point
            # Of an old point only new rows are looked at: to list the others takes longer than all the rest.
            grown = [point for point in range(n_old) if self._micro[point] is not before._micro[point]]
            if grown:
                new = [cast("GrownInstance", self._micro[point]).new for point in grown]
                self._point[np.concatenate(new)] = np.repeat(grown, list(map(len, new)))
        for point, s in enumerate(self._micro[n_old:], n_old):
            self._point[s.members] = point

    def of(self, instances: Sequence[int]) -> IndexArray:
        """The points that hold these instances."""
        points: IndexArray = self._point[np.asarray(instances, dtype=np.intp)]
        return points

    def amount_around(self, amount: FloatArray) -> FloatArray:
        """How much of an amount per instance there is around every point, by a short diffusion."""
        return self._around(self.weight * amount)

    def partition(self, clusters: IndexArray, parts: Sequence[IndexArray] = ()) -> Partition:
        """The clustering in which every point is in its cluster; `parts` become super-instances of their own."""
        super_instances: Sequence[SuperInstance] = self._micro
        if not self._micro:
            # A super-instance is what lies in one cluster and in one first part: its representative is near.
            part = np.empty(self.n, dtype=np.int64)
            for number, points in enumerate([*(s.members for s in self.first_parts), *parts]):
                part[points] = number
            codes = clusters * (len(self.first_parts) + len(parts)) + part
            super_instances = [s for (s,) in self._space.partition(codes).groups]
            # They come in the order of their codes.
            clusters = np.flatnonzero(np.bincount(codes)) // (len(self.first_parts) + len(parts))
        order = np.argsort(clusters, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(clusters[order])) + 1)
        groups.sort(key=lambda group: int(group[0]))
        return Partition.of(tuple(map(super_instances.__getitem__, group.tolist())) for group in groups)


def split_all(space: Space, seed: int, n_parts: int) -> list[SuperInstance]:
    """A split of everything, largest part first."""
    return sorted(space.split(space.root(seed), n_parts), key=lambda part: -len(part))


def micro_clusters(space: VectorSpace, everything: SuperInstance) -> tuple[SuperInstance, ...]:
    """Small super-instances, in two steps: parts, then parts of parts in proportion to their size."""
    from cobras.spaces.euclidean import EuclideanSpace

    # One k-means into thousands of parts is O(n k); two steps of about sqrt(k) parts are O(n sqrt(k)). Parts so
    # small need not be the best of ten starts: with 10^6 rows all is measured in 1.1 s of CPU instead of 1.8 s.
    # They are others than those that the space itself would make, hence another draw.
    rough = EuclideanSpace(space.X, space.train, n_init=1)
    coarse = int(np.sqrt(MOST_POINTS / 2))
    found: list[SuperInstance] = []
    for part in rough.split(everything, coarse, draw=1):
        n_parts = max(1, round(MOST_POINTS / 2 * len(part) / len(everything)))
        found += rough.split(part, n_parts, draw=1)
    return tuple(found)
