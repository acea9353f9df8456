"""What ADDER knows of the data before any answer: points, and how each is related to the points asked about.

A point is an instance, or a super-instance of a few similar ones where there are more instances than `MOST_POINTS`,
so that the cost of an answer grows with the data only where the first parts are split anew. For every point that
takes part in an answer one column of each relation is computed once, O(number of points), and kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from cobras.core.partition import Partition, SuperInstance
from cobras.core.types import BoolArray, FloatArray, IndexArray
from cobras.methods.adder.diffusion import Diffusion, affinities
from cobras.spaces.base import VectorSpace

EVERYWHERE = slice(None)
MOST_POINTS = 5000
N_NEIGHBORS = 10
NEAR, FAR = 0.9, 0.99  # the shares that go on in the two diffusions
QUANTILES = np.linspace(0, 1, 501)[1:-1]
N_SAMPLED = 500  # points by which scales are set


class Landscape:
    """The points of a space and their relations; several threads may ask for them.

    Attributes
    ----------
    n : int
        The number of points.
    weight : array of shape (n,)
        How many instances each point stands for.
    instance : array of shape (n,)
        The instance that is shown for each point.
    shown : array of shape (n,)
        Which points may be shown.
    first : list of SuperInstance
        The parts of the first split, largest first.
    """

    def __init__(self, space: VectorSpace, seed: int, n_parts: int) -> None:
        self._space = space
        self._seed = seed
        self.first = self.split(n_parts)
        self._micro = micro_clusters(space, seed) if space.n > MOST_POINTS else ()
        self._set_points()
        self.n = len(self._rows)
        graph = affinities(self._rows, N_NEIGHBORS)
        self._near, self._far = Diffusion(graph, NEAR), Diffusion(graph, FAR)
        self._reach = {"near": self._near.spread(np.ones(self.n)), "far": self._far.spread(np.ones(self.n))}
        self._set_scales()
        self._make: dict[str, Callable[[int], FloatArray]] = {
            "near": self._near.column,
            "far": self._far.column,
            "distance": self._squared_distances,
            "linear": self._linear,
        }
        self._kept = {
            relation: (np.full(self.n, -1, dtype=np.int32), np.empty((0, self.n), dtype=np.float32))
            for relation in self._make
        }
        self._lock = threading.Lock()
        medoids = self.points([part.representative for part in self.first])
        self._ordered = {
            relation: np.quantile(self.columns(relation, medoids) / self._scale(relation, medoids), QUANTILES)
            for relation in ("near", "far")
        }

    def split(self, n_parts: int) -> list[SuperInstance]:
        """A split of everything, largest part first."""
        return sorted(self._space.split(self._space.root(self._seed), n_parts), key=lambda part: -len(part))

    def _set_points(self) -> None:
        space = self._space
        if self._micro:
            self._rows = np.array([s.centroid for s in self._micro], dtype=np.float64)
            self.weight = np.array([len(s) for s in self._micro], dtype=np.float64)
            self.instance: IndexArray = np.array([s.representative for s in self._micro])
            self.shown: BoolArray = np.ones(len(self._micro), dtype=bool)
            self._home: IndexArray = np.empty(space.n, dtype=np.int32)
            for point, s in enumerate(self._micro):
                self._home[s.members] = point
        else:
            self._rows = space.X.astype(np.float64)
            self.weight = np.ones(space.n)
            self.instance = np.arange(space.n)
            self._home = self.instance
            self.shown = np.ones(space.n, dtype=bool) if space.train is None else space.train

    def _set_scales(self) -> None:
        self._rows -= self._rows.mean(axis=0)
        self._squares = np.einsum("ij,ij->i", self._rows, self._rows)
        self._spread = float(self._squares.mean()) or 1.0
        sample = self._rows[:: -(-self.n // N_SAMPLED)]
        squares = np.einsum("ij,ij->i", sample, sample)
        apart = np.maximum(squares[:, None] + squares - 2 * sample @ sample.T, 0)[
            np.triu_indices(len(sample), 1)
        ]
        self._distances: FloatArray = np.quantile(apart, QUANTILES) if len(apart) else np.ones(1)
        self.median = float(np.median(apart)) if len(apart) and np.median(apart) > 0 else self._spread

    def _squared_distances(self, point: int) -> FloatArray:
        squared = self._squares + self._squares[point] - 2 * (self._rows @ self._rows[point])
        squared[point] = 0
        positive: FloatArray = np.maximum(squared, 0)
        return positive

    def _linear(self, point: int) -> FloatArray:
        column: FloatArray = self._rows @ self._rows[point] / self._spread
        return column

    def points(self, instances: Sequence[int]) -> IndexArray:
        """The points that stand for these instances."""
        points: IndexArray = self._home[np.asarray(instances, dtype=np.intp)]
        return points

    def columns(self, relation: str, points: IndexArray) -> FloatArray:
        """How all points are related to these, shape (n, number of points)."""
        return self.block(relation, EVERYWHERE, points)

    def block(self, relation: str, at: IndexArray | slice, points: IndexArray) -> FloatArray:
        """How the points `at` are related to these."""
        place, kept = self._keep(relation, points)
        chosen: FloatArray = kept[place][:, at].T
        return chosen

    def related(self, relation: str, a: IndexArray, b: IndexArray) -> FloatArray:
        """How each point of a is related to the point of b beside it."""
        place, kept = self._keep(relation, b)
        chosen: FloatArray = kept[place, a]
        return chosen

    def _keep(self, relation: str, points: IndexArray) -> tuple[IndexArray, FloatArray]:
        """The columns computed so far, one in each row, and in which rows those of the points are."""
        with self._lock:  # a row that is filled stays as it is, so it may be read without
            place, kept = self._kept[relation]
            new = np.unique(points[place[points] < 0])
            n_kept = int(place.max()) + 1
            if n_kept + len(new) > len(kept):
                larger = np.empty((2 * n_kept + len(new) + 16, self.n), dtype=np.float32)
                larger[:n_kept] = kept[:n_kept]
                kept = larger
            for row, point in enumerate(new.tolist(), start=n_kept):
                kept[row] = self._make[relation](point)
                place[point] = row
            self._kept[relation] = place, kept
            return place[points], kept

    def _scale(self, relation: str, points: IndexArray) -> FloatArray:
        reach = self._reach[relation]
        scale: FloatArray = np.sqrt(reach[:, None] * reach[points])
        return scale

    def share_more_alike(self, relation: str, a: IndexArray, b: IndexArray) -> FloatArray:
        """For each pair of points, the share of all pairs, by a sample, that are more alike in this relation."""
        related = self.related(relation, a, b)
        if relation == "distance":
            return np.searchsorted(self._distances, related) / len(self._distances)
        ordered = self._ordered[relation]
        related = related / np.sqrt(self._reach[relation][a] * self._reach[relation][b])
        return 1 - np.searchsorted(ordered, related, side="right") / len(ordered)

    def cover(self, points: IndexArray) -> FloatArray:
        """How well every point is covered by these: near one, as well as they cover themselves."""
        columns = self.columns("near", points) / self._reach["near"][:, None]
        own = columns[points, np.arange(len(points))]
        covered: FloatArray = columns.sum(axis=1) / own.mean()
        return covered

    def felt(self, amount: FloatArray) -> FloatArray:
        """How much of an amount per instance there is around every point, by diffusion."""
        around: FloatArray = self._near.spread(self.weight * amount) / self._reach["near"]
        return around

    def partition(self, clusters: IndexArray, kept: Sequence[IndexArray] = ()) -> Partition:
        """The clustering in which every point is in its cluster; what is kept are super-instances of their own."""
        if self._micro:
            groups: dict[int, list[SuperInstance]] = {}
            for s, cluster in zip(self._micro, clusters.tolist(), strict=True):
                groups.setdefault(cluster, []).append(s)
            return Partition.of(tuple(group) for group in groups.values())
        part = np.empty(self.n, dtype=np.int64)
        for number, s in enumerate(self.first):
            part[s.members] = number
        for number, points in enumerate(kept, start=len(self.first)):
            part[points] = number
        pieces = self._space.partition(clusters * (len(self.first) + len(kept)) + part)
        regions: dict[int, list[SuperInstance]] = {}
        for (s,) in pieces.groups:
            regions.setdefault(int(clusters[s.members[0]]), []).append(s)
        return Partition.of(tuple(region) for region in regions.values())


def micro_clusters(space: VectorSpace, seed: int) -> tuple[SuperInstance, ...]:
    """Small super-instances, in two steps: parts, then parts of parts in proportion to their size."""
    coarse = int(np.sqrt(MOST_POINTS / 2))
    parts = space.split(space.root(seed), coarse)
    found: list[SuperInstance] = []
    for part in parts:
        found += space.split(part, max(1, round(MOST_POINTS / 2 * len(part) / space.n)))
    return tuple(found)
