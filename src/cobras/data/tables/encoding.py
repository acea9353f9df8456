"""How a column of a table becomes features: the recipe of each column, and the matrix that follows from it.

A recipe is fitted once, stored with the session, and then gives the same numbers for
the same rows, and comparable ones for new rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.core.threads import on_all_cores
from cobras.core.types import FloatArray
from cobras.data.recipe import ColumnRecipe
from cobras.data.tables.dates import as_seconds

# Two rows of different categories are half the range of a column of numbers apart: about as far as two random rows
# are in such a column, so that a column of two words does not outvote the numbers.
CATEGORY = float(np.sqrt(0.125))
SLICE = 65_536  # rows that are encoded at a time: little memory, and few calls
_MACHINE = (pl.Float64, pl.Float32, pl.Int64, pl.Int32, pl.Int16, pl.Int8, pl.UInt32, pl.UInt16, pl.UInt8)
_NARROW = (pl.Float32, pl.Boolean, pl.Int8, pl.UInt8, pl.Int16, pl.UInt16)


def cells(frame: pl.DataFrame, name: str) -> pl.Series:
    """A column under another name: polars takes one such as ^a$ for a pattern."""
    return frame[name].alias("cells")


def fit_number(name: str, column: pl.Series, source: str, date: str | None = None) -> ColumnRecipe:
    """The recipe of a column of numbers or, with a format, of dates: fill gaps with the median, scale to [0, 1]."""
    whole = (
        date is None and column.dtype in _MACHINE and column.dtype.is_integer() and not column.null_count()
    )
    numbers = column if whole else _numbers(column, date)  # whole numbers need no copy
    low, high = float(numbers.min()), float(numbers.max())  # type: ignore[arg-type]
    if not np.isfinite([low, high]).all():
        row = int(numbers.is_infinite().fill_null(False).arg_true()[0])
        raise InvalidDataError(
            f"Column {name!r} of {source} is infinite in row {row}, counted from 0; "
            "correct the value or leave the column out."
        )
    half = (numbers / 2).median() if numbers.null_count() else 0.0  # the mean of two halves cannot overflow
    fill = 2 * float(half)  # type: ignore[arg-type]
    return ColumnRecipe(name, "number" if date is None else "date", low, high, fill, date)


def counted(column: pl.Series) -> pl.DataFrame:
    """The words of a column and how often each occurs, the most frequent ones first."""
    counts = _words(column).drop_nulls().value_counts()
    counts.columns = ["word", "count"]
    return counts.sort(["count", "word"], descending=[True, False])


def fit_category(name: str, counts: pl.DataFrame, at_most: int) -> ColumnRecipe:
    """The recipe of a column of words: one feature for each of the most frequent ones."""
    return ColumnRecipe(name, "category", values=tuple(sorted(counts["word"].head(at_most))))


def encoded_names(recipes: Sequence[ColumnRecipe]) -> list[str]:
    """One name for each feature.

    Examples
    --------
    >>> encoded_names([ColumnRecipe("x", "number"), ColumnRecipe("c", "category", values=("a", "b"))])
    ['x', 'c=a', 'c=b']
    """
    own = {recipe.name for recipe in recipes}
    names = []
    for recipe in recipes:
        for value in recipe.values if recipe.kind == "category" else (None,):
            name = recipe.name if value is None else f"{recipe.name}={value}"
            while value is not None and name in own:  # another column is called so
                name += " "
            names.append(name)
    return names


def encode(frame: pl.DataFrame, recipes: Sequence[ColumnRecipe]) -> FloatArray:
    """The features of all rows; float32 where all numbers are.

    Examples
    --------
    >>> frame = pl.DataFrame({"x": [1, 3], "c": ["a", "b"]})
    >>> encode(frame, [fit_number("x", frame["x"], "t"), fit_category("c", counted(frame["c"]), 9)]).round(2)
    array([[0.  , 0.35, 0.  ],
           [1.  , 0.  , 0.35]])
    """
    schema = frame.schema
    dtypes = [schema[recipe.name] for recipe in recipes if recipe.kind == "number"]
    narrow = pl.Float32 in dtypes and all(dtype in _NARROW for dtype in dtypes)
    width = len(encoded_names(recipes))
    X = np.empty((frame.height, width), dtype=np.float32 if narrow else np.float64)
    encode_into(X, frame, recipes)
    return X


def encode_into(X: FloatArray, frame: pl.DataFrame, recipes: Sequence[ColumnRecipe]) -> None:
    """Write the features of all rows into a matrix, slice by slice on all cores."""

    def write(start: int) -> None:
        _write(X[start : start + SLICE], frame.slice(start, SLICE), recipes)

    on_all_cores(write, range(0, frame.height, SLICE))


def _write(X: FloatArray, frame: pl.DataFrame, recipes: Sequence[ColumnRecipe]) -> None:
    at = 0
    for recipe in recipes:
        column = cells(frame, recipe.name)
        if recipe.kind == "category":
            codes, values = _codes(column, recipe.values), recipe.values
            for place in range(len(values)):  # one after the other: numpy is slow on rows of a few cells
                np.multiply(codes == place, CATEGORY, out=X[:, at + place], casting="same_kind")
            at += len(values)
        else:
            low, extent, half = _range(recipe)
            numbers = _filled(column, recipe)
            if half != 1:
                numbers = numbers * half
            np.divide(numbers - low, extent, out=X[:, at], casting="same_kind")
            at += 1


def _range(recipe: ColumnRecipe) -> tuple[float, float, float]:
    """Where 0 is and how far away 1, and by what to multiply before, lest the range itself overflows."""
    low, high = recipe.low, recipe.high
    half = 1.0 if np.isfinite(high - low) else 0.5
    return low * half, (high * half - low * half) or 1.0, half


def _filled(column: pl.Series, recipe: ColumnRecipe) -> npt.NDArray[Any]:
    """The numbers of a column without gaps, not copied where there were none."""
    ready = column.dtype in _MACHINE and not column.null_count()
    if ready and not (column.dtype.is_float() and column.is_nan().any()):
        return column.to_numpy()
    numbers = _numbers(column, recipe.format)
    return (numbers.fill_null(recipe.fill) if numbers.null_count() else numbers).to_numpy()


def _numbers(column: pl.Series, date: str | None) -> pl.Series:
    """A column as float64; what is missing is null."""
    if date is not None:
        return as_seconds(column, date)
    numbers = column if column.dtype == pl.Float64 else column.cast(pl.Float64)
    return numbers.fill_nan(None) if numbers.is_nan().any() else numbers


def _words(column: pl.Series) -> pl.Series:
    return column if column.dtype == pl.String else column.cast(pl.String)


def _codes(column: pl.Series, values: Sequence[str]) -> npt.NDArray[Any]:
    """The place of each row's word among the values; none for a rare word or a gap."""
    places = _words(column).cast(pl.Enum(values), strict=False).to_physical()
    return places.fill_null(len(values)).to_numpy()
