"""The clustering a person would get: super-instances grouped into clusters, frozen, sharing their arrays."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from cobras.types import FloatArray, IndexArray, LabelArray


class NodeRandom:
    """Uniform random numbers of a node of the split tree: a hash of the seed and the path, read as a stream.

    Made in 4 us, where a `SeedSequence` and its generator take 45 us: a fifth of what a small split takes.

    Examples
    --------
    >>> a, b = NodeRandom(0, (2, 1)), NodeRandom(0, (2, 1))
    >>> bool((a.random((2, 3)) == b.random((2, 3))).all()), bool((a.random(2) == b.random(3)[:2]).all())
    (True, True)
    """

    def __init__(self, seed: int, path: tuple[int, ...]) -> None:
        self._key = f"{seed}:{path}"
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

    def found(self) -> IndexArray:
        """All of them, ascending."""


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
    path : tuple of int
        Its place in the split tree, (k, child, k, child, ...): the source of its random numbers.
    """

    holding: IndexArray | Members
    representative: int
    centroid: FloatArray
    n_train: int
    seed: int = 0
    path: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.holding)

    @property
    def members(self) -> IndexArray:
        """All its instances, training and test, ascending."""
        return self.holding if isinstance(self.holding, np.ndarray) else self.holding.found()

    @property
    def first(self) -> int:
        """The lowest of its instances."""
        return int(self.holding[0]) if isinstance(self.holding, np.ndarray) else self.holding.first

    @property
    def mark(self) -> tuple[int, int]:
        """What a promise names it by: its representative and its size, in which it differs from its ancestors."""
        return self.representative, len(self)

    def random(self, *purpose: int) -> NodeRandom:
        """Random numbers that belong to this node alone, so that replay does not depend on the order of calls."""
        return NodeRandom(self.seed, self.path + purpose)


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """Super-instances that belong together; the first one speaks for the cluster."""

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
    def of(groups: Iterable[tuple[SuperInstance, ...]]) -> Partition:
        """A partition into these groups; empty ones are dropped."""
        return Partition(tuple(filter(None, groups)))

    @cached_property
    def clusters(self) -> tuple[Cluster, ...]:
        """The clusters, in the order of their labels."""
        clusters = [Cluster(group) for group in self.groups]
        return tuple(sorted(clusters, key=lambda c: min(s.first for s in c.super_instances)))

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return len(self.groups)

    @property
    def labels(self) -> LabelArray:
        """The cluster number of every instance; computed anew at each call, O(n)."""
        parts = [(s.members, number) for number, c in enumerate(self.clusters) for s in c.super_instances]
        sizes = [len(members) for members, _ in parts]
        labels = np.empty(sum(sizes), dtype=np.int32)
        labels[np.concatenate([members for members, _ in parts])] = np.repeat([n for _, n in parts], sizes)
        return labels
