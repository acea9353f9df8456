"""Nearest neighbours, and the graph of them over which the answers diffuse.

The weight of two neighbours is a Gaussian of their distance. Its width is local: the product of the distances of
both ends to their seventh neighbour (Zelnik-Manor and Perona, 2004).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cobras.core.threads import one_thread
from cobras.core.types import FloatArray, IndexArray
from cobras.spaces.kernels.diffusion import sum_series
from cobras.spaces.kernels.sums import lowest_columns

if TYPE_CHECKING:
    from scipy import sparse

GOES_ON = {"near": 0.9, "far": 0.99}  # the shares that go on in the two diffusions
N_TERMS = 64  # of the series for a diffusion: the rest is below 2e-4 of what enters
N_STEPS = 12  # of the diffusion that looks around a point
ROWS = 128  # that are compared with all others at a time
LEAST = 1e-12  # a far neighbour is still a neighbour: a weight that underflows would cut the graph


class Graph(NamedTuple):
    """Points and their nearest neighbours.

    Attributes
    ----------
    weight : sparse array of shape (n, n)
        Symmetric; not zero where one of two points is among the nearest neighbours of the other.
    width : array of shape (n,)
        The distance of each point to its seventh neighbour.
    gap : float
        How far a point is from its nearest neighbour at most.
    """

    weight: sparse.csr_array
    width: FloatArray
    gap: float

    def affinities(self) -> sparse.csr_array:
        """The weights, normalised symmetrically by their sums."""
        from scipy import sparse

        # A single point has no neighbours.
        total = self.weight.sum(axis=1)
        scale = sparse.diags_array(1 / np.sqrt(np.where(total > 0, total, 1)))
        return sparse.csr_array(scale @ self.weight @ scale, dtype=np.float32)


def nearest(rows: FloatArray, others: FloatArray, k: int, places: IndexArray | None = None) -> IndexArray:
    """The k nearest of the others to each row, nearest first; `places` are those of the rows among the others.

    No row is its own neighbour. Rows are to be centred, since distances come from products. In single precision,
    wrong ones may be found among those that are nearly equally near.
    """
    # Importing scikit-learn's search takes 1.6 s of processor time, more than all else for a small table, and the
    # search itself 1.1 (5,000 x 784) to 3 (1,500 x 8) times as long.
    # Half the squared distances, but for the square of the row itself, are one product.
    table = np.vstack([-others.T, np.einsum("ij,ij->i", others, others) / 2])
    found: IndexArray = np.empty((len(rows), k), dtype=np.int64)
    with one_thread():
        for start in range(0, len(rows), ROWS):
            here = slice(start, start + ROWS)
            some = rows[here]
            product = np.column_stack([some, np.ones(len(some), dtype=rows.dtype)]) @ table
            if places is not None:
                product[np.arange(len(some)), places[here]] = np.inf
            found[here] = lowest_columns(product, k)
    return found


def by_distance(rows: FloatArray, others: FloatArray, near: IndexArray) -> tuple[IndexArray, FloatArray]:
    """What `nearest` found in the order of the exact distances, and these."""
    found, distance = np.empty_like(near), np.empty(near.shape)
    for start in range(0, len(rows), ROWS):
        here = slice(start, start + ROWS)
        apart = rows[here, None].astype(np.float64) - others[near[here]]
        away = np.sqrt(np.einsum("ijk,ijk->ij", apart, apart))
        order = np.argsort(away, axis=1, kind="stable")
        found[here] = np.take_along_axis(near[here], order, axis=1)
        distance[here] = np.take_along_axis(away, order, axis=1)
    return found, distance


def neighbor_graph(rows: FloatArray, n_neighbors: int) -> Graph:
    """The graph of all rows, which are centred."""
    from scipy import sparse

    n = len(rows)
    k = min(n_neighbors, n - 1)
    if k < 1:
        return Graph(sparse.csr_array(np.zeros((n, n))), np.ones(n), 1.0)
    near, distance = by_distance(rows, rows, nearest(rows, rows, k, np.arange(n)))
    width = local_width(distance)
    weight = gaussians(distance, width, width[near])
    return Graph(symmetric(weight, np.arange(n), near, n), width, float(distance[:, 0].max()))


def with_new_rows(graph: Graph, rows: FloatArray, n_neighbors: int) -> Graph:
    """The graph with more points; `rows` are those of all points, the new ones last.

    New points find their neighbours among all. Old ones keep theirs, and are neighbours of the new ones that found
    them: this saves the search among all, and a few new points change little for the others.
    """
    from scipy import sparse

    n, n_old = len(rows), len(graph.width)
    new = np.arange(n_old, n)
    near = nearest(rows[new], rows, min(n_neighbors, n - 1), new)
    near, distance = by_distance(rows[new], rows, near)
    width = np.concatenate([graph.width, local_width(distance)])
    found = symmetric(gaussians(distance, width[new], width[near]), new, near, n)
    data, columns, starts = graph.weight.data, graph.weight.indices, graph.weight.indptr
    # New rows, which hold nothing yet.
    starts = np.append(starts, np.full(len(new), starts[-1], dtype=starts.dtype))
    weight = sparse.csr_array((data, columns, starts), shape=(n, n)).maximum(found).tocsr()
    return Graph(weight, width, max(graph.gap, float(distance[:, 0].max())))


def local_width(distance: FloatArray) -> FloatArray:
    """The distance to the seventh neighbour; `distance` holds those of each point to its neighbours, ascending."""
    # Among identical rows it may be zero.
    width: FloatArray = np.maximum(distance[:, min(6, distance.shape[1] - 1)], 1e-9 * (distance.max() or 1))
    return width


def gaussians(distance: FloatArray, mine: FloatArray, theirs: FloatArray) -> FloatArray:
    """The weights of points and their neighbours, by their distances and the widths of both."""
    weight: FloatArray = np.exp(-(distance / mine[:, None]) * (distance / theirs))
    return np.maximum(weight, LEAST)


def symmetric(weight: FloatArray, points: IndexArray, near: IndexArray, n: int) -> sparse.csr_array:
    """The weights of these points and their neighbours, both ways."""
    from scipy import sparse

    start = np.repeat(points, near.shape[1])
    one_way = sparse.csr_array((weight.ravel(), (start, near.ravel())), shape=(n, n))
    return one_way.maximum(one_way.T).tocsr()


def spread(affinities: sparse.csr_array, source: FloatArray) -> FloatArray:
    """How much arrives at every point if the columns of `source` enter, for each of `GOES_ON`: (2, n, m)."""
    # 1 / (1 - ax) = (1 + 2 sum of r^k T_k(x)) / sqrt(1 - a^2) with Chebyshev's polynomials: one recurrence
    # serves both, where conjugate gradients would solve two systems.
    a = np.array(list(GOES_ON.values()))
    weights = ((1 - np.sqrt(1 - a * a)) / a)[:, None] ** np.arange(N_TERMS)
    weights = np.where(weights > 1e-5, weights, 0).astype(np.float32)
    weights[:, 1:] *= 2
    if source.shape[1] == 1:
        # By far the most frequent case: one more point is asked about.
        found = series(affinities, source[:, 0], (1, 2, 1), weights)[:, :, None]
    else:
        before, now = source, affinities @ source
        found = weights[:, :1, None] * before + weights[:, 1:2, None] * now
        for k in range(2, N_TERMS):
            before, now = now, 2 * (affinities @ now) - before
            for total, weight in zip(found, weights[:, k], strict=True):
                if weight > 0:
                    total += weight * now
    found *= ((1 - a) / np.sqrt(1 - a * a)).astype(np.float32)[:, None, None]
    return found


def look_around(affinities: sparse.csr_array, amount: FloatArray) -> FloatArray:
    """How much of an amount there is around every point, by a short diffusion."""
    a = GOES_ON["near"]
    (found,) = series(affinities, amount, (a, a, 0), np.ones((1, N_STEPS + 1), dtype=np.float32))
    around: FloatArray = found * (1 - np.float32(a))
    return around


def series(
    affinities: sparse.csr_array, source: FloatArray, steps: tuple[float, ...], weights: FloatArray
) -> FloatArray:
    """The sums of `cobras.spaces.kernels.diffusion.sum_series`."""
    columns, starts = affinities.indices.astype(np.uint32), affinities.indptr.astype(np.uint32)
    numbers = np.array(steps, dtype=np.float32)
    sums: FloatArray = sum_series(affinities.data, columns, starts, source, numbers, weights)
    return sums
