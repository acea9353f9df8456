"""Columns of a table as features: numbers, dates and categories become a matrix by their recipes.

A recipe is fitted once, stored with the session, and then gives the same numbers for the same rows, and comparable
ones for new rows.
"""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError, first_line
from cobras.core.threads import on_all_cores
from cobras.core.types import FloatArray
from cobras.data.recipe import ColumnRecipe, Notation
from cobras.data.tables.dates import seconds
from cobras.data.tables.notation import parse_numbers

# Two rows of different categories are half the range of a column of numbers apart: about as far as two random rows
# are in such a column, so that a column of two words does not outvote the numbers.
CATEGORY = float(np.sqrt(0.125))
SLICE = 65_536  # rows that are encoded at a time: little memory, and few calls
_MACHINE = (pl.Float64, pl.Float32, pl.Int64, pl.Int32, pl.Int16, pl.Int8, pl.UInt32, pl.UInt16, pl.UInt8)
_NARROW = (pl.Float32, pl.Boolean, pl.Int8, pl.UInt8, pl.Int16, pl.UInt16)


def no_numbers(source: str, columns: Sequence[str], text: str | None = None) -> InvalidDataError:
    """Return the error for a table without a column that can be used; `text` is one that may hold texts."""
    way = "" if text is None else f"; --text {shlex.quote(text)} compares the texts in that column"
    return InvalidDataError(
        f"{source} has no column of numbers to cluster by; its columns are {name_list(columns, 20)}{way}."
    )


def is_constant(recipe: ColumnRecipe) -> bool:
    """Whether all rows have the same number; a gap is filled with it. A gap among equal words is a difference."""
    return recipe.kind != "category" and recipe.low == recipe.high


def n_missing(column: pl.Series) -> int:
    """Return the number of null and NaN cells."""
    return column.null_count() + (int(column.is_nan().sum()) if has_nan(column) else 0)


def has_nan(column: pl.Series) -> bool:
    """Whether any number of a column is NaN."""
    if not column.dtype.is_float():
        return False
    # The sum then is NaN, too. It takes no query of polars, which is slow where there are thousands of columns.
    total = column.sum()
    return total != total and bool(column.is_nan().any())


def check_names(source: str, names: Iterable[str | None], columns: Sequence[str]) -> None:
    """Refuse names that no column has; None is allowed."""
    known = {None, *columns}
    for name in names:
        if name not in known:
            raise InvalidDataError(
                f"{source} has no column {name!r}; its columns are {name_list(columns, 20)}."
            )


def name_list(names: Sequence[str], at_most: int = 4) -> str:
    """Names in quotes, the rest of a long list as a number.

    Examples
    --------
    >>> name_list(["a", "b", "c"], 2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(isolate(repr(name)) for name in names[:at_most])
    return shown if len(names) <= at_most else f"{shown} and {len(names) - at_most} more"


def isolate(text: str) -> str:
    """The text, between marks that keep Arabic or Hebrew in it from turning what stands beside it.

    Examples
    --------
    >>> isolate("age"), isolate("عمر")
    ('age', '\u2068عمر\u2069')
    """
    turned = not text.isascii() and any(unicodedata.bidirectional(sign) in ("R", "AL") for sign in text)
    return f"\u2068{text}\u2069" if turned else text


def value_line(values: Iterable[str]) -> str:
    """Values in one line, which stays in their order: it begins with a mark that reads left to right.

    Examples
    --------
    >>> value_line(["Gold", "12"]), value_line(["عمر", "12"])
    ('Gold, 12', '\u200e\u2068عمر\u2069, 12')
    """
    line = ", ".join(map(isolate, values))
    return f"\u200e{line}" if "\u2068" in line else line


def cells(frame: pl.DataFrame, name: str) -> pl.Series:
    """A column under another name: polars takes one such as ^a$ for a pattern."""
    return frame[name].alias("cells")


def fit_number(
    name: str,
    column: pl.Series,
    source: str,
    date: str | None = None,
    notation: Notation | None = None,
    missing: tuple[str, ...] = (),
) -> ColumnRecipe:
    """The recipe of a column of numbers or, with a format, of dates: fill gaps with the median, scale to [0, 1]."""
    is_text = bool(date) or notation is not None
    times = None
    if is_text and not missing and not column.null_count():
        column, times = column.alias("cell").value_counts(name="times")  # equal cells are read once
    whole = not is_text and column.dtype in _MACHINE and column.dtype.is_integer() and not column.null_count()
    numbers = column if whole else floats(column, date, notation)  # whole numbers need no copy
    low, high = float(numbers.min()), float(numbers.max())  # type: ignore[arg-type]
    if not np.isfinite([low, high]).all():
        check_finite(source, name, numbers)
    # Also of a column without gaps: new rows may have some. The mean of two halves cannot overflow.
    every = numbers if times is None else pl.Series(np.repeat(numbers.to_numpy(), times.to_numpy()))
    fill = float(numbers.median()) if whole else 2 * float((every / 2).median())  # type: ignore[arg-type]
    kind: Literal["number", "date"] = "number" if date is None else "date"
    return ColumnRecipe(name, kind, low, high, fill, date, notation=notation, missing=missing)


def check_finite(source: str, name: str, column: pl.Series, start: int = 0) -> None:
    """Refuse infinity; `start` is the number of the first row."""
    if column.dtype.is_float() and (infinite := column.is_infinite().fill_null(False)).any():
        row = start + int(infinite.arg_true()[0])
        raise InvalidDataError(
            f"Column {name!r} of {source} is infinite in row {row}, counted from 0; "
            "correct the value or leave the column out."
        )


def word_counts(column: pl.Series) -> pl.DataFrame:
    """The words of a column and how often each occurs, the most frequent ones first."""
    counts = _words(column).drop_nulls().value_counts()
    counts.columns = ["word", "count"]
    return counts.sort(["count", "word"], descending=[True, False])


def fit_category(
    name: str, counts: pl.DataFrame, at_most: int, same: tuple[tuple[str, str], ...] | None = None
) -> ColumnRecipe:
    """The recipe of a column of words: one feature for each of the most frequent ones."""
    return ColumnRecipe(name, "category", values=tuple(sorted(counts["word"].head(at_most))), same=same)


def feature_names(recipes: Sequence[ColumnRecipe]) -> list[str]:
    """One name for each feature.

    Examples
    --------
    >>> feature_names([ColumnRecipe("x", "number"), ColumnRecipe("c", "category", values=("a", "b"))])
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


