"""Questions and answers in a terminal; here its characters, and texts cut to its cells."""

from __future__ import annotations

import re
from dataclasses import astuple, dataclass

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console, RenderableType
from rich.text import Text

LONGEST = 20_000  # characters of a text that are compared and shown


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters that are not letters: `bar` from an empty to a full cell, `shades` from paper to ink."""

    dot: str
    more: str
    tick: str
    missing: str
    differ: str
    alike: str
    bar: str
    shades: str
    half: str  # upper half of a cell; empty where the encoding has no blocks


UNICODE = Glyphs("·", "…", "✓", "–", "≠", "=", " ▏▎▍▌▋▊▉█", " ░▒▓█", "▀")
ASCII = Glyphs("|", "...", "ok:", "-", "!=", "=", "  #", " .:-=+*#%@", "")


def glyphs_for(encoding: str) -> Glyphs:
    """Return the characters that an encoding can hold.

    Examples
    --------
    >>> glyphs_for("utf-8").tick, glyphs_for("ascii").tick, glyphs_for("latin-1").tick
    ('✓', 'ok:', 'ok:')
    """
    try:
        "".join(astuple(UNICODE)).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def height_of(console: Console, *parts: RenderableType) -> int:
    """Return how many lines the parts take on this console."""
    return sum(len(console.render_lines(part, pad=False)) for part in parts)


def printable(value: object) -> str:
    r"""Return one line of printable text: control characters in the data must not reach the terminal.

    Examples
    --------
    >>> printable("two\nlines and \x1b[31m red")
    'two lines and  [31m red'
    """
    return "".join(character if character.isprintable() else " " for character in str(value))


def fold_text(text: str, width: int) -> list[str]:
    """Return the lines of a text: words as wholes, longer ones broken.

    Examples
    --------
    >>> fold_text("needs invoices, deliveries", 10)
    ['needs', 'invoices,', 'deliveries']
    """
    lines: list[str] = []
    for word in text.split():
        for part in chop_cells(word, width):
            if lines and cell_len(lines[-1]) + 1 + cell_len(part) <= width:
                lines[-1] += f" {part}"
            else:
                lines.append(part)
    return lines or [""]


def cut_text(text: str, width: int, height: int, glyphs: Glyphs) -> str:
    """Return at most `height` lines of text; in a single one, a word may be broken."""
    lines = fold_text(text, width) if height > 1 else chop_cells(text, width)
    if len(lines) > height:
        lines = lines[:height]
        room = width - cell_len(glyphs.more)
        lines[-1] = set_cell_size(lines[-1], min(room, cell_len(lines[-1]))) + glyphs.more
    return "\n".join(lines)


def wrap_text(text: str, other: str, width: int, height: int, glyphs: Glyphs) -> list[Text]:
    """Return a text in at most `height` lines, with the words in bold that the other text does not have.

    Examples
    --------
    >>> [line.plain for line in wrap_text("one two three four", "two", 9, 2, ASCII)]
    ['one two', 'three...']
    """
    known = set(_words(other[:LONGEST]))
    lines, line, used = [], Text(), 0
    pieces = re.findall(r"\S+", printable(text[:LONGEST])) or [glyphs.missing]
    # Words wrap as wholes, longer ones are broken; cells count, since some characters are two cells wide.
    for piece in pieces:
        style = "bold" if any(word not in known for word in _words(piece)) else ""
        for part in chop_cells(piece, width):
            room = cell_len(part) + bool(used)
            if used + room > width:
                lines.append(line)
                line, used, room = Text(), 0, cell_len(part)
            if used:
                line.append(" ")
            line.append(part, style)
            used += room
        if len(lines) > height:
            break
    lines.append(line)
    if len(lines) > height:
        lines = lines[:height]
        lines[-1].truncate(width - cell_len(glyphs.more))
        lines[-1].append(glyphs.more)
    return lines


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
