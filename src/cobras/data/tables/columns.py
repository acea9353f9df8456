"""Columns of a table: which are features and of what sort, which one names the rows, and how they become a matrix.

A recipe is fitted once, stored with the session, and then gives the same numbers for the same rows, and comparable
ones for new rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.core.threads import on_all_cores
from cobras.core.types import FloatArray
from cobras.data.recipe import ColumnRecipe

_ID_NAMES = frozenset({"id", "ids", "index", "key", "uuid", "guid", "identifier", "rowid"})
_WORDS = (pl.String, pl.Categorical, pl.Enum)
# Why a column is no feature, in the order in which the notes say so.
_REASONS = _TEXT, _NESTED, _EMPTY, _CONSTANT = (
    "text, shown but not used",
    "not numbers, shown but not used",
    "empty",
    "the same in every row",
)
N_CATEGORIES = 20  # words of a column that become features
COVERED = 0.8  # share of the rows that these must hold; else the column is text
# Two rows of different categories are half the range of a column of numbers apart: about as far as two random rows
# are in such a column, so that a column of two words does not outvote the numbers.
CATEGORY = float(np.sqrt(0.125))
SLICE = 65_536  # rows that are encoded at a time: little memory, and few calls
_MACHINE = (pl.Float64, pl.Float32, pl.Int64, pl.Int32, pl.Int16, pl.Int8, pl.UInt32, pl.UInt16, pl.UInt8)
_NARROW = (pl.Float32, pl.Boolean, pl.Int8, pl.UInt8, pl.Int16, pl.UInt16)
# By hand, since polars' own guess of a format finds 59 of these 152. Day before month where both fit.
_DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d %b %Y", "%b %d, %Y")
_TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S%.f", "T%H:%M", "T%H:%M:%S", "T%H:%M:%S%.f")
_ZONES = ("", "Z", "%#z")
FORMATS = tuple(f"{d}{t}{z}" for d in _DATES for t in _TIMES for z in (_ZONES if t else ("",)))
N_TRIED = 50  # cells that choose the formats worth trying on all


def row_ids(
    frame: pl.DataFrame, id: str | None, candidates: Sequence[str], notes: list[str]
) -> tuple[npt.NDArray[Any], list[str]]:
    """The names of the rows, and the columns that do nothing but name them, the one in use first."""
    named, counts = naming_columns(frame, id, candidates)
    found = [*named, *counts]
    if id is not None:
        _check_id(id, cells(frame, id))
        found.insert(0, id)
    elif found:
        notes.append(f"Used {found[0]!r} as the names of the rows.")
    if found[1:]:
        notes.append(f"Left out {name_list(found[1:])}: only names or counts the rows.")
    return (frame[found[0]].to_numpy() if found else np.arange(frame.height)), found


def naming_columns(
    frame: pl.DataFrame, id: str | None, candidates: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The columns, other than the one that was given, that name the rows, and those that count them."""
    named = [name for name in candidates if name != id and _is_name(name, cells(frame, name))]
    taken = {id, *named}
    counts = [name for name in candidates if name not in taken and _is_count(cells(frame, name))]
    schema, taken = frame.schema, {*taken, *counts}
    if not any(schema[name].is_numeric() for name in candidates if name not in taken):
        counts = []  # all the numbers there are
    return named, counts


def _check_id(name: str, column: pl.Series) -> None:
    if column.dtype.is_nested() or column.dtype == pl.Binary:
        fault = "it holds neither words nor numbers"
    elif column.null_count():
        fault = f"{column.null_count()} of its cells are empty"
    elif column.n_unique() < len(column):
        fault = f"{column.filter(column.is_duplicated())[0]!r} occurs more than once"
    else:
        return
    raise InvalidDataError(f"Column {name!r} cannot name the rows: {fault}.")


def _is_name(name: str, column: pl.Series) -> bool:
    name = name.strip()
    called_so = name.lower() in _ID_NAMES or re.search(r"([_ .-](id|ID|Id)|[a-z](Id|ID))$", name) is not None
    fits = called_so and (column.dtype.is_integer() or column.dtype == pl.String)
    return fits and column.null_count() == 0 and column.n_unique() == len(column)


def _is_count(column: pl.Series) -> bool:
    """Whether an integer column counts on from 0 or 1; of less than five rows that proves nothing."""
    if not column.dtype.is_integer() or len(column) < 5 or column.null_count() or column[0] not in (0, 1):
        return False
    if column[-1] != column[0] + len(column) - 1:  # quick: there may be thousands of columns
        return False
    return bool((column.cast(pl.Float64) - column[0] == pl.Series(np.arange(len(column)))).all())