def feature_matrix(frame: pl.DataFrame, recipes: Sequence[ColumnRecipe]) -> FloatArray:
    """The features of all rows; float32 where all numbers are.

    Examples
    --------
    >>> frame = pl.DataFrame({"x": [1, 3], "c": ["a", "b"]})
    >>> recipes = [fit_number("x", frame["x"], "t"), fit_category("c", word_counts(frame["c"]), 9)]
    >>> feature_matrix(frame, recipes).round(2)
    array([[0.  , 0.35, 0.  ],
           [1.  , 0.  , 0.35]])
    """
    schema = frame.schema
    dtypes = [schema[recipe.name] for recipe in recipes if recipe.kind == "number"]
    narrow = pl.Float32 in dtypes and all(dtype in _NARROW for dtype in dtypes)
    width = len(feature_names(recipes))
    X = np.empty((frame.height, width), dtype=np.float32 if narrow else np.float64)
    write_features(X, frame, recipes)
    return X


def table_features(source: str, frame: pl.DataFrame, recipes: Sequence[ColumnRecipe]) -> FloatArray:
    """Return the features of a table by recipes that may come from another one."""
    check_names(source, [recipe.name for recipe in recipes], frame.columns)
    frame = _with_plain_numbers(source, frame, recipes)
    try:
        return feature_matrix(frame, recipes)
    except (pl.exceptions.PolarsError, ValueError, TypeError) as error:
        raise InvalidDataError(
            f"The columns of {source} have other types than before: {first_line(error)}."
        ) from error


def _with_plain_numbers(source: str, frame: pl.DataFrame, recipes: Sequence[ColumnRecipe]) -> pl.DataFrame:
    """The table with numbers where one odd cell made text of a column; other columns stay as they are."""
    plain = []
    for recipe in recipes:
        column = frame[recipe.name]
        if recipe.kind == "number" and recipe.notation is None and column.dtype == pl.String:
            numbers = plain_numbers(column)
            if numbers.null_count() == len(column) > column.null_count():
                raise InvalidDataError(
                    f"Column {recipe.name!r} of {source} holds {column.drop_nulls()[0]!r}, but had numbers before; "
                    "give the column in the same form."
                )
            plain.append(numbers)
    return frame.with_columns(plain) if plain else frame


def write_features(X: FloatArray, frame: pl.DataFrame, recipes: Sequence[ColumnRecipe]) -> None:
    """Write the features of all rows into a matrix, slice by slice on all cores."""

    def write(start: int) -> None:
        _write(X[start : start + SLICE], frame.slice(start, SLICE), recipes)

    starts = range(0, frame.height, SLICE)
    on_all_cores(write, starts) if len(starts) > 1 else write(0)


