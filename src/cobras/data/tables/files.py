"""Files to tables: every format ends as one polars frame, every failure as one sentence.

Parquet, Arrow and NumPy files may unpack to far more than their size, so that is checked first.
"""

from __future__ import annotations

import contextlib
import os
import re
import zipfile
from pathlib import Path
from typing import IO, Any
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError, first_line
from cobras.core.threads import on_all_cores
from cobras.core.types import FloatArray
from cobras.data.cache import printable
from cobras.data.tables.columns import name_list
from cobras.data.tables.csv import DELIMITED, LARGE, read_delimited
from cobras.data.tables.excel import read_excel

LONGEST_LINE = 32 << 20  # bytes
BLOCK = 2**14  # rows that are turned into columns together
ARROW = (".arrow", ".feather", ".ipc")
EXCEL = (".xlsx", ".xls", ".xlsb", ".ods")
READABLE = (*DELIMITED, ".parquet", ".jsonl", ".ndjson", ".json", ".npy", ".npz", *ARROW, *EXCEL)
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
_PER_UNIT = {"ms": 1_000, "us": 1, "ns": 1}  # microseconds; nanoseconds in 64 bits cannot leave these years
# Without it polars panics at a zone that it does not know, such as +05:30; `possible_times` makes it UTC.
os.environ.setdefault("POLARS_IGNORE_TIMEZONE_PARSE_ERROR", "1")


class DataNotFoundError(InvalidDataError, FileNotFoundError):
    """The data file does not exist."""


def read_table(path: Path) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Read a file as a table, with notes on how it was read.

    Examples
    --------
    >>> read_table(Path("nowhere.csv"))
    Traceback (most recent call last):
    cobras.data.tables.files.DataNotFoundError: There is no file nowhere.csv.
    """
    files = parquet_files(path)
    if files is None or path.is_file():
        _check_file(path)
    suffix = path.suffix.lower() if files is None else ".parquet"
    notes: tuple[str, ...] = ()
    try:
        if files is not None:
            frame = _collect(path.name, pl.scan_parquet(files, glob=False))
        elif suffix in ARROW:
            frame = read_arrow(path)
        elif suffix in EXCEL:
            frame, notes = read_excel(path)
        elif suffix in (".jsonl", ".ndjson"):
            frame = pl.read_ndjson(path, infer_schema_length=None)
        elif suffix == ".json":
            frame = pl.read_json(path, infer_schema_length=None)
        elif suffix in (".npy", ".npz"):
            frame = _read_arrays(path)
        else:
            frame, notes = read_delimited(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, RecursionError) as error:
        raise InvalidDataError(
            f"{path.name} cannot be read as {_FORMATS.get(suffix, 'a table')}: {first_line(error)}."
        ) from error
    except OSError as error:
        raise InvalidDataError(f"{path} cannot be read: {error.strerror or first_line(error)}.") from error
    if frame.width == 0 or frame.height == 0:
        what = "has column names but no rows" if frame.width else "holds no table"
        raise InvalidDataError(f"{path.name} {what}; at least one row is needed.")
    frame, cleared = possible_times(frame)
    if cleared:
        notes = *notes, f"Left times in {name_list(cleared)} empty: they lie beyond the years 1 to 9999."
    return frame, notes


def possible_times(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return a table that Python can show: without times beyond the years 1 to 9999, and in zones it knows.

    The second value names the columns that have such times, which are left empty.
    """
    found = {column.name: _possible_times(column) for column in frame if column.dtype.is_temporal()}
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
    small = path.suffix.lower() in DELIMITED and path.is_file() and path.stat().st_size <= LARGE
    try:
        str(path).encode()
    except UnicodeEncodeError:
        if not small and not path.is_dir():
            raise InvalidDataError(
                f"{printable(str(path))} has a name that is not UTF-8; rename it."
            ) from None


def _read_arrays(path: Path) -> pl.DataFrame:
    """An array of rows, or an archive with one and with further columns, such as y."""
    try:
        arrays = {"": read_npy(path)} if path.suffix.lower() == ".npy" else read_npz(path)
    except (InvalidDataError, OSError):
        raise
    except Exception as error:  # the parser of a damaged header raises anything, even of Python's own grammar
        raise InvalidDataError(
            f"{path.name} is not a NumPy array of numbers: {first_line(error)}."
        ) from error
    tables = {name: array for name, array in arrays.items() if array.ndim == 2 and array.dtype.kind in "fiub"}
    if "" in arrays and not tables:
        if arrays[""].dtype.kind not in "fiub":
            raise InvalidDataError(f"{path.name} must hold a NumPy array of numbers.")
        raise InvalidDataError(
            f"{path.name} must be 2-dimensional (rows, columns), but its shape is {arrays[''].shape}."
        )
    if len(tables) != 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "none"
        raise InvalidDataError(
            f"{path.name} must hold one 2-dimensional array of numbers; its arrays are {shapes}."
        )
    ((name, table),) = tables.items()
    columns = {f"column_{k}": column for k, column in enumerate(_columns(table), 1)}
    for other, array in arrays.items():
        if other != name and array.shape == table.shape[:1] and array.dtype.kind in "fiubU":
            columns[other] = np.ascontiguousarray(array, polars_dtype(array))
    return pl.DataFrame(columns)


def _columns(table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The columns of a matrix, each in one piece; its rows, which may be on a disk, are read once."""
    columns = np.empty(table.shape[::-1], polars_dtype(table))

    def copy(start: int) -> None:
        columns[:, start : start + BLOCK] = table[start : start + BLOCK].T

    starts = range(0, len(table), BLOCK)
    on_all_cores(copy, starts) if len(starts) > 1 else copy(0)
    return columns


def polars_dtype(array: npt.NDArray[Any]) -> np.dtype[Any]:
    """Return the type with which polars can hold the numbers of an array."""
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        return np.dtype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    return array.dtype.newbyteorder("=")


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


def read_npy(path: Path) -> npt.NDArray[Any]:
    """An array, mapped from the file: a header that claims more than the file holds is refused."""
    array: npt.NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
    return array


def read_npz(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The arrays of an archive by name."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if not member.filename.endswith(".npy"):
                continue
            with archive.open(member) as file:
                shape, dtype = _header(file)
            n_bytes = int(np.prod(shape, dtype=object)) * dtype.itemsize
            check_size(path.name, n_bytes)
            if n_bytes > member.file_size:
                raise ValueError(f"{member.filename} is shorter than its header says")
            if dtype.hasobject:
                raise ValueError("Object arrays cannot be loaded")
            with archive.open(member) as file:
                arrays[member.filename.removesuffix(".npy")] = np.lib.format.read_array(
                    file, allow_pickle=False
                )
    return arrays


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    return shape, dtype


def read_vectors(path: Path, n: int, source: str) -> FloatArray:
    """The numbers of a file, as they are; there must be as many rows as items."""
    frame = read_table(path)[0]
    odd = [name for name, dtype in frame.schema.items() if not (dtype.is_numeric() or dtype == pl.Boolean)]
    if odd:
        raise InvalidDataError(
            f"{path.name} must hold vectors, that is numbers only, but {name_list(odd)} are not."
        )
    if frame.height != n:
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
