"""Parquet files that a dask cluster reads: the rows stay with the workers, a card fetches its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.data.dataset import Dataset
from cobras.data.features import is_constant, listed
from cobras.data.kinds import Choices
from cobras.data.large import LargeCards, LargeTable
from cobras.exceptions import InvalidDataError
from cobras.types import FloatArray, IndexArray

if TYPE_CHECKING:
    import pandas as pd

N_KEPT = 1_000  # rows that were shown and stay here


def as_url(path: Path) -> str | None:
    """The address that a path was made from, or None for a path of this machine.

    Examples
    --------
    >>> as_url(Path("s3://bucket/*.parquet")), as_url(Path("flowers.csv"))
    ('s3://bucket/*.parquet', None)
    """
    found = re.fullmatch(r"([a-z][a-z0-9+.-]+):/+(.*)", path.as_posix())  # Path joins the slashes
    if found is None or path.exists():
        return None
    return f"{found[1]}://{'/' if found[1] == 'file' else ''}{found[2]}"


def read_remote(path: Path, choices: Choices, stored: Mapping[str, Any] | None = None) -> Dataset:
    """The rows of Parquet files at an address or a path that all workers know; numbers and dates are features."""
    table = RemoteParquet(as_url(path) or str(path.absolute()))
    if choices.kind not in (None, "table") or choices.text or choices.image or choices.vectors:
        raise InvalidDataError(
            f"{table.source} is read by a cluster, as a table only; leave the other options out."
        )
    choices.check(table.source, table.head.columns)
    hidden = [name for name in (choices.label, *choices.drop) if name is not None]
    notes = [f"Read {table.height:,} rows x {table.head.width} columns where they lie, by dask."]
    if stored is not None and "columns" in stored:
        recipes = list(stored["columns"])
    else:
        open_columns = [name for name in choices.open_columns(table.head.columns) if name != choices.id]
        recipes = table.fit(open_columns, notes)
    return Dataset(
        X=table.features(recipes),
        ids=np.arange(table.height, dtype=np.min_scalar_type(table.height)),
        columns=tuple(recipe["name"] for recipe in recipes),
        frame=table.head,
        labels=None,
        card=LargeCards(table, hidden),
        notes=tuple(notes),
        recipe={**choices.recipe(), "kind": "table", "hidden": hidden, "columns": recipes, "remote": True},
        large=table,
        encoded=lambda rows: table.encoded(rows, recipes),
    )


class RemoteParquet(LargeTable):
    """The rows of Parquet files, in the partitions that dask reads."""

    def __init__(self, address: str) -> None:
        try:
            import dask
            import dask.dataframe as dd
        except ImportError:
            raise InvalidDataError(
                f"{address} is to be read by dask, which is not installed; pip install 'cobras-clustering[dask]'."
            ) from None
        try:
            self._frame = dd.read_parquet(address)
            self._parts = self._frame.to_delayed()
            heights = dask.compute(*[dask.delayed(len)(part) for part in self._parts])
        except (OSError, ValueError, ImportError, IndexError) as error:
            reason = (str(error).splitlines() or [""])[0].rstrip(".")
            raise InvalidDataError(f"{address} cannot be read as Parquet: {reason}.") from error
        self._starts = np.concatenate([[0], np.cumsum(heights, dtype=np.int64)])
        if self._starts[-1] == 0:
            raise InvalidDataError(f"{address} holds no rows; at least one is needed.")
        super().__init__(address, pl.from_pandas(self._frame._meta), int(self._starts[-1]))
        self.row = lru_cache(N_KEPT)(self._row)  # type: ignore[method-assign]

    def read(self, start: int, n_rows: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Some rows of one partition."""
        import dask

        p = int(np.searchsorted(self._starts, start, side="right")) - 1
        first = start - int(self._starts[p])
        (found,) = dask.compute(dask.delayed(_rows)(self._parts[p], first, first + n_rows, columns))
        return pl.from_pandas(found)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pl.DataFrame]]:
        """All rows, partition by partition."""
        for start, stop in zip(self._starts[:-1].tolist(), self._starts[1:].tolist(), strict=True):
            if start < stop:
                yield start, self.read(start, stop - start, columns)

    def _row(self, i: int) -> dict[str, Any]:
        return self.read(i, 1).row(0, named=True)

    def fit(self, columns: Sequence[str], notes: list[str]) -> list[dict[str, Any]]:
        """The recipes of all columns of numbers, booleans and dates that tell rows apart."""
        import dask

        used = [name for name in columns if _is_number(self._frame.dtypes[name])]
        if others := [name for name in columns if name not in used]:
            notes.append(f"Left out {listed(others)}: neither numbers nor dates, shown but not used.")
        measured = dask.compute(*[dask.delayed(_measured)(part, used) for part in self._parts])
        low, high, middle, n_gaps = (np.array(part) for part in zip(*measured, strict=True))
        recipes: list[dict[str, Any]] = []
        for k, name in enumerate(used):
            known = ~np.isnan(low[:, k])
            if not np.isfinite(low[known, k]).all() or not np.isfinite(high[known, k]).all():
                raise InvalidDataError(
                    f"Column {name!r} of {self.source} is infinite somewhere; leave it out by drop."
                )
            if not known.any():
                notes.append(f"Left out {name!r}: empty.")
                continue
            fill = float(np.median(middle[known, k]))
            is_date = _is_date(self._frame.dtypes[name])
            ends = {"low": float(low[known, k].min()), "high": float(high[known, k].max())}
            recipes.append({"name": name, "as": "date" if is_date else "number", "fill": fill, **ends})
            if gaps := int(n_gaps[:, k].sum()):
                notes.append(
                    f"Filled {gaps} missing values in {name!r} with the median of the partitions' medians."
                )
        constant = [str(recipe["name"]) for recipe in recipes if is_constant(recipe)]
        if constant and len(constant) < len(recipes):
            notes.append(f"Left out {listed(constant)}: the same in every row.")
            recipes = [recipe for recipe in recipes if recipe["name"] not in constant]
        if not recipes:
            raise InvalidDataError(
                f"{self.source} has no column of numbers to cluster by; its columns are {listed(columns, 20)}."
            )
        notes.append(f"Scaled {len(recipes)} column{'s' * (len(recipes) > 1)} to [0, 1].")
        return recipes

    def features(self, recipes: Sequence[Mapping[str, Any]]) -> Any:
        """The scaled columns, as a dask array of float32."""
        import dask
        import dask.array as da

        chunks = [
            da.from_delayed(dask.delayed(_scaled)(part, recipes), (int(height), len(recipes)), np.float32)
            for part, height in zip(self._parts, np.diff(self._starts), strict=True)
            if height
        ]
        return da.concatenate(chunks)

    def encoded(self, rows: IndexArray, recipes: Sequence[Mapping[str, Any]]) -> FloatArray:
        """The features of some rows, here."""
        import dask

        home = np.searchsorted(self._starts, rows, side="right") - 1
        where = [(p, np.flatnonzero(home == p)) for p in np.unique(home).tolist()]
        taken = [
            dask.delayed(_scaled)(dask.delayed(_taken)(self._parts[p], rows[at] - self._starts[p]), recipes)
            for p, at in where
        ]
        X = np.empty((len(rows), len(recipes)), np.float32)
        for (_, at), part in zip(where, dask.compute(*taken), strict=True):
            X[at] = part
        return X

    def codes(self, column: str) -> tuple[npt.NDArray[np.int32], int]:
        """A column of classes as numbers from 0 on, and how many cells are empty."""
        import pandas as pd

        cells = self._frame[column].compute()
        found: npt.NDArray[np.int32] = pd.factorize(cells)[0].astype(np.int32)
        return found, int(cells.isna().sum())


