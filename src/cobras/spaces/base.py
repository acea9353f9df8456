"""What a space is: the protocols that methods rely on, what the spaces of this package share, and their choice.

A collection that grows has several: that of its first rows, and those after rows were added.

Splits are memoised per node of the split tree and draw their random numbers from the node, so replaying a session
repeats no clustering and gives the same parts, whatever else was asked of the space before.
"""

from __future__ import annotations

import hashlib
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from cobras.core.checks import as_matrix, as_train_mask, check_options, is_dask
from cobras.core.exceptions import InvalidDataError
from cobras.core.partition import Child, NodePath, Partition, Split, SuperInstance
from cobras.core.types import BoolArray, ClusterNames, FloatArray, IndexArray, StableIds

if TYPE_CHECKING:
    # To import them takes longer than all the rest; see `choose_space`.
    from cobras.spaces.euclidean import EuclideanSpace
    from cobras.spaces.growth import GrownSpace

Among: TypeAlias = Literal["all", "train"]
Node: TypeAlias = tuple[int, NodePath, Split | None]  # without a split it is the root
Parts: TypeAlias = tuple[SuperInstance, ...]

MOST_SEEDINGS = 10_000  # more would take hours, and a session file of somebody else may ask for them
# The options of k-means, which a method takes beside its own and hands on to the space.
OPTIONS = {"n_init": 10, "full_restarts": False, "medoid": "nearest_to_centroid"}


@runtime_checkable
class Space(Protocol):
    """All that a method may know about the data."""

    n: int

    def root(self, seed: int) -> SuperInstance:
        """Return the super-instance that holds all instances."""

    def split(self, s: SuperInstance, k: int, among: Among = "all", draw: int = 0) -> Parts:
        """Return at most k parts, each with a training member; a single one when it cannot be split.

        With `among="train"` only training members decide on the parts, and the others follow the nearest one.
        The same call gives the same parts; another `draw` uses other random numbers.
        """

    def representatives(self, s: SuperInstance, count: int) -> tuple[int, ...]:
        """Return the medoid, then the next best training members, at most `count`."""

    def distances(self, a: Sequence[SuperInstance], b: Sequence[SuperInstance]) -> FloatArray:
        """Return the distance between every super-instance of a and every one of b."""


@runtime_checkable
class VectorSpace(Space, Protocol):
    """A space of rows of numbers, for methods that hand all of them to another clusterer.

    Attributes
    ----------
    X : array of shape (n, d)
    train : array of bool, or None
        Which rows may be shown; None for all.
    memo : dict
        What a method computed, under a key that says from what: a replay finds it there.
    """

    X: FloatArray
    train: BoolArray | None
    memo: dict[Any, Any]

    def partition(self, labels: IndexArray) -> Partition:
        """Return the clustering given by labels: one super-instance for each cluster."""


@runtime_checkable
class EmbeddedSpace(Space, Protocol):
    """A space without rows of numbers, which can place its instances so that distances are nearly kept.

    `train`, `memo` and `partition` are as in `VectorSpace`.
    """

    train: BoolArray | None
    memo: dict[Any, Any]

    def coordinates(self) -> FloatArray:
        """Return one row of numbers per instance; their Euclidean distances are about those of the space."""

    def partition(self, labels: IndexArray) -> Partition:
        """Return the clustering given by labels: one super-instance for each cluster."""


@runtime_checkable
class GrowingSpace(Space, Protocol):
    """A space to which rows were added."""

    def represent(self, parts: Parts, rows: Sequence[int]) -> Parts:
        """Return parts, each represented by the nearest to its centroid of some rows, if it holds any of them.

        A row that may not be shown represents nothing.
        """


@runtime_checkable
class RemoteSpace(Space, Protocol):
    """A space on other machines, which writes labels where the rows lie."""

    def export_labels(
        self, folder: str | os.PathLike[str], partition: Partition, names: ClusterNames, ids: StableIds
    ) -> None:
        """Write the labels of all instances from where they lie into a folder."""