def _write(X: FloatArray, frame: pl.DataFrame, recipes: Sequence[ColumnRecipe]) -> None:
    at = 0
    for recipe in recipes:
        column = cells(frame, recipe.name)
        if recipe.kind == "category":
            codes, values = category_codes(column, recipe), recipe.values
            for place in range(len(values)):  # one after the other: numpy is slow on rows of a few cells
                np.multiply(
                    codes == place, CATEGORY * recipe.weight, out=X[:, at + place], casting="same_kind"
                )
            at += len(values)
        else:
            low, extent, half = _range(recipe)
            numbers = _without_gaps(column, recipe)
            if half != 1:
                numbers = numbers * half
            np.divide(numbers - low, extent, out=X[:, at], casting="same_kind")
            if recipe.weight != 1:
                X[:, at] *= recipe.weight
            at += 1


def _range(recipe: ColumnRecipe) -> tuple[float, float, float]:
    """Return what becomes 0, the range, and a factor for both, below 1 where the range itself would overflow."""
    low, high = recipe.low, recipe.high
    half = 1.0 if np.isfinite(high - low) else 0.5
    return low * half, (high * half - low * half) or 1.0, half


def _without_gaps(column: pl.Series, recipe: ColumnRecipe) -> npt.NDArray[Any]:
    """The numbers of a column without gaps, not copied where there were none."""
    ready = column.dtype in _MACHINE and not column.null_count()
    if ready and not has_nan(column):
        return column.to_numpy()
    numbers = floats(column, recipe.format, recipe.notation)
    return (numbers.fill_null(recipe.fill) if numbers.null_count() else numbers).to_numpy()


def floats(column: pl.Series, date: str | None = None, notation: Notation | None = None) -> pl.Series:
    """A column as float64, dates and times in seconds; what is missing is null.

    Examples
    --------
    >>> from datetime import date
    >>> floats(pl.Series([date(1970, 1, 2), None])).to_list()
    [86400.0, None]
    """
    if date is not None or column.dtype.is_temporal():
        return seconds(column, date or "")
    if notation is not None and column.dtype == pl.String:
        distinct = column.drop_nulls().unique()
        numbers = parse_numbers(distinct, notation)
        return column.replace_strict(distinct, numbers, default=None, return_dtype=pl.Float64)
    if column.dtype == pl.String:
        numbers = plain_numbers(column)
    else:
        numbers = column if column.dtype == pl.Float64 else column.cast(pl.Float64)
    return numbers.fill_nan(None) if has_nan(numbers) else numbers


def plain_numbers(column: pl.Series) -> pl.Series:
    """The numbers of text that a file without odd cells would have held as such; null where a cell is none.

    The decimal mark is the one in which more cells are numbers.

    Examples
    --------
    >>> plain_numbers(pl.Series(["1,5", "-2,5", "7.5", "heavy"])).to_list()
    [1.5, -2.5, None, None]
    >>> plain_numbers(pl.Series(["True", "false", "maybe"])).to_list()
    [1.0, 0.0, None]
    """
    words = column.str.strip_chars()
    with_point = words.cast(pl.Float64, strict=False)
    if not with_point.null_count():
        return with_point
    commas = words.set(words.str.contains(".", literal=True).fill_null(False), None)
    with_comma = commas.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    found = min(with_point, with_comma, key=pl.Series.null_count)
    if found.null_count() < len(found):
        return found
    return words.str.to_lowercase().replace_strict({"true": 1.0, "false": 0.0}, default=None)


def fold(words: pl.Series) -> pl.Series:
    """Words in lower case, with single blanks between them only."""
    return single_blanks(words).str.to_lowercase()


def single_blanks(words: pl.Series) -> pl.Series:
    """Words with single blanks between them only."""
    return words.str.strip_chars().str.replace_all(r"\s+", " ")


def _words(column: pl.Series) -> pl.Series:
    if column.dtype == pl.String:
        return column
    words = column.cast(pl.String)
    # The same number is the same word, whether or not there are fractions among the others.
    return words.str.strip_suffix(".0") if column.dtype.is_float() else words


def category_codes(column: pl.Series, recipe: ColumnRecipe) -> npt.NDArray[Any]:
    """The place of each row's word among the values; none for a rare word or a gap."""
    values, words = recipe.values, _words(column)
    if recipe.same is not None:
        places = {word: k for k, word in enumerate(fold(pl.Series(values, dtype=pl.String)))}
        places |= {word: values.index(value) for word, value in recipe.same}
        keys, numbers = list(places), list(places.values())
        return (
            fold(words).replace_strict(keys, numbers, default=len(values), return_dtype=pl.Int64).to_numpy()
        )
    codes = words.cast(pl.Enum(values), strict=False).to_physical()
    return codes.fill_null(len(values)).to_numpy()
