"""What one can see of a session: all of it is computed from the journal, when it is asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from cobras.core.checks import as_whole_number
from cobras.core.constraints import ConstraintPairs
from cobras.core.edits import EditedPartition
from cobras.core.exceptions import InvalidDataError
from cobras.core.frames import Items
from cobras.core.notebook import cluster_rows, quantity, show_html
from cobras.core.partition import Partition, SuperInstance
from cobras.core.progress import WINDOW, Progress, measure
from cobras.core.types import Event, FloatArray, LabelArray, Pair, Record
from cobras.core.writers import with_clusters
from cobras.methods.reasons import reason
from cobras.session.beliefs import Shown, confidence, probabilities, settled_rows
from cobras.session.file import SessionFile
from cobras.session.history import History
from cobras.session.replay import Replay, Setting
from cobras.spaces.base import Space

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="ReadableSession")


def in_turn(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """A method of a session during which calls from other threads wait."""

    @wraps(method)
    def call(session: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with session._lock:
            return method(session, *args, **kwargs)

    return call


class ReadableSession:
    """The part of a session that changes nothing but what it remembers.

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
    _added: dict[int, Any]  # data frames that were appended, by the number of rows before

    def _clear(self) -> None:
        self._lock = threading.RLock()
        self._state: Replay | None = None
        self._labels: tuple[Partition, LabelArray] | None = None
        self._sure: tuple[Shown, list[int], FloatArray] | None = None
        self._homes: dict[int, SuperInstance] = {}

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

    @property
    @in_turn
    def confidence_(self) -> FloatArray:
        """How sure it is that every row is in the cluster it is shown in: float32, from 0 to 1.

        As the method believes. For a method that says nothing, from the distances to the nearest super-instance
        of each cluster, which is rough. A row that was moved by hand is sure, and one nearly that answers put
        where it is.
        """
        shown = self._shown
        settled = settled_rows(self._replay.constraints, self.labels_)
        if self._sure is None or not shown.is_like(self._sure[0]) or settled != self._sure[1]:
            found = confidence(shown, self.space, self.labels_, settled)
            found.flags.writeable = False
            self._sure = shown, settled, found
        return self._sure[2]

    @in_turn
    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of every cluster for new rows, of shape (n_new, n_clusters), by cluster number.

        The rows have the columns of the session's own, in the same units; see `confidence_` for what is behind it.
        A data frame is read as that of the session was.
        """
        return probabilities(self._shown, self.space, self._new_features(X), self._columns)

    def predict(self, X: Any) -> LabelArray:
        """The most probable cluster of new rows; see `predict_proba`.

        The session's own rows may get another cluster than the one they are in: answers may have put them there.

        Examples
        --------
        >>> from cobras import LabelOracle, Session, run
        >>> session = Session([[0.0], [0.2], [5.0], [5.2]], random_state=0)
        >>> _ = run(session, LabelOracle([0, 0, 1, 1]))
        >>> session.predict([[0.3], [4.0]]).tolist()
        [0, 1]
        """
        labels: LabelArray = self.predict_proba(X).argmax(axis=1).astype(np.int32)
        return labels

    @in_turn
    def to_frame(self) -> Any:
        """Return the data with its clusters: the columns `cluster_id`, where named `cluster_name`, and `cluster`.

        A session on a data frame returns one of the same kind, with its index; a session on a `Dataset` that was
        read from a file returns its table as one of polars; a session on an array has the numbers of rows as `id`.

        Examples
        --------
        >>> import polars as pl
        >>> from cobras import LabelOracle, Session, run
        >>> session = Session(pl.DataFrame({"x": [0.0, 0.2, 5.0]}), random_state=0)
        >>> run(session, LabelOracle([0, 0, 1])).to_frame().rows()
        [(0.0, 0, 0), (0.2, 0, 0), (5.0, 1, 1)]
        """
        found = self.labels_, self.names, self.cluster_ids_
        if self._items is not None:
            n_known = len(self._items.X)
            added = [entry.n_before for entry in self._history.appends if entry.n_before >= n_known]
            if not set(added) <= self._added.keys() or (not added and n_known != self.space.n):
                raise InvalidDataError(
                    f"The session has {self.space.n} rows, but its data frame {n_known}, and not all others were "
                    "appended as data frames. Take labels_, or open a session file with a frame of all rows."
                )
            table = self._items.with_rows([self._added[start] for start in added]) if added else self._items
            return table.with_clusters(*found)
        import polars as pl

        return with_clusters(pl.DataFrame({"id": range(self.space.n)}), *found)

    @property
    @in_turn
    def cluster_ids_(self) -> tuple[int, ...]:
        """One id for each cluster number. An id stays with its cluster for life, while numbers change.

        From one clustering to the next, a cluster inherits the id of the old one with which it shares most items.
        Undo and resume give the same ids, and a history gives no id to two clusters.
        """
        return self._replay.ids_at(self.n_answers)

    @in_turn
    def cluster_ids_at(self, n_answers: int) -> tuple[int, ...]:
        """The ids of the clusters after so many answers; see `labels_at`."""
        return self._replay.ids_at(self._answers_until(n_answers))

    @in_turn
    def clusters_of(self, rows: Iterable[int]) -> dict[int, int]:
        """The cluster numbers of some rows, without those of all others."""
        return self.partition.clusters_of(rows, self._homes)

    @in_turn
    def labels_at(self, n_answers: int) -> LabelArray:
        """The labels one had, or would have had, after so many answers; a board counts as one.

        There are as many as there were rows when the next answer was given.
        """
        return self._replay.partitions[self._answers_until(n_answers)].labels

    @property
    @in_turn
    def partitions(self) -> tuple[Partition, ...]:
        """The clustering before the first answer and after each one; they share their arrays."""
        return tuple(self._replay.partitions)

    @property
    def n_answers(self) -> int:
        """How many questions were answered; unsure counts, and a board counts as one."""
        return self._history.n_answers

    @property
    @in_turn
    def history(self) -> tuple[Record, ...]:
        """All answers, boards, volunteered constraints, moves and merges, in order."""
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
        rows = {mark: mark[0] for marked in kinds.values() for mark in marked}
        if isinstance(self.partition, EditedPartition):
            # The representative of a super-instance may have been moved away from it.
            rows |= {
                s.mark: rest.representative for rest, s in self.partition.whole.items() if s.mark in rows
            }
        number = self.clusters_of(rows.values())
        return {number[rows[mark]]: kind for kind, marked in kinds.items() for mark in sorted(marked)}

    @property
    @in_turn
    def to_split(self) -> tuple[int, ...]:
        """The clusters that `split` asked for and in which no difference has been found yet, by cluster number."""
        rows = {row for row, _ in self._replay.constraints.to_split}
        return tuple(sorted(set(self.clusters_of(rows).values())))

    @in_turn
    def constraints(self) -> ConstraintPairs:
        """What was answered, as must-links and cannot-links; unsure answers are neither."""
        return self._replay.constraints.pairs()

    @property
    @in_turn
    def reason(self) -> str:
        """What the answer to the open question decides; empty where the method does not say.

        It names clusters by their ids, so it tells where both rows are now.
        """
        step = self._replay.step
        if step.pair is None or step.scope is None:
            return ""
        return reason(step.pair, step.scope(), self.partition, self.cluster_ids_)

    @property
    @in_turn
    def progress(self) -> Progress:
        """Answers, clusters, stability, answers that do not hold, and whether one may stop."""
        partitions = self._replay.partitions
        before = partitions[-1 - WINDOW] if len(partitions) > WINDOW else None
        history, exhausted = self.history, self.ask() is None
        clusters = self.clusters_of(row for record in history for pair, _ in record.said for row in pair)
        aside, expected = frozenset(self.set_aside), self._replay.expected
        return measure(history, clusters, self.partition, before, aside, exhausted, expected)

    @property
    @in_turn
    def expected_ari_(self) -> tuple[float | None, ...]:
        """How well the clustering was expected to agree with what the person has in mind, after 0, 1, ... answers.

        As an adjusted Rand index; None where the method does not say. ADDER does.
        """
        return tuple(self._replay.expected)

    def __repr__(self) -> str:
        # Without what has to be computed first: a debugger shows this at any moment.
        state = self._state
        clusters = "" if state is None else f", {quantity(state.partition.n_clusters, 'cluster')}"
        after = "" if self._folded is None else f" after {quantity(self.n_answers, 'answer')}"
        pair = None if state is None else state.step.pair
        open_pair = "" if pair is None else f", next ({pair.i}, {pair.j})"
        method = self.parameters["method"]
        name = method if isinstance(method, str) else getattr(method, "__name__", "a method")
        return f"{type(self).__name__}({quantity(self.space.n, 'row')}, {name}{clusters}{after}{open_pair})"

    @in_turn
    def _repr_html_(self) -> str:
        progress, pair = self.progress, self.ask()
        lines = [f"You may stop. {progress.reason}"] if progress.may_stop else []
        if pair is not None:
            call = f"session.tell(True or False, ({pair.i}, {pair.j}))"
            lines.append(f"Next: do rows {pair.i} and {pair.j} belong together? {call}")
        clusters = quantity(progress.n_clusters, "cluster")
        heading = f"{clusters} of {quantity(self.space.n, 'row')} after {quantity(self.n_answers, 'answer')}"
        table = cluster_rows(self.partition.sizes, self.cluster_ids_, self.names, self.marks)
        return show_html(heading, *table, lines)

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
            replay = Replay(self._setting, self._history)
            # A newer version may ask other questions than the journal expects: from here on, answers follow these.
            if replay.asked_otherwise:
                self._record(Event("rebase"))
            self._state = replay
        return self._state

    @property
    def _shown(self) -> Shown:
        replay = self._replay
        return Shown(replay.step, replay.partition, replay.moved)

    def _new_features(self, X: Any) -> Any:
        """The features of new rows, as those of the session's own were made."""
        return X if self._items is None else self._items.new_features(X)

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
