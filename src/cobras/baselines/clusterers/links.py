"""What the constrained clusterers share: their `fit`, constraints as arrays, the first centers of k-means.

The centers come from weighted farthest-first as in the authors' code of MPCKMeans; cannot-linked rows as in
PCKMeans (Basu, Banerjee & Mooney, 2004).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from cobras.core.checks import as_invalid_data, as_matrix, as_pairs, as_seed, check_options
from cobras.core.constraints import Constraints
from cobras.core.exceptions import InvalidDataError
from cobras.core.types import Answer, BoolArray, FloatArray, IndexArray, LabelArray
from cobras.spaces.kernels.compile import Array, kernel


class Links(NamedTuple):
    """All that the constraints imply; a row without must-link is a component of its own.

    The rows of component c are ``members[first[c]:first[c + 1]]``, and the components that cannot-links hold apart
    from it ``apart[first_apart[c]:first_apart[c + 1]]``, both ascending.
    """

    rows: IndexArray  # those that a constraint touches
    component: IndexArray  # of every row, 0, 1, ... in the order of their first rows
    members: IndexArray
    first: IndexArray
    apart: IndexArray
    first_apart: IndexArray
    cannot_link: IndexArray  # as they were given, each once, (m, 2)

    @property
    def n_components(self) -> int:
        """The number of components."""
        return len(self.first) - 1

    @property
    def apart_pairs(self) -> IndexArray:
        """Pairs of components, a < b, that a cannot-link holds apart; each once, in order, (c, 2)."""
        a = np.repeat(np.arange(self.n_components), np.diff(self.first_apart))
        return np.column_stack([a, self.apart])[a < self.apart]


def links_of(n: int, must_link: Any = None, cannot_link: Any = None) -> Links:
    """The transitive closure of constraints on rows 0, ..., n - 1; contradicting ones raise and name the chain.

    Examples
    --------
    >>> links = links_of(4, must_link=[(1, 2)], cannot_link=[(2, 3)])
    >>> links.component.tolist(), links.apart_pairs.tolist()
    ([0, 1, 1, 2], [[1, 2]])
    """
    constraints = Constraints()
    together, different = as_pairs(must_link, "must_link", n), as_pairs(cannot_link, "cannot_link", n)
    for pairs, answer in ((together, Answer.SAME), (different, Answer.DIFFERENT)):
        for i, j in pairs.tolist():
            constraints.add(i, j, answer)
    number: dict[int, int] = {}
    component = np.array([number.setdefault(constraints.component(i), len(number)) for i in range(n)])
    both = sorted((number[root], number[b]) for root in number for b in constraints.apart_from(root))
    a, b = np.array(both, dtype=np.int64).reshape(-1, 2).T
    sizes, degree = np.bincount(component), np.bincount(a, minlength=len(number))
    return Links(
        rows=np.flatnonzero(((sizes > 1) | (degree > 0))[component]),
        component=component,
        members=np.argsort(component, kind="stable"),
        first=np.concatenate(([0], np.cumsum(sizes))),
        apart=np.ascontiguousarray(b),
        first_apart=np.concatenate(([0], np.cumsum(degree))),
        cannot_link=np.unique(np.sort(different, axis=1), axis=0),
    )


class PairwiseClusterer(ClusterMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A clusterer of rows under pairwise constraints, with `n_clusters` and `random_state`; it works in `_fit`."""

    n_clusters: int
    random_state: Any

    def fit(self, X: Any, y: Any = None, *, must_link: Any = None, cannot_link: Any = None) -> Self:
        """Cluster X.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Numbers, without missing values.
        y : None
            Not used.
        must_link, cannot_link : array-like of shape (m, 2), optional
            Pairs of row numbers. Contradicting ones raise `InconsistentAnswersError`, which names the chain.
        """
        return self._fit_checked(X, must_link, cannot_link, None)

    def _fit_checked(self, X: Any, must_link: Any, cannot_link: Any, init_labels: Any) -> Self:
        check_options(type(self).__init__, self.get_params(deep=False))
        with as_invalid_data():
            X = validate_data(self, X, dtype=(np.float64, np.float32), order="C", ensure_all_finite=False)
        X = as_matrix(X)
        if self.n_clusters > len(X):
            raise InvalidDataError(
                f"n_clusters={self.n_clusters} asks for more clusters than there are rows (n_samples={len(X)})."
            )
        rng = np.random.default_rng(as_seed(self.random_state))
        self._fit(X, links_of(len(X), must_link, cannot_link), rng, init_labels)
        return self

    @abstractmethod
    def _fit(self, X: FloatArray, links: Links, rng: np.random.Generator, init_labels: Any) -> None:
        """Cluster checked rows, and set the fitted attributes."""


