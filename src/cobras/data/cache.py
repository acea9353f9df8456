"""A cache of what takes long to compute, by the content that it is computed from.

One SQLite file for all of it. The cache is never needed: where it cannot be written, or is damaged, everything is
simply computed again.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import sqlite3
import threading
from functools import cache
from pathlib import Path

_SCHEMA = """
CREATE TABLE IF NOT EXISTS content (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS seen (path TEXT PRIMARY KEY, stamp TEXT NOT NULL, digest TEXT NOT NULL) WITHOUT ROWID;
"""


def cache_folder() -> Path:
    """Return the folder for what can be made again: cobras in the user's cache, `XDG_CACHE_HOME` or ~/.cache.

    Only the user may look into it: it holds copies of tables that nobody else may read.
    """
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")  # noqa: PTH118
    folder = Path(os.path.expanduser(home)) / "cobras"  # noqa: PTH111 (Path's own raises where there is no home)
    with contextlib.suppress(OSError):
        folder.mkdir(0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    return folder


def printable(name: str) -> str:
    r"""The name of a file as text: bytes that are no UTF-8 are written as escapes.

    Examples
    --------
    >>> print(printable("caf\udce9.png"), printable("café.png"))
    caf\udce9.png café.png
    """
    return name.encode("utf-8", "backslashreplace").decode()


class Cache:
    """Bytes by key, and the digests of files that have not changed since they were read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = Cache(Path(folder))
    ...     cache.put({"answer": b"42"})
    ...     found = cache.get("answer"), cache.get("question")
    ...     cache.close()
    >>> found
    (b'42', None)
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None
        folder = cache_folder() if folder is None else folder
        with contextlib.suppress(OSError, sqlite3.Error):
            folder.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(folder / "content.sqlite", timeout=5, check_same_thread=False)
            try:
                database.executescript(f"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; {_SCHEMA}")
                self._database = database
            except sqlite3.Error:
                database.close()

    def get(self, key: str) -> bytes | None:
        """Return the bytes under a key, or None."""
        return self._one("SELECT value FROM content WHERE key = ?", key)

    def put(self, values: dict[str, bytes]) -> None:
        """Store values; where that fails, they are computed again next time."""
        self._write("INSERT OR REPLACE INTO content VALUES (?, ?)", list(values.items()))

    def digest(self, path: Path) -> str:
        """The digest of a file's content; the file is read only when its size or time has changed."""
        if not path.is_file() and path.exists():
            raise OSError(errno.EINVAL, "it is not a regular file")  # a pipe or a device may never end
        stat = path.stat()
        stamp = f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ino}"
        # Of thousands of photos, none is read again: size, time and inode are enough to know a file.
        name = printable(str(path.absolute()))
        known = self._one("SELECT digest FROM seen WHERE path = ? AND stamp = ?", name, stamp)
        if known is not None:
            return str(known)
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        self._write("INSERT OR REPLACE INTO seen VALUES (?, ?, ?)", [(name, stamp, found)])
        return found

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    def _one(self, query: str, *values: str) -> bytes | None:
        with self._lock, contextlib.suppress(sqlite3.Error):
            row = self._database and self._database.execute(query, values).fetchone()
            return row[0] if row else None
        return None

    def _write(self, query: str, rows: list[tuple[object, ...]]) -> None:
        with self._lock, contextlib.suppress(sqlite3.Error):
            if self._database is not None:
                with self._database:
                    self._database.executemany(query, rows)


def shared_cache() -> Cache:
    """The cache of this process, in the user's cache folder."""
    return _cache_in(cache_folder())


@cache
def _cache_in(folder: Path) -> Cache:
    return Cache(folder)
