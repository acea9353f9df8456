"""What a journal means: its events, folded into the entries that are in force and the actions that undo takes back.

Undo, redo and revise are events like any other; nothing is ever erased. The fold is pure, so two journals with the
same events are in the same state.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from cobras.core.exceptions import InvalidDataError, SessionFileError
from cobras.core.ids import KeptIds
from cobras.core.types import Action, Answer, Event, Pair, Record
from cobras.session.entries import COUNTED, KINDS, Entry, as_name, as_row


@dataclass(frozen=True, slots=True)
class Change:
    """What one action changed, so that it can be taken back.

    Attributes
    ----------
    action : Action
        What a person sees of it.
    entry : Entry or None
        What it added to the entries, or what it put in the place of an older one.
    place : int or None
        Where a revision put its entry; None for an entry that was added.
    before : Entry or None
        What stood there.
    boundaries : list of int, or None
        Those before a revision.
    names : dict, or None
        All names before it; None if it changed none.
    """

    action: Action
    entry: Entry | None = None
    place: int | None = None
    before: Entry | None = None
    boundaries: list[int] | None = None
    names: dict[int, str] | None = None


@dataclass(frozen=True, slots=True)
class RedoStep:
    """What redo would bring back: changes, and the boundaries and names that there were after them."""

    changes: tuple[Change, ...]
    boundaries: list[int]
    names: dict[int, str] | None

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries that would come back."""
        return tuple(change.entry for change in self.changes if change.entry is not None)