def _is_number(dtype: Any) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype, is_timedelta64_dtype

    kinds = (is_bool_dtype, is_numeric_dtype, is_timedelta64_dtype, _is_date)
    return any(is_kind(dtype) for is_kind in kinds)


def _is_date(dtype: Any) -> bool:
    from pandas.api.types import is_datetime64_any_dtype

    return bool(is_datetime64_any_dtype(dtype)) or str(dtype).startswith("date32")


# -- on the workers ------------------------------------------------------------------------------------------------


def _rows(part: pd.DataFrame, first: int, last: int, columns: Sequence[str] | None) -> pd.DataFrame:
    return (part if columns is None else part[list(columns)]).iloc[first:last]


def _taken(part: pd.DataFrame, places: IndexArray) -> pd.DataFrame:
    return part.iloc[places]


def _numbers(part: pd.DataFrame, name: str) -> npt.NDArray[np.float64]:
    """A column as float64, dates as seconds since 1970; what is missing is NaN."""
    import pandas as pd

    column, moments = part[name], None
    if _is_date(column.dtype):
        moments = pd.to_datetime(column, utc=True).dt.tz_localize(None).to_numpy("datetime64[us]")
    elif pd.api.types.is_timedelta64_dtype(column.dtype):
        moments = pd.to_timedelta(column).to_numpy("timedelta64[us]")
    if moments is not None:
        seconds: npt.NDArray[np.float64] = moments.astype(np.float64) / 1e6
        seconds[np.isnat(moments)] = np.nan
        return seconds
    numbers: npt.NDArray[np.float64] = column.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    return numbers


def _measured(
    part: pd.DataFrame, names: Sequence[str]
) -> tuple[list[float], list[float], list[float], list[int]]:
    """Lowest, highest and middle value, and the number of gaps, of each column."""
    low, high, middle, n_gaps = [], [], [], []
    for name in names:
        values = _numbers(part, name)
        known = values[~np.isnan(values)]
        empty = not len(known)
        low.append(np.nan if empty else float(known.min()))
        high.append(np.nan if empty else float(known.max()))
        middle.append(np.nan if empty else float(np.median(known)))
        n_gaps.append(len(values) - len(known))
    return low, high, middle, n_gaps


def _scaled(part: pd.DataFrame, recipes: Sequence[Mapping[str, Any]]) -> FloatArray:
    X = np.empty((len(part), len(recipes)), np.float32)
    for k, recipe in enumerate(recipes):
        values = _numbers(part, recipe["name"])
        values[np.isnan(values)] = recipe["fill"]
        X[:, k] = (values - recipe["low"]) / ((recipe["high"] - recipe["low"]) or 1)
    return X