def fit_columns(
    source: str, frame: pl.DataFrame, candidates: Sequence[str], notes: list[str]
) -> list[ColumnRecipe]:
    """The recipes of all columns that tell rows apart; the notes say what became of each column."""
    recipes: list[ColumnRecipe] = []
    left: dict[str, list[str]] = {reason: [] for reason in _REASONS}
    constant = []
    each = on_all_cores if frame.height > SLICE else map  # of few rows a thread takes longer than the work
    fitted = each(lambda name: _fit(source, name, cells(frame, name)), candidates)
    for name, found in zip(candidates, fitted, strict=True):
        if isinstance(found, str):
            left[found].append(name)
        elif frame.height > 1 and is_constant(found):
            constant.append(found)
        else:
            recipes.append(found)
    if recipes:
        left[_CONSTANT] += [recipe.name for recipe in constant]
    elif constant:
        recipes = constant  # rows that are all alike can still be shown
    else:
        raise no_numbers(source, frame.columns)
    notes.extend(f"Left out {name_list(names)}: {why}." for why, names in left.items() if names)
    return recipes


def no_numbers(source: str, columns: Sequence[str]) -> InvalidDataError:
    """Return the error for a table without a column that can be used."""
    return InvalidDataError(
        f"{source} has no column of numbers to cluster by; its columns are {name_list(columns, 20)}."
    )


def is_constant(recipe: ColumnRecipe) -> bool:
    """Whether all rows have the same number; a gap is filled with it. A gap among equal words is a difference."""
    return recipe.kind != "category" and recipe.low == recipe.high


def _fit(source: str, name: str, column: pl.Series) -> ColumnRecipe | str:
    """The recipe of a column, or why it has none."""
    dtype = column.dtype
    if n_missing(column) == len(column):
        return _EMPTY
    if dtype.is_numeric() or dtype == pl.Boolean:
        return fit_number(name, column, source)
    if dtype.is_temporal():
        return fit_number(name, column, source, "")
    if dtype not in _WORDS:
        return _NESTED
    if dtype == pl.String and (format := date_format(column)) is not None:
        return fit_number(name, column if column.null_count() else column.unique(), source, format)
    return _fit_words(name, column)


def _fit_words(name: str, column: pl.Series) -> ColumnRecipe | str:
    """A column of words is one of categories when its words come back, and few of them make most of it."""
    head = column.head(1_000).drop_nulls()
    if len(column) > 1_000 and head.n_unique() > len(head) / 2 and head.n_unique() > N_CATEGORIES:
        return _TEXT  # decided without counting a million words
    counts = word_counts(column)
    distinct, n_known = counts.height, len(column) - column.null_count()
    if distinct == 1 and column.null_count() == 0:
        return _CONSTANT
    if distinct > max(1, n_known / 2):
        return _TEXT
    if distinct > N_CATEGORIES and counts["count"].head(N_CATEGORIES).sum() < COVERED * n_known:
        return _TEXT
    return fit_category(name, counts, N_CATEGORIES)


def describe_columns(
    frame: pl.DataFrame,
    recipes: Sequence[ColumnRecipe],
    notes: list[str],
    n_gaps: Mapping[str, int] | None = None,
) -> None:
    """Add notes on the columns that are used; `n_gaps` where the frame is a sample."""
    numbers = [recipe.name for recipe in recipes if recipe.kind != "category"]
    dates = [recipe.name for recipe in recipes if recipe.kind == "date"]
    words = [recipe.name for recipe in recipes if recipe.kind == "category"]
    n_gaps = {name: n_missing(cells(frame, name)) for name in numbers} if n_gaps is None else n_gaps
    gaps = {name: n_gaps[name] for name in numbers if n_gaps.get(name)}
    if total := sum(gaps.values()):
        notes.append(
            f"Filled {total} missing value{'s' * (total > 1)} in {name_list(list(gaps))} with the median."
        )
    if dates:
        notes.append(f"Used {name_list(dates)} as dates.")
    if words:
        notes.append(f"Used {name_list(words)} as categories.")
    if numbers:
        notes.append(f"Scaled {len(numbers)} column{'s' * (len(numbers) > 1)} to [0, 1].")


def n_missing(column: pl.Series) -> int:
    """Return the number of null and NaN cells."""
    return column.null_count() + (int(column.is_nan().sum()) if column.dtype.is_float() else 0)


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
    shown = ", ".join(repr(name) for name in names[:at_most])
    return shown if len(names) <= at_most else f"{shown} and {len(names) - at_most} more"


def cells(frame: pl.DataFrame, name: str) -> pl.Series:
    """A column under another name: polars takes one such as ^a$ for a pattern."""
    return frame[name].alias("cells")


