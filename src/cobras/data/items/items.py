"""The items of a table or a folder: rows, texts or images, each with its card."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray
from cobras.data.dataset import Card, Dataset, Row, Text
from cobras.data.guess import Choices, Kind, kind_of_table
from cobras.data.items.folders import FILE, FOLDER, list_folder, names_of, relative, table_of
from cobras.data.items.images import Progress, read_images
from cobras.data.items.photos import Photo
from cobras.data.items.texts import ColumnTexts, FileTexts, Texts, is_text, text_features
from cobras.data.items.vectors import read_vectors
from cobras.data.recipe import ColumnRecipe, Recipe
from cobras.data.tables.columns import fit_columns, listed, row_ids, say_columns
from cobras.data.tables.encoding import encode, encoded_names
from cobras.data.tables.files import read_table


@dataclass(slots=True)
class Items:
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

    def visible(self, *without: str | None) -> pl.DataFrame:
        """The columns of a card, but for those that stand elsewhere on it."""
        gone = {*self.hidden, *without}
        return pl.DataFrame([column for column in self.frame if column.name not in gone])

    def dataset(self, X: FloatArray, card: Cards, names: Sequence[str] | str, **found: Any) -> Dataset:
        """The data set, by features of one's own where they are given."""
        choices, notes = self.choices, self.notes
        if choices.vectors is not None:
            names = "vector"
            notes.append(f"Compared by the vectors in {Path(choices.vectors).name}, as they are.")
        if isinstance(names, str):
            names = [f"{names}_{k}" for k in range(1, X.shape[1] + 1)]
        label = choices.label
        return Dataset(
            X=X,
            ids=self.ids,
            columns=tuple(names),
            frame=self.frame,
            labels=None if label is None else self.frame[label].to_numpy(),
            card=card,
            notes=tuple(note for note in notes if note),
            recipe=choices.recipe(
                kind=self.kind,
                id=self.id_columns[0] if self.id_columns else None,
                hidden=tuple(self.hidden),
                files=self.files,
                **found,
            ),
        )

    def own_vectors(self) -> FloatArray:
        """The vectors that were given in place of features."""
        assert self.choices.vectors is not None
        return read_vectors(Path(self.choices.vectors), self.frame.height, self.source)


def read_rows(path: Path, choices: Choices, stored: Recipe | None, progress: Progress | None) -> Dataset:
    """The rows of a table, or the texts or images that they hold or name."""
    frame, how_read = read_table(path)
    choices.check(path.name, frame.columns)
    kind, column, note = kind_of_table(path, frame, choices)
    choices.check_features(kind)
    notes = [*how_read, note]
    images = None
    if kind == "image":
        assert column is not None
        choices = replace(choices, image=column)
        names = [path.parent / (name or "") for name in frame[column].cast(pl.String)]
        images = read_images(path.name, names, _how(choices), notes, progress)
        frame = frame if len(images.places) == frame.height else frame[images.places]
    if kind == "text":
        choices = replace(choices, text=column)
    free = [name for name in choices.open_columns(frame.columns) if name != column]
    ids, id_columns = row_ids(frame, choices.id, free, notes)
    hidden = [name for name in (choices.label, *choices.drop) if name is not None]
    items = Items(path.name, kind, choices, frame, ids, id_columns, hidden, notes)
    if images is not None:
        return _images(items, images.photos, images.X, images.features)
    if kind == "text":
        assert column is not None
        return _texts(items, ColumnTexts(frame[column]))
    taken = set(id_columns)
    return _table(items, [name for name in free if name not in taken], stored)


def _table(items: Items, candidates: Sequence[str], stored: Recipe | None) -> Dataset:
    card = RowCards(items.visible())
    if items.choices.vectors is not None:
        return items.dataset(items.own_vectors(), card, "vector")
    if stored is not None and stored.columns is not None:
        recipes: Sequence[ColumnRecipe] = stored.columns
    else:
        recipes = fit_columns(items.source, items.frame, candidates, items.notes)
    if not recipes:
        raise InvalidDataError(
            f"{items.source} has no column of numbers to cluster by; "
            f"its columns are {listed(items.frame.columns, 20)}."
        )
    X = encode_table(items.source, items.frame, recipes)
    say_columns(items.frame, recipes, items.notes)
    return items.dataset(X, card, encoded_names(recipes), columns=tuple(recipes))


