"""Excel files, read in a process of their own: a small one may claim billions of cells, and the reader then aborts.

`python -P -m cobras.data.tables.excel FILE TABLE EXTENT` writes a sheet as Arrow, and prints the rest of a `Sheet`
as JSON, or what is wrong. The extent is JSON: the name of the sheet and the number of lines above the header, null
for what is to be found out, and the number of lines of the header below its first.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from cobras.core.exceptions import InvalidDataError, first_line
from cobras.data.tables.columns import name_list
from cobras.data.tables.header import N_LINES, WHOLE, Extent, header_names, lines_above, merged_header
from cobras.data.tables.workbook import Workings, read_workings

LARGEST = 2 << 30  # bytes an Excel file may unpack to, and bytes of memory to read it
RATIO = 1_032  # the most that deflate can compress
OLE = bytes.fromhex("d0cf11e0a1b11ae1")  # how .xls files begin, and files with a password
# What a time of day has for its day: two versions of the reader, and files that count days from 1904.
NO_DAYS = date(1899, 12, 30), date(1899, 12, 31), date(1904, 1, 1)
NO_VALUE = "Found no value for"  # how the note on formulas begins
_UNNAMED = "__UNNAMED__"  # in the names that the reader gives
COMMAND = (sys.executable, "-P", "-m", "cobras.data.tables.excel")


class Sheet(NamedTuple):
    """A sheet as it was read.

    Attributes
    ----------
    frame : polars.DataFrame
    name : str
    names : list of str
        Those of all sheets.
    above, sub_header : int
        The lines above the header, and of the header below its first line.
    formulas : dict of str to int
        How many formulas have no value, by column.
    """

    frame: pl.DataFrame
    name: str
    names: list[str]
    above: int
    sub_header: int
    formulas: dict[str, int]


def read_excel(path: Path, extent: Extent = WHOLE) -> tuple[pl.DataFrame, list[str], Extent]:
    """Read a sheet of an Excel file, with notes and the extent that was found."""
    check_archive(path)
    given = json.dumps([extent.sheet, extent.header, extent.sub_header])
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "table.arrow")
        command = [*COMMAND, str(path.absolute()), str(table), given]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode or not done.stdout:
            raise InvalidDataError(
                f"{path.name} cannot be read as an Excel file: that takes more than {LARGEST / 2**30:.1f} GiB of "
                "memory, or the file is damaged; save it as CSV or Parquet instead."
            )
        found = json.loads(done.stdout)
        if "error" in found:
            raise InvalidDataError(f"{path.name} {found['error']}.")
        sheet = Sheet(pl.read_ipc(table.read_bytes()), **found)
    notes = []
    if len(sheet.names) > 1:
        others = name_list([name for name in sheet.names if name != sheet.name])
        advice = "" if extent.sheet else f" (--sheet for another: {others})"
        notes.append(f"Read the sheet {sheet.name!r} of {len(sheet.names)}.{advice}")
    if sheet.above:
        notes.append(f"Left out {sheet.above} line{'s' * (sheet.above > 1)} above the header.")
    if sheet.sub_header:
        notes.append(f"Joined {sheet.sub_header + 1} lines of names into one header.")
    if n := sum(sheet.formulas.values()):
        advice = f"open {path.name} in a spreadsheet program, such as Excel or LibreOffice, and save it."
        if not any(column.count() for column in sheet.frame):
            raise InvalidDataError(f"{path.name} has formulas, but nobody calculated their values: {advice}")
        notes.append(f"{NO_VALUE} {n} formula{'s' * (n > 1)} in {name_list(list(sheet.formulas))}: {advice}")
    frame = with_times_of_day(sheet.frame) if extent.times else sheet.frame
    return frame, notes, Extent(sheet.name, sheet.above, sub_header=sheet.sub_header)


def read_sheet(path: Path, sheet: str | None, header: int | None, sub_header: int = 0) -> Sheet:
    """Read a sheet in this process.

    Without a name, it is the first sheet with rows of at least two columns, or else the first with any; hidden
    sheets come last.
    """
    import fastexcel

    book = fastexcel.read_excel(path)
    if sheet is not None and sheet not in book.sheet_names:
        raise InvalidDataError(f"has no sheet {sheet!r}; its sheets are {name_list(book.sheet_names, 20)}")
    # As before there were sheets and titles in recipes: the first sheet with any cell, and its names as they are.
    as_before = sheet is None and header is not None
    found = Sheet(pl.DataFrame(), "", book.sheet_names, 0, 0, {})
    workings = Workings()
    names = book.sheet_names if as_before else _sheets(book) if sheet is None else [sheet]
    for other in names:
        held = read_workings(path, other)
        above, below = _lines_of_header(book, other, held) if header is None else (header, sub_header)
        options = {"header_row": above + below} if above + below else None
        rows = pl.read_excel(
            path, sheet_name=other, infer_schema_length=None, raise_if_empty=False, read_options=options
        )
        is_table = rows.width > 1 and rows.height > 1
        if is_table or not found.name or (rows.height and not found.frame.height):
            found, workings = Sheet(rows, other, book.sheet_names, above, below, {}), held
        if is_table or (as_before and rows.width and rows.height):
            break
    if found.sub_header or workings.formulas:
        found = _with_workings(book, found, workings)
    return found._replace(frame=found.frame.rename(_blank_names(found.frame, as_before)))


def _with_workings(book: Any, sheet: Sheet, workings: Workings) -> Sheet:
    """A sheet with the names of a header of several lines, and with what formulas have no value."""
    header = sheet.above + sheet.sub_header
    found = book.load_sheet(sheet.name, header_row=header, n_rows=1)
    places = {column.name: column.absolute_index for column in found.available_columns()}
    names, labels = {name: name for name in places}, {}
    if sheet.sub_header:
        rows, left = _first_rows(book, sheet.name)
        parts = header_names(rows, workings.merges, left, sheet.above, header)
        labels = {column: " ".join(words) for column, words in enumerate(parts, left)}
        names = dict(zip(places, _different([labels[k] or n for n, k in places.items()]), strict=True))
    frame = sheet.frame.rename({name: names.get(name, name) for name in sheet.frame.columns})
    # A column that holds nothing below the first line of the header is not in the frame.
    labels |= {column: names[name] for name, column in places.items()}
    formulas = Counter[str]()
    for (row, column), n in sorted(workings.formulas.items()):
        name = labels.get(column, "")
        if n and row > header and name and _UNNAMED not in name:
            formulas[name] += n
    zeros = [column for column in frame if column.name in formulas and column.dtype.is_numeric()]
    gaps = [column.clear(frame.height) for column in zeros if (column == 0).all()]
    return sheet._replace(frame=frame.with_columns(gaps), formulas=formulas)


def _sheets(book: Any) -> Iterator[str]:
    """The names of the sheets that hold cells, the hidden ones last."""
    hidden = []
    for name in book.sheet_names:
        try:
            is_visible = book.load_sheet(name, n_rows=1).visible == "visible"
        except Exception:  # a sheet of charts, or an empty one
            is_visible = True
        if is_visible:
            yield name
        else:
            hidden.append(name)
    yield from hidden


def _different(names: Sequence[str]) -> list[str]:
    """Names of columns, with a number where one comes again."""
    found: list[str] = []
    for name in names:
        new, number = name, 0
        while new in found:
            number += 1
            new = f"{name}_{number}"
        found.append(new)
    return found


def _blank_names(frame: pl.DataFrame, as_before: bool) -> dict[str, str]:
    """Names for the columns that have none."""
    blank = [name for name in frame.columns if not name.strip() or (_UNNAMED in name and not as_before)]
    return {name: f"column_{frame.columns.index(name) + 1}" for name in blank}


def with_times_of_day(frame: pl.DataFrame) -> pl.DataFrame:
    """A table with times of day in place of moments on the day before the first, which is how Excel stores them.

    Examples
    --------
    >>> from datetime import datetime
    >>> with_times_of_day(pl.DataFrame({"open": [datetime(1899, 12, 31, 8, 30), None]})).rows()
    [(datetime.time(8, 30),), (None,)]
    """
    times = []
    for column in frame:
        if column.dtype == pl.String:  # times among words
            words = column.str.replace(r"^1899-12-3[01] (\d\d:\d\d:\d\d(\.\d+)?)$", "$1")
            times.append(words.str.replace(r"^1904-01-01 (\d\d:\d\d:\d\d(\.\d+)?)$", "$1"))
        elif isinstance(column.dtype, (pl.Date, pl.Datetime)):
            days = column.cast(pl.Date).unique().drop_nulls().to_list()
            # A column of dates may hold nothing but the first of 1904.
            if len(days) == 1 and days[0] in NO_DAYS[: 2 if column.dtype == pl.Date else 3]:
                times.append(column.cast(pl.Datetime("ms")).dt.time().alias(column.name))
    return frame.with_columns(times)


def _lines_of_header(book: Any, sheet: str, workings: Workings) -> tuple[int, int]:
    """The number of rows above the header of a sheet, and of the header below its first row."""
    try:
        rows, left = _first_rows(book, sheet)
    except Exception:  # an empty sheet, or one of charts
        return 0, 0
    return merged_header(rows, workings.merges, left) or (lines_above(rows), 0)


def _first_rows(book: Any, sheet: str) -> tuple[list[list[str | None]], int]:
    """The first rows of a sheet as text, and the number of their first column."""
    found = book.load_sheet(sheet, header_row=None, skip_rows=0, n_rows=N_LINES, dtypes="string")
    return [list(row) for row in found.to_polars().iter_rows()], found.available_columns()[0].absolute_index


def check_archive(path: Path) -> None:
    """Refuse a zip archive that unpacks to more than memory holds; the sizes that it claims are not trusted."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            is_old = file.read(len(OLE)) == OLE
        if not is_old:
            raise InvalidDataError(
                f"{path.name} is no Excel file, whatever its name says; if it holds text, name it .csv or .tsv."
            )
        if path.suffix.lower() != ".xls":
            raise InvalidDataError(
                f"{path.name} cannot be read: it has a password, or is an old .xls file; save it again as .xlsx."
            )
        return
    try:
        with zipfile.ZipFile(path) as archive:
            packed = [m for m in archive.infolist() if m.compress_type == zipfile.ZIP_DEFLATED]
            if sum(member.compress_size for member in packed) * RATIO <= LARGEST:
                return
            total = 0
            for member in packed:
                total += _unpacked_size(archive, member, LARGEST - total)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise InvalidDataError(f"{path.name} cannot be read as an Excel file: {error}.") from error
    if total > LARGEST:
        raise InvalidDataError(
            f"{path.name} unpacks to more than {LARGEST / 2**30:.1f} GiB; save it as CSV or Parquet instead."
        )


