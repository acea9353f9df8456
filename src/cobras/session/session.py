"""A session: an append-only journal of answers, and a method that is replayed from it.

Undo, redo, revise and resume are all replay. Splits are memoised and draw their random numbers from their place in
the split tree, so a replay repeats no k-means and asks the same questions.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, Never, Self

from cobras.core.checks import (
    as_path,
    as_seed,
    as_train_mask,
    as_whole_number,
    check_plain,
    column_names,
)
from cobras.core.edits import Editor
from cobras.core.exceptions import CobrasError, InvalidDataError
from cobras.core.frames import Items, as_items, is_frame
from cobras.core.types import Event, FloatArray
from cobras.core.writers import answers_table, labels_table, write_frame, write_table
from cobras.methods.protocol import Method
from cobras.methods.registry import check_registered, prepare, registration
from cobras.session.file import SessionFile, fingerprints, parts_to_store, stored_recipe
from cobras.session.history import History
from cobras.session.reading import in_turn
from cobras.session.replay import Setting
from cobras.session.telling import AnswerableSession
from cobras.spaces.base import Collection, RemoteSpace, Space, as_rows, check_can_grow, cut_rows

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
    ) -> Session:
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
                "A session file stores its method by name: 'cobras', 'cobra', or 'module:function' for your own."
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
            A label for each row, or None, NaN or another missing value where it is not known.
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
        path = None if path is None else as_path(path, "A session file")
        if path is not None and Path(path).exists() and Path(path).stat().st_size:
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

    def _take_in(self, X: Any, path: str | os.PathLike[str] | None) -> tuple[Items | None, Any]:
        """The data where it is more than numbers, read as a session file says, and its rows or space."""
        self._added = {}
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
        self._clear()
        self._notes: dict[str, Any] = {}

    # -- keeping ---------------------------------------------------------------------------------------------------

    def export(
        self, path: str | os.PathLike[str], ids: Sequence[Any] | None = None, *, escape: bool = True
    ) -> None:
        """Write id, cluster_id, cluster_name if any was given, and cluster of every row as CSV, Parquet or JSON.

        The suffix says which. `cluster_id` stays with its cluster and is the number on the page; `cluster` is that
        of `labels_`.

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
            rows = range(self.space.n) if ids is None else list(ids)
            table = labels_table(rows, self.labels_, self.names, self.cluster_ids_)
            write_frame(table, path, escape=escape, private=True)

    def export_answers(
        self, path: str | os.PathLike[str], ids: Sequence[Any] | None = None, *, escape: bool = True
    ) -> None:
        """Write all answers and constraints as CSV, Parquet or JSON, by suffix; see `export`."""
        path = as_path(path, "A file")
        write_table(answers_table(self.history, ids), path, escape=escape, private=True)

    def set_note(self, **values: Any) -> None:
        """Store JSON values with the session, such as where its data came from."""
        self._notes.update(values)
        if self._file is not None:
            self._file.set_notes(values)

    def get_note(self, key: str) -> Any:
        """A value stored with the session, or None."""
        return self._notes.get(key) if self._file is None else self._file.get_note(key)

    @in_turn
    def carry_over(self, path: str | os.PathLike[str], X: Any) -> Session:
        """Create a session file on the same rows with other features, and say and do there all that was done here.

        Method, options, seed and training rows are the same. The answer to a question that does not come up there
        is a constraint. Names, moves, the order of undo and the ids of clusters that hold the same rows are kept; a
        promise (pure, complete) is good only for parts that are the same there. This session stays as it is.
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
        widget = module.make_widget(self, self._items if items is None else items, name, height, show_guess)
        if self._file is not None:
            self._file.allow_takeover()
        return widget

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

    def __reduce__(self) -> Never:
        raise CobrasError(
            "A session is neither copied nor pickled, because it runs a method. Keep it in a file by "
            "Session.open(path, X), or its answers by RecordedOracle(session.history)."
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