class TreeSpace(ABC):
    """The split tree: every root and every split is made once, also when several threads want it."""

    def __init__(self) -> None:
        self._splits: dict[Node, Parts] = {}
        self._lock, self._busy = threading.Lock(), dict[Node, threading.Lock]()

    @abstractmethod
    def _make_root(self, seed: int) -> SuperInstance:
        """Return the super-instance that holds all instances."""

    @abstractmethod
    def _make_parts(self, s: SuperInstance, split: Split) -> Parts:
        """Return at most `split.k` parts; s alone if it cannot be split."""

    @abstractmethod
    def _best_members(self, s: SuperInstance, count: int) -> IndexArray:
        """Return the training members that represent s best, the best first, at most `count`."""

    def root(self, seed: int) -> SuperInstance:
        """Return the super-instance that holds all instances."""
        return self._make_once((seed, (), None), lambda: (self._make_root(seed),))[0]

    def split(self, s: SuperInstance, k: int, among: Among = "all", draw: int = 0) -> Parts:
        """Return at most k parts, each with a training member; never more than there are distinct rows."""
        split = Split(min(k, s.n_train), among, draw)
        if split.k < 2:
            return (s,)
        return self._make_once((s.seed, s.path, split), lambda: self._make_parts(s, split))

    def representatives(self, s: SuperInstance, count: int) -> tuple[int, ...]:
        """Return the medoid, then the training members that represent s next best."""
        others = self._best_members(s, count + 1).tolist()
        return (s.representative, *(i for i in others if i != s.representative))[:count]

    def _make_once(self, node: Node, make: Callable[[], Parts]) -> Parts:
        """Return what has been made for a node; make it now, or wait while another thread makes it."""
        if node not in self._splits:
            with self._lock:
                busy = self._busy.setdefault(node, threading.Lock())
            with busy:
                if node not in self._splits:
                    self._splits[node] = make()
            self._busy.pop(node, None)
        return self._splits[node]


class Collection:
    """The spaces of a session: that of its first rows, and one for each append after it.

    Attributes
    ----------
    first, latest : Space
        That of the first rows, and that of the rows that were added last.
    """

    def __init__(self, first: Space) -> None:
        self.first = self.latest = first
        self._grown: dict[tuple[Space, str], GrownSpace] = {}

    def add(
        self, space: Space, rows: FloatArray, fingerprint: str, X: FloatArray | None = None
    ) -> GrownSpace:
        """Keep the rows of an append to a space; X are all rows, where they are at hand."""
        from cobras.spaces.growth import GrownSpace

        if (space, fingerprint) not in self._grown:
            self._grown[space, fingerprint] = GrownSpace(check_can_grow(space), rows, X)
        self.latest = self._grown[space, fingerprint]
        return self._grown[space, fingerprint]

    def keep_only(self, space: Space, fingerprint: str) -> None:
        """Drop the rows of other appends to a space, which nothing can bring back any more."""
        self._grown = {
            key: grown for key, grown in self._grown.items() if key[0] is not space or key[1] == fingerprint
        }

    def grow(self, space: Space, fingerprint: str) -> GrownSpace:
        """The space after the append of rows that have this fingerprint."""
        if (space, fingerprint) not in self._grown:
            raise InvalidDataError(
                "The rows that were added are not at hand. Open the session with all of its rows."
            )
        return self._grown[space, fingerprint]

    def after(self, fingerprints: Iterable[str]) -> Space:
        """The space after appends, one after the other."""
        space = self.first
        for fingerprint in fingerprints:
            space = self.grow(space, fingerprint)
        return space


def squared_distances(rows: FloatArray, point: FloatArray) -> FloatArray:
    """Return the squared distance of every row to a point, by differences: exactly 0 between equal rows."""
    away = rows - point
    squared: FloatArray = np.einsum("ij,ij->i", away, away)
    return squared


def nearest_trained(medoids: FloatArray, means: FloatArray, n_train: IndexArray) -> IndexArray:
    """Return the group that each group joins: itself or, without training member, the nearest one that has some.

    Near is the medoid of the one to the mean of the other.
    """
    good = np.flatnonzero(n_train)
    joins = np.arange(len(means))
    for g in np.flatnonzero(n_train == 0):
        joins[g] = good[squared_distances(medoids[good], means[g]).argmin()]
    return joins


