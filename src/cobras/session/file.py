"""A session on disk: its journal, its parameters and the fingerprint of its data, not the data.

Reading all rows to fingerprint them costs more than the first question, so it happens in a thread while the person
looks at that question; shape, type and a sample of rows are compared at once, and the rest before the first new
answer is written. Rows on a cluster would have to be sent here for that: of these only the sample is compared.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Protocol, runtime_checkable

import numpy as np

from cobras.core.checks import check_plain
from cobras.core.exceptions import DataChangedError, InvalidDataError, SessionFileError
from cobras.core.types import BoolArray, Event, FloatArray
from cobras.session.journal import Journal, fingerprint, quick_fingerprint

# Parameters without influence on the clustering: they may differ on resume.
FREE = {"n_jobs", "cache_dir"}


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


class SessionFile:
    """The journal of one session, tied to one table."""

    def __init__(self, path: str | os.PathLike[str], X: FloatArray) -> None:
        self._journal = Journal(path)
        self._X = X
        self._thread: threading.Thread | None = None
        self._found: str | None = None
        self._expected: str | None = None

    @property
    def is_new(self) -> bool:
        """Whether a session has yet to be created."""
        return self._journal.is_new

    def create(self, parameters: dict[str, Any], train: BoolArray | None) -> None:
        """Write the parameters, the training rows and the fingerprint of a new session."""
        self._journal.set_meta(
            parameters=parameters,
            quick_fingerprint=quick_fingerprint(self._X),
            train=b"" if train is None or train.all() else np.packbits(train).tobytes(),
        )
        self._fingerprint_in_background()

    def resume(
        self, given: dict[str, Any], train: BoolArray | None
    ) -> tuple[dict[str, Any], BoolArray | None]:
        """The stored parameters and training mask, after comparing them and the data with what is given."""
        name, n = self._journal.path.name, len(self._X)
        if self._journal.get_meta("quick_fingerprint") != quick_fingerprint(self._X):
            raise self._other_data()
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
        if packed and (not isinstance(packed, bytes) or len(packed) != (n + 7) // 8):
            raise self._damaged("its train")
        kept = np.unpackbits(np.frombuffer(packed, np.uint8), count=n).astype(bool) if packed else None
        if train is not None and not (train.all() if kept is None else np.array_equal(train, kept)):
            raise DataChangedError(
                f"{name} was made with other train_indices. Leave them out, or use another file."
            )
        # None where the program was killed before all rows were read: then the fingerprint is written now.
        self._expected = self._journal.get_meta("fingerprint")
        self._fingerprint_in_background()
        return stored, kept

    def events(self) -> tuple[Event, ...]:
        """All events so far."""
        return self._journal.events()

    def verify(self) -> None:
        """Wait until all rows have been read, and raise if they are not those of the session."""
        if self._expected is not None:
            self._wait()
            if self._found != self._expected:
                raise self._other_data()
            self._expected = None

    def append(self, event: Event) -> None:
        """Write one event, once the data is known to be the right one; it is on disk when this returns."""
        self.verify()
        self._journal.append(event)

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

    def close(self) -> None:
        """Close the file, once its rows have been read."""
        self._wait()
        self._journal.close()

    def _parameters(self) -> dict[str, Any]:
        stored = self._journal.get_meta("parameters")
        if not isinstance(stored, dict) or not isinstance(stored.get("method"), str):
            raise self._damaged("its parameters")
        seed = stored.get("random_state")
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise self._damaged("its random_state")
        check_plain(stored)
        return stored

    def _damaged(self, what: str) -> SessionFileError:
        return SessionFileError(
            f"{self._journal.path.name} is damaged: {what} cannot be read. Use a copy of it."
        )

    def _fingerprint_in_background(self) -> None:
        if not isinstance(self._X, np.ndarray):
            self._expected = None
            return

        def work() -> None:
            self._found = fingerprint(self._X)
            if self._expected is None:
                self._journal.set_meta(fingerprint=self._found)

        self._thread = threading.Thread(target=work, name="cobras-fingerprint", daemon=True)
        self._thread.start()

    def _wait(self) -> None:
        if self._thread is not None:
            self._thread.join()

    def _other_data(self) -> DataChangedError:
        return DataChangedError(
            f"{self._journal.path.name} belongs to another table than the one given ({self._X.shape[0]} rows x "
            f"{self._X.shape[1]} columns). Open it with the data it was made with, or use another file."
        )
