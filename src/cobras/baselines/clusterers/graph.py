"""The similarity graph of COSC: nearest neighbours with Gaussian weights whose width fits each row.

The weight of j among the neighbours of i is exp(-scale * d(i, j)^2 / sigma_i^2), sigma_i the distance to the last
neighbour of i; both directions are joined by their maximum ("symmetric") or minimum ("mutual"). Left open by the
paper and settled here: equal rows are at distance exactly 0 and have weight 1, and a graph in several pieces is
connected by the shortest edges that do so (a minimum spanning tree of the pieces), with the weight above. Without
these, a handful of equal rows would be a cluster that costs nothing to cut off.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, cg, eigsh
from sklearn.metrics import pairwise_distances_argmin_min
from sklearn.neighbors import NearestNeighbors

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import BoolArray, FloatArray, IndexArray
from cobras.spaces.kernels.compile import kernel

Kind: TypeAlias = Literal["symmetric", "mutual"]
TOLERANCE = 1e-4  # of the eigenvector: it is only a start
DENSE = 64  # vertices up to which all eigenvectors are computed at once


def neighbour_graph(
    X: FloatArray, n_neighbors: int = 10, scale: float = 4.0, kind: Kind = "symmetric"
) -> sp.csr_array[Any, Any]:
    """The weights of a connected neighbour graph: symmetric, positive, zero on the diagonal.

    Parameters
    ----------
    X : array of shape (n, d)
        The rows, finite.
    n_neighbors : int
        Neighbours of each row, itself excluded; all others if there are fewer.
    scale : float
        The weight of the last neighbour is exp(-scale).
    kind : "symmetric" or "mutual"
        An edge where either row, or only where both, have the other as neighbour.

    Examples
    --------
    >>> W = neighbour_graph(np.array([[0.0], [1.0], [2.0], [4.0]]), n_neighbors=1, scale=1.0)
    >>> W.toarray().round(2)
    array([[0.  , 0.37, 0.  , 0.  ],
           [0.37, 0.  , 0.37, 0.  ],
           [0.  , 0.37, 0.  , 0.37],
           [0.  , 0.  , 0.37, 0.  ]])
    """
    if kind not in get_args(Kind):
        raise InvalidDataError(f"graph must be one of {', '.join(get_args(Kind))}, not {kind!r}.")
    n = len(X)
    k = min(n_neighbors, n - 1)
    if k == 0:
        return sp.csr_array((n, n), dtype=np.float64)
    near = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(return_distance=False)
    squared = squared_distances(X, near)
    width = squared.max(axis=1)
    width[width == 0] = width[width > 0].min(initial=1.0)
    weight = np.exp(-scale * squared / width[:, None])
    one_way = sp.csr_array((weight.ravel(), near.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    other_way = sp.csr_array(one_way.T)
    W = one_way.maximum(other_way) if kind == "symmetric" else one_way.minimum(other_way)
    W = _connect(sp.csr_array(W), X, scale, width)
    W.eliminate_zeros()
    W.sort_indices()
    return W


def contract(W: Any, group: IndexArray) -> sp.csr_array[Any, Any]:
    """One vertex for each group: weights between groups summed, those inside dropped."""
    n_groups = int(group.max()) + 1
    edges = sp.coo_array(W)
    row, column = (group[index] for index in edges.coords)
    outside = row != column
    between = (edges.data[outside], (row[outside], column[outside]))
    return sp.csr_array(sp.coo_array(between, shape=(n_groups, n_groups)))


def two_colour(n: int, apart: IndexArray) -> IndexArray:
    """Groups of vertices that must be together if there are two clusters: equal colours in a piece of `apart`.

    A piece with an odd cycle has no two colours; its vertices stay alone.
    """
    near: dict[int, list[int]] = {}
    for a, b in apart.tolist():
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    first, colour = np.arange(n), np.zeros(n, dtype=np.int64)
    seen: set[int] = set()
    for root in near:
        stack = [] if root in seen else [root]
        seen.add(root)
        while stack:
            a = stack.pop()
            for b in near[a]:
                if b not in seen:
                    seen.add(b)
                    first[b], colour[b] = root, 1 - colour[a]
                    stack.append(b)
    a, b = apart.T
    odd = np.isin(first, first[a[colour[a] == colour[b]]])
    first[odd], colour[odd] = np.flatnonzero(odd), 0
    return np.asarray(np.unique(2 * first + colour, return_inverse=True)[1])


def second_eigenvector(W: Any, volume: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A rough second eigenvector of (D - W) v = mu diag(volume) v; rng gives the start of the iteration."""
    degree, root = W.sum(axis=0), np.sqrt(volume)
    highest = 2.0 * float((degree / volume).max())  # no eigenvalue is larger
    scaled = sp.diags_array(1.0 / root)
    flipped = scaled @ W @ scaled + sp.diags_array(highest - degree / volume)
    if len(volume) <= DENSE:
        return np.asarray(np.linalg.eigh(flipped.toarray())[1][:, -2] / root)
    first = root / np.linalg.norm(root)  # known, hence taken out

    def apply(x: FloatArray) -> FloatArray:
        return np.asarray(flipped @ x - highest * (first @ x) * first)

    start = rng.standard_normal(len(volume))
    operator = LinearOperator(flipped.shape, matvec=apply, dtype=np.float64)
    try:
        vectors = eigsh(operator, 1, which="LA", v0=start, tol=TOLERANCE, maxiter=200)[1]
    except ArpackNoConvergence:
        return start
    return np.asarray(vectors[:, 0] / root)


