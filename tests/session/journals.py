"""Journals on disk, for the tests of storage."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cobras.core.types import Event
from cobras.session.journal import Journal

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # where syncing costs nothing: many examples
posix = pytest.mark.skipif(os.name != "posix", reason="needs fork, SIGKILL and POSIX permissions")


def written(path: Path, n: int = 5) -> list[Event]:
    """A closed journal with n events of different lengths, and those events."""
    made = [Event("answer", {"n": i, "text": "é" * (i % 40)}, at=float(i)) for i in range(n)]
    with Journal(path) as journal:
        journal.set_meta(seed=7, model=b"\0" * 5000)
        for event in made:
            journal.append(event)
    return made