class WarmClusterer(PairwiseClusterer):
    """A clusterer that can start from an earlier clustering."""

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
        X, y, must_link, cannot_link
            As in `COPKMeans.fit`.
        init_labels : array-like of shape (n,), optional
            An earlier clustering of X to start from.
        """
        return self._fit_checked(X, must_link, cannot_link, init_labels)


def first_centers(
    X: FloatArray, k: int, links: Links, rng: np.random.Generator, init: str = "neighbourhoods"
) -> tuple[FloatArray, LabelArray]:
    """The k centers to start from, and the labels of the rows they were made of; -1 for all other rows.

    The means of components with at least two rows come first, the largest and then the farthest. Where there are
    fewer than k, rows follow that are cannot-linked to all before them, then k-means++ draws.
    """
    sizes, degree = np.diff(links.first), np.diff(links.first_apart)
    # The label of each component.
    label = np.full(len(sizes), -1, dtype=np.int32)
    centers = np.empty((k, X.shape[1]))
    n_found = 0
    large = np.flatnonzero(sizes > 1)
    if len(large):
        rows = links.members[np.repeat(sizes > 1, sizes)]
        ends = np.cumsum(sizes[large])
        centroids = np.add.reduceat(X[rows], ends - sizes[large]) / sizes[large, np.newaxis]
        picked = _farthest_first(centroids, np.sqrt(sizes[large]), k)
        n_found = len(picked)
        centers[:n_found], label[large[picked]] = centroids[picked], np.arange(n_found)
    if init == "perturb":
        centers[n_found:] = X.mean(axis=0) * (1 + 0.7 * (rng.random((k - n_found, X.shape[1])) - 0.5))
        return centers, label[links.component]

    candidates = (sizes == 1) & (degree > 0)
    for c in np.flatnonzero(label >= 0).tolist():
        candidates &= _apart_from(links, c)
    while n_found < k and candidates.any():
        alone = np.flatnonzero(candidates)
        rows = links.members[links.first[alone]]
        # The first of them has no center to be far from: the one with the most cannot-links is taken.
        value = degree[alone] if n_found == 0 else cdist(X[rows], centers[:n_found]).min(axis=1)
        best = int(np.argmax(value))
        centers[n_found], label[alone[best]] = X[rows[best]], n_found
        candidates &= _apart_from(links, alone[best])
        n_found += 1
    if n_found < k:
        draw_centers(X, centers, n_found, rng)
    return centers, label[links.component]


def _apart_from(links: Links, c: int) -> BoolArray:
    mask = np.zeros(links.n_components, dtype=bool)
    mask[links.apart[links.first_apart[c] : links.first_apart[c + 1]]] = True
    return mask


def _farthest_first(points: FloatArray, weights: FloatArray, k: int) -> list[int]:
    """The heaviest, then always the one whose least weighted distance to those before is largest."""
    picked, near = [int(np.argmax(weights))], np.full(len(points), np.inf)
    while len(picked) < min(k, len(points)):
        last = picked[-1]
        step = np.sqrt(np.square(points - points[last]).sum(axis=1)) * weights * weights[last]
        near = np.minimum(near, step)
        near[picked] = -1
        picked.append(int(np.argmax(near)))
    return picked


def centers_of_labels(
    X: FloatArray, k: int, init_labels: Any, rng: np.random.Generator
) -> tuple[FloatArray, LabelArray]:
    """The means of the given clusters, and their labels; k-means++ draws the center of one without rows."""
    given = np.asarray(init_labels)
    if given.shape != (len(X),) or given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= k:
        raise InvalidDataError(
            f"init_labels must hold {len(X)} whole numbers from 0 to {k - 1}, one for each row."
        )
    labels = given.astype(np.int32)
    centers, counts = np.empty((k, X.shape[1])), np.empty(k, dtype=np.int64)
    write_means(X, labels, centers, counts)
    full = np.flatnonzero(counts)
    if len(full) < k:
        ordered = np.concatenate((centers[full], centers[counts == 0]))
        draw_centers(X, ordered, len(full), rng)
        centers[counts == 0] = ordered[len(full) :]
    return centers, labels


def draw_centers(X: FloatArray, centers: FloatArray, n_given: int, rng: np.random.Generator) -> None:
    """Fill `centers` from row `n_given` on by greedy k-means++, with as many trials as scikit-learn makes."""
    k = len(centers)
    _draw_centers(X, centers, n_given, rng.random((k, 2 + int(np.log(k)))))


@kernel()
def _draw_centers(X: Array, centers: Array, n_given: int, uniforms: Array) -> None:
    """Greedy k-means++ with `uniforms` (k, trials) as random numbers; O(n d) for each trial."""
    n, (k, n_trials) = X.shape[0], uniforms.shape
    near, trial, best = np.full(n, np.inf), np.empty(n), np.empty(n)
    for h in range(n_given):
        for i in range(n):
            near[i] = min(near[i], squared_distance(X, i, centers, h))
    for h in range(n_given, k):
        total = near.sum() if h else 0.0
        least, chosen = np.inf, 0
        for t in range(n_trials if total > 0 else 1):
            row = int(uniforms[h, t] * n)
            if total > 0:
                target = uniforms[h, t] * total
                for i in range(n):
                    if near[i] > 0:
                        row = i
                        target -= near[i]
                        if target < 0:
                            break
            for i in range(n):
                trial[i] = min(near[i], squared_distance(X, i, X, row))
            potential = trial.sum()
            if potential < least:
                least, chosen = potential, row
                best, trial = trial, best
        near, best = best, near
        for m in range(X.shape[1]):
            centers[h, m] = X[chosen, m]


@kernel("contract", "reassoc")
def squared_distance(X: Array, i: int, Y: Array, j: int) -> float:
    """The squared distance of two rows; by number, because views would cost more than the sum."""
    total = 0.0
    for m in range(X.shape[1]):
        total += (X[i, m] - Y[j, m]) ** 2
    return total


@kernel("contract", "reassoc")
def write_means(X: Array, labels: Array, centers: Array, counts: Array) -> None:
    """Write the mean and the number of each cluster's rows, in place; an empty one keeps its center."""
    k, d = centers.shape
    sums = np.zeros((k, d))
    for h in range(k):
        counts[h] = 0
    for i in range(X.shape[0]):
        counts[labels[i]] += 1
        for m in range(d):
            sums[labels[i], m] += X[i, m]
    for h in range(k):
        for m in range(d if counts[h] else 0):
            centers[h, m] = sums[h, m] / counts[h]
