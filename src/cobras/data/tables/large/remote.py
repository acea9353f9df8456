"""Parquet files that a dask cluster reads: the rows stay with the workers, a card fetches its own.

Only the workers open files: the client needs neither their packages nor their keys. What goes wrong there comes
back as one sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError, first_line
from cobras.core.types import FloatArray, IndexArray
from cobras.data.dataset import Dataset
from cobras.data.guess import Choices
from cobras.data.recipe import ColumnRecipe, Recipe
from cobras.data.tables.columns import cells, floats, is_constant, name_list, no_numbers
from cobras.data.tables.files import url_of
from cobras.data.tables.fit import weighted_columns
from cobras.data.tables.large.outofcore import LargeTable, large_dataset

N_KEPT = 1_000  # rows that were shown and are kept in memory
TOGETHER = 2**26  # bytes of a piece, about
AT_ONCE = 8  # pieces that are fetched at the same time


def read_remote(path: Path, choices: Choices, stored: Recipe | None = None) -> Dataset:
    """The rows of Parquet files at an address or a path that all workers know; numbers and dates are features."""
    table = RemoteParquet(url_of(path) or str(path.absolute()))
    if choices.kind not in (None, "table") or choices.text or choices.image or choices.vectors:
        raise InvalidDataError(
            f"{table.source} is read by a cluster, as a table only; leave the other options out."
        )
    if choices.types:
        raise InvalidDataError(
            f"{table.source} is read by a cluster, which takes columns as they are; give no types, but weights."
        )
    choices.check(table.source, table.head.columns)
    notes = [f"Read {table.height:,} rows x {table.head.width} columns where they lie, by dask."]
    if stored is not None and stored.columns is not None:
        recipes = list(stored.columns)
        table.check(recipes)
    else:
        open_columns = [name for name in choices.usable(table.head.columns) if name != choices.id]
        recipes = weighted_columns(table.fit(open_columns, notes), dict(choices.weights), {})
    fetch = partial(table.fetch_features, recipes)
    return large_dataset(table, choices, table.features(recipes), recipes, notes, fetch, remote=True)


class RemoteParquet(LargeTable):
    """The rows of Parquet files, in pieces of some row groups each.

    Their number is known from the ends of the files; they are read once to be measured, and once as features.
    """

    def __init__(self, address: str) -> None:
        try:
            import dask
        except ImportError:
            raise InvalidDataError(
                f"{address} is to be read by dask, which is not installed; pip install 'cobras-clustering[dask]'."
            ) from None
        (files,) = dask.compute(dask.delayed(files_at)(address))
        footers = dask.compute(*[dask.delayed(read_footer)(file) for file in files])
        head = footers[0][0]
        if any(other.columns != head.columns for other, _ in footers):
            raise InvalidDataError(
                f"The Parquet files of {address} have different columns; give those that belong together."
            )
        groups = [
            (Piece(file, (g,)), n_rows, n_bytes)
            for file, (_, sizes) in zip(files, footers, strict=True)
            for g, (n_rows, n_bytes) in enumerate(sizes)
            if n_rows
        ]
        if not groups:
            raise InvalidDataError(f"{address} holds no rows; at least one is needed.")
        self._groups = [piece for piece, _, _ in groups]
        self._group_starts = np.cumsum([0, *(n_rows for _, n_rows, _ in groups)])
        self._pieces, self._starts = _join_groups(groups)
        super().__init__(address, head, int(self._starts[-1]))
        # The card of a row is asked for again and again, and each time would be a task on the cluster.
        self.row = lru_cache(N_KEPT)(super().row)  # type: ignore[method-assign]

    def read(self, start: int, n_rows: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Some rows; workers read the row groups around them and send the rows."""
        stop = min(start + n_rows, self.height)
        first = int(np.searchsorted(self._group_starts, start, side="right")) - 1
        last = max(first + 1, int(np.searchsorted(self._group_starts, stop)))
        tasks = [
            (self._groups[g], columns, slice(max(0, start - begin), stop - begin))
            for g, begin in enumerate(self._group_starts[first:last].tolist(), first)
        ]
        found: pl.DataFrame = pl.concat(_compute_all(read_piece, tasks), how="vertical_relaxed")
        return found

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pl.DataFrame]]:
        """All rows, piece by piece."""
        for p in range(0, len(self._pieces), AT_ONCE):
            tasks = [(piece, columns) for piece in self._pieces[p : p + AT_ONCE]]
            rows = _compute_all(read_piece, tasks)
            yield from zip(self._starts[p : p + len(tasks)].tolist(), rows, strict=True)

    def fit(self, columns: Sequence[str], notes: list[str]) -> list[ColumnRecipe]:
        """The recipes of all columns of numbers, booleans and dates that tell rows apart."""
        types = self.head.schema
        used = [name for name in columns if is_number(types[name])]
        if others := [name for name in columns if name not in used]:
            notes.append(f"Left out {name_list(others)}: neither numbers nor dates, shown but not used.")
        # The only pass over all rows before the features are made.
        by_piece = _compute_all(measure, [(piece, used) for piece in self._pieces])
        about = dict(zip(used, zip(*by_piece, strict=True), strict=True))
        counts = [name for name in used if types[name].is_integer() and self._is_count(about[name])]
        if 0 < len(counts) < len(used):
            notes.append(f"Left out {name_list(counts)}: only counts the rows.")
            used = [name for name in used if name not in counts]
        recipes = [found for name in used if (found := self._recipe(name, about[name], notes)) is not None]
        constant = [recipe.name for recipe in recipes if is_constant(recipe)]
        if constant and len(constant) < len(recipes):
            notes.append(f"Left out {name_list(constant)}: the same in every row.")
            recipes = [recipe for recipe in recipes if recipe.name not in constant]
        if not recipes:
            raise no_numbers(self.source, columns)
        notes.append(f"Scaled {len(recipes)} column{'s' * (len(recipes) > 1)} to [0, 1].")
        return recipes

    def _recipe(self, name: str, about: Sequence[Measures], notes: list[str]) -> ColumnRecipe | None:
        """How a column becomes a feature; None if it is empty."""
        known = [part for part in about if not np.isnan(part.low)]
        if not known:
            notes.append(f"Left out {name!r}: empty.")
            return None
        low, high = min(part.low for part in known), max(part.high for part in known)
        if not np.isfinite([low, high]).all():
            raise InvalidDataError(
                f"Column {name!r} of {self.source} is infinite somewhere; leave it out by drop."
            )
        if gaps := sum(part.n_gaps for part in about):
            notes.append(
                f"Filled {gaps} missing values in {name!r} with the median of the medians of {len(known)} pieces."
            )
        fill = float(np.median([part.middle for part in known]))
        if is_date(self.head.schema[name]):
            return ColumnRecipe(name, "date", low, high, fill, format="")
        return ColumnRecipe(name, "number", low, high, fill)

    def _is_count(self, about: Sequence[Measures]) -> bool:
        return all(
            part.is_count and part.first - start == about[0].first
            for part, start in zip(about, self._starts[:-1].tolist(), strict=True)
        )

    def check(self, recipes: Sequence[ColumnRecipe]) -> None:
        """Refuse recipes of columns that are no longer there or hold no numbers any more."""
        types = self.head.schema
        for name in (recipe.name for recipe in recipes):
            if name not in types or not is_number(types[name]):
                raise InvalidDataError(
                    f"The columns of {self.source} cannot be read as before: {name!r} "
                    f"{'is gone' if name not in types else 'holds no numbers any more'}."
                )

    def features(self, recipes: Sequence[ColumnRecipe]) -> Any:
        """The scaled columns, as a dask array of float32."""
        import dask
        import dask.array as da

        scale = dask.delayed(piece_features)
        chunks = [
            da.from_delayed(scale(piece, recipes), (int(height), len(recipes)), np.float32)
            for piece, height in zip(self._pieces, np.diff(self._starts), strict=True)
        ]
        return da.concatenate(chunks)

    def fetch_features(self, recipes: Sequence[ColumnRecipe], rows: IndexArray) -> FloatArray:
        """Fetch the features of some rows."""
        home = np.searchsorted(self._group_starts, rows, side="right") - 1
        where = [(g, np.flatnonzero(home == g)) for g in np.unique(home).tolist()]
        tasks = [(self._groups[g], recipes, rows[at] - self._group_starts[g]) for g, at in where]
        X = np.empty((len(rows), len(recipes)), np.float32)
        for (_, at), part in zip(where, _compute_all(piece_features, tasks), strict=True):
            X[at] = part
        return X


