"""Two texts side by side, the words of which only one has set in bold."""

from __future__ import annotations

import re

from rich.cells import cell_len, chop_cells
from rich.table import Table
from rich.text import Text

from cobras.cli.terminal.glyphs import Glyphs

READ = 20_000  # characters of a text that are looked at


def plain(value: object) -> str:
    r"""One line of printable text: a cell of the data cannot steer the terminal.

    Examples
    --------
    >>> plain("two\nlines and \x1b[31m red")
    'two lines and  [31m red'
    """
    return "".join(character if character.isprintable() else " " for character in str(value))


def render_texts(
    titles: tuple[str, str], left: str, right: str, glyphs: Glyphs, width: int, height: int
) -> Table:
    """Both texts in at most `height` lines."""
    column = max(8, (width - 4) // 2)
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=column)
    grid.add_column(width=column)
    grid.add_row(*(Text(chop_cells(title, column)[0] if title else "", "bold underline") for title in titles))
    sides = [
        wrapped(text, other, column, max(1, height - 1), glyphs)
        for text, other in ((left, right), (right, left))
    ]
    for k in range(max(len(side) for side in sides)):
        grid.add_row(*(side[k] if k < len(side) else Text("") for side in sides))
    return grid


def wrapped(text: str, other: str, width: int, height: int, glyphs: Glyphs) -> list[Text]:
    """A text in lines; bold is what the other one lacks.

    Examples
    --------
    >>> from cobras.cli.terminal.glyphs import ASCII
    >>> [line.plain for line in wrapped("one two three four", "two", 9, 2, ASCII)]
    ['one two', 'three...']
    """
    known = set(_words(other[:READ]))
    lines, line, used = [], Text(), 0
    pieces = re.findall(r"\S+", plain(text[:READ])) or [glyphs.missing]
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
