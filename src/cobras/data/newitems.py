"""Items that come later: their features, made as those of the data that a session is about.

Rows of tables, images (other than by pixels), sentence embeddings and series of points depend on the recipe alone.
The topics of texts come from the older texts, which are looked at again. Other features depend on all items, so new
items have none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import BoolArray, FloatArray
from cobras.data.dataset import Dataset, Text
from cobras.data.frames import GivenFrame
from cobras.data.items.images import Progress
from cobras.data.items.series import equal_rows, read_series
from cobras.data.items.texts import Texts
from cobras.data.items.tsfiles import guess_layout
from cobras.data.read import Like, open_source, read_choices
from cobras.data.recipe import ColumnRecipe, Recipe
from cobras.data.resume import recipe_choices
from cobras.data.tables.columns import (
    category_codes,
    cells,
    check_finite,
    feature_matrix,
    floats,
    fold,
    name_list,
)
from cobras.data.tables.csv import DELIMITED
from cobras.data.tables.dates import date_format
from cobras.data.tables.excel import NO_VALUE
from cobras.data.tables.files import (
    EXCEL,
    check_not_empty,
    may_be_large,
    note_on_blank,
    parquet_files,
    read_table,
    read_vectors,
    rows_with_value,
)
from cobras.data.tables.header import Extent, without_footer
from cobras.data.tables.large.outofcore import open_large_table
from cobras.data.tables.notation import ABSENT, MISSING, SIGNS

_NUMBER = r"-?(0|[1-9]\d*)(\.\d*[1-9])?"  # as polars writes it
ITEM_BY_ITEM = ("efficientnet", "shapes", "sentences")  # features that depend on their item alone


@dataclass(frozen=True, slots=True)
class NewItems:
    """Some of the items: their names, their features, and which have no value to compare by."""

    ids: npt.NDArray[Any]
    X: FloatArray
    unknown: BoolArray | None = None


def read_features(data: Any, recipe: Recipe) -> FloatArray:
    r"""The features of other items, made as those of the data a recipe came from: what `predict` takes.

    From a path or a data frame. For tables, images (other than by pixels) and texts by sentence embeddings; other
    features depend on all items.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from cobras.data import read_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     old, new = pathlib.Path(folder, "old.csv"), pathlib.Path(folder, "new.csv")
    ...     _ = old.write_text("x\n1\n3\n5\n"), new.write_text("x\n4\n")
    ...     print(read_features(new, read_dataset(old).recipe))
    [[0.75]]
    """
    path, given = open_source(data)
    if recipe.features in ITEM_BY_ITEM:
        return _read_like(path, recipe, Like(recipe.scales), None, given).X
    if recipe.columns is None:
        raise _depends_on_all(recipe)
    return np.concatenate([part.X for part in _read_rows(path, recipe, None, [], given)])


def read_new_items(
    data: Any, dataset: Dataset, notes: list[str], progress: Progress | None = None
) -> Iterator[NewItems]:
    """Yield the items of a path or a data frame, in pieces where they are many, with features as a data set has.

    What was ignored or taken as missing is added to the notes, after the last piece.
    """
    recipe = dataset.recipe
    if recipe.kind == "bundled":
        raise InvalidDataError(
            "There are no new items of bundled data; begin a session on a file of your own."
        )
    path, given = open_source(data)
    if recipe.columns is not None:
        yield from _read_rows(path, recipe, dataset, notes, given)
    elif recipe.vectors is not None:
        if given is not None:
            raise InvalidDataError(
                "The session compares vectors of a file; give those of new rows as an array."
            )
        X = read_vectors(path)
        yield NewItems(np.arange(len(X)), X)
    elif recipe.kind == "series":
        yield _read_series(path, dataset)
    elif recipe.features in ITEM_BY_ITEM or recipe.features == "lsi":
        topics = (_texts_of(dataset), dataset.X) if recipe.features == "lsi" else None
        found = _read_like(path, recipe, Like(recipe.scales, topics, by_place=True), progress, given)
        notes.extend(note for note in found.notes if note.startswith("Left out"))
        yield NewItems(found.ids, found.X)
    else:
        raise _depends_on_all(recipe)


def notes_on_added_rows(dataset: Dataset, n_before: int, source: str) -> list[str]:
    """What `read_new_items` would note of the rows of a table after the first ones; what does not fit raises."""
    recipe = dataset.recipe
    if recipe.columns is None or dataset.large is not None:
        return []
    seen = OddCells(source, replace(dataset, frame=dataset.frame.head(n_before)))
    left_out = [note for note in dataset.notes if note.startswith(("Left out the last", "Numbered"))]
    seen.read_all(dataset.frame.slice(n_before), recipe.columns, n_before)
    return [*left_out, *seen.notes()]


def _depends_on_all(recipe: Recipe) -> InvalidDataError:
    return InvalidDataError(
        f"The features of this data ({recipe.features or recipe.kind}) depend on all items, so "
        f"new ones have none; those of tables do not, nor do {' and '.join(ITEM_BY_ITEM)}."
    )


# -- texts, images and series ----------------------------------------------------------------------------------


def _read_like(
    path: Path, recipe: Recipe, like: Like, progress: Progress | None, given: GivenFrame | None
) -> Dataset:
    """Texts or images; they need not have the columns that the old ones had beside them."""
    choices = recipe_choices(recipe)
    is_table = path.is_file() or parquet_files(path) is not None
    texts = {recipe.text} if recipe.text is not None and path.suffix.lower() == ".txt" else set()
    table = given.table if given is not None else read_table(path, as_text=texts)[0] if is_table else None
    here = set() if table is None else set(table.columns)
    choices = replace(choices, label=None, drop=(), id=choices.id if choices.id in here else None)
    return read_choices(path, choices, None, progress, like, given)


def _texts_of(dataset: Dataset) -> Texts:
    def text(i: int) -> str:
        card = dataset.show(i)
        return card.text if isinstance(card, Text) else ""

    return Texts(len(dataset), text)


def _read_series(path: Path, dataset: Dataset) -> NewItems:
    recipe, n_channels = dataset.recipe, 1 if dataset.series is None else dataset.series.shape[1]
    if recipe.features != "points":
        raise InvalidDataError(
            f"Series that are compared by {recipe.features} are not predicted. Cluster all of them, new ones "
            "included, or begin a session with --features points."
        )
    names: dict[str, Any] = {}
    if guess_layout(path) is None:
        here = set(read_table(path)[0].columns)
        given = {"id": recipe.id, "label": recipe.label}
        names = {key: name for key, name in given.items() if name in here}
        names["drop"] = [name for name in recipe.drop if name in here]
    data = read_series(path, **names)
    if data.values.shape[1] != n_channels:
        raise InvalidDataError(
            f"The series of {path.name} have {data.values.shape[1]} channels, but those of the session have "
            f"{n_channels}."
        )
    return NewItems(data.ids, equal_rows(data, dataset.X.shape[1] // n_channels))


# -- tables ----------------------------------------------------------------------------------------------------


def _check_columns(source: str, recipes: Sequence[ColumnRecipe], columns: Sequence[str]) -> None:
    """Refuse a table that lacks a column: that all values are missing is for a person to say."""
    if lacking := [recipe.name for recipe in recipes if recipe.name not in columns]:
        raise InvalidDataError(
            f"{source} has no column {name_list(lacking)}; its columns are {name_list(columns, 20)}. "
            "Add what is lacking; its cells may be empty."
        )


def _read_rows(
    path: Path, recipe: Recipe, dataset: Dataset | None, notes: list[str], given: GivenFrame | None
) -> Iterator[NewItems]:
    assert recipe.columns is not None
    source, seen = path.name, OddCells(path.name, dataset)
    is_file, n_blank = given is None and path.suffix.lower() in (*DELIMITED, *EXCEL), 0
    if given is not None:
        check_not_empty(source, given.table)
    points, frames = (
        (False, [(0, given.table)]) if given is not None else _frames(path, recipe, recipe.columns, notes)
    )
    for start, frame in frames:
        if start == 0:
            _check_columns(source, recipe.columns, frame.columns)
            if given is None:
                notes.extend(_notes_on_columns(source, frame.columns, recipe, dataset))
        ids = np.arange(start, start + frame.height)
        # A row is numbered by its place in the file, so those without a value are counted.
        if is_file and not (has_value := rows_with_value(frame)).all():
            frame, ids = frame.filter(has_value), ids[has_value.to_numpy()]
            n_blank += len(has_value) - frame.height
        if is_file and not may_be_large(path):
            frame, note = without_footer(frame, points)
            ids = ids[: frame.height]
            notes.extend(note)
        read, columns, unknown = seen.read_all(frame, recipe.columns, start)
        if recipe.id is not None and recipe.id in frame.columns:
            ids = frame[recipe.id].to_numpy()
        yield NewItems(ids, feature_matrix(read, columns), unknown)
    if n_blank:
        notes.append(note_on_blank(n_blank))
    notes.extend(seen.notes())


def _frames(
    path: Path, recipe: Recipe, columns: Sequence[ColumnRecipe], notes: list[str]
) -> tuple[bool, Iterable[tuple[int, pl.DataFrame]]]:
    """The rows of a table, in pieces where they do not fit into memory, each with the number of its first row.

    The first value tells whether points may separate thousands.
    """
    if may_be_large(path) and (table := open_large_table(path)) is not None:
        return table.has_semicolons, table.batches()
    # A column of text stays one: alone, 1.234 would be a fraction, among others it may be a thousand and more.
    # So do words, but for numbers that are taken as categories.
    as_text = {
        column.name
        for column in columns
        if column.notation is not None
        or (column.kind == "category" and not all(re.fullmatch(_NUMBER, word) for word in column.values))
    }
    frame, how_read, found = read_table(path, Extent(blank=False, totals=False, times=recipe.times), as_text)
    notes.extend(note for note in how_read if note.startswith(("Left out the last", NO_VALUE)))
    return found.has_semicolons, [(0, frame)]


def _notes_on_columns(
    source: str, columns: Sequence[str], recipe: Recipe, dataset: Dataset | None
) -> Iterator[str]:
    known = set(() if dataset is None else dataset.frame.columns)
    if extra := [name for name in columns if name not in known]:
        yield f"Ignored {name_list(extra)} of {source}: the session has no such column."
    if recipe.id is not None and recipe.id not in columns:
        yield f"{source} has no column {recipe.id!r}; its rows are numbered from 0."


class OddCells:
    """Reads columns as their recipes say, and remembers the cells that do not fit."""

    def __init__(self, source: str, dataset: Dataset | None) -> None:
        self.source, self.dataset = source, dataset
        self._odd: dict[ColumnRecipe, Counter[str]] = {}
        self._n_unknown = 0

    def read_all(
        self, frame: pl.DataFrame, recipes: Sequence[ColumnRecipe], start: int
    ) -> tuple[pl.DataFrame, list[ColumnRecipe], BoolArray]:
        """Columns that can be encoded, the recipes for them, and which rows have no value in any of them."""
        columns = [self.read(cells(frame, recipe.name), recipe, start) for recipe in recipes]
        read = pl.DataFrame([cell.alias(column.name) for cell, column in columns])
        unknown = read.select(pl.all_horizontal(pl.all().is_null())).to_series().to_numpy()
        self._n_unknown += int(unknown.sum())
        return read, [column for _, column in columns], unknown

    def read(self, column: pl.Series, recipe: ColumnRecipe, start: int) -> tuple[pl.Series, ColumnRecipe]:
        """A column that can be encoded, and the recipe for it."""
        if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
            raise self._wrong(recipe, "lists or records" if column.dtype.is_nested() else "bytes or objects")
        if recipe.kind == "category":
            unknown = column.cast(pl.String).filter(
                pl.Series(category_codes(column, recipe) == len(recipe.values)) & column.is_not_null()
            )
            self._count(recipe, unknown.filter(~fold(unknown).is_in(SIGNS | ABSENT)))
            return column, recipe
        numbers = self._numbers(column, recipe)
        check_finite(self.source, recipe.name, numbers, start)
        low, high, fill = recipe.low, recipe.high, recipe.fill
        if not low <= fill <= high:
            # Older session files have 0 in place of the median of a column that had no gaps.
            fill = low / 2 + high / 2
        return numbers, replace(recipe, kind="number", format=None, notation=None, fill=fill)

    def _numbers(self, column: pl.Series, recipe: ColumnRecipe) -> pl.Series:
        is_date, is_text = recipe.kind == "date", column.dtype == pl.String
        if not is_text:
            if column.dtype != pl.Null and is_date != column.dtype.is_temporal():
                raise self._wrong(recipe, "dates" if column.dtype.is_temporal() else "numbers")
            # Whole and narrow numbers need no copy.
            return floats(column) if is_date or column.null_count() else column
        if is_date:
            found = floats(column, recipe.format or date_format(column) or "%Y-%m-%d")
        else:
            found = floats(column, None, recipe.notation)
        missing = [*MISSING, *(word.casefold() for word in recipe.missing)]
        odd = column.filter(found.is_null() & column.is_not_null())
        odd = odd.filter(~odd.str.strip_chars().str.to_lowercase().is_in(missing))
        # One word is a slip; a date or a number in another form, and a column of words, are another kind of data.
        is_slip = len(odd) == 1 and not any(map(str.isdigit, odd[0]))
        if len(odd) and found.null_count() == len(found) and not is_slip:
            raise self._wrong(recipe, repr(odd[0]))
        self._count(recipe, odd)
        return found

    def _wrong(self, recipe: ColumnRecipe, what: str) -> InvalidDataError:
        kinds = "categories" if recipe.kind == "category" else f"{recipe.kind}s"
        if recipe.format and self.dataset is not None and self.dataset.large is None:
            # A date that is written in another way is a date to whoever reads this.
            older = self.dataset.frame[recipe.name].drop_nulls()
            kinds += f" such as {next((cell for cell in older if cell not in recipe.missing), '')!r}"
        return InvalidDataError(
            f"Column {recipe.name!r} of {self.source} holds {what}, but the session has {kinds} there; give "
            "the column in the same form."
        )

    def _count(self, recipe: ColumnRecipe, words: pl.Series) -> None:
        if len(words):
            self._odd.setdefault(recipe, Counter()).update(words.to_list())

    def notes(self) -> Iterator[str]:
        """A sentence for each column with such cells, after one on rows without any value."""
        if n := self._n_unknown:
            yield f"No value to compare by in {n} row{'s' * (n > 1)} of {self.source}: medians stand in."
        for recipe, words in self._odd.items():
            if recipe.kind == "category" and self.dataset is not None and self.dataset.large is None:
                # A word that was rare has no feature either, but the session has seen it.
                older = set(self.dataset.frame[recipe.name].cast(pl.String))
                words = Counter({word: n for word, n in words.items() if word not in older})
            if not words:
                continue
            where = (
                f"In {words.total()} row{'s' * (words.total() > 1)} of {self.source}, {recipe.name!r} holds"
            )
            such = name_list([word for word, _ in words.most_common(3)])
            if recipe.kind == "category":
                yield f"{where} a word that the session has not seen ({such}): the other columns count there."
            else:
                yield f"{where} no {recipe.kind} ({such}): it counts as missing."
