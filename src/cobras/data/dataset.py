"""A data set: what is clustered, what it is called and what a person is shown of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from cobras.core.checks import as_whole_number
from cobras.core.exceptions import DataChangedError, InvalidDataError
from cobras.core.frames import Items, NewRows, is_frame
from cobras.core.notebook import quantity, show_html
from cobras.core.types import ClusterNames, ClusterNumbers, FloatArray, IndexArray, StableIds
from cobras.core.writers import PLAIN, CsvStyle, with_clusters
from cobras.data.items.images import Photo
from cobras.data.recipe import Recipe

if TYPE_CHECKING:
    import polars as pl

    from cobras.data.frames import GivenFrame
    from cobras.data.overview import ColumnInfo, Comparison
    from cobras.data.tables.large.outofcore import LargeTable


@dataclass(frozen=True, slots=True)
class Row:
    """A card that shows the values of one row of a table, by column and in the file's order."""

    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Picture:
    """A card that shows a small grey picture, 0 for white and 1 for black."""

    pixels: FloatArray


@dataclass(frozen=True, slots=True)
class Text:
    """A card that shows a text, with the other columns of its row."""

    text: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Series:
    """A card that shows a time series, of shape (channels, length); NaN is a gap."""

    channels: FloatArray
    values: Mapping[str, Any] = field(default_factory=dict)


N_TOGETHER = 50  # rows that show which types the columns have with others below them

Card: TypeAlias = Row | Picture | Photo | Text | Series


