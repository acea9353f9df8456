"""Where in a file the table begins and ends.

Titles, dates of a report and empty lines may stand above its header, and notes below its last row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

N_LINES = 60  # that are looked at
MOST = 20  # lines above a header
_NUMBER = re.compile(r"\s*[(+-]?\s*\W?\s*\d[\d.,' ]*\s*[%€$£)]?\s*")
_YEAR = re.compile(r"\s*(18|19|20)\d\d\s*")
_NOTE = re.compile(
    r"\s*([*†‡§©]|\(?\d\)\s|\[\d\]|(sources?|notes?|footnotes?|remarks?|legend|disclaimer|copyright|quellen?|"
    r"anmerkung(en)?|hinweise?|fußnoten?|legende|fuentes?|notas?|fonti?|remarques?|bron|(last\s+)?updated|"
    r"(generated|exported|created|downloaded)\s+(on|at|by|from))\b\s*[:.\s])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Extent:
    """Which part of a file is the table.

    Attributes
    ----------
    sheet : str or None
        The sheet of an Excel file; None to find the first that holds a table.
    header : int or None
        The number of lines above the header; None to find out.
    blank : int or None
        The number of rows without any value that were left out; None to find out, 0 to keep them.
    totals : int or None
        The number of rows at the end that were left out, a row of totals and notes below the table; None to find
        out, 0 to keep them.
    """

    sheet: str | None = None
    header: int | None = None
    blank: int | None = None
    totals: int | None = None


WHOLE = Extent()  # all is to be found out


def lines_above(rows: Sequence[Sequence[str | None]]) -> int:
    """The number of rows above the header of a table, from its first rows; 0 unless they surely are no part of it.

    The header is the first row in which nearly all columns have a name, and no name is a number; rows above it have
    fewer cells, and a column below it holds numbers.

    Examples
    --------
    >>> lines_above([["Sales 2023"], [], ["shop", "north", "south"], ["a", "1", "2"], ["b", "3", "4"]])
    2
    >>> lines_above([["shop", "north"], ["a", "1"], ["b", "3"]])
    0
    """
    filled = [sum(bool(cell and cell.strip()) for cell in row) for row in rows]
    width = max(filled, default=0)
    nearly = max(width - 1, ceil(0.75 * width))
    above = next((k for k, n in enumerate(filled) if n >= nearly), 0)
    if width < 2 or not 0 < above <= MOST or not 0 < max(filled[:above]) <= max(width / 2, (width == 3) * 2):
        return 0
    header, body = rows[above], rows[above + 1 :]
    names = [cell.strip() for cell in header if cell and cell.strip()]
    if len(body) < 2 or len(set(names)) < len(names) or any(_is_number(name) for name in names):
        return 0
    return above if any(_holds_numbers(body, k) for k in range(len(header))) else 0


def is_note(text: str) -> bool:
    """Whether a line below a table is a note on it, by the mark or the word that it begins with.

    Examples
    --------
    >>> is_note("Source: statistical office"), is_note("* preliminary"), is_note("Notebook 13")
    (True, True, False)
    """
    return _NOTE.match(text) is not None


def _is_number(name: str) -> bool:
    return _NUMBER.fullmatch(name) is not None and _YEAR.fullmatch(name) is None


def _holds_numbers(body: Sequence[Sequence[str | None]], column: int) -> bool:
    """Whether most cells of a column, and more than one, are numbers."""
    cells = [cell for row in body if len(row) > column and (cell := row[column]) and cell.strip()]
    n_numbers = sum(_NUMBER.fullmatch(cell) is not None for cell in cells)
    return n_numbers > 1 and n_numbers > len(cells) / 2
