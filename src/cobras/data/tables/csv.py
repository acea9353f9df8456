"""CSV and similar files: the delimiter, the encoding, the header and the type of each column are found out.

Polars reads the cells as text, which is fast. Where its result may hide a row of another width (the last column has
empty cells) or it gives up on stray quotes, Python's own `csv` reads the file again and decides. Only then
are columns turned into numbers, one by one, so that a code such as 007 stays text.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.core.threads import on_all_cores
from cobras.data.tables.columns import has_nan
from cobras.data.tables.header import N_LINES, Extent, is_note, lines_above, may_have_notes, sentence_on_notes
from cobras.data.tables.notation import has_points_in_thousands

DELIMITED = (".csv", ".tsv", ".txt", ".data")
DELIMITERS = ",;\t|"
LARGE = 16 << 20  # bytes from which on a file is not copied to be read
N_TRIED = 100  # cells that can show a column to be one of words
NULL_WORDS = ("", "na", "n/a", "nan", "null", "none", "?")
_CODE = r"^[+-]?0\d"
_NOT_WHOLE = r"^[+-]?\d*[^\d+-]"  # of what is a number
_DECIMAL_COMMA = r"^[+-]?\d*,?\d+([eE][+-]?\d+)?$"
# In a header, 5.1 is surely data; 2019 may well be the name of a column.
_FRACTION = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")
_CONTROL = re.compile("[\0-\x08\x0e-\x1f\x7f]")


class NotTextError(ValueError):
    """The bytes are not text in UTF-8, UTF-16 or Latin-1."""


def read_delimited(
    path: Path,
    header: int | None = None,
    as_text: Container[str] = (),
    points: bool = True,
    plain: tuple[Layout, list[pl.Series]] | None = None,
) -> tuple[pl.DataFrame, list[str], Extent]:
    """Read a delimited text file, with notes on it, the lines above its header and whether it has semicolons.

    `header` is the number of these lines, found where it is not given. The columns named in `as_text` stay text,
    and so do those in which `points` may separate thousands. Notes below the table with fewer cells than its rows
    are left out. `plain` are the cells of a large file that have been read already; they are taken out of that
    list.
    """
    layout, cells, below = _read_exactly(path, header) if plain is None else (*plain, [])
    notes = ["Read as Latin-1, since the text is not UTF-8."] if layout.guessed else []
    if layout.above:
        notes.append(f"Left out {layout.above} line{'s' * (layout.above > 1)} above the header.")
    if layout.headless:
        notes.append("The first line holds numbers, so the columns are called column_1, column_2 and so on.")
    if below:
        notes.append(sentence_on_notes(below[0].text, len(below)))
    # Popped, so that no column is in memory as text and as numbers for long.
    popped = (cells.pop(0) for _ in range(len(cells)))
    each = on_all_cores if path.stat().st_size > LARGE else map

    def parse(column: pl.Series) -> tuple[pl.Series, bool]:
        return (column, False) if column.name in as_text else parse_column(column, layout.delimiter, points)

    columns = list(each(parse, popped))
    if commas := [repr(column.name) for column, has_commas in columns if has_commas]:
        notes.append(f"Read decimal commas in {', '.join(commas)}.")
    frame = pl.DataFrame([column for column, _ in columns])
    return (
        frame,
        notes,
        Extent(header=layout.above, has_semicolons=layout.delimiter == ";", has_commas=bool(commas)),
    )


@dataclass(frozen=True, slots=True)
class Layout:
    """How a file is laid out."""

    path: Path
    delimiter: str
    names: list[str]
    headless: bool  # the first line is data already
    guessed: bool = False  # the encoding is
    above: int = 0  # lines above the header


class ShortNote(NamedTuple):
    """A note below a table that has fewer cells than the header."""

    line: int
    n_cells: int
    text: str


def parse_column(cells: pl.Series, delimiter: str, points: bool = True) -> tuple[pl.Series, bool]:
    """Return a column of text with the type of its values, and whether its numbers have decimal commas.

    It stays text where `points` may separate thousands.
    """
    name, series = cells.name, cells.alias("cells")  # a name such as ^a$ would be a pattern
    found = parse_cells(series) if series.dtype == pl.String else series
    is_float = series.dtype == pl.String and found.dtype == pl.Float64
    if points and is_float and has_thousands(series, delimiter):
        return missing_as_null(series).alias(name), False  # text that is read as numbers later
    may_have_commas = found.dtype == pl.String and delimiter != ","
    with_commas = _decimal_comma(series) if may_have_commas else None
    return (found if with_commas is None else with_commas).alias(name), with_commas is not None


def has_thousands(cells: pl.Series, delimiter: str) -> bool:
    """Whether 1.234 is more than a thousand in a column, as where semicolons leave the comma to fractions."""
    return delimiter == ";" and has_points_in_thousands(cells.alias("cells"))


def find_layout(path: Path, text: str, guessed: bool = False, above: int | None = None) -> Layout:
    """The layout of a text; `above` is the number of lines above the header, None to find it."""
    usual = "\t" if path.suffix.lower() == ".tsv" else ","
    above = _lines_above(text, usual) if above is None else above
    text = _below(text, above)
    delimiter = sniff_delimiter(text, usual)
    header = next(filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)), [])
    headless = any(_FRACTION.fullmatch(cell) for cell in header)
    names = [("" if headless else cell.strip()) or f"column_{k}" for k, cell in enumerate(header, 1)]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise InvalidDataError(
            f"{path.name} has {names.count(twice[0])} columns called {twice[0]!r}; "
            "give each column its own name."
        )
    return Layout(path, delimiter, names, headless, guessed, above)


def _lines_above(text: str, usual: str) -> int:
    """The number of lines above the header, by the most frequent delimiter that leaves equal rows below."""
    head = text[:100_000] if len(text) <= 100_000 else text[:100_000].rpartition("\n")[0]
    first = first_rows(head, sniff_delimiter(head, usual))
    if first and len(first[0][0]) > 1 and all(first[0][0]) and len({len(row) for row, _ in first}) == 1:
        return 0  # the first line is as wide as all others, and has no gap
    for delimiter in sorted(DELIMITERS, key=lambda one: (-head.count(one), one != usual)):
        rows = first_rows(head, delimiter)
        k = lines_above([row for row, _ in rows])
        if k and len({len(row) for row, _ in rows[k:]}) == 1:
            return rows[k - 1][1]
    return 0


def first_rows(text: str, delimiter: str) -> list[tuple[list[str], int]]:
    """The first rows that are not empty, each with the number of lines up to its end."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return [(row, reader.line_num) for row in islice(filter(None, reader), N_LINES)]
    except csv.Error:
        return []


