"""A session on disk: its journal, its parameters and the fingerprint of its data, not the data.

Reading all rows to fingerprint them costs more than the first question, so it happens in a thread while the person
looks at that question; shape, type and a sample of rows are compared at once, and the rest before the first new
answer is written. Rows on a cluster would have to be sent here for that: of these only the sample is compared.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from cobras.core.checks import check_plain
from cobras.core.exceptions import DataChangedError, DataGrownError, InvalidDataError, SessionFileError
from cobras.core.types import BoolArray, Event, FloatArray
from cobras.session.entries import Entry
from cobras.session.journal import Journal

# Parameters without influence on the clustering: they may differ on resume.
FREE = {"n_jobs", "cache_dir"}
# Features of texts and images that change with every further item.
FROM_ALL = ("lsi", "pixels")


@runtime_checkable
class StorableSpace(Protocol):
    """A space that a session file can be tied to: it has its data as one table, and its parameters."""

    n: int
    table: FloatArray
    train: BoolArray | None
    parameters: dict[str, Any]


def parts_to_store(space: object) -> tuple[FloatArray, BoolArray | None, dict[str, Any]]:
    """What a session file keeps of a space: its table, all rows that may be shown, and its parameters."""
    if not isinstance(space, StorableSpace):
        raise InvalidDataError(
            f"A session file cannot be tied to a {type(space).__name__}: it needs the attributes table, train and "
            "parameters. Use Session(...) without a file, or give a table."
        )
    shown = np.broadcast_to(np.True_, space.n) if space.train is None else space.train
    return space.table, shown, space.parameters


def holds_session(path: str | os.PathLike[str]) -> bool:
    """Whether there is a session in a file; one that is empty, or not there, is for a new session."""
    file = Path(path)
    return file.is_file() and file.stat().st_size > 0


def stored_notes(path: str | os.PathLike[str]) -> tuple[Any, Any]:
    """Where the data of a session file is and how it was read; None for what it does not say, or without a session.

    The session itself opens only once its data is there.
    """
    if not holds_session(path):
        return None, None
    with Journal(path) as journal:
        return journal.get_meta("note:data"), journal.get_meta("note:recipe")


def stored_recipe(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """How the data of a session file was read; None where it was not, or where there is no session yet."""
    _, recipe = stored_notes(path)
    return recipe if isinstance(recipe, dict) else None


class StoredSession(NamedTuple):
    """What a session file says of the data and of the method.

    Attributes
    ----------
    parameters : dict
    train : array of bool, or None
        Which of the first rows may be shown; None for all.
    n_first : int
        How many rows the session was made with.
    n_appends : int
        The rows of how many appends there are, of those in force and those that were undone.
    is_grown : bool
        Whether there are more rows.
    """

    parameters: dict[str, Any]
    train: BoolArray | None
    n_first: int
    n_appends: int
    is_grown: bool


class SessionFile:
    """The journal of one session, tied to one table."""

    def __init__(self, path: str | os.PathLike[str], X: FloatArray) -> None:
        self._journal = Journal(path)
        self._X = X
        self._thread: threading.Thread | None = None
        self._is_other = False
        self._expected: str | None = None

    @property
    def is_new(self) -> bool:
        """Whether a session has yet to be created."""
        return self._journal.is_new

    def create(self, parameters: dict[str, Any], train: BoolArray | None) -> None:
        """Write the parameters, the training rows and the fingerprint of a new session."""
        self._journal.set_meta(
            parameters=parameters,
            n_rows=len(self._X),
            quick_fingerprint=quick_fingerprint(self._X),
            train=b"" if train is None or train.all() else np.packbits(train).tobytes(),
        )
        self._fingerprint_in_background(len(self._X))

    def resume(
        self,
        given: dict[str, Any],
        train: BoolArray | None,
        appends: Sequence[Entry] = (),
        n_appends: int = 0,
        grow: bool = False,
    ) -> StoredSession:
        """What was stored, after comparing it and the data with what is given.

        `appends` are those in force, `n_appends` of them, and those that redo would bring back.
        """
        name = self._journal.path.name
        n_first, n_found, is_grown = self._compare_rows(appends, n_appends, grow)
        stored = self._parameters()
        if stored.get("space") != given.get("space"):
            kind = f"a space of {stored['space']}" if "space" in stored else "a plain table"
            raise DataChangedError(
                f"{name} was made with {kind}. Open it with the same, or use another file."
            )
        for key, value in given.items():
            if key in FREE:
                stored[key] = value
            elif value is not None and stored.get(key) != value:
                raise DataChangedError(
                    f"{name} was made with {key}={stored.get(key)!r}, not {value!r}. "
                    f"Leave {key} out, or use another file."
                )
        packed = self._journal.get_meta("train") or b""
        if packed and (not isinstance(packed, bytes) or len(packed) != (n_first + 7) // 8):
            raise self._damage_error("its train")
        kept = np.unpackbits(np.frombuffer(packed, np.uint8), count=n_first).astype(bool) if packed else None
        first = None if train is None else train[:n_first]
        if first is not None and not (first.all() if kept is None else np.array_equal(first, kept)):
            raise DataChangedError(
                f"{name} was made with other train_indices. Leave them out, or use another file."
            )
        # None where the program was killed before all rows were read: then the fingerprint is written now.
        self._expected = self._journal.get_meta("fingerprint")
        self._fingerprint_in_background(n_first, appends[:n_found])
        return StoredSession(stored, kept, n_first, n_found, is_grown)

    def _compare_rows(self, appends: Sequence[Entry], n_appends: int, grow: bool) -> tuple[int, int, bool]:
        """How many rows came first, the rows of how many appends there are, and whether there are more rows."""
        X, n = self._X, len(self._X)
        n_first = appends[0].n_before if appends else self._journal.get_meta("n_rows") or n
        in_force = appends[n_appends - 1] if n_appends else None
        n_before = n_first if in_force is None else in_force.n_before + in_force.n_rows
        if not isinstance(n_first, int) or not 0 < n_first <= n:
            raise self._other_data(n_before)
        # By samples only, since the first question waits for this; all rows are compared in the background.
        first = X if n_first == n else X[:n_first]
        if self._journal.get_meta("quick_fingerprint") != quick_fingerprint(first):
            raise self._other_data(n_before)
        # Also those that were undone: their rows may be at the end of the data, or be gone from it.
        n_found, stop = 0, n_first
        for entry in appends:
            rows = X[stop : stop + entry.n_rows]
            is_here = entry.n_before == stop and len(rows) == entry.n_rows
            if not is_here or quick_fingerprint(rows) != entry.quick_fingerprint:
                break
            n_found, stop = n_found + 1, stop + entry.n_rows
        if n_found < n_appends:
            raise self._other_data(n_before)
        if stop < n:
            # What follows is neither in the session nor what was undone.
            if not grow:
                raise DataGrownError(self._journal.path.name, n_before, n)
            return n_first, n_appends, True
        return n_first, n_found, False

    def events(self) -> tuple[Event, ...]:
        """All events so far."""
        return self._journal.events()

    def verify(self) -> None:
        """Wait until all rows have been read, and raise if they are not those of the session."""
        if self._expected is not None:
            self._wait()
            if self._is_other:
                raise self._other_data()
            self._expected = None

    def append(self, *events: Event) -> None:
        """Write events, once the data is known to be the right one; they are on disk when this returns."""
        self.verify()
        self._journal.append(*events)

    def release_rows(self) -> None:
        """Let go of the table: after an append another one holds its rows."""
        self._X = self._X[:0]

    def set_notes(self, values: dict[str, Any]) -> None:
        """Store JSON values under names of the caller."""
        self._journal.set_meta(**{f"note:{key}": value for key, value in values.items()})

    def get_note(self, key: str) -> Any:
        """A value that was stored, or None."""
        return self._journal.get_meta(f"note:{key}")

    def give_up(self) -> None:
        """Close the file after a failure; one that holds no session yet is removed again."""
        created = not self._journal.is_new
        self.close()
        if not created:
            self._journal.path.unlink(missing_ok=True)

    @property
    def name(self) -> str:
        """The name of the file."""
        return self._journal.path.name

    @property
    def loss(self) -> str | None:
        """What happened to the file since it was opened; None if it is where and what it was."""
        return self._journal.loss

    def allow_takeover(self) -> None:
        """Let go of the file when this program opens it a second time."""
        self._journal.give_way = self.close

    def close(self) -> None:
        """Close the file, once its rows have been read."""
        self._wait()
        self._journal.close()

    def _parameters(self) -> dict[str, Any]:
        stored = self._journal.get_meta("parameters")
        if not isinstance(stored, dict) or not isinstance(stored.get("method"), str):
            raise self._damage_error("its parameters")
        seed = stored.get("random_state")
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise self._damage_error("its random_state")
        check_plain(stored)
        return stored

    def _damage_error(self, what: str) -> SessionFileError:
        return SessionFileError(
            f"{self._journal.path.name} is damaged: {what} cannot be read. Use a copy of it."
        )

    def _fingerprint_in_background(self, n_first: int, appends: Sequence[Entry] = ()) -> None:
        X = self._X
        if not isinstance(X, np.ndarray):  # on other machines: all rows would have to be sent here
            self._expected = None
            return

        def work() -> None:
            found = fingerprint(X[:n_first])
            if self._expected is None:
                # If the file is lost, the next answer says so.
                with contextlib.suppress(SessionFileError):
                    self._journal.set_meta(fingerprint=found)
            self._is_other = found != (self._expected or found) or any(
                fingerprint(X[e.n_before : e.n_before + e.n_rows]) != e.fingerprint for e in appends
            )

        # A program may end while it reads: what is missing then is computed when the file is opened again.
        self._thread = threading.Thread(target=work, name="cobras-fingerprint", daemon=True)
        self._thread.start()

    def _wait(self) -> None:
        if self._thread is not None:
            self._thread.join()

    def check_features(self, n_rows: int, n_given: int) -> None:
        """Refuse more rows than there are where the features of each depend on all, as those of texts do."""
        recipe = self._journal.get_meta("note:recipe")
        features = recipe.get("features") if isinstance(recipe, dict) else None
        if features in FROM_ALL:
            raise DataChangedError(
                f"{self.name} is about {n_rows} items, not {n_given}, and takes in no others: what they are "
                f"compared by ({features}) depends on all. Predict new ones, or begin a session on all of them."
            )

    def _other_data(self, n_rows: object = None) -> DataChangedError:
        """The error that the rows given are not those of the session, of which there are `n_rows`, where known."""
        n_given = len(self._X)
        if isinstance(n_rows, int) and n_rows < n_given:
            self.check_features(n_rows, n_given)
        is_known = isinstance(n_rows, int) and n_rows != n_given
        other = f"has {n_rows} rows" if is_known else "has other values, another order or another type"
        return DataChangedError(
            f"{self._journal.path.name} belongs to another table than the one given ({n_given} rows with "
            f"{self._X.shape[1]} features of {self._X.dtype}), or to an earlier state of it: that one "
            f"{other}. Open it with the data it was made with, read by the same options, or use another file."
        )


def fingerprints(X: npt.NDArray[Any]) -> dict[str, str]:
    """Both fingerprints of rows that are added to a session."""
    return {"quick_fingerprint": quick_fingerprint(X), "fingerprint": fingerprint(X)}


def fingerprint(X: npt.NDArray[Any]) -> str:
    """A name for a table: the same only for the same shape, type and contents.

    Examples
    --------
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> fingerprint(X) == fingerprint(np.asfortranarray(X)), fingerprint(X) == fingerprint(X[::-1])
    (True, False)
    """
    return _digest(X, len(X))


def quick_fingerprint(X: npt.NDArray[Any]) -> str:
    """Like `fingerprint`, from the shape, the type and at most 1,024 evenly spaced rows.

    Examples
    --------
    >>> X = np.zeros((5000, 2))
    >>> before = quick_fingerprint(X)
    >>> X[-1] = 1
    >>> quick_fingerprint(X) == before
    False
    """
    return _digest(X, min(len(X), 1024))


def _digest(X: npt.NDArray[Any], n_rows: int) -> str:
    """Hash evenly spaced rows in blocks of about a megabyte: a memory-mapped table is never copied whole."""
    if X.dtype.hasobject:
        raise InvalidDataError(f"A table of type {X.dtype} has no fingerprint. Convert it to numbers first.")
    digest = hashlib.sha256(f"{X.shape} {X.dtype.str}".encode())
    step = max(1, (1 << 20) * len(X) // max(1, X.nbytes))
    for start in range(0, n_rows, step):
        stop = min(start + step, n_rows)
        rows = np.arange(start, stop) * (len(X) - 1) // max(1, n_rows - 1)
        digest.update(X[rows].tobytes())
    return digest.hexdigest()
