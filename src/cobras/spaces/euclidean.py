"""Rows of numbers under the Euclidean distance, split by k-means.

A part without training member joins the part whose representative is nearest to its mean; unlike in the authors'
code the centroid is then computed again, so that it is always the mean of the members.

A super-instance of up to `LARGE` rows is gathered and clustered at once. A larger one is read in a few passes
(`passes.sampling`), and its members are kept as one byte per row and split (`passes.memory`). All this is
the same wherever the rows lie: in memory here, on a cluster in `cobras.spaces.dask.space`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from cobras.core.partition import Child, Members, NodePath, Partition, Split, SuperInstance
from cobras.core.types import BoolArray, FloatArray, IndexArray
from cobras.spaces.base import Among, Parts, TreeSpace, index_type, nearest_trained, squared_distances
from cobras.spaces.kernels.kmeans import describe_groups, kmeans
from cobras.spaces.passes import sampling
from cobras.spaces.passes.memory import MemberCache, MemoryRegion, PartMembers, SplitLabels

Medoid = Literal["nearest_to_centroid", "train_centroid", "pam"]


class AllRows:
    """The members of the root; see `cobras.core.partition.Members`."""

    first = 0

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    def indices(self) -> IndexArray:
        """Return all row numbers, in the smallest type that holds them."""
        return np.arange(self._n, dtype=index_type(self._n))


class RowSpace(TreeSpace):
    """Rows of numbers, wherever they lie: all but how to get at them."""

    def __init__(
        self,
        shape: tuple[int, int],
        train: BoolArray | None,
        n_init: int,
        full_restarts: bool,
        medoid: Medoid,
    ) -> None:
        super().__init__()
        self.n, self._n_columns = shape
        self.train = None if train is None or train.all() else train
        self.n_init = n_init
        self.full_restarts = full_restarts
        self.medoid = medoid
        # Kernels take no None: an empty mask means that every row may be shown.
        self._shown = np.empty(0, dtype=bool) if self.train is None else self.train
        self._at_once, self._block = sampling.LARGE, sampling.BLOCK

    @abstractmethod
    def _rows(self, s: SuperInstance) -> FloatArray:
        """Return all rows of a super-instance that is not large."""

    @abstractmethod
    def _region(self, s: SuperInstance, among: Among = "all") -> sampling.Region:
        """Return what reads a large super-instance in passes, or its training members alone."""

    @abstractmethod
    def _members_of_parts(self, s: SuperInstance, groups: sampling.Groups) -> Sequence[Members]:
        """Return the members of every part of a large super-instance."""

    def distances(self, a: Sequence[SuperInstance], b: Sequence[SuperInstance]) -> FloatArray:
        """Return Euclidean distances between centroids."""
        from scipy.spatial.distance import cdist  # 0.2 s that the first question does not wait for

        between: FloatArray = cdist(np.array([s.centroid for s in a]), np.array([s.centroid for s in b]))
        return between

    def _make_root(self, seed: int) -> SuperInstance:
        everything = AllRows(self.n)
        whole = SuperInstance(everything, 0, np.empty(self._n_columns), self.n, seed)
        if not self._is_large(whole):
            one_group = np.zeros(self.n, dtype=np.int32)
            return self._parts(self._rows(whole), everything.indices(), one_group, self._shown, seed)[0]
        region = self._region(whole)
        # A rough mean: sums are taken relative to it, and the medoid is among the rows nearest to it.
        some = region.rows(np.linspace(0, self.n - 1, sampling.SAMPLE // 4, dtype=np.int64))
        found = sampling.groups_around(region, some.mean(axis=0, keepdims=True, dtype=np.float64))
        return SuperInstance(everything, int(found.medoids[0]), found.means[0], int(found.n_train[0]), seed)

    def _make_parts(self, s: SuperInstance, split: Split) -> Parts:
        parts = self._large_parts(s, split) if self._is_large(s) else self._small_parts(s, split)
        return parts if len(parts) > 1 else (s,)

    def _best_members(self, s: SuperInstance, count: int) -> IndexArray:
        if self._is_large(s):
            found, away = self._region(s).nearest(s.centroid, count)
            return found[np.argsort(away, kind="stable")[:count]]
        away = squared_distances(self._rows(s), s.centroid)
        if self.train is not None:
            away[~self._shown_of(s)] = np.inf
        return s.members[np.argsort(away, kind="stable")[: min(count, s.n_train)]]

    def _is_large(self, s: SuperInstance) -> bool:
        # The options of the authors' code need all rows at once, however many there are.
        at_once = min(self._at_once, sampling.AT_ONCE // self._n_columns)
        return len(s) > at_once and self.medoid == "nearest_to_centroid" and not self.full_restarts

    def _shown_of(self, s: SuperInstance) -> BoolArray:
        """Return which members may be shown; empty if all may."""
        return self._shown if self.train is None else self._shown[s.members]

    # -- all rows at once ------------------------------------------------------------------------------------------

    def _small_parts(self, s: SuperInstance, split: Split) -> Parts:
        rows, shown = self._rows(s), self._shown_of(s)
        labels = self._labels(rows, shown, s, split)
        return self._parts(rows, s.members, labels, shown, s.seed, (s.path, split))

    def _labels(self, rows: FloatArray, shown: BoolArray, s: SuperInstance, split: Split) -> IndexArray:
        """Return the group of every row; each group has a training member."""
        cluster = partial(
            kmeans, k=split.k, rng=s.random(split), n_init=self.n_init, full_restarts=self.full_restarts
        )
        labels: IndexArray
        if split.among == "train" and self.train is not None:
            from scipy.spatial.distance import cdist

            found = cluster(rows[shown])
            labels = cdist(rows, found.centers).argmin(axis=1)
            labels[shown] = found.labels
            return labels
        labels = cluster(rows).labels
        if self.train is None:
            return labels
        *_, means, medoids, n_train = describe_groups(rows, labels, int(labels.max()) + 1, shown)
        joins = nearest_trained(rows[medoids], means, n_train)
        labels = np.unique(joins[labels], return_inverse=True)[1]
        return labels

    def _parts(
        self,
        rows: FloatArray,
        members: IndexArray,
        labels: IndexArray,
        shown: BoolArray,
        seed: int,
        node: tuple[NodePath, Split] | None = None,
    ) -> Parts:
        """Return a super-instance for each label; without a node they all are roots."""
        k = int(labels.max()) + 1
        labels = labels.astype(np.int32, copy=False)  # compiled for one type only
        ordered, starts, means, medoids, n_train = describe_groups(rows, labels, k, shown)
        bounds, sizes = starts.tolist(), n_train.tolist()
        if self.medoid != "nearest_to_centroid":
            groups = [ordered[bounds[g] : bounds[g + 1]] for g in range(k)]
            medoids = np.array([self._other_medoid(rows, group, shown) for group in groups])
        # Whole arrays first, then views of them: there may be hundreds of parts after every answer.
        ordered, shown_by = members[ordered], members[medoids].tolist()
        paths = [()] * k if node is None else [(*node[0], Child(node[1], g)) for g in range(k)]
        return tuple(
            SuperInstance(ordered[bounds[g] : bounds[g + 1]], shown_by[g], means[g], sizes[g], seed, paths[g])
            for g in range(k)
        )

    def _other_medoid(self, rows: FloatArray, group: IndexArray, shown: BoolArray) -> int:
        candidates = group[shown[group]] if len(shown) and shown[group].any() else group
        if self.medoid == "train_centroid":
            middle = rows[candidates].mean(axis=0, dtype=np.float64)
            cost = squared_distances(rows[candidates], middle)
        else:
            cost = np.array([np.sqrt(squared_distances(rows[group], rows[c])).sum() for c in candidates])
        return int(candidates[cost.argmin()])

    # -- in passes -------------------------------------------------------------------------------------------------

    def _large_parts(self, s: SuperInstance, split: Split) -> Parts:
        found = sampling.find_groups(self._region(s, split.among), split.k, s.random(split), self.n_init)
        if self.train is not None:
            region = self._region(s)
            if split.among == "train":
                found = sampling.groups_around(region, found.means)
            found = sampling.join_untrained(region, found)
        medoids, n_train = found.medoids.tolist(), found.n_train.tolist()
        return tuple(
            SuperInstance(held, medoids[g], found.means[g], n_train[g], s.seed, (*s.path, Child(split, g)))
            for g, held in enumerate(self._members_of_parts(s, found))
        )


class EuclideanSpace(RowSpace):
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
        super().__init__(X.shape, train, n_init, full_restarts, medoid)
        self.X = X
        self.memo: dict[Any, Any] = {}

    def partition(self, labels: IndexArray) -> Partition:
        """Return the clustering given by labels: one super-instance for each cluster."""
        _, labels = np.unique(labels, return_inverse=True)
        everything = AllRows(self.n).indices()
        return Partition.of((part,) for part in self._parts(self.X, everything, labels, self._shown, 0))

    def _rows(self, s: SuperInstance) -> FloatArray:
        # No copy of the whole table for the root.
        return self.X if len(s) == self.n else self.X[s.members]

    def _region(self, s: SuperInstance, among: Among = "all") -> sampling.Region:
        if among == "train" and self.train is not None:
            return MemoryRegion(self.X, s.members[self.train[s.members]], None, self._block)
        return MemoryRegion(self.X, None if len(s) == self.n else s.members, self.train, self._block)

    def _members_of_parts(self, s: SuperInstance, groups: sampling.Groups) -> Sequence[Members]:
        labels = SplitLabels(self._cache, s, groups.labels, groups.sizes)
        return [PartMembers(labels, g, first) for g, first in enumerate(groups.firsts.tolist())]

    # Made when the first large super-instance is split: small tables need none.
    @cached_property
    def _cache(self) -> MemberCache:
        return MemberCache(self.n)
