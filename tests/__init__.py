"""All tests; and other programs for them, which do not outlive a test, however it ends."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any


@contextlib.contextmanager
def started(command: Sequence[Any], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """A program that is killed at the end, if it has not ended by then."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.kill()