@dataclass(frozen=True, slots=True)
class Dataset:
    """Data ready to be clustered and shown.

    Attributes
    ----------
    X : array of shape (n, d)
        The features; those of a table lie in [0, 1]. A dask array where a cluster reads the data.
    ids : array of shape (n,)
        The user's own names of the rows, or their numbers from 0.
    columns : tuple of str
        The names of the features: a number or a date has its column's name, a word of column c is called c=word.
    frame : polars.DataFrame
        The original table, for export: all columns, in the original order, the label included. For a folder, the
        names of its files. Of a table larger than memory it holds the columns, but no rows.
    labels : array of shape (n,) or None
        The values of the label column; it is neither in `X` nor on a card. None for a table larger than memory.
    card : callable
        Makes the card of row i; use `show`.
    notes : tuple of str
        What was done to the data, a sentence each.
    recipe : Recipe
        What, together with the file, gives the same `X` again.
    series : array of shape (n, channels, length) or None
        Time series as they are, padded with NaN, for a space that compares them; None for everything else.
    large : LargeTable or None
        Reads the rows of a table larger than memory.
    fetch : callable or None
        Fetches the features of some rows where `X` is a dask array; use `features`.
    given : GivenFrame or None
        The data frame that it was read from.
    csv_style : CsvStyle
        How the CSV file that was read is written, for export; always the usual way for what is larger than memory.

    Examples
    --------
    >>> from cobras.data import load_demo
    >>> digits = load_demo()
    >>> len(digits), digits.X.shape, digits.show(0).pixels.shape
    (1797, (1797, 64), (8, 8))
    """

    X: FloatArray
    ids: npt.NDArray[Any]
    columns: tuple[str, ...]
    frame: pl.DataFrame = field(repr=False, compare=False)
    labels: npt.NDArray[Any] | None
    card: Callable[[int], Card] = field(repr=False)
    notes: tuple[str, ...] = ()
    recipe: Recipe = field(default_factory=Recipe)
    series: FloatArray | None = field(default=None, repr=False)
    large: LargeTable | None = field(default=None, repr=False, compare=False)
    fetch: Callable[[IndexArray], FloatArray] | None = field(default=None, repr=False, compare=False)
    given: GivenFrame | None = field(default=None, repr=False, compare=False)
    csv_style: CsvStyle = field(default=PLAIN, repr=False, compare=False)

    @property
    def kind(self) -> str:
        """What the items are: "table", "text", "image" or "series"."""
        return "image" if self.recipe.kind == "bundled" else self.recipe.kind

    @property
    def column_info(self) -> tuple[ColumnInfo, ...]:
        """What each column of the table is taken for, why some are ignored, and what is missing."""
        from cobras.data.overview import column_info

        return column_info(self)

    @property
    def comparison(self) -> Comparison:
        """By what the items are compared, how well that works, and what would be better."""
        from cobras.data.overview import comparison

        return comparison(self)

    @property
    def visible(self) -> pl.DataFrame:
        """The columns that a person may see: neither the label nor what was dropped."""
        # Not by select, to which a name such as ^a$ is a pattern; and polars is not imported here.
        hidden = set(self.frame.columns if self.recipe.hidden is None else self.recipe.hidden)
        return type(self.frame)([column for column in self.frame if column.name not in hidden])

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        size = f"{quantity(len(self), 'row')} x {quantity(len(self.columns), 'feature')}"
        label = "" if self.recipe.label is None else f", label {self.recipe.label!r}"
        return f"Dataset({self.kind}: {size}{label})"

    def _repr_html_(self) -> str:
        heading = f"{self.kind}: {quantity(len(self), 'row')} x {quantity(len(self.columns), 'feature')}"
        rows = [(info.name, info.use, info.type, info.reason) for info in self.column_info]
        return show_html(heading, ("column", "use", "type", "why"), rows, self.notes)

    @property
    def is_remote(self) -> bool:
        """Whether the features are on other machines."""
        return self.fetch is not None

    def features(self, rows: IndexArray | None) -> FloatArray:
        """Return the features of some rows, or of all, as an array in memory."""
        if self.fetch is not None:
            return self.fetch(np.arange(len(self)) if rows is None else rows)
        return self.X if rows is None else self.X[rows]

    @property
    def distance(self) -> Any:
        """How series are compared, "dtw" or "kshape"; None where rows of `X` are."""
        found = self.recipe.features
        return found if self.series is not None and found in ("dtw", "kshape") else None

    def stored_recipe(self) -> dict[str, Any]:
        """The recipe as a session file keeps it."""
        return self.recipe.to_json()

    def new_rows(self, data: Any) -> NewRows:
        """The rows of another data frame, read as those of this data; an array is taken as it is."""
        if not is_frame(data):
            return NewRows(data)
        from cobras.data.newitems import read_new_items

        notes: list[str] = []
        (items,) = read_new_items(data, self, notes)  # a frame comes in one piece
        if (unread := next((note for note in notes if " that cannot be read as " in note), None)) is not None:
            raise InvalidDataError(f"Give the new rows without those that have no image. {unread}")
        return NewRows(items.X, items.unknown, notes)

    def check_together(self, data: Any, X: FloatArray) -> None:
        """Refuse a data frame whose rows would be read in another way in one with the others."""
        if self.given is None or self.recipe.columns is None:
            return
        from cobras.data.frames import in_another_form
        from cobras.data.resume import read_recipe

        both = self.with_rows(N_TOGETHER, [data])
        try:
            again = read_recipe(both.native, self.recipe).X[-len(X) :]
        except DataChangedError:
            names, now = [column.name for column in self.recipe.columns], both.table.schema
            other = (name for name in names if now.get(name) != self.frame.schema[name])
            raise in_another_form(next(other, names[0])) from None
        differ = (again != X).any(axis=0)
        if differ.any():
            raise in_another_form(self.columns[int(differ.argmax())])

    def with_clusters(self, labels: ClusterNumbers, names: ClusterNames = None, ids: StableIds = None) -> Any:
        """Return the original table with a column `cluster`, and `cluster_id` and `cluster_name` where given.

        A data frame comes back as one of its own kind, with its index; what was read from a file is one of polars.
        `session.to_frame()` fills in all of it.

        Parameters
        ----------
        labels : array of shape (n,)
            The cluster numbers, such as `labels_` of a session or an estimator.
        names : dict of int to str, optional
            Names of clusters by their numbers.
        ids : sequence of int, optional
            Ids of clusters by their numbers.

        Examples
        --------
        >>> import polars as pl
        >>> from cobras import read_dataset
        >>> flowers = pl.DataFrame({"length": [4.1, 5.5], "colour": ["red", "blue"]})
        >>> read_dataset(flowers).with_clusters([0, 1], {1: "lily"}).columns
        ['length', 'colour', 'cluster', 'cluster_name']
        """
        if self.large is not None:
            raise InvalidDataError(
                "The table is larger than memory. Write it by export_dataset or cobras export."
            )
        if self.given is None:
            return with_clusters(self.frame, labels, names, ids)
        return self.given.with_clusters(labels, names, ids)

    def with_rows(self, n: int, frames: Sequence[Any]) -> GivenFrame:
        """The first rows of the original table, followed by those of data frames, as one that takes clusters."""
        from cobras.data.frames import open_frame

        return (self.given or open_frame(self.frame)).with_rows(n, frames)

    def items_with_rows(self, n: int, frames: Sequence[Any]) -> Items:
        """The same as a data set; without further frames, the cards of the first rows stay as they are."""
        if frames:
            from cobras.data.frames import items_of_frame

            return items_of_frame(self.with_rows(n, frames).native, self.stored_recipe())
        return replace(
            self,
            X=self.X[:n],
            ids=self.ids[:n],
            frame=self.frame.head(n),
            labels=None if self.labels is None else self.labels[:n],
            series=None if self.series is None else self.series[:n],
            given=None if self.given is None else self.given.with_rows(n, ()),
        )

    def names_with_rows(self, n: int, frames: Sequence[Any]) -> Sequence[Any] | None:
        """The names of the first rows, followed by those of data frames; None where these have none."""
        if not frames:
            return self.names[:n]
        from cobras.data.tables.names import row_ids

        rows = self.with_rows(n, frames)
        if self.given is not None and self.given.ids is not None:
            ids = rows.ids
        else:
            ids = None if self.recipe.id is None else row_ids(rows.table, self.recipe.id, (), [], False)[0]
        return None if ids is None else list(ids.tolist())

    @property
    def names(self) -> Sequence[Any]:
        """The ids as plain Python values."""
        # No list: each number would take about 36 bytes, and there may be a billion rows.
        found: Sequence[Any] = range(len(self)) if self.large is not None else self.ids.tolist()
        return found

    def row(self, i: int) -> dict[str, Any]:
        """The columns of row `i` that a person may see."""
        if self.large is None:
            return self.visible.row(i, named=True)
        hidden = set(self.recipe.hidden or ())
        return {name: value for name, value in self.large.row(i).items() if name not in hidden}

    def show(self, i: int) -> Card:
        """Return the card of row `i`; it never shows the label."""
        if not 0 <= (i := as_whole_number(i, "A row")) < len(self):
            raise InvalidDataError(f"Row {i} does not exist; the rows are 0 to {len(self) - 1}.")
        return self.card(i)


