"""Which columns name the rows, and do nothing but that.

A column that counts the rows, or is called id and has hardly any value twice, is one whatever it holds. Others are
found by what they hold: short words of which none occurs twice, and whole numbers that are given out rather than
measured.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.data.tables.columns import cells, name_list
from cobras.data.tables.dates import date_format, mixed_formats
from cobras.data.tables.notation import number_notation

NAMES_ROWS = "only names or counts the rows"
N_TRIED = 1_000  # rows among which two equal ones are soon found
LONGEST = 60  # characters of a name, on average
RARE = 0.05  # share of the rows whose name is that of another, at most; doubles are numbered
FEWEST_WORDS = 5  # rows; that fewer are different proves nothing
FEWEST = 20  # whole numbers of which it can be said that they were given out
_ID_NAMES = frozenset({"id", "ids", "index", "key", "uuid", "guid", "identifier", "rowid"})
# Of whole numbers that are all different, these say that they are names and no quantities.
# fmt: off
_NUMBER_NAMES = frozenset(
    (
        "ticket", "order", "invoice", "sensor", "serial", "no", "no.", "nr", "nr.", "number", "code", "ref",
        "reference", "case", "customer", "account", "sku", "device", "record", "row", "patient", "sample",
        "transaction", "item",
    )
)
# fmt: on
_A_NUMBER = re.compile(r"(number|nummer|nr|\bno|\bnum)\.?\s*$", re.IGNORECASE)
_YEARS = 1_800, 2_100


def row_ids(
    frame: pl.DataFrame, id: str | None, candidates: Sequence[str], notes: list[str], guess: bool = True
) -> tuple[npt.NDArray[Any], list[str]]:
    """The names of the rows, and the columns that do nothing but name them, the one in use first.

    Without `guess`, rows have the names of the column that was given, or their numbers. Then names may come again
    or be missing: rows were added since the column was chosen, and a session on them must open.
    """
    # What a session stores is not guessed again: a later version might guess something else.
    found: list[str] = []
    if guess:
        named, counts = naming_columns(frame, id, candidates)
        taken = {id, *named, *counts}
        others = [name for name in candidates if name not in taken]
        numbers = [name for name in others if _is_given_out(name, cells(frame, name))]
        if not any(_may_compare(cells(frame, name)) for name in others if name not in numbers):
            numbers = []  # all that rows can be compared by
        found = [*named, *numbers, *counts]
        if id is None and not named:
            best = _unique_words(frame, others) or (None if found else _numbers_of_rows(frame, others))
            found[:0] = [] if best is None else [best]
    if id is not None:
        _check_id(id, cells(frame, id), guess)
        found = [id, *found]
    elif found:
        notes.append(f"Used {name_list(found[:1])} as the names of the rows.")
    if found[1:]:
        notes.append(f"Left out {name_list(found[1:])}: {NAMES_ROWS}.")
    return (_different(cells(frame, found[0]), found[0], notes) if found else np.arange(frame.height)), found


def _different(column: pl.Series, name: str, notes: list[str]) -> npt.NDArray[Any]:
    """The names of the rows; where one comes again, it has a number."""
    if column.null_count():
        rows = pl.Series(np.arange(len(column))).cast(pl.String)
        column = column.cast(pl.String).zip_with(column.is_not_null(), "row " + rows)
    n_doubles = len(column) - column.n_unique()
    if not n_doubles:
        return column.to_numpy()
    example = f"{column.filter(column.is_duplicated())[0]} (2)"
    many = "s" * (n_doubles > 1)
    notes.append(
        f"Numbered {n_doubles} name{many} that {name_list([name])} holds again, such as {example!r}."
    )
    taken, times, names = set(column.cast(pl.String)), Counter[str](), []
    for word in column.cast(pl.String):
        times[word] += 1
        new = word
        while times[word] > 1 and (new := f"{word} ({times[word]})") in taken:
            times[word] += 1
        taken.add(new)
        names.append(new)
    return np.array(names, object)


def naming_columns(
    frame: pl.DataFrame, id: str | None, candidates: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The columns, other than the one that was given, that are called names of the rows, and that count them."""
    named = [name for name in candidates if name != id and _is_name(name, cells(frame, name))]
    taken = {id, *named}
    counts = [name for name in candidates if name not in taken and _is_count(cells(frame, name))]
    schema, taken = frame.schema, {*taken, *counts}
    if not any(schema[name].is_numeric() for name in candidates if name not in taken):
        counts = []  # all the numbers there are
    return named, counts


def names_rows(name: str, column: pl.Series) -> bool:
    """Whether a column of numbers only names or counts the rows."""
    return _is_name(name, column) or _is_count(column) or _is_given_out(name, column)


