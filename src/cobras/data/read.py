"""From a file or a folder to a `Dataset`, and the same again from its recipe."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import DataChangedError, InvalidDataError, first_line
from cobras.core.types import FloatArray
from cobras.data.dataset import Card, Dataset, Row, Text
from cobras.data.guess import (
    FILE,
    FOLDER,
    Choices,
    Kind,
    file_ids,
    file_name,
    file_table,
    holds_series,
    kind_of_table,
    leads_out,
    list_folder,
)
from cobras.data.items.images import Images, Progress, read_images
from cobras.data.items.series import read_series_dataset
from cobras.data.items.texts import Texts, is_text, text_features, texts_of_column, texts_of_files
from cobras.data.recipe import ColumnRecipe, Recipe
from cobras.data.tables.columns import (
    check_names,
    describe_columns,
    feature_matrix,
    feature_names,
    fit_columns,
    name_list,
    row_ids,
)
from cobras.data.tables.files import (
    DataNotFoundError,
    check_name,
    may_be_large,
    parquet_files,
    read_table,
    read_vectors,
)
from cobras.data.tables.outofcore import open_large_table, read_large

ITEM_BY_ITEM = ("efficientnet", "sentences")  # features that depend on their item alone


def read_dataset(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    id: str | None = None,
    drop: Sequence[str] = (),
    kind: str | None = None,
    text: str | None = None,
    image: str | None = None,
    vectors: str | os.PathLike[str] | None = None,
    features: str | None = None,
    progress: Progress | None = None,
) -> Dataset:
    r"""Read a table, or a folder of images or texts, and make it ready to be clustered and shown.

    In a table, numbers, booleans, dates and categories become features; gaps are filled with the column's median.
    Long texts are shown but not used. A column that names the rows (called id, or counting 0, 1, 2, ...) is used as
    such, and one that is the same in every row is left out. Texts are compared by their words, images by what a
    network sees in them.

    Parameters
    ----------
    path : path
        A .csv, .tsv, .parquet, .jsonl, .json, .xlsx, .arrow, .npy, .npz or .ts file, a folder or pattern of
        Parquet files, or a folder of images or texts. Delimiter, encoding and decimal comma are found. Arrays and
        Parquet beyond a quarter of the memory, or `COBRAS_MEMORY` bytes, are read piece by piece.
    label : str, optional
        A column with known classes. It is kept in `labels` and in the export, never in `X` or on a card. The
        folders within a folder are the column "folder".
    id : str, optional
        The column that names the rows.
    drop : sequence of str
        Columns to leave out of `X` and of the cards. They are still exported.
    kind : {"table", "text", "image", "series"}, optional
        What the items are; guessed if left out.
    text, image : str, optional
        The column that holds the texts, or names the image files, from the folder of the table.
    vectors : path, optional
        A file with one row of numbers for each item, to be clustered as they are in place of the features.
    features : {"efficientnet", "pixels", "lsi", "sentences", "dtw", "kshape", "points"}, optional
        How images, texts or series are compared. If left out: what the network sees in images, where it is
        installed; the topics of texts; dynamic time warping, or the shapes of very many series.
    progress : callable, optional
        Called with the number of images done and the number of all.

    Returns
    -------
    Dataset
        With `notes` that say what was done.

    Raises
    ------
    InvalidDataError
        In one sentence, when the data cannot be used.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "flowers.csv")
    ...     _ = file.write_text("name,length,width,kind\nrose,4,1,a\nlily,6,1,b\nivy,,3,a\n")
    ...     flowers = read_dataset(file, label="kind")
    >>> flowers.X
    array([[0. , 0. ],
           [1. , 0. ],
           [0.5, 1. ]])
    >>> flowers.show(1)
    Row(values={'name': 'lily', 'length': 6, 'width': 1})
    >>> for note in flowers.notes:
    ...     print(note)
    Read as a table of 3 x 3. (--kind text, image or series if it is not)
    Left out 'name': text, shown but not used.
    Filled 1 missing value in 'length' with the median.
    Scaled 2 columns to [0, 1].
    """
    return _read(Path(path), Choices(label, id, drop, kind, text, image, vectors, features), None, progress)


def recipe_choices(recipe: Recipe) -> Choices:
    """Return what a user said about the data when it was read first."""
    return Choices(**{f.name: getattr(recipe, f.name) for f in fields(Choices)})


def read_recipe(path: str | os.PathLike[str], recipe: Recipe, progress: Progress | None = None) -> Dataset:
    """Read data again in the way that `Dataset.recipe` says.

    Raises
    ------
    DataChangedError
        When it is no longer what it was.
    """
    if recipe.kind not in ("table", "text", "image", "series"):
        raise InvalidDataError(f"A recipe of kind {recipe.kind!r} does not read files.")
    try:
        dataset = _read(Path(path), recipe_choices(recipe), recipe, progress)
    except DataNotFoundError:
        raise
    except InvalidDataError as error:
        raise DataChangedError(f"{path} is not what it was when the session began: {error}") from error
    if recipe.files is not None and recipe.files != dataset.recipe.files:
        # A file whose content was changed has other features, which the session itself notices.
        before, now = set(recipe.files), set(dataset.recipe.files or ())
        changes = ((sorted(now - before), "came"), (sorted(before - now), "went"))
        raise DataChangedError(
            f"{path} is not what it was when the session began: "
            f"{' and '.join(f'{name_list(names)} {word}' for names, word in changes if names)}. "
            "Put it back, or begin another session with --session."
        )
    return dataset


def read_features(path: str | os.PathLike[str], recipe: Recipe) -> FloatArray:
    r"""The features of other items, made as those of the data a recipe came from: what `predict` takes.

    For tables, images by the network and texts by sentence embeddings; other features depend on all items.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     old, new = pathlib.Path(folder, "old.csv"), pathlib.Path(folder, "new.csv")
    ...     _ = old.write_text("x\n1\n3\n5\n"), new.write_text("x\n4\n")
    ...     print(read_features(new, read_dataset(old).recipe))
    [[0.75]]
    """
    if recipe.features in ITEM_BY_ITEM:
        # New items need not have the columns that the old ones had beside text or image.
        return _read(Path(path), replace(recipe_choices(recipe), label=None, id=None, drop=()), None, None).X
    if recipe.columns is None:
        raise InvalidDataError(
            f"The features of this data ({recipe.features or recipe.kind}) depend on all items, so "
            f"new ones have none; those of tables do not, nor do {' and '.join(ITEM_BY_ITEM)}."
        )
    return _encode(Path(path).name, read_table(Path(path))[0], recipe.columns)


def _read(path: Path, choices: Choices, stored: Recipe | None, progress: Progress | None) -> Dataset:
    if _first_process() != os.getpid():
        raise InvalidDataError(
            "Data cannot be read in a forked process after its parent has read some, since the threads of polars "
            'are not there; read it before the fork, or start processes by "spawn".'
        )
    check_name(path)
    try:
        return _read_any(path, choices, stored, progress)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, MemoryError) as error:
        raise InvalidDataError(f"{path.name} cannot be read: {first_line(error)}.") from error


@cache
def _first_process() -> int:
    """The process that read data first, this one or one that it was forked from."""
    return os.getpid()


def _read_any(path: Path, choices: Choices, stored: Recipe | None, progress: Progress | None) -> Dataset:
    if may_be_large(path) and (table := open_large_table(path)) is not None:
        return read_large(table, choices, stored)
    if path.is_dir() and parquet_files(path) is None:
        return _read_folder(path, choices, progress)
    if choices.kind == "series" or (choices.kind is None and holds_series(path)):
        return read_series_dataset(path, choices)
    return _read_rows(path, choices, stored, progress)


@dataclass(slots=True)
class _Items:
    """What is known of the items before they have features."""

    source: str
    kind: Kind
    choices: Choices
    frame: pl.DataFrame
    ids: npt.NDArray[Any]
    id_columns: list[str]
    hidden: list[str]
    notes: list[str]
    files: tuple[str, ...] | None = None

    def values_without(self, *others: str | None) -> Callable[[int], dict[str, Any]]:
        """Return a function that gives the values on the card of a row, without some columns."""
        gone = {*self.hidden, *others}
        shown = pl.DataFrame([column for column in self.frame if column.name not in gone])
        return lambda i: shown.row(i, named=True) if shown.width else {}

    def dataset(
        self, X: FloatArray | None, card: Callable[[int], Card], names: Sequence[str] | str, **found: Any
    ) -> Dataset:
        """The data set; features of the user's own take the place of `X` where they are given."""
        choices = self.choices
        if choices.vectors is not None:
            X = read_vectors(Path(choices.vectors), self.frame.height, self.source)
            names, found = "vector", {}
            self.notes.append(f"Compared by the vectors in {Path(choices.vectors).name}, as they are.")
        assert X is not None
        if isinstance(names, str):
            names = [f"{names}_{k}" for k in range(1, X.shape[1] + 1)]
        return Dataset(
            X=X,
            ids=self.ids,
            columns=tuple(names),
            frame=self.frame,
            labels=None if choices.label is None else self.frame[choices.label].to_numpy(),
            card=card,
            notes=tuple(note for note in self.notes if note),
            recipe=choices.recipe(
                kind=self.kind,
                id=self.id_columns[0] if self.id_columns else None,
                hidden=tuple(self.hidden),
                files=self.files,
                **found,
            ),
        )


