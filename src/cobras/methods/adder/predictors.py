"""Simple predictors of the cluster of each instance from those whose cluster is known.

There are: diffusion, the nearest known point, the means of the clusters, ridge regression with linear and Gaussian
kernels, and random trees, which alone can ignore columns. Each gives scores, higher for likelier clusters, for
all points, and for every known point judging from the others alone. `mixture` makes probabilities of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import BoolArray, FloatArray, IndexArray
from cobras.methods.adder.geometry.points import Points
from cobras.spaces.kernels.sums import lowest_rows, sums_by_group

TINY = 1e-9
LEAF = 0.1  # the share of a leaf that is given to all clusters alike


class KnownPoints(NamedTuple):
    """Points with their clusters 0, 1, ..., and which of them take part in an answer."""

    points: IndexArray
    clusters: IndexArray
    is_answered: BoolArray

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return int(self.clusters.max()) + 1

    @property
    def key(self) -> tuple[bytes, bytes]:
        """What identifies the points and their clusters."""
        return self.points.tobytes(), self.clusters.tobytes()

    def sums(self, rows: FloatArray) -> FloatArray:
        """The sums of rows, one for each point, in each cluster: (k, d), in single precision."""
        m = len(self.points)
        ones = np.ones(m, dtype=np.float32)
        clusters = self.clusters.astype(np.int64, copy=False)
        single = rows.astype(np.float32, copy=False)
        sums: FloatArray = sums_by_group(single, np.arange(m), clusters, ones, self.n_clusters)
        return sums

    @property
    def membership(self) -> FloatArray:
        """One row per point, with a one at its cluster."""
        table = np.zeros((len(self.points), self.n_clusters), dtype=np.float32)
        table[np.arange(len(self.points)), self.clusters] = 1
        return table


class Rows(Protocol):
    """Where something is predicted: points, or rows that are not among the data; see `Points` and `NewRows`."""

    @property
    def rows32(self) -> FloatArray:
        """The coordinates, in single precision: columns and ranks."""

    @property
    def squares32(self) -> FloatArray:
        """Their squared lengths."""

    @property
    def by_column(self) -> FloatArray:
        """The values, one row per column of the data."""

    def nearest(self, known: IndexArray, /) -> IndexArray:
        """Which of the known points is nearest to each row, by its number among them."""

    def columns(self, relation: str, points: IndexArray, /) -> FloatArray:
        """How the rows are related to these points: (n, m)."""

    def sums(self, relation: str, points: IndexArray, clusters: IndexArray, /) -> FloatArray:
        """The sums of the columns of these points in each cluster: (k, n)."""


class Predictor(Protocol):
    """What predicts clusters. Scores lie in memory cluster by cluster, so that numpy works on long stretches."""

    def left_out(self, points: Points, known: KnownPoints) -> FloatArray:
        """The scores of all clusters at each known point, judging from the others: (m, k)."""

    def scores(self, points: Points, known: KnownPoints, at: Rows) -> FloatArray:
        """The scores of all clusters at each of the rows: (n, k)."""


@dataclass(frozen=True)
class DiffusionPredictor:
    """How much arrives at a point from each cluster by diffusion, in all or for each of its known points."""

    relation: str
    on_average: bool = False

    def left_out(self, points: Points, known: KnownPoints) -> FloatArray:
        """The scores of all clusters at each known point, judging from the others: (m, k)."""
        among = points.among(self.relation, known.points).copy()
        np.fill_diagonal(among, 0)
        arrives = known.sums(among).T
        if self.on_average:
            M = known.membership
            arrives /= np.maximum(M.sum(axis=0) - M, 1)
        return log_shares(arrives)

    def scores(self, points: Points, known: KnownPoints, at: Rows) -> FloatArray:
        """The scores of all clusters at each of the rows: (n, k)."""
        arrives = at.sums(self.relation, known.points, known.clusters).T
        if self.on_average:
            arrives /= np.bincount(known.clusters).astype(np.float32)
        return log_shares(arrives)


class NearestPredictor:
    """The cluster of the nearest known point."""

    sharpness = 3.0

    def left_out(self, points: Points, known: KnownPoints) -> FloatArray:
        """The scores of all clusters at each known point, judging from the others: (m, k)."""
        among = points.among("distance", known.points).copy()
        np.fill_diagonal(among, np.inf)
        return self._scores_of(known, among.argmin(axis=0))

    def scores(self, points: Points, known: KnownPoints, at: Rows) -> FloatArray:
        """The scores of all clusters at each of the rows: (n, k)."""
        return self._scores_of(known, at.nearest(known.points))

    def _scores_of(self, known: KnownPoints, nearest: IndexArray) -> FloatArray:
        scores = np.zeros((known.n_clusters, len(nearest)), dtype=np.float32)
        scores[known.clusters[nearest], np.arange(len(nearest))] = self.sharpness
        return scores.T


class Means(NamedTuple):
    """The known points and a sample, their squares, weights and clusters; the sums and means of the clusters."""

    rows: FloatArray
    squares: FloatArray
    weight: FloatArray
    nearest: IndexArray
    sums: FloatArray
    means: FloatArray


class MeanPredictor:
    """The distances to the means of the clusters, which points of unknown cluster help to find.

    Two steps of seeded k-means (Basu et al., 2002) on a sample: every point joins the nearest mean, and the means
    are computed again, a known point counting as much as a few others. To judge a known point, it is left out with
    all those that it may have brought into its cluster: the ones that it is nearest to.
    """

    n_steps = 2
    n_sample = 1500
    weight_of_known = 3.0

    def left_out(self, points: Points, known: KnownPoints) -> FloatArray:
        """The scores of all clusters at each known point, judging from the others: (m, k)."""
        rows, squares, weight, nearest, sums, means = self._fit(points, known)
        m, own = len(known.points), known.clusters
        at, every = rows[:m], np.arange(m)
        nearest_known = np.concatenate([every, points.nearest(known.points)[self._sample(points)]])
        brought = np.where(nearest == own[nearest_known], weight, 0)
        total = np.bincount(nearest, weight, known.n_clusters)[own] - np.bincount(nearest_known, brought, m)
        left = (sums[own] - sums_by_cluster(rows, nearest_known, brought, m)) / np.maximum(total, 1)[:, None]
        found = squared_distances(at, squares[:m], means)
        # Where nothing is left, its cluster is as far as the farthest.
        found[own, every] = np.where(total > 0.5, ((at - left) ** 2).sum(axis=1), found.max(axis=0))
        found /= -self._unit(found[own, every])
        return found.T

    def scores(self, points: Points, known: KnownPoints, at: Rows) -> FloatArray:
        """The scores of all clusters at each of the rows: (n, k)."""
        means = self._fit(points, known).means
        found = squared_distances(at.rows32, at.squares32, means)
        if at is points:
            to_own = found[known.clusters, known.points]
        else:
            some = points.rows32[known.points], points.squares32[known.points]
            to_own = squared_distances(*some, means)[known.clusters, np.arange(len(known.points))]
        found /= -self._unit(to_own)
        return found.T

    def _sample(self, points: Points) -> IndexArray:
        return np.arange(0, points.n, -(-points.n // self.n_sample))

    def _unit(self, to_own: FloatArray) -> np.float32:
        """A quarter of the typical squared distance to the own mean."""
        return np.float32(max(float(np.median(to_own)) / 4, TINY))

    def _fit(self, points: Points, known: KnownPoints) -> Means:
        return points.latest(self, known.key, lambda: self._make(points, known))

    def _make(self, points: Points, known: KnownPoints) -> Means:
        sample, m = self._sample(points), len(known.points)
        both = np.concatenate([known.points, sample])
        rows, squares = points.rows32[both], points.squares32[both]
        weight = np.concatenate(
            [np.full(m, self.weight_of_known), points.weight[sample] / points.weight.mean()]
        )
        weight[m:][np.isin(sample, known.points)] = 0
        sizes: FloatArray = np.bincount(known.clusters).astype(np.float32)
        means = known.sums(rows[:m]) / sizes[:, None]
        for _ in range(self.n_steps):
            nearest = lowest_rows(squared_distances(rows, squares, means), np.arange(known.n_clusters))
            nearest[:m] = known.clusters
            sums = sums_by_cluster(rows, nearest, weight, known.n_clusters)
            sizes = np.bincount(nearest, weight, known.n_clusters).astype(np.float32)
            means = sums / sizes[:, None]
        return Means(rows, squares, weight, nearest, sums, means)


def squared_distances(rows: FloatArray, squares: FloatArray, means: FloatArray) -> FloatArray:
    """The squared distance of every mean to every row: (k, n); `squares` are the squared lengths of the rows."""
    found = squares + (means * means).sum(axis=1)[:, None]
    found -= (2 * means) @ rows.T
    squared: FloatArray = np.maximum(found, 0, out=found)
    return squared


def sums_by_cluster(rows: FloatArray, clusters: IndexArray, weight: FloatArray, k: int) -> FloatArray:
    """The weighted sum of the rows of each cluster."""
    weights = weight.astype(np.float32)
    sums: FloatArray = sums_by_group(rows, np.arange(len(rows)), clusters, weights, k)
    return sums


class Ridge(NamedTuple):
    """The weight of each known point for each cluster, (k, m), and the diagonal of the inverse of the kernel."""

    weights: FloatArray
    diagonal: FloatArray


@dataclass(frozen=True)
class RidgePredictor:
    """Kernel ridge regression on the clusters, with the scalar product or a Gaussian as kernel."""

    penalty: float
    relation: str = ""  # of the Gaussian; none for the scalar product
    sharpness = 4.0

    def left_out(self, points: Points, known: KnownPoints) -> FloatArray:
        """The scores of all clusters at each known point, judging from the others: (m, k)."""
        # With P the inverse of the penalised kernel, the error at i of a fit to the others is (P y)_i / P_ii.
        weights, diagonal = self._fit(points, known)
        scores = weights / -diagonal
        scores -= np.float32(1 / known.n_clusters)
        scores[known.clusters, np.arange(len(known.points))] += 1
        scores *= np.float32(self.sharpness)
        return scores.T

    def scores(self, points: Points, known: KnownPoints, at: Rows) -> FloatArray:
        """The scores of all clusters at each of the rows: (n, k)."""
        weights = self._fit(points, known).weights * np.float32(self.sharpness)
        if self.relation:
            return (weights @ at.columns(self.relation, known.points).T).T
        # O(n d k) rather than O(n m k): the scalar products with all known points are not needed.
        return (weights @ points.rows32[known.points] / np.float32(points.variance) @ at.rows32.T).T

    def _fit(self, points: Points, known: KnownPoints) -> Ridge:
        return points.latest((self, "fit"), known.key, lambda: self._make(points, known))

    def _make(self, points: Points, known: KnownPoints) -> Ridge:
        make = lambda: self._invert(points, known.points)  # noqa: E731
        inverse = points.latest(self, known.points.tobytes(), make)
        # The targets are one at the cluster of a point and zero elsewhere, less their mean.
        weights = known.sums(inverse) - (inverse.sum(axis=0) / known.n_clusters).astype(np.float32)
        return Ridge(weights, np.diag(inverse).astype(np.float32))

    def _invert(self, points: Points, known: IndexArray) -> FloatArray:
        rows = points.rows(known)
        m, d = rows.shape
        if self.relation or d >= m:
            kernel = (
                points.among(self.relation, known).astype(np.float64)
                if self.relation
                else rows @ rows.T / points.variance
            )
            kernel[np.diag_indices(m)] += self.penalty
            inverse: FloatArray = np.linalg.inv(kernel)
            return inverse
        # With fewer columns than points, the inverse of a d x d matrix gives that of the m x m one.
        inner = rows.T @ rows / points.variance
        inner[np.diag_indices(d)] += self.penalty
        inverse = rows @ np.linalg.inv(inner) @ rows.T / (-self.penalty * points.variance)
        inverse[np.diag_indices(m)] += 1 / self.penalty
        return inverse


class Forest(NamedTuple):
    """The trees as `cobras.spaces.kernels.forest` returns them."""

    used: BoolArray
    nodes: IndexArray
    thresholds: FloatArray
    leaves: IndexArray


class ForestPredictor:
    """Extremely randomised trees; those that were grown without a known point predict it."""

    n_trees = 100

    def left_out(self, points: Points, known: KnownPoints) -> FloatArray:
        """The scores of all clusters at each known point, judging from the others: (m, k)."""
        from cobras.spaces.kernels.forest import left_out_weights

        forest = self._fit(points, known)
        shares = known.sums(left_out_weights(forest.used, forest.leaves).T)
        scores: FloatArray = np.log(shares + np.float32(LEAF / known.n_clusters)).T
        return scores

    def scores(self, points: Points, known: KnownPoints, at: Rows) -> FloatArray:
        """The scores of all clusters at each of the rows: (n, k)."""
        from cobras.spaces.kernels.forest import forest_shares

        clusters = known.clusters.astype(np.int64)
        shares = forest_shares(at.by_column, clusters, known.n_clusters, *self._fit(points, known))
        scores: FloatArray = np.log(shares + LEAF / known.n_clusters)
        return scores

    def _fit(self, points: Points, known: KnownPoints) -> Forest:
        from cobras.spaces.kernels.forest import grow_forest

        def make() -> Forest:
            columns = np.ascontiguousarray(points.by_column[:, known.points])
            return Forest(*grow_forest(columns, known.clusters.astype(np.int64), self.n_trees, 1))

        return points.latest(self, known.key, make)


PREDICTORS: dict[str, Predictor] = {
    "near": DiffusionPredictor("near"),
    "even": DiffusionPredictor("near", on_average=True),
    "nearest": NearestPredictor(),
    "means": MeanPredictor(),
    "linear": RidgePredictor(0.1),
    "stiff": RidgePredictor(1.0),
    "narrow": RidgePredictor(0.1, "narrow"),
    "wide": RidgePredictor(0.1, "wide"),
    "broad": RidgePredictor(1.0, "wide"),
    "forest": ForestPredictor(),
}
RETIRED = ("far",)  # session files may still name it


def predictor_names(text: str) -> tuple[str, ...]:
    """The names of predictors in a text, where they are separated by spaces; all of them for "all"."""
    names = tuple(PREDICTORS if text == "all" else (name for name in text.split() if name not in RETIRED))
    if not names or not set(names) <= PREDICTORS.keys():
        raise InvalidDataError(
            f'predictors must be "all" or some of {" ".join(PREDICTORS)}, separated by spaces, not {text!r}.'
        )
    return names


def log_shares(amounts: FloatArray) -> FloatArray:
    """The logarithm of the share of each column in its row."""
    amounts = amounts + TINY
    logarithms: FloatArray = np.log(amounts / amounts.sum(axis=1, keepdims=True) + 1e-6)
    return logarithms
