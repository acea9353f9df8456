"""Rows of numbers under the Euclidean distance, split by k-means.

Splits are memoised per node of the split tree and draw their random numbers from the node, so replaying a session
repeats no k-means and gives the same parts. A part without training member joins the part whose representative is
nearest to its mean; unlike in the authors' code the centroid is then computed again, so that it is always the mean
of the members.

A super-instance of up to `LARGE` rows is gathered and clustered at once. A larger one is read in a few passes
(`passes.sampled`), and its members are kept as one byte per row and split (`passes.members`). All this is
the same wherever the rows lie: in memory here, on a cluster in `cobras.spaces.dask.space`.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from cobras.core.partition import Child, Members, NodePath, Partition, Split, SuperInstance
from cobras.core.types import BoolArray, FloatArray, IndexArray
from cobras.spaces.kernels.kmeans import KMeansResult, kmeans
from cobras.spaces.parts import describe, homes, squared_distances
from cobras.spaces.passes import sampled as large
from cobras.spaces.passes.members import Division, Everything, Part, Shelf
from cobras.spaces.passes.regions import MemoryRegion

Medoid = Literal["nearest_to_centroid", "train_centroid", "pam"]
Among: TypeAlias = Literal["all", "train"]
Node: TypeAlias = tuple[int, NodePath, Split | None]


class RowSpace(ABC):
    """Rows of numbers, wherever they lie: all but how to get at them."""

    def __init__(
        self,
        shape: tuple[int, int],
        train: BoolArray | None,
        n_init: int,
        full_restarts: bool,
        medoid: Medoid,
    ) -> None:
        self.n, self._n_columns = shape
        self.train = None if train is None or train.all() else train
        self.n_init = n_init
        self.full_restarts = full_restarts
        self.medoid = medoid
        self._shown = np.empty(0, dtype=bool) if self.train is None else self.train
        self._splits: dict[Node, tuple[SuperInstance, ...]] = {}
        self._at_once, self._block = large.LARGE, large.BLOCK
        self._lock, self._busy = threading.Lock(), dict[Node, threading.Lock]()

    @abstractmethod
    def _rows(self, s: SuperInstance) -> FloatArray:
        """All rows of a super-instance that is not large."""

    @abstractmethod
    def _region(self, s: SuperInstance) -> large.Region:
        """What reads a large super-instance in passes."""

    @abstractmethod
    def _divided(self, s: SuperInstance, found: large.Cut) -> Sequence[Members]:
        """The members of every part of a large super-instance."""

    def root(self, seed: int) -> SuperInstance:
        """The super-instance that holds everything."""
        return self._once((seed, (), None), lambda: (self._root(seed),))[0]

    def split(
        self, s: SuperInstance, k: int, among: Among = "all", draw: int = 0
    ) -> tuple[SuperInstance, ...]:
        """At most k parts, each with a training member; never more than there are distinct rows."""
        split = Split(min(k, s.n_train), among, draw)
        if split.k < 2:
            return (s,)
        make = self._large_parts if self._is_large(s) else self._small_parts
        return self._once((s.seed, s.path, split), lambda: make(s, split))

    def representatives(self, s: SuperInstance, count: int) -> tuple[int, ...]:
        """The medoid, then the training members next nearest to the centroid."""
        if self._is_large(s):
            others = large.nearest_members(self._region(s), s.centroid, count + 1)
        else:
            away = squared_distances(self._rows(s), s.centroid)
            if self.train is not None:
                away[~self._shown_of(s)] = np.inf
            others = s.members[np.argsort(away, kind="stable")[: min(count + 1, s.n_train)]]
        return (s.representative, *(i for i in others.tolist() if i != s.representative))[:count]

    def distances(self, a: Sequence[SuperInstance], b: Sequence[SuperInstance]) -> FloatArray:
        """Euclidean distances between centroids."""
        from scipy.spatial.distance import cdist  # 0.2 s that the first question does not wait for

        between: FloatArray = cdist(np.array([s.centroid for s in a]), np.array([s.centroid for s in b]))
        return between

    # -- all rows at once ------------------------------------------------------------------------------------------

    def _small_parts(self, s: SuperInstance, split: Split) -> tuple[SuperInstance, ...]:
        rows, shown = self._rows(s), self._shown_of(s)
        cut = self._cut if split.among == "all" else self._cut_among_train
        labels = cut(rows, shown, s, split)
        parts = self._parts(rows, s.members, labels, shown, s.seed, lambda g: (*s.path, Child(split, g)))
        return parts if len(parts) > 1 else (s,)

    def _shown_of(self, s: SuperInstance) -> BoolArray:
        """Which members may be shown; empty if all may."""
        return self._shown if self.train is None else self._shown[s.members]

    def _cut(self, rows: FloatArray, shown: BoolArray, s: SuperInstance, split: Split) -> IndexArray:
        """K-means on all members; a group without training member joins the one whose medoid is nearest to it."""
        labels: IndexArray = self._kmeans(rows, s, split).labels
        if self.train is None:
            return labels
        *_, means, medoids, n_train = describe(rows, labels, int(labels.max()) + 1, shown)
        home = homes(rows[medoids], means, n_train)
        regrouped: IndexArray = np.unique(home[labels], return_inverse=True)[1]
        return regrouped

    def _cut_among_train(
        self, rows: FloatArray, shown: BoolArray, s: SuperInstance, split: Split
    ) -> IndexArray:
        """K-means on the training members; the others follow the nearest center."""
        if self.train is None:
            return self._kmeans(rows, s, split).labels
        from scipy.spatial.distance import cdist

        found = self._kmeans(rows[shown], s, split)
        labels: IndexArray = cdist(rows, found.centers).argmin(axis=1)
        labels[shown] = found.labels
        return labels

    def _kmeans(self, rows: FloatArray, s: SuperInstance, split: Split) -> KMeansResult:
        return kmeans(rows, split.k, s.random(split), n_init=self.n_init, full_restarts=self.full_restarts)

    def _parts(
        self,
        rows: FloatArray,
        members: IndexArray,
        labels: IndexArray,
        shown: BoolArray,
        seed: int,
        path_of: Callable[[int], NodePath],
    ) -> tuple[SuperInstance, ...]:
        k = int(labels.max()) + 1
        ordered, starts, means, medoids, n_train = describe(rows, labels, k, shown)
        parts = []
        for g in range(k):
            group = ordered[starts[g] : starts[g + 1]]
            medoid = (
                medoids[g] if self.medoid == "nearest_to_centroid" else self._other_medoid(rows, group, shown)
            )
            found = members[group], int(members[medoid]), means[g], int(n_train[g])
            parts.append(SuperInstance(*found, seed, path_of(g)))
        return tuple(parts)

    def _other_medoid(self, rows: FloatArray, group: IndexArray, shown: BoolArray) -> int:
        candidates = group[shown[group]] if len(shown) and shown[group].any() else group
        if self.medoid == "train_centroid":
            middle = rows[candidates].mean(axis=0, dtype=np.float64)
            cost = squared_distances(rows[candidates], middle)
        else:
            cost = np.array([np.sqrt(squared_distances(rows[group], rows[c])).sum() for c in candidates])
        return int(candidates[cost.argmin()])

    # -- in passes -------------------------------------------------------------------------------------------------

    def _is_large(self, s: SuperInstance) -> bool:
        at_once = min(self._at_once, large.AT_ONCE // self._n_columns)
        return len(s) > at_once and self.medoid == "nearest_to_centroid" and not self.full_restarts

    def _large_parts(self, s: SuperInstance, split: Split) -> tuple[SuperInstance, ...]:
        region, rng, k = self._region(s), s.random(split), split.k
        if split.among == "all" or self.train is None:
            found = large.cut(region, k, rng, self.n_init)
        else:
            found = large.described(region, large.cut(region.shown_only(), k, rng, self.n_init).means)
        found = large.housed(region, found)
        if len(found.sizes) < 2:
            return (s,)
        held = self._divided(s, found)
        return tuple(
            SuperInstance(held[g], medoid, found.means[g], n_train, s.seed, (*s.path, Child(split, g)))
            for g, (medoid, n_train) in enumerate(
                zip(found.medoids.tolist(), found.n_train.tolist(), strict=True)
            )
        )

    def _root(self, seed: int) -> SuperInstance:
        everything = Everything(self.n)
        whole = SuperInstance(everything, 0, np.empty(self._n_columns), self.n, seed)
        if not self._is_large(whole):
            nothing = np.zeros(self.n, dtype=np.int32)
            return self._parts(
                self._rows(whole), everything.found(), nothing, self._shown, seed, lambda g: ()
            )[0]
        region = self._region(whole)
        some = region.rows(np.linspace(0, self.n - 1, large.SAMPLE // 4, dtype=np.int64))
        found = large.described(region, some.mean(axis=0, keepdims=True, dtype=np.float64))
        return SuperInstance(everything, int(found.medoids[0]), found.means[0], int(found.n_train[0]), seed)

    def _once(self, node: Node, make: Callable[[], tuple[SuperInstance, ...]]) -> tuple[SuperInstance, ...]:
        """What has been made for a node; made now, or waited for while another thread makes it."""
        if node not in self._splits:
            with self._lock:
                busy = self._busy.setdefault(node, threading.Lock())
            with busy:
                if node not in self._splits:
                    self._splits[node] = make()
            self._busy.pop(node, None)
        return self._splits[node]


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
        self._shelf = Shelf(self.n)

    def partition(self, labels: IndexArray) -> Partition:
        """A clustering given by labels: one super-instance for each cluster."""
        _, labels = np.unique(labels, return_inverse=True)
        everything = Everything(self.n).found()
        parts = self._parts(self.X, everything, labels, self._shown, 0, lambda g: ())
        return Partition.of((part,) for part in parts)

    def _rows(self, s: SuperInstance) -> FloatArray:
        return self.X if len(s) == self.n else self.X[s.members]

    def _region(self, s: SuperInstance) -> large.Region:
        members = None if len(s) == self.n else s.members
        return MemoryRegion(self.X, members, self.train, self._block)

    def _divided(self, s: SuperInstance, found: large.Cut) -> Sequence[Members]:
        division = Division(self._shelf, s, found.labels, found.sizes)
        return [Part(division, g, first) for g, first in enumerate(found.firsts.tolist())]
