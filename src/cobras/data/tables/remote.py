"""Parquet files that a dask cluster reads: the rows stay with the workers, a card fetches its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray, IndexArray
from cobras.data.dataset import Dataset
from cobras.data.guess import Choices
from cobras.data.recipe import ColumnRecipe, Recipe
from cobras.data.tables.columns import is_constant, listed
from cobras.data.tables.outofcore import LargeCards, LargeTable
from cobras.data.tables.rowgroups import (
    Measures,
    Piece,
    files_at,
    footer,
    is_date,
    is_number,
    measured,
    read,
    scaled,
)

N_KEPT = 1_000  # rows that were shown and stay here
TOGETHER = 2**26  # bytes of a piece, about
AT_ONCE = 8  # pieces that come here side by side


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


def read_remote(path: Path, choices: Choices, stored: Recipe | None = None) -> Dataset:
    """The rows of Parquet files at an address or a path that all workers know; numbers and dates are features."""
    table = RemoteParquet(as_url(path) or str(path.absolute()))
    if choices.kind not in (None, "table") or choices.text or choices.image or choices.vectors:
        raise InvalidDataError(
            f"{table.source} is read by a cluster, as a table only; leave the other options out."
        )
    choices.check(table.source, table.head.columns)
    hidden = [name for name in (choices.label, *choices.drop) if name is not None]
    notes = [f"Read {table.height:,} rows x {table.head.width} columns where they lie, by dask."]
    if stored is not None and stored.columns is not None:
        recipes = list(stored.columns)
        table.check(recipes)
    else:
        open_columns = [name for name in choices.open_columns(table.head.columns) if name != choices.id]
        recipes = table.fit(open_columns, notes)
    return Dataset(
        X=table.features(recipes),
        ids=np.arange(table.height, dtype=np.min_scalar_type(table.height)),
        columns=tuple(recipe.name for recipe in recipes),
        frame=table.head,
        labels=None,
        card=LargeCards(table, hidden),
        notes=tuple(notes),
        recipe=choices.recipe(kind="table", hidden=tuple(hidden), columns=tuple(recipes), remote=True),
        large=table,
        encoded=lambda rows: table.encoded(rows, recipes),
    )


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
        footers = dask.compute(*[dask.delayed(footer)(file) for file in files])
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
        self._pieces, self._starts = _joined(groups)
        super().__init__(address, head, int(self._starts[-1]))
        self.row = lru_cache(N_KEPT)(self._row)  # type: ignore[method-assign]

    def read(self, start: int, n_rows: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Some rows; the row groups around them travel to a worker, the rows to here."""
        stop = min(start + n_rows, self.height)
        first = int(np.searchsorted(self._group_starts, start, side="right")) - 1
        last = max(first + 1, int(np.searchsorted(self._group_starts, stop)))
        tasks = [
            (self._groups[g], columns, slice(max(0, start - begin), stop - begin))
            for g, begin in enumerate(self._group_starts[first:last].tolist(), first)
        ]
        found: pl.DataFrame = pl.concat(_made(read, tasks), how="vertical_relaxed")
        return found

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pl.DataFrame]]:
        """All rows, piece by piece."""
        for p in range(0, len(self._pieces), AT_ONCE):
            tasks = [(piece, columns) for piece in self._pieces[p : p + AT_ONCE]]
            yield from zip(self._starts[p : p + len(tasks)].tolist(), _made(read, tasks), strict=True)

    def _row(self, i: int) -> dict[str, Any]:
        return self.read(i, 1).row(0, named=True)

    def fit(self, columns: Sequence[str], notes: list[str]) -> list[ColumnRecipe]:
        """The recipes of all columns of numbers, booleans and dates that tell rows apart."""
        types = self.head.schema
        used = [name for name in columns if is_number(types[name])]
        if others := [name for name in columns if name not in used]:
            notes.append(f"Left out {listed(others)}: neither numbers nor dates, shown but not used.")
        by_piece = _made(measured, [(piece, used) for piece in self._pieces])
        about = dict(zip(used, zip(*by_piece, strict=True), strict=True))
        counts = [name for name in used if types[name].is_integer() and self._is_count(about[name])]
        if 0 < len(counts) < len(used):
            notes.append(f"Left out {listed(counts)}: only counts the rows.")
            used = [name for name in used if name not in counts]
        recipes = [found for name in used if (found := self._recipe(name, about[name], notes)) is not None]
        constant = [recipe.name for recipe in recipes if is_constant(recipe)]
        if constant and len(constant) < len(recipes):
            notes.append(f"Left out {listed(constant)}: the same in every row.")
            recipes = [recipe for recipe in recipes if recipe.name not in constant]
        if not recipes:
            raise InvalidDataError(
                f"{self.source} has no column of numbers to cluster by; its columns are {listed(columns, 20)}."
            )
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

        scale = dask.delayed(scaled)
        chunks = [
            da.from_delayed(scale(piece, recipes), (int(height), len(recipes)), np.float32)
            for piece, height in zip(self._pieces, np.diff(self._starts), strict=True)
        ]
        return da.concatenate(chunks)

    def encoded(self, rows: IndexArray, recipes: Sequence[ColumnRecipe]) -> FloatArray:
        """The features of some rows, here."""
        home = np.searchsorted(self._group_starts, rows, side="right") - 1
        where = [(g, np.flatnonzero(home == g)) for g in np.unique(home).tolist()]
        tasks = [(self._groups[g], recipes, rows[at] - self._group_starts[g]) for g, at in where]
        X = np.empty((len(rows), len(recipes)), np.float32)
        for (_, at), part in zip(where, _made(scaled, tasks), strict=True):
            X[at] = part
        return X


def _joined(groups: Sequence[tuple[Piece, int, int]]) -> tuple[list[Piece], IndexArray]:
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


def _made(function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> Any:
    """The results of a function, which the workers compute."""
    import dask

    task = dask.delayed(function, pure=False)
    return dask.compute(*[task(*some) for some in arguments])
