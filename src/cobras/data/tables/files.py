"""Files to tables: every format ends as one polars frame, every failure as one sentence.

Parquet and Arrow files may unpack to far more than their size, so that is checked first.
"""

from __future__ import annotations

import contextlib
import csv
import os
import re
from collections.abc import Container
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl

from cobras.core.exceptions import InvalidDataError, first_line
from cobras.core.types import FloatArray
from cobras.data.cache import printable
from cobras.data.tables.columns import name_list
from cobras.data.tables.csv import DELIMITED, LARGE, read_delimited
from cobras.data.tables.excel import read_excel
from cobras.data.tables.header import WHOLE, Extent, without_footer
from cobras.data.tables.large.plain import read_plain
from cobras.data.tables.textlines import read_list

LONGEST_LINE = 32 << 20  # bytes
ARROW = (".arrow", ".feather", ".ipc")
ARRAYS = (".npy", ".npz")
EXCEL = (".xlsx", ".xls", ".xlsb", ".ods")
IMAGES = frozenset(
    {".png", ".jpg", ".jpeg", ".webp", ".gif", ".tif", ".tiff", ".pgm", ".ppm", ".pbm", ".bmp"}
)
READABLE = (*DELIMITED, ".parquet", ".jsonl", ".ndjson", ".json", *ARRAYS, *ARROW, *EXCEL)
_FORMATS = {
    ".parquet": "Parquet",
    ".json": "a JSON list of objects",
    ".jsonl": "one JSON object per line",
    ".ndjson": "one JSON object per line",
    **dict.fromkeys(ARROW, "Arrow"),
    **dict.fromkeys(EXCEL, "an Excel file"),
}
_DAY = 86_400_000_000  # microseconds
_YEARS = -719_162 * _DAY, 2_932_897 * _DAY - 1  # from 1 to 9999, which Python's own dates hold
_PER_UNIT = {"ms": 1_000, "us": 1, "ns": 1}  # microseconds; of nanoseconds only durations
# Without it polars panics at a zone that it does not know, such as +05:30; `possible_times` makes it UTC.
os.environ.setdefault("POLARS_IGNORE_TIMEZONE_PARSE_ERROR", "1")


class DataNotFoundError(InvalidDataError, FileNotFoundError):
    """The data file does not exist."""


def read_table(
    path: Path,
    extent: Extent = WHOLE,
    as_text: Container[str] = (),
    points: bool = True,
) -> tuple[pl.DataFrame, tuple[str, ...], Extent]:
    """Read a file as a table, with notes on how it was read, and which part of the file it is.

    What the given extent leaves open is found out. Columns of delimited text that are named in `as_text` stay text,
    and so do those in which `points` may separate thousands; without it, 1.234 is a fraction.

    Examples
    --------
    >>> read_table(Path("nowhere.csv"))
    Traceback (most recent call last):
    cobras.data.tables.files.DataNotFoundError: There is no file nowhere.csv.
    """
    files = parquet_files(path)
    check_name(path)
    if files is None or path.is_file():
        _check_file(path)
    suffix = path.suffix.lower() if files is None else ".parquet"
    if extent.sheet is not None and suffix not in EXCEL:
        raise InvalidDataError(f"{path.name} has no sheets, but {extent.sheet!r} is asked for; leave it out.")
    notes: list[str] = []
    found = WHOLE
    try:
        if files is not None:
            frame = _collect(path.name, pl.scan_parquet(files, glob=False))
        elif suffix in ARROW:
            frame = read_arrow(path)
        elif suffix in EXCEL:
            frame, notes, found = read_excel(path, extent)
        elif suffix in (".jsonl", ".ndjson"):
            frame = pl.read_ndjson(path, infer_schema_length=None)
        elif suffix == ".json":
            frame = pl.read_json(path, infer_schema_length=None)
        elif suffix in ARRAYS:
            from cobras.data.tables.arrays import read_arrays

            frame = read_arrays(path)
        elif (
            suffix == ".txt"
            and not extent.header
            and (texts := read_list(path, as_text, is_new=extent.header is None)) is not None
        ):
            frame, found = texts, Extent(header=0)
        else:
            plain = read_plain(path, extent.header, points) if path.stat().st_size > LARGE else None
            frame, notes, found = read_delimited(path, extent.header, as_text, points, plain)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, RecursionError, csv.Error) as error:
        raise InvalidDataError(
            f"{path.name} cannot be read as {_FORMATS.get(suffix, 'a table')}: {first_line(error)}."
        ) from error
    except OSError as error:
        raise InvalidDataError(f"{path} cannot be read: {error.strerror or first_line(error)}.") from error
    check_not_empty(path.name, frame)
    if suffix in (*DELIMITED, *EXCEL) and extent.blank:
        has_value = rows_with_value(frame)
        if n_blank := frame.height - int(has_value.sum()):
            frame = frame.filter(has_value)
            notes.append(note_on_blank(n_blank))
    # Notes and totals begin with words: there are none where all columns hold numbers.
    if suffix in (*DELIMITED, *EXCEL) and extent.totals and pl.String in frame.dtypes:
        frame, below = without_footer(frame, found.has_semicolons)
        notes += below
    frame, cleared = possible_times(frame)
    if cleared:
        notes.append(f"Left times in {name_list(cleared)} empty: they lie beyond the years 1 to 9999.")
    return frame, tuple(notes), replace(found, blank=extent.blank, totals=extent.totals, times=extent.times)


