"""The metrics that MPCKMeans learns: weights of columns or whole matrices, one for all clusters or one for each."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from cobras.baselines.clusterers.links import squared_distance
from cobras.core.types import FloatArray, IndexArray
from cobras.spaces.kernels.compile import Array, kernel

Weights: TypeAlias = tuple[float, float]  # of must-links and cannot-links

THIN = 1e-9  # a column's sum below this share of the mean sum is raised to it: weights stay finite
FLAT = 1e-6  # the same for an eigenvalue of a matrix
TINY = 1e-280  # sums below give no weights at all


class DiagonalMetric:
    """Weights of columns, one metric for all clusters or one per cluster; Δ comes from the box around all rows.

    Attributes
    ----------
    value : array of shape (g, d)
        The weights of each of the g metrics.
    log_det : array of shape (g,)
    """

    def __init__(self, X: FloatArray, n_metrics: int) -> None:
        self.value: FloatArray = np.ones((n_metrics, X.shape[1]))
        self.log_det: FloatArray = np.zeros(n_metrics)
        self.box: FloatArray = np.square(np.ptp(X, axis=0))
        self.noise = rounding_noise(X)

    def transform_rows(self, X: FloatArray) -> FloatArray:
        """X in the coordinates of each metric, (g, n, d)."""
        return X * np.sqrt(self.value)[:, np.newaxis]

    def transform_centers(self, centers: FloatArray) -> FloatArray:
        """Each center in the coordinates of its own metric."""
        return centers * np.sqrt(self.value)

    def delta(self, Z: FloatArray) -> FloatArray:
        """Δ of each metric: no two rows are farther from each other, squared."""
        return self.value @ self.box

    def sums(
        self, X: FloatArray, labels: IndexArray, centers: FloatArray, weights: Weights, must: Any, cannot: Any
    ) -> FloatArray:
        """What J multiplies with each metric, from violated pairs too: squares of differences."""
        s: FloatArray = column_sums(X, labels, centers, self.box, *weights, must, cannot)
        return s if len(self.value) > 1 else s.sum(axis=0, keepdims=True)

    def learn(self, sums: FloatArray, counts: IndexArray) -> None:
        """Become the metric that makes J least, A = n / sums; a cluster without spread keeps its own."""
        self.value = best_weights(sums, counts, self.value, np.where(self.box > 0, self.noise, np.inf))
        self.log_det = np.log(self.value).sum(axis=1)


class FullMetric:
    """Matrices (g, d, d), with the methods of `DiagonalMetric`; Δ comes from the farthest pair of rows."""

    def __init__(self, X: FloatArray, n_metrics: int, has_cannot_links: bool) -> None:
        d = X.shape[1]
        self.value: FloatArray = np.repeat(np.eye(d)[np.newaxis], n_metrics, axis=0)
        # L of A = L L'.
        self.root: FloatArray = self.value.copy()
        self.log_det: FloatArray = np.zeros(n_metrics)
        self.constant = np.flatnonzero(np.ptp(X, axis=0) == 0)
        self.noise = float(rounding_noise(X).sum())
        self.has_cannot_links = has_cannot_links
        self.farthest = np.zeros((n_metrics, 2), dtype=np.int64)

    def transform_rows(self, X: FloatArray) -> FloatArray:
        """X in the coordinates of each metric, (g, n, d)."""
        return X @ self.root

    def transform_centers(self, centers: FloatArray) -> FloatArray:
        """Each center in the coordinates of its own metric."""
        return np.ascontiguousarray((centers[:, np.newaxis] @ self.root)[:, 0])

    def delta(self, Z: FloatArray) -> FloatArray:
        """Δ of each metric: no two rows are farther from each other, squared."""
        if self.has_cannot_links:
            # O(n² d) at worst, usually near O(n d): few rows lie far enough out.
            for g, rows in enumerate(Z):
                radius = np.sqrt(np.square(rows - rows.mean(axis=0)).sum(axis=1))
                order = np.argsort(-radius, kind="stable")
                self.farthest[g] = order[list(farthest_pair(rows[order], radius[order]))]
        a, b = self.farthest.T
        every = np.arange(len(Z))
        squares: FloatArray = np.square(Z[every, a] - Z[every, b]).sum(axis=1)
        return squares

    def sums(
        self, X: FloatArray, labels: IndexArray, centers: FloatArray, weights: Weights, must: Any, cannot: Any
    ) -> FloatArray:
        """What J multiplies with each metric, from violated pairs too: products of differences."""
        (w_must_link, w_cannot_link), single = weights, len(self.value) == 1
        k, d = centers.shape
        B = np.zeros((k, d, d))
        parted, joined = X[must[:, 0]] - X[must[:, 1]], X[cannot[:, 0]] - X[cannot[:, 1]]
        for h in range(k):
            rows = X[labels == h] - centers[h]
            B[h] = rows.T @ rows
            for side in (0, 1):
                rows = parted[labels[must[:, side]] == h]
                B[h] += 0.5 * w_must_link * (rows.T @ rows)
            rows = joined[labels[cannot[:, 0]] == h]
            a, b = self.farthest[0 if single else h]
            B[h] += w_cannot_link * (len(rows) * np.outer(X[a] - X[b], X[a] - X[b]) - rows.T @ rows)
        return B.sum(axis=0, keepdims=True) if single else B

    def learn(self, sums: FloatArray, counts: IndexArray) -> None:
        """Become the metric that makes J least, A = n / sums; a cluster without spread keeps its own."""
        for g, n in enumerate(counts.tolist()):
            B = sums[g].copy()
            # A constant column gets weight 1, as at the start.
            B[self.constant, self.constant] = n
            e, V = np.linalg.eigh(B)
            floor = FLAT * float(np.abs(e).mean())
            if n == 0 or not floor > TINY or np.abs(sums[g]).max() <= self.noise:
                continue
            # Cannot-links can make eigenvalues negative.
            scale = n / np.maximum(e, floor)
            self.root[g] = V * np.sqrt(scale)
            self.value[g] = self.root[g] @ self.root[g].T
            self.log_det[g] = np.log(scale).sum()


Metric: TypeAlias = DiagonalMetric | FullMetric


@kernel("contract", "reassoc")
def column_sums(
    X: Array,
    labels: Array,
    centers: Array,
    box: Array,
    w_must_link: float,
    w_cannot_link: float,
    must: Array,
    cannot: Array,
) -> Array:
    """The sums s (k, d) of the M-step: J = Σ a s − Σ n log a, with `box` (d,) the squared ranges of the columns."""
    k, d = centers.shape
    s = np.zeros((k, d))
    for i in range(X.shape[0]):
        h = labels[i]
        for m in range(d):
            s[h, m] += (X[i, m] - centers[h, m]) ** 2
    for i, j in must:
        for m in range(d):
            part = 0.5 * w_must_link * (X[i, m] - X[j, m]) ** 2
            s[labels[i], m] += part
            s[labels[j], m] += part
    for i, j in cannot:
        for m in range(d):
            s[labels[i], m] += w_cannot_link * max(box[m] - (X[i, m] - X[j, m]) ** 2, 0.0)
    return s


def rounding_noise(X: FloatArray) -> FloatArray:
    """What rounding the means may leave in the sum of squares of each column: such a sum counts as 0."""
    largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    sums: FloatArray = TINY + len(X) * np.square(1e-15 * largest)
    return sums


@kernel()
def best_weights(sums: Array, counts: Array, old: Array, noise: Array) -> Array:
    """
    The weights (g, d) that make J least; a cluster without spread, and a column of infinite `noise`, keep the old.

    Where the floor of s does not allow n / s, they go from the old weight towards it: J cannot grow.
    """
    weights = old.copy()
    for g in range(old.shape[0]):
        total, n = 0.0, float(counts[g])
        for m in range(old.shape[1]):
            total += sums[g, m] if sums[g, m] > noise[m] else 0.0
        floor = THIN * total / old.shape[1]
        for m in range(old.shape[1]):
            s = sums[g, m]
            if noise[m] < np.inf and floor > TINY and n > 0:
                weights[g, m] = n / s if s >= floor else max(n / floor, min(old[g, m], n / s))
    return weights


@kernel("contract", "reassoc")
def farthest_pair(Z: Array, radius: Array) -> tuple[int, int]:
    """The pair of rows farthest from each other; rows by decreasing distance from a point, their `radius`."""
    most, pair = -1.0, (0, 0)
    for a in range(1, Z.shape[0]):
        if radius[a] + radius[0] < most:
            break
        for b in range(a):
            # By the triangle inequality, no later row is farther.
            if radius[a] + radius[b] < most:
                break
            length = np.sqrt(squared_distance(Z, a, Z, b))
            if length > most:
                most, pair = length, (a, b)
    return pair
