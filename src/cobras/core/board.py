"""A board: some rows to be sorted at once, which answers every pair of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product

from cobras.core.checks import as_whole_number
from cobras.core.exceptions import InvalidDataError
from cobras.core.types import Answer, Pair, Said

MOST_PILES = 8  # more are not looked at


def pairs_of_groups(groups: Sequence[Sequence[int]]) -> Said:
    """As few pairs as say that rows are the same within groups and different between them.

    Examples
    --------
    >>> [(*pair, answer.name) for pair, answer in pairs_of_groups([[4, 5, 6], [9]])]
    [(4, 5, 'SAME'), (5, 6, 'SAME'), (4, 9, 'DIFFERENT')]
    """
    same = [(Pair(i, j), Answer.SAME) for group in groups for i, j in pairwise(group)]
    apart = [(Pair(a[0], b[0]), Answer.DIFFERENT) for a, b in combinations(groups, 2)]
    return (*same, *apart)


@dataclass(frozen=True, slots=True)
class Board:
    """Rows to be sorted: cards that are to be placed, and piles that are known, each shown by one row.

    A pair is a board of one card and one pile.

    Attributes
    ----------
    cards : tuple of int
        The rows to be placed.
    piles : tuple of int
        One row for each cluster that is known and may be theirs, the likeliest first.

    Examples
    --------
    >>> board = Board((7, 8), (3,))
    >>> for pair, answer in board.pairs([[7, 3], [8]]):
    ...     print(*pair, answer.name)
    7 3 SAME
    7 8 DIFFERENT
    8 3 DIFFERENT
    """

    cards: tuple[int, ...]
    piles: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("cards", "piles"):
            object.__setattr__(self, name, tuple(map(int, getattr(self, name))))
        rows = (*self.cards, *self.piles)
        if len({*rows}) < len(rows):
            twice = next(row for row in rows if rows.count(row) > 1)
            raise InvalidDataError(f"Row {twice} is twice on the board. Put it there once.")

    def check(self, groups: Iterable[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
        """The groups as tuples; a row that is not on the board, or stands in two places, raises."""
        try:
            found = tuple(tuple(as_whole_number(row, "A row") for row in group) for group in groups)
        except (TypeError, ValueError):
            raise InvalidDataError(f"A board is sorted into lists of rows, not into {groups!r}.") from None
        rows = [row for group in found for row in group]
        here = {*self.cards, *self.piles}
        if strange := [row for row in rows if row not in here]:
            raise InvalidDataError(f"Row {strange[0]} is not on the board: {sorted(here)}.")
        if twice := [row for row in rows if rows.count(row) > 1]:
            raise InvalidDataError(f"Row {twice[0]} is in two groups, or twice in one. Put it in one place.")
        return tuple(group for group in found if group)

    def pairs(self, groups: Iterable[Sequence[int]]) -> Said:
        """What a grouping says: SAME first, then DIFFERENT, then UNSURE.

        It says something about every pair of cards, and about every card with every pile. A card that is in no
        group is unsure. Of two piles it says only that they are the same, where they are in one group.
        """
        home = {row: number for number, group in enumerate(self.check(groups)) for row in group}
        # A pile that nothing was put on is a group of its own.
        for row in self.piles:
            home.setdefault(row, -1 - row)
        said: dict[Answer, list[Pair]] = {Answer.SAME: [], Answer.DIFFERENT: [], Answer.UNSURE: []}
        for i, j in [*combinations(self.cards, 2), *product(self.cards, self.piles)]:
            unsure = i not in home or j not in home
            answer = Answer.UNSURE if unsure else Answer(int(home[i] == home[j]))
            said[answer].append(Pair(i, j))
        said[Answer.SAME] += [Pair(i, j) for i, j in combinations(self.piles, 2) if home[i] == home[j]]
        return tuple((pair, answer) for answer, pairs in said.items() for pair in pairs)