def _read_rows(path: Path, choices: Choices, stored: Recipe | None, progress: Progress | None) -> Dataset:
    """The rows of a table, or the texts or images that they hold or name."""
    frame, how_read = read_table(path)
    choices.check(path.name, frame.columns)
    kind, column, note = kind_of_table(path, frame, choices)
    choices.check_features(kind)
    notes, images = [*how_read, note], None
    if kind == "image":
        assert column is not None
        choices = replace(choices, image=column)
        names = [Path(name or "") for name in frame[column].cast(pl.String)]
        files = [path.parent / name for name in names]
        outside = {path.parent / name for name in names if leads_out(path.parent, name)}
        images = _read_images(path.name, files, choices, notes, progress, outside)
        frame = frame if len(images.places) == frame.height else frame[images.places]
    elif kind == "text":
        choices = replace(choices, text=column)
    free = [name for name in choices.usable(frame.columns) if name != column]
    ids, id_columns = row_ids(frame, choices.id, free, notes)
    items = _Items(path.name, kind, choices, frame, ids, id_columns, choices.hidden, notes)
    if images is not None:
        return _image_dataset(items, images)
    if kind == "text":
        assert column is not None
        return _text_dataset(items, texts_of_column(frame[column]))
    taken = set(id_columns)
    return _table_dataset(items, [name for name in free if name not in taken], stored)


