"""COP-KMeans (Wagstaff, Cardie, Rogers & Schrödl, ICML 2001): k-means that violates no constraint, or fails.

Departures from the paper, all of which make it fail less often or fit better:

- a must-link component moves as a whole, to the center nearest to its mean among those that are open to it;
- the component with the fewest open clusters is placed next (as in DSATUR, a heuristic for colouring graphs), which
  always succeeds for two clusters if that is possible; ties go by index, and at random in later attempts;
- once a valid assignment is found, components only move to clusters open to them: it stays valid, the sum of
  squares never grows, and only the first assignment can fail.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted, validate_data

from cobras.baselines.clusterers.links import Links, PairwiseClusterer, draw_centers, first_centers
from cobras.core.checks import as_invalid_data
from cobras.core.exceptions import InfeasibleConstraintsError
from cobras.core.types import FloatArray, LabelArray
from cobras.spaces.kernels.compile import Array, kernel


@dataclass(eq=False, repr=False)
class COPKMeans(PairwiseClusterer):
    """K-means whose clusters satisfy all must-links and cannot-links.

    Parameters
    ----------
    n_clusters : int
        The number of clusters.
    n_init : int
        How many starts are tried until one satisfies the constraints; then `InfeasibleConstraintsError` is raised.
    max_iter : int
        The most iterations.
    random_state : int, RandomState or Generator, optional
        The seed of centers and orders.

    Attributes
    ----------
    labels_, cluster_centers_
        As in `MPCKMeans`.
    inertia_ : float
        The sum of squared distances to them.
    n_iter_ : int
        The number of iterations.

    Examples
    --------
    >>> est = COPKMeans(2, random_state=0).fit([[0], [1], [5], [6]], must_link=[(1, 2)], cannot_link=[(2, 3)])
    >>> bool(est.labels_[1] == est.labels_[2] != est.labels_[3])
    True
    >>> est.fit([[0], [1], [5]], cannot_link=[(0, 1), (1, 2), (0, 2)])
    Traceback (most recent call last):
    ...
    cobras.core.exceptions.InfeasibleConstraintsError: No assignment to 2 clusters that satisfies ...
    """

    n_clusters: int = 3
    _: KW_ONLY
    n_init: int = 10
    max_iter: int = 100
    random_state: Any = None

    def _fit(self, X: FloatArray, links: Links, rng: np.random.Generator, init_labels: Any) -> None:
        X, k = np.require(X, np.float64, ["C", "W"]), self.n_clusters
        sizes = np.diff(links.first)
        sums = np.add.reduceat(X[links.members], links.first[:-1])
        middles = sums / sizes[:, np.newaxis]
        for attempt in range(self.n_init):
            if attempt == 0:
                centers, order = first_centers(X, k, links, rng)[0], np.arange(len(sizes))
            else:
                centers, order = np.empty((k, X.shape[1])), rng.permutation(len(sizes))
                draw_centers(X, centers, 0, rng)
            labels = feasible_labels(cdist(middles, centers, "sqeuclidean"), links, order)
            if len(labels):
                break
        else:
            raise InfeasibleConstraintsError(
                f"No assignment to {k} clusters that satisfies all constraints was found in {self.n_init} attempts."
                " Raise n_clusters or n_init, or use MPCKMeans, which may violate some."
            )
        self.n_iter_, moved = 0, True
        while moved and self.n_iter_ < self.max_iter:
            centers = _cluster_means(sums, sizes, labels, centers)
            moved = improve(cdist(middles, centers, "sqeuclidean"), links, labels)
            self.n_iter_ += 1
        self.labels_ = labels[links.component]
        self.cluster_centers_ = _cluster_means(sums, sizes, labels, centers)
        self.inertia_ = float(np.square(X - self.cluster_centers_[self.labels_]).sum())

    def predict(self, X: Any) -> LabelArray:
        """The nearest center of each row; constraints play no part."""
        check_is_fitted(self)
        with as_invalid_data():
            X = validate_data(self, X, reset=False, dtype=(np.float64, np.float32))
        nearest: LabelArray = cdist(X, self.cluster_centers_).argmin(axis=1).astype(np.int32)
        return nearest


def _cluster_means(sums: FloatArray, sizes: Array, labels: LabelArray, centers: FloatArray) -> FloatArray:
    """The mean of each cluster's rows; an empty one keeps its center."""
    total, count = np.zeros_like(centers), np.bincount(labels, sizes, minlength=len(centers))[:, np.newaxis]
    np.add.at(total, labels, sums)
    return np.where(count > 0, total / np.maximum(count, 1), centers)


@kernel()
def feasible_labels(cost: Array, links: Any, order: Array) -> Array:
    """A label for each component, the cheapest open to it; an empty array if one has none. O(c²) with c links."""
    n_components, k = cost.shape
    labels = np.full(n_components, -1, np.int32)
    shut, n_shut = np.zeros((n_components, k), np.bool_), np.zeros(n_components, np.int64)
    waiting = np.empty(n_components, np.int64)
    n_waiting = 0
    for c in order:
        if links.first_apart[c] < links.first_apart[c + 1]:
            waiting[n_waiting] = c
            n_waiting += 1
        else:
            labels[c] = np.argmin(cost[c])
    for _ in range(n_waiting):
        chosen = -1
        for c in waiting[:n_waiting]:
            if labels[c] < 0 and (chosen < 0 or n_shut[c] > n_shut[chosen]):
                chosen = c
        best = -1
        for h in range(k):
            if not shut[chosen, h] and (best < 0 or cost[chosen, h] < cost[chosen, best]):
                best = h
        if best < 0:
            return labels[:0]
        labels[chosen] = best
        for b in links.apart[links.first_apart[chosen] : links.first_apart[chosen + 1]]:
            n_shut[b] += not shut[b, best]
            shut[b, best] = True
    return labels


@kernel()
def improve(cost: Array, links: Any, labels: Array) -> bool:
    """Let each component move to the cheapest cluster that is open to it now; whether one did."""
    moved = False
    shut = np.empty(cost.shape[1], np.bool_)
    for c in range(cost.shape[0]):
        shut[:] = False
        for b in links.apart[links.first_apart[c] : links.first_apart[c + 1]]:
            shut[labels[b]] = True
        best = labels[c]
        for h in range(cost.shape[1]):
            if not shut[h] and cost[c, h] < cost[c, best]:
                best = h
        moved |= best != labels[c]
        labels[c] = best
    return moved
