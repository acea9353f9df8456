"""CSV and its relatives: the delimiter, the encoding, the header and the type of each column are found out.

Polars reads the cells as text, which is fast. Where its result may hide a ragged row (the last column has
empty cells) or it gives up on stray quotes, Python's own `csv` reads the file again and decides. Only then
are columns turned into numbers, one by one, so that a code such as 007 stays text.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import polars as pl

from cobras.exceptions import InvalidDataError

DELIMITERS = ",;\t|"
MISSING = ("", "na", "n/a", "nan", "null", "none", "?")
_CODE = r"^[+-]?0\d"
_DECIMAL_COMMA = r"^[+-]?\d*,?\d+([eE][+-]?\d+)?$"
_CONTROL = re.compile("[\0-\x08\x0e-\x1f\x7f]")


def read_delimited(path: Path) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Read a delimited text file, with notes on what was found out about it."""
    text, notes = _decode(path)
    delimiter = sniff_delimiter(text, "\t" if path.suffix.lower() == ".tsv" else ",")
    try:
        header = next(_rows(text, delimiter), [])
        headless = any(_is_fraction(cell) for cell in header)
        names = _column_names(path, header, headless)
        cells = _read_cells(path, text, delimiter, names, headless)
    except csv.Error as error:
        raise InvalidDataError(f"{path.name} cannot be read as a table: {error}.") from error
    if headless:
        notes.append("The first line holds numbers, so the columns are called column_1, column_2 and so on.")
    columns, commas = [], []
    for series in cells:
        typed = _typed(series)
        if typed.dtype == pl.String and delimiter != "," and (decimal := _decimal_comma(series)) is not None:
            typed = decimal
            commas.append(repr(series.name))
        columns.append(typed)
    if commas:
        notes.append(f"Read decimal commas in {', '.join(commas)}.")
    return pl.DataFrame(columns), tuple(notes)


def sniff_delimiter(text: str, usual: str = ",") -> str:
    r"""The delimiter that cuts the first lines into rows as wide as the header.

    Examples
    --------
    >>> sniff_delimiter("a;b\n1,5;2,5\n"), sniff_delimiter("a\tb\n1\t2\n"), sniff_delimiter("a\n1\n")
    (';', '\t', ',')
    """

    def fit(delimiter: str) -> tuple[bool, int, int, bool]:
        try:
            widths = [len(row) for row in islice(_rows(text[:100_000], delimiter), 20)]
        except csv.Error:
            widths = []
        width = widths[0] if widths else 0
        return width > 1, widths.count(width), width, delimiter == usual

    return max(DELIMITERS, key=fit)


def _decode(path: Path) -> tuple[str, list[str]]:
    data, notes = path.read_bytes(), []
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        # Windows' superset of Latin-1 first: its curly quotes are control characters in Latin-1 itself.
        text = data.decode("cp1252", errors="replace")
        text = data.decode("latin-1") if "\ufffd" in text else text
        if _CONTROL.search(text):
            raise InvalidDataError(
                f"{path.name} is not a text file, so it cannot be read as a table."
            ) from None
        notes.append("Read as Latin-1, since the text is not UTF-8.")
    if "\0" in text:
        raise InvalidDataError(f"{path.name} is not a text file, so it cannot be read as a table.")
    return text if "\n" in text else text.replace("\r", "\n"), notes


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    return (row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row)


def _is_fraction(cell: str) -> bool:
    """Whether a header's cell is surely data: 5.1 is, 2019 may well be the name of a column."""
    return re.fullmatch(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*", cell) is not None


def _column_names(path: Path, header: list[str], headless: bool) -> list[str]:
    names = [("" if headless else cell.strip()) or f"column_{k}" for k, cell in enumerate(header, 1)]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InvalidDataError(
            f"{path.name} has {names.count(twice[0])} columns called {twice[0]!r}; "
            "give each column its own name."
        )
    return names


def _read_cells(path: Path, text: str, delimiter: str, names: list[str], headless: bool) -> list[pl.Series]:
    """All cells as text; an empty cell is null."""
    try:
        frame = pl.read_csv(
            text.lstrip("\r\n").encode(), separator=delimiter, has_header=not headless, infer_schema=False
        )
        whole = frame.width == len(names) and frame.height > 0 and frame[:, -1].null_count() == 0
    except pl.exceptions.PolarsError:
        whole = False
    if not whole:
        frame = _read_slowly(path, text, delimiter, len(names), headless)
    # Series by series: in an expression, polars takes names such as * or ^a$ for patterns.
    return [cells.alias(name).set(cells == "", None) for name, cells in zip(names, frame, strict=True)]


def _read_slowly(path: Path, text: str, delimiter: str, width: int, headless: bool) -> pl.DataFrame:
    rows = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    for row in reader:
        if row and len(row) != width:
            raise InvalidDataError(
                f"Line {reader.line_num} of {path.name} has {len(row)} cells, "
                f"but the {'first line' if headless else 'header'} has {width}."
            )
        if row:
            rows.append(row)
    columns = zip(*rows[not headless :], strict=True) if len(rows) > (not headless) else [()] * width
    return pl.DataFrame([pl.Series(str(k), column, dtype=pl.String) for k, column in enumerate(columns)])


def _typed(series: pl.Series) -> pl.Series:
    """The column as Boolean, Int64 or Float64 where every value allows it, else as it is."""
    values = _without_missing(series)
    if values.null_count() == len(values):
        return series
    lower = values.str.to_lowercase()
    if lower.drop_nulls().is_in(["true", "false"]).all():
        return lower == "true"
    numbers = values.cast(pl.Float64, strict=False)
    if numbers.null_count() > values.null_count() or values.str.contains(_CODE).any():
        return series
    if values.str.contains(r"^[+-]?\d+$").all():
        whole = values.cast(pl.Int64, strict=False)
        return series if whole.null_count() > values.null_count() else whole
    return numbers


def _decimal_comma(series: pl.Series) -> pl.Series | None:
    values = _without_missing(series)
    if not values.str.contains(_DECIMAL_COMMA).all():
        return None
    typed = _typed(values.str.replace(",", ".", literal=True))
    return None if typed.dtype == pl.String else typed


def _without_missing(series: pl.Series) -> pl.Series:
    values = series.str.strip_chars()
    return values.set(values.str.to_lowercase().is_in(MISSING).fill_null(True), None)
