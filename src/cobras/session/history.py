"""What a journal means: its events, folded into the entries that are in force.

Undo, redo and revise are events like any other; nothing is ever erased. The fold is pure, so two journals with the
same events are in the same state.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import Answer, Event, Pair, Record


@dataclass(frozen=True, slots=True)
class Entry:
    """One answer, volunteered constraint or mark that is in force.

    Attributes
    ----------
    kind : {"answer", "constraint", "mark"}
    pair, answer
        What was said about which pair; None for a mark.
    marked, pure, complete
        Which super-instances a mark is about, by representative and size, and what it says of them.
    at : float
        When it was given, in seconds since 1970.
    """

    kind: str
    pair: Pair | None = None
    answer: Answer | None = None
    marked: tuple[tuple[int, int], ...] = ()
    pure: bool = False
    complete: bool = False
    at: float = field(default=0.0, compare=False)

    @staticmethod
    def of(event: Event) -> Entry:
        """The entry that an answer, constraint or mark event makes."""
        body = event.body
        if event.kind == "mark":
            marked = tuple((i, size) for i, size in body["super_instances"])
            return Entry("mark", None, None, marked, body["pure"], body["complete"], event.at)
        return Entry(event.kind, Pair(body["i"], body["j"]), Answer(body["answer"]), at=event.at)


class Revision(NamedTuple):
    """What changing an old answer did to later ones.

    Attributes
    ----------
    no_longer_apply : tuple of Record
        Answers that contradict the revised one. They are kept in the history, but have no effect.
    no_longer_asked : tuple of Record
        Answers to questions that do not come up any more. They stay in force as constraints.
    """

    no_longer_apply: tuple[Record, ...]
    no_longer_asked: tuple[Record, ...]


@dataclass(slots=True)
class History:
    """The entries in force, what redo would bring back, and the names of clusters.

    `boundaries` are the places after which answers were given to a method that had got everything before as
    constraints: after an old answer was revised, or after a newer version asked other questions. A replay that
    meets an unexpected question adds the rest up to the next boundary at once.

    Examples
    --------
    >>> history = History()
    >>> history.apply(Event("answer", {"i": 0, "j": 1, "answer": 1}))
    >>> history.apply(Event("undo"))
    >>> len(history.entries), len(history.undone)
    (0, 1)
    """

    entries: list[Entry] = field(default_factory=list)
    boundaries: list[int] = field(default_factory=list)
    undone: list[tuple[Entry, list[int]]] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    n_answers: int = 0

    def check_rows(self, n: int) -> None:
        """Raise if an entry names a row that a table of n rows does not have."""
        rows = [i for e in self.entries for i in (e.pair or [i for i, _ in e.marked])]
        if rows and not 0 <= min(rows) <= max(rows) < n:
            raise InvalidDataError(f"The session names row {max(rows)}, but the data has {n} rows.")

    def apply(self, event: Event) -> None:
        """Apply one event; kinds that a later version may add change nothing."""
        match event.kind:
            case "answer" | "constraint" | "mark":
                self._push(Entry.of(event))
                self.undone.clear()
            case "undo":
                # The boundaries are stored with the entry: redo brings them back as they were.
                entry, boundaries = self.entries.pop(), self.boundaries
                self.n_answers -= entry.kind == "answer"
                self.undone.append((entry, boundaries))
                self.boundaries = [min(boundary, len(self.entries)) for boundary in boundaries]
            case "redo":
                entry, self.boundaries = self.undone.pop()
                self._push(entry)
            case "revise":
                at = event.body["at"]
                self.entries[at] = replace(self.entries[at], answer=Answer(event.body["answer"]))
                self.undone.clear()
                self.boundaries = [*self.boundaries, len(self.entries)]
            case "rebase":
                self.boundaries = [*self.boundaries, len(self.entries)]
            case "name":
                self.names.pop(event.body["representative"], None)
                if event.body["text"]:
                    self.names[event.body["representative"]] = event.body["text"]

    def _push(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.n_answers += entry.kind == "answer"

    def records(self, void: Container[int]) -> tuple[Record, ...]:
        """The answers and constraints as a person sees them; `void` holds the places of those without effect."""
        found: list[Record] = []
        for place, e in enumerate(self.entries):
            if e.pair is not None and e.answer is not None:
                found.append(Record(len(found), e.kind, e.pair, e.answer, e.at, place not in void))
        return tuple(found)

    def sections(self) -> Iterator[list[Entry]]:
        """The entries from each boundary to the next."""
        bounds = [0, *self.boundaries, len(self.entries)]
        for start, stop in pairwise(bounds):
            yield self.entries[start:stop]
