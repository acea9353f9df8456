"""The metrics that MPCKMeans learns: weights of columns or whole matrices, one for all clusters or one for each."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from cobras.clusterers.mpck_kernels import Penalty, farthest, spread
from cobras.types import FloatArray, IndexArray

THIN = 1e-9  # a column's sum below this share of the mean sum is raised to it: weights stay finite
FLAT = 1e-6  # the same for an eigenvalue of a full metric
TINY = 1e-280  # sums below give no weights at all


class Metric(Protocol):
    """One metric for all clusters or one per cluster."""

    value: FloatArray  # (g, d) or (g, d, d)
    log_det: FloatArray  # (g,)

    def rows(self, X: FloatArray) -> FloatArray:
        """X in the coordinates of each metric, (g, n, d)."""

    def move(self, centers: FloatArray) -> FloatArray:
        """Each center in the coordinates of its own metric."""

    def reach(self, Z: FloatArray) -> FloatArray:
        """Δ of each metric: no two rows are farther from each other, squared."""

    def sums(
        self, X: FloatArray, labels: IndexArray, centers: FloatArray, penalty: Penalty, must: Any, cannot: Any
    ) -> FloatArray:
        """Add up, per metric, what J multiplies with the metric."""

    def energy(self, sums: FloatArray, counts: IndexArray) -> float:
        """J from these sums."""

    def learn(self, sums: FloatArray, counts: IndexArray) -> None:
        """Become the metric that makes J least; a cluster without spread keeps its own."""


class DiagonalMetric:
    """Weights of columns; Δ comes from the box around all rows."""

    def __init__(self, X: FloatArray, n_metrics: int) -> None:
        self.value: FloatArray = np.ones((n_metrics, X.shape[1]))
        self.log_det: FloatArray = np.zeros(n_metrics)
        self.box: FloatArray = np.square(np.ptp(X, axis=0))

    def rows(self, X: FloatArray) -> FloatArray:
        return X * np.sqrt(self.value)[:, np.newaxis]

    def move(self, centers: FloatArray) -> FloatArray:
        return centers * np.sqrt(self.value)

    def reach(self, Z: FloatArray) -> FloatArray:
        return self.value @ self.box

    def sums(
        self, X: FloatArray, labels: IndexArray, centers: FloatArray, penalty: Penalty, must: Any, cannot: Any
    ) -> FloatArray:
        s: FloatArray = spread(X, labels, centers, self.box, penalty, must, cannot)
        return s if len(self.value) > 1 else s.sum(axis=0, keepdims=True)

    def energy(self, sums: FloatArray, counts: IndexArray) -> float:
        return float((self.value * sums).sum() - counts @ self.log_det)

    def learn(self, sums: FloatArray, counts: IndexArray) -> None:
        # From the old weight towards the best one, n / s, but not beyond what the floor of s allows: J cannot grow.
        n = counts[:, np.newaxis].astype(np.float64)
        floor = THIN * sums.mean(axis=1, keepdims=True)
        usable = (self.box > 0) & (floor > TINY) & (n > 0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            weights = np.minimum(np.maximum(n / np.maximum(sums, floor), self.value), n / sums)
        self.value = np.where(usable, weights, self.value)
        self.log_det = np.log(self.value).sum(axis=1)


class FullMetric:
    """Matrices; Δ comes from the farthest pair of rows, found by search."""

    def __init__(self, X: FloatArray, n_metrics: int, has_cannot_links: bool) -> None:
        d = X.shape[1]
        self.value: FloatArray = np.repeat(np.eye(d)[np.newaxis], n_metrics, axis=0)
        self.root: FloatArray = self.value.copy()  # L of A = L L'
        self.log_det: FloatArray = np.zeros(n_metrics)
        self.constant = np.flatnonzero(np.ptp(X, axis=0) == 0)
        self.has_cannot_links = has_cannot_links
        self.farthest = np.zeros((n_metrics, 2), dtype=np.int64)

    def rows(self, X: FloatArray) -> FloatArray:
        return X @ self.root

    def move(self, centers: FloatArray) -> FloatArray:
        return np.ascontiguousarray((centers[:, np.newaxis] @ self.root)[:, 0])

    def reach(self, Z: FloatArray) -> FloatArray:
        if self.has_cannot_links:  # O(n² d) at worst, usually near O(n d): few rows lie far enough out
            for g, rows in enumerate(Z):
                radius = np.sqrt(np.square(rows - rows.mean(axis=0)).sum(axis=1))
                order = np.argsort(-radius, kind="stable")
                self.farthest[g] = order[list(farthest(rows[order], radius[order]))]
        a, b = self.farthest.T
        every = np.arange(len(Z))
        squares: FloatArray = np.square(Z[every, a] - Z[every, b]).sum(axis=1)
        return squares

    def sums(
        self, X: FloatArray, labels: IndexArray, centers: FloatArray, penalty: Penalty, must: Any, cannot: Any
    ) -> FloatArray:
        k, d, single = len(centers), X.shape[1], len(self.value) == 1
        B = np.zeros((k, d, d))
        parted, joined = X[must[:, 0]] - X[must[:, 1]], X[cannot[:, 0]] - X[cannot[:, 1]]
        for h in range(k):
            rows = X[labels == h] - centers[h]
            B[h] = rows.T @ rows
            for side in (0, 1):
                rows = parted[labels[must[:, side]] == h]
                B[h] += 0.5 * penalty.must_link * (rows.T @ rows)
            rows = joined[labels[cannot[:, 0]] == h]
            a, b = self.farthest[0 if single else h]
            B[h] += penalty.cannot_link * (len(rows) * np.outer(X[a] - X[b], X[a] - X[b]) - rows.T @ rows)
        return B.sum(axis=0, keepdims=True) if single else B

    def energy(self, sums: FloatArray, counts: IndexArray) -> float:
        return float((self.value * sums).sum() - counts @ self.log_det)

    def learn(self, sums: FloatArray, counts: IndexArray) -> None:
        for g, n in enumerate(counts.tolist()):
            B = sums[g].copy()
            B[self.constant, self.constant] = n  # weight 1, as at the start
            e, V = np.linalg.eigh(B)
            floor = FLAT * float(np.abs(e).mean())
            if n == 0 or not floor > TINY or not sums[g].any():
                continue
            scale = n / np.maximum(e, floor)  # cannot-links can make e negative
            self.root[g] = V * np.sqrt(scale)
            self.value[g] = self.root[g] @ self.root[g].T
            self.log_det[g] = np.log(scale).sum()
