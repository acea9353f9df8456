"""The entries of a history: what a person said or did about the data, read from the events of the journal.

A file may be forged, so everything is checked here: what cannot be read raises `ValueError`, `TypeError` or
`KeyError`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cobras.core.board import Board, pairs_of_groups
from cobras.core.notebook import quantity
from cobras.core.types import Action, Answer, Event, Pair, Said

YEAR_9999 = 253_370_764_800.0  # seconds from 1970 to its beginning
COUNTED = ("answer", "board")  # the kinds that are answers to a question


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that is in force: an answer, a board, constraints, a mark, a move, a merge, a split or an append.

    Attributes
    ----------
    kind : {"answer", "board", "constraint", "known", "mark", "move", "merge", "split", "append"}
    pairs : tuple of (Pair, Answer)
        What it says about which pairs, unless it was revised; see `said`.
    answer : Answer or None
        That to the pair of an answer or a constraint. UNSURE where something else was revised to that.
    rows : tuple of int
        The rows that were moved, or one row of the cluster that is to be split.
    groups : tuple of tuples of int
        How a board was sorted, or which rows were known to belong together.
    against : tuple of (Pair, Answer)
        The answers that a move or a merge takes back.
    marked, pure, complete
        Which super-instances a mark or a split is about, by representative and size, and what a mark says of them.
    n_before, n_rows : int
        How many rows there were before an append, and how many were added.
    quick_fingerprint, fingerprint : str
        Those of the rows that were added.
    follows_moves : bool
        Whether new rows are shown beside the moved ones that they are nearest to. Sessions of earlier versions
        stay as they were.
    at : float
        When it was given, in seconds since 1970.
    """

    kind: str
    pairs: Said = ()
    answer: Answer | None = None
    rows: tuple[int, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()
    against: Said = ()
    marked: tuple[tuple[int, int], ...] = ()
    pure: bool = False
    complete: bool = False
    n_before: int = 0
    n_rows: int = 0
    quick_fingerprint: str = ""
    fingerprint: str = ""
    follows_moves: bool = False
    at: float = field(default=0.0, compare=False)

    @staticmethod
    def of(event: Event) -> Entry:
        """The entry that an event makes."""
        if not 0 <= event.at < YEAR_9999:
            raise ValueError("a time that no calendar has")
        return KINDS[event.kind](event)

    @staticmethod
    def of_answer(pair: Pair, answer: Answer) -> Entry:
        """The entry that an answer to a question makes."""
        return Entry("answer", ((pair, answer),), answer)

    @property
    def pair(self) -> Pair | None:
        """The pair of an answer or a constraint."""
        return self.pairs[0][0] if self.kind in ("answer", "constraint") else None

    @property
    def is_recorded(self) -> bool:
        """Whether it says something about pairs: then it is part of the history that a person sees."""
        return self.kind not in ("mark", "split", "append")

    @property
    def said(self) -> Said:
        """What it says about which pairs."""
        if self.pair is not None and self.answer is not None:
            return ((self.pair, self.answer),)
        return self.pairs if self.answer is None else ()

    def all_rows(self) -> list[int]:
        """Every row that it names."""
        said = (*self.pairs, *self.against)
        return [*self.rows, *(i for pair, _ in said for i in pair), *(i for i, _ in self.marked)]

    def action(self) -> Action:
        """What a person sees of it when it is undone."""
        text = self.answer.name.lower() if self.answer is not None else _TEXTS[self.kind](self)
        return Action(self.kind, text, self.pair, self.answer, self.at)


def as_row(value: object) -> int:
    """A row number, or a place or size from 0 on, in what may be a forged file."""
    if type(value) is not int or value < 0:
        raise ValueError("not a row number")
    return value


def as_name(value: object) -> str:
    """The name of a cluster, in what may be a forged file."""
    if not isinstance(value, str):
        raise TypeError("a name is a text")
    return value


def _answer(event: Event) -> Entry:
    body = event.body
    answer = Answer(body["answer"])
    return Entry(event.kind, ((Pair(as_row(body["i"]), as_row(body["j"])), answer),), answer, at=event.at)


def _mark(event: Event) -> Entry:
    body = event.body
    pure, complete = bool(body["pure"]), bool(body["complete"])
    return Entry("mark", marked=_marked(body), pure=pure, complete=complete, at=event.at)


def _board(event: Event) -> Entry:
    cards, piles = (tuple(map(as_row, event.body[key])) for key in ("cards", "piles"))
    groups = tuple(tuple(map(as_row, group)) for group in event.body["groups"])
    board = Board(cards, piles)
    return Entry("board", board.pairs(groups), groups=groups, rows=cards, at=event.at)


def _known(event: Event) -> Entry:
    groups = tuple(tuple(map(as_row, group)) for group in event.body["groups"])
    rows = [row for group in groups for row in group]
    if not all(groups) or len(set(rows)) < len(rows):
        raise ValueError("a row in two groups")
    return Entry("known", (*pairs_of_groups(groups), *_said(event.body)), groups=groups, at=event.at)


def _move(event: Event) -> Entry:
    rows = tuple(map(as_row, event.body["rows"]))
    return Entry("move", _said(event.body), rows=rows, against=_against(event.body), at=event.at)


def _merge(event: Event) -> Entry:
    return Entry("merge", _said(event.body), against=_against(event.body), at=event.at)


def _split(event: Event) -> Entry:
    return Entry("split", rows=(as_row(event.body["row"]),), marked=_marked(event.body), at=event.at)


def _append(event: Event) -> Entry:
    n_before, n_rows = as_row(event.body["n_before"]), as_row(event.body["n_rows"])
    prints = event.body["quick_fingerprint"], event.body["fingerprint"]
    if not (n_before and n_rows and all(isinstance(text, str) for text in prints)):
        raise ValueError("no rows, or no fingerprint")
    return Entry(
        "append",
        n_before=n_before,
        n_rows=n_rows,
        quick_fingerprint=prints[0],
        fingerprint=prints[1],
        follows_moves=bool(event.body.get("follows_moves", False)),
        at=event.at,
    )


def _said(body: dict[str, Any]) -> Said:
    said = tuple((Pair(as_row(i), as_row(j)), Answer(answer)) for i, j, answer in body["said"])
    if any(i == j for (i, j), _ in said):
        raise ValueError("a row and itself")
    return said


def _against(body: dict[str, Any]) -> Said:
    return _said({"said": body.get("against", ())})


def _marked(body: dict[str, Any]) -> tuple[tuple[int, int], ...]:
    return tuple((as_row(i), as_row(size)) for i, size in body["super_instances"])


KINDS: dict[str, Callable[[Event], Entry]] = {
    "answer": _answer,
    "constraint": _answer,
    "mark": _mark,
    "board": _board,
    "known": _known,
    "move": _move,
    "merge": _merge,
    "split": _split,
    "append": _append,
}
_AGAINST = ", which took back answers"
_TEXTS: dict[str, Callable[[Entry], str]] = {
    "mark": lambda entry: "a mark",
    "board": lambda entry: f"a board of {quantity(len(entry.rows), 'card')}",
    "known": lambda entry: f"what was known of {quantity(len({*entry.all_rows()}), 'item')}",
    "move": lambda entry: f"the move of {quantity(len(entry.rows), 'item')}{_AGAINST * bool(entry.against)}",
    "merge": lambda entry: f"a merge{_AGAINST * bool(entry.against)}",
    "split": lambda entry: "a split",
    "append": lambda entry: f"the append of {quantity(entry.n_rows, 'row')}",
}
