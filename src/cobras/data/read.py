"""From a file or a folder to a `Dataset`, and the same again from its recipe."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

from cobras.core.exceptions import DataChangedError, InvalidDataError
from cobras.core.types import FloatArray
from cobras.data.dataset import Dataset
from cobras.data.guess import Choices
from cobras.data.items.curves import read_curves
from cobras.data.items.images import Progress
from cobras.data.items.items import encode_table, read_folder, read_rows
from cobras.data.items.seriesfiles import holds_series
from cobras.data.recipe import Recipe
from cobras.data.tables.columns import listed
from cobras.data.tables.files import DataNotFoundError, read_table
from cobras.data.tables.outofcore import large_table, read_large
from cobras.data.tables.parquet import part_files

ITEM_BY_ITEM = ("efficientnet", "sentences")


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
    choices = choices_of(label, id, drop, kind, text, image, vectors, features)
    return _read(Path(path), choices, None, progress)


def choices_of(
    label: str | None = None,
    id: str | None = None,
    drop: Sequence[str] = (),
    kind: str | None = None,
    text: str | None = None,
    image: str | None = None,
    vectors: str | os.PathLike[str] | None = None,
    features: str | None = None,
) -> Choices:
    """What a user says about the data; see `read_dataset`."""
    own = None if vectors is None else str(Path(vectors).absolute())
    return Choices(label, id, tuple(drop), kind, text, image, own, features)


def recipe_choices(recipe: Recipe) -> Choices:
    """What a user said about the data that a recipe came from."""
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
    if recipe.files is not None:
        _compare(path, recipe.files, dataset.recipe.files or ())
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
        return _read(Path(path), replace(recipe_choices(recipe), label=None, id=None, drop=()), None, None).X
    if recipe.columns is None:
        raise InvalidDataError(
            f"The features of this data ({recipe.features or recipe.kind}) depend on all items, so "
            f"new ones have none; those of tables do not, nor do {' and '.join(ITEM_BY_ITEM)}."
        )
    frame = read_table(Path(path))[0]
    return encode_table(Path(path).name, frame, recipe.columns)


def _read(path: Path, choices: Choices, stored: Recipe | None, progress: Progress | None) -> Dataset:
    if (table := large_table(path)) is not None:
        return read_large(table, choices, stored)
    if path.is_dir() and part_files(path) is None:
        return read_folder(path, choices, progress)
    if choices.kind == "series" or (choices.kind is None and holds_series(path)):
        return read_curves(path, choices)
    return read_rows(path, choices, stored, progress)


def _compare(path: str | os.PathLike[str], before: Sequence[str], now: Sequence[str]) -> None:
    """Refuse a folder in which files were added or taken away; one that was changed has other features."""
    if list(before) != list(now):
        added, gone = sorted(set(now) - set(before)), sorted(set(before) - set(now))
        changes = [f"{listed(names)} {word}" for names, word in ((added, "came"), (gone, "went")) if names]
        raise DataChangedError(
            f"{path} is not what it was when the session began: {' and '.join(changes)}. "
            "Put it back, or begin another session with --session."
        )
