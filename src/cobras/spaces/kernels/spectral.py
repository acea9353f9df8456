"""Spectral clustering of items that are known by the distances between them alone.

The affinity of two items is exp(-alpha d). Items are embedded by the leading eigenvectors of the random walk on the
affinities and grouped by k-means, as by scikit-learn's `SpectralClustering` with a precomputed affinity. What
departs from it: the random numbers are given, items at distance 0 stay together, and two groups are found wherever
there are two different items.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cobras.core.partition import SuperInstance
from cobras.core.threads import one_thread
from cobras.core.types import FloatArray, IndexArray
from cobras.spaces.kernels.kmeans import RandomSource, kmeans

# By hand, because scikit-learn's takes 23 times as long for 30 items, 6 times for 300 and 4 times for 1000 (CPU
# seconds, one thread), and a session splits small sets all the time.
FEW = 150  # up to here the dense eigensolver is the faster one


class SpectralGeometry:
    """Series grouped, ranked and compared by the distances between them.

    Parameters
    ----------
    distances : array of shape (n, n)
    alpha : float
        The affinity is exp(-alpha d).
    series : array of shape (n, channels, length)
        What the centroid of a super-instance is taken from: it is the series of its medoid.
    """

    def __init__(self, distances: FloatArray, alpha: float, series: FloatArray) -> None:
        self.distances, self.alpha, self.series = distances, alpha, series

    def groups(self, members: IndexArray, k: int, rng: RandomSource) -> tuple[IndexArray, None]:
        """Return a group number for every member, at most k of them; there are no centres."""
        return spectral_groups(self._among(members), k, self.alpha, rng), None

    def describe(
        self, candidates: IndexArray, members: IndexArray, start: FloatArray | None
    ) -> tuple[IndexArray, FloatArray]:
        """Return the candidates, the one with the largest summed affinity to the others first, and its series."""
        order = candidates[order_by_affinity(self._among(candidates), self.alpha)]
        return order, self.series[order[0]]

    def distances_to(self, members: IndexArray, parts: Sequence[SuperInstance]) -> FloatArray:
        """Return the distance of every member to the representative of every part."""
        representatives = np.array([part.representative for part in parts])
        found: FloatArray = self.distances[members[:, None], representatives]
        return found

    def squared_distances_to_series(self, others: IndexArray) -> FloatArray:
        """Return the squared distance of every series to these."""
        found: FloatArray = self.distances[:, others].astype(np.float64) ** 2
        return found

    def distances_between(self, a: Sequence[SuperInstance], b: Sequence[SuperInstance]) -> FloatArray:
        """Return the distances of representatives."""
        return self.distances_to(np.array([s.representative for s in a]), b)

    def _among(self, members: IndexArray) -> FloatArray:
        if len(members) == len(self.distances):
            return self.distances
        found: FloatArray = self.distances[np.ix_(members, members)]
        return found


def affinities(distances: FloatArray, alpha: float) -> npt.NDArray[np.float64]:
    """Return affinities, 0 with itself, relative to the largest one, so that none is lost where all are small."""
    found = distances.astype(np.float64)
    np.fill_diagonal(found, np.inf)
    found -= found.min()
    found *= -alpha
    np.exp(found, out=found)
    return found


def order_by_affinity(distances: FloatArray, alpha: float) -> IndexArray:
    """Return the items in the order of their summed affinity to the others, the medoid first."""
    if len(distances) < 2:
        return np.arange(len(distances))
    return np.argsort(-affinities(distances, alpha).sum(axis=1), kind="stable")


def spectral_groups(distances: FloatArray, k: int, alpha: float, rng: RandomSource) -> IndexArray:
    """Return the group of every item, at most k: one only if all are at distance 0 from the first."""
    first_alike = (distances == 0).argmax(axis=1)
    distinct, groups = np.unique(first_alike, return_inverse=True)
    if len(distinct) <= k:
        return groups
    rows = embed(affinities(distances, alpha), k, rng)
    labels: IndexArray = kmeans(rows, k, rng, full_restarts=True).labels
    if not labels.any():
        ends = np.unravel_index(distances.argmax(), distances.shape)
        labels = distances[:, ends].argmin(axis=1)
    return labels


def embed(affinity: npt.NDArray[np.float64], k: int, rng: RandomSource) -> FloatArray:
    """Return the first k eigenvectors of the random walk on the affinities, which are overwritten."""
    from scipy.linalg import eigh
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    n = len(affinity)
    roots = np.sqrt(np.maximum(affinity.sum(axis=1), np.finfo(float).tiny))
    affinity /= roots
    affinity /= roots[:, None]
    with one_thread():
        if n <= max(FEW, 4 * k):
            found = eigh(affinity, subset_by_index=(n - k, n - 1), overwrite_a=True, check_finite=False)[1]
        else:
            start = rng.random((n,)) - 0.5
            try:
                found = eigsh(affinity, k, which="LA", v0=start, tol=1e-6, maxiter=300)[1]
            # Where many groups are almost apart; some eigenvectors may have been found.
            except ArpackNoConvergence as error:
                found = np.column_stack([np.zeros(n), error.eigenvectors])
    # An item far from all others has hardly an entry there to be enlarged, only rounding.
    return np.ascontiguousarray(found / np.maximum(roots, 1e-5 * roots.max())[:, None])
