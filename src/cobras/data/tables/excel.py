"""Excel files, read in a process of their own: a small one may claim billions of cells, and the reader then aborts.

`python -P -m cobras.data.tables.excel FILE TABLE EXTENT` writes a sheet as Arrow, and prints its name, those of all
sheets and the number of lines above the header, or what is wrong. The extent is JSON: the name of the sheet and the
number of lines, null for what is to be found out.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from cobras.core.exceptions import InvalidDataError, first_line
from cobras.data.tables.columns import name_list
from cobras.data.tables.header import N_LINES, WHOLE, Extent, lines_above

LARGEST = 2 << 30  # bytes an Excel file may unpack to, and bytes of memory to read it
RATIO = 1_032  # the most that deflate can compress
OLE = bytes.fromhex("d0cf11e0a1b11ae1")  # how .xls files begin, and files with a password
# What a time of day has for its day: two versions of the reader, and files that count days from 1904.
NO_DAYS = date(1899, 12, 30), date(1899, 12, 31), date(1904, 1, 1)
_UNNAMED = "__UNNAMED__"  # in the names that the reader gives
COMMAND = (sys.executable, "-P", "-m", "cobras.data.tables.excel")


def read_excel(path: Path, extent: Extent = WHOLE) -> tuple[pl.DataFrame, list[str], Extent]:
    """Read a sheet of an Excel file, with notes and the extent that was found."""
    check_archive(path)
    given = json.dumps([extent.sheet, extent.header])
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
        frame = pl.read_ipc(table.read_bytes())
    if extent.times:
        frame = with_times_of_day(frame)
    notes, sheet, sheets, above = [], found["sheet"], found["sheets"], found["above"]
    if len(sheets) > 1:
        others = name_list([name for name in sheets if name != sheet])
        advice = "" if extent.sheet else f" (--sheet for another: {others})"
        notes.append(f"Read the sheet {sheet!r} of {len(sheets)}.{advice}")
    if above:
        notes.append(f"Left out {above} line{'s' * (above > 1)} above the header.")
    return frame, notes, Extent(sheet, above)


def read_sheet(path: Path, sheet: str | None, header: int | None) -> tuple[pl.DataFrame, str, list[str], int]:
    """Read a sheet in this process; also return its name, those of all sheets, and the lines above the header.

    Without a name, it is the first sheet with rows of at least two columns, or else the first with any; hidden
    sheets come last.
    """
    import fastexcel

    book = fastexcel.read_excel(path)
    if sheet is not None and sheet not in book.sheet_names:
        raise LookupError(f"has no sheet {sheet!r}; its sheets are {name_list(book.sheet_names, 20)}")
    # As before there were sheets and titles in recipes: the first sheet with any cell, and its names as they are.
    as_before = sheet is None and header is not None
    frame, name, above = pl.DataFrame(), "", 0
    names = book.sheet_names if as_before else _sheets(book) if sheet is None else [sheet]
    for other in names:
        lines = _lines_above(book, other) if header is None else header
        options = {"header_row": lines} if lines else None
        rows = pl.read_excel(
            path, sheet_name=other, infer_schema_length=None, raise_if_empty=False, read_options=options
        )
        is_table = rows.width > 1 and rows.height > 1
        if is_table or not name or (rows.height and not frame.height):
            frame, name, above = rows, other, lines
        if is_table or (as_before and rows.width and rows.height):
            break
    return frame.rename(_blank_names(frame, as_before)), name, book.sheet_names, above


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


def _lines_above(book: Any, sheet: str) -> int:
    """The number of rows above the header of a sheet, from its first rows as text."""
    try:
        head = book.load_sheet(
            sheet, header_row=None, skip_rows=0, n_rows=N_LINES, dtypes="string"
        ).to_polars()
    except Exception:  # an empty sheet, or one of charts
        return 0
    return lines_above([list(row) for row in head.iter_rows()])


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
        frame, sheet, sheets, above = read_sheet(Path(path), *json.loads(extent))
        frame.write_ipc(table)
        print(json.dumps({"sheet": sheet, "sheets": sheets, "above": above}))
    except LookupError as error:
        print(json.dumps({"error": error.args[0]}))
    except ModuleNotFoundError:
        advice = "pip install 'cobras-clustering[excel]' to read it, or save it as CSV"
        print(json.dumps({"error": f"is an Excel file; {advice}"}))
    except BaseException as error:  # a panic of the reader is no Exception
        print(json.dumps({"error": f"cannot be read as an Excel file: {first_line(error)}"}))


if __name__ == "__main__":
    main(*sys.argv[1:])
