"""All that a list of must-links and cannot-links says: components, and which of them are apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cobras.core.constraints import Constraints
from cobras.core.exceptions import InvalidDataError
from cobras.core.types import Answer, IndexArray


@dataclass(frozen=True)
class Closure:
    """Must-link components and the cannot-links between them; a row without must-link is a component of its own.

    Attributes
    ----------
    component : array of shape (n,)
        The component of every row, 0, 1, ... in the order of their first rows.
    apart : array of shape (c, 2)
        Pairs of components, a < b, that a cannot-link holds apart; each once, in order.

    Examples
    --------
    >>> closed = close(4, must_link=[(1, 2)], cannot_link=[(2, 3)])
    >>> closed.cannot_link.tolist()
    [[1, 3], [2, 3]]
    """

    component: IndexArray
    apart: IndexArray

    @cached_property
    def members(self) -> list[IndexArray]:
        """The rows of each component, ascending."""
        order = np.argsort(self.component, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.component))[:-1])

    @property
    def n_components(self) -> int:
        """The number of components."""
        return int(self.component.max()) + 1

    @cached_property
    def must_link(self) -> IndexArray:
        """All pairs inside components, i < j, in order; quadratic in the size of a component."""
        large = [rows for rows in self.members if len(rows) > 1]
        pairs = [rows[np.stack(np.triu_indices(len(rows), 1), axis=1)] for rows in large]
        return _in_order(pairs)

    @cached_property
    def cannot_link(self) -> IndexArray:
        """All pairs of rows between components that are apart, i < j, in order."""
        members = self.members
        pairs = [np.array([(i, j) for i in members[a] for j in members[b]]) for a, b in self.apart]
        return _in_order(pairs)


def close(n: int, must_link: Any = None, cannot_link: Any = None) -> Closure:
    """The transitive closure of constraints on rows 0, ..., n - 1; contradicting ones raise and name the chain."""
    constraints = Constraints()
    for name, pairs, answer in (
        ("must_link", must_link, Answer.SAME),
        ("cannot_link", cannot_link, Answer.DIFFERENT),
    ):
        for i, j in _as_pairs(pairs, name, n).tolist():
            constraints.add(i, j, answer)
    roots = [constraints.component(i) for i in range(n)]
    number: dict[int, int] = {}
    component = np.array([number.setdefault(root, len(number)) for root in roots], dtype=np.int64)
    apart = {
        (number[root], number[other])
        for root in number
        for other in constraints.apart_from(root)
        if number[root] < number[other]
    }
    return Closure(component, np.array(sorted(apart), dtype=np.int64).reshape(-1, 2))


def _as_pairs(pairs: Any, name: str, n: int) -> IndexArray:
    array = np.asarray([] if pairs is None else pairs)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise InvalidDataError(f"{name} must hold pairs of row numbers, but its shape is {array.shape}.")
    outside = array[(array < 0) | (array >= n)]
    if outside.size:
        raise InvalidDataError(f"{name} names row {outside[0]}, but rows go from 0 to {n - 1}.")
    itself = array[array[:, 0] == array[:, 1]]
    if itself.size:
        raise InvalidDataError(f"{name} pairs row {itself[0, 0]} with itself. Leave such pairs out.")
    return array.astype(np.int64)


def _in_order(pairs: list[IndexArray]) -> IndexArray:
    if not pairs:
        return np.empty((0, 2), dtype=np.int64)
    together = np.sort(np.concatenate(pairs).astype(np.int64), axis=1)
    return together[np.lexsort((together[:, 1], together[:, 0]))]
