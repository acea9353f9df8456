"""The clustering a person would get: super-instances grouped into clusters, frozen, sharing their arrays."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

from cobras.core.exceptions import InvalidDataError
from cobras.core.notebook import cluster_rows, quantity, show_html
from cobras.core.types import BoolArray, FloatArray, IndexArray, LabelArray

# Instances that are labelled in one call of numpy: few are faster this way, many take too much memory.
AT_ONCE = 2**16


class Split(NamedTuple):
    """How a node of the split tree is split.

    Attributes
    ----------
    k : int
        Into how many parts.
    among : {"all", "train"}
        Whether all members decide on the parts, or the training members alone.
    draw : int
        Another draw of random numbers gives other parts.
    """

    k: int
    among: Literal["all", "train"] = "all"
    draw: int = 0

    @property
    def key(self) -> tuple[int, ...]:
        """What random numbers of the split are a hash of.

        The numbers are those of the first version: others would change the questions of every stored session.
        """
        # No split has k = 1, so 1 can stand for "train", and no part has a negative number.
        return (self.k if self.among == "all" else 1, *((-self.draw,) if self.draw else ()))


class Child(NamedTuple):
    """One step from a node of the split tree to a node below it: a split, and the number of the part."""

    split: Split
    number: int


NodePath: TypeAlias = tuple[Child, ...]


class NodeRandom:
    """Uniform random numbers of a node of the split tree: a hash of the seed and a key, read as a stream.

    Made in 4 us, where a `SeedSequence` and its generator take 45 us: a fifth of what a small split takes.

    Examples
    --------
    >>> a, b = NodeRandom(0, (2, 1)), NodeRandom(0, (2, 1))
    >>> bool((a.random((2, 3)) == b.random((2, 3))).all()), bool((a.random(2) == b.random(3)[:2]).all())
    (True, True)
    """

    def __init__(self, seed: int, key: tuple[int, ...]) -> None:
        self._key = f"{seed}:{key}"
        self._n_drawn = 0

    def random(self, size: int | tuple[int, ...]) -> FloatArray:
        """Numbers from 0 to 1, exclusive; every call draws new ones."""
        n = math.prod(size) if isinstance(size, tuple) else size
        stream = hashlib.shake_128(f"{self._key}:{self._n_drawn}".encode()).digest(8 * n)
        self._n_drawn += 1
        return ((np.frombuffer(stream, "<u8") >> 11) * 2.0**-53).reshape(size)


class Members(Protocol):
    """Instances of a large super-instance, which are found when they are needed.

    Attributes
    ----------
    first : int
        The lowest one.
    """

    first: int

    def __len__(self) -> int: ...

    def indices(self) -> IndexArray:
        """All of them, ascending."""


@runtime_checkable
class RemoteMembers(Members, Protocol):
    """Instances that lie on other machines, which find the labels of a whole clustering at once."""

    def labels(self, partition: Partition) -> LabelArray:
        """The cluster number of every instance."""

    def labels_of(self, partition: Partition, instances: Sequence[int]) -> Sequence[int]:
        """The cluster numbers of some instances, without those of the others."""


@dataclass(frozen=True, slots=True, eq=False)
class SuperInstance:
    """A local region assumed to belong to one cluster.

    Attributes
    ----------
    holding : array of int, or Members
        Its instances, or what finds them; use `members`.
    representative : int
        Its medoid, a training instance: the one shown in questions.
    centroid : array
        The mean of its members.
    n_train : int
        How many of its members may be shown.
    path : tuple of Child
        Its place in the split tree: the source of its random numbers.
    """

    holding: IndexArray | Members
    representative: int
    centroid: FloatArray
    n_train: int
    seed: int = 0
    path: NodePath = ()

    def __len__(self) -> int:
        return len(self.holding)

    @property
    def members(self) -> IndexArray:
        """All its instances, training and test, ascending."""
        return self.holding if isinstance(self.holding, np.ndarray) else self.holding.indices()

    @property
    def first(self) -> int:
        """The lowest of its instances."""
        return int(self.holding[0]) if isinstance(self.holding, np.ndarray) else self.holding.first

    @property
    def mark(self) -> tuple[int, int]:
        """What a mark names it by: its representative and its size, in which it differs from its ancestors."""
        return self.representative, len(self)

    def random(self, split: Split | None = None) -> NodeRandom:
        """Random numbers for one split of this node or, without one, for the choice among its children.

        They belong to the node alone, so that replay does not depend on the order of calls.
        """
        way = (number for child in self.path for number in (*child.split.key, child.number))
        return NodeRandom(self.seed, (*way, *(split.key if split else (0,))))


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """Super-instances that belong together; the representative of the first one is that of the cluster."""

    super_instances: tuple[SuperInstance, ...]

    def __len__(self) -> int:
        return sum(len(s) for s in self.super_instances)

    @property
    def representatives(self) -> tuple[int, ...]:
        """The medoids of its super-instances."""
        return tuple(s.representative for s in self.super_instances)

    @property
    def members(self) -> IndexArray:
        """All its instances, ascending."""
        return np.sort(np.concatenate([s.members for s in self.super_instances]))


@dataclass(frozen=True, eq=False)
class Partition:
    """A clustering of all instances.

    Clusters are numbered by their first instance, so that equal clusterings have equal labels.

    Examples
    --------
    >>> a = SuperInstance(np.array([2, 3]), 2, np.zeros(1), 2)
    >>> b = SuperInstance(np.array([0, 1]), 0, np.ones(1), 2)
    >>> Partition(((a,), (b,))).labels
    array([0, 0, 1, 1], dtype=int32)
    """

    groups: tuple[tuple[SuperInstance, ...], ...]

    @staticmethod
    def of(groups: Iterable[Sequence[SuperInstance]]) -> Partition:
        """A partition into these groups; empty ones are dropped."""
        # A method may go on to change lists of its own.
        return Partition(tuple(tuple(group) for group in groups if group))

    @cached_property
    def clusters(self) -> tuple[Cluster, ...]:
        """The clusters, in the order of their labels."""
        # The lowest instances of all super-instances suffice for the order; members are not looked at.
        clusters = [Cluster(group) for group in self.groups]
        return tuple(sorted(clusters, key=lambda c: min(s.first for s in c.super_instances)))

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return len(self.groups)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of instances in each cluster, in the order of their labels."""
        return tuple(map(len, self.clusters))

    def __repr__(self) -> str:
        largest = sorted(self.sizes, reverse=True)
        shown = ", ".join(map(str, largest[:5])) + (", ..." if len(largest) > 5 else "")
        return f"{type(self).__name__}({quantity(self.n_clusters, 'cluster')} of {shown} rows)"

    def _repr_html_(self) -> str:
        heading = f"{quantity(self.n_clusters, 'cluster')} of {quantity(sum(self.sizes), 'row')}"
        return show_html(heading, *cluster_rows(self.sizes))

    def cluster(self, number: int) -> Cluster:
        """One of them by its number, as a user gives it."""
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
            raise InvalidDataError(f"A cluster is given by its number, not by {number!r}.")
        if not 0 <= number < self.n_clusters:
            raise InvalidDataError(
                f"There is no cluster {number}; there are {self.n_clusters}, counted from 0."
            )
        return self.clusters[number]

    @property
    def labels(self) -> LabelArray:
        """The cluster number of every instance; computed anew at each call, O(n)."""
        if (remote := self._remote()) is not None:
            return remote.labels(self)
        parts = [(s, number) for number, c in enumerate(self.clusters) for s in c.super_instances]
        sizes = [len(s) for s, _ in parts]
        labels = np.empty(sum(sizes), dtype=np.int32)
        if len(labels) > AT_ONCE:
            for s, number in parts:
                labels[s.members] = number
        else:
            members = np.concatenate([s.members for s, _ in parts])
            labels[members] = np.repeat([number for _, number in parts], sizes)
        return labels

    def clusters_of(
        self, rows: Iterable[int], memo: dict[int, SuperInstance] | None = None
    ) -> dict[int, int]:
        """The cluster numbers of some instances, without those of all others.

        Parameters
        ----------
        rows : iterable of int
        memo : dict of int to SuperInstance, optional
            Where each row was found last; it is kept up to date. From one clustering to the next, only rows whose
            super-instance is gone are searched for.

        Examples
        --------
        >>> a = SuperInstance(np.array([0, 3]), 0, np.zeros(1), 2)
        >>> b = SuperInstance(np.array([1, 2]), 1, np.ones(1), 2)
        >>> Partition(((a,), (b,))).clusters_of([3, 1])
        {3: 0, 1: 1}
        """
        rows = list(dict.fromkeys(rows))
        if not rows:
            return {}
        n = sum(len(s) for group in self.groups for s in group)
        if not 0 <= min(rows) <= max(rows) < n:
            raise InvalidDataError(f"Rows go from 0 to {n - 1}, not from {min(rows)} to {max(rows)}.")
        # The only case in which one super-instance may hold all rows; its members are then not listed.
        if self.n_clusters == 1:
            return dict.fromkeys(rows, 0)
        if (remote := self._remote()) is not None:
            return dict(zip(rows, remote.labels_of(self, rows), strict=True))
        numbers = {id(s): number for number, c in enumerate(self.clusters) for s in c.super_instances}
        homes = self.super_instances_of(rows, memo)
        return {row: numbers[id(homes[row])] for row in rows}

    def super_instances_of(
        self, rows: Iterable[int], memo: dict[int, SuperInstance] | None = None
    ) -> dict[int, SuperInstance]:
        """The super-instances that hold some instances, which must lie here; `memo` as in `clusters_of`."""
        rows, memo = list(rows), {} if memo is None else memo
        everywhere = [s for group in self.groups for s in group]
        if len(everywhere) == 1:
            return dict.fromkeys(rows, everywhere[0])
        here = set(map(id, everywhere))
        if lost := {row for row in rows if id(memo.get(row)) not in here}:
            _find(lost, everywhere, memo)
        return {row: memo[row] for row in rows}

    def _remote(self) -> RemoteMembers | None:
        """What finds labels on other machines; None where all members are here."""
        # One of each type: a check against a protocol takes 10 us.
        holdings = {type(s.holding): s.holding for group in self.groups for s in group}
        return next((found for found in holdings.values() if isinstance(found, RemoteMembers)), None)


