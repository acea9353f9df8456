"""From a file, a folder or a data frame to a `Dataset`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.checks import is_dask
from cobras.core.exceptions import InvalidDataError, first_line
from cobras.core.frames import is_frame
from cobras.core.types import FloatArray
from cobras.core.writers import PLAIN, CsvStyle
from cobras.data.dataset import Card, Dataset, Row, Text
from cobras.data.frames import NAME, GivenFrame, open_frame
from cobras.data.guess import Choices, Kind, holds_series, image_place, kind_of_table, leads_out
from cobras.data.items.folders import FILE, read_folder
from cobras.data.items.images import Images, Progress, read_images
from cobras.data.items.series import read_series_dataset
from cobras.data.items.texts import Texts, text_features, texts_of_column
from cobras.data.recipe import ColumnRecipe, Recipe
from cobras.data.tables.columns import feature_names, n_missing, table_features
from cobras.data.tables.excel import NO_VALUE
from cobras.data.tables.files import (
    ARRAYS,
    check_name,
    check_not_empty,
    may_be_large,
    parquet_files,
    read_table,
    read_vectors,
)
from cobras.data.tables.fit import (
    describe_columns,
    fit_columns,
    has_unit_rows,
    unit_columns,
    weighted_columns,
)
from cobras.data.tables.header import WHOLE, Extent
from cobras.data.tables.large.outofcore import open_large_table, read_large
from cobras.data.tables.names import NAMES_ROWS, row_ids


class Like(NamedTuple):
    """Older items that others are to be compared with.

    Attributes
    ----------
    scales : tuple of float
        The factors of the parts of image features; empty where there are none.
    topics : (Texts, array) or None
        The texts whose topics are meant, and their features.
    by_place : bool
        Whether no column is taken for the names of the rows but the one that is given; without one, they are
        numbered by their places in the file, those that are left out included.
    """

    scales: tuple[float, ...] = ()
    topics: tuple[Texts, FloatArray] | None = None
    by_place: bool = False


def read_dataset(
    data: Any,
    *,
    label: str | None = None,
    id: str | None = None,
    drop: Sequence[str] = (),
    kind: str | None = None,
    text: str | None = None,
    image: str | None = None,
    vectors: str | os.PathLike[str] | None = None,
    features: str | None = None,
    sheet: str | None = None,
    use: Sequence[str] = (),
    types: Mapping[str, str] | None = None,
    weights: Mapping[str, float] | None = None,
    progress: Progress | None = None,
) -> Dataset:
    r"""Read a table, a data frame, or a folder of images or texts, and make it ready to be clustered and shown.

    In a table, numbers, booleans, dates and categories become features; gaps are filled with the column's median.
    Numbers may have thousands separators, a currency, percent or a unit, and a few words among them count as gaps.
    Long texts are shown but not used. A column that names the rows (short words that are all different, or counting
    0, 1, 2, ...) is used as such, and one that is the same in every row is left out. Texts are compared by their
    words, images by what a network sees in them, or by their shapes and colours.

    Parameters
    ----------
    data : path or data frame
        A .csv, .tsv, .parquet, .jsonl, .json, .xlsx, .arrow, .npy, .npz or .ts file, a folder or pattern of
        Parquet files, or a folder of images or texts. Delimiter, encoding and decimal comma are found. Arrays and
        Parquet beyond a quarter of the memory, or `COBRAS_MEMORY` bytes, are read piece by piece. Or a data
        frame of pandas, polars, pyarrow or whatever else narwhals knows, which is read as the columns of a file;
        its index names the rows where it has labels.
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
        The column that holds the texts, or names the image files, from the folder of the table; for a data frame,
        from the working directory.
    vectors : path, optional
        A file with one row of numbers for each item, to be clustered as they are in place of the features.
    features : {"efficientnet", "shapes", "pixels", "lsi", "sentences", "dtw", "kshape", "points"}, optional
        How images, texts or series are compared. If left out: what the network sees in images, where it is
        installed, else their shapes and colours; the topics of texts; dynamic time warping, or the shapes of very
        many series.
    sheet : str, optional
        The sheet of an Excel file. If left out: the first that holds a table.
    use : sequence of str
        Columns to compare by although they look like names of the rows.
    types : mapping of str to str, optional
        What columns of a table are, where the guess is wrong: "number", "category", "text" (shown but not used),
        "date", or "day-first" or "month-first" for dates such as 01/02/2024.
    weights : mapping of str to float, optional
        How much columns of a table count: with 2, differences in a column count twice, with 0.5 half.
    progress : callable, optional
        Called with the number of images done and the number of all.

    Returns
    -------
    Dataset
        With `notes` that say what was done, and `column_info` with what became of each column.

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
    choices = Choices(
        label, id, drop, kind, text, image, vectors, features, sheet, use, types or {}, weights or {}
    )
    path, given = open_source(data)
    return read_choices(path, choices, None, progress, None, given)


