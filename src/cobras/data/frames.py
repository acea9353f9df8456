"""Data frames of pandas, polars and whatever narwhals knows, in and out.

A frame becomes one of polars column by column, so that neither pandas nor pyarrow is needed here. What is neither
numbers nor dates nor text becomes text, as it would be in a file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.checks import as_matrix, is_missing
from cobras.core.exceptions import InvalidDataError, first_line
from cobras.core.frames import Items, NewRows, is_frame
from cobras.core.notebook import quantity
from cobras.core.types import ClusterNames, ClusterNumbers, FloatArray, StableIds
from cobras.core.writers import with_clusters
from cobras.data.recipe import Recipe
from cobras.data.tables.columns import has_nan, n_missing, name_list
from cobras.data.tables.files import check_not_empty, possible_times

NAME = "DataFrame"  # what a frame is called where a file would have its name


@dataclass(frozen=True, slots=True)
class GivenFrame:
    """A data frame as the caller has it, and the same as one of polars.

    Attributes
    ----------
    native : data frame
        The caller's own.
    table : polars.DataFrame
        The same rows; columns have texts as names.
    notes : tuple of str
        What had to be changed.
    ids : array or None
        The labels of the index, where it has some that are all different; None where rows are only counted.
    """

    native: Any
    table: pl.DataFrame
    notes: tuple[str, ...]
    ids: npt.NDArray[Any] | None

    @property
    def is_numbers(self) -> bool:
        """Whether there is nothing but numbers and booleans in it."""
        return all(dtype.is_numeric() or dtype == pl.Boolean for dtype in self.table.dtypes)

    def take(self, rows: Sequence[int]) -> GivenFrame:
        """Some of the rows."""
        places = list(map(int, rows))
        native = nw.from_native(self.native, eager_only=True)[places].to_native()
        return GivenFrame(
            native, self.table[places], self.notes, None if self.ids is None else self.ids[places]
        )

    def with_rows(self, n: int, frames: Sequence[Any]) -> GivenFrame:
        """The first rows of the frame, then those of others, of any libraries and types; values stay as given."""
        first = nw.from_native(self.native, eager_only=True).head(n)
        others = [open_frame(frame) for frame in frames]
        kind = first.implementation
        try:
            if kind.is_pandas_like():  # which holds values of any types in a column
                return open_frame(
                    nw.concat([first, *(o._as(kind) for o in others)], how="diagonal").to_native()
                )
            rows = pl.concat([self.table.head(n), *(other.table for other in others)], how="diagonal_relaxed")
            return open_frame(rows if kind.is_polars() else nw.from_arrow(rows, backend=kind).to_native())
        except Exception as error:  # those of pandas, polars and others
            raise InvalidDataError(
                f"The rows that were added do not fit into one frame: {first_line(error)}. Take labels_."
            ) from error

    def _as(self, kind: Any) -> Any:
        """The rows as a frame of one library."""
        frame = nw.from_native(self.native, eager_only=True)
        if frame.implementation == kind:
            return frame
        return nw.from_dict(self.table.to_dict(as_series=False), backend=kind)

    def with_clusters(self, labels: ClusterNumbers, names: ClusterNames = None, ids: StableIds = None) -> Any:
        """The caller's kind of frame, with its index, and clusters in further columns."""
        frame = nw.from_native(self.native, eager_only=True)
        added = with_clusters(self.table, labels, names, ids)[:, self.table.width :]
        kinds: dict[Any, Any] = {pl.Int32: nw.Int32, pl.String: nw.String}
        columns = [
            nw.new_series(
                column.name, column.to_list(), kinds[column.dtype.base_type()], backend=frame.implementation
            )
            for column in added
        ]
        return frame.with_columns(*columns).to_native()


@dataclass(frozen=True, slots=True)
class Numbers:
    """A data frame of numbers, clustered as given."""

    given: GivenFrame
    X: FloatArray
    series: None = None
    distance: None = None

    def stored_recipe(self) -> None:
        """Nothing: the numbers are the features."""

    def new_rows(self, data: Any) -> NewRows:
        """Other rows as they are; names of columns are compared by the session."""
        return NewRows(open_frame(data).native if is_frame(data) else data)

    def check_together(self, data: Any, X: FloatArray) -> None:
        """Refuse numbers that are written as text, which make a column of text with the others."""
        for column in open_frame(data).table:
            if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
                raise in_another_form(column.name)

    def with_rows(self, n: int, frames: Sequence[Any]) -> GivenFrame:
        """The first rows of the frame, followed by those of others."""
        return self.given.with_rows(n, frames)

    def items_with_rows(self, n: int, frames: Sequence[Any]) -> Items:
        """The same as numbers."""
        return items_of_frame(self.with_rows(n, frames).native)

    def names_with_rows(self, n: int, frames: Sequence[Any]) -> Sequence[Any] | None:
        """The labels of the index of the same rows, where it names them."""
        ids = self.with_rows(n, frames).ids
        return None if ids is None else list(ids.tolist())

    def with_clusters(self, labels: ClusterNumbers, names: ClusterNames = None, ids: StableIds = None) -> Any:
        """The frame, with clusters in further columns."""
        return self.given.with_clusters(labels, names, ids)


def in_another_form(name: str) -> InvalidDataError:
    """The error that new rows cannot be opened in one data frame with the others."""
    return InvalidDataError(
        f"The new rows hold {name!r} in another form than the session: its file could not be opened with a data "
        "frame of all rows. Convert them to the same type."
    )


