"""A session: an append-only journal of answers, and a method that is replayed from it.

Undo, redo, revise and resume are all replay. Splits are memoised and draw their random numbers from their place in
the split tree, so a replay repeats no k-means and asks the same questions.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import PurePath
from typing import Any, Concatenate, Never, ParamSpec, Self, TypeVar

from cobras.core.checks import as_seed, as_train_mask, as_whole_number, check_options, check_plain
from cobras.core.constraints import ConstraintPairs
from cobras.core.exceptions import CobrasError, InvalidDataError, StaleQuestionError
from cobras.core.partition import Partition, SuperInstance
from cobras.core.progress import WINDOW, Progress, measure
from cobras.core.types import Answer, Event, LabelArray, Pair, Record
from cobras.core.writers import answers_table, labels_table, write_frame, write_table
from cobras.methods.protocol import Method
from cobras.methods.registry import all_options, check_registered, find_method, registration
from cobras.session.file import SessionFile, parts_to_store
from cobras.session.replay import Entry, History, Replay, Revision
from cobras.spaces.base import RemoteSpace, Space, as_rows, choose_space

P = ParamSpec("P")
R = TypeVar("R")


def in_turn(method: Callable[Concatenate[Session, P], R]) -> Callable[Concatenate[Session, P], R]:
    """A method of a session during which calls from other threads wait."""

    @wraps(method)
    def call(session: Session, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with session._lock:
            return method(session, *args, **kwargs)

    return call


class Session:
    """Questions to a person, their answers, and the clusters that follow from them.

    Parameters
    ----------
    X : array-like of shape (n, d), dask array or data frame, or a Space such as a `SeriesSpace`
        The data, clustered as given; what dask holds stays where it is.
    method : str or callable
        "cobras", "cobra", "module:function" for a method of your own, or the function itself.
    random_state : int, optional
        The seed; drawn when left out.
    train_indices : array-like, optional
        Row numbers, or a boolean mask, of the rows that may be shown; all by default.
    **options
        Options of the method (see `cobras.methods`) and of the splits: `n_init`, `full_restarts`, `medoid`.

    Examples
    --------
    >>> session = Session([[0.0], [0.1], [5.0], [5.1]], random_state=0)
    >>> while (pair := session.ask()) is not None:
    ...     session.tell(abs(pair.i - pair.j) == 1 and min(pair) != 1, pair)
    >>> session.labels_.tolist()
    [0, 0, 1, 1]
    """

    def __init__(
        self,
        X: Any,
        method: str | Method = "cobras",
        random_state: Any = None,
        *,
        train_indices: Any = None,
        **options: Any,
    ) -> None:
        self._file: SessionFile | None = None
        self._folded: History | None = History()
        self._set_up(as_rows(X), method, as_seed(random_state), train_indices, options)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        X: Any,
        method: str | None = None,
        random_state: Any = None,
        *,
        train_indices: Any = None,
        **options: Any,
    ) -> Session:
        """Create a session file, or resume the one that is there.

        The parameters come from the file; one that is given and differs raises `DataChangedError`, and so does a
        table other than the one the session was made with. A method of your own is named at each opening: a file
        alone leads to no import.
        """
        if method is not None and not isinstance(method, str):
            raise InvalidDataError(
                "A session file stores its method by name: 'cobras', 'cobra', or 'module:function' for your own."
            )
        X = as_rows(X)
        if isinstance(X, Space):
            table, mask, made = parts_to_store(X)
        else:
            table, mask, made = X, as_train_mask(train_indices, len(X)), {}
        session = cls.__new__(cls)
        session._folded = None
        session._file = SessionFile(path, table)
        try:
            if session._file.is_new:
                session._set_up(X, method or "cobras", as_seed(random_state), train_indices, options)
                check_plain(session.parameters)
                # Options that the method refuses raise here, before anything is written.
                session.ask()
                session._file.create(session.parameters, mask)
            else:
                given = {"method": method, "random_state": random_state, **made, **options}
                stored, mask = session._file.resume(given, mask)
                shown = train_indices if made else mask
                if method is None:
                    check_registered(stored["method"], path)
                for option in registration(stored["method"]).retired_options:
                    stored.pop(option, None)
                session._set_up(X, stored.pop("method"), stored.pop("random_state"), shown, stored)
            session._history.check_rows(session.space.n)
        except BaseException:
            session._file.give_up()
            raise
        return session

    def _set_up(
        self, X: Any, method: str | Method, seed: int, train_indices: Any, options: dict[str, Any]
    ) -> None:
        function = find_method(method)
        self.space, space_options = choose_space(X, train_indices, options)
        if isinstance(self.space, RemoteSpace) and registration(method).needs_rows:
            raise InvalidDataError(
                f"{method} needs all rows in memory. On a cluster use cobras or cobra, or compute() X first."
            )
        method_options = all_options(function, {k: v for k, v in options.items() if k not in space_options})
        check_options(function, method_options)
        self.parameters = {"method": method, "random_state": seed, **space_options, **method_options}
        space = self.space
        self._lock = threading.RLock()
        self._start = lambda constraints: function(space, constraints, seed, **method_options)
        self._state: Replay | None = None
        self._labels: tuple[Partition, LabelArray] | None = None
        self._homes: dict[int, SuperInstance] = {}
        self._notes: dict[str, Any] = {}

    # -- asking and telling ----------------------------------------------------------------------------------------

    def ask(self) -> Pair | None:
        """The open question; None when nothing is left worth asking."""
        return self._replay.step.pair

    @in_turn
    def tell(self, answer: Answer | bool | None, pair: Sequence[int]) -> None:
        """Answer the open question; `pair` names it, so that a late or doubled answer is refused."""
        answer = Answer.of(answer)
        open_pair = self.ask()
        try:
            i, j = map(int, pair)
        except (TypeError, ValueError):
            raise InvalidDataError(
                f"An answer is for a pair of rows, as ask() returns it, not for {pair!r}."
            ) from None
        if open_pair is None:
            raise StaleQuestionError(f"Answer is for pair ({i}, {j}), but there is no open question.")
        if {i, j} != set(open_pair):
            raise StaleQuestionError(
                f"Answer is for pair ({i}, {j}), but the open question is ({open_pair.i}, {open_pair.j}). "
                "Call ask() again."
            )
        self._replay.constraints.check(*open_pair, answer)
        self._add(Event("answer", {"i": open_pair.i, "j": open_pair.j, "answer": int(answer)}))

    def skip(self, pair: Sequence[int]) -> None:
        """Answer that one is unsure: the pair is set aside and never becomes a constraint."""
        self.tell(Answer.UNSURE, pair)

    @in_turn
    def add_constraint(self, i: int, j: int, answer: Answer | bool) -> None:
        """Say what is known about any pair, asked or not."""
        answer, i, j = Answer.of(answer), as_whole_number(i, "A row"), as_whole_number(j, "A row")
        for row in (i, j):
            if not 0 <= row < self.space.n:
                raise InvalidDataError(f"There is no row {row}; rows go from 0 to {self.space.n - 1}.")
        if i == j or answer is Answer.UNSURE:
            raise InvalidDataError("A constraint says SAME or DIFFERENT about two different rows.")
        self._replay.constraints.check(i, j, answer)
        self._add(Event("constraint", {"i": i, "j": j, "answer": int(answer)}))

    @in_turn
    def mark(self, cluster: int, *, pure: bool = False, complete: bool = False) -> None:
        """Mark a cluster as pure (do not split it) or complete (do not touch it); with neither, remove the mark."""
        if not registration(self.parameters["method"]).honours_marks:
            raise InvalidDataError(f"{self.parameters['method']} knows no marks; adder, cobras and cobra do.")
        marked = [s.mark for s in self.partition.cluster(cluster).super_instances]
        body = {"super_instances": marked, "pure": bool(pure), "complete": bool(complete)}
        self._add(Event("mark", body))

    @in_turn
    def name(self, cluster: int, text: str) -> None:
        """Name a cluster; the name stays with its representative when numbers change. Empty text removes it."""
        if not isinstance(text, str) or any("\ud800" <= character <= "\udfff" for character in text):
            raise InvalidDataError(f"The name of a cluster is a text of whole characters, not {text!r}.")
        first = self.partition.cluster(cluster).representatives[0]
        body: dict[str, Any] = {"representative": first, "text": text.strip()}
        # After a merge, one cluster may hold the representatives of several names.
        body["replaces"] = [r for r, at in self.clusters_of(self._history.names).items() if at == cluster]
        self._record(Event("name", body))

    # -- changing one's mind ---------------------------------------------------------------------------------------

    @in_turn
    def undo(self) -> Entry:
        """Take back the last answer, constraint or mark, and return it."""
        if not self.can_undo:
            raise CobrasError("There is nothing to undo.")
        self._state = None
        self._record(Event("undo"))
        return self._history.undone[-1][0]

    @in_turn
    def redo(self) -> Entry:
        """Bring back what was undone last, and return it."""
        if not self.can_redo:
            raise CobrasError("There is nothing to redo.")
        self._state = None
        self._record(Event("redo"))
        return self._history.entries[-1]

    @in_turn
    def revise(self, index: int, answer: Answer | bool | None) -> Revision:
        """Change an old answer, by its index in the history, and replay everything after it."""
        answer, index = Answer.of(answer), as_whole_number(index, "An answer")
        places = [at for at, e in enumerate(self._history.entries) if e.pair is not None]
        if not 0 <= index < len(places):
            raise InvalidDataError(
                f"There is no answer {index}; the history holds {len(places)}, counted from 0."
            )
        before = self._replay
        void = before.without_effect(self._history.entries)
        event = Event("revise", {"at": places[index], "answer": int(answer)})
        # On a copy first: a revision that contradicts earlier answers must change nothing.
        history = self._history.after(event)
        after = Replay(self._start, history)
        if places[index] in after.contradicted:
            raise after.contradicted[places[index]]
        self._state = None
        self._record(event)
        self._state = after
        lost = after.without_effect(history.entries) - void
        unasked = after.unasked - before.unasked - lost
        records = list(zip(places, self.history, strict=True))
        return Revision(
            tuple(record for place, record in records if place in lost),
            tuple(record for place, record in records if place in unasked),
        )

    @in_turn
    def question_after(self, *answers: Answer) -> Callable[[], Pair | None]:
        """A function that returns the question after the open one, and those after it, have got these answers.

        It changes nothing and may run in any thread.
        """
        history = self._history  # never changed in place: the session goes on while this runs

        def next_question() -> Pair | None:
            replay = Replay(self._start, history)
            for answer in answers:
                if replay.step.pair is not None:
                    replay.feed([Entry("answer", replay.step.pair, answer)])
            return replay.step.pair

        return next_question

    # -- looking ---------------------------------------------------------------------------------------------------

    @property
    def can_undo(self) -> bool:
        """Whether there is anything to take back."""
        return bool(self._history.entries)

    @property
    def can_redo(self) -> bool:
        """Whether something was undone that can be brought back."""
        return bool(self._history.undone)

    @property
    def partition(self) -> Partition:
        """The current clustering with its super-instances."""
        return self._replay.step.partition

    @property
    @in_turn
    def labels_(self) -> LabelArray:
        """The cluster of every row; always a valid clustering."""
        partition = self.partition
        # Partitions are immutable, so labels are computed once for each and may be shared, but not be written to.
        if self._labels is None or self._labels[0] is not partition:
            labels = partition.labels
            labels.flags.writeable = False
            self._labels = partition, labels
        return self._labels[1]

    @in_turn
    def clusters_of(self, rows: Iterable[int]) -> dict[int, int]:
        """The cluster numbers of some rows, without those of all others."""
        return self.partition.clusters_of(rows, self._homes)

    @in_turn
    def labels_at(self, n_answers: int) -> LabelArray:
        """The labels one had, or would have had, after so many answers."""
        partitions, n_answers = self._replay.partitions, as_whole_number(n_answers, "A clustering")
        if not 0 <= n_answers < len(partitions):
            raise InvalidDataError(f"There are {self.n_answers} answers, so no clustering after {n_answers}.")
        return partitions[n_answers].labels

    @property
    @in_turn
    def partitions(self) -> tuple[Partition, ...]:
        """The clustering before the first answer and after each one; they share their arrays."""
        return tuple(self._replay.partitions)

    @property
    def n_answers(self) -> int:
        """How many questions were answered; unsure counts."""
        return self._history.n_answers

    @property
    @in_turn
    def history(self) -> tuple[Record, ...]:
        """All answers and volunteered constraints, in order."""
        return self._history.records(void=self._replay.without_effect(self._history.entries))

    @property
    @in_turn
    def set_aside(self) -> tuple[Pair, ...]:
        """Pairs answered with unsure. Revise such an answer, or add a constraint, to settle one."""
        return tuple(self._replay.constraints.set_aside)

    @property
    @in_turn
    def names(self) -> dict[int, str]:
        """The names of clusters, by cluster number."""
        names = self._history.names
        return {number: names[r] for r, number in self.clusters_of(names).items()}

    @property
    @in_turn
    def marks(self) -> dict[int, str]:
        """Which clusters are marked as "pure" or "complete", by cluster number."""
        kinds = {"pure": self._replay.constraints.pure, "complete": self._replay.constraints.complete}
        number = self.clusters_of([i for marked in kinds.values() for i, _ in marked])
        return {number[i]: kind for kind, marked in kinds.items() for i, _ in sorted(marked)}

    @in_turn
    def constraints(self) -> ConstraintPairs:
        """What was answered, as must-links and cannot-links; unsure answers are neither."""
        return self._replay.constraints.pairs()

    @property
    @in_turn
    def progress(self) -> Progress:
        """Answers, clusters, stability, answers that do not hold, and whether one may stop."""
        partitions = self._replay.partitions
        before = partitions[-1 - WINDOW] if len(partitions) > WINDOW else None
        history, exhausted = self.history, self.ask() is None
        clusters = self.clusters_of(row for record in history for row in record.pair)
        return measure(history, clusters, self.partition, before, len(self.set_aside), exhausted)

    # -- keeping ---------------------------------------------------------------------------------------------------

    def export(self, path: str | os.PathLike[str], ids: Sequence[Any] | None = None) -> None:
        """Write id, cluster and, where given, cluster_name of every row as CSV, Parquet or JSON, by suffix.

        On a cluster a folder, without suffix or with a slash at its end, is written by the workers as Parquet.
        """
        text = os.fspath(path)
        if isinstance(self.space, RemoteSpace) and (text.endswith("/") or not PurePath(text).suffix):
            if ids is not None:
                raise InvalidDataError(
                    "Workers know rows by their numbers alone. Leave ids out, or name a file."
                )
            self.space.export_labels(path, self.partition, self.names)
        else:
            rows = range(self.space.n) if ids is None else list(ids)
            write_frame(labels_table(rows, self.labels_, self.names), path)

    def export_answers(self, path: str | os.PathLike[str], ids: Sequence[Any] | None = None) -> None:
        """Write all answers and constraints as CSV, Parquet or JSON, by suffix."""
        write_table(answers_table(self.history, ids), path)

    def set_note(self, **values: Any) -> None:
        """Store JSON values with the session, such as where its data came from."""
        self._notes.update(values)
        if self._file is not None:
            self._file.set_notes(values)

    def get_note(self, key: str) -> Any:
        """A value stored with the session, or None."""
        return self._notes.get(key) if self._file is None else self._file.get_note(key)

    def verify(self) -> None:
        """Raise if a row is not what it was when the session was made; the first new answer checks this, too."""
        if self._file is not None:
            self._file.verify()

    def close(self) -> None:
        """Release the session file, if there is one."""
        if self._file is not None:
            self._file.close()

    def __reduce__(self) -> Never:
        raise CobrasError(
            "A session is neither copied nor pickled, because it runs a method. Keep it in a file by "
            "Session.open(path, X), or its answers by RecordedOracle(session.history)."
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- inside ----------------------------------------------------------------------------------------------------

    # Ctrl-C may come between any two steps. What is computed from the journal is therefore dropped before an event
    # is written, and set once all is done; what is missing is computed again when it is needed.

    @property
    @in_turn
    def _history(self) -> History:
        if self._folded is None:
            assert self._file is not None
            self._folded = History.of(self._file.events())
        return self._folded

    @property
    @in_turn
    def _replay(self) -> Replay:
        if self._state is None:
            replay = Replay(self._start, self._history)
            # A newer version may ask other questions than the journal expects: from here on, answers follow these.
            if replay.asked_otherwise:
                self._record(Event("rebase"))
            self._state = replay
        return self._state

    def _add(self, event: Event) -> None:
        replay, self._state = self._replay, None
        self._record(event)
        # If the method fails, for example because there are no workers, the next call replays everything.
        replay.feed(self._history.entries[-1:])
        self._state = replay

    def _record(self, event: Event) -> None:
        history = self._history.after(event)
        if self._file is not None:
            self._folded = None
            self._file.append(event)
        self._folded = history