def harmonic(W: Any, side: BoolArray, fixed: IndexArray) -> FloatArray:
    """The smoothest vector that is 1 or 0, as `side` says, at the fixed vertices."""
    free = np.setdiff1d(np.arange(len(side)), fixed)
    f = side.astype(np.float64)
    degree = W.sum(axis=0)[free]
    degree[degree == 0] = 1.0
    inside = sp.diags_array(degree) - W[free][:, free]
    f[free] = cg(
        inside, W[free][:, fixed] @ f[fixed], rtol=1e-3, maxiter=500, M=sp.diags_array(1.0 / degree)
    )[0]
    return f


def multiway_cut(W: Any, volume: FloatArray, labels: IndexArray) -> float:
    """The sum over clusters of cut / volume."""
    edges = sp.coo_array(W)
    tail, head = (labels[index] for index in edges.coords)
    cuts = np.bincount(tail, edges.data * (tail != head), int(labels.max()) + 1)
    return float((cuts / np.bincount(labels, volume)).sum())


def _connect(
    W: sp.csr_array[Any, Any], X: FloatArray, scale: float, width: FloatArray
) -> sp.csr_array[Any, Any]:
    """Join the smallest piece to the row nearest to it, until one piece is left: O(n log n) distances at most."""
    n_pieces, piece = connected_components(W, directed=False)
    edges = []
    while n_pieces > 1:
        sizes = np.bincount(piece)
        sizes[sizes == 0] = len(X) + 1
        small = int(sizes.argmin())
        inside, outside = np.flatnonzero(piece == small), np.flatnonzero(piece != small)
        nearest, distance = pairwise_distances_argmin_min(X[inside], X[outside])
        best = int(distance.argmin())
        i, j = inside[best], outside[nearest[best]]
        d = float(((X[i].astype(np.float64) - X[j]) ** 2).sum())
        edges.append((i, j, max(0, np.exp(-scale * d / max(width[i], width[j], d)))))
        piece[inside] = piece[j]
        n_pieces -= 1
    if not edges:
        return W
    i, j, weight = (np.array(column) for column in zip(*edges, strict=True))
    bridges = sp.coo_array((weight, (i, j)), shape=W.shape)
    return sp.csr_array(W + bridges + bridges.T)


@kernel()
def squared_distances(X: Any, near: Any) -> Any:
    """From every row to its neighbours, by differences: exactly 0 between equal rows."""
    n, k = near.shape
    squared = np.empty((n, k))
    for i in range(n):
        for c in range(k):
            total = 0.0
            for column in range(X.shape[1]):
                difference = float(X[i, column]) - float(X[near[i, c], column])
                total += difference * difference
            squared[i, c] = total
    return squared
