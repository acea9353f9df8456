"""What each column of a table is taken for: numbers, dates, categories, or nothing that rows are compared by."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.core.threads import on_all_cores
from cobras.data.recipe import ColumnRecipe
from cobras.data.tables.columns import (
    SLICE,
    cells,
    fit_category,
    fit_number,
    fold,
    has_nan,
    is_constant,
    isolate,
    n_missing,
    name_list,
    no_numbers,
    single_blanks,
    word_counts,
)
from cobras.data.tables.dates import (
    ORDERS,
    date_format,
    example_of_doubt,
    is_day_first,
    is_time_of_day,
    mixed_formats,
)
from cobras.data.tables.notation import MISSING, gap_words, number_notation

_WORDS = (pl.String, pl.Categorical, pl.Enum)
# Why a column is no feature, in the order in which the notes say so.
_REASONS = TEXT, NESTED, EMPTY, CONSTANT = (
    "text, shown but not used",
    "not numbers, shown but not used",
    "empty",
    "the same in every row",
)
N_CATEGORIES = 20  # words of a column that become features
COVERED = 0.8  # share of the rows that these must hold; else the column is text
N_FOLDED = 1_000  # different words that may be written in several ways
EMBEDDING = 8  # columns of an embedding, at least
UNIT = 2e-3  # how far from 1 the squared length of its rows may be: half precision
_GROUPED = r"[^\d.,]*\d{1,3}(\.\d{3})+[^\d.,]*"  # a number with points that separate thousands alone
SHORTEST = 3  # letters of a word whose case does not matter: Co and CO are two things
YES = frozenset(("yes", "y", "true", "t", "ja", "j", "oui", "si", "sí", "sim", "да", "on", "1"))
NO = frozenset(("no", "n", "false", "f", "nein", "non", "não", "nao", "нет", "off", "0"))


def fit_columns(
    source: str,
    frame: pl.DataFrame,
    candidates: Sequence[str],
    notes: list[str],
    types: Mapping[str, str] | None = None,
    points: bool = False,
) -> tuple[list[ColumnRecipe], dict[str, str]]:
    """The recipes of all columns that tell rows apart, and why the others do not; the notes say so, too.

    Columns that have a type are read as that; the types of the others are guessed. In text, `points` may separate
    thousands.
    """
    asked = types or {}
    recipes: list[ColumnRecipe] = []
    left: dict[str, list[str]] = {reason: [] for reason in _REASONS}
    constant = []
    each = on_all_cores if frame.height > SLICE else map  # of few rows a thread takes longer than the work
    fitted = each(lambda name: _fit(source, name, cells(frame, name), asked.get(name), points), candidates)
    for name, found in zip(candidates, fitted, strict=True):
        if isinstance(found, str):
            left[found].append(name)
        elif frame.height > 1 and is_constant(found):
            constant.append(found)
        else:
            recipes.append(found)
    if recipes:
        left[CONSTANT] += [recipe.name for recipe in constant]
    elif constant:
        recipes = constant  # rows that are all alike can still be shown
    else:
        raise no_numbers(source, frame.columns, next(iter(left[TEXT]), None))
    notes.extend(f"Left out {name_list(names)}: {why}." for why, names in left.items() if names)
    return recipes, {name: why for why, names in left.items() for name in names}


def weighted_columns(
    recipes: Sequence[ColumnRecipe], weights: Mapping[str, float], ignored: Mapping[str, str]
) -> list[ColumnRecipe]:
    """The recipes with weights; a column that is not compared cannot have one."""
    used = {recipe.name for recipe in recipes}
    for name in weights:
        if name not in used:
            why = f" ({ignored[name]})" if name in ignored else ""
            raise InvalidDataError(
                f"Column {name!r} is not compared{why}, so it cannot have a weight; leave the weight out."
            )
    return [replace(recipe, weight=weights.get(recipe.name, 1.0)) for recipe in recipes]


def has_unit_rows(frame: pl.DataFrame, candidates: Sequence[str]) -> bool:
    """Whether all rows have length 1, as embeddings have: fractions of some ten columns, without gaps."""
    if len(candidates) < EMBEDDING or frame.height < 2:
        return False
    if any(
        not frame.schema[name].is_float() or has_nan(cells(frame, name)) for name in candidates[:EMBEDDING]
    ):
        return False
    few = frame.head(100)
    return _are_unit_rows(few, candidates) and (
        few.height == frame.height or _are_unit_rows(frame, candidates)
    )


def _are_unit_rows(frame: pl.DataFrame, names: Sequence[str]) -> bool:
    squares = np.zeros(frame.height)
    for name in names:
        column = frame[name]
        if not column.dtype.is_float() or column.null_count():
            return False
        squares += column.to_numpy().astype(np.float64) ** 2
    return bool((np.abs(squares - 1) < UNIT).all())


def unit_columns(names: Sequence[str]) -> list[ColumnRecipe]:
    """The recipes of columns that stay as they are: what becomes 0 and 1 is 0 and 1."""
    return [ColumnRecipe(name, "number", 0.0, 1.0) for name in names]


def _is_unit(recipe: ColumnRecipe) -> bool:
    return recipe.kind == "number" and (recipe.low, recipe.high) == (0.0, 1.0)


def _fit(source: str, name: str, column: pl.Series, asked: str | None, points: bool) -> ColumnRecipe | str:
    """The recipe of a column, guessed or of the type that is asked for, or why it has none."""
    dtype = column.dtype
    if n_missing(column) == len(column):
        return EMPTY
    if asked is not None:
        return _fit_as(source, name, column, asked, points)
    if dtype.is_numeric() or dtype == pl.Boolean:
        return fit_number(name, column, source)
    if dtype.is_temporal():
        return fit_number(name, column, source, "")
    if dtype not in _WORDS:
        return NESTED
    if dtype == pl.String:
        if (format := date_format(column)) is not None:
            return fit_number(name, column, source, format)
        if (numbers := number_notation(column, points=points)) is not None:
            return fit_number(name, column, source, None, *numbers)
        if (dates := mixed_formats(column)) is not None:
            return fit_number(name, column, source, dates[0], None, dates[1])
    return _fit_words(name, column)


def _fit_as(source: str, name: str, column: pl.Series, type: str, points: bool) -> ColumnRecipe | str:
    """The recipe of a column as a number, a date or a category, whatever it looks like; texts have none."""
    dtype, is_text = column.dtype, column.dtype == pl.String
    if type == "text":
        return TEXT
    if type == "category" and not (dtype.is_nested() or dtype in (pl.Binary, pl.Object)):
        known = column.fill_nan(None) if dtype.is_float() else column
        return _fit_words(name, known, asked=True)
    if type == "number":
        if dtype.is_numeric() or dtype == pl.Boolean:
            return fit_number(name, column, source)
        if is_text and (numbers := number_notation(column, True, points)) is not None:
            return fit_number(name, column, source, None, *numbers)
    elif type in ORDERS:
        if dtype.is_temporal():
            return fit_number(name, column, source, "")
        formats = ORDERS[type]
        if is_text and (format := date_format(column, formats)) is not None:
            return fit_number(name, column, source, format)
        if is_text and (dates := mixed_formats(column, formats)) is not None:
            return fit_number(name, column, source, dates[0], None, dates[1])
    order = (
        ""
        if type in ("number", "category")
        else f" with the {type.partition('-')[0]} first" * (type != "date")
    )
    what = type if type in ("number", "category") else "date"
    example = str(column.drop_nulls()[0])[:40]
    raise InvalidDataError(
        f"Column {name!r} of {source} cannot be read as {what}{order}: it holds {example!r}. Give another type, or "
        "leave the type out."
    )


def _fit_words(name: str, column: pl.Series, asked: bool = False) -> ColumnRecipe | str:
    """A column of words is one of categories when its words come back, and few of them make most of it.

    Where categories were `asked` for, the most frequent words are.
    """
    head = column.head(1_000).drop_nulls()
    if (
        not asked
        and len(column) > 1_000
        and head.n_unique() > len(head) / 2
        and head.n_unique() > N_CATEGORIES
    ):
        return TEXT  # decided without counting a million words
    counts = word_counts(column)
    same: tuple[tuple[str, str], ...] | None = None
    gaps: tuple[str, ...] = ()
    if counts.height <= N_FOLDED:
        folded = fold(counts["word"]).to_list()
        if all(word in MISSING for word in folded):
            return EMPTY
        if (found := _fit_yes_no(name, counts, folded)) is not None:
            return found
        counts, folded, gaps = _without_gap_words(counts, folded)
        if (merged := _merge_spellings(counts, folded)) is not None:
            counts, same = merged, ()
    distinct, n_known = counts.height, int(counts["count"].sum())
    if distinct == 1 and n_known == len(column):
        return CONSTANT
    if not asked and distinct > max(1, n_known / 2):
        return TEXT
    if not asked and distinct > N_CATEGORIES and counts["count"].head(N_CATEGORIES).sum() < COVERED * n_known:
        return TEXT
    return replace(fit_category(name, counts, N_CATEGORIES, same), missing=gaps)


def same_words(column: pl.Series) -> pl.Series:
    """The words of a column in lower case, with single blanks between them only; other values as they are.

    Words of one or two letters keep their case: a and A may be two classes.

    Examples
    --------
    >>> same_words(pl.Series(["Shoes", "shoes ", "SHOES", "N", "n", None])).to_list()
    ['shoes', 'shoes', 'shoes', 'N', 'n', None]
    """
    if column.dtype != pl.String:
        return column
    low = fold(column)
    return low.zip_with(low.str.len_chars() >= SHORTEST, single_blanks(column))


def _fit_yes_no(name: str, counts: pl.DataFrame, folded: Sequence[str]) -> ColumnRecipe | None:
    """The recipe of a column of yes and no in several spellings, or with words for a gap."""
    words: list[str] = counts["word"].to_list()
    gaps = [word for word, low in zip(words, folded, strict=True) if low in MISSING]
    sides = [[k for k, word in enumerate(folded) if word in side] for side in (NO, YES)]
    if not all(sides) or len(sides[0]) + len(sides[1]) + len(gaps) < max(3, len(words)):
        return None
    names = [words[side[0]] for side in sides]  # the most frequent spelling
    same = {folded[k]: value for side, value in zip(sides, names, strict=True) for k in side}
    return ColumnRecipe(name, "category", values=tuple(names), same=tuple(same.items()), missing=tuple(gaps))


def _without_gap_words(
    counts: pl.DataFrame, folded: Sequence[str]
) -> tuple[pl.DataFrame, list[str], tuple[str, ...]]:
    """The words that stand for something, with the same in lower case, and those that stand for a gap."""
    words = gap_words(folded)
    is_gap = pl.Series([word in words for word in folded], dtype=pl.Boolean)
    kept = [word for word in folded if word not in words]
    return counts.filter(~is_gap), kept, tuple(sorted(counts["word"].filter(is_gap)))


def _merge_spellings(counts: pl.DataFrame, folded: Sequence[str]) -> pl.DataFrame | None:
    """The words that differ by more than case and blanks, each in its most frequent spelling; None if all do."""
    spelling: dict[str, str] = {}
    total: Counter[str] = Counter()
    for (word, count), low in zip(counts.iter_rows(), folded, strict=True):
        first = spelling.setdefault(low, word)
        if len(low) < SHORTEST and first.strip() != word.strip():
            return None
        total[low] += count
    if len(total) == counts.height:
        return None
    merged = {"word": [spelling[low].strip() for low in total], "count": list(total.values())}
    return pl.DataFrame(merged).sort(["count", "word"], descending=[True, False])


def describe_columns(
    frame: pl.DataFrame,
    recipes: Sequence[ColumnRecipe],
    notes: list[str],
    n_gaps: Mapping[str, int] | None = None,
    types: Mapping[str, str] | None = None,
) -> None:
    """Add notes on the columns that are used; `n_gaps` where the frame is a sample, `types` as in `fit_columns`."""
    numbers = [recipe.name for recipe in recipes if recipe.kind != "category"]
    schema = frame.schema
    dated = {r.name: is_time_of_day(schema[r.name], r.format) for r in recipes if r.kind == "date"}
    dates = [name for name, is_time in dated.items() if not is_time]
    times = [name for name, is_time in dated.items() if is_time]
    words = [recipe.name for recipe in recipes if recipe.kind == "category"]
    spelled = [recipe.name for recipe in recipes if _has_spellings(frame, recipe)]
    examples = (_example(frame, recipe) for recipe in recipes if recipe.notation is not None)
    if ways := [way for way in examples if way]:
        more = f" and {len(ways) - 4} more" if len(ways) > 4 else ""
        notes.append(f"Read {', '.join(ways[:4])}{more} as numbers.")
    _describe_missing_words(frame, recipes, notes, n_gaps is None)
    if n_gaps is None:
        n_gaps = {recipe.name: n_gaps_of(frame, recipe) for recipe in recipes if recipe.kind != "category"}
    gaps = {name: n_gaps[name] for name in numbers if n_gaps.get(name)}
    if total := sum(gaps.values()):
        notes.append(
            f"Filled {total} missing value{'s' * (total > 1)} in {name_list(list(gaps))} with the median."
        )
    if dates:
        notes.append(f"Used {name_list(dates)} as dates.")
    if times:
        notes.append(f"Used {name_list(times)} as {'times' if len(times) > 1 else 'a time'} of day.")
    _describe_doubtful_dates(frame, [r for r in recipes if r.name not in (types or {})], notes)
    if words:
        notes.append(f"Used {name_list(words)} as categories.")
    if spelled:
        notes.append(f"Took other spellings of a word as the same in {name_list(spelled)}.")
    if len(recipes) >= EMBEDDING and all(map(_is_unit, recipes)) and has_unit_rows(frame, numbers):
        notes.append("Left the columns as they are: all rows have length 1, as embeddings have.")
    elif numbers:
        notes.append(f"Scaled {len(numbers)} column{'s' * (len(numbers) > 1)} to [0, 1].")
    if weights := [f"{isolate(repr(r.name))} by {r.weight:g}" for r in recipes if r.weight != 1]:
        more = f" and {len(weights) - 4} more" if len(weights) > 4 else ""
        notes.append(f"Weighted {', '.join(weights[:4])}{more}.")


def _has_spellings(frame: pl.DataFrame, recipe: ColumnRecipe) -> bool:
    """Whether words of a column are read as others: yes and no have a list of them even where each occurs once."""
    if not recipe.same:
        return recipe.same is not None
    words = cells(frame, recipe.name).drop_nulls()
    return words.n_unique() - len(recipe.missing) > len(recipe.values)


def _describe_doubtful_dates(frame: pl.DataFrame, recipes: Sequence[ColumnRecipe], notes: list[str]) -> None:
    """Say in which order days and months were read where both would do."""
    for recipe in recipes:
        column = cells(frame, recipe.name)
        if not recipe.format or column.dtype != pl.String:
            continue
        if (doubt := example_of_doubt(column, recipe.format)) is not None:
            example, format = doubt
            order, other = (
                ("day before month", "month") if is_day_first(format) else ("month before day", "day")
            )
            notes.append(
                f"Read {name_list([recipe.name])} ({isolate(example)}) with the {order}; the other order would fit "
                f"as well. (--type {shlex.quote(f'{recipe.name}={other}-first')} for that)"
            )


def n_gaps_of(frame: pl.DataFrame, recipe: ColumnRecipe) -> int:
    """The number of cells that are missing or hold a word for it."""
    column = cells(frame, recipe.name)
    return n_missing(column) + (int(column.is_in(recipe.missing).sum()) if recipe.missing else 0)


def _example(frame: pl.DataFrame, recipe: ColumnRecipe) -> str:
    """The name of a column and its longest cell among the first; empty where numbers are plain."""
    first = [str(word) for word in cells(frame, recipe.name).head(100).drop_nulls()]
    known = [word for word in first if word not in recipe.missing]
    if recipe.notation is not None and recipe.notation.group == ".":
        # Without a fraction behind it, the point could begin one, which would be another number.
        grouped = [word.strip() for word in known if re.fullmatch(_GROUPED, word)]
    else:
        grouped = []
    shown = max(grouped or known, key=len, default="")[:40]
    if grouped:
        shown += f" = {shown.replace('.', '')}"
    elif re.fullmatch(r"\s*[+-]?\d*\.?\d*\s*", shown):
        return ""
    return f"{isolate(repr(recipe.name))} ({isolate(shown)})"


def _describe_missing_words(
    frame: pl.DataFrame, recipes: Sequence[ColumnRecipe], notes: list[str], counted: bool
) -> None:
    used = [recipe for recipe in recipes if recipe.missing]
    for recipe in used[:4]:
        n = int(cells(frame, recipe.name).is_in(recipe.missing).sum())
        how_many = (
            f"{n} cell{'s' * (n != 1)} of {name_list([recipe.name])}" if counted else name_list([recipe.name])
        )
        words = name_list(recipe.missing)
        notes.append(
            f"Took {how_many} as missing: {words}." if counted else f"Took {words} in {how_many} as missing."
        )
    if used[4:]:
        notes.append(f"Took words as missing in {name_list([recipe.name for recipe in used[4:]])}.")