@dataclass(slots=True)
class History:
    """The entries in force, what a person did and may undo, what redo would bring back, and the names of clusters.

    `boundaries` are the places after which answers were given to a method that had got everything before as
    constraints: after an old answer was revised, or after a newer version asked other questions. A replay that
    meets an unexpected question adds the rest up to the next boundary at once.

    Examples
    --------
    >>> history = History()
    >>> history.apply(Event("answer", {"i": 0, "j": 1, "answer": 1}))
    >>> history.apply(Event("name", {"representative": 0, "text": "bikes"}))
    >>> history.apply(Event("undo", {"action": "name"}))
    >>> len(history.entries), history.names, [done.action.text for done in history.done]
    (1, {}, ['same'])
    """

    entries: list[Entry] = field(default_factory=list)
    boundaries: list[int] = field(default_factory=list)
    done: list[Change] = field(default_factory=list)
    undone: list[RedoStep] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    n_answers: int = 0
    kept_ids: KeptIds | None = None

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
            list(self.entries),
            self.boundaries,
            list(self.done),
            list(self.undone),
            self.names,
            self.n_answers,
            self.kept_ids,
        )
        history.apply(event)
        return history

    @property
    def appends(self) -> tuple[Entry, ...]:
        """The appends in force, in order."""
        return tuple(entry for entry in self.entries if entry.kind == "append")

    @property
    def undone_appends(self) -> tuple[Entry, ...]:
        """The appends that redo would bring back, the next one first."""
        entries = (entry for item in reversed(self.undone) for entry in item.entries)
        return tuple(entry for entry in entries if entry.kind == "append")

    def check_rows(self, n: int) -> None:
        """Raise if an entry names a row that a table of n rows does not have."""
        entries = [*self.entries, *(entry for item in self.undone for entry in item.entries)]
        rows = [*self.names, *(row for item in self.undone for row in item.names or ())]
        for entry in entries:
            rows += entry.all_rows()
        if self.kept_ids is not None:
            rows += [row for _, parts in self.kept_ids.clusters for row, _ in parts]
        if rows and max(rows) >= n:
            raise InvalidDataError(f"The session names row {max(rows)}, but the data has {n} rows.")

    def apply(self, event: Event) -> None:
        """Apply one event; kinds that a later version may add change nothing."""
        body = event.body
        match event.kind:
            case "undo" if "action" in body:
                if self.done[-1].action.kind != body["action"]:
                    raise ValueError("another action was the last one")
                self._take_back(len(self.done) - 1)
            case "undo":
                # Written by the first version: it took back the last entry, and left later names and revisions.
                added = [at for at, done in enumerate(self.done) if done.entry and done.place is None]
                self._take_back(added[-1])
            case "redo":
                self._bring_back(self.undone.pop())
            case "rebase":
                self._set_boundary()
            case "revise":
                self._revise(as_row(body["at"]), Answer(body["answer"]), event.at)
            case "name":
                self._name(event)
            case "ids":
                self._keep_ids(body["clusters"])
            case kind if kind in KINDS:
                entry = Entry.of(event)
                before = self.appends[-1:] if entry.kind == "append" else ()
                if before and entry.n_before != before[0].n_before + before[0].n_rows:
                    raise ValueError("rows are missing")
                # A name stays with its cluster when the row that carries it is moved.
                new = {as_row(row): as_row(other) for row, other in body.get("names", ())}
                # What was known before may have texts as labels.
                texts = {as_row(row): as_name(text) for row, text in body.get("texts", ())}
                self.done.append(Change(entry.action(), entry, names=self.names if new or texts else None))
                self._push(entry)
                if new or texts:
                    self.names = {new.get(row, row): text for row, text in self.names.items()} | texts
                self.undone.clear()

    def records(self, void: Mapping[int, Collection[Pair]]) -> tuple[Record, ...]:
        """What was said, as a person sees it; `void` holds the pairs without effect by their place."""
        found: list[Record] = []
        for place, e in enumerate(self.entries):
            if e.is_recorded:
                lost = tuple(pair for pair, _ in e.said if pair.ordered in void.get(place, ()))
                said = e.kind, e.pair, e.answer, e.at, not lost, e.said, lost, e.groups
                found.append(Record(len(found), *said))
        return tuple(found)

    def sections(self) -> Iterator[list[Entry]]:
        """The entries from each boundary to the next."""
        bounds = [0, *self.boundaries, len(self.entries)]
        for start, stop in pairwise(bounds):
            yield self.entries[start:stop]

    def _keep_ids(self, clusters: Iterable[tuple[int, Iterable[tuple[int, int]]]]) -> None:
        found = [(as_row(id), tuple((as_row(i), as_row(n)) for i, n in parts)) for id, parts in clusters]
        if len({id for id, _ in found}) < len(found):
            raise ValueError("one id for two clusters")
        self.kept_ids = KeptIds(len(self.entries), tuple(found))

    def _push(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.n_answers += entry.kind in COUNTED

    def _set_boundary(self) -> None:
        self.boundaries = sorted({*self.boundaries, len(self.entries)})

    def _name(self, event: Event) -> None:
        representative, text = as_row(event.body["representative"]), as_name(event.body["text"])
        gone = {representative, *map(as_row, event.body.get("replaces", ()))}
        action = Action("name", f"the name {text!r}" if text else "the removal of a name", at=event.at)
        self.done.append(Change(action, names=self.names))
        self.names = {row: name for row, name in self.names.items() if row not in gone}
        if text:
            self.names[representative] = text
        # In the first version a name could not be undone, and did not end redo.
        if event.body.get("ends_redo"):
            self.undone.clear()

    def _revise(self, place: int, answer: Answer, at: float) -> None:
        before = self.entries[place]
        if not before.is_recorded or (before.pair is None and answer is not Answer.UNSURE):
            raise ValueError("it has no such answer")
        entry = replace(before, answer=answer)
        text = f"the change of a constraint to {answer.name.lower()}"
        if before.pair is None:
            text = f"the removal of {before.action().text}"
        elif before.kind in COUNTED:
            # Counted from 1, as the page shows them.
            number = sum(e.kind in COUNTED for e in self.entries[: place + 1])
            text = f"the change of answer {number} to {answer.name.lower()}"
        action = Action("revise", text, entry.pair, answer, at)
        self.done.append(Change(action, entry, place, before, self.boundaries))
        self.entries[place] = entry
        self._set_boundary()
        self.undone.clear()

    def _take_back(self, at: int) -> None:
        change = self.done[at]
        # With an entry go its revisions; they are the last thing done, unless the first version took it back.
        together = [change]
        if change.entry is not None and change.place is None:
            place = len(self.entries) - 1
            together += [later for later in self.done[at + 1 :] if later.place == place]
        names = None if change.names is None else self.names
        self.undone.append(RedoStep(tuple(together), self.boundaries, names))
        self.done = [done for done in self.done if not any(done is taken for taken in together)]
        if change.names is not None:
            self.names = change.names
        if change.before is not None and change.place is not None and change.boundaries is not None:
            self.entries[change.place] = change.before
            self.boundaries = change.boundaries
        elif change.entry is not None:
            self.n_answers -= self.entries.pop().kind in COUNTED
            self.boundaries = sorted({min(boundary, len(self.entries)) for boundary in self.boundaries})

    def _bring_back(self, undone: RedoStep) -> None:
        for change in undone.changes:
            self.done.append(change)
            if change.entry is not None and change.place is not None:
                self.entries[change.place] = change.entry
            elif change.entry is not None:
                self._push(change.entry)
        self.boundaries = undone.boundaries
        if undone.names is not None:
            self.names = undone.names
