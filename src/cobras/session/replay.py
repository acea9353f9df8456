"""What a journal means: its events, folded into the entries that are in force, and a method that replays these.

Undo, redo and revise are events like any other; nothing is ever erased. The fold is pure, so two journals with the
same events are in the same state. A replay sends each answer to the method when its pair is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from cobras.core.constraints import Constraints
from cobras.core.exceptions import InconsistentAnswersError, InvalidDataError, SessionFileError
from cobras.core.partition import Partition
from cobras.core.types import Answer, Event, Pair, Record
from cobras.methods.protocol import Reconsider, Step, Steps

YEAR_9999 = 253_370_764_800.0  # seconds from 1970 to its beginning


def _row(value: object) -> int:
    """A row number, or a place or size from 0 on, in what may be a forged file."""
    if type(value) is not int or value < 0:
        raise ValueError("not a row number")
    return value


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
        if not 0 <= event.at < YEAR_9999:
            raise ValueError("a time that no calendar has")
        if event.kind == "mark":
            marked = tuple((_row(i), _row(size)) for i, size in body["super_instances"])
            return Entry("mark", None, None, marked, bool(body["pure"]), bool(body["complete"]), event.at)
        return Entry(event.kind, Pair(_row(body["i"]), _row(body["j"])), Answer(body["answer"]), at=event.at)


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
        entries = [*self.entries, *(entry for entry, _ in self.undone)]
        rows = [*self.names, *(i for e in entries for i in (e.pair or [i for i, _ in e.marked]))]
        if rows and max(rows) >= n:
            raise InvalidDataError(f"The session names row {max(rows)}, but the data has {n} rows.")

    @staticmethod
    def of(events: Iterable[Event]) -> History:
        """The history that these events make; one that cobras cannot have written raises."""
        history = History()
        for number, event in enumerate(events, 1):
            try:
                history.apply(event)
            except (KeyError, IndexError, TypeError, ValueError) as error:
                raise SessionFileError(
                    f"The session file is damaged: its event {number} ({event.kind!r}) makes no sense. "
                    "Use a copy of the file."
                ) from error
        return history

    def after(self, event: Event) -> History:
        """The history with one more event; this one stays as it is."""
        history = History(
            list(self.entries), self.boundaries, list(self.undone), dict(self.names), self.n_answers
        )
        history.apply(event)
        return history

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
                self.boundaries = sorted({min(boundary, len(self.entries)) for boundary in boundaries})
            case "redo":
                entry, self.boundaries = self.undone.pop()
                self._push(entry)
            case "revise":
                at = _row(event.body["at"])
                if self.entries[at].answer is None:
                    raise ValueError("a mark has no answer")
                self.entries[at] = replace(self.entries[at], answer=Answer(event.body["answer"]))
                self.undone.clear()
                self.boundaries = sorted({*self.boundaries, len(self.entries)})
            case "rebase":
                self.boundaries = sorted({*self.boundaries, len(self.entries)})
            case "name":
                representative, text = _row(event.body["representative"]), event.body["text"]
                for row in (representative, *event.body.get("replaces", ())):
                    self.names.pop(_row(row), None)
                if not isinstance(text, str):
                    raise TypeError("a name is a text")
                if text:
                    self.names[representative] = text

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


class Replay:
    """The running method, the constraints it works on and the partition after every answer.

    Attributes
    ----------
    step : Step
        The open question and the current partition.
    partitions : list of Partition
        One per answer, and the one before the first.
    unasked : set of int
        Places in the history of answers whose question did not come up again; they were added as constraints.
    contradicted : dict of int to InconsistentAnswersError
        Places of entries that contradict earlier ones, hence are not in force, and what they contradict.
    """

    def __init__(self, start: Callable[[Constraints], Steps], history: History) -> None:
        self.constraints = Constraints()
        self.unasked: set[int] = set()
        self.contradicted: dict[int, InconsistentAnswersError] = {}
        self._answers: dict[Pair, Answer] = {}
        self._place = 0
        self._start = start
        self._begin()
        self.partitions: list[Partition] = [self.step.partition]
        for section in history.sections():
            self.asked_otherwise = not self.feed(section)

    def feed(self, entries: Sequence[Entry]) -> bool:
        """Feed entries in order; False when an unexpected question made the rest constraints at once."""
        for at, entry in enumerate(entries):
            if entry.kind != "answer":
                self._add(entry)
                self._reconsider()
            elif self._is_answer_to_open_question(entry):
                assert entry.pair is not None
                assert entry.answer is not None
                self._answers[entry.pair.ordered] = entry.answer
                self._take(self._steps.send, entry.answer)
                self.partitions.append(self.step.partition)
                self._place += 1
            else:
                # No answer is lost: the rest is added without asking, and the method looks at all of it once.
                for rest in entries[at:]:
                    if rest.kind == "answer":
                        self.unasked.add(self._place)
                        self.partitions.append(self.step.partition)
                    self._add(rest)
                self._reconsider()
                return False
        return True

    def without_effect(self, entries: Sequence[Entry]) -> set[int]:
        """Places of the entries that are not in force: contradicted when they came, or doubted by the method."""
        doubted = self.constraints.doubted
        return self.contradicted.keys() | {
            place
            for place, entry in enumerate(entries)
            if entry.pair is not None and doubted.get(entry.pair.ordered) is entry.answer
        }

    def _begin(self) -> None:
        steps = self._start(self.constraints)
        if not isinstance(steps, Generator):
            raise InvalidDataError(
                f"A method is a generator function that yields Step(pair, partition), but it returned {steps!r}."
            )
        self._steps: Steps = steps
        self._take(next, steps)

    def _take(self, go_on: Callable[..., object], given: object) -> None:
        """Go on to the next step of the method, which may be a user's own."""
        try:
            found = go_on(given)
        except StopIteration:
            raise InvalidDataError(
                "The method has ended. When nothing is left to ask, it must go on to yield Step(None, partition)."
            ) from None
        if not isinstance(found, Step):
            raise InvalidDataError(f"A method yields Step(pair, partition), but it yielded {found!r}.")
        self.step = found

    def _is_answer_to_open_question(self, entry: Entry) -> bool:
        if self.step.pair is None or entry.pair is None or entry.pair.ordered != self.step.pair.ordered:
            return False
        # A method asks what is implied only without transitive reuse.
        implied = self.constraints.relation(*entry.pair)
        return implied is None or entry.answer in (implied, Answer.UNSURE)

    def _add(self, entry: Entry) -> None:
        place, self._place = self._place, self._place + 1
        if entry.pair is not None and entry.answer is not None:
            try:
                self.constraints.add(*entry.pair, entry.answer)
                self.constraints.volunteered.add(entry.pair.ordered)
            except InconsistentAnswersError as error:
                self.contradicted[place] = error
            return
        # A new mark replaces the old one; one that says neither pure nor complete only removes it.
        for mark in entry.marked:
            self.constraints.pure.discard(mark)
            self.constraints.complete.pop(mark, None)
        if entry.pure:
            self.constraints.pure.update(entry.marked)
        if entry.complete:
            self.constraints.complete.update(dict.fromkeys(entry.marked, place))

    def _reconsider(self) -> None:
        """Tell the method that the constraints or marks have changed; restart one that does not handle this."""
        try:
            self._take(self._steps.throw, Reconsider())
        except Reconsider:
            self._restart()
        self.partitions[-1] = self.step.partition

    def _restart(self) -> None:
        """Begin anew on the constraints as they are, and answer from them what has been answered before."""
        self._begin()
        seen: set[Pair] = set()  # a method that asks the same pair again wants a person to answer it
        while (pair := self.step.pair) is not None and pair.ordered not in seen:
            known = self.constraints.relation(*pair)
            if known is None:  # unsure, or the method adds no answers to the constraints
                known = self._answers.get(pair.ordered)
            if known is None:
                return
            seen.add(pair.ordered)
            self._take(self._steps.send, known)
