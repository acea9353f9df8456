"""Where in a file the table begins and ends.

Titles, dates of a report and empty lines may stand above its header, and notes below its last row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import polars as pl

from cobras.data.tables.notation import number_notation, parse_numbers

N_LINES = 60  # that are looked at
MOST = 20  # lines above a header
_NUMBER = re.compile(r"\s*[(+-]?\s*\W?\s*\d[\d.,' ]*\s*[%€$£)]?\s*")
_YEAR = re.compile(r"\s*(18|19|20)\d\d\s*")
_NOTE = re.compile(
    r"\s*([*†‡§©]{1,2}\s|\(?\d\)\s|\[\d\]\s|(sources?|notes?|footnotes?|remarks?|legend|disclaimer|copyright|quellen?|"
    r"anmerkung(en)?|hinweise?|fußnoten?|legende|fuentes?|notas?|fonti?|remarques?|bron|(last\s+)?updated)"
    r"(\s*\d{1,2})?\s*:)",
    re.IGNORECASE,
)
MOST_NOTES = 20  # rows below a table
FEWEST_ROWS = 4  # of a table with a row of totals or notes; of fewer, a word and a number prove nothing
LONGEST_NAME = 30  # characters on average; longer cells are texts, of which one may begin as a note does
NEARLY_FULL = 0.75  # the share of numbers in a column; a row of totals may leave its cell empty
_TOTAL = re.compile(
    r"\W*((grand|overall)\s+)?(totals?|sum|summe|gesamt|gesamtsumme|gesamtergebnis|insgesamt|totaal|totale|somme|"
    r"suma|soma|итого|合计|总计|合計|総計)(\s+(général|general|generale|geral|generaal|gesamt))?\W*",
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
    blank : bool
        Whether rows without any value are left out.
    totals : bool
        Whether a row of totals and notes below the table are left out.
    times : bool
        Whether cells of an Excel file that hold no date are times of day.
    sub_header : int
        The number of lines of the header below its first, where that is given.
    has_semicolons : bool
        Whether semicolons separate the cells, which leaves the comma to fractions. It is always found out.
    has_commas : bool
        Whether fractions begin with a comma in any column of numbers. It is always found out.
    """

    sheet: str | None = None
    header: int | None = None
    blank: bool = True
    totals: bool = True
    times: bool = True
    sub_header: int = 0
    has_semicolons: bool = False
    has_commas: bool = False


WHOLE = Extent()  # all is to be found out


