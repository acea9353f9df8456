"""A session that runs: how it begins, on a table or from a file, what it asks, and what follows from the answers.

All of it is computed from the journal, when it is asked for.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from functools import lru_cache, partial, wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from cobras.core.checks import as_path, as_seed, as_train_mask, as_whole_number, check_plain, column_names
from cobras.core.constraints import ConstraintPairs
from cobras.core.edits import EditedPartition, Editor
from cobras.core.exceptions import InvalidDataError
from cobras.core.frames import Items, as_items, is_frame
from cobras.core.partition import Partition, SuperInstance
from cobras.core.progress import WINDOW, Progress, measure
from cobras.core.types import Answer, Event, FloatArray, LabelArray, Pair, Record
from cobras.methods.protocol import Method
from cobras.methods.registry import METHODS, check_registered, prepare, registration
from cobras.session.beliefs import ShownStep
from cobras.session.entries import Entry
from cobras.session.file import SessionFile, fingerprints, parts_to_store, stored_recipe
from cobras.session.history import History
from cobras.session.replay import Replay, Setting
from cobras.spaces.base import Collection, Space, as_rows, check_can_grow, cut_rows

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="RunningSession")


def locked(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """A method of a session during which calls from other threads wait."""

    @wraps(method)
    def call(session: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with session._lock:
            return method(session, *args, **kwargs)

    return call


class RunningSession:
    """The part of a session that begins it, asks, and tells what follows from the answers.

    Attributes
    ----------
    parameters : dict
        The method, the seed and all options.
    keeps_rows : bool
        Whether undo and redo leave the number of rows as it is; then what is before an append cannot be undone.
    """

    keeps_rows = False

    parameters: dict[str, Any]
    _file: SessionFile | None
    _folded: History | None
    _setting: Setting
    _columns: tuple[str, ...] | None  # the names that a data frame of numbers gave
    _items: Items | None  # the data, where it is more than numbers
    _added: dict[int, Any]  # what was appended, by the number of rows before; None for an array

    def __init__(
        self,
        X: Any,
        method: str | Method | None = None,
        random_state: Any = None,
        *,
        train_indices: Any = None,
        **options: Any,
    ) -> None:
        self._file: SessionFile | None = None
        self._folded: History | None = History()
        self._items, rows = self._take_in(X, None)
        self._set_up(rows, method, as_seed(random_state), train_indices, options)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        X: Any,
        method: str | None = None,
        random_state: Any = None,
        *,
        train_indices: Any = None,
        grow: bool = False,
        **options: Any,
    ) -> Self:
        """Create a session file, or resume the one that is there.

        The parameters come from the file; one that is given and differs raises `DataChangedError`, and so does a
        table other than the one the session was made with. A method of your own is named at each opening: a file
        alone leads to no import.

        `X` has all rows, those that were added by `append` included. If it goes on after them, that raises
        `DataGrownError`, unless `grow` is true: then the others are appended. Rows of an append that was undone may
        be there or not; without them it cannot be redone.
        """
        path = as_path(path, "A session file")
        if method is not None and not isinstance(method, str):
            raise InvalidDataError(
                f"A session file stores its method by name: one of {', '.join(METHODS)}, or 'module:function' for "
                "your own."
            )
        session = cls.__new__(cls)
        session._items, X = session._take_in(X, path)
        if isinstance(X, Space):
            table, mask, made = parts_to_store(X)
        else:
            table, mask, made = X, as_train_mask(train_indices, len(X)), {}
        session._folded = None
        session._file = SessionFile(path, table)
        rest: FloatArray | None = None
        try:
            if session._file.is_new:
                session._set_up(X, method, as_seed(random_state), train_indices, options)
                check_plain(session.parameters)
                # Options that the method refuses raise here, before anything is written.
                session.ask()
                session._file.create(session.parameters, mask)
                if session._items is not None and (recipe := session._items.stored_recipe()) is not None:
                    session.set_note(recipe=recipe)
            else:
                given = {"method": method, "random_state": random_state, **made, **options}
                session._folded = history = History.of(session._file.events())
                appends = [*history.appends, *history.undone_appends]
                found = session._file.resume(given, mask, appends, len(history.appends), grow)
                stored, shown = found.parameters, train_indices if made else found.train
                if method is None:
                    check_registered(stored["method"], path)
                for option in registration(stored["method"]).retired_options:
                    stored.pop(option, None)
                first = X if made or len(X) == found.n_first else X[: found.n_first]
                session._set_up(first, stored.pop("method"), stored.pop("random_state"), shown, stored)
                for entry in appends[: found.n_appends]:
                    stop = entry.n_before + entry.n_rows
                    space = session._setting.collection.latest
                    rows = X[entry.n_before : stop]
                    session._setting.collection.add(space, rows, entry.fingerprint, X[:stop])
                rest = X if found.is_grown else None
            n_undone = sum(entry.n_rows for entry in session._history.undone_appends)
            session._history.check_rows(session.space.n + n_undone)
            if rest is not None:
                space = check_can_grow(session.space)
                session._grow(space, rest[space.n :], rest)
        except BaseException:
            session._file.give_up()
            raise
        return session

    def _take_in(self, X: Any, path: str | os.PathLike[str] | None) -> tuple[Items | None, Any]:
        """The data where it is more than numbers, read as a session file says, and its rows or space."""
        self._added, self._columns = {}, None
        if isinstance(X, np.ndarray):  # numbers without names
            return None, as_rows(X)
        items = as_items(X, None if path is None or not is_frame(X) else stored_recipe(path))
        self._columns = column_names(X)
        if items is None:
            return None, as_rows(X)
        if items.distance is None:
            return items, as_rows(items.X)
        from cobras.spaces.series import SeriesSpace

        return items, SeriesSpace(items.series, distance=items.distance)

    def _set_up(
        self, X: Any, method: str | Method | None, seed: int, train_indices: Any, options: dict[str, Any]
    ) -> None:
        found = prepare(X, method, seed, train_indices, options)
        self.parameters = found.parameters
        # The same pieces in every replay; as many as are likely to be shown at once.
        cut: Any = lru_cache(maxsize=512)(cut_rows)
        self._setting = Setting(
            Collection(found.space),
            found.start,
            lambda space: Editor(partial(cut, space)),
            registration(found.parameters["method"]).doubts,
        )
        self._notes: dict[str, Any] = {}
        self._lock = threading.RLock()
        self._state: Replay | None = None
        self._labels: tuple[Partition, LabelArray] | None = None
        self._sure: tuple[ShownStep, list[int], FloatArray] | None = None
        self._homes: dict[int, SuperInstance] = {}

    # -- showing ---------------------------------------------------------------------------------------------------

    @property
    def space(self) -> Space:
        """The data, with all rows that were added."""
        return self._setting.collection.after(entry.fingerprint for entry in self._history.appends)

    @property
    def moment(self) -> object:
        """Another object after every change, so that whoever shows the session notices; None while it changes."""
        return self._folded

    def ask(self) -> Pair | None:
        """The open question; None when nothing is left worth asking."""
        return self._replay.step.pair

    @locked
    def question_after(self, *answers: Answer) -> Callable[[], Pair | None]:
        """A function that returns the question after the open one, and those after it, have got these answers.

        It changes nothing and may run in any thread.
        """
        history = self._history  # never changed in place: the session goes on while this runs

        def next_question() -> Pair | None:
            replay = Replay(self._setting, history)
            for answer in answers:
                if replay.step.pair is not None:
                    replay.feed([Entry.of_answer(replay.step.pair, answer)])
            return replay.step.pair

        return next_question

    @property
    def n_answers(self) -> int:
        """How many questions were answered; unsure counts, and a board counts as one."""
        return self._history.n_answers

    @property
    def can_undo(self) -> bool:
        """Whether there is anything to take back."""
        done = self._history.done
        return bool(done) and not (self.keeps_rows and done[-1].action.kind == "append")

    @property
    def can_redo(self) -> bool:
        """Whether something was undone that can be brought back."""
        undone = self._history.undone
        return bool(undone) and not (
            self.keeps_rows and any(entry.kind == "append" for entry in undone[-1].entries)
        )

    @property
    def partition(self) -> Partition:
        """The clustering that is shown, with its super-instances; moves and merges are on top of the method's."""
        return self._replay.partition

    @property
    @locked
    def partitions(self) -> tuple[Partition, ...]:
        """The clustering before the first answer and after each one; they share their arrays."""
        return tuple(self._replay.partitions)

    @locked
    def clusters_of(self, rows: Iterable[int]) -> dict[int, int]:
        """The cluster numbers of some rows, without those of all others."""
        return self.partition.clusters_of(rows, self._homes)

    @property
    @locked
    def cluster_ids_(self) -> tuple[int, ...]:
        """One id for each cluster number. An id stays with its cluster for life, while numbers change.

        From one clustering to the next, a cluster inherits the id of the old one with which it shares most items.
        Undo and resume give the same ids, and a history gives no id to two clusters.
        """
        return self._replay.ids_at(self.n_answers)

    @locked
    def cluster_ids_at(self, n_answers: int) -> tuple[int, ...]:
        """The ids of the clusters after the first `n_answers` answers; see `labels_at`."""
        return self._replay.ids_at(self._answers_until(n_answers))

    @property
    @locked
    def history(self) -> tuple[Record, ...]:
        """All answers, boards, volunteered constraints, moves and merges, in order."""
        return self._history.records(void=self._replay.without_effect(self._history.entries))

    @property
    @locked
    def set_aside(self) -> tuple[Pair, ...]:
        """Pairs answered with unsure. Revise such an answer, or add a constraint, to settle one."""
        return tuple(self._replay.constraints.set_aside)

    @property
    @locked
    def names(self) -> dict[int, str]:
        """The names of clusters, by cluster number."""
        names = self._history.names
        return {number: names[r] for r, number in self.clusters_of(names).items()}

    @property
    @locked
    def marks(self) -> dict[int, str]:
        """Which clusters are marked as "pure" or "complete", by cluster number."""
        kinds = {"pure": self._replay.constraints.pure, "complete": self._replay.constraints.complete}
        rows = {mark: mark[0] for marked in kinds.values() for mark in marked}
        if isinstance(self.partition, EditedPartition):
            # A row that was moved away from its super-instance does not take the mark along.
            rows = {mark: row for mark, row in rows.items() if row not in self.partition.cut} | {
                s.mark: rest.representative for rest, s in self.partition.whole.items() if s.mark in rows
            }
        number = self.clusters_of(rows.values())
        return {
            number[rows[mark]]: kind
            for kind, marked in kinds.items()
            for mark in sorted(rows.keys() & marked)
        }

    @property
    @locked
    def to_split(self) -> tuple[int, ...]:
        """The clusters that `split` asked for and in which no difference has been found yet, by cluster number."""
        rows = {row for row, _ in self._replay.constraints.to_split}
        return tuple(sorted(set(self.clusters_of(rows).values())))

    @locked
    def constraints(self) -> ConstraintPairs:
        """What was answered, as must-links and cannot-links; unsure answers are neither."""
        return self._replay.constraints.pairs()

    @property
    @locked
    def progress(self) -> Progress:
        """Answers, clusters, stability, answers that do not hold, and whether one may stop."""
        partitions = self._replay.partitions
        before = partitions[-1 - WINDOW] if len(partitions) > WINDOW else None
        history, exhausted = self.history, self.ask() is None
        clusters = self.clusters_of(row for record in history for pair, _ in record.said for row in pair)
        aside, expected = frozenset(self.set_aside), self._replay.expected
        return measure(history, clusters, self.partition, before, aside, exhausted, expected)

    @property
    @locked
    def expected_ari_(self) -> tuple[float | None, ...]:
        """How well the clustering was expected to agree with what the person has in mind, after 0, 1, ... answers.

        As an adjusted Rand index; None where the method does not say. ADDER does.
        """
        return tuple(self._replay.expected)

    def set_note(self, **values: Any) -> None:
        """Store JSON values with the session, such as where its data came from."""
        self._notes.update(values)
        if self._file is not None:
            self._file.set_notes(values)

    def get_note(self, key: str) -> Any:
        """A value stored with the session, or None."""
        return self._notes.get(key) if self._file is None else self._file.get_note(key)

    # -- inside ----------------------------------------------------------------------------------------------------

    # Ctrl-C may come between any two steps. What is computed from the journal is therefore dropped before an event
    # is written, and set once all is done; what is missing is computed again when it is needed.

    @property
    @locked
    def _history(self) -> History:
        if self._folded is None:
            assert self._file is not None
            self._folded = History.of(self._file.events())
        return self._folded

    @property
    @locked
    def _replay(self) -> Replay:
        if self._state is None:
            replay = Replay(self._setting, self._history)
            # A newer version may ask other questions than the journal expects: from here on, answers follow these.
            if replay.asked_otherwise:
                self._record(Event("rebase"))
            self._state = replay
        return self._state

    def _answers_until(self, n_answers: int) -> int:
        n_answers = as_whole_number(n_answers, "A clustering")
        if not 0 <= n_answers < len(self._replay.partitions):
            raise InvalidDataError(f"There are {self.n_answers} answers, so no clustering after {n_answers}.")
        return n_answers

    def _record(self, event: Event) -> None:
        history = self._history.after(event)
        if self._file is not None:
            self._folded = None
            self._file.append(event)
        self._folded = history

    def _add(self, event: Event) -> None:
        replay, self._state = self._replay, None
        self._record(event)
        # If the method fails, for example because there are no workers, the next call replays everything.
        replay.feed(self._history.entries[-1:])
        self._state = replay

    def _grow(self, space: Space, rows: FloatArray, X: FloatArray | None = None) -> None:
        """Append rows to a space; X are all rows, where they are at hand."""
        collection, prints = self._setting.collection, fingerprints(rows)
        collection.add(space, rows, prints["fingerprint"], X)
        self._add(
            Event("append", {"n_before": space.n, "n_rows": len(rows), "follows_moves": True, **prints})
        )
        collection.keep_only(space, prints["fingerprint"])
        if self._file is not None:
            self._file.release_rows()
