"""Files to tables: every format ends as one polars frame, every failure as one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.core.threads import on_all_cores
from cobras.data.tables.csv import DELIMITED, read_delimited
from cobras.data.tables.parquet import part_files
from cobras.data.tables.sheets import read_arrow, read_excel, read_npy, read_npz, read_parquet

BLOCK = 2**14  # rows that are turned into columns together
ARROW = (".arrow", ".feather", ".ipc")
EXCEL = (".xlsx", ".xls", ".xlsb", ".ods")
READABLE = (
    *DELIMITED,
    *(".parquet", ".jsonl", ".ndjson", ".json", ".npy", ".npz"),
    *ARROW,
    *EXCEL,
)
_FORMATS = {
    ".parquet": "Parquet",
    ".json": "a JSON list of objects",
    ".jsonl": "one JSON object per line",
    ".ndjson": "one JSON object per line",
    **dict.fromkeys(ARROW, "Arrow"),
    **dict.fromkeys(EXCEL, "an Excel file"),
}


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
    files = part_files(path)
    if files is None or path.is_file():
        _check_file(path)
    suffix = path.suffix.lower() if files is None else ".parquet"
    notes: tuple[str, ...] = ()
    try:
        if files is not None:
            frame = read_parquet(path.name, files)
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
            f"{path.name} cannot be read as {_FORMATS.get(suffix, 'a table')}: {_first_line(error)}."
        ) from error
    except OSError as error:
        raise InvalidDataError(f"{path} cannot be read: {error.strerror or _first_line(error)}.") from error
    if frame.width == 0 or frame.height == 0:
        what = "has column names but no rows" if frame.width else "holds no table"
        raise InvalidDataError(f"{path.name} {what}; at least one row is needed.")
    return frame, notes


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


def _read_arrays(path: Path) -> pl.DataFrame:
    """An array of rows, or an archive with one and with further columns, such as y."""
    try:
        arrays = {"": read_npy(path)} if path.suffix.lower() == ".npy" else read_npz(path)
    except (InvalidDataError, OSError):
        raise
    except Exception as error:  # the parser of a damaged header raises anything, even of Python's own grammar
        raise InvalidDataError(
            f"{path.name} is not a NumPy array of numbers: {_first_line(error)}."
        ) from error
    tables = {name: array for name, array in arrays.items() if array.ndim == 2 and array.dtype.kind in "fiub"}
    if "" in arrays and not tables:
        if arrays[""].dtype.kind not in "fiub":
            raise InvalidDataError(f"{path.name} must hold a NumPy array of numbers.")
        shape = arrays[""].shape
        raise InvalidDataError(
            f"{path.name} must be 2-dimensional (rows, columns), but its shape is {shape}."
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
            columns[other] = _plain(array)
    return pl.DataFrame(columns)


def _columns(table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The columns of a matrix, each in one piece; its rows, which may lie on a disk, are read once."""
    columns = np.empty(table.shape[::-1], _dtype(table))

    def copy(start: int) -> None:
        columns[:, start : start + BLOCK] = table[start : start + BLOCK].T

    on_all_cores(copy, range(0, len(table), BLOCK))
    return columns


def _plain(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.ascontiguousarray(column, _dtype(column))


def _dtype(array: npt.NDArray[Any]) -> np.dtype[Any]:
    """The type of polars that holds what an array does."""
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        return np.dtype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    return array.dtype.newbyteorder("=")


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".:")
