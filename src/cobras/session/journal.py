"""The journal of a session on disk: one SQLite file per session.

An event is on the disk when `append` returns, so a killed program loses nothing that was acknowledged. The
lock on the file is SQLite's own and dies with the process. SQLite does not notice a flipped bit inside a row, nor
that a row is gone, so each row carries a checksum, and a seal counts and sums up all rows. Everything is compared
when the file is opened.

Closing any descriptor of a file drops every POSIX lock that the process has on it. While a journal is open,
no other code in the same program may open its file, not even to copy it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import struct
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Self
from weakref import WeakValueDictionary, finalize

import numpy as np

from cobras.core.exceptions import SessionFileError
from cobras.core.types import Event

APPLICATION_ID = 0x434F4252  # "COBR"
# Statements that lead from each version of the tables to the next; a new file goes through all of them.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL, checksum INTEGER NOT NULL)",
        "CREATE TABLE event (seq INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, "
        "body TEXT NOT NULL, checksum INTEGER NOT NULL)",
    ),
    # One row, written with every change: the number of events, a checksum over theirs, and one over those of meta.
    (
        "CREATE TABLE seal (n_events INTEGER NOT NULL, events INTEGER NOT NULL, meta INTEGER NOT NULL, "
        "checksum INTEGER NOT NULL)",
    ),
)
N_COPIES = 100  # attempts to copy a file while nothing is written
SEALED = 2  # the first version with a seal
_HEADER = struct.Struct(">16s44xi4xi28x")  # of every SQLite file: magic, user_version, application_id

_PLAIN = frozenset((int, float, str))
_join = json.JSONEncoder(separators=("", "")).encode

_opening = threading.Lock()
_open_here: WeakValueDictionary[tuple[int, int], Journal] = WeakValueDictionary()


class Journal:
    """The events of one session and a few facts about it, in a file that only this object may use.

    Parameters
    ----------
    path : path-like
        The file. It is created when it does not exist or is empty.

    Attributes
    ----------
    give_way : callable or None
        Closes it when the file is opened a second time in the same program, which is refused where this is None.

    Raises
    ------
    SessionFileError
        When the file is foreign, damaged, newer than this version, not writable, or open elsewhere.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Journal(Path(folder, "flowers.cobras")) as journal:
    ...         journal.set_meta(seed=7)
    ...         journal.append(Event("answer", {"i": 4, "j": 90, "answer": 1}))
    ...     with Journal(Path(folder, "flowers.cobras")) as journal:
    ...         journal.is_new, journal.get_meta("seed"), journal.events()[0].body
    (False, 7, {'i': 4, 'j': 90, 'answer': 1})
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()
        self.give_way: Callable[[], None] | None = None
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._stamp: tuple[int, int] | None = None  # size and time of the last write; None when not known
        with _opening, self._explain_errors():
            self._refuse_foreign()
            # Other users must not read answers and names; SQLite gives its log the permissions of the file.
            with contextlib.suppress(OSError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            db = sqlite3.connect(self.path, timeout=0.2, isolation_level=None, check_same_thread=False)
            try:
                self._connection = db
                self._prepare()
                self._identity, self._stamp = _identity(self.path), _stamp(self.path)
            except BaseException:
                db.close()
                raise
            _open_here[self._identity] = self
            finalize(self, db.close)  # a dropped connection is part of a cycle and would keep the lock

    @property
    def is_new(self) -> bool:
        """Whether nothing has been written yet."""
        with self._explain_errors(), self._lock:
            db = self._open()
            return not self._seal(db)[0] and not db.execute("SELECT 1 FROM meta").fetchall()

    def events(self) -> tuple[Event, ...]:
        """All events, in the order in which they were appended."""
        with self._explain_errors(), self._lock:
            return tuple(self._events(self._open()))

    def append(self, *events: Event) -> None:
        """Write events, all of them or none; they are on the disk when this returns."""
        bodies = [json.dumps(event.body, default=_as_json) for event in events]

        def insert(db: sqlite3.Connection) -> None:
            for event, body in zip(events, bodies, strict=True):
                n_events, seal, meta = self._seal(db)
                row = (n_events + 1, float(event.at) + 0.0, event.kind, body)  # SQLite knows no -0.0
                checksum = _checksum(*row)
                db.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?)", (*row, checksum))
                self._set_seal(db, n_events + 1, _checksum(checksum, start=seal), meta)

        self._transact(insert)

    def get_meta(self, key: str) -> Any | None:
        """The value stored under `key`, or None."""
        rows = self._rows("SELECT key, value, checksum FROM meta WHERE key = ?", key)
        return next((self._meta_value(*row) for row in rows), None)

    def set_meta(self, **values: Any) -> None:
        """Store JSON values or bytes, all of them or none."""
        stored = {
            key: bytes(value)
            if isinstance(value, (bytes, bytearray, memoryview))
            else json.dumps(value, default=_as_json)
            for key, value in values.items()
        }

        def replace(db: sqlite3.Connection) -> None:
            n_events, events, _ = self._seal(db)
            for row in stored.items():
                db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", (*row, _checksum(*row)))
            self._set_seal(db, n_events, events, _meta_checksum(db))

        self._transact(replace)

    def close(self) -> None:
        """Fold the write-ahead log into the file and release the lock."""
        with self._explain_errors(), self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
                if self._identity is not None:
                    _open_here.pop(self._identity, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _refuse_foreign(self) -> None:
        """Look at the first bytes only: opening through SQLite could already roll a foreign file back."""
        name = self.path.name
        if not self.path.parent.is_dir():
            raise SessionFileError(f"{self.path.parent} is not a folder. Create it first, or choose another.")
        if not self.path.exists():
            return
        if not self.path.is_file():
            raise SessionFileError(f"{name} is a folder or a device, not a file. Choose another name.")
        if (other := _open_here.get(_identity(self.path))) is not None:
            if other.give_way is None:
                raise SessionFileError(f"{name} is already open in this program. Close it there first.")
            other.give_way()
        if not os.access(self.path, os.R_OK | os.W_OK):
            raise SessionFileError(
                f"{name} may not be read and written. Change its permissions, or use a copy."
            )
        with self.path.open("rb") as file:
            head = file.read(_HEADER.size)
        if not head:  # a program was killed while it created the file
            return
        magic, version, application = _HEADER.unpack(head.ljust(_HEADER.size, b"\0"))
        if magic != b"SQLite format 3\0" or (application != APPLICATION_ID and len(head) == _HEADER.size):
            raise SessionFileError(f"{name} is not a session file of cobras. Choose another name.")
        if len(head) < _HEADER.size:
            raise SessionFileError(f"{name} ends after {len(head)} bytes. Use a copy of the file.")
        self._refuse_newer(version)

    def _refuse_newer(self, version: int) -> None:
        if version > len(MIGRATIONS):
            raise SessionFileError(
                f"{self.path.name} has format {version}, but this version of cobras reads formats up to "
                f"{len(MIGRATIONS)}. Install a newer version."
            )

    def _prepare(self) -> None:
        """Take the lock, create or migrate the tables in one transaction, then turn to a write-ahead log."""
        self._rows("PRAGMA locking_mode = EXCLUSIVE")
        self._rows("PRAGMA synchronous = FULL")
        # At every commit, so that whoever moves the file of a killed program without its -wal loses nothing.
        self._rows("PRAGMA wal_autocheckpoint = 1")

        def migrate(db: sqlite3.Connection) -> None:
            ((version,),) = db.execute("PRAGMA user_version")
            self._refuse_newer(version)
            # Views, triggers and other columns are not ours: nothing is read from them.
            if version < 0 or _schema(db) != _schema_of(MIGRATIONS[:version]):
                raise sqlite3.DatabaseError("the tables are not those of this format")
            found = self._check(db, sealed=version >= SEALED)
            for statement in chain(*MIGRATIONS[version:]):
                db.execute(statement)
            if version < SEALED:
                db.execute("INSERT INTO seal VALUES (0, 0, 0, 0)")
                self._set_seal(db, *found)
            if version < len(MIGRATIONS):
                db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

        self._transact(migrate, "EXCLUSIVE")
        # Last, because the switch writes a page of its own. Where SQLite does not answer "wal", it keeps its
        # rollback journal, which is as safe.
        self._rows("PRAGMA journal_mode = WAL")

    def _check(self, db: sqlite3.Connection, sealed: bool) -> tuple[int, int, int]:
        """Read everything once, and return its seal; what is damaged raises."""
        if not _schema(db):
            return 0, 0, 0
        self._events(db, sealed)
        checksums = [checksum for (checksum,) in db.execute("SELECT checksum FROM event ORDER BY seq")]
        for row in db.execute("SELECT key, value, checksum FROM meta").fetchall():
            self._meta_value(*row)
        found = len(checksums), _checksum(*checksums), _meta_checksum(db)
        if (sealed and found != self._seal(db)) or db.execute("PRAGMA integrity_check(1)").fetchall() != [
            ("ok",)
        ]:
            raise sqlite3.DatabaseError("rows are missing, or the file is not sound")
        return found

    def _events(self, db: sqlite3.Connection, sealed: bool = True) -> list[Event]:
        found: list[Event] = []
        # An open cursor, perhaps kept by a traceback, would keep the lock beyond close().
        with self._explain_errors(found), contextlib.closing(db.cursor()) as rows:
            rows.execute("SELECT seq, at, kind, body, checksum FROM event ORDER BY seq")
            for seq, at, kind, text, checksum in rows:
                body = _from_json(text)
                if (
                    seq != len(found) + 1
                    or checksum != _checksum(seq, at, kind, text)
                    or not isinstance(kind, str)
                    or not isinstance(at, float)
                    or not isinstance(body, dict)
                ):
                    raise sqlite3.DatabaseError("a row does not match its checksum")
                found.append(Event(kind, body, at))
            if sealed and len(found) != self._seal(db)[0]:
                raise sqlite3.DatabaseError("events are missing")
        return found

    def _meta_value(self, key: Any, value: Any, checksum: Any) -> Any:
        with contextlib.suppress(sqlite3.DatabaseError):
            if checksum == _checksum(key, value):
                return value if isinstance(value, bytes) else _from_json(value)
        raise SessionFileError(f"{self.path.name} is damaged: its {key} cannot be read. Use a copy of it.")

    def _seal(self, db: sqlite3.Connection) -> tuple[int, int, int]:
        rows = db.execute("SELECT n_events, events, meta, checksum FROM seal").fetchall()
        if len(rows) != 1 or rows[0][3] != _checksum(*rows[0][:3]):
            raise sqlite3.DatabaseError("the seal is broken")
        n_events, events, meta, _ = rows[0]
        return n_events, events, meta

    def _set_seal(self, db: sqlite3.Connection, *seal: int) -> None:
        db.execute(
            "UPDATE seal SET n_events = ?, events = ?, meta = ?, checksum = ?", (*seal, _checksum(*seal))
        )

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise SessionFileError(f"{self.path.name} is closed. Open it again.")
        if self._connection.in_transaction:  # Ctrl-C came before it could be rolled back
            self._connection.execute("ROLLBACK")
        return self._connection

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with self._explain_errors(), self._lock:
            return self._open().execute(query, values).fetchall()

    def _transact(self, work: Callable[[sqlite3.Connection], None], kind: str = "IMMEDIATE") -> None:
        with self._explain_errors(), self._lock:
            db = self._open()
            self._refuse_lost()
            self._stamp = None
            try:
                db.execute(f"BEGIN {kind}")
                work(db)
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:  # when the disk is full, SQLite has rolled back already
                    db.execute("ROLLBACK")
                raise
            self._refuse_lost()
            if self._identity is not None:
                self._stamp = _stamp(self.path)

    @property
    def loss(self) -> str | None:
        """What happened to the file since it was opened; None if it is where and what it was."""
        if self._identity is None:  # being opened
            return None
        try:
            identity, stamp = _identity(self.path), _stamp(self.path)
        except FileNotFoundError:
            return "deleted or moved"
        if identity == self._identity and stamp[0] and stamp == (self._stamp or stamp):
            return None
        return "replaced" if identity != self._identity else "changed by another program"

    def _refuse_lost(self) -> None:
        """Notice that the file is gone or is another one: SQLite would write on into what nobody finds again."""
        if (loss := self.loss) is None:
            return
        raise SessionFileError(
            f"{self.path.name} was {loss} while it was open, so this change is not saved. Export what you need, "
            "close the session, and open a file that is complete."
        )

    @contextlib.contextmanager
    def _explain_errors(self, found: list[Event] | None = None) -> Iterator[None]:
        """Turn the errors of SQLite and of the file system into one sentence each."""
        name = self.path.name
        try:
            yield
        except SessionFileError:
            raise
        except OSError as error:
            raise SessionFileError(f"{name} cannot be opened: {error.strerror}.") from error
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter from damaged names of tables
            match getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF:
                case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                    text = f"is open in another program{_holder(self.path)}. Close it there first."
                case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
                    text = "cannot be written. Allow writing to the file and its folder, or choose another."
                case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR:
                    text = f"could not be read or written ({error}). Check the disk and its free space."
                case _:
                    after = "" if found is None else f" after the first {len(found)} events"
                    text = f"is damaged{after}. Use a copy of the file."
            raise SessionFileError(f"{name} {text}") from error


@contextlib.contextmanager
def copy_of(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Copy a session file, as it is after its last change, also while another program has it open.

    Raises
    ------
    SessionFileError
        When it is open in this program, or changes all the time.
    """
    path = Path(path).absolute()
    if path.exists() and _identity(path) in _open_here:  # reading it would drop its lock
        raise SessionFileError(f"{path.name} is already open in this program. Close it there first.")
    # Written but not yet in the file itself; SQLite finds it beside the copy.
    parts = [path.with_name(f"{path.name}{end}") for end in ("", "-wal", "-journal")]
    with tempfile.TemporaryDirectory(prefix="cobras-copy-") as folder:
        for _ in range(N_COPIES):
            before = [_stamp(part) if part.exists() else None for part in parts]
            for part, found in zip(parts, before, strict=True):
                Path(folder, part.name).unlink(missing_ok=True)
                if found is not None:
                    with contextlib.suppress(FileNotFoundError):
                        shutil.copyfile(part, Path(folder, part.name))
            if before == [_stamp(part) if part.exists() else None for part in parts]:
                break
            time.sleep(0.05)
        else:
            raise SessionFileError(f"{path.name} is changed all the time. Try again.")
        yield Path(folder, path.name)


def _schema(db: sqlite3.Connection) -> list[tuple[object, ...]]:
    query = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
    return db.execute(query).fetchall()


@cache
def _schema_of(migrations: tuple[tuple[str, ...], ...]) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        for statement in chain(*migrations):
            db.execute(statement)
        return _schema(db)


def _meta_checksum(db: sqlite3.Connection) -> int:
    return _checksum(*db.execute("SELECT key, checksum FROM meta ORDER BY key").fetchall())


def _from_json(text: object) -> Any:
    try:
        return json.loads(text)  # type: ignore[arg-type]
    except (ValueError, TypeError, RecursionError) as error:
        raise sqlite3.DatabaseError("a value is not JSON") from error


def _checksum(*columns: object, start: int = 0) -> int:
    """The CRC-32 of values one after another: bytes as they are, others as JSON."""
    # One call for all of a row: a file opens in half the time.
    if _PLAIN.issuperset(map(type, columns)):
        return zlib.crc32(_join(columns)[1:-1].encode(), start)
    crc = start
    for value in columns:
        try:
            crc = zlib.crc32(value if isinstance(value, bytes) else json.dumps(value).encode(), crc)
        except TypeError as error:  # in a damaged index, a key may be bytes
            raise sqlite3.DatabaseError("a value is neither JSON nor bytes") from error
    return crc


def _as_json(value: object) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"A journal holds JSON values, not {type(value).__name__}.")


def _identity(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_dev, stat.st_ino


def _stamp(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


def _holder(path: Path) -> str:
    """Who holds SQLite's lock, where the kernel says so (Linux)."""
    if sys.platform != "linux":
        return ""
    import fcntl

    flock = struct.Struct("hhqqi4x")  # type, whence, start, length, process
    with contextlib.suppress(OSError), path.open("rb+") as file:
        request = flock.pack(fcntl.F_WRLCK, os.SEEK_SET, 0x40000000, 512, 0)  # the bytes that SQLite locks
        kind, *_, process = flock.unpack(fcntl.fcntl(file, fcntl.F_GETLK, request))
        if kind != fcntl.F_UNLCK and process > 0:
            return f" (process {process})"
    return ""
