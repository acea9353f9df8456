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
from cobras.spaces.kmeans import kmeans
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
        medoid: Medoid = "nearest_to_centroid",
    ) -> None:
        self.X = X
        self.n = len(X)
        self.train = None if train is None or train.all() else train
        self.n_init = n_init
        self.medoid = medoid
        self.memo: dict[Any, Any] = {}
        self._splits: dict[tuple[int, tuple[int, ...]], tuple[SuperInstance, ...]] = {}

    def root(self, seed: int) -> SuperInstance:
        """The super-instance that holds everything."""
        key = (seed, ())
        if key not in self._splits:
            everything: IndexArray = np.arange(self.n, dtype=np.min_scalar_type(-self.n))
            self._splits[key] = (self._super_instance(everything, seed, ()),)
        return self._splits[key][0]

    def split(
        self, s: SuperInstance, k: int, among: Literal["all", "train"] = "all"
    ) -> tuple[SuperInstance, ...]:
        """At most k parts, each with a training member; never more than there are distinct rows."""
        k = min(k, s.n_train)
        if k < 2:
            return (s,)
        node = (*s.path, k if among == "all" else 1)  # no split has k = 1, so 1 stands for "train"
        if (s.seed, node) not in self._splits:
            groups = self._groups(s, k, node) if among == "all" else self._groups_among_train(s, k, node)
            made = (self._super_instance(g, s.seed, (*node, child)) for child, g in enumerate(groups))
            self._splits[s.seed, node] = tuple(made) if len(groups) > 1 else (s,)
        return self._splits[s.seed, node]

    def representatives(self, s: SuperInstance, count: int) -> tuple[int, ...]:
        """The medoid, then the training members next nearest to the centroid."""
        shown = self._train_members(s.members)
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
        everything = np.arange(self.n, dtype=np.min_scalar_type(-self.n))
        return Partition.of((self._super_instance(g, 0, ()),) for g in _by_label(everything, labels))

    def _groups(self, s: SuperInstance, k: int, node: tuple[int, ...]) -> list[IndexArray]:
        rows = self.X if len(s) == self.n else self.X[s.members]
        labels = kmeans(rows, k, s.random(*node[len(s.path) :]), n_init=self.n_init).labels
        groups = _by_label(s.members, labels)
        if self.train is None:
            return groups
        good = [g for g in groups if self.train[g].any()]
        if len(good) == len(groups):
            return groups
        medoids = np.array([self._super_instance(g, 0, ()).representative for g in good])
        homes = [[g] for g in good]
        for g in groups:
            if not self.train[g].any():
                mean = self.X[g].mean(axis=0, dtype=np.float64)
                homes[int(_squared_distances(self.X[medoids], mean).argmin())].append(g)
        return [np.sort(np.concatenate(parts)) for parts in homes]

    def _groups_among_train(self, s: SuperInstance, k: int, node: tuple[int, ...]) -> list[IndexArray]:
        shown = self._train_members(s.members)
        centers = kmeans(self.X[shown], k, s.random(*node[len(s.path) :]), n_init=self.n_init)
        labels = cdist(self.X[s.members], centers.centers).argmin(axis=1)
        labels[np.searchsorted(s.members, shown)] = centers.labels
        return _by_label(s.members, labels)

    def _train_members(self, members: IndexArray) -> IndexArray:
        return members if self.train is None else members[self.train[members]]

    def _super_instance(self, members: IndexArray, seed: int, path: tuple[int, ...]) -> SuperInstance:
        rows = self.X if len(members) == self.n else self.X[members]
        centroid = rows.mean(axis=0, dtype=np.float64)
        shown = self._train_members(members)
        n_train = len(shown)
        if n_train == 0:  # only in a partition given by labels
            shown = members
        candidates = rows if len(shown) == len(members) else self.X[shown]
        if self.medoid == "nearest_to_centroid":
            cost = _squared_distances(candidates, centroid)
        elif self.medoid == "train_centroid":
            cost = _squared_distances(candidates, candidates.mean(axis=0, dtype=np.float64))
        else:
            cost = np.array([np.sqrt(_squared_distances(rows, c)).sum() for c in candidates])
        return SuperInstance(members, int(shown[cost.argmin()]), centroid, n_train, seed, path)


def _squared_distances(rows: FloatArray, point: FloatArray) -> FloatArray:
    away = rows - point
    squared: FloatArray = np.einsum("ij,ij->i", away, away)
    return squared


def _by_label(members: IndexArray, labels: IndexArray) -> list[IndexArray]:
    """The members of each label, ascending, without empty groups."""
    order = np.argsort(labels, kind="stable")
    counts = np.bincount(labels)
    return np.split(members[order], np.cumsum(counts[counts > 0])[:-1])
