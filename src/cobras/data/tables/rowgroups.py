"""What a worker of a cluster does with Parquet files at any address that fsspec knows.

Only the workers open files: the client needs neither their packages nor their keys. What goes wrong there comes
home as one sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray, IndexArray
from cobras.data.recipe import ColumnRecipe


class Piece(NamedTuple):
    """Some row groups of one file."""

    file: str
    groups: tuple[int, ...]


class Measures(NamedTuple):
    """What the cells of one column in one piece are like; NaN where all are empty.

    Attributes
    ----------
    first : the first cell
    is_count : whether each cell is the one before it plus 1
    """

    low: float
    high: float
    middle: float
    n_gaps: int
    first: float
    is_count: bool


def files_at(address: str) -> list[str]:
    """The addresses of all Parquet files that a file, a folder or a pattern names, in the order of their names."""
    with _explained(address):
        import fsspec

        system, path = fsspec.core.url_to_fs(address)
        if not any(sign in path for sign in "*?[") and system.isdir(path):
            path = f"{path.rstrip('/')}/*.parquet"
        found = sorted(system.glob(path)) if any(sign in path for sign in "*?[") else [path]
        if not found:
            raise InvalidDataError(f"There are no files {address}; give the Parquet files of one table.")
        return [system.unstrip_protocol(file) for file in found]


def footer(file: str) -> tuple[pl.DataFrame, list[tuple[int, int]]]:
    """The columns of a file, without rows, and the rows and bytes of each row group."""
    with _opened(file) as parquet:
        about = parquet.metadata
        groups = [about.row_group(g) for g in range(about.num_row_groups)]
        head = pl.from_arrow(parquet.schema_arrow.empty_table())
        assert isinstance(head, pl.DataFrame)
        return head, [(group.num_rows, group.total_byte_size) for group in groups]


def read(
    piece: Piece, columns: Sequence[str] | None, places: IndexArray | slice | None = None
) -> pl.DataFrame:
    """The rows of a piece, or some of them; all columns, or those."""
    with _opened(piece.file) as parquet:
        found = pl.from_arrow(parquet.read_row_groups(list(piece.groups), columns, use_threads=False))
    assert isinstance(found, pl.DataFrame)
    return found if places is None else found[places]


def measured(piece: Piece, names: Sequence[str]) -> list[Measures]:
    """What the numbers of each column are like."""
    rows = read(piece, names)
    return [_measures(numbers(rows[name])) for name in names]


def scaled(
    piece: Piece, recipes: Sequence[ColumnRecipe], places: IndexArray | slice | None = None
) -> FloatArray:
    """The columns of the recipes as features: gaps filled, 0 for the lowest value and 1 for the highest."""
    rows = read(piece, [recipe.name for recipe in recipes], places)
    X = np.empty((rows.height, len(recipes)), np.float32)
    for k, recipe in enumerate(recipes):
        values = numbers(rows[recipe.name])
        values[np.isnan(values)] = recipe.fill
        X[:, k] = (values - recipe.low) / ((recipe.high - recipe.low) or 1)
    return X


def is_number(dtype: pl.DataType) -> bool:
    """Whether a column of this type is one of numbers, truth values, dates or lengths of time."""
    return dtype.is_numeric() or dtype in (pl.Boolean, pl.Duration) or is_date(dtype)


def is_date(dtype: pl.DataType) -> bool:
    """Whether a column of this type is one of days or moments."""
    return dtype in (pl.Date, pl.Datetime)


def numbers(column: pl.Series) -> npt.NDArray[np.float64]:
    """A column as float64 of its own, times in seconds; what is missing is NaN.

    Examples
    --------
    >>> from datetime import date
    >>> numbers(pl.Series([date(1970, 1, 2), None]))
    array([86400.,    nan])
    """
    scale = 1.0
    if is_date(column.dtype) or column.dtype == pl.Duration:
        times = column.cast(pl.Datetime("us")) if column.dtype == pl.Date else column.dt.cast_time_unit("us")
        column, scale = times.to_physical(), 1e6
    found: npt.NDArray[np.float64] = column.cast(pl.Float64).fill_null(np.nan).to_numpy(writable=True)
    return found / scale


def _measures(values: npt.NDArray[np.float64]) -> Measures:
    known = values[~np.isnan(values)]
    n_gaps = len(values) - len(known)
    if not len(known):
        return Measures(np.nan, np.nan, np.nan, n_gaps, np.nan, False)
    low, high, middle = float(known.min()), float(known.max()), float(np.median(known))
    is_count = not n_gaps and high - low == len(values) - 1 and bool((np.diff(values) == 1).all())
    return Measures(low, high, middle, n_gaps, float(values[0]), is_count)


@contextmanager
def _opened(file: str) -> Iterator[Any]:
    with _explained(file):
        import fsspec
        import pyarrow.parquet as pq

        with fsspec.open(file, "rb") as opened, pq.ParquetFile(opened, pre_buffer=True) as parquet:
            yield parquet


@contextmanager
def _explained(address: str) -> Iterator[None]:
    """One sentence in place of whatever a file system may say; whoever reads it may lack the error's package."""
    try:
        yield
    except InvalidDataError:
        raise
    except FileNotFoundError:
        raise InvalidDataError(
            f"There is no {address}; give Parquet files that all workers can read."
        ) from None
    except Exception as error:
        if isinstance(error, ImportError) and (package := _package_for(address)) is not None:
            raise InvalidDataError(
                f"{address} needs {package}, which is not installed where dask works; pip install {package}."
            ) from None
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise InvalidDataError(f"{address} cannot be read as Parquet: {reason}.") from None


def _package_for(address: str) -> str | None:
    """What is to be installed for a protocol, such as s3fs for s3."""
    from fsspec.registry import known_implementations

    known = known_implementations.get(address.split(":", 1)[0], {}).get("class", "fsspec")
    return None if known.startswith("fsspec") else str(known.split(".", 1)[0])