def _below(text: str, above: int) -> str:
    """The text without its first lines."""
    return text if not above else "".join(islice(io.StringIO(text, newline=""), above, None))


def _read_exactly(path: Path, above: int | None) -> tuple[Layout, list[pl.Series], list[ShortNote]]:
    try:
        text, guessed = decode(path.read_bytes())
    except NotTextError:
        raise InvalidDataError(f"{path.name} is not a text file, so it cannot be read as a table.") from None
    text = text if "\n" in text else text.replace("\r", "\n")
    layout = find_layout(path, text, guessed, above)
    return layout, *read_cells(layout, _below(text, layout.above))


def rows_of_width(layout: Layout, lines: Iterable[str], below: list[ShortNote] | None) -> Iterator[list[str]]:
    """The rows that are not empty, the header included; one of another width is refused.

    Where `below` is given, notes at the end that are shorter are added to it instead.
    """
    reader, width = csv.reader(lines, delimiter=layout.delimiter), len(layout.names)
    notes: list[ShortNote] = []
    for row in filter(None, reader):
        may_be_note = below is not None and (len(row) < width or (notes and not any(row[1:])))
        if may_be_note and is_note(row[0]):
            text = layout.delimiter.join(row).rstrip(layout.delimiter).strip()
            notes.append(ShortNote(reader.line_num, len(row), text))
            continue
        if notes:
            raise _wrong_width(layout, notes[0].line, notes[0].n_cells)
        if len(row) != width:
            raise _wrong_width(layout, reader.line_num, len(row))
        yield row
    if below is not None:
        below += notes


def _wrong_width(layout: Layout, line: int, n_cells: int) -> InvalidDataError:
    return InvalidDataError(
        f"Line {layout.above + line} of {layout.path.name} has {n_cells} cell{'s' * (n_cells != 1)}, but the "
        f"{'first line' if layout.headless else 'header'} has {len(layout.names)}; correct or delete that line."
    )


def sniff_delimiter(text: str, usual: str = ",") -> str:
    r"""The delimiter that cuts the first lines into rows as wide as the header.

    Examples
    --------
    >>> sniff_delimiter("a;b\n1,5;2,5\n"), sniff_delimiter("a\tb\n1\t2\n"), sniff_delimiter("a\n1\n")
    (';', '\t', ',')
    """

    def fit(delimiter: str) -> tuple[bool, int, int, bool]:
        try:
            reader = csv.reader(io.StringIO(text[:100_000], newline=""), delimiter=delimiter)
            widths = [len(row) for row in islice(filter(None, reader), 20)]
        except csv.Error:
            widths = []
        width = widths[0] if widths else 0
        return width > 1, widths.count(width), width, delimiter == usual

    return max(DELIMITERS, key=fit)