def _unpacked_size(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limit: int) -> int:
    """The bytes a member unpacks to; counting ends beyond the limit."""
    # zipfile stops at the size that the archive claims, so it is told one that is never reached, and no checksum.
    member.file_size, member.CRC = limit + 1, None  # type: ignore[assignment]
    total = 0
    with archive.open(member) as stream:
        while total <= limit and (chunk := stream.read(1 << 20)):
            total += len(chunk)
    return total


def main(path: str, table: str, extent: str) -> None:
    """Write the table of an Excel file as Arrow, within the memory that is allowed."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (LARGEST, LARGEST))
    try:
        sheet = read_sheet(Path(path), *json.loads(extent))
        sheet.frame.write_ipc(table)
        found = sheet._asdict()
        del found["frame"]
        print(json.dumps(found))
    except InvalidDataError as error:
        print(json.dumps({"error": error.args[0]}))
    except ModuleNotFoundError:
        advice = "pip install 'cobras-clustering[excel]' to read it, or save it as CSV"
        print(json.dumps({"error": f"is an Excel file; {advice}"}))
    except BaseException as error:  # a panic of the reader is no Exception
        print(json.dumps({"error": f"cannot be read as an Excel file: {first_line(error)}"}))


if __name__ == "__main__":
    main(*sys.argv[1:])
