"""NumPy files: an array of rows, or an archive with one and with further columns.

They may unpack to far more than their size, so that is checked first.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError, first_line
from cobras.core.threads import on_all_cores
from cobras.data.tables.files import check_size

BLOCK = 2**14  # rows that are turned into columns together


def read_arrays(path: Path) -> pl.DataFrame:
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