def _check_id(name: str, column: pl.Series, is_new: bool) -> None:
    if column.dtype.is_nested() or column.dtype == pl.Binary:
        fault = "it holds neither words nor numbers"
    elif not is_new:
        return
    elif column.null_count():
        fault = f"{column.null_count()} of its cells are empty"
    elif not _is_rarely_double(column):
        fault = f"{len(column) - column.n_unique()} of its values occurred before"
    else:
        return
    raise InvalidDataError(f"Column {name!r} cannot name the rows: {fault}.")


def _is_name(name: str, column: pl.Series) -> bool:
    name = name.strip()
    called_so = name.lower() in _ID_NAMES or re.search(r"([_ .-](id|ID|Id)|[a-z](Id|ID))$", name) is not None
    return (
        called_so and (column.dtype.is_integer() or column.dtype == pl.String) and _is_rarely_double(column)
    )


def _is_unique(column: pl.Series) -> bool:
    """Whether no cell is empty and none occurs twice; most columns show soon that they are not so."""
    if column.null_count():
        return False
    head = column.head(N_TRIED)
    return head.n_unique() == len(head) and (len(head) == len(column) or column.n_unique() == len(column))


def _is_rarely_double(column: pl.Series) -> bool:
    """Whether no cell is empty and hardly any occurs again."""
    if column.null_count():
        return False
    head = column.head(N_TRIED)
    few = len(head) - head.n_unique() <= max(1, RARE * len(head)) if len(head) >= FEWEST else _is_unique(head)
    return few and (len(head) == len(column) or len(column) - column.n_unique() <= RARE * len(column))


def _is_count(column: pl.Series) -> bool:
    """Whether an integer column counts on from 0 or 1; of less than five rows that proves nothing."""
    if not column.dtype.is_integer() or len(column) < 5 or column.null_count() or column[0] not in (0, 1):
        return False
    if column[-1] != column[0] + len(column) - 1:  # quick: there may be thousands of columns
        return False
    return bool((column.cast(pl.Float64) - column[0] == pl.Series(np.arange(len(column)))).all())


def _is_given_out(name: str, column: pl.Series) -> bool:
    """Whether whole numbers are names: all different, and without gaps, growing from row to row, or called so."""
    if not column.dtype.is_integer() or len(column) < FEWEST or not _is_unique(column):
        return False
    low, high = int(column.min()), int(column.max())  # type: ignore[arg-type]
    if low < 0 or (_YEARS[0] <= low and high <= _YEARS[1]):
        return False
    word = re.split(r"[^a-z.]+", name.strip().lower())
    if high - low + 1 == len(column) or not _NUMBER_NAMES.isdisjoint(word):
        return True
    # As many digits each, and one after the other: tickets, not the populations of cities in their order.
    return low >= 10_000 and len(str(low)) == len(str(high)) and column.is_sorted()


def _may_compare(column: pl.Series) -> bool:
    """Whether rows can be compared by a column: numbers, or words that come back."""
    if column.dtype.is_numeric() or column.dtype.is_temporal() or column.dtype == pl.Boolean:
        return True
    return column.dtype == pl.String and (number_notation(column) is not None or not _is_unique(column))


def _unique_words(frame: pl.DataFrame, candidates: Sequence[str]) -> str | None:
    """The column of short words that are all different; one of codes before one of names."""
    schema = frame.schema
    found = [name for name in candidates if schema[name] == pl.String and _may_name(cells(frame, name))]
    return min(found, key=lambda name: not _are_codes(cells(frame, name)), default=None)


def _numbers_of_rows(frame: pl.DataFrame, candidates: Sequence[str]) -> str | None:
    """The column of codes that is called a number, such as Order no., and has hardly any code twice."""
    schema = frame.schema
    called_so = [name for name in candidates if schema[name] == pl.String and _A_NUMBER.search(name)]
    fit = (
        name for name in called_so if _is_rarely_double(cells(frame, name)) and _are_codes(cells(frame, name))
    )
    return next(fit, None)


def _may_name(column: pl.Series) -> bool:
    if len(column) < FEWEST_WORDS or not _is_unique(column):
        return False
    head = column.head(N_TRIED)
    if head.str.len_chars().mean() > LONGEST:  # type: ignore[operator]
        return False
    return number_notation(head) is None and date_format(head) is None and mixed_formats(head) is None


def _are_codes(column: pl.Series) -> bool:
    """Whether most words have digits and no blanks."""
    return bool(column.head(N_TRIED).str.contains(r"^\S*\d\S*$").mean() > 0.5)  # type: ignore[operator]