def columns_by_range(dataset: Dataset, rows: Sequence[int]) -> tuple[list[str], list[str]]:
    """The columns that items are compared by, those first in which some rows differ most, and the others.

    A number differs by its share of the range, a word by all or nothing, both times the weight of the column. Where
    items are not compared by columns, all of them come first. The one that names the rows is left out.
    """
    values = [card.values for row in rows if not isinstance(card := dataset.show(row), Picture)]
    if not values:
        return [], []
    apart: dict[str, float] = {}
    if dataset.kind == "table":
        found = dataset.features(np.array(rows)).astype(float)
        apart = dict(zip(dataset.columns, np.ptp(found, axis=0).tolist(), strict=True))
    meaning = dataset.recipe.meanings()
    weights = {column.name: column.weight for column in dataset.recipe.columns or ()}
    for name in values[0]:
        if name not in apart:
            differ = len({str(meaning(name, row[name])) for row in values}) > 1
            apart[name] = weights.get(name, 1.0) * differ
    # The sort is stable: of columns that differ alike, the first of the table comes first.
    names = sorted((name for name in values[0] if name != dataset.recipe.id), key=lambda name: -apart[name])
    used = [name for name in names if name in weights]
    return (used, [name for name in names if name not in weights]) if used else (names, [])


def number_text(value: float) -> str:
    """A number as a person would write it: six digits, and never fewer than two after the point.

    Examples
    --------
    >>> number_text(821.96), number_text(1234567.891), number_text(0.1 + 0.2), number_text(1e20)
    ('821.96', '1234567.89', '0.3', '1e+20')
    """
    if 1_000 <= abs(value) < 1e15:
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return f"{value:.6g}"


def value_text(value: Any) -> str:
    """A value of a table as a person would write it; a moment at midnight is a day.

    Examples
    --------
    >>> from datetime import datetime
    >>> value_text(datetime(2022, 5, 8)), value_text(datetime(2022, 5, 8, 14, 30)), value_text(0.1 + 0.2)
    ('2022-05-08', '2022-05-08 14:30:00', '0.3')
    """
    if isinstance(value, float):
        return number_text(value)
    # Data frames and Excel files have no other type for days. With a zone, midnight may be what is meant.
    is_day = isinstance(value, datetime) and value.timetz() == time()
    return str(value.date() if is_day else value)


def load_demo() -> Dataset:
    """The 1,797 handwritten digits of scikit-learn, shown as pictures of 8 x 8 pixels.

    Examples
    --------
    >>> digits = load_demo()
    >>> digits.X.shape, digits.show(0).pixels.shape
    ((1797, 64), (8, 8))
    """
    import polars as pl

    pixels, labels = _digits()
    # All pixels share one unit, so they are scaled together: a pixel that is never inked stays unimportant.
    X = np.ascontiguousarray(pixels / 16.0)
    return Dataset(
        X=X,
        ids=np.arange(len(X)),
        columns=tuple(f"pixel_{row}_{column}" for row in range(8) for column in range(8)),
        frame=pl.DataFrame({"id": np.arange(len(X)), "digit": labels}),
        labels=labels,
        card=lambda i: Picture(X[i].reshape(8, 8)),
        notes=("1,797 handwritten digits. Sort them as you like: by digit, by slant, by hand.",),
        recipe=Recipe("bundled", name="digits"),
    )


def _digits() -> tuple[FloatArray, IndexArray]:
    """Return what `sklearn.datasets.load_digits` returns."""
    # By hand, since `cobras demo` should start at once: 0.03 s of processor time, not 2.2 s for the import.
    import polars as pl

    package = find_spec("sklearn")
    for folder in (package and package.submodule_search_locations) or ():
        file = Path(folder, "datasets", "data", "digits.csv.gz")
        if file.is_file():
            table = pl.read_csv(file, has_header=False).to_numpy()
            return table[:, :-1].astype(np.float64), table[:, -1].astype(np.int64)
    from sklearn.datasets import load_digits

    digits: tuple[FloatArray, IndexArray] = load_digits(return_X_y=True)
    return digits
