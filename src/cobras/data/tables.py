"""Files to tables: every format ends as one polars frame, every failure as one sentence."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import polars as pl

from cobras.data.delimited import read_delimited
from cobras.exceptions import InvalidDataError

READABLE = (".csv", ".tsv", ".txt", ".data", ".parquet", ".jsonl", ".ndjson", ".json", ".npy")


class DataNotFoundError(InvalidDataError, FileNotFoundError):
    """The data file does not exist."""


def read_table(path: Path) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Read a file as a table, with notes on how it was read.

    Examples
    --------
    >>> read_table(Path("nowhere.csv"))
    Traceback (most recent call last):
    cobras.data.tables.DataNotFoundError: There is no file nowhere.csv.
    """
    _check_file(path)
    suffix = path.suffix.lower()
    notes: tuple[str, ...] = ()
    try:
        if suffix == ".parquet":
            frame = pl.read_parquet(path)
        elif suffix in (".jsonl", ".ndjson"):
            frame = pl.read_ndjson(path, infer_schema_length=None)
        elif suffix == ".json":
            frame = pl.read_json(path, infer_schema_length=None)
        elif suffix == ".npy":
            frame = _read_array(path)
        else:
            frame, notes = read_delimited(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, RecursionError) as error:
        kind = {".parquet": "Parquet", ".json": "a JSON list of objects"}.get(
            suffix, "one JSON object per line"
        )
        raise InvalidDataError(f"{path.name} cannot be read as {kind}: {_first_line(error)}.") from error
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
            f"{path.name} cannot be read: its suffix must be one of {', '.join(READABLE)}."
        )
    if path.stat().st_size == 0:
        raise InvalidDataError(
            f"{path.name} is empty; at least a line of column names and one row are needed."
        )


def _read_array(path: Path) -> pl.DataFrame:
    try:
        with path.open("rb") as file:
            array = np.load(file, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InvalidDataError(
            f"{path.name} is not a NumPy array of numbers: {_first_line(error)}."
        ) from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub":
        raise InvalidDataError(f"{path.name} must hold a NumPy array of numbers.")
    if array.ndim != 2:
        raise InvalidDataError(
            f"{path.name} must be 2-dimensional (rows, columns), but its shape is {array.shape}."
        )
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        array = array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    return pl.DataFrame({f"column_{k}": np.ascontiguousarray(c) for k, c in enumerate(array.T, 1)})


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".:")
