"""Numbers in columns of text: thousands separators, currencies, percent, units, brackets for negative ones.

A column is one of numbers if nearly all of its cells are, in one way of writing: words that usually stand for a gap
may occur at will, other words in a tenth of the cells at most. The way of writing and the words go into the recipe.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import polars as pl

from cobras.data.recipe import Notation

N_TRIED = 50  # cells that show whether a column is worth looking at as a whole
N_STYLES = 2_000  # different cells that tell how numbers are written
RARE = 0.1  # the share of other words, of the cells and of the different values
LONGEST = 15  # digits that a number of double precision holds; a longer one is a code
FEWEST_GROUPED = 3  # different cells such as 1.234 that show points to separate thousands
# fmt: off
MISSING = frozenset(
    (
        "", "-", "--", "---", "–", "—", ".", "..", "...", "?", "??", "na", "n/a", "n.a.", "n.a", "#n/a", "#na",
        "<na>", "nan", "null", "none", "nil", "unknown", "unk", "missing", "undefined", "unspecified",
        "unavailable", "tbd", "tba", "not available", "not applicable", "not known", "not given", "not recorded",
        "no data", "no answer", "#value!", "#div/0!", "#ref!", "#num!", "#name?", "(blank)", "(none)", "(null)",
        "[null]", "unbekannt", "k.a.", "k. a.", "inconnu", "desconocido", "sin datos",
    )
)
# Those that stand for a gap among words, too: signs, and others. "unknown" and "none" may be categories there.
SIGNS = frozenset(("", "-", "--", "---", "–", "—", ".", "..", "...", "?", "??"))
ABSENT = frozenset(
    (
        "na", "n/a", "n.a.", "n.a", "#n/a", "#na", "<na>", "nan", "null", "not available", "no data", "#value!",
        "#div/0!", "#ref!", "#num!", "#name?", "(blank)", "(null)", "[null]", "k.a.", "k. a.",
    )
)
# fmt: on
# The decimal mark and what separates thousands; of two that fit all cells, the first.
STYLES = ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
_CODES = (
    "usd|eur|gbp|chf|jpy|cny|inr|aud|cad|nzd|sek|nok|dkk|pln|czk|huf|rub|brl|zar|mxn|sgd|hkd|krw|try|ils|aed"
)
_PREFIX = rf"(?:(?:us|a|c|r|nz|hk|s)?\p{{Sc}}|{_CODES})\.?"
_SUFFIX = r"""[\p{L}\p{Sc}%‰°′″"µ][\p{L}\p{Sc}%‰°./²³µ ]{0,14}"""
_ALIASES = {"usd": "$", "us$": "$", "dollar": "$", "eur": "€", "euro": "€", "gbp": "£", "inr": "₹"}
_ALIASES |= {"percent": "%", "pct": "%", "hrs": "h", "hr": "h", "hour": "h", "mins": "min", "minute": "min"}
_ALIASES |= {"sec": "s", "second": "s", "lbs": "lb", "metre": "m", "meter": "m", "day": "d"}
# Units that may stand beside each other in a column, with their factors.
_FAMILIES: tuple[dict[str, float], ...] = (
    {"mg": 1e-3, "g": 1, "kg": 1e3, "t": 1e6},
    {"oz": 1, "lb": 16},
    {"mm": 1, "cm": 10, "m": 1e3, "km": 1e6},
    {"ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400},
    {"b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12},
    {"": 1, "k": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "million": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9},
)
# Currencies of countries where points separate thousands; prices such as $1.609 have three digits behind the point.
_POINTED = frozenset(
    (
        "€",
        "chf",
        "r$",
        "brl",
        "dkk",
        "sek",
        "nok",
        "kr",
        "pln",
        "zł",
        "czk",
        "kč",
        "huf",
        "rub",
        "₽",
        "try",
        "₺",
    )
)
_GROUPED = r"^[^\d.,]*[1-9]\d{0,2}(\.\d{3})+[^\d.,]*$"
_SHORT = r"^[^\d.,]*\d{1,3}[^\d.,]*$"
# Other digits, signs and spaces, and marks that only tell the direction of writing.
_OTHERS = {chr(zero + k): str(k) for zero in (0x660, 0x6F0, 0xFF10) for k in range(10)}
_OTHERS |= dict.fromkeys("\u2212\ufe63\uff0d", "-") | dict.fromkeys("\xa0\u202f\u2009\u2007", " ")
_OTHERS |= {"\u066b": ".", "\u066c": ",", "\u066a": "%", "\u2019": "'"}
_OTHERS |= dict.fromkeys("\u200e\u200f\u061c\u202a\u202b\u202c\u2066\u2067\u2068\u2069\ufeff", "")


def gap_words(folded: Sequence[str]) -> frozenset[str]:
    """The words that stand for a gap among the words of a column, all in lower case.

    A sign is a word where others are signs, as `+` beside `-`; `na` is one where all words are as short: codes of
    countries.

    Examples
    --------
    >>> [sorted(gap_words(words)) for words in (["red", "n/a", "-", "none"], ["+", "-"], ["de", "na"])]
    [['-', 'n/a'], [], []]
    """
    found = (SIGNS | ABSENT).intersection(folded)
    others = [word for word in folded if word not in found]
    if not all(any(map(str.isalnum, word)) for word in others):
        found -= SIGNS - {""}
    return found - {"na"} if all(len(word) <= len("na") for word in others) else found


def number_notation(
    column: pl.Series, asked: bool = False, points: bool = False
) -> tuple[Notation, tuple[str, ...]] | None:
    """How the numbers of a text column are written, and the words among them; None where it is one of words.

    Where numbers were `asked` for, codes such as 007 are some, and up to half of the cells may be words. `points`
    may separate thousands also in numbers without a currency.

    Examples
    --------
    >>> number_notation(pl.Series(["$1,234.50", "($7)", "unknown", None]))
    (Notation(decimal='.', group=',', units=(('$', 1.0), ('', 1.0))), ('unknown',))
    >>> number_notation(pl.Series(["007", "008"]))
    """
    first = column.head(20 * N_TRIED).drop_nulls().unique(maintain_order=True).head(N_TRIED)
    known = [word for word in map(_plain, first.to_list()) if word.casefold() not in MISSING]
    if not asked and sum(_may_be_number(word) for word in known) < max(1, (1 - 2 * RARE) * len(known)):
        return None
    distinct = column.drop_nulls().unique(maintain_order=True)
    found = _best_notation(distinct.head(N_STYLES), points)
    if found is None:
        return None
    numbers = parse_numbers(distinct, found)
    if not asked and (numbers.drop_nulls().n_unique() < 2 or _has_codes(distinct)):
        return None
    words = words_among(column, distinct, numbers, 0.5 if asked else RARE)
    return None if words is None else (found, words)


def words_among(
    column: pl.Series, distinct: pl.Series, parsed: pl.Series, at_most: float = RARE
) -> tuple[str, ...] | None:
    """The words of a column that are no values, the most frequent ones first; None where they are too many.

    `distinct` are the different cells of the column, `parsed` is null where one of them is no value.
    """
    others = distinct.filter(parsed.is_null())
    if not len(others):
        return ()
    counts = column.filter(column.is_in(others.implode())).alias("word").value_counts(name="n")
    counts = counts.sort(["n", "word"], descending=[True, False])  # the same recipe for the same file
    words = counts.to_series(0).to_list()
    odd = [_plain(word).casefold() not in MISSING for word in words]
    n_odd = sum(n for n, is_odd in zip(counts.to_series(1).to_list(), odd, strict=True) if is_odd)
    n_values = len(distinct) - len(others)
    if sum(odd) > at_most * n_values or n_odd > at_most * (len(column) - column.null_count()):
        return None
    return tuple(words)


def parse_numbers(cells: pl.Series, notation: Notation) -> pl.Series:
    """The numbers of cells of text; null where a cell is none.

    Examples
    --------
    >>> euros = Notation(",", ".", (("€", 1), ("", 1)))
    >>> parse_numbers(pl.Series(["1.234,5 €", "-7", "(3 €)", "x"]), euros).to_list()
    [1234.5, -7.0, -3.0, None]
    """
    parts = _parts(cells, notation.decimal, notation.group)
    factors = dict(notation.units)
    unit = parts["unit"].replace_strict(
        list(factors), list(factors.values()), default=None, return_dtype=pl.Float64
    )
    return (parts["number"] * unit).alias(cells.name)


def has_points_in_thousands(cells: pl.Series) -> bool:
    """Whether points separate thousands: 1.234 and 12.500 stand beside 950, and nothing says otherwise.

    As fractions, 950 would be 950.000, or others would have one or two digits behind the point.

    Examples
    --------
    >>> has_points_in_thousands(pl.Series(["950", "1.234", "12.500", "7.080"]))
    True
    >>> has_points_in_thousands(pl.Series(["950", "1.234", "12.5", "0.080"]))
    False
    """
    if any(
        not re.match(rf"{_GROUPED}|{_SHORT}|\D*$", cell) for cell in cells.head(N_TRIED).to_list() if cell
    ):
        return False  # as most columns show at once
    distinct = cells.drop_nulls().unique()
    with_digits = distinct.filter(distinct.str.contains(r"\d"))
    grouped, short = with_digits.str.contains(_GROUPED), with_digits.str.contains(_SHORT)
    return bool(
        grouped.sum() >= FEWEST_GROUPED
        and (grouped | short).all()
        and with_digits.filter(short).str.contains(r"\d{3}").any()
    )


def _plain(word: str) -> str:
    return re.sub(r"\s+", " ", word.translate(_TABLE)).strip()


_TABLE = str.maketrans(_OTHERS)


def _may_be_number(word: str) -> bool:
    """Whether a word holds a digit and few letters: quicker than all styles."""
    return any(sign.isdigit() for sign in word) and sum(sign.isalpha() for sign in word) <= 15


def _has_codes(distinct: pl.Series) -> bool:
    """Whether cells are codes: digits that begin with a 0 that is not needed, or too many of them."""
    return bool(distinct.str.contains(rf"^\s*[+-]?(0\d|\d{{{LONGEST + 1},}}\s*$)").any())


def _best_notation(distinct: pl.Series, points: bool) -> Notation | None:
    """The style in which most cells are numbers, with the units of most of them."""
    best, most = None, 0
    is_grouped = has_points_in_thousands(distinct) and _may_group(distinct, points)
    for decimal, group in STYLES[1:2] if is_grouped else STYLES:
        parts = _parts(distinct, decimal, group)
        counts = dict(parts.drop_nulls("number")["unit"].value_counts().iter_rows())
        units = _common_units(counts)
        n = sum(counts.get(unit, 0) for unit in units)
        if n > most:
            best, most = Notation(decimal, group, tuple(units.items())), n
    return best


def _may_group(distinct: pl.Series, points: bool) -> bool:
    """Whether points may separate thousands, by the units: with kg or $, 1.234 is a little more than one."""
    units = set(_parts(distinct, ",", ".").drop_nulls("number")["unit"])
    return points if units <= {""} else units <= _POINTED | {""}


def _common_units(counts: dict[str, int]) -> dict[str, float]:
    """The units that can be compared with each other and that most cells have."""
    choices: list[dict[str, float]] = []
    for unit in counts:
        # A number without a unit has that of the others, where they have but one; 5m may be metres or millions.
        choices.append({unit: 1.0} if unit == "m" else {unit: 1.0, "": 1.0})
    for family in _FAMILIES:
        found = {unit: float(family[unit]) for unit in counts if unit in family}
        if len(found) > 1 and set(found) != {"", "m"}:
            choices.append(found)
    return max(choices, key=lambda units: sum(counts.get(unit, 0) for unit in units), default={"": 1.0})


@cache
def _pattern(decimal: str, group: str) -> str:
    mark, between = re.escape(decimal), re.escape(group)
    thousands = rf"[1-9]\d{{0,2}}(?:{between}\d{{3}})+"
    if group == ",":
        thousands += rf"|[1-9]\d?(?:{between}\d{{2}})+{between}\d{{3}}"  # as in India
    number = rf"(?:{thousands}|\d+)(?:{mark}\d+)?|{mark}\d+"
    sign = r"[+-]"
    return (
        rf"(?i)^(?P<open>\()?\s*(?P<before>{sign})?\s*(?P<prefix>{_PREFIX})?\s*(?P<after>{sign})?\s*"
        rf"(?P<number>(?:{number})(?:e[+-]?\d+)?{mark}?)\s*(?P<suffix>{_SUFFIX})?\s*(?P<close>\))?(?P<last>-)?$"
    )


def _parts(cells: pl.Series, decimal: str, group: str) -> pl.DataFrame:
    """The number and the unit of each cell; both are null where it is no number in this style."""
    text = cells.alias("cells").str.strip_chars()
    if (text.str.len_bytes() != text.str.len_chars()).any():
        text = text.str.replace_many(_OTHERS).str.strip_chars()
    found = text.str.extract_groups(_pattern(decimal, group)).struct.unnest()
    digits = found["number"].str.replace_all(group, "", literal=True).str.replace(decimal, ".", literal=True)
    value = digits.str.strip_suffix(".").cast(pl.Float64, strict=False)
    signs = [found[name].fill_null("") == "-" for name in ("before", "after", "last")]
    opened, closed = found["open"].is_not_null(), found["close"].is_not_null()
    negative = signs[0] | signs[1] | signs[2] | opened
    twice = (
        signs[0].cast(pl.Int8) + signs[1].cast(pl.Int8) + signs[2].cast(pl.Int8) + opened.cast(pl.Int8)
    ) > 1
    value = value.set(twice | (opened != closed) | ~value.is_finite().fill_null(False), None)
    unit = _units(found["prefix"].fill_null("") + found["suffix"].fill_null(""))
    return pl.DataFrame({"number": value * (1 - 2 * negative.cast(pl.Float64)), "unit": unit})


def _units(column: pl.Series) -> pl.Series:
    """Units in lower case, without dots at the end, plural and other names."""
    known: Sequence[str] = column.unique().to_list()
    return column.replace_strict(known, [_unit(word) for word in known], return_dtype=pl.String)


def _unit(word: str) -> str:
    word = word.casefold().strip(" .")
    single = word.removesuffix("s") if len(word) > 3 else word
    return _ALIASES.get(word) or _ALIASES.get(single) or single
