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
N_SAMPLE = 500  # points from which scales are estimated
FARTHEST = 2.0**20  # typical distances: its square leaves a double 12 bits for the square of one


class Points:
    """The points of a space and four relations between them: "near", "far", "distance" and "linear".

    The first two are diffusions, "distance" is the squared Euclidean distance and "linear" the scalar product.
    Several threads may use one object.
    """

    def __init__(self, space: VectorSpace, seed: int, n_parts: int) -> None:
        self._space = space
        self._seed = seed
        self.first_parts = self.split(n_parts)
        self._micro = micro_clusters(space, seed) if space.n > MOST_POINTS else ()
        self._set_points()
        set_unit(self._rows)
        self.n = len(self._rows)
        graph = affinities(self._rows, N_NEIGHBORS)
        self._near, self._far = Diffusion(graph, NEAR), Diffusion(graph, FAR)
        self._reach = {"near": self._near.spread(np.ones(self.n)), "far": self._far.spread(np.ones(self.n))}
        self._set_scales()
        self._compute: dict[str, Callable[[int], FloatArray]] = {
            "near": self._near.column,
            "far": self._far.column,
            "distance": self._squared_distances,
            "linear": self._scalar_products,
        }
        # For each relation: in which row the column of a point is kept, or -1, and all columns that are kept.
        self._kept = {
            relation: (np.full(self.n, -1, dtype=np.int32), np.empty((0, self.n), dtype=np.float32))
            for relation in self._compute
        }
        self._lock = threading.Lock()
        medoids = self.of([part.representative for part in self.first_parts])
        self._quantiles = {"distance": self._distance_quantiles}
        for relation, reach in self._reach.items():
            scale = np.sqrt(reach[:, None] * reach[medoids])
            self._quantiles[relation] = np.quantile(self.columns(relation, medoids) / scale, QUANTILES)

    def split(self, n_parts: int) -> list[SuperInstance]:
        """A split of everything, largest part first."""
        return sorted(self._space.split(self._space.root(self._seed), n_parts), key=lambda part: -len(part))

    def _set_points(self) -> None:
        # For each point: how many instances it holds, the one that is shown for it, and whether that is allowed.
        space = self._space
        if self._micro:
            self._rows = np.array([s.centroid for s in self._micro], dtype=np.float64)
            self.weight = np.array([len(s) for s in self._micro], dtype=np.float64)
            self.instance: IndexArray = np.array([s.representative for s in self._micro])
            self.may_show: BoolArray = np.ones(len(self._micro), dtype=bool)
            self._point: IndexArray = np.empty(space.n, dtype=np.int32)
            for point, s in enumerate(self._micro):
                self._point[s.members] = point
        else:
            self._rows = space.X.astype(np.float64)
            self.weight = np.ones(space.n)
            self.instance = self._point = np.arange(space.n)
            self.may_show = np.ones(space.n, dtype=bool) if space.train is None else space.train

    def _set_scales(self) -> None:
        # Centred rows, so that sums of squares lose no digits to a common offset.
        self._rows -= self._rows.mean(axis=0)
        self._squares = np.einsum("ij,ij->i", self._rows, self._rows)
        self._variance = float(self._squares.mean()) or 1.0
        sample = self._rows[:: -(-self.n // N_SAMPLE)]
        squares = np.einsum("ij,ij->i", sample, sample)
        squared = np.maximum(squares[:, None] + squares - 2 * sample @ sample.T, 0)
        apart = squared[np.triu_indices(len(sample), 1)]
        self._distance_quantiles: FloatArray = np.quantile(apart, QUANTILES) if len(apart) else np.ones(1)
        # The median of the squared distances is the unit of Gaussian kernels.
        self.median = float(np.median(apart)) if len(apart) and np.median(apart) > 0 else self._variance

    def _squared_distances(self, point: int) -> FloatArray:
        squared = self._squares + self._squares[point] - 2 * (self._rows @ self._rows[point])
        squared[point] = 0
        positive: FloatArray = np.maximum(squared, 0)
        return positive

    def _scalar_products(self, point: int) -> FloatArray:
        column: FloatArray = self._rows @ self._rows[point] / self._variance
        return column

    def of(self, instances: Sequence[int]) -> IndexArray:
        """The points that hold these instances."""
        points: IndexArray = self._point[np.asarray(instances, dtype=np.intp)]
        return points

    def columns(self, relation: str, points: IndexArray, at: IndexArray | slice = EVERYWHERE) -> FloatArray:
        """How the points `at`, in rows, are related to these points, in columns."""
        place, kept = self._kept_columns(relation, points)
        chosen: FloatArray = kept[place][:, at].T
        return chosen

    def _kept_columns(self, relation: str, points: IndexArray) -> tuple[IndexArray, FloatArray]:
        """In which rows the columns of the points are kept, and all that are kept; missing ones are added."""
        # A row that is filled does not change any more, so it may be read without the lock.
        with self._lock:
            place, kept = self._kept[relation]
            new = np.unique(points[place[points] < 0])
            n_kept = int(place.max()) + 1
            if n_kept + len(new) > len(kept):
                # Room for twice as many: every column is copied O(1) times on average.
                larger = np.empty((2 * n_kept + len(new) + 16, self.n), dtype=np.float32)
                larger[:n_kept] = kept[:n_kept]
                kept = larger
            for row, point in enumerate(new.tolist(), start=n_kept):
                kept[row] = self._compute[relation](point)
                place[point] = row
            self._kept[relation] = place, kept
            return place[points], kept

    def share_more_similar(self, relation: str, a: IndexArray, b: IndexArray) -> FloatArray:
        """For each point of a and the point of b beside it, the share of all pairs that are more similar."""
        place, kept = self._kept_columns(relation, b)
        related: FloatArray = kept[place, a]
        quantiles = self._quantiles[relation]
        if relation == "distance":
            return np.searchsorted(quantiles, related) / len(quantiles)
        related = related / np.sqrt(self._reach[relation][a] * self._reach[relation][b])
        return 1 - np.searchsorted(quantiles, related, side="right") / len(quantiles)

    def cover(self, points: IndexArray) -> FloatArray:
        """How well every point is covered by these; about one at the points themselves."""
        columns = self.columns("near", points) / self._reach["near"][:, None]
        own = columns[points, np.arange(len(points))]
        covered: FloatArray = columns.sum(axis=1) / own.mean()
        return covered

    def amount_around(self, amount: FloatArray) -> FloatArray:
        """How much of an amount per instance there is around every point, by diffusion."""
        around: FloatArray = self._near.spread(self.weight * amount) / self._reach["near"]
        return around

    def partition(self, clusters: IndexArray, parts: Sequence[IndexArray] = ()) -> Partition:
        """The clustering in which every point is in its cluster; `parts` become super-instances of their own."""
        super_instances: Sequence[SuperInstance] = self._micro
        if not self._micro:
            # A super-instance is what lies in one cluster and in one first part: its representative is near.
            part = np.empty(self.n, dtype=np.int64)
            for number, points in enumerate([*(s.members for s in self.first_parts), *parts]):
                part[points] = number
            pieces = self._space.partition(clusters * (len(self.first_parts) + len(parts)) + part)
            super_instances = [s for (s,) in pieces.groups]
        groups: dict[int, list[SuperInstance]] = {}
        for s in super_instances:
            groups.setdefault(int(clusters[self._point[s.first]]), []).append(s)
        return Partition.of(tuple(group) for group in groups.values())


def set_unit(rows: FloatArray) -> None:
    """Scale rows, in place, by a power of two, so that their squares neither overflow nor vanish.

    A typical row then lies about one from the middle; one that is more than `FARTHEST` away is moved nearer.
    """
    middle = np.median(rows[:: -(-len(rows) // N_SAMPLE)], axis=0)
    # The largest coordinate, since a square may overflow.
    apart = np.abs(rows - middle).max(axis=1, initial=0)
    # A power of two changes no digit: ordinary data gives the same results with it and without.
    unit = np.frexp(np.median(apart[apart > 0]))[1] if apart.any() else 0
    rows[:], middle, apart = (np.ldexp(values, -unit) for values in (rows, middle, apart))
    far = apart > FARTHEST
    rows[far] = middle + (rows[far] - middle) / apart[far, None] * FARTHEST


def micro_clusters(space: VectorSpace, seed: int) -> tuple[SuperInstance, ...]:
    """Small super-instances, in two steps: parts, then parts of parts in proportion to their size."""
    # One k-means into thousands of parts is O(n k); two steps of about sqrt(k) parts are O(n sqrt(k)).
    coarse = int(np.sqrt(MOST_POINTS / 2))
    found: list[SuperInstance] = []
    for part in space.split(space.root(seed), coarse):
        found += space.split(part, max(1, round(MOST_POINTS / 2 * len(part) / space.n)))
    return tuple(found)
