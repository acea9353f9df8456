"""COSC: constrained 1-spectral clustering (Rangapuram and Hein, AISTATS 2012).

Must-linked rows become one vertex of the similarity graph. Two clusters are the best of several descents, gamma
raised until all cannot-links hold; more clusters come from repeated splits in two. It departs from the authors'
code as follows (see also `cobras.baselines.clusterers.ratiodca`):

- some starts are always cuts that meet the cannot-links, so that for two clusters none is violated that can hold:
  the best cut mended, and a harmonic function between the ends of cannot-links in place of constrained spectral
  clustering;
- starts that reached the same cut go on as one; with more than two clusters, new random ones take their places;
- the preset "fast", meant for clustering again after every few answers, has two starts, one run, 1000 inner
  iterations, and jumps to the gamma at which the best cut and the mended one cost the same;
- cannot-links that two clusters cannot meet (an odd cycle) are met as well as possible, as for more clusters.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from cobras.baselines.clusterers.closure import close
from cobras.baselines.clusterers.graph import Kind, contract, multiway_cut, neighbour_graph, two_colour
from cobras.baselines.clusterers.splits import Effort, Splits, two_clusters
from cobras.core.checks import as_labels, as_matrix, as_seed, check_options
from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray, IndexArray


class COSC(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Constrained 1-spectral clustering: the normalised cut of a neighbour graph, under must- and cannot-links.

    All must-links hold. With two clusters all cannot-links hold that can; with more, as many as the splits manage.

    Parameters
    ----------
    n_clusters : int
        The number of clusters.
    n_neighbors, scale, graph
        The similarity graph: see `neighbour_graph`, where `graph` is the `kind`. It is kept on the
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

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        n_neighbors: int = 10,
        scale: float = 4.0,
        graph: Kind = "symmetric",
        vertex_weights: Literal["degree", "one"] = "degree",
        preset: Literal["full", "fast"] = "full",
        n_starts: int | None = None,
        n_runs: int | None = None,
        max_inner: int | None = None,
        perturbation: bool | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.scale = scale
        self.graph = graph
        self.vertex_weights = vertex_weights
        self.preset = preset
        self.n_starts = n_starts
        self.n_runs = n_runs
        self.max_inner = max_inner
        self.perturbation = perturbation
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        init_labels: Any = None,
    ) -> Self:
        """Cluster X.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Numbers, without missing values.
        y : ignored
            For scikit-learn's sake.
        must_link, cannot_link : array-like of shape (m, 2), optional
            Pairs of rows that belong, or do not belong, together. Pairs that contradict each other raise.
        init_labels : array-like of shape (n,), optional
            An earlier clustering of X, as one of the starts.
        """
        check_options(type(self).__init__, self.get_params(deep=False))
        if not (isinstance(self.scale, (int, float)) and 0 < self.scale < np.inf):
            raise InvalidDataError(f"scale must be a number above 0, not {self.scale!r}.")
        X = as_matrix(validate_data(self, X, dtype=(np.float64, np.float32), order="C"))
        n, k = len(X), self.n_clusters
        if k > n:
            raise InvalidDataError(f"n_clusters must be at most the number of rows, n_samples={n}, not {k}.")
        warm = None if init_labels is None else np.unique(as_labels(init_labels, n), return_inverse=True)[1]
        closed = close(n, must_link, cannot_link)
        if k > closed.n_components:
            raise InvalidDataError(
                f"n_clusters={k}, but the must-links join the rows to {closed.n_components} groups. "
                "Ask for fewer clusters or drop must-links."
            )
        self._prepare_graph(X)
        W = self.affinity_matrix_
        volume: FloatArray = (
            np.asarray(W.sum(axis=0), dtype=np.float64) if self.vertex_weights == "degree" else np.ones(n)
        )
        volume[volume == 0] = 1e-6 * max(float(volume.mean()), 1e-6)
        rng = np.random.default_rng(as_seed(self.random_state))
        found = cluster(W, volume, closed.component, closed.apart, k, self._effort(), rng, warm)
        first = np.unique(found, return_index=True)[1]
        self.labels_ = np.argsort(np.argsort(first)).astype(np.int32)[found]
        self.cut_ = multiway_cut(W, volume, self.labels_)
        pairs = np.asarray([] if cannot_link is None else cannot_link, dtype=np.int64).reshape(-1, 2)
        i, j = np.unique(np.sort(pairs, axis=1), axis=0).T
        self.n_violations_ = int(np.count_nonzero(self.labels_[i] == self.labels_[j]))
        return self

    def _prepare_graph(self, X: FloatArray) -> None:
        content = hashlib.blake2b(np.asarray(X).data, digest_size=16).digest()
        key = (content, X.shape, X.dtype.str, self.n_neighbors, self.scale, self.graph)
        if getattr(self, "_graph_key", None) != key:
            self.affinity_matrix_ = neighbour_graph(X, self.n_neighbors, self.scale, self.graph)
            self._graph_key = key

    def _effort(self) -> Effort:
        fast, two = self.preset == "fast", self.n_clusters <= 2
        effort = Effort(
            n_starts=2 if fast or not two else 10,
            n_runs=1 if fast else 5,
            max_inner=1000 if fast or not two else 10_000,
            perturbation=two and not fast,
            jump=fast,
        )
        given = {name: getattr(self, name) for name in ("n_starts", "n_runs", "max_inner", "perturbation")}
        return replace(effort, **{name: value for name, value in given.items() if value is not None})


def cluster(
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
        joined = two_colour(int(component.max()) + 1, apart)
        group, apart = joined[component], np.unique(np.sort(joined[apart], axis=1), axis=0)
    n = int(group.max()) + 1
    if k == 1:
        return np.zeros(len(group), dtype=np.int64)
    if k == n:
        return group
    W = contract(W, group) / W.max()  # gamma is in units of the largest weight
    volume = np.bincount(group, volume).astype(np.float64)
    start = None
    if warm is not None:  # a group joined since then follows most of its rows
        votes = sp.coo_array((np.ones(len(group)), (group, warm))).toarray()
        start = votes.argmax(axis=1)
    if k == 2:
        return two_clusters(W, volume, apart, effort, rng, start).side.astype(np.int64)[group]
    runs = [Splits(W, volume, apart, k, effort, rng, start).labels for _ in range(effort.n_runs)]
    return min(runs, key=lambda labels: multiway_cut(W, volume, labels))[group]