def encode_table(source: str, frame: pl.DataFrame, recipes: Sequence[ColumnRecipe]) -> FloatArray:
    """The features of a table by recipes that may come from another one."""
    there = set(frame.columns)
    for recipe in recipes:
        if recipe.name not in there:
            raise InvalidDataError(
                f"{source} has no column {recipe.name!r}; its columns are {listed(frame.columns, 20)}."
            )
    try:
        return encode(frame, recipes)
    except (pl.exceptions.PolarsError, ValueError, TypeError) as error:
        reason = (str(error).splitlines() or [""])[0].rstrip(".")
        raise InvalidDataError(f"The columns of {source} have other types than before: {reason}.") from error


def read_folder(folder: Path, choices: Choices, progress: Progress | None) -> Dataset:
    """The images or texts of a folder."""
    kind, files, notes = list_folder(folder, choices)
    choices.check_features(kind)
    source = folder.name or str(folder)
    images = None
    if kind == "image":
        images = read_images(source, files, _how(choices), notes, progress)
        files = [photo.path for photo in images.photos]
    else:
        broken = [relative(folder, path) for path in files if not is_text(path)]
        files = [path for path in files if relative(folder, path) not in set(broken)]
        if broken:
            notes.append(f"Left out {len(broken)} files that hold no text: {listed(broken)}.")
    frame = table_of(folder, files)
    choices.check(source, frame.columns)
    ids, id_columns = names_of(frame, choices.label)
    hidden = list(choices.drop)
    if choices.label is not None:
        hidden += [FILE, FOLDER]  # the name of a file tells its folder
    names = tuple(frame[FILE]) or None
    items = Items(source, kind, choices, frame, ids, id_columns, hidden, notes, names)
    if images is not None:
        return _images(items, images.photos, images.X, images.features)
    return _texts(items, FileTexts(files))


def _how(choices: Choices) -> str | None:
    """Own vectors make features needless; the files are still looked at, by the quicker way."""
    return "pixels" if choices.vectors is not None else choices.features


def _images(items: Items, photos: list[Photo], X: FloatArray, features: str) -> Dataset:
    own = items.choices.vectors is not None
    if own:
        items.notes[:] = [note for note in items.notes if not note.startswith("Compared the images")]
        X = items.own_vectors()
    values = items.visible(items.choices.image, *items.id_columns[:1])
    more = {} if own else {"features": features}
    return items.dataset(X, PhotoCards(photos, values), "feature", **more)


def _texts(items: Items, texts: Texts) -> Dataset:
    found = {}
    if items.choices.vectors is not None:
        X = items.own_vectors()
    else:
        X = text_features(items.source, texts, items.choices.features, items.notes)
        found = {"features": items.choices.features or "lsi"}
    values = items.visible(items.choices.text, *items.id_columns[:1])
    return items.dataset(X, TextCards(texts, values), "topic", **found)


class Cards(ABC):
    """The cards of some items, made when they are shown."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame

    @abstractmethod
    def __call__(self, i: int) -> Card:
        """The card of item i."""

    def values(self, i: int) -> dict[str, Any]:
        """The columns of row i that may be shown."""
        return self.frame.row(i, named=True) if self.frame.width else {}


class RowCards(Cards):
    """The rows of a table."""

    def __call__(self, i: int) -> Row:
        """Row i."""
        return Row(self.values(i))


class TextCards(Cards):
    """Texts, with the other columns of their rows."""

    def __init__(self, texts: Texts, frame: pl.DataFrame) -> None:
        super().__init__(frame)
        self.texts = texts

    def __call__(self, i: int) -> Text:
        """Text i, read now."""
        return Text(self.texts[i], self.values(i))


class PhotoCards(Cards):
    """Image files, with the other columns of their rows."""

    def __init__(self, photos: list[Photo], frame: pl.DataFrame) -> None:
        super().__init__(frame)
        self.photos = photos

    def __call__(self, i: int) -> Photo:
        """Image i; it is opened when its pixels are asked for."""
        return replace(self.photos[i], values=self.values(i))
