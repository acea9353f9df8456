"""What ADDER knows of the data before any answer: points, and how each is related to the points asked about.

A point is an instance, or a super-instance of a few similar ones where there are more instances than `MOST_POINTS`,
so that the cost of an answer grows with the data only where the first parts are split anew. For every point that
takes part in an answer one column of each relation is computed once, O(number of points), and kept.

Two relations are diffusions over the graph of nearest neighbours. With S its normalised affinities, a unit that
enters at point i and goes on with probability a at every step spreads as column i of (1 - a)(I - aS)^-1 (Zhou et
al., Learning with local and global consistency, 2004). No matrix of all pairs is ever made.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from cobras.core.partition import NodeRandom, Partition, SuperInstance
from cobras.core.types import BoolArray, FloatArray, IndexArray
from cobras.methods.adder.coordinates import Coordinates, squares_between
from cobras.methods.adder.neighbors import (
    GOES_ON,
    by_distance,
    look_around,
    nearest,
    neighbor_graph,
    spread,
    with_new_rows,
)
from cobras.spaces.base import EmbeddedSpace, Space, VectorSpace
from cobras.spaces.kernels.kmeans import kmeans
from cobras.spaces.kernels.sums import lowest_rows, sums_by_group

if TYPE_CHECKING:
    from cobras.methods.protocol import Grown
    from cobras.spaces.growth import GrownInstance

T = TypeVar("T")

EVERYWHERE = slice(None)
MOST_POINTS = 5000
N_NEIGHBORS = 10
SHARPNESS = {"narrow": 4.0, "wide": 1.0}  # of Gaussian kernels, in units of the median squared distance
BLOCK = 64  # columns that spread at a time
FEW_COLUMNS = 100  # up to which a forest is grown
N_SOURCES = 48  # points from which the quantiles of diffusions are estimated
FOLLOW = 1.1  # times as many rows as were measured, until all points are measured anew
# The share of pairs that are more similar, from one in 22,000 to all but one in 22,000, even in its log-odds: with
# hundreds of clusters all pairs of one cluster are among the first thousandth.
SHARES: FloatArray = 1 / (1 + np.exp(-np.linspace(-10, 10, 401)))
MEASURES = ("distance", "near", "far")
BLOCKS = (2, 3, 4, 5, 6, 8)  # coarse clusterings by k-means: their numbers of clusters


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


class Points:
    """The points of a space and their relations: "near", "far", "distance", "narrow" and "wide".

    The first two are diffusions, "distance" is the squared Euclidean distance, and the last two are Gaussians of
    it. Several threads may use one object.
    """

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
        if before is None:
            self._measure()
        else:
            self._measure_new(before)
        self.n = len(self._rows)
        self._graph = self._neighbors.affinities()
        self._squares = np.einsum("ij,ij->i", self._rows, self._rows)
        self.rows32 = self._rows.astype(np.float32)
        self.squares32 = (self.rows32 * self.rows32).sum(axis=1)
        # The number of the block that holds each point, one row for each of `BLOCKS`.
        self.blocks: IndexArray = np.array(
            [self._squares_to(centers).argmin(axis=1) for centers in self._centers], dtype=np.int8
        ).reshape(-1, self.n)
        self._latest: dict[Hashable, tuple[object, Any]] = {}
        self.has_few_columns = self._coordinates.n_columns <= FEW_COLUMNS
        # How much arrives at every point if a unit enters everywhere and, in further columns, at a few points.
        n_sources = min(self.n, N_SOURCES) if before is None else 0
        sources = np.linspace(0, self.n - 1, n_sources).astype(np.intp)
        units = np.ones((self.n, 1 + n_sources), dtype=np.float32)
        units[:, 1:] = self._units(sources)
        arrives = self._spread(units)
        self._reach = {name: columns[:, 0].copy() for name, columns in arrives.items()}
        if before is None:
            self._set_quantiles(sources, arrives)
        # For each relation: all columns that are kept; and in which row that of a point is, or -1.
        self._kept = {name: np.empty((0, self.n), dtype=np.float32) for name in (*MEASURES, *SHARPNESS)}
        self._place: IndexArray = np.full(self.n, -1, dtype=np.int32)
        # For each measure and two points with columns: the step of `SHARES` that their similarity is at.
        self._steps = {name: np.empty((0, 0), dtype=np.uint16) for name in MEASURES}
        self._kept_points: IndexArray = np.empty(0, dtype=np.intp)
        self._lock = threading.Lock()

    @property
    def n_instances(self) -> int:
        """How many instances the points hold."""
        return self._space.n

    @property
    def gap(self) -> float:
        """How far a point is from its nearest neighbour at most."""
        return self._neighbors.gap

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
        # Column by column: ten times as fast as `np.add.at`.
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

    def _measure(self) -> None:
        space, is_table = self._space, isinstance(self._space, VectorSpace)
        rows: FloatArray
        if self._micro:
            rows = np.array([s.centroid for s in self._micro], dtype=np.float64)
        else:
            rows = space.X if isinstance(space, VectorSpace) else space.coordinates()
            rows = rows.astype(np.float64)
        # Where there are many columns, as with pictures, they have one unit; and series have no columns.
        self._coordinates = Coordinates.of(rows, is_table and rows.shape[1] <= FEW_COLUMNS)
        self._rows: FloatArray = self._coordinates.place(rows)
        self._n_measured = space.n
        self._neighbors = neighbor_graph(self._rows, N_NEIGHBORS)
        self._centers = [
            kmeans(self._rows, k, NodeRandom(self._seed, (0, k))).centers
            for k in BLOCKS
            if k < len(self._rows)
        ]
        self._set_scales()

    def _squares_to(self, centers: FloatArray) -> FloatArray:
        """The squared distances to some centers, less the squared length of each point."""
        found: FloatArray = (centers**2).sum(axis=1) - 2 * self._rows @ centers.T
        return found

    def _set_scales(self) -> None:
        squares = np.einsum("ij,ij->i", self._rows, self._rows)
        self.variance = float(squares.mean()) or 1.0
        apart = squares_between(self._rows)
        self._quantiles: dict[str, FloatArray] = {
            "distance": np.quantile(apart, SHARES) if len(apart) else np.ones(len(SHARES))
        }
        # The median of the squared distances is the unit of Gaussian kernels.
        self.median = float(np.median(apart)) if len(apart) and np.median(apart) > 0 else self.variance

    def _measure_new(self, before: Points) -> None:
        """Keep what was measured of the old points, of which a few rows more change little."""
        self._coordinates, self._n_measured = before._coordinates, before._n_measured
        self._rows, self._neighbors, self._centers = before._rows, before._neighbors, before._centers
        if new := self._micro[before.n :]:
            rows = np.array([s.centroid for s in new], dtype=np.float64)
            self._rows = np.vstack([before._rows, self._coordinates.place(rows)])
            self._neighbors = with_new_rows(before._neighbors, self._rows, N_NEIGHBORS)
        self.variance, self.median, self._quantiles = before.variance, before.median, before._quantiles

    def _units(self, points: IndexArray) -> FloatArray:
        """One column for each of these points, with a one there."""
        units = np.zeros((self.n, len(points)), dtype=np.float32)
        units[points, np.arange(len(points))] = 1
        return units

    def _set_quantiles(self, sources: IndexArray, arrives: dict[str, FloatArray]) -> None:
        others = self._units(sources) == 0
        for name, columns in arrives.items():
            # Negative, so that less is more similar, as with distances.
            scaled = -columns[:, 1:] / np.sqrt(self._reach[name][:, None] * self._reach[name][sources])
            self._quantiles[name] = (
                np.quantile(scaled[others], SHARES) if others.any() else np.ones(len(SHARES))
            )

    def _spread(self, source: FloatArray) -> dict[str, FloatArray]:
        """How much arrives at every point if the columns of `source` enter, for both diffusions."""
        found = spread(self._graph, source)
        return {name: np.maximum(found[x], np.float32(1e-12)) for x, name in enumerate(GOES_ON)}

    def of(self, instances: Sequence[int]) -> IndexArray:
        """The points that hold these instances."""
        points: IndexArray = self._point[np.asarray(instances, dtype=np.intp)]
        return points

    def columns(self, relation: str, points: IndexArray, at: IndexArray | slice = EVERYWHERE) -> FloatArray:
        """How the points `at`, in rows, are related to these points, in columns."""
        place = self._places(points)
        kept = self._kept[relation]
        chosen: FloatArray = kept[place] if isinstance(at, slice) else kept[place[:, None], at]
        return chosen.T

    def among(self, relation: str, points: IndexArray) -> FloatArray:
        """How these points are related to each other: a row for each of their columns."""
        make = lambda: self.columns(relation, points, points).T  # noqa: E731
        return self.latest(("among", relation), points.tobytes(), make)

    def sums(self, relation: str, points: IndexArray, clusters: IndexArray) -> FloatArray:
        """The sums of the columns of these points in each cluster: (k, n)."""
        # The places first: what they are places in may be replaced when they are made.
        places, ones = self._places(points).astype(np.int64), np.ones(len(points), dtype=np.float32)
        groups, k = clusters.astype(np.int64, copy=False), int(clusters.max()) + 1
        sums: FloatArray = sums_by_group(self._kept[relation], places, groups, ones, k)
        return sums

    def rows(self, points: IndexArray | slice = EVERYWHERE) -> FloatArray:
        """The coordinates of points, centred."""
        return self._rows[points]

    @cached_property
    def by_column(self) -> FloatArray:
        """The centred values of the data, one row per column."""
        return self.columns_of(self.rows32)

    def similarity_steps(self, measure: str, a: IndexArray, b: IndexArray) -> IndexArray:
        """For each point of a and the point of b beside it, the step of `SHARES` that their similarity is at."""
        place_a, place_b = self._places(a), self._places(b)
        steps: IndexArray = self._steps[measure][place_a, place_b]
        return steps

    def steps_among(self, measure: str, points: IndexArray) -> IndexArray:
        """The same for each two of these points."""
        places = self._places(points)
        make = lambda: self._steps[measure][places].take(places, axis=1)  # noqa: E731
        return self.latest(("steps", measure), points.tobytes(), make)

    def _places(self, points: IndexArray) -> IndexArray:
        """In which rows the columns of the points are kept; missing ones are computed."""
        places = self._place[points]
        if len(places) and places.min() < 0:
            # A row that is filled does not change any more, so it may be read without the lock.
            with self._lock:
                # Another thread, which thinks ahead, may have made them while this one waited for the lock.
                if len(missing := np.unique(points[self._place[points] < 0])):
                    self._keep(missing)
            places = self._place[points]
        return places

    def _keep(self, new: IndexArray) -> None:
        old = self._kept_points
        now = np.concatenate([old, new])
        units = self._units(new)
        # A few columns at a time stay near the processor: twice as fast where hundreds of rows are known at once.
        parts = [self._spread(units[:, at : at + BLOCK]) for at in range(0, len(new), BLOCK)]
        columns = {name: np.concatenate([part[name] for part in parts], axis=1) for name in GOES_ON}
        products = self._rows @ self._rows[new].T
        distance = np.maximum(self._squares[:, None] + self._squares[new] - 2 * products, 0)
        distance[new, np.arange(len(new))] = 0
        columns["distance"] = distance
        for name, sharpness in SHARPNESS.items():
            columns[name] = np.exp(distance * (-sharpness / self.median))
        for name, kept in self._kept.items():
            if len(now) > len(kept):
                # Room for twice as many: every column is copied O(1) times on average.
                kept = np.empty((2 * len(now) + 16, self.n), dtype=np.float32)
                kept[: len(old)] = self._kept[name][: len(old)]
            kept[len(old) : len(now)] = columns[name].T
            self._kept[name] = kept
        for measure in MEASURES:
            room = len(self._kept[measure])
            steps = self._steps[measure]
            if len(steps) < room:
                steps = np.zeros((room, room), dtype=np.uint16)
                steps[: len(old), : len(old)] = self._steps[measure][: len(old), : len(old)]
            # Of two points, always the column of the lower one: then the order in which columns were computed
            # does not matter.
            kept = self._kept[measure]
            among = np.where(new[:, None] < now, kept[len(old) : len(now), now], kept[: len(now), new].T)
            if measure != "distance":
                reach = self._reach[measure][now]
                among = -among / np.sqrt(reach[len(old) :, None] * reach)
            found = np.searchsorted(self._quantiles[measure], among).clip(0, len(SHARES) - 1)
            steps[len(old) : len(now), : len(now)] = found
            steps[: len(now), len(old) : len(now)] = found.T
            self._steps[measure] = steps
        self._kept_points = now
        self._place[new] = np.arange(len(old), len(now), dtype=np.int32)

    def nearest(self, known: IndexArray) -> IndexArray:
        """Which of the known points is nearest to each point, by its number among them."""
        places = self._places(known).astype(np.int64)
        make = lambda: lowest_rows(self._kept["distance"], places)  # noqa: E731
        found: IndexArray = self.latest("nearest", known.tobytes(), make)
        return found

    def columns_of(self, rows32: FloatArray) -> FloatArray:
        """The values of rows, one row per column of the data: without ranks, which tell a tree nothing new."""
        return np.ascontiguousarray(rows32[:, : self._coordinates.n_columns].T)

    def measure(self, X: FloatArray) -> FloatArray:
        """The coordinates of rows that need not be among the data, as `rows32` has those of the points."""
        measured: FloatArray = self._coordinates.place(X).astype(np.float32)
        return measured

    def nearest_to(self, rows32: FloatArray, k: int) -> tuple[IndexArray, FloatArray]:
        """Up to k nearest points of rows, by their coordinates, nearest first, and how far they are."""
        # In single precision, which is half the work: of points that are nearly equally near, any will do.
        near = nearest(rows32, self.rows32, min(k, self.n))
        return by_distance(rows32, self.rows32, near)

    def latest(self, kind: Hashable, key: object, make: Callable[[], T]) -> T:
        """What `make` returns; of each kind the last result is kept, and returned again for the same key."""
        kept = self._latest.get(kind)
        if kept is None or kept[0] != key:
            kept = key, make()
            self._latest[kind] = kept
        found: T = kept[1]
        return found

    def cover(self, points: IndexArray) -> FloatArray:
        """How well every point is covered by these; about one at the points themselves."""
        reach = self._reach["near"]
        (total,) = self.sums("near", points, np.zeros(len(points), dtype=np.int64))
        own = self._kept["near"][self._places(points), points] / reach[points]
        covered: FloatArray = total / reach / own.mean()
        return covered

    def amount_around(self, amount: FloatArray) -> FloatArray:
        """How much of an amount per instance there is around every point, by a short diffusion."""
        found = look_around(self._graph, (self.weight * amount).astype(np.float32))
        around: FloatArray = found / self._reach["near"]
        return around

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
