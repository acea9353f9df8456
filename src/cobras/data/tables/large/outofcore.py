"""Tables larger than memory: NumPy arrays, Parquet and delimited text, read batch by batch.

The features are written into a mapped file that is deleted when the program ends; a card reads its own row. The
kind of each column, its words and its median come from a sample of rows. The ranges, and whether there are gaps,
come from all rows: the extremes, and a gap where there is one, are added to the sample, and dates written as text
are looked through once more.
"""

from __future__ import annotations

import shutil
import tempfile
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from polars import selectors

from cobras.core.exceptions import InvalidDataError, first_line
from cobras.core.types import FloatArray, IndexArray
from cobras.data.cache import cache_folder
from cobras.data.dataset import Dataset, Row
from cobras.data.guess import Choices
from cobras.data.recipe import ColumnRecipe, Recipe
from cobras.data.tables.arrays import polars_dtype, read_npy
from cobras.data.tables.columns import (
    cells,
    check_finite,
    feature_names,
    floats,
    n_missing,
    name_list,
    write_features,
)
from cobras.data.tables.csv import DELIMITED
from cobras.data.tables.files import (
    check_lines,
    memory_limit,
    parquet_files,
    possible_times,
)
from cobras.data.tables.fit import (
    describe_columns,
    fit_columns,
    has_unit_rows,
    same_words,
    unit_columns,
    weighted_columns,
)
from cobras.data.tables.large.parquet import convert_to_parquet, scan_parquet_files
from cobras.data.tables.large.plain import plain_layout
from cobras.data.tables.names import NAMES_ROWS, naming_columns

BATCH = 1 << 25  # bytes of a batch, about
LARGEST_ROW = 1 << 28  # bytes
N_SAMPLED = 50_000  # rows that tell the kind of each column, or fewer:
SAMPLE = 1 << 28  # bytes of them