def fit_number(name: str, column: pl.Series, source: str, date: str | None = None) -> ColumnRecipe:
    """The recipe of a column of numbers or, with a format, of dates: fill gaps with the median, scale to [0, 1]."""
    whole = (
        date is None and column.dtype in _MACHINE and column.dtype.is_integer() and not column.null_count()
    )
    numbers = column if whole else floats(column, date)  # whole numbers need no copy
    low, high = float(numbers.min()), float(numbers.max())  # type: ignore[arg-type]
    if not np.isfinite([low, high]).all():
        check_finite(source, name, numbers)
    half = (numbers / 2).median() if numbers.null_count() else 0.0  # the mean of two halves cannot overflow
    fill = 2 * float(half)  # type: ignore[arg-type]
    return ColumnRecipe(name, "number" if date is None else "date", low, high, fill, date)


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


def fit_category(name: str, counts: pl.DataFrame, at_most: int) -> ColumnRecipe:
    """The recipe of a column of words: one feature for each of the most frequent ones."""
    return ColumnRecipe(name, "category", values=tuple(sorted(counts["word"].head(at_most))))


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
            codes, values = _codes(column, recipe.values), recipe.values
            for place in range(len(values)):  # one after the other: numpy is slow on rows of a few cells
                np.multiply(codes == place, CATEGORY, out=X[:, at + place], casting="same_kind")
            at += len(values)
        else:
            low, extent, half = _range(recipe)
            numbers = _without_gaps(column, recipe)
            if half != 1:
                numbers = numbers * half
            np.divide(numbers - low, extent, out=X[:, at], casting="same_kind")
            at += 1


def _range(recipe: ColumnRecipe) -> tuple[float, float, float]:
    """Return what becomes 0, the range, and a factor for both, below 1 where the range itself would overflow."""
    low, high = recipe.low, recipe.high
    half = 1.0 if np.isfinite(high - low) else 0.5
    return low * half, (high * half - low * half) or 1.0, half


def _without_gaps(column: pl.Series, recipe: ColumnRecipe) -> npt.NDArray[Any]:
    """The numbers of a column without gaps, not copied where there were none."""
    ready = column.dtype in _MACHINE and not column.null_count()
    if ready and not (column.dtype.is_float() and column.is_nan().any()):
        return column.to_numpy()
    numbers = floats(column, recipe.format)
    return (numbers.fill_null(recipe.fill) if numbers.null_count() else numbers).to_numpy()


def floats(column: pl.Series, date: str | None = None) -> pl.Series:
    """A column as float64, dates and times in seconds; what is missing is null.

    Examples
    --------
    >>> from datetime import date
    >>> floats(pl.Series([date(1970, 1, 2), None])).to_list()
    [86400.0, None]
    """
    if date is not None or column.dtype.is_temporal():
        return seconds(column, date or "")
    numbers = column if column.dtype == pl.Float64 else column.cast(pl.Float64)
    return numbers.fill_nan(None) if numbers.is_nan().any() else numbers


def _words(column: pl.Series) -> pl.Series:
    return column if column.dtype == pl.String else column.cast(pl.String)


def _codes(column: pl.Series, values: Sequence[str]) -> npt.NDArray[Any]:
    """The place of each row's word among the values; none for a rare word or a gap."""
    places = _words(column).cast(pl.Enum(values), strict=False).to_physical()
    return places.fill_null(len(values)).to_numpy()


def date_format(column: pl.Series) -> str | None:
    """The format in which every cell of a text column is a date, or None.

    Examples
    --------
    >>> date_format(pl.Series(["2020-01-31", None])), date_format(pl.Series(["1/31/2020"]))
    ('%Y-%m-%d', '%m/%d/%Y')
    >>> date_format(pl.Series(["31 red", "2020-01-31"]))
    """
    first = column.drop_nulls().head(N_TRIED)
    if len(first) == 0 or not first.str.contains(r"^\s*[A-Za-z\d].*\d").all():
        return None
    for format in FORMATS:
        if seconds(first, format).null_count() == 0 and (
            len(first) < N_TRIED or seconds(column.drop_nulls().unique(), format).null_count() == 0
        ):
            return format
    return None


def seconds(column: pl.Series, format: str) -> pl.Series:
    """Seconds since 1970 as float64; null where a cell is no such date. The format "" is for real dates."""
    moments = column
    if format:
        zone = "UTC" if format.endswith("%#z") else None
        moments = column.str.strptime(pl.Datetime("us", zone), format, strict=False)
        if moments.null_count() > column.null_count():
            moments = column.str.strip_chars().str.strptime(pl.Datetime("us", zone), format, strict=False)
    elif column.dtype == pl.Time:
        return column.cast(pl.Int64).cast(pl.Float64) / 1e9
    elif column.dtype == pl.Duration:
        return column.dt.total_microseconds().cast(pl.Float64) / 1e6
    return moments.cast(pl.Datetime("us")).to_physical().cast(pl.Float64) / 1e6
