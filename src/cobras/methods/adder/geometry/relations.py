"""How points are related: "near", "far", "distance", "narrow" and "wide", and coarse clusterings of them.

Two relations are diffusions over the graph of nearest neighbours. With S its normalised affinities, a unit that
enters at point i and goes on with probability a at every step spreads as column i of (1 - a)(I - aS)^-1 (Zhou et
al., Learning with local and global consistency, 2004). No matrix of all pairs is ever made. For every point that
takes part in an answer one column of each relation is computed once, O(number of points), and kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from cobras.core.partition import NodeRandom
from cobras.core.types import FloatArray, IndexArray
from cobras.methods.adder.geometry.coordinates import Coordinates, squares_between
from cobras.methods.adder.geometry.neighbors import (
    GOES_ON,
    by_distance,
    look_around,
    nearest,
    neighbor_graph,
    spread,
    with_new_rows,
)
from cobras.spaces.kernels.kmeans import kmeans
from cobras.spaces.kernels.sums import lowest_rows, sums_by_group

T = TypeVar("T")

EVERYWHERE = slice(None)
N_NEIGHBORS = 10
SHARPNESS = {"narrow": 4.0, "wide": 1.0}  # of Gaussian kernels, in units of the median squared distance
BLOCK = 64  # columns that spread at a time
FEW_COLUMNS = 100  # up to which a forest is grown
N_SOURCES = 48  # points from which the quantiles of diffusions are estimated
# The share of pairs that are more similar, from one in 22,000 to all but one in 22,000, even in its log-odds: with
# hundreds of clusters all pairs of one cluster are among the first thousandth.
SHARES: FloatArray = 1 / (1 + np.exp(-np.linspace(-10, 10, 401)))
MEASURES = ("distance", "near", "far")
BLOCKS = (2, 3, 4, 5, 6, 8)  # coarse clusterings by k-means: their numbers of clusters


class Relations:
    """The relations of points to each other.

    The first two are diffusions, "distance" is the squared Euclidean distance, and the last two are Gaussians of
    it. Several threads may use one object.

    Parameters
    ----------
    rows : array of shape (n, d)
        What the space says of the points; only of the new ones, if there are others before them.
    seed : int
    are_columns : bool
        Whether these are columns of a table, whose tails may be heavy.
    before : Relations, optional
        What was measured of the points before these: it is kept, since a few rows more change little.
    """

    def __init__(self, rows: FloatArray, seed: int, are_columns: bool, before: Relations | None) -> None:
        if before is None:
            self._measure(rows, seed, are_columns)
        else:
            self._measure_new(rows, before)
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

    def _measure(self, rows: FloatArray, seed: int, are_columns: bool) -> None:
        # Where there are many columns, as with pictures, they have one unit; and series have no columns.
        self._coordinates = Coordinates.of(rows, are_columns and rows.shape[1] <= FEW_COLUMNS)
        self._rows: FloatArray = self._coordinates.place(rows)
        self._neighbors = neighbor_graph(self._rows, N_NEIGHBORS)
        some = [k for k in BLOCKS if k < len(rows)]
        self._centers = [kmeans(self._rows, k, NodeRandom(seed, (0, k))).centers for k in some]
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
        self.median: float = float(np.median(apart)) if len(apart) and np.median(apart) > 0 else self.variance

    def _measure_new(self, rows: FloatArray, before: Relations) -> None:
        self._coordinates, self._centers = before._coordinates, before._centers
        self._rows, self._neighbors = before._rows, before._neighbors
        if len(rows):
            self._rows = np.vstack([before._rows, self._coordinates.place(rows)])
            self._neighbors = with_new_rows(before._neighbors, self._rows, N_NEIGHBORS)
        self.variance, self.median, self._quantiles = before.variance, before.median, before._quantiles

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

    def _units(self, points: IndexArray) -> FloatArray:
        """One column for each of these points, with a one there."""
        units = np.zeros((self.n, len(points)), dtype=np.float32)
        units[points, np.arange(len(points))] = 1
        return units

    @property
    def gap(self) -> float:
        """How far a point is from its nearest neighbour at most."""
        return self._neighbors.gap

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

    def _around(self, total: FloatArray) -> FloatArray:
        """How much there is around every point of an amount that lies at the points, by a short diffusion."""
        found: FloatArray = look_around(self._graph, total.astype(np.float32)) / self._reach["near"]
        return found
