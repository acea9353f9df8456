"""A session: an append-only journal of answers, and a method that is replayed from it.

Undo, redo, revise and resume are all replay. Splits are memoised and draw their random numbers from their place in
the split tree, so a replay repeats no k-means and asks the same questions.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, Never, Self

import numpy as np

from cobras.core.checks import as_path, as_whole_number
from cobras.core.exceptions import CobrasError, InvalidDataError
from cobras.core.frames import Items, check_same_order
from cobras.core.notebook import cluster_rows, quantity, show_html
from cobras.core.types import Event, FloatArray, LabelArray
from cobras.core.writers import answers_table, labels_table, with_clusters, write_frame, write_table
from cobras.methods.reasons import reason
from cobras.session.answers import AnswerableSession
from cobras.session.beliefs import ShownStep, confidence, probabilities, settled_rows
from cobras.session.file import fingerprints, holds_session
from cobras.session.history import History
from cobras.session.questions import locked
from cobras.spaces.base import RemoteSpace, Space, as_rows

# The widget is named here and imported when needed: sessions do not know how they are shown.
WIDGET = "cobras.web.notebook.widget"


def with_rows_of(X: FloatArray, event: Event) -> Event:
    """An event, where it is an append with the fingerprints that its rows have in another table."""
    if event.kind != "append":
        return event
    start, n_rows = event.body["n_before"], event.body["n_rows"]
    rows = X[start : start + n_rows]
    return event if len(rows) < n_rows else replace(event, body={**event.body, **fingerprints(rows)})


class Session(AnswerableSession):
    """Questions to a person, their answers, and the clusters that follow from them.

    Parameters
    ----------
    X : array-like of shape (n, d), data frame, `Dataset`, what dask holds, or a Space such as a `SeriesSpace`
        The data. Numbers are clustered as given, those of a data frame too; a frame with other columns is read as a
        file is (see `read_dataset`, which has options and scales). What dask holds stays where it is.
    method : str or callable, optional
        "adder", "cobras", "cobra", "module:function" for a method of your own, or the function itself. By default
        ADDER, which makes the most of the answers; COBRAS where the data is on other machines.
    random_state : int, optional
        The seed; drawn when left out.
    train_indices : array-like, optional
        Row numbers, or a boolean mask, of the rows that may be shown; all by default. With ADDER also those that
        you say something about yourself, by a constraint, a move or a merge.
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

    @classmethod
    def from_labels(
        cls,
        X: Any,
        y: Any,
        method: str | None = None,
        random_state: Any = None,
        *,
        path: str | os.PathLike[str] | None = None,
        unknown: Any = None,
        **options: Any,
    ) -> Session:
        """Begin a session with labels that some rows have already; see `add_constraints`.

        Parameters
        ----------
        X, random_state, **options
            As in `Session`.
        y : array-like of shape (n,)
            A label for each row, in the order of X, or None, NaN or another missing value where it is not known.
        method : str, optional
            By default ADDER, which learns from all labels. COBRAS uses those of the rows that it would ask about.
        path : path, optional
            A new session file.
        unknown : optional
            A label that means "not known", such as -1.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> y_partial = [label if row % 10 == 0 else None for row, label in enumerate(y)]
        >>> session = Session.from_labels(X, y_partial, random_state=0)
        >>> session.partition.n_clusters, session.n_answers
        (3, 0)
        """
        check_same_order(X, y)
        path = None if path is None else as_path(path, "A session file")
        if path is not None and holds_session(path):
            raise InvalidDataError(
                f"{path} holds a session already. Open it, and call add_constraints(labels=y)."
            )
        if path is None:
            session = cls(X, method, random_state, **options)
        else:
            session = cls.open(path, X, method, random_state, **options)
        try:
            session.add_constraints(labels=y, unknown=unknown)
        except BaseException:
            session.close()
            if path is not None:
                Path(path).unlink()
            raise
        return session

    # -- results ---------------------------------------------------------------------------------------------------

    @property
    @locked
    def labels_(self) -> LabelArray:
        """The cluster of every row; always a valid clustering."""
        partition = self.partition
        # Partitions are immutable, so labels are computed once for each and may be shared, but not be written to.
        if self._labels is None or self._labels[0] is not partition:
            labels = partition.labels
            labels.flags.writeable = False
            self._labels = partition, labels
        return self._labels[1]

    @locked
    def labels_at(self, n_answers: int) -> LabelArray:
        """The labels one had, or would have had, after the first answers; a board counts as one.

        There are as many as there were rows when the next answer was given.
        """
        return self._replay.partitions[self._answers_until(n_answers)].labels

    @property
    @locked
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

    @locked
    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of every cluster for new rows, of shape (n_new, n_clusters), by cluster number.

        The rows have the columns of the session's own, in the same units; see `confidence_` for what is behind it.
        A data frame is read as that of the session was. What does not fit there counts as missing, with a
        `DataWarning`; a row of gaps alone has the probability 0 for every cluster.
        """
        rows = self._new_rows(X)
        found = probabilities(self._shown, self.space, rows.X, self._columns)
        return found if rows.unknown is None else found * ~rows.unknown[:, np.newaxis]

    @locked
    def predict(self, X: Any) -> LabelArray:
        """The most probable cluster of new rows, of a row of gaps that of the medians; see `predict_proba`.

        The session's own rows may get another cluster than the one they are in: answers may have put them there.

        Examples
        --------
        >>> from cobras import LabelOracle, Session, run
        >>> session = Session([[0.0], [0.2], [5.0], [5.2]], random_state=0)
        >>> _ = run(session, LabelOracle([0, 0, 1, 1]))
        >>> session.predict([[0.3], [4.0]]).tolist()
        [0, 1]
        """
        found = probabilities(self._shown, self.space, self._new_rows(X).X, self._columns)
        labels: LabelArray = found.argmax(axis=1).astype(np.int32)
        return labels

    @property
    @locked
    def reason(self) -> str:
        """What the answer to the open question decides; empty where the method does not say.

        It names clusters by their ids, so it tells where both rows are now.
        """
        step = self._replay.step
        if step.pair is None or step.scope is None:
            return ""
        return reason(step.pair, step.scope(), self.partition, self.cluster_ids_)

    # -- keeping ---------------------------------------------------------------------------------------------------

    @locked
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
            end, frames = self._known_rows(self._items)
            if frames is None:
                raise InvalidDataError(
                    f"The session has {self.space.n} rows, but its data frame {len(self._items.X)}, and not all "
                    "others were appended as data frames. Take labels_, or open a session file with a frame of all "
                    "rows."
                )
            is_whole = end == len(self._items.X) and not frames
            table = self._items if is_whole else self._items.with_rows(end, frames)
            return table.with_clusters(*found)
        import polars as pl

        return with_clusters(pl.DataFrame({"id": range(self.space.n)}), *found)

    def _known_rows(self, items: Items) -> tuple[int, list[Any] | None]:
        """How many rows are as in the data, and the frames of those after them; None if one is unknown."""
        n_known, starts = len(items.X), [entry.n_before for entry in self._history.appends]
        # The rows of the data end where others were appended here, also after an append in a file was undone.
        end = next((start for start in starts if start in self._added), min(n_known, self.space.n))
        frames = [self._added.get(start) for start in starts if start >= end]
        return end, None if end > n_known or any(frame is None for frame in frames) else frames

    @locked
    def _row_names(self) -> Sequence[Any] | None:
        """What the data calls the rows; None where it only counts them, or not all rows are known to it."""
        if self._items is None or isinstance(self.space, RemoteSpace):
            return None
        end, frames = self._known_rows(self._items)
        return None if frames is None else self._items.names_with_rows(end, frames)

    def export(
        self, path: str | os.PathLike[str], ids: Sequence[Any] | None = None, *, escape: bool = True
    ) -> None:
        """Write id, cluster_id, cluster_name if any was given, and cluster of every row as CSV, Parquet or JSON.

        The suffix says which. `cluster_id` stays with its cluster and is the number on the page; `cluster` is that
        of `labels_`. Without `ids`, rows have the names that the data frame or `Dataset` gives them by its index or
        a column, or their numbers.

        A new file can be read by you alone. In CSV, texts that a spreadsheet would take for a formula get an
        apostrophe, unless `escape` is false.

        On a cluster a folder, without suffix or with a slash at its end, is written by the workers as Parquet.
        """
        text = as_path(path, "A file")
        if isinstance(self.space, RemoteSpace) and (text.endswith("/") or not PurePath(text).suffix):
            if ids is not None:
                raise InvalidDataError(
                    "Workers know rows by their numbers alone. Leave ids out, or name a file."
                )
            self.space.export_labels(path, self.partition, self.names, self.cluster_ids_)
        else:
            ids = self._row_names() if ids is None else list(ids)
            rows = range(self.space.n) if ids is None else ids
            table = labels_table(rows, self.labels_, self.names, self.cluster_ids_)
            write_frame(table, path, escape=escape, private=True)

    def export_answers(
        self, path: str | os.PathLike[str], ids: Sequence[Any] | None = None, *, escape: bool = True
    ) -> None:
        """Write all answers and constraints as CSV, Parquet or JSON, by suffix; see `export`."""
        path = as_path(path, "A file")
        ids = self._row_names() if ids is None else ids
        write_table(answers_table(self.history, ids), path, escape=escape, private=True)

    @locked
    def carry_over(self, path: str | os.PathLike[str], X: Any) -> Session:
        """Create a session file on the same rows with other features, and say and do there all that was done here.

        Method, options, seed and training rows are the same. The answer to a question that does not come up there
        is a constraint. Names, moves, the order of undo and the ids of clusters that hold the same rows are kept; a
        mark (pure, complete) holds only for parts that are the same there. This session stays as it is.
        """
        if self._file is None:
            raise InvalidDataError(
                "Only a session in a file is carried over. Begin it by Session.open(path, X)."
            )
        first, events = self._setting.collection.first, self._file.events()
        shown = None if isinstance(X, Space) else getattr(first, "train", None)
        if self._history.appends:
            X = as_rows(X)
            events = tuple(map(partial(with_rows_of, X), events))
        given = X[: first.n] if self._history.appends else X
        session = Session.open(path, given, train_indices=shown, **self.parameters)
        try:
            n_rows = len(X) if self._history.appends else session.space.n
            if session._history.done or n_rows != self.space.n:
                raise InvalidDataError(
                    f"A session on {self.space.n} rows is carried over to a new file on as many rows, but "
                    f"{os.fspath(path)} has {n_rows} rows and {len(session._history.done)} events."
                )
            collection = session._setting.collection
            for entry in History.of(events).appends:
                stop = entry.n_before + entry.n_rows
                collection.add(collection.latest, X[entry.n_before : stop], entry.fingerprint, X[:stop])
            if events:
                # Clusters of the same rows keep their ids.
                found = zip(self.cluster_ids_, self.partition.clusters, strict=True)
                parts = [[i, [[s.representative, len(s)] for s in c.super_instances]] for i, c in found]
                events = (*events, Event("ids", {"clusters": parts}))
            session._file.append(*events)  # type: ignore[union-attr]
            session._folded = session._state = None
            session.ask()
        except BaseException:
            session.close()
            raise
        return session

    def verify(self) -> None:
        """Raise if a row is not what it was when the session was made; the first new answer checks this, too."""
        if self._file is not None:
            self._file.verify()

    @property
    def file_loss(self) -> str | None:
        """What happened to the session file since it was opened, such as "replaced"; None if it is in its place."""
        return None if self._file is None else self._file.loss

    def close(self) -> None:
        """Release the session file, if there is one."""
        if self._file is not None:
            self._file.close()

    # -- showing ---------------------------------------------------------------------------------------------------

    def widget(self, items: Any = None, *, height: int = 720, show_guess: bool = False) -> Any:
        """Return the page as a widget, to be answered in a notebook: Jupyter, JupyterLab, VS Code or marimo.

        It needs `pip install 'cobras-clustering[notebook]'`. The session stays yours: what is answered in the
        widget is in `labels_` at once, and what a cell does to the session is shown. A cell that opens the session
        file and shows its widget may be run again: the session that it made before is then closed.

        Parameters
        ----------
        items : data frame, path or Dataset, optional
            What to show of each row, as `read_dataset` takes or returns it; by default the data of the session.
        height : int
            In pixels.
        show_guess : bool
            Whether the present clusters of two items are shown before they are answered.

        Returns
        -------
        anywidget.AnyWidget
            With the trait `labels`, the cluster of every row, which changes after each answer.

        Examples
        --------
        >>> session = Session.open("flowers.cobras", frame)  # doctest: +SKIP
        >>> widget = session.widget()  # doctest: +SKIP
        >>> widget.observe(lambda change: print(change["new"]), "labels")  # doctest: +SKIP
        """
        if (height := as_whole_number(height, "The height of a widget")) < 1:
            raise InvalidDataError(f"A widget is one pixel high or more, not {height}.")
        try:
            module = import_module(WIDGET)
        except ModuleNotFoundError as error:
            raise CobrasError(
                f"A widget needs {error.name}, which is not installed; pip install 'cobras-clustering[notebook]'."
            ) from error
        name = None if self._file is None else self._file.name
        if items is None and (items := self._items) is not None and len(items.X) != self.space.n:
            end, frames = self._known_rows(items)
            items = items if frames is None else items.items_with_rows(end, frames)
        widget = module.make_widget(self, items, name, height, show_guess)
        if self._file is not None:
            self._file.allow_takeover()
        return widget

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

    @locked
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

    @property
    def _shown(self) -> ShownStep:
        replay = self._replay
        return ShownStep(replay.step, replay.partition, replay.moved)

    def __reduce__(self) -> Never:
        raise CobrasError(
            "A session is neither copied nor pickled, because it runs a method. Keep it in a file by "
            "Session.open(path, X), or its answers by RecordedOracle(session.history)."
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