def items_of_frame(data: Any, recipe: Mapping[str, Any] | None = None) -> Items:
    """What a session clusters of a data frame: its numbers as they are, or features as those of a file.

    A frame with a column that is not numbers is read as a file is, by a stored recipe if there is one.
    """
    given = open_frame(data)
    if recipe is None and given.is_numbers:
        check_not_empty(NAME, given.table)
        for column in given.table:
            if n_missing(column):
                raise InvalidDataError(
                    f"Column {column.name!r} of {NAME} has {quantity(n_missing(column), 'gap')}. Fill them, or "
                    "give read_dataset(X), which fills gaps with the median and scales all columns."
                )
        return Numbers(given, as_matrix(given.native))
    from cobras.data.read import read_dataset
    from cobras.data.resume import read_recipe

    return read_dataset(data) if recipe is None else read_recipe(data, Recipe.from_json(recipe))


def open_frame(data: Any) -> GivenFrame:
    """Convert a data frame to one of polars; rows of a lazy one are fetched."""
    is_lazy = not nw.dependencies.is_into_dataframe(data)
    given: Any = () if is_lazy else getattr(data, "column_names", None) or getattr(data, "columns", ())
    names = [_name(name) for name in given]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise InvalidDataError(
            f"{NAME} has more than one column called {name_list(twice)}; give each column a name of its own."
        )
    try:
        frame: Any = nw.from_native(data)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        notes: list[str] = []
        columns = [_column(_name(column.name), column, notes) for column in frame.iter_columns()]
        table, cleared = possible_times(pl.DataFrame(columns))
    except (nw.exceptions.NarwhalsError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise InvalidDataError(f"{NAME} cannot be read: {first_line(error)}.") from error
    if cleared:
        notes.append(f"Left times in {name_list(cleared)} empty: they lie beyond the years 1 to 9999.")
    return GivenFrame(frame.to_native(), table, tuple(notes), _index(frame))


def _name(name: Any) -> str:
    return _text(" ".join(map(str, name)) if isinstance(name, tuple) else name)


def _text(value: Any) -> str:
    """Return a value as text; halves of characters, which polars cannot hold, become question marks."""
    return str(value).encode("utf-8", "replace").decode()


def _index(frame: Any) -> npt.NDArray[Any] | None:
    """The labels of an index that names rows."""
    index = nw.maybe_get_index(frame)
    if index is None or not index.is_unique or index.nlevels > 1:
        return None
    labels = np.asarray(index)
    is_count = labels.dtype.kind in "iu" and np.array_equal(labels, np.arange(len(labels)))
    if is_count:
        return None
    return labels if labels.dtype.kind in "iu" else np.array([_text(label) for label in index], object)


def _column(name: str, column: Any, notes: list[str]) -> pl.Series:
    """One column as that of polars."""
    native, dtype = column.to_native(), column.dtype
    if isinstance(native, pl.Series):
        return _objects(name, native.to_list(), notes) if native.dtype == pl.Object else native.alias(name)
    if type(native).__module__.startswith("pyarrow"):
        found = pl.from_arrow(native)
        assert isinstance(found, pl.Series)
        return found.alias(name)
    if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None:
        utc = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return _times(name, utc.to_numpy()).dt.replace_time_zone("UTC").dt.convert_time_zone(dtype.time_zone)
    if isinstance(dtype, (nw.Datetime, nw.Duration)):
        return _times(name, column.to_numpy())
    if dtype.is_float() or ((dtype.is_integer() or dtype == nw.Boolean) and not column.null_count()):
        array = column.to_numpy()
        if array.dtype.kind in "fiub":
            numbers = pl.Series(name, np.ascontiguousarray(array, _polars_type(array)))
            return numbers.fill_nan(None) if has_nan(numbers) else numbers
    values = _objects(name, column.to_list(), notes)
    return values.cast(pl.String).cast(pl.Categorical) if dtype == nw.Categorical else values


def _times(name: str, array: npt.NDArray[Any]) -> pl.Series:
    unit = np.datetime_data(array.dtype)[0]
    return pl.Series(name, array if unit in ("ns", "us", "ms") else array.astype(f"{array.dtype.kind}8[ms]"))


def _polars_type(array: npt.NDArray[Any]) -> np.dtype[Any]:
    return np.dtype(np.float32) if array.dtype == np.float16 else array.dtype.newbyteorder("=")


def _objects(name: str, values: Sequence[Any], notes: list[str]) -> pl.Series:
    """Any objects as a column: of numbers, texts or times if all are; else as text, as a file would hold them."""
    cells = [None if is_missing(value) else value for value in values]
    kinds = {type(cell): None for cell in cells if cell is not None}
    if all(issubclass(kind, str) for kind in kinds):
        return pl.Series(name, [None if cell is None else _text(cell) for cell in cells], pl.String)
    numbers = all(issubclass(kind, (int, float, np.number)) and kind is not bool for kind in kinds)
    if numbers and any(issubclass(kind, (float, np.floating)) for kind in kinds):
        cells = [None if cell is None else float(cell) for cell in cells]
    if numbers or len(kinds) == 1:
        try:
            if all(
                hasattr(kind, "to_timestamp") for kind in kinds
            ):  # a period of pandas is read as its first moment
                cells = [cell if cell is None else cell.to_timestamp() for cell in cells]
            found = pl.Series(name, cells, strict=True)
            if found.dtype != pl.Object:
                return found
        except (
            TypeError,
            ValueError,
            OverflowError,
            pl.exceptions.PolarsError,
            pl.exceptions.PanicException,
        ):
            pass
    words = [kind.__name__ for kind in kinds]
    notes.append(f"Read {name_list([name])} as text: it holds {' and '.join(sorted(words)[:4])}.")
    return pl.Series(name, [None if cell is None else _text(cell) for cell in cells], pl.String)