class LargeTable(ABC):
    """Rows that stay in their file.

    Attributes
    ----------
    source : str
        What the file is called.
    head : polars.DataFrame
        The columns and their types, without rows.
    height : int
    has_semicolons : bool
        Whether it was text with semicolons between the cells, which leaves the comma to fractions.
    """

    has_semicolons = False

    def __init__(self, source: str, head: pl.DataFrame, height: int) -> None:
        self.source, self.head, self.height = source, head, height

    @abstractmethod
    def read(self, start: int, n_rows: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Read some rows; all columns, or some."""

    def row_bytes(self, columns: Sequence[str] | None = None) -> int:
        """About how many bytes a row takes in memory: those of the first rows."""
        # Texts are longer than numbers, perhaps so long that a thousand rows would be too many.
        row, n_rows = 0, 1
        while row * n_rows < BATCH and n_rows <= min(1_000, 10 * self.height):
            some = self.read(0, n_rows, columns)
            row = max(8, 8 * some.width, int(some.estimated_size()) // max(1, some.height))
            n_rows *= 10
        return row

    @property
    def n_bytes(self) -> int:
        """About how many bytes all rows would take in memory."""
        return self.height * self.row_bytes()

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pl.DataFrame]]:
        """Yield all rows in pieces, each with the number of its first row."""
        size = max(1, BATCH // self.row_bytes(columns))
        for start in range(0, self.height, size):
            yield start, self.read(start, min(size, self.height - start), columns)

    def row(self, i: int) -> dict[str, Any]:
        """Return one row by the names of its columns."""
        return self.read(i, 1).row(0, named=True)

    def codes(self, column: str) -> tuple[npt.NDArray[np.int32], int]:
        """Return a column of classes as numbers from 0, and how many cells are empty."""
        numbers: dict[str, int] = {}
        found, n_gaps = np.empty(self.height, np.int32), 0
        dtype = self.head.schema[column]
        if dtype.is_nested() or dtype == pl.Binary:
            raise InvalidDataError(f"Column {column!r} of {self.source} holds neither words nor numbers.")
        for start, batch in self.batches([column]):
            words = cells(batch, column)
            n_gaps += n_missing(words)
            words = same_words(words).cast(pl.String)
            unique = words.unique(maintain_order=True).to_list()
            for word in unique:
                numbers.setdefault(word, len(numbers))
            mine = pl.Series([numbers[word] for word in unique], dtype=pl.Int32)
            placed = words.replace_strict(unique, mine, return_dtype=pl.Int32)
            found[start : start + len(words)] = placed.to_numpy()
        return found, n_gaps


class MappedArray(LargeTable):
    """The rows of an .npy file."""

    def __init__(self, path: Path, array: npt.NDArray[Any]) -> None:
        self._array = array
        self._names = [f"column_{k}" for k in range(1, array.shape[1] + 1)]
        super().__init__(path.name, self.read(0, 0), len(array))

    def read(self, start: int, n_rows: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Some rows, copied from the file."""
        rows = np.asarray(self._array[start : start + n_rows])
        rows = rows.astype(polars_dtype(rows), copy=False)
        wanted = set(self._names if columns is None else columns)
        return pl.DataFrame(
            {name: np.ascontiguousarray(rows[:, k]) for k, name in enumerate(self._names) if name in wanted}
        )


class ParquetRows(LargeTable):
    """The rows of one or more Parquet files; a column has the type that holds those of all files."""

    def __init__(self, path: Path, files: Sequence[pl.LazyFrame]) -> None:
        heights = [int(rows.select(pl.len()).collect().item()) for rows in files]
        self._files, self._starts = files, [0, *accumulate(heights)]
        try:
            head = pl.concat([rows.head(0).collect() for rows in files], how="vertical_relaxed")
        except pl.exceptions.PolarsError as error:
            raise InvalidDataError(
                f"The Parquet files of {path} have columns of different types; give those that belong together."
            ) from error
        super().__init__(path.name, head, self._starts[-1])

    def read(self, start: int, n_rows: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Read some rows; other files and row groups are not read."""
        chosen = selectors.by_name(self.head.columns if columns is None else columns)  # pl.col knows patterns
        parts = [self.head.select(chosen)]
        for rows, (first, last) in zip(self._files, pairwise(self._starts), strict=True):
            begin, end = max(first, start), min(last, start + n_rows)
            if begin < end:
                parts.append(rows.select(chosen).slice(begin - first, end - begin).collect())
        return possible_times(pl.concat(parts, how="vertical_relaxed"))[0]


def open_large_table(path: Path) -> LargeTable | None:
    """Open a table that is too large to load; None where the path holds another thing, or a table that fits."""
    suffix, is_large = path.suffix.lower(), path.is_file() and path.stat().st_size > memory_limit()
    table: LargeTable | None = None
    if suffix == ".npy" and is_large:
        try:
            array = read_npy(path)
        except Exception:  # the usual reader says what is wrong with it
            return None
        if array.ndim == 2 and array.dtype.kind in "fiub" and array.dtype.itemsize <= 8:
            table = MappedArray(path, array)
    elif suffix in DELIMITED and is_large:
        check_lines(path)
        files = convert_to_parquet(path)
        if files is None:
            return None
        table = ParquetRows(path, [pl.scan_parquet(file, glob=False) for file in files])
        layout = plain_layout(path)
        table.has_semicolons = layout is not None and layout[0].delimiter == ";"
        return table
    elif (files := parquet_files(path)) is not None and (parts := scan_parquet_files(path, files)):
        # Parquet is compressed: only the number of its rows tells how much memory they take.
        table = ParquetRows(path, parts)
        if table.row_bytes() > LARGEST_ROW:
            raise InvalidDataError(
                f"A row of {path.name} takes more than {LARGEST_ROW / 2**20:,.0f} MiB; leave its long cells out."
            )
    return table if table is not None and table.n_bytes > memory_limit() else None


def read_large(table: LargeTable, choices: Choices, stored: Recipe | None) -> Dataset:
    """Read a large table, with its features in a mapped file."""
    if choices.kind not in (None, "table") or choices.text or choices.image or choices.vectors:
        raise InvalidDataError(
            f"{table.source} is larger than COBRAS_MEMORY allows ({memory_limit():,} bytes), so it can only be "
            "read as a table; leave the other options out."
        )
    choices.check(table.source, table.head.columns)
    notes = [f"Read {table.height:,} rows x {table.head.width} columns piece by piece: too many to load."]
    candidates = choices.usable(table.head.columns)
    # Before long passes: a damaged file may claim any number of rows.
    create_mapped_matrix((table.height, 1))
    ignored: dict[str, str] = {}
    if stored is not None and stored.columns is not None:
        recipes: Sequence[ColumnRecipe] = stored.columns
        ignored = dict(stored.ignored)
    else:
        # One pass over all rows; what follows looks at the sample alone, but for dates written as text.
        spaced, telling, gaps = survey(table, candidates)
        sample = pl.concat([spaced, telling])
        naming = _naming_columns(table, spaced, choices.id, choices.may_name(candidates))
        if naming:
            notes.append(f"Left out {name_list(naming)}: {NAMES_ROWS}.")
        others = [name for name in candidates if name not in set(naming)]
        types = dict(choices.types)
        if isinstance(table, MappedArray) and not types and has_unit_rows(spaced, others):
            recipes = unit_columns(others)
        else:
            points = table.has_semicolons
            recipes, ignored = fit_columns(table.source, sample, others, notes, types, points)
        ignored |= dict.fromkeys(naming, NAMES_ROWS)
        recipes = weighted_columns(recipes, dict(choices.weights), ignored)
        recipes = _widen_texts(table, recipes)
        describe_columns(spaced, recipes, notes, gaps, types)
    X = create_mapped_matrix((table.height, len(feature_names(recipes))))
    used = [recipe.name for recipe in recipes]
    try:
        for start, batch in table.batches(used):
            write_features(X[start : start + batch.height], batch, recipes)
    except (pl.exceptions.PolarsError, ValueError, TypeError) as error:
        raise InvalidDataError(
            f"The columns of {table.source} cannot be read as before: {first_line(error)}."
        ) from error
    return large_dataset(table, choices, X, recipes, notes, id=None, ignored=tuple(ignored.items()))


def large_dataset(
    table: LargeTable,
    choices: Choices,
    X: Any,
    recipes: Sequence[ColumnRecipe],
    notes: Sequence[str],
    fetch: Callable[[IndexArray], FloatArray] | None = None,
    **found: Any,
) -> Dataset:
    """The data set of a large table; a card reads its row when it is shown."""
    hidden = choices.hidden
    return Dataset(
        X=X,
        ids=np.arange(table.height, dtype=np.min_scalar_type(table.height)),
        columns=tuple(feature_names(recipes)),
        frame=table.head,
        labels=None,
        card=lambda i: Row({name: value for name, value in table.row(i).items() if name not in hidden}),
        notes=tuple(notes),
        recipe=choices.recipe(kind="table", hidden=tuple(hidden), columns=tuple(recipes), **found),
        large=table,
        fetch=fetch,
    )


def survey(table: LargeTable, columns: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, int]]:
    """Return evenly spaced rows, three rows made of the extremes and gaps of all rows, and the gaps per column."""
    every = 1 + table.height // max(1, min(N_SAMPLED, SAMPLE // table.row_bytes(columns)))
    extremes: dict[str, pl.Series] = {}
    taken, gaps = [], Counter[str]()
    for start, batch in table.batches(columns):
        spaced = batch.gather_every(every, (-start) % every)
        taken.append(spaced.with_columns(selectors.string() + ""))  # copied: else it keeps all texts
        for name in columns:
            column = cells(batch, name)
            gaps[name] += n_missing(column)
            if column.dtype.is_numeric() or column.dtype.is_temporal() or column.dtype == pl.Boolean:
                check_finite(table.source, name, column, start)
                ends = _ends(column)
                extremes[name] = _ends(pl.concat([extremes[name], ends])) if name in extremes else ends
    spaced = pl.concat(taken, rechunk=True)
    telling = []
    for name in columns:
        first = cells(spaced, name).head(1)
        parts = [extremes.get(name, first.clear()), first.clear(min(1, gaps[name])), first, first, first]
        telling.append(pl.concat(parts).head(3).alias(name))
    return spaced, pl.DataFrame(telling), {name: n for name, n in gaps.items() if n}


def _ends(column: pl.Series) -> pl.Series:
    """The lowest and the highest cell; none where all are missing."""
    known = (column.fill_nan(None) if column.dtype.is_float() else column).drop_nulls()
    places = [at for at in (known.arg_min(), known.arg_max()) if at is not None]
    return known[places]


def _naming_columns(
    table: LargeTable, spaced: pl.DataFrame, id: str | None, columns: Sequence[str]
) -> list[str]:
    """The columns that name or count the rows; the names of a sample differ, and the last count is right."""
    first, last = table.read(0, 1_000, columns), table.row(table.height - 1)
    named, _ = naming_columns(spaced, id, columns)
    _, counts = naming_columns(first, id, columns)
    counts = [name for name in counts if last[name] == first[name][0] + table.height - 1]
    return list(dict.fromkeys([*([] if id is None else [id]), *named, *counts]))


def _widen_texts(table: LargeTable, recipes: Sequence[ColumnRecipe]) -> list[ColumnRecipe]:
    """The recipes, with ranges of all rows for dates and numbers written as text."""
    texts = [recipe for recipe in recipes if recipe.format or recipe.notation is not None]
    ranges = {recipe.name: (recipe.low, recipe.high) for recipe in texts}
    for _, batch in table.batches(list(ranges)) if ranges else ():
        for recipe in texts:
            seen = _ends(floats(cells(batch, recipe.name), recipe.format, recipe.notation))
            low, high = ranges[recipe.name]
            ranges[recipe.name] = min([low, *seen]), max([high, *seen])
    ends = [ranges.get(recipe.name, (recipe.low, recipe.high)) for recipe in recipes]
    return [replace(recipe, low=low, high=high) for recipe, (low, high) in zip(recipes, ends, strict=True)]


def create_mapped_matrix(shape: tuple[int, int]) -> FloatArray:
    """Create an empty matrix of float32 in a file without a name, which is deleted when the program ends."""
    folder, n_bytes = cache_folder(), 4 * shape[0] * shape[1]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (free := shutil.disk_usage(folder).free) < n_bytes:
            raise OSError(f"{free:,} are free")
        with tempfile.TemporaryFile(dir=folder) as file:
            # A hole: blocks of the disk are taken as features are written.
            file.truncate(n_bytes)
            matrix: FloatArray = np.memmap(file, np.float32, mode="r+", shape=shape)
    except OSError as error:
        raise InvalidDataError(
            f"The features take {n_bytes:,} bytes in {folder}, but {error.strerror or error}; "
            "make room there, or name another folder in XDG_CACHE_HOME."
        ) from error
    return matrix
