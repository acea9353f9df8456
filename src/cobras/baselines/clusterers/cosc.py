"""COSC: constrained 1-spectral clustering (Rangapuram and Hein, AISTATS 2012).

Must-linked rows become one vertex of the similarity graph. Two clusters are the best of several descents, gamma
raised until all cannot-links hold; more clusters come from repeated splits in two. It departs from the authors'
code as follows (see also `cobras.baselines.clusterers.ratiodca`):

- some starts are always cuts that meet the cannot-links, so that for two clusters none is violated that can hold:
  the best cut repaired, and a harmonic function between the ends of cannot-links in place of constrained spectral
  clustering;
- starts that reached the same cut go on as one; with more than two clusters, new random ones take their places;
- the preset "fast", meant for clustering again after every few answers, has two starts, one run, 200 inner
  iterations (with 1000, as in the authors' fast mode, cuts were no lower, at twice the time), and jumps to the
  gamma at which the best cut and the repaired one cost the same;
- cannot-links that two clusters cannot meet (an odd cycle) are met as well as possible, as for more clusters.

The paper leaves open which graph is cut. Here the weight of j among the nearest neighbours of i is
exp(-scale * d(i, j)^2 / sigma_i^2), sigma_i the distance to the last neighbour of i; both directions are joined by
their maximum ("symmetric") or minimum ("mutual"). Equal rows are at distance exactly 0 and have weight 1, and a
graph in several pieces is connected by the shortest edges that do so, with the weight above. Without these, a
handful of equal rows would be a cluster that costs nothing to cut off.
"""

from __future__ import annotations

import hashlib
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import pairwise_distances_argmin_min
from sklearn.neighbors import NearestNeighbors

from cobras.baselines.clusterers.links import Links, WarmClusterer
from cobras.baselines.clusterers.splits import Effort, Splits, best_cut
from cobras.core.checks import as_labels
from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray, IndexArray
from cobras.spaces.kernels.compile import kernel

Kind: TypeAlias = Literal["symmetric", "mutual"]


@dataclass(eq=False, repr=False)
class COSC(WarmClusterer):
    """Constrained 1-spectral clustering: the normalised cut of a neighbour graph, under must- and cannot-links.

    All must-links hold. With two clusters all cannot-links hold that can; with more, as many as the splits manage.

    Parameters
    ----------
    n_clusters : int
        The number of clusters.
    n_neighbors : int
        Neighbours of each row, itself excluded; all others if there are fewer.
    scale : float
        The weight of an edge to the last neighbour is exp(-scale).
    graph : "symmetric" or "mutual"
        An edge where either row, or only where both, have the other as neighbour. The graph is kept on the
        instance, so that fitting the same X again, with other constraints, does not build it again.
    vertex_weights : "degree" or "one"
        What balances the clusters: normalised cut or ratio cut.
    preset : "full" or "fast"
        The effort of the authors' code, or one for clustering again after every few answers.
    n_starts, n_runs, max_inner, perturbation : optional
        Parts of the preset to replace: starts per split, whole recursions (more than two clusters), iterations of
        the inner solver, and whether results are perturbed and descended from again (two clusters).
    random_state : int, RandomState or Generator, optional
        The seed of the random starts.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The cluster of every row, numbered in the order of first rows.
    n_violations_ : int
        The given cannot-links with both rows in one cluster.
    cut_ : float
        The sum over clusters of cut / volume.
    affinity_matrix_ : sparse array of shape (n, n)
        The similarity graph.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> model = COSC(n_clusters=2, n_neighbors=2, random_state=0)
    >>> model.fit(X).labels_.tolist()
    [0, 0, 0, 1, 1, 1]
    >>> model.fit(X, must_link=[(0, 3)], cannot_link=[(0, 5)]).labels_[[0, 3, 5]].tolist()
    [0, 0, 1]
    """

    n_clusters: int = 2
    _: KW_ONLY
    n_neighbors: int = 10
    scale: float = 4.0
    graph: Kind = "symmetric"
    vertex_weights: Literal["degree", "one"] = "degree"
    preset: Literal["full", "fast"] = "full"
    n_starts: int | None = None
    n_runs: int | None = None
    max_inner: int | None = None
    perturbation: bool | None = None
    random_state: Any = None

    def _fit(self, X: FloatArray, links: Links, rng: np.random.Generator, init_labels: Any) -> None:
        if not (isinstance(self.scale, (int, float)) and 0 < self.scale < np.inf):
            raise InvalidDataError(f"scale must be a number above 0, not {self.scale!r}.")
        n, k = len(X), self.n_clusters
        warm = None if init_labels is None else np.unique(as_labels(init_labels, n), return_inverse=True)[1]
        if k > links.n_components:
            raise InvalidDataError(
                f"n_clusters={k}, but the must-links join the rows to {links.n_components} groups. "
                "Ask for fewer clusters or drop must-links."
            )
        self._prepare_graph(X)
        W = self.affinity_matrix_
        volume: FloatArray = (
            np.asarray(W.sum(axis=0), dtype=np.float64) if self.vertex_weights == "degree" else np.ones(n)
        )
        # A vertex without edges would make the balancing term divide by 0.
        volume[volume == 0] = 1e-6 * max(float(volume.mean()), 1e-6)
        found = graph_labels(W, volume, links.component, links.apart_pairs, k, self._effort(), rng, warm)
        first = np.unique(found, return_index=True)[1]
        self.labels_ = np.argsort(np.argsort(first)).astype(np.int32)[found]
        self.cut_ = multiway_cut(W, volume, self.labels_)
        i, j = links.cannot_link.T
        self.n_violations_ = int(np.count_nonzero(self.labels_[i] == self.labels_[j]))

    def _prepare_graph(self, X: FloatArray) -> None:
        content = hashlib.blake2b(np.asarray(X).data, digest_size=16).digest()
        key = (content, X.shape, X.dtype.str, self.n_neighbors, self.scale, self.graph)
        if getattr(self, "_graph_key", None) != key:
            self.affinity_matrix_ = similarity_graph(X, self.n_neighbors, self.scale, self.graph)
            self._graph_key = key

    def _effort(self) -> Effort:
        fast, two = self.preset == "fast", self.n_clusters <= 2
        effort = Effort(
            n_starts=2 if fast or not two else 10,
            n_runs=1 if fast else 5,
            max_inner=200 if fast else 1000 if not two else 10_000,
            perturbation=two and not fast,
            jump=fast,
        )
        given = {name: getattr(self, name) for name in ("n_starts", "n_runs", "max_inner", "perturbation")}
        return replace(effort, **{name: value for name, value in given.items() if value is not None})