def _read_folder(folder: Path, choices: Choices, progress: Progress | None) -> Dataset:
    """The images or texts of a folder."""
    kind, files, notes = list_folder(folder, choices)
    choices.check_features(kind)
    source, images = folder.name or str(folder), None
    if kind == "image":
        images = _read_images(source, files, choices, notes, progress)
        files = [photo.path for photo in images.photos]
    else:
        listed, files = files, [path for path in files if is_text(path)]
        if broken := [file_name(folder, path) for path in sorted(set(listed) - set(files))]:
            notes.append(f"Left out {len(broken)} files that hold no text: {name_list(broken)}.")
    frame = file_table(folder, files)
    choices.check(source, frame.columns)
    ids, id_columns = file_ids(frame, choices.label)
    # Where folders are the classes to be found, the name of a file would tell its folder.
    hidden = list(choices.drop) if choices.label is None else [*choices.drop, FILE, FOLDER]
    items = _Items(source, kind, choices, frame, ids, id_columns, hidden, notes, tuple(frame[FILE]) or None)
    return _text_dataset(items, texts_of_files(files)) if images is None else _image_dataset(items, images)


def _read_images(
    source: str,
    files: Sequence[Path],
    choices: Choices,
    notes: list[str],
    progress: Progress | None,
    outside: Container[Path] = (),
) -> Images:
    # With vectors, the files are still looked at, since broken ones are left out; pixels are the quicker way.
    how = choices.features if choices.vectors is None else "pixels"
    images = read_images(source, files, how, notes, progress, outside)
    if choices.vectors is None:
        notes.append(images.note)
    return images


def _table_dataset(items: _Items, candidates: Sequence[str], stored: Recipe | None) -> Dataset:
    values = items.values_without()
    if items.choices.vectors is not None:
        return items.dataset(None, lambda i: Row(values(i)), "vector")
    if stored is not None and stored.columns is not None:
        recipes: Sequence[ColumnRecipe] = stored.columns
    else:
        recipes = fit_columns(items.source, items.frame, candidates, items.notes)
    X = _encode(items.source, items.frame, recipes)
    describe_columns(items.frame, recipes, items.notes)
    return items.dataset(X, lambda i: Row(values(i)), feature_names(recipes), columns=tuple(recipes))


def _image_dataset(items: _Items, images: Images) -> Dataset:
    values = items.values_without(items.choices.image, *items.id_columns[:1])
    photos = images.photos
    return items.dataset(
        images.X, lambda i: replace(photos[i], values=values(i)), "feature", features=images.features
    )


def _text_dataset(items: _Items, texts: Texts) -> Dataset:
    values, X = items.values_without(items.choices.text, *items.id_columns[:1]), None
    how = items.choices.features or "lsi"
    if items.choices.vectors is None:
        X = text_features(items.source, texts, how, items.notes)
    return items.dataset(X, lambda i: Text(texts[i], values(i)), "topic", features=how)


def _encode(source: str, frame: pl.DataFrame, recipes: Sequence[ColumnRecipe]) -> FloatArray:
    """The features of a table by recipes that may come from another one."""
    check_names(source, [recipe.name for recipe in recipes], frame.columns)
    try:
        return feature_matrix(frame, recipes)
    except (pl.exceptions.PolarsError, ValueError, TypeError) as error:
        raise InvalidDataError(
            f"The columns of {source} have other types than before: {first_line(error)}."
        ) from error