def index_type(n: int) -> type[np.signedinteger[Any]]:
    """Return the type of row numbers below n: four bytes each, unless there are very many."""
    return np.int32 if n < 2**31 else np.int64


def digest(*parts: bytes | IndexArray) -> bytes:
    """Return sixteen bytes that tell these arrays from others: a short key for the memo of a space."""
    hashed = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else part.tobytes()
        hashed.update(len(data).to_bytes(8, "little") + data)
    return hashed.digest()


def as_rows(X: Any) -> Any:
    """Return a space as it is, a matrix in memory, or the partitions of a dask array or data frame."""
    # First of all, because a task of dask has every attribute one asks for, those of a space too.
    if is_dask(X):
        from cobras.spaces.dask.space import as_table

        return as_table(X)
    return X if isinstance(X, Space) else as_matrix(X)


def choose_space(X: Any, train_indices: Any, options: dict[str, Any]) -> tuple[Space, dict[str, Any]]:
    """Return the space for `as_rows(X)`, and its options."""
    if isinstance(X, Space):
        if train_indices is not None:
            raise InvalidDataError("A space knows which rows may be shown: give them where it is made.")
        return X, getattr(X, "parameters", {})
    # Imported here, because numba takes longer to import than all the rest.
    from cobras.spaces.euclidean import EuclideanSpace

    own = {name: options.get(name, default) for name, default in OPTIONS.items()}
    check_options(EuclideanSpace.__init__, own)
    if own["n_init"] > MOST_SEEDINGS:
        raise InvalidDataError(f"n_init must be at most {MOST_SEEDINGS:,}, not {own['n_init']!r}.")
    if isinstance(X, np.ndarray):
        return EuclideanSpace(X, as_train_mask(train_indices, len(X)), **own), own
    if train_indices is not None:
        raise InvalidDataError(
            "With train_indices a table must lie in memory: on a cluster every row may be shown. "
            "Leave them out, or compute() X first."
        )
    from cobras.spaces.dask.space import DaskSpace

    return DaskSpace(X, **own), own


def cut_rows(
    space: Space, s: SuperInstance, rows: Sequence[int]
) -> tuple[SuperInstance | None, SuperInstance]:
    """Return a super-instance without some of its rows, None if none is left, and these rows as another one.

    Where the space does not know the numbers of rows, both have the old centroid.
    """
    X, train = getattr(space, "X", None), getattr(space, "train", None)
    gone = np.array(sorted(rows), dtype=s.members.dtype)
    shown = gone if train is None else gone[train[gone]]
    centroid = s.centroid if X is None else X[gone].mean(axis=0, dtype=np.float64).astype(s.centroid.dtype)
    first = int((shown if len(shown) else gone)[0])
    # A node of its own below that of s, so that two clusterings can be compared by their nodes.
    path = (*s.path, Child(Split(0), first))
    piece = SuperInstance(gone, first, centroid, len(shown), s.seed, path)
    kept = np.setdiff1d(s.members, gone, assume_unique=True)
    if not len(kept):
        return None, piece
    # Cutting rows out does not change what is typical, unless the most typical row goes.
    representative = s.representative
    if representative in rows:
        best = [i for i in space.representatives(s, len(gone) + 1) if i not in rows]
        representative = best[0] if best else int(kept[0])
    centre = s.centroid if X is None else (s.centroid * len(s) - centroid * len(gone)) / len(kept)
    rest = SuperInstance(
        kept, representative, centre.astype(s.centroid.dtype), s.n_train - len(shown), s.seed, s.path
    )
    return rest, piece


def check_can_grow(space: Space) -> EuclideanSpace:
    """A space to which rows can be added; any other raises."""
    from cobras.spaces.euclidean import EuclideanSpace

    if not isinstance(space, EuclideanSpace):
        raise InvalidDataError(
            "Rows can be added to a table of numbers in memory only, not to series, to data on a cluster or to a "
            "space of your own. Begin another session with all of them."
        )
    return space


def check_new_rows(rows: FloatArray, X: FloatArray) -> None:
    """Raise if rows have another type than the table that they are added to."""
    if rows.dtype != X.dtype:
        raise InvalidDataError(
            f"The new rows are {rows.dtype}, but the session has {X.dtype}. Convert them by astype."
        )