def _find(lost: set[int], everywhere: list[SuperInstance], memo: dict[int, SuperInstance]) -> None:
    """Put into `memo` which super-instance holds each of the rows; `memo` may say where they were before."""
    memo.update({s.representative: s for s in everywhere if s.representative in lost})
    lost = lost.difference(s.representative for s in everywhere)
    # Small ones first: to list their members costs least.
    everywhere = sorted(everywhere, key=len)
    # First where a row is likely: its super-instance was split, or its parts were put together again.
    for is_last_try in (False, True):
        for s in everywhere:
            if not lost:
                return
            candidates = np.array(
                [row for row in sorted(lost) if is_last_try or _is_related(memo.get(row), s)]
            )
            if len(candidates):
                found = candidates[is_member(s.members, candidates)].tolist()
                memo.update(dict.fromkeys(found, s))
                lost = lost.difference(found)


def _is_related(old: SuperInstance | None, s: SuperInstance) -> bool:
    """Whether one of two super-instances comes from the other in the split tree, as far as is known."""
    return old is None or all(a == b for a, b in zip(old.path, s.path, strict=False))


def is_member(members: IndexArray, rows: IndexArray) -> BoolArray:
    """Which rows are among the members, which are ascending: O(log n) for each row."""
    # Without this, numpy would convert all members to the type of the rows.
    rows = rows.astype(members.dtype)
    found: BoolArray = members[np.minimum(np.searchsorted(members, rows), len(members) - 1)] == rows
    return found
