"""Standard output as a screen, and the small words that go on it. Imports nothing heavy."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console, RenderableType
from rich.control import Control
from rich.segment import ControlType


def make_console() -> Console:
    """Standard output; what its encoding cannot hold is replaced, not fatal."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    return Console(highlight=False, emoji=False, markup=False)


@contextlib.contextmanager
def waiting(console: Console, text: str) -> Iterator[None]:
    """Say what is going on until it is done; a terminal only."""
    if not console.is_terminal:
        yield
        return
    console.print(text, style="dim", end="", no_wrap=True, overflow="crop")
    try:
        yield
    finally:
        console.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))


def height_of(console: Console, *parts: RenderableType) -> int:
    """How many lines the parts take on this console."""
    return sum(len(console.render_lines(part, pad=False)) for part in parts)


def counted(number: int, word: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "answer"), counted(2, "answer"), counted(0, "query")
    ('1 answer', '2 answers', '0 queries')
    """
    many = f"{word[:-1]}ies" if word.endswith("ry") else f"{word}s"
    return f"{number} {word if number == 1 else many}"


def near(path: Path) -> str:
    """The path from here where it lies below, else as it is."""
    with contextlib.suppress(ValueError):
        return str(path.absolute().relative_to(Path.cwd()))
    return str(path)
