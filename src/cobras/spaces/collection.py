"""A collection that grows: the space of its first rows, and the spaces after rows were added."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray
from cobras.spaces.base import Space

if TYPE_CHECKING:
    # To import them takes longer than all the rest; see `cobras.spaces.base.choose_space`.
    from cobras.spaces.euclidean import EuclideanSpace
    from cobras.spaces.grown import GrownSpace


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
        from cobras.spaces.grown import GrownSpace

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