def check_not_empty(name: str, frame: pl.DataFrame) -> None:
    """Refuse a table without columns or rows."""
    if frame.width == 0 or frame.height == 0:
        what = "has column names but no rows" if frame.width else "holds no table"
        raise InvalidDataError(f"{name} {what}; at least one row is needed.")


def rows_with_value(frame: pl.DataFrame) -> pl.Series:
    """Which rows have a value; spreadsheets write many without one below a table. All, where none has."""
    every = pl.repeat(True, frame.height, eager=True)
    # A column without gaps says that there are none: mostly the first or the last.
    if frame.width < 2 or any(not column.null_count() for column in (frame[:, 0], frame[:, -1], *frame)):
        return every
    found = ~every
    for column in frame:
        found |= column.is_not_null()
    return found if found.any() else every


def note_on_blank(n: int) -> str:
    """Say how many rows without any value were left out."""
    return f"Left out {n} row{'s' * (n > 1)} without any value."


def possible_times(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return a table that Python can show: without times beyond the years 1 to 9999, and in zones it knows.

    The second value names the columns that have such times, which are left empty.
    """
    found = {column.name: _possible_times(column) for column in frame if column.dtype.is_temporal()}
    nested = [column for column in frame if column.dtype.is_nested() and _has_impossible_times(column)]
    found |= {column.name: column.clear(frame.height) for column in nested}
    cleared = [name for name, column in found.items() if column.null_count() > frame[name].null_count()]
    return frame.with_columns(found.values()) if found else frame, cleared


def _possible_times(column: pl.Series) -> pl.Series:
    dtype, ticks = column.dtype, column.to_physical().alias("ticks")
    if isinstance(dtype, pl.Datetime):
        zone = dtype.time_zone
        dtype = pl.Datetime(dtype.time_unit, zone if zone is None or _is_zone(zone) else "UTC")
        edge = 0 if dtype.time_zone in (None, "UTC") else _DAY  # in its zone it may be another day
        low, high = (
            (end + way * edge) // _PER_UNIT[dtype.time_unit] for end, way in zip(_YEARS, (1, -1), strict=True)
        )
        if dtype.time_unit == "ns":  # of which 64 bits cannot leave these years
            low, high = -(2**63), 2**63 - 1
    elif isinstance(dtype, pl.Duration):
        high = (2**63 - 1) // _PER_UNIT[dtype.time_unit]
        low = -high
    elif dtype == pl.Date:
        low, high = (end // _DAY for end in _YEARS)
    else:  # the time of a day
        return column
    if dtype == column.dtype and ticks.is_between(low, high).all():
        return column
    return ticks.set(~ticks.is_between(low, high).fill_null(True), None).cast(dtype).alias(column.name)


def _has_impossible_times(column: pl.Series) -> bool:
    """Whether lists or records hold, at any depth, a time that Python cannot show."""
    if isinstance(column.dtype, (pl.List, pl.Array)):
        return _has_impossible_times(column.explode())
    if isinstance(column.dtype, pl.Struct):
        return any(map(_has_impossible_times, column.struct.unnest()))
    return column.dtype.is_temporal() and _possible_times(column) is not column


def _is_zone(name: str) -> bool:
    try:
        return bool(ZoneInfo(name))
    except (ValueError, OSError, KeyError):
        return False


def _check_file(path: Path) -> None:
    if not path.exists():
        raise DataNotFoundError(f"There is no file {path}.")
    if path.is_dir():
        raise InvalidDataError(f"{path} is a folder; give a file: {', '.join(READABLE)}.")
    if not path.is_file():
        raise InvalidDataError(f"{path} is not a regular file; give one of {', '.join(READABLE)}.")
    if path.suffix.lower() in IMAGES:
        raise InvalidDataError(f"{path.name} is an image; give the folder that holds it.")
    if path.suffix.lower() not in READABLE:
        raise InvalidDataError(
            f"{path.name} cannot be read: its suffix must be one of {', '.join(READABLE)}, or .ts for series."
        )
    if path.stat().st_size == 0:
        raise InvalidDataError(
            f"{path.name} is empty; at least a line of column names and one row are needed."
        )
    if path.suffix.lower() in (*DELIMITED, ".jsonl", ".ndjson"):
        check_lines(path)


def check_lines(path: Path) -> None:
    """Refuse a file of lines, one of which is far longer than any row: polars would take many times its size."""
    with contextlib.suppress(OSError), path.open("rb") as file:  # the reader says what is wrong with it
        while len(chunk := file.read(LONGEST_LINE)) == LONGEST_LINE:
            if b"\n" not in chunk and b"\r" not in chunk:
                raise InvalidDataError(
                    f"{path.name} has a line of more than {LONGEST_LINE / 2**20:,.0f} MiB; a row must be shorter."
                )


def check_name(path: Path) -> None:
    """Refuse a file that polars cannot open by its name; Python itself opens small files of text."""
    for file in parquet_files(path) or [path]:
        is_text = file.suffix.lower() in DELIMITED and file.is_file()
        if file.is_dir() or (is_text and file.stat().st_size <= min(LARGE, memory_limit())):
            continue
        if printable(str(file)) != str(file):
            raise InvalidDataError(f"{printable(str(file))} has a name that is not UTF-8; rename it.")


def total_memory() -> int:
    """The bytes of memory this machine has."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 16 << 30


def check_size(name: str, n_bytes: int) -> None:
    """Refuse a file that would not fit into memory, before it is unpacked."""
    if n_bytes > total_memory() // 2:
        raise InvalidDataError(
            f"{name} unpacks to {n_bytes / 2**30:,.0f} GiB or more, beyond half of this machine's memory; "
            "give a smaller file."
        )


def read_arrow(path: Path) -> pl.DataFrame:
    """An Arrow (Feather) file, with or without index."""
    with path.open("rb") as file:
        is_stream = file.read(6) != b"ARROW1"
    if is_stream:
        return pl.read_ipc_stream(path)
    return _collect(path.name, pl.scan_ipc(path))


def _collect(name: str, lazy: pl.LazyFrame) -> pl.DataFrame:
    height = int(lazy.select(pl.len()).collect().item())
    check_size(name, height * max(1, len(lazy.collect_schema())))  # a byte per cell at the least
    return lazy.collect()


def read_vectors(path: Path, n: int | None = None, source: str = "") -> FloatArray:
    """The numbers of a file, as they are; there must be as many rows as items, where that number is known."""
    frame = read_table(path, points=False)[0]
    odd = [name for name, dtype in frame.schema.items() if not (dtype.is_numeric() or dtype == pl.Boolean)]
    if odd:
        raise InvalidDataError(
            f"{path.name} must hold vectors, that is numbers only, but {name_list(odd)} are not."
        )
    if n is not None and frame.height != n:
        raise InvalidDataError(f"{path.name} holds {frame.height} vectors, but {source} has {n} items.")
    narrow = all(dtype == pl.Float32 for dtype in frame.dtypes)
    X: FloatArray = np.ascontiguousarray(frame.to_numpy().astype(np.float32 if narrow else np.float64))
    if not np.isfinite(X).all():
        row = int(np.flatnonzero(~np.isfinite(X).all(axis=1))[0])
        raise InvalidDataError(
            f"{path.name} has a gap or is infinite in row {row}, counted from 0; correct it."
        )
    return X


def parquet_files(path: Path) -> list[Path] | None:
    """The Parquet files of a path, in the order of their names; None where it holds something else."""
    if path.is_dir():
        return sorted(path.glob("*.parquet")) or None
    if path.suffix.lower() != ".parquet":
        return None
    if path.is_file() or not is_pattern(path):
        return [path] if path.is_file() else None
    root = Path(path.anchor) if path.is_absolute() else Path()
    return sorted(p for p in root.glob(str(path.relative_to(path.anchor))) if p.is_file()) or None


def url_of(path: Path) -> str | None:
    """Return the address that a path was made from, or None for a path of this machine.

    Examples
    --------
    >>> url_of(Path("s3://bucket/*.parquet")), url_of(Path("flowers.csv"))
    ('s3://bucket/*.parquet', None)
    """
    # Path makes one slash of two.
    found = re.fullmatch(r"([a-z][a-z0-9+.-]+):/+(.*)", path.as_posix())
    if found is None or path.exists():
        return None
    return f"{found[1]}://{'/' if found[1] == 'file' else ''}{found[2]}"


def is_pattern(path: Path) -> bool:
    """Whether a path names many files at once.

    Examples
    --------
    >>> is_pattern(Path("data/*.parquet")), is_pattern(Path("data.parquet"))
    (True, False)
    """
    return any(sign in str(path) for sign in "*?[") and not path.exists()


def may_be_large(path: Path) -> bool:
    """Whether a path may hold a table too large to load: Parquet, whose size says little, or a large file."""
    return parquet_files(path) is not None or (path.is_file() and path.stat().st_size > memory_limit())


def memory_limit() -> int:
    """The bytes from which on a table is not loaded: `COBRAS_MEMORY`, or a quarter of this machine's memory."""
    given = os.environ.get("COBRAS_MEMORY", "")
    if given and not given.isdecimal():
        raise InvalidDataError(f"COBRAS_MEMORY must be a number of bytes, such as 2000000000, not {given!r}.")
    return int(given) if given else total_memory() // 4
