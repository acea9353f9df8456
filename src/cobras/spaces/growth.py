"""A table to which rows were added at its end: the old rows are split as before, and new ones follow.

A super-instance with new rows remembers what it was before them. While these are few, it is split as that was, and
each new row goes to the nearest part: what was computed before is not computed again. With more of them it is split
anew, among all of its rows, because the parts of a few rows are poor parts of many. What was answered about rows of
the old parts is kept in use by `represent`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from cobras.core.partition import Child, NodePath, NodeRandom, Split, SuperInstance, is_member
from cobras.core.threads import one_thread
from cobras.core.types import FloatArray, IndexArray
from cobras.spaces.base import Parts, digest, index_type, squared_distances
from cobras.spaces.euclidean import EuclideanSpace, RowSpace

AT_ONCE = 2**17  # distances that are held at a time, of eight bytes each: they stay near the processor
FEW = 2**16  # members up to which they are kept once they were needed
FOLLOW = 1.1  # times as many members as decided on the parts, until they are split anew
GROWTH = Split(0, draw=1)  # stands in a path for what is no split: rows were added


class JoinedMembers:
    """The members of a super-instance and new rows; see `cobras.core.partition.Members`."""

    __slots__ = ("_before", "_few", "_n", "_new", "first")

    def __init__(self, before: SuperInstance, new: IndexArray) -> None:
        self.first = before.first
        self._before, self._new = before, new
        self._n = len(before) + len(new)
        self._few: IndexArray | None = None

    def __len__(self) -> int:
        return self._n

    def indices(self) -> IndexArray:
        """Return all of them, ascending: new rows have higher numbers."""
        if self._few is not None:
            return self._few
        found = np.concatenate([self._before.members, self._new])
        if self._n <= FEW:
            self._few = found
        return found


@dataclass(frozen=True, slots=True, eq=False)
class GrownInstance(SuperInstance):
    """A super-instance with new rows.

    Attributes
    ----------
    before : SuperInstance or None
        What it was without them.
    new : array of int
        The new rows, ascending; there may be none.
    n_old : int
        How many rows there were in all before them: as many old rows has the space that made it.
    n_split : int
        How many of its members decide on its parts, unless it has grown too much since.
    """

    before: SuperInstance | None = None
    new: IndexArray = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    n_old: int = 0
    n_split: int = 0

    @property
    def follows(self) -> bool:
        """Whether it is split as before, and new rows follow."""
        return len(self) <= FOLLOW * self.n_split

    def random(self, split: Split | None = None) -> NodeRandom:
        """Random numbers: while it is split as before, the same as then, so that the same half is chosen again."""
        if self.before is not None and self.follows:
            return self.before.random(split)
        return SuperInstance.random(self, split)


class GrownSpace(EuclideanSpace):
    """The rows of a space, and more rows after them, all of which may be shown.

    Parameters
    ----------
    old : EuclideanSpace
        The space before.
    rows : array of shape (n_new, d)
        The new rows.
    X : array of shape (n, d), optional
        All rows, first those of the old space; put together when they are needed if left out.

    Examples
    --------
    >>> old = EuclideanSpace(np.array([[0.0], [1.0], [10.0], [11.0]]))
    >>> space = GrownSpace(old, np.array([[9.0]]))
    >>> sorted(part.members.tolist() for part in space.split(space.root(seed=0), 2))
    [[0, 1], [2, 3, 4]]
    """

    def __init__(self, old: EuclideanSpace, rows: FloatArray, X: FloatArray | None = None) -> None:
        train = None if old.train is None else np.append(old.train, np.ones(len(rows), dtype=bool))
        shape = old.n + len(rows), rows.shape[1]
        RowSpace.__init__(self, shape, train, old.n_init, old.full_restarts, old.medoid)
        self._at_once, self._block = old._at_once, old._block
        self.old, self.rows, self._all = old, rows, X
        self.memo = {}
        self.new_rows: IndexArray = np.arange(old.n, self.n, dtype=index_type(self.n))
        if X is not None:
            self.X = X

    @property
    def X(self) -> FloatArray:  # noqa: N802  (as in every space)
        """All rows: copying the old ones takes longer than the rest of an append, and few questions need them."""
        if self._all is None:
            self.X = np.concatenate([self.old.X, self.rows])
        assert self._all is not None
        return self._all

    @X.setter
    def X(self, X: FloatArray) -> None:  # noqa: N802
        # All spaces look at the same rows, so that they are in memory only once.
        self._all, self.rows, self.old.X = X, X[self.old.n :], X[: self.old.n]

    def grow(self, parts: Sequence[SuperInstance], rows: IndexArray, at: IndexArray) -> Parts:
        """Return super-instances of the old space with the new rows that join them; the same ones if none do.

        `rows` are ascending, and `at` says which super-instance each of them joins.
        """
        # After other answers other rows may join the same super-instance, and must not find the parts of these.
        joined = child_of(rows, at)
        grown = self._grow(parts, rows, at, lambda x: (*parts[x].path, joined))
        return tuple(new if len(new.new) else s for s, new in zip(parts, grown, strict=True))

    def group(self, rows: IndexArray, seed: int) -> SuperInstance:
        """Return a super-instance of new rows alone."""
        shown = self._shown if self.train is None else self._shown[rows]
        labels = np.zeros(len(rows), dtype=np.int32)
        (found,) = self._parts(self.rows[rows - self.old.n], rows, labels, shown, seed)
        return replace(found, path=(Child(GROWTH, self.old.n), child_of(rows)))

    def represent(self, parts: Parts, rows: Sequence[int]) -> Parts:
        """Return parts, each represented by the nearest to its centroid of some rows, if it holds any of them."""
        known = np.array([row for row in rows if self.train is None or self.train[row]], dtype=np.intp)
        is_new = known >= self.old.n
        # Not from all rows, which need not be put together for this.
        found = np.empty((len(known), self.rows.shape[1]), self.rows.dtype)
        found[is_new], found[~is_new] = self.rows[known[is_new] - self.old.n], self.old.X[known[~is_new]]
        represented = []
        for s in parts:
            mine = np.flatnonzero(is_member(s.members, known))
            if len(mine):
                nearest = int(known[mine[squared_distances(found[mine], s.centroid).argmin()]])
                key = ("represent", s.seed, s.path, nearest)
                # The same object each time, so that a replay finds what was computed for it.
                s = self.memo.setdefault(key, replace(s, representative=nearest))
            represented.append(s)
        return tuple(represented)

    def nearest(self, rows: IndexArray, parts: Sequence[SuperInstance]) -> tuple[IndexArray, FloatArray]:
        """Return which of some super-instances has the nearest centroid, for new rows, and how far it is."""
        centroids = np.array([s.centroid for s in parts], dtype=np.float64)
        # By products, which are several times as fast as differences. Relative to one of the centroids, so that no
        # digits are lost to a common offset.
        relative = centroids - centroids[0]
        half = np.einsum("ij,ij->i", relative, relative) / 2
        at, distance = np.empty(len(rows), dtype=np.intp), np.empty(len(rows))
        size = max(1, AT_ONCE // len(parts))
        with one_thread():  # a second one costs up to five times as much where a core is busy
            for start in range(0, len(rows), size):
                here = slice(start, start + size)
                found = self.rows[rows[here] - self.old.n].astype(np.float64)
                product = (found - centroids[0]) @ relative.T
                at[here] = np.subtract(half, product, out=product).argmin(axis=1)
                distance[here] = np.linalg.norm(found - centroids[at[here]], axis=1)
        return at, distance

    def _grow(
        self,
        parts: Sequence[SuperInstance],
        rows: IndexArray,
        at: IndexArray,
        path_of: Callable[[int], NodePath],
    ) -> tuple[GrownInstance, ...]:
        # All at once: a call of numpy for each of thousands would take longer than all the rest.
        order = np.argsort(at, kind="stable")
        rows, bounds = rows[order], np.searchsorted(at[order], np.arange(len(parts) + 1))
        sizes = np.array([len(s) for s in parts])
        total = np.array([s.centroid for s in parts], dtype=np.float64) * sizes[:, None]
        joined = np.flatnonzero(np.diff(bounds))
        if len(joined):
            total[joined] += np.add.reduceat(
                self.rows[rows - self.old.n], bounds[joined], axis=0, dtype=np.float64
            )
        centroids = total / (sizes + np.diff(bounds))[:, None]
        joining = [rows[start:stop] for start, stop in pairwise(bounds.tolist())]
        return tuple(
            self._grow_one(s, new, centroids[x], path_of(x))
            for x, (s, new) in enumerate(zip(parts, joining, strict=True))
        )

    def _grow_one(
        self, s: SuperInstance, rows: IndexArray, centroid: FloatArray, path: NodePath
    ) -> GrownInstance:
        n_split = s.n_split if isinstance(s, GrownInstance) and s.follows else len(s)
        shown, centroid = s.n_train + len(rows), centroid.astype(s.centroid.dtype)
        holding = JoinedMembers(s, rows)
        given = holding, s.representative, centroid, shown, s.seed, path, s, rows, self.old.n, n_split
        return GrownInstance(*given)

    def _make_root(self, seed: int) -> SuperInstance:
        everywhere = np.zeros(len(self.new_rows), dtype=np.intp)
        return self.grow([self.old.root(seed)], self.new_rows, everywhere)[0]

    def _make_parts(self, s: SuperInstance, split: Split) -> Parts:
        if isinstance(s, GrownInstance) and s.before is not None and s.n_old == self.old.n:
            if s.follows:
                parts = self.old.split(s.before, *split)
                if len(parts) > 1:
                    at = self.nearest(s.new, parts)[0]
                    return self._grow(parts, s.new, at, lambda g: (*s.path, Child(split, g)))
        elif s.members[-1] < self.old.n:
            return self.old.split(s, *split)
        return super()._make_parts(s, split)


def child_of(rows: IndexArray, at: IndexArray | None = None) -> Child:
    """Return the step in a path to what these rows joined; `at` says what each of them did."""
    key = digest(rows) if at is None else digest(rows, at)
    return Child(GROWTH, int.from_bytes(key[:8], "big"))