def _join_groups(groups: Sequence[tuple[Piece, int, int]]) -> tuple[list[Piece], IndexArray]:
    """Neighbouring row groups of a file as pieces of some `TOGETHER` bytes, and where each begins and the end."""
    pieces: list[Piece] = []
    heights: list[int] = []
    size = 0
    for piece, n_rows, n_bytes in groups:
        if pieces and pieces[-1].file == piece.file and size + n_bytes <= TOGETHER:
            pieces[-1] = Piece(piece.file, pieces[-1].groups + piece.groups)
            heights[-1] += n_rows
            size += n_bytes
        else:
            pieces.append(piece)
            heights.append(n_rows)
            size = n_bytes
    return pieces, np.cumsum([0, *heights])


def _compute_all(function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> Any:
    """Return the results of a function for each of some arguments, computed by the workers."""
    import dask

    task = dask.delayed(function, pure=False)
    return dask.compute(*[task(*some) for some in arguments])


class Piece(NamedTuple):
    """Some row groups of one file."""

    file: str
    groups: tuple[int, ...]


class Measures(NamedTuple):
    """Statistics of the cells of one column in one piece; NaN where all are empty.

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
    with _explain_errors(address):
        import fsspec

        system, path = fsspec.core.url_to_fs(address)
        if not any(sign in path for sign in "*?[") and system.isdir(path):
            path = f"{path.rstrip('/')}/*.parquet"
        found = sorted(system.glob(path)) if any(sign in path for sign in "*?[") else [path]
        if not found:
            raise InvalidDataError(f"There are no files {address}; give the Parquet files of one table.")
        return [system.unstrip_protocol(file) for file in found]


def read_footer(file: str) -> tuple[pl.DataFrame, list[tuple[int, int]]]:
    """The columns of a file, without rows, and the rows and bytes of each row group."""
    with _open_parquet(file) as parquet:
        about = parquet.metadata
        groups = [about.row_group(g) for g in range(about.num_row_groups)]
        head = pl.from_arrow(parquet.schema_arrow.empty_table())
        assert isinstance(head, pl.DataFrame)
        return head, [(group.num_rows, group.total_byte_size) for group in groups]


def read_piece(
    piece: Piece, columns: Sequence[str] | None, places: IndexArray | slice | None = None
) -> pl.DataFrame:
    """Read the rows of a piece, or some of them; all columns, or some."""
    with _open_parquet(piece.file) as parquet:
        found = pl.from_arrow(parquet.read_row_groups(list(piece.groups), columns, use_threads=False))
    assert isinstance(found, pl.DataFrame)
    return found if places is None else found[places]


def measure(piece: Piece, names: Sequence[str]) -> list[Measures]:
    """Return the statistics of each column."""
    rows = read_piece(piece, names)
    return [_measures(floats(cells(rows, name)).fill_null(np.nan).to_numpy()) for name in names]


def piece_features(
    piece: Piece, recipes: Sequence[ColumnRecipe], places: IndexArray | slice | None = None
) -> FloatArray:
    """The columns of the recipes as features: gaps filled, 0 for the lowest value and 1 for the highest."""
    rows = read_piece(piece, [recipe.name for recipe in recipes], places)
    X = np.empty((rows.height, len(recipes)), np.float32)
    for k, recipe in enumerate(recipes):
        # In float64 whatever the column's type: float32 would round the features of large numbers.
        values = floats(cells(rows, recipe.name)).fill_null(recipe.fill).to_numpy()
        X[:, k] = recipe.weight * (values - recipe.low) / ((recipe.high - recipe.low) or 1)
    return X


def is_number(dtype: pl.DataType) -> bool:
    """Whether a column of this type holds numbers, booleans, dates or durations."""
    return dtype.is_numeric() or dtype in (pl.Boolean, pl.Duration) or is_date(dtype)


def is_date(dtype: pl.DataType) -> bool:
    """Whether a column of this type holds dates, with or without a time."""
    return dtype in (pl.Date, pl.Datetime)


def _measures(values: npt.NDArray[np.float64]) -> Measures:
    known = values[~np.isnan(values)]
    n_gaps = len(values) - len(known)
    if not len(known):
        return Measures(np.nan, np.nan, np.nan, n_gaps, np.nan, False)
    low, high, middle = float(known.min()), float(known.max()), float(np.median(known))
    is_count = not n_gaps and high - low == len(values) - 1 and bool((np.diff(values) == 1).all())
    return Measures(low, high, middle, n_gaps, float(values[0]), is_count)


@contextmanager
def _open_parquet(file: str) -> Iterator[Any]:
    with _explain_errors(file):
        import fsspec
        import pyarrow.parquet as pq

        with fsspec.open(file, "rb") as opened, pq.ParquetFile(opened, pre_buffer=True) as parquet:
            yield parquet


@contextmanager
def _explain_errors(address: str) -> Iterator[None]:
    """Turn any error of a file system into one sentence: the client may lack the package that defines the error."""
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
        raise InvalidDataError(f"{address} cannot be read as Parquet: {first_line(error)}.") from None


def _package_for(address: str) -> str | None:
    """Return the package to install for a protocol, such as s3fs for s3."""
    from fsspec.registry import known_implementations

    known = known_implementations.get(address.split(":", 1)[0], {}).get("class", "fsspec")
    return None if known.startswith("fsspec") else str(known.split(".", 1)[0])