def read_cells(layout: Layout, text: str) -> tuple[list[pl.Series], list[ShortNote]]:
    """All cells as text, of which an empty one is null, and the short notes below a table of numbers."""
    below: list[ShortNote] = []
    names, skip = layout.names, not layout.headless
    try:
        frame = pl.read_csv(
            text.lstrip("\r\n").encode(), separator=layout.delimiter, has_header=skip, infer_schema=False
        )
        whole = frame.width == len(names) and frame.height > 0 and frame[:, -1].null_count() == 0
    except pl.exceptions.PolarsError:
        whole = False
    if not whole:
        rows = list(rows_of_width(layout, io.StringIO(text, newline=""), below))[skip:]
        columns = zip(*rows, strict=True) if rows else [()] * len(names)
        frame = pl.DataFrame([pl.Series(str(k), c, dtype=pl.String) for k, c in enumerate(columns)])
        if below and not may_have_notes(frame):
            raise _wrong_width(layout, below[0].line, below[0].n_cells)
    return [empty_as_null(cells, name) for name, cells in zip(names, frame, strict=True)], below


def empty_as_null(cells: pl.Series, name: str) -> pl.Series:
    """Return a column of text under a name, with null in place of empty cells."""
    cells = cells.alias("cells")  # polars takes names such as ^a$ for patterns
    empty = cells == ""
    return (cells.set(empty, None) if empty.any() else cells).alias(name)


def parse_cells(series: pl.Series) -> pl.Series:
    """The column as Boolean, Int64 or Float64 where every value allows it, else as it is."""
    # By hand, since polars makes 7 of 007 and text of a column with NA. It is no slower: a file of 24 MB takes
    # 0.15 s of processor time, 0.65 s where polars guesses the types from all rows, 0.14 s with pandas.
    if len(series) > N_TRIED:
        first = series.drop_nulls().head(N_TRIED)
        may_be_words = len(first) and parse_cells(first).dtype == pl.String
        if may_be_words and missing_as_null(first).null_count() < len(first):
            # A single word makes it a column of words.
            return series
    # Most columns pass one of the two casts below; the slower search for words of missing values comes after.
    whole = series.cast(pl.Int64, strict=False)
    if whole.null_count() == series.null_count() < len(series):
        return series if _has_codes(series) else whole
    numbers = series.cast(pl.Float64, strict=False)
    if numbers.null_count() == series.null_count() and not has_nan(numbers):
        return _whole_or_not(series, numbers)
    values = missing_as_null(series)
    if values.null_count() == len(values):
        return series
    lower = values.str.to_lowercase()
    if lower.drop_nulls().is_in(["true", "false"]).all():
        return lower == "true"
    numbers = values.cast(pl.Float64, strict=False)
    return series if numbers.null_count() > values.null_count() else _whole_or_not(values, numbers, series)


def _any_matches(pattern: str, words: pl.Series) -> bool:
    """Whether any word matches a pattern."""
    if len(words) <= N_TRIED:  # each query of polars takes longer; there may be thousands of columns
        return any(word is not None and re.match(pattern, word) for word in words.to_list())
    return bool(words.str.contains(pattern).any())


def _has_codes(digits: pl.Series) -> bool:
    """Whether any of a column's whole numbers begins with a 0 that is not needed."""
    if len(digits) <= N_TRIED or (digits < "0").any():  # has a sign
        return _any_matches(_CODE, digits)
    return bool((digits.str.starts_with("0") & (digits.str.len_bytes() > 1)).any())


def _whole_or_not(values: pl.Series, numbers: pl.Series, series: pl.Series | None = None) -> pl.Series:
    """Return whole numbers as integers; codes such as 007, and numbers beyond 64 bits, stay text."""
    as_it_is = values if series is None else series
    if numbers.null_count() == len(numbers) or _any_matches(_CODE, values):
        return as_it_is
    if not _any_matches(_NOT_WHOLE, values):
        whole = values.cast(pl.Int64, strict=False)
        return as_it_is if whole.null_count() > values.null_count() else whole
    return numbers


def _decimal_comma(series: pl.Series) -> pl.Series | None:
    values = missing_as_null(series)
    if not values.str.contains(_DECIMAL_COMMA).all():
        return None
    typed = parse_cells(values.str.replace(",", ".", literal=True))
    return None if typed.dtype == pl.String else typed


def missing_as_null(series: pl.Series) -> pl.Series:
    """Return the words with null in place of NA and other words for a missing value."""
    values = series.str.strip_chars()
    return values.set(values.str.to_lowercase().is_in(NULL_WORDS).fill_null(True), None)


def decode(data: bytes, *, cut: bool = False) -> tuple[str, bool]:
    r"""The text, and whether its encoding is a guess; `cut` when the data may end within a character.

    Examples
    --------
    >>> decode("\ufeffnaïve".encode()), decode("naïve".encode("latin-1"))
    (('naïve', False), ('naïve', True))
    >>> decode(b"\x00\x01\xff")
    Traceback (most recent call last):
    cobras.data.tables.csv.NotTextError
    """
    encoding = "utf-16" if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
    guessed = False
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(data, final=not cut)
    except UnicodeDecodeError:
        # Windows' superset of Latin-1 first: its curly quotes are control characters in Latin-1 itself.
        text = data.decode("cp1252", errors="replace")
        text = data.decode("latin-1") if "\ufffd" in text else text
        if _CONTROL.search(text):
            raise NotTextError from None
        guessed = True
    if "\0" in text:
        raise NotTextError
    return text, guessed