def open_source(data: Any) -> tuple[Path, GivenFrame | None]:
    """A path, or what stands for that of a data frame and the frame."""
    if isinstance(data, (str, Path)):
        return Path(data), None
    if is_dask(data):
        raise InvalidDataError(f"{NAME} is held by dask, but must be in memory. Give compute() of it.")
    if is_frame(data):
        return Path(NAME), open_frame(data)
    try:
        return Path(data), None
    except TypeError:
        raise InvalidDataError(
            f"Data is read from a path or a data frame, not from {type(data).__name__}. Arrays are clustered as "
            "they are, by Session(X) or fit(X)."
        ) from None


def read_choices(
    path: Path,
    choices: Choices,
    stored: Recipe | None = None,
    progress: Progress | None = None,
    like: Like | None = None,
    given: GivenFrame | None = None,
) -> Dataset:
    """Read data as a user or a recipe says, from a data frame in place of a path where one is given.

    The features are those of other items, if they are to be like them.
    """
    if _first_process() != os.getpid():
        raise InvalidDataError(
            "Data cannot be read in a forked process after its parent has read some, since the threads of polars "
            'are not there; read it before the fork, or start processes by "spawn".'
        )
    try:
        like = like or Like(stored.scales if stored else ())
        if given is not None:
            return _read_frame(path, given, choices, stored, progress, like)
        check_name(path)
        return _read_any(path, choices, stored, progress, like)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, MemoryError) as error:
        raise InvalidDataError(f"{path.name} cannot be read: {first_line(error)}.") from error


@cache
def _first_process() -> int:
    """The process that read data first, this one or one that it was forked from."""
    return os.getpid()


def _read_any(
    path: Path,
    choices: Choices,
    stored: Recipe | None,
    progress: Progress | None,
    like: Like,
) -> Dataset:
    if may_be_large(path) and (table := open_large_table(path)) is not None:
        return read_large(table, choices, stored)
    if path.is_dir() and parquet_files(path) is None:
        return _read_folder(path, choices, progress, like)
    if choices.kind == "series" or (choices.kind is None and holds_series(path)):
        return read_series_dataset(path, choices)
    # A recipe from before titles, empty rows and totals were looked for does not name them: then there are none.
    # Among texts, none is left out as a note.
    totals = choices.kind != "text" and choices.text is None
    known = Extent(choices.sheet, totals=totals)
    if stored is not None:
        known = Extent(
            stored.sheet,
            stored.header,
            bool(stored.blank),
            bool(stored.totals),
            stored.times,
            stored.sub_header,
        )
    # The name of a list's texts may be its first line: a session of an older version took it so.
    texts = {choices.text} if choices.text is not None and path.suffix.lower() == ".txt" else set()
    # Numbers that were read from text are text again, also if more rows are there now.
    texts |= {column.name for column in (stored and stored.columns) or () if column.notation is not None}
    frame, notes, found = read_table(path, known, texts)
    try:
        return _read_rows(path, choices, stored, progress, like, (frame, notes, found))
    except InvalidDataError as error:
        # What it lacks may be the values of formulas.
        if (note := next((note for note in notes if note.startswith(NO_VALUE)), None)) is None:
            raise
        raise InvalidDataError(f"{error} {note}") from error


def _read_frame(
    path: Path,
    given: GivenFrame,
    choices: Choices,
    stored: Recipe | None,
    progress: Progress | None,
    like: Like,
) -> Dataset:
    """A data frame; the path has what stands for the name of a file."""
    if choices.sheet is not None:
        raise InvalidDataError(
            f"{path.name} has no sheets, but {choices.sheet!r} is asked for; leave it out."
        )
    if choices.kind == "series":
        raise InvalidDataError(
            f"Series are read from files, not from a {path.name}. Write it to a .parquet file, or give an array "
            "to SeriesSpace."
        )
    check_not_empty(path.name, given.table)
    table = given.table, given.notes, WHOLE
    return _read_rows(path, choices, stored, progress, like, table, given)


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
    ignored: dict[str, str] = field(default_factory=dict)
    extent: Extent = WHOLE
    given: GivenFrame | None = None
    place: tuple[str, str] = ("", "")  # the folder of the images, and what their names lack

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
            self.ignored = {}
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
            given=self.given,
            csv_style=self._csv_style(found.get("columns") or ()),
            notes=tuple(note for note in self.notes if note),
            recipe=choices.recipe(
                kind=self.kind,
                id=self.id_columns[0] if self.id_columns else None,
                hidden=tuple(self.hidden),
                files=self.files,
                sheet=self.extent.sheet,
                header=self.extent.header or 0,
                sub_header=self.extent.sub_header,
                blank=self.extent.blank,
                totals=self.extent.totals,
                times=self.extent.times,
                folder=self.place[0],
                suffix=self.place[1],
                ignored=tuple(self.ignored.items()),
                **found,
            ),
        )

    def _csv_style(self, columns: Sequence[ColumnRecipe]) -> CsvStyle:
        """How a file with semicolons was written; other files are written in the usual way."""
        if not self.extent.has_semicolons:
            return PLAIN
        written = [column.notation for column in columns if column.notation is not None]
        return CsvStyle(";", self.extent.has_commas or any(notation.decimal == "," for notation in written))


