"""Rows of numbers under the Euclidean distance, split by k-means.

Splits are memoised per node of the split tree and draw their random numbers from the node, so replaying a session
repeats no k-means and gives the same parts. A part without training member joins the part whose representative is
nearest to its mean; unlike in the authors' code the centroid is then computed again, so that it is always the mean
of the members.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from scipy.spatial.distance import cdist

from cobras.partition import Partition, SuperInstance
from cobras.spaces.groups import describe
from cobras.spaces.kmeans import KMeansResult, kmeans
from cobras.types import BoolArray, FloatArray, IndexArray

Medoid = Literal["nearest_to_centroid", "train_centroid", "pam"]


class EuclideanSpace:
    """The rows of X, some of which may be shown.

    Parameters
    ----------
    X : array of shape (n, d)
        float32 or float64, clustered as given, not copied.
    train : array of bool, optional
        Which rows may be shown in a question; all by default.
    n_init : int
        Restarts of k-means.
    full_restarts : bool
        Run every restart to its end, instead of judging most of them early.
    medoid : {"nearest_to_centroid", "train_centroid", "pam"}
        The representative of a super-instance: the training member nearest to the mean of all members, nearest to
        the mean of the training members, or with the least summed distance to all members.

    Examples
    --------
    >>> space = EuclideanSpace(np.array([[0.0], [1.0], [10.0], [11.0]]))
    >>> sorted(part.members.tolist() for part in space.split(space.root(seed=0), 2))
    [[0, 1], [2, 3]]
    """

    def __init__(
        self,
        X: FloatArray,
        train: BoolArray | None = None,
        *,
        n_init: int = 10,
        full_restarts: bool = False,
        medoid: Medoid = "nearest_to_centroid",
    ) -> None:
        self.X = X
        self.n = len(X)
        self.train = None if train is None or train.all() else train
        self.n_init = n_init
        self.full_restarts = full_restarts
        self.medoid = medoid
        self.memo: dict[Any, Any] = {}
        self._shown = np.ones(self.n, dtype=bool) if self.train is None else self.train
        self._everything: IndexArray = np.arange(self.n, dtype=np.int32 if self.n < 2**31 else np.int64)
        self._splits: dict[tuple[int, tuple[int, ...]], tuple[SuperInstance, ...]] = {}

    def root(self, seed: int) -> SuperInstance:
        """The super-instance that holds everything."""
        if (seed, ()) not in self._splits:
            everything = np.zeros(self.n, dtype=np.int32)
            self._splits[seed, ()] = self._parts(self._everything, everything, seed, None)
        return self._splits[seed, ()][0]

    def split(
        self, s: SuperInstance, k: int, among: Literal["all", "train"] = "all", draw: int = 0
    ) -> tuple[SuperInstance, ...]:
        """At most k parts, each with a training member; never more than there are distinct rows."""
        k = min(k, s.n_train)
        if k < 2:
            return (s,)
        # No split has k = 1, so 1 stands for "train"; children of further draws have numbers of their own.
        node = (*s.path, k if among == "all" else 1, *(() if draw == 0 else (-draw,)))
        if (s.seed, node) not in self._splits:
            labels = self._cut(s, k, node) if among == "all" else self._cut_among_train(s, k, node)
            parts = self._parts(s.members, labels, s.seed, node)
            self._splits[s.seed, node] = parts if len(parts) > 1 else (s,)
        return self._splits[s.seed, node]

    def representatives(self, s: SuperInstance, count: int) -> tuple[int, ...]:
        """The medoid, then the training members next nearest to the centroid."""
        shown = s.members[self._shown[s.members]]
        order = np.argsort(_squared_distances(self.X[shown], s.centroid), kind="stable")
        others = (int(i) for i in shown[order[: count + 1]])
        return (s.representative, *(i for i in others if i != s.representative))[:count]

    def distances(self, a: Sequence[SuperInstance], b: Sequence[SuperInstance]) -> FloatArray:
        """Euclidean distances between centroids."""
        between: FloatArray = cdist(np.array([s.centroid for s in a]), np.array([s.centroid for s in b]))
        return between

    def partition(self, labels: IndexArray) -> Partition:
        """A clustering given by labels: one super-instance for each cluster."""
        _, labels = np.unique(labels, return_inverse=True)
        return Partition.of((part,) for part in self._parts(self._everything, labels, 0, None))

    def _cut(self, s: SuperInstance, k: int, node: tuple[int, ...]) -> IndexArray:
        """K-means on all members; a group without training member joins the one whose medoid is nearest to it."""
        rows = self.X if len(s) == self.n else self.X[s.members]
        labels: IndexArray = self._kmeans(rows, k, s, node).labels
        if self.train is None:
            return labels
        *_, means, medoids, n_train = describe(self.X, s.members, labels, int(labels.max()) + 1, self._shown)
        good = np.flatnonzero(n_train)
        home = np.arange(len(means), dtype=labels.dtype)
        for g in np.flatnonzero(n_train == 0):
            home[g] = good[_squared_distances(self.X[medoids[good]], means[g]).argmin()]
        regrouped: IndexArray = np.unique(home[labels], return_inverse=True)[1]
        return regrouped

    def _cut_among_train(self, s: SuperInstance, k: int, node: tuple[int, ...]) -> IndexArray:
        """K-means on the training members; the others follow the nearest center."""
        shown = self._shown[s.members]
        found = self._kmeans(self.X[s.members[shown]], k, s, node)
        labels: IndexArray = cdist(self.X[s.members], found.centers).argmin(axis=1)
        labels[shown] = found.labels
        return labels

    def _kmeans(self, rows: FloatArray, k: int, s: SuperInstance, node: tuple[int, ...]) -> KMeansResult:
        rng = s.random(*node[len(s.path) :])
        return kmeans(rows, k, rng, n_init=self.n_init, full_restarts=self.full_restarts)

    def _parts(
        self, members: IndexArray, labels: IndexArray, seed: int, node: tuple[int, ...] | None
    ) -> tuple[SuperInstance, ...]:
        k = int(labels.max()) + 1
        ordered, starts, means, medoids, n_train = describe(self.X, members, labels, k, self._shown)
        parts = []
        for g in range(k):
            group = ordered[starts[g] : starts[g + 1]]
            medoid = medoids[g] if self.medoid == "nearest_to_centroid" else self._other_medoid(group)
            path = () if node is None else (*node, g)
            parts.append(SuperInstance(group, int(medoid), means[g], int(n_train[g]), seed, path))
        return tuple(parts)

    def _other_medoid(self, members: IndexArray) -> int:
        shown = members[self._shown[members]]
        shown = shown if len(shown) else members
        candidates = self.X[shown]
        if self.medoid == "train_centroid":
            cost = _squared_distances(candidates, candidates.mean(axis=0, dtype=np.float64))
        else:
            rows = self.X[members]
            cost = np.array([np.sqrt(_squared_distances(rows, c)).sum() for c in candidates])
        return int(shown[cost.argmin()])


def _squared_distances(rows: FloatArray, point: FloatArray) -> FloatArray:
    away = rows - point
    squared: FloatArray = np.einsum("ij,ij->i", away, away)
    return squared
