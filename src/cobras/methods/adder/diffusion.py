"""Diffusion over the graph of nearest neighbours: how much of what enters at one point reaches the others.

With S the normalised affinities, a unit that enters at point i and goes on with probability a at every step spreads
as column i of (1 - a)(I - aS)^-1 (Zhou et al., Learning with local and global consistency, 2004). A column is
one sparse linear system, solved by conjugate gradients: no matrix of all pairs is ever made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cobras.core.types import FloatArray

if TYPE_CHECKING:
    from scipy import sparse


def affinities(rows: FloatArray, n_neighbors: int) -> sparse.csr_array:
    """Symmetric, normalised Gaussian affinities of nearest neighbours.

    The width is local: the product of the distances of both ends to their seventh neighbour (Zelnik-Manor and
    Perona, 2004).
    """
    from scipy import sparse
    from sklearn.neighbors import NearestNeighbors

    n = len(rows)
    k = min(n_neighbors, n - 1)
    if k < 1:
        return sparse.csr_array((n, n))
    distance, near = NearestNeighbors(n_neighbors=k).fit(rows).kneighbors()
    # Among identical rows the distance to the seventh neighbour may be zero.
    width = np.maximum(distance[:, min(6, k - 1)], 1e-9 * (distance.max() or 1))
    weight = np.exp(-(distance / width[:, None]) * (distance / width[near]))
    # A far neighbour is still a neighbour: a weight that underflows would cut the graph.
    weight = np.maximum(weight, 1e-12)
    start = np.repeat(np.arange(n), k)
    one_way = sparse.csr_array((weight.ravel(), (start, near.ravel())), shape=(n, n))
    both = one_way.maximum(one_way.T).tocsr()
    scale = sparse.diags_array(1 / np.sqrt(both.sum(axis=1)))
    return sparse.csr_array(scale @ both @ scale)


class Diffusion:
    """What spreads over a graph when a share `a` goes on at every step."""

    def __init__(self, S: sparse.csr_array, a: float) -> None:
        from scipy import sparse

        self._system = sparse.csr_array(sparse.eye_array(S.shape[0]) - a * S)
        self._a = a

    def spread(self, source: FloatArray) -> FloatArray:
        """How much arrives at every point if `source` enters."""
        from scipy.sparse.linalg import cg

        # Six digits are enough for probabilities, and cost a few dozen sparse products.
        found, _ = cg(self._system, (1 - self._a) * source, rtol=1e-6, atol=0.0)
        spread: FloatArray = np.maximum(found, 0)
        return spread

    def column(self, i: int) -> FloatArray:
        """How much arrives at every point if a unit enters at point i."""
        unit = np.zeros(self._system.shape[0])
        unit[i] = 1
        return self.spread(unit)
