"""Which columns of a table are features and of what sort, and which one names the rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.core.threads import on_all_cores
from cobras.data.recipe import ColumnRecipe
from cobras.data.tables.dates import date_format
from cobras.data.tables.encoding import cells, counted, fit_category, fit_number

_ID_NAMES = frozenset({"id", "ids", "index", "key", "uuid", "guid", "identifier", "rowid"})
_WORDS = (pl.String, pl.Categorical, pl.Enum)
N_CATEGORIES = 20  # words of a column that become features
COVERED = 0.8  # share of the rows that these must hold; else the column is text


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
        notes.append(f"Left out {listed(found[1:])}: only names or counts the rows.")
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
    """Whether an integer column counts on from 0 or 1; among less than five rows that proves nothing."""
    if not column.dtype.is_integer() or len(column) < 5 or column.null_count() or column[0] not in (0, 1):
        return False
    return bool((column.cast(pl.Float64) - column[0] == pl.Series(np.arange(len(column)))).all())


def fit_columns(
    source: str, frame: pl.DataFrame, candidates: Sequence[str], notes: list[str]
) -> list[ColumnRecipe]:
    """The recipes of all columns that tell rows apart; the notes say what became of each column."""
    recipes: list[ColumnRecipe] = []
    left: dict[str, list[str]] = {"text": [], "nested": [], "empty": [], "constant": []}
    constant = []
    fitted = on_all_cores(lambda name: _fit(source, name, cells(frame, name)), candidates)
    for name, found in zip(candidates, fitted, strict=True):
        if isinstance(found, str):
            left[found].append(name)
        elif frame.height > 1 and is_constant(found):
            constant.append(found)
        else:
            recipes.append(found)
    if not recipes:  # rows that are all alike are rows all the same
        recipes = constant
    else:
        left["constant"] += [recipe.name for recipe in constant]
    reasons = {
        "text": "text, shown but not used",
        "nested": "not numbers, shown but not used",
        "empty": "empty",
        "constant": "the same in every row",
    }
    notes.extend(f"Left out {listed(left[key])}: {why}." for key, why in reasons.items() if left[key])
    return recipes


def is_constant(recipe: ColumnRecipe) -> bool:
    """Whether all rows have the same number; a gap is filled with it. A gap among equal words is a difference."""
    return recipe.kind != "category" and recipe.low == recipe.high


def _fit(source: str, name: str, column: pl.Series) -> ColumnRecipe | str:
    """The recipe of a column, or why it has none."""
    dtype = column.dtype
    if n_missing(column) == len(column):
        return "empty"
    if dtype.is_numeric() or dtype == pl.Boolean:
        return fit_number(name, column, source)
    if dtype.is_temporal():
        return fit_number(name, column, source, "")
    if dtype not in _WORDS:
        return "nested"
    if dtype == pl.String and (format := date_format(column)) is not None:
        return fit_number(name, column if column.null_count() else column.unique(), source, format)
    return _fit_words(name, column)


def _fit_words(name: str, column: pl.Series) -> ColumnRecipe | str:
    """A column of words is one of categories when its words come back, and few of them make most of it."""
    head = column.head(1_000).drop_nulls()
    if len(column) > 1_000 and head.n_unique() > len(head) / 2 and head.n_unique() > N_CATEGORIES:
        return "text"  # decided without counting a million words
    counts = counted(column)
    distinct, n_known = counts.height, len(column) - column.null_count()
    if distinct == 1 and column.null_count() == 0:
        return "constant"
    if distinct > max(1, n_known / 2):
        return "text"
    if distinct > N_CATEGORIES and counts["count"].head(N_CATEGORIES).sum() < COVERED * n_known:
        return "text"
    return fit_category(name, counts, N_CATEGORIES)


def say_columns(
    frame: pl.DataFrame,
    recipes: Sequence[ColumnRecipe],
    notes: list[str],
    n_gaps: Mapping[str, int] | None = None,
) -> None:
    """What became of the columns that are used; `n_gaps` where the frame is a sample."""
    numbers = [recipe.name for recipe in recipes if recipe.kind != "category"]
    dates = [recipe.name for recipe in recipes if recipe.kind == "date"]
    words = [recipe.name for recipe in recipes if recipe.kind == "category"]
    n_gaps = {name: n_missing(cells(frame, name)) for name in numbers} if n_gaps is None else n_gaps
    gaps = {name: n_gaps[name] for name in numbers if n_gaps.get(name)}
    if total := sum(gaps.values()):
        notes.append(
            f"Filled {total} missing value{'s' * (total > 1)} in {listed(list(gaps))} with the median."
        )
    if dates:
        notes.append(f"Used {listed(dates)} as dates.")
    if words:
        notes.append(f"Used {listed(words)} as categories.")
    if numbers:
        notes.append(f"Scaled {len(numbers)} column{'s' * (len(numbers) > 1)} to [0, 1].")


def n_missing(column: pl.Series) -> int:
    """Null and NaN cells."""
    return column.null_count() + (int(column.is_nan().sum()) if column.dtype.is_float() else 0)


def listed(names: Sequence[str], at_most: int = 4) -> str:
    """Names in quotes, the rest of a long list as a number.

    Examples
    --------
    >>> listed(["a", "b", "c"], 2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(name) for name in names[:at_most])
    return shown if len(names) <= at_most else f"{shown} and {len(names) - at_most} more"
