"""Graphs between rows for the pool of COBS: DBSCAN, and spectral embeddings of neighbour and Gaussian graphs.

DBSCAN equals scikit-learn's run by run. The embeddings are those of scikit-learn's `spectral_embedding` where the
graph is connected; where it is not, which that function does not support, the components are told apart.
"""

from __future__ import annotations

from inspect import signature
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cobras.core.types import FloatArray, IndexArray
from cobras.spaces.kernels.compile import kernel

Array: TypeAlias = Any  # scipy's sparse arrays have no common base, and numba infers element types

FEW_NODES = 100  # below, the dense eigensolver is as fast
CUT = 14.0  # links weaker than exp(-14), about 1e-6, do not connect components: float32 could not tell


class Graph(NamedTuple):
    """Links D^-½ W D^-½ between rows, dense or sparse; the logarithm of D; and the component of every row."""

    links: Array
    log_degrees: FloatArray
    components: IndexArray


def neighbor_graph(neighbors: IndexArray) -> Graph:
    """Link every row to its neighbours with weight ½, hence 1 where both are neighbours of each other."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n, m = neighbors.shape
    ends = np.arange(0, n * m + 1, m)
    to: Array = csr_array((np.full(n * m, 0.5), neighbors.ravel(), ends), shape=(n, n))
    links = (to + to.T).tocoo()
    degrees = links.sum(axis=0)
    links.data /= np.sqrt(degrees[links.row] * degrees[links.col])
    return Graph(links.tocsr(), np.log(degrees), connected_components(links)[1])


def gaussian_graph(squares: FloatArray, sigma: float) -> Graph:
    """Link all rows with weight exp(-squares / 2 sigma²)."""
    # Minus the logarithm of the weights: no sigma makes them underflow before they are normalised.
    cost = squares / np.float32(2 * sigma**2)
    np.fill_diagonal(cost, np.inf)
    nearest = cost.min(axis=1)
    links = nearest[:, None] - cost
    np.exp(links, out=links)
    log_degrees = np.log(links.sum(axis=1)) - nearest
    cost += log_degrees[:, None] / 2
    cost += log_degrees / 2
    # With no points needed to be core, DBSCAN gives the connected components.
    components = dbscan(cost, np.float32(CUT), np.zeros(1, np.int64))[0]
    np.negative(cost, out=links)
    np.exp(links, out=links)
    return Graph(links, log_degrees, np.unique(components, return_inverse=True)[1])


# By hand: scikit-learn's `spectral_embedding` takes 9 times as long for Gaussian graphs on spambase (4,207 rows),
# 46 on ecoli (336) and 2 on wine (178); for neighbour graphs 25, 1.3 and 1.2. It needs connected graphs, too.
def embedding(graph: Graph, n_vectors: int, rng: np.random.Generator) -> FloatArray:
    """
    The leading eigenvectors of the random walk on the graph, as columns, in the order of their eigenvalues.

    Those of eigenvalue 1 are the indicators of components, the largest first.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    n, sizes = len(graph.log_degrees), np.bincount(graph.components)
    rank = np.empty_like(sizes)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    members = np.flatnonzero(rank[graph.components] < n_vectors)
    column = rank[graph.components[members]]
    # The roots of the degrees; relative to the median, and clipped, so that they fit into float32.
    roots = np.exp(np.clip(graph.log_degrees - np.median(graph.log_degrees), -60, 60) / 2)
    known = np.zeros((n, min(len(sizes), n_vectors)), graph.links.dtype)
    known[members, column] = roots[members]
    known /= np.linalg.norm(known, axis=0)
    # 2 is taken off the eigenvalue of the indicators, so that the solver finds the others, which may be few.
    n_open = n_vectors - known.shape[1]
    found = np.empty((n, 0))
    if n_open and n <= FEW_NODES:
        links = graph.links if isinstance(graph.links, np.ndarray) else graph.links.toarray()
        found = np.linalg.eigh(links - 2 * known @ known.T)[1][:, : -n_open - 1 : -1]
    elif n_open:
        operator = LinearOperator(
            (n, n), matvec=lambda v: graph.links @ v - 2 * (known @ (known.T @ v)), dtype=known.dtype
        )
        start, ncv = rng.random(n).astype(known.dtype), min(n, 4 * n_vectors)
        tol = 1e-5 if known.dtype == np.float32 else 1e-7
        # If few eigenvalues differ, ARPACK runs out of directions and draws new ones, from an unknown seed unless
        # it is given a generator. SciPy before 1.17 takes none: there they depend on earlier calls in the process.
        draws: dict[str, Any] = {"rng": rng} if "rng" in signature(eigsh).parameters else {}
        values, found = eigsh(operator, n_open, which="LA", v0=start, ncv=ncv, tol=tol, maxiter=300, **draws)
        found = found[:, np.argsort(-values, kind="stable")]
    return np.ascontiguousarray(np.hstack([known, found]) / roots[:, None], np.float32)


# By hand: for 20 eps and 19 minPts, scikit-learn's DBSCAN takes 273 times as long on wine (178 rows), 100 on ecoli
# (336) and 65 on spambase (4,207): 114 s, where the whole pool takes 14 s.
@kernel()
def dbscan(distances: Array, eps: Array, min_points: Array) -> Array:
    """
    DBSCAN's labels, (runs, n), for every number of points, ascending; noise is -1.

    A label is the first core row of its cluster. A row that is core stays core when fewer points are needed, so
    components only grow: every row joins them once, O(n²) for all runs together, and border rows look for the core
    rows near them.
    """
    n = len(distances)
    labels = np.full((len(min_points), n), -1, np.int32)
    counts, parent = np.zeros(n, np.int64), np.arange(n)
    before: Array = n + 1
    for i in range(n):
        for j in range(n):
            counts[i] += distances[i, j] <= eps
    for run in range(len(min_points) - 1, -1, -1):
        core: Array = np.flatnonzero(counts >= min_points[run])
        border: Array = np.flatnonzero(counts < min_points[run])
        for i in core[counts[core] < before]:
            for j in core:
                if distances[i, j] <= eps:
                    a, b = parent[i], j
                    while parent[a] != a:
                        a = parent[a]
                    while parent[b] != b:
                        parent[b] = parent[parent[b]]
                        b = parent[b]
                    parent[max(a, b)] = min(a, b)
                    parent[i] = min(a, b)
        before = min_points[run]
        # Ascending, and a parent comes before its children: one step reaches the root.
        for i in core:
            parent[i] = parent[parent[i]]
            labels[run, i] = parent[i]
        for i in border:
            first: Array = n
            for j in core:
                if distances[i, j] <= eps:
                    first = min(first, parent[j])
            if first < n:
                labels[run, i] = first
    return labels
