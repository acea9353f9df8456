"""Simple predictors of the cluster of each instance from those whose cluster is known.

There are: diffusion, the nearest known point, the means of the clusters, ridge regression with linear and Gaussian
kernels, and a random forest, which alone can ignore columns. Each gives scores, higher for likelier clusters, for
all points, and for every known point judging from the others alone. `mixture` makes probabilities of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import BoolArray, FloatArray, IndexArray
from cobras.methods.adder.points import Points

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

    @property
    def membership(self) -> FloatArray:
        """One row per point, with a one at its cluster."""
        table = np.zeros((len(self.points), self.n_clusters), dtype=np.float32)
        table[np.arange(len(self.points)), self.clusters] = 1
        return table


class Predictor(Protocol):
    """What predicts clusters."""

    def left_out(self, points: Points, known: KnownPoints) -> FloatArray:
        """The scores of all clusters at each known point, judging from the others: (m, k)."""

    def scores(self, points: Points, known: KnownPoints) -> FloatArray:
        """The scores of all clusters at each point: (n, k)."""


@dataclass(frozen=True)
class DiffusionPredictor:
    """How much arrives at a point from each cluster by diffusion, in all or for each of its known points."""

    relation: str
    on_average: bool = False

    def left_out(self, points: Points, known: KnownPoints) -> FloatArray:
        """The scores of all clusters at each known point, judging from the others: (m, k)."""
        among = points.columns(self.relation, known.points, known.points).copy()
        np.fill_diagonal(among, 0)
        M = known.membership
        arrives = among @ M
        if self.on_average:
            arrives /= np.maximum(M.sum(axis=0) - M, 1)
        return log_shares(arrives)

    def scores(self, points: Points, known: KnownPoints) -> FloatArray:
        """The scores of all clusters at each point: (n, k)."""
        M = known.membership
        arrives = points.columns(self.relation, known.points) @ M
        if self.on_average:
            arrives /= M.sum(axis=0)
        return log_shares(arrives)


class NearestPredictor:
    """The cluster of the nearest known point."""

    sharpness = 3.0

    def left_out(self, points: Points, known: KnownPoints) -> FloatArray:
        """The scores of all clusters at each known point, judging from the others: (m, k)."""
        among = points.columns("distance", known.points, known.points).copy()
        np.fill_diagonal(among, np.inf)
        return self._scores_of(known, among.argmin(axis=1))

    def scores(self, points: Points, known: KnownPoints) -> FloatArray:
        """The scores of all clusters at each point: (n, k)."""
        return self._scores_of(known, points.nearest(known.points))

    def _scores_of(self, known: KnownPoints, nearest: IndexArray) -> FloatArray:
        scores: FloatArray = self.sharpness * known.membership[nearest]
        return scores


class Means(NamedTuple):
    """The known points and a sample, their weights and clusters, and the sums and means of the clusters."""

    rows: FloatArray
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
        rows, weight, nearest, sums, means = self._fit(points, known)
        m, at, own = len(known.points), points.rows32[known.points], known.clusters
        nearest_known = np.concatenate([np.arange(m), points.nearest(known.points)[self._sample(points)]])
        brought = np.where(nearest == own[nearest_known], weight, 0)
        total = np.bincount(nearest, weight, known.n_clusters)[own] - np.bincount(nearest_known, brought, m)
        left = (sums[own] - sums_by_cluster(rows, nearest_known, brought, m)) / np.maximum(total, 1)[:, None]
        found = squared_distances(at, means)
        # Where nothing is left, its cluster is as far as the farthest.
        found[np.arange(m), own] = np.where(total > 0.5, ((at - left) ** 2).sum(axis=1), found.max(axis=1))
        scores: FloatArray = -found / self._unit(found, own)
        return scores

    def scores(self, points: Points, known: KnownPoints) -> FloatArray:
        """The scores of all clusters at each point: (n, k)."""
        found = squared_distances(points.rows32, self._fit(points, known).means)
        scores: FloatArray = -found / self._unit(found[known.points], known.clusters)
        return scores

    def _sample(self, points: Points) -> IndexArray:
        return np.arange(0, points.n, -(-points.n // self.n_sample))

    def _unit(self, found: FloatArray, own: IndexArray) -> np.float32:
        """A quarter of the typical squared distance to the own mean."""
        return np.float32(max(float(np.median(found[np.arange(len(own)), own])) / 4, TINY))

    def _fit(self, points: Points, known: KnownPoints) -> Means:
        return points.latest(self, known.key, lambda: self._make(points, known))

    def _make(self, points: Points, known: KnownPoints) -> Means:
        sample, m = self._sample(points), len(known.points)
        rows = points.rows32[np.concatenate([known.points, sample])]
        weight = np.concatenate(
            [np.full(m, self.weight_of_known), points.weight[sample] / points.weight.mean()]
        )
        weight[m:][np.isin(sample, known.points)] = 0
        M = known.membership
        means = M.T @ rows[:m] / M.sum(axis=0)[:, None]
        for _ in range(self.n_steps):
            nearest = squared_distances(rows, means).argmin(axis=1)
            nearest[:m] = known.clusters
            sums = sums_by_cluster(rows, nearest, weight, known.n_clusters)
            means = sums / np.bincount(nearest, weight, known.n_clusters)[:, None].astype(np.float32)
        return Means(rows, weight, nearest, sums, means)


def squared_distances(rows: FloatArray, means: FloatArray) -> FloatArray:
    """The squared distance of every row to every mean."""
    found = (rows * rows).sum(axis=1)[:, None] + (means * means).sum(axis=1) - 2 * rows @ means.T
    squared: FloatArray = np.maximum(found, 0)
    return squared


def sums_by_cluster(rows: FloatArray, clusters: IndexArray, weight: FloatArray, k: int) -> FloatArray:
    """The weighted sum of the rows of each cluster."""
    from scipy import sparse

    table = sparse.csr_array(
        (weight.astype(np.float32), (clusters, np.arange(len(rows)))), shape=(k, len(rows))
    )
    sums: FloatArray = table @ rows
    return sums


@dataclass(frozen=True)
class RidgePredictor:
    """Kernel ridge regression on the clusters, with the scalar product or a Gaussian as kernel."""

    penalty: float
    relation: str = ""  # of the Gaussian; none for the scalar product
    sharpness = 4.0

    def left_out(self, points: Points, known: KnownPoints) -> FloatArray:
        """The scores of all clusters at each known point, judging from the others: (m, k)."""
        # With P the inverse of the penalised kernel, the error at i of a fit to the others is (P y)_i / P_ii.
        inverse = self._inverse(points, known)
        M = known.membership
        target = M - 1 / M.shape[1]
        scores: FloatArray = self.sharpness * (target - (inverse @ target) / np.diag(inverse)[:, None])
        return scores

    def scores(self, points: Points, known: KnownPoints) -> FloatArray:
        """The scores of all clusters at each point: (n, k)."""
        M = known.membership
        weights = (self._inverse(points, known) @ (M - 1 / M.shape[1])).astype(np.float32)
        if self.relation:
            found = points.columns(self.relation, known.points) @ weights
        else:
            # O(n d k) rather than O(n m k): the scalar products with all known points are not needed.
            found = points.rows32 @ (points.rows32[known.points].T @ weights / np.float32(points.variance))
        scores: FloatArray = self.sharpness * found
        return scores

    def _inverse(self, points: Points, known: KnownPoints) -> FloatArray:
        return points.latest(self, known.points.tobytes(), lambda: self._invert(points, known.points))

    def _invert(self, points: Points, known: IndexArray) -> FloatArray:
        if self.relation:
            kernel = points.columns(self.relation, known, known).astype(np.float64)
        else:
            rows = points.rows(known)
            kernel = rows @ rows.T / points.variance
        kernel[np.diag_indices(len(kernel))] += self.penalty
        inverse: FloatArray = np.linalg.inv(kernel)
        return inverse


class Forest(NamedTuple):
    """The trees as `cobras.spaces.kernels.forest` returns them."""

    times: IndexArray
    nodes: IndexArray
    thresholds: FloatArray
    leaves: IndexArray


class ForestPredictor:
    """A random forest; the trees that were grown without a known point predict it."""

    n_trees = 30

    def left_out(self, points: Points, known: KnownPoints) -> FloatArray:
        """The scores of all clusters at each known point, judging from the others: (m, k)."""
        from cobras.spaces.kernels.forest import out_of_bag_weights

        forest = self._fit(points, known)
        shares = out_of_bag_weights(forest.times, forest.leaves) @ known.membership
        scores: FloatArray = np.log(shares + LEAF / known.n_clusters)
        return scores

    def scores(self, points: Points, known: KnownPoints) -> FloatArray:
        """The scores of all clusters at each point: (n, k)."""
        from cobras.spaces.kernels.forest import forest_shares

        clusters = known.clusters.astype(np.int64)
        shares = forest_shares(points.by_column, clusters, known.n_clusters, *self._fit(points, known))
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