def _read_rows(
    path: Path,
    choices: Choices,
    stored: Recipe | None,
    progress: Progress | None,
    like: Like,
    table: tuple[pl.DataFrame, tuple[str, ...], Extent],
    given: GivenFrame | None = None,
) -> Dataset:
    """The rows of a table, or the texts or images that they hold or name."""
    frame, how_read, extent = table
    if stored is None and all(n_missing(column) == len(column) for column in frame):
        raise InvalidDataError(f"{path.name} has no value in any cell.")
    choices.check(path.name, frame.columns)
    kind, column, note = kind_of_table(path, frame, choices)
    choices.check_features(kind)
    notes, images, place = [*how_read, note], None, ("", "")
    if kind == "image":
        assert column is not None
        choices = replace(choices, image=column)
        found = image_place(path, frame[column]) if stored is None else (stored.folder, stored.suffix)
        place = found or place
        names = [
            Path(place[0], f"{name}{place[1]}" if name else "") for name in frame[column].cast(pl.String)
        ]
        files = [path.parent / name for name in names]
        outside = {path.parent / name for name in names if leads_out(path.parent, name)}
        images = read_images(path.name, files, choices, notes, progress, outside, like.scales)
        if len(images.places) < frame.height:
            frame = frame[images.places]
            given = None if given is None else given.take(images.places)
    elif kind == "text":
        choices = replace(choices, text=column)
    free = [name for name in choices.usable(frame.columns) if name != column]
    ids, id_columns = row_ids(
        frame, choices.id, choices.may_name(free), notes, stored is None and not like.by_place
    )
    if given is not None and given.ids is not None and choices.id is None:
        ids = given.ids
    elif images is not None and like.by_place and not id_columns:
        ids = np.array(images.places)
    ignored = dict.fromkeys(id_columns[1:], NAMES_ROWS) if stored is None else dict(stored.ignored)
    items = _Items(path.name, kind, choices, frame, ids, id_columns, choices.hidden, notes)
    items.ignored, items.extent, items.place, items.given = ignored, extent, place, given
    if images is not None:
        return _image_dataset(items, images)
    if kind == "text":
        assert column is not None
        return _text_dataset(items, texts_of_column(frame[column]), like)
    taken = set(id_columns)
    return _table_dataset(items, [name for name in free if name not in taken], stored)


def _read_folder(folder: Path, choices: Choices, progress: Progress | None, like: Like) -> Dataset:
    """The images or texts of a folder."""
    found = read_folder(folder, choices, progress, like.scales)
    items = _Items(
        found.source, found.kind, choices, found.frame, found.ids, found.id_columns, found.hidden, found.notes
    )
    items.files = tuple(found.frame[FILE]) or None
    if isinstance(found.content, Images):
        return _image_dataset(items, found.content)
    return _text_dataset(items, found.content, like)


def _table_dataset(items: _Items, candidates: Sequence[str], stored: Recipe | None) -> Dataset:
    values, types = items.values_without(), dict(items.choices.types)
    if items.choices.vectors is not None:
        return items.dataset(None, lambda i: Row(values(i)), "vector")
    if stored is not None and stored.columns is not None:
        recipes: Sequence[ColumnRecipe] = stored.columns
    else:
        if items.source.endswith(ARRAYS) and not types and has_unit_rows(items.frame, candidates):
            recipes = unit_columns(candidates)
        else:
            points = items.extent.has_semicolons
            recipes, ignored = fit_columns(items.source, items.frame, candidates, items.notes, types, points)
            items.ignored |= ignored
        recipes = weighted_columns(recipes, dict(items.choices.weights), items.ignored)
    X = table_features(items.source, items.frame, recipes)
    describe_columns(items.frame, recipes, items.notes, types=types)
    return items.dataset(X, lambda i: Row(values(i)), feature_names(recipes), columns=tuple(recipes))


def _image_dataset(items: _Items, images: Images) -> Dataset:
    values = items.values_without(items.choices.image, *items.id_columns[:1])
    photos = images.photos
    return items.dataset(
        images.X,
        lambda i: replace(photos[i], values=values(i)),
        "feature",
        features=images.features,
        scales=images.scales,
    )


def _text_dataset(items: _Items, texts: Texts, like: Like) -> Dataset:
    values, X = items.values_without(items.choices.text, *items.id_columns[:1]), None
    how = items.choices.features or "lsi"
    if items.choices.vectors is None:
        X = text_features(items.source, texts, how, items.notes, like.topics)
    return items.dataset(X, lambda i: Text(texts[i], values(i)), "topic", features=how)
