"""Journals on disk, for the tests of storage."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cobras import Session
from cobras.core.exceptions import DataGrownError
from cobras.core.types import Event
from cobras.session.journal import Journal

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # where syncing costs nothing: many examples
posix = pytest.mark.skipif(os.name != "posix", reason="needs fork, SIGKILL and POSIX permissions")


def reopen(path, X, n_first=None, **options):
    """Open a session that has some of the rows of X; a new one has the first `n_first`."""
    try:
        is_new = n_first is not None and not (Path(path).is_file() and Path(path).stat().st_size)
        return Session.open(path, X[:n_first] if is_new else X, **options)
    except DataGrownError as error:
        return Session.open(path, X[: error.n_before], **options)


def written(path: Path, n: int = 5) -> list[Event]:
    """A closed journal with n events of different lengths, and those events."""
    made = [Event("answer", {"n": i, "text": "é" * (i % 40)}, at=float(i)) for i in range(n)]
    with Journal(path) as journal:
        journal.set_meta(seed=7, model=b"\0" * 5000)
        for event in made:
            journal.append(event)
    return made