def graph_labels(
    W: Any,
    volume: FloatArray,
    component: IndexArray,
    apart: IndexArray,
    k: int,
    effort: Effort,
    rng: np.random.Generator,
    warm: IndexArray | None = None,
) -> IndexArray:
    """Labels for the vertices of a graph; components stay whole and are kept apart where they can."""
    group = component
    if k == 2 and len(apart):
        joined = colour_groups(int(component.max()) + 1, apart)
        group, apart = joined[component], np.unique(np.sort(joined[apart], axis=1), axis=0)
    n = int(group.max()) + 1
    if k == 1:
        return np.zeros(len(group), dtype=np.int64)
    if k == n:
        return group
    # The penalty gamma is in units of the largest weight.
    W = contraction(W, group) / W.max()
    volume = np.bincount(group, volume).astype(np.float64)
    start = None
    if warm is not None:
        # A group joined since then follows most of its rows.
        votes = sp.coo_array((np.ones(len(group)), (group, warm))).toarray()
        start = votes.argmax(axis=1)
    if k == 2:
        return best_cut(W, volume, apart, effort, rng, start).side.astype(np.int64)[group]
    splits = Splits(W, volume, apart, k, effort, rng, start)
    runs = [splits.labels() for _ in range(effort.n_runs)]
    return min(runs, key=lambda labels: multiway_cut(W, volume, labels))[group]


def contraction(W: Any, group: IndexArray) -> sp.csr_array[Any, Any]:
    """One vertex for each group: weights between groups summed, those inside dropped."""
    n_groups = int(group.max()) + 1
    edges = sp.coo_array(W)
    row, column = (group[index] for index in edges.coords)
    outside = row != column
    between = (edges.data[outside], (row[outside], column[outside]))
    return sp.csr_array(sp.coo_array(between, shape=(n_groups, n_groups)))


def colour_groups(n: int, apart: IndexArray) -> IndexArray:
    """Groups of vertices that must be together if there are two clusters: equal colours in a piece of `apart`.

    A piece with an odd cycle has no two colours; its vertices stay alone.
    """
    a, b = apart.T
    # Two copies of each vertex, each linked to the other copies of those apart from it: the piece of a first copy
    # holds the first copies of its own colour and the second ones of the other. An odd cycle joins both copies.
    ends = np.concatenate([a, b]), np.concatenate([b, a]) + n
    cover = sp.coo_array((np.ones(2 * len(apart)), ends), shape=(2 * n, 2 * n))
    piece, other_piece = connected_components(cover, directed=False)[1].reshape(2, n)
    _, roots, number = np.unique(np.minimum(piece, other_piece), return_index=True, return_inverse=True)
    first = roots[number]
    colour = piece != piece[first]
    odd = piece == other_piece
    first[odd], colour[odd] = np.flatnonzero(odd), False
    return np.asarray(np.unique(2 * first + colour, return_inverse=True)[1])


def multiway_cut(W: Any, volume: FloatArray, labels: IndexArray) -> float:
    """The sum over clusters of cut / volume."""
    edges = sp.coo_array(W)
    tail, head = (labels[index] for index in edges.coords)
    cuts = np.bincount(tail, edges.data * (tail != head), int(labels.max()) + 1)
    return float((cuts / np.bincount(labels, volume)).sum())


def similarity_graph(
    X: FloatArray, n_neighbors: int = 10, scale: float = 4.0, kind: Kind = "symmetric"
) -> sp.csr_array[Any, Any]:
    """The weights of a connected neighbour graph: symmetric, positive, zero on the diagonal."""
    n = len(X)
    k = min(n_neighbors, n - 1)
    if k == 0:
        return sp.csr_array((n, n), dtype=np.float64)
    near = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(return_distance=False)
    squared = squared_distances(X, near)
    width = squared.max(axis=1)
    # A row equal to all its neighbours takes the smallest width there is.
    width[width == 0] = width[width > 0].min(initial=1.0)
    weight = np.exp(-scale * squared / width[:, None])
    one_way = sp.csr_array((weight.ravel(), near.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    other_way = sp.csr_array(one_way.T)
    W = one_way.maximum(other_way) if kind == "symmetric" else one_way.minimum(other_way)
    W = _connect(sp.csr_array(W), X, scale, width)
    W.eliminate_zeros()
    W.sort_indices()
    return W


def _connect(
    W: sp.csr_array[Any, Any], X: FloatArray, scale: float, width: FloatArray
) -> sp.csr_array[Any, Any]:
    """The graph with edges that join the smallest piece to the row nearest to it, until one piece is left."""
    # A row is in the smaller piece at most log2(n) times: O(n² log n) distances at worst, few if pieces are few.
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
    """From every row to its neighbours, (n, k)."""
    # By differences, exactly 0 between equal rows; the distances of `NearestNeighbors` need not be.
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