def lines_above(rows: Sequence[Sequence[str | None]]) -> int:
    """The number of rows above the header of a table, from its first rows; 0 unless they surely are no part of it.

    The header is the first row in which nearly all columns have a name, and no name is a number; rows above it have
    fewer cells. A column below it holds numbers, two where it has a name twice, or the row above it is empty.

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
    if len(body) < 2 or any(_is_number(name) for name in names):
        return 0
    has_twice = len(set(names)) < len(names)
    n_numbers = sum(_holds_numbers(body, k) for k in range(len(header)))
    return above if n_numbers > has_twice or not (has_twice or filled[above - 1]) else 0


class Merge(NamedTuple):
    """Cells of a sheet that are merged into one, by the rows and columns of the first and the last, from 0."""

    top: int
    left: int
    bottom: int
    right: int


def merged_header(
    rows: Sequence[Sequence[str | None]], merges: Sequence[Merge], left: int = 0
) -> tuple[int, int] | None:
    """The number of rows above a header with cells that are merged downwards, and of its rows below the first.

    None if there is no such header: nearly all columns have a name, no part of which is a number, rows above have
    fewer cells, and numbers stand below. The rows begin at column `left` of the sheet.

    Examples
    --------
    >>> rows = [["shop", "sales", None], [None, "2023", "2024"], ["a", "1", "2"], ["b", "3", "4"]]
    >>> merged_header(rows, [Merge(0, 0, 1, 0), Merge(0, 1, 0, 2)])
    (0, 1)
    """
    filled = [sum(bool(cell and cell.strip()) for cell in row) for row in rows]
    width = max(filled, default=0)
    downwards = [merge for merge in merges if merge.left == merge.right and merge.top < merge.bottom]
    for top in sorted({merge.top for merge in downwards if merge.top <= MOST}):
        bottom = max(merge.bottom for merge in downwards if merge.top == top)
        body = rows[bottom + 1 :]
        if len(body) < 2:
            continue
        names = header_names(rows, merges, left, top, bottom)
        n_named = sum(map(bool, names))
        if (
            filled[bottom]
            and n_named >= max(width - 1, ceil(0.75 * width))
            and max(filled[:top], default=0) <= max(width / 2, (width == 3) * 2)
            and not any(_is_number(part) for parts in names for part in parts)
            and any(_holds_numbers(body, k) for k in range(len(names)))
        ):
            return top, bottom - top
    return None


def header_names(
    rows: Sequence[Sequence[str | None]], merges: Sequence[Merge], left: int, top: int, bottom: int
) -> list[list[str]]:
    """The different words above each column in some rows; a merged cell stands above all of its columns."""
    width = len(rows[top])
    origin = {
        (row, column): (merge.top, merge.left - left)
        for merge in merges
        for row in range(max(merge.top, top), min(merge.bottom, bottom) + 1)
        for column in range(max(merge.left - left, 0), min(merge.right - left + 1, width))
        if merge.left >= left
    }
    names: list[list[str]] = [[] for _ in range(width)]
    for row in range(top, bottom + 1):
        for column, parts in enumerate(names):
            first_row, first_column = origin.get((row, column), (row, column))
            word = (rows[first_row][first_column] or "").strip()
            if word and word not in parts:
                parts.append(word)
    return names


def is_note(text: str) -> bool:
    """Whether a line below a table may be a note on it: it begins with a mark and a blank, or a word and a colon.

    Examples
    --------
    >>> is_note("Source: statistical office"), is_note("* preliminary"), is_note("Note 10")
    (True, True, False)
    """
    return _NOTE.match(text) is not None


def may_have_notes(frame: pl.DataFrame) -> bool:
    """Whether rows of numbers are named by the first column of a table, so that a note in it is no item.

    Two other columns are nearly full of numbers. The names are short, and none begins as a note does.

    Examples
    --------
    >>> may_have_notes(pl.DataFrame({"shop": ["a", "b"], "sales": [1, 2], "staff": ["3", "7"]}))
    True
    >>> may_have_notes(pl.DataFrame({"review": ["It works", "* works"], "stars": [1, 2], "votes": [3, 4]}))
    False
    """
    names = frame[:, 0].cast(pl.String).drop_nulls()
    if not len(names) or float(names.str.len_chars().mean()) > LONGEST_NAME:  # type: ignore[arg-type]
        return False
    n_numbers = [_n_numbers(column) for column in frame[:, 1:]]
    n_full = sum(n > 1 and n >= NEARLY_FULL * frame.height for n in n_numbers)
    return n_full > 1 and not any(map(is_note, names))


def _n_numbers(column: pl.Series) -> int:
    """How many cells are numbers, perhaps as text."""
    if column.dtype == pl.String:
        return int(column.str.contains(f"^({_NUMBER.pattern})$").sum())
    return column.count() if column.dtype.is_numeric() else 0


def sentence_on_notes(first: str, n: int) -> str:
    """Say which notes below a table were left out: the first of them, and how many they are."""
    what = f"row, {first!r}: a note" if n == 1 else f"{n} rows, from {first!r} on: notes"
    return f"Left out the last {what} below the table."


def without_footer(frame: pl.DataFrame, points: bool = False) -> tuple[pl.DataFrame, list[str]]:
    """Return a table without the notes and the row of totals at its end, and what to say about them.

    A note is the only cell of its row, below a table of numbers. A row of totals begins with a word for a total,
    and its numbers are the sums of those above; `points` may separate thousands in them.
    """
    notes = []
    if n_notes := _n_notes(frame):
        notes.append(sentence_on_notes(frame[-n_notes, 0].strip(), n_notes))
        frame = frame.head(-n_notes)
    if word := _word_of_totals(frame, points):
        notes.append(f"Left out the last row, {word!r}: totals.")
        frame = pl.DataFrame([_whole(column) for column in frame.head(-1)])
    return frame, notes


def _whole(column: pl.Series) -> pl.Series:
    """A column of numbers as integers where all are whole: a fraction in the row of totals made them floats."""
    if not column.dtype.is_float() or not column.is_finite().all():
        return column
    whole = column.cast(pl.Int64, strict=False)
    return whole if (whole == column).all() and whole.null_count() == column.null_count() else column


def _n_notes(frame: pl.DataFrame) -> int:
    """How many rows at the end of a table are notes on it."""
    if frame.width < 3 or frame[:, 0].dtype != pl.String or frame[-1, -1] is not None:
        return 0
    n_notes = 0
    while n_notes < min(MOST_NOTES, frame.height - FEWEST_ROWS + 1):
        text, *others = frame.row(-1 - n_notes)
        if text is None or not is_note(text) or any(cell is not None for cell in others):
            break
        n_notes += 1
    return n_notes if n_notes and may_have_notes(frame.head(-n_notes)) else 0


def _word_of_totals(frame: pl.DataFrame, points: bool) -> str:
    """The word with which the last row begins if it is one of totals.

    One column of three or more may hold something else, such as a mean.
    """
    if frame.height < FEWEST_ROWS or frame.width < 2:
        return ""
    word = next((cell for cell in frame.row(-1) if cell is not None), None)
    if not isinstance(word, str) or _TOTAL.fullmatch(word) is None:
        return ""
    columns = [numbers for column in frame if (numbers := _numbers(column, points)) is not None]
    n_wrong = sum(not _ends_with_sum(column) for column in columns)
    # A sum of one number, or of none, may be a number like the others.
    n_right = sum(_ends_with_sum(column) and int((column.head(-1) != 0).sum()) > 1 for column in columns)
    return word.strip() if n_right and n_wrong <= (n_right > 1) else ""


def _numbers(column: pl.Series, points: bool) -> pl.Series | None:
    """A column of numbers as such; None where it holds something else, or nothing in its last cell."""
    if column.dtype == pl.String:
        if (found := number_notation(column.alias("cells"), points=points)) is None:
            return None
        column = parse_numbers(column.alias("cells"), found[0])
    return column.cast(pl.Float64) if column.dtype.is_numeric() and column[-1] is not None else None


def _ends_with_sum(column: pl.Series) -> bool:
    """Whether the last number of a column is the sum of the others; cents may be lost in it."""
    total, others = float(column[-1]), float(column.head(-1).sum())
    return abs(total - others) <= 1e-4 * abs(total)


def _is_number(name: str) -> bool:
    return _NUMBER.fullmatch(name) is not None and _YEAR.fullmatch(name) is None


def _holds_numbers(body: Sequence[Sequence[str | None]], column: int) -> bool:
    """Whether most cells of a column, and more than one, are numbers."""
    cells = [cell for row in body if len(row) > column and (cell := row[column]) and cell.strip()]
    n_numbers = sum(_NUMBER.fullmatch(cell) is not None for cell in cells)
    return n_numbers > 1 and n_numbers > len(cells) / 2
