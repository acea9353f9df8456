"""Dates and times of day in columns of text: the formats in which they are written, one or several in a column."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from cobras.data.tables.notation import MISSING, words_among

# By hand, since polars' own guess of a format finds a third of these. Day before month where both fit. Years of two
# digits come last: %Y takes them for the first century.
_DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d %b %Y", "%b %d, %Y")
_OTHERS = (
    "%Y.%m.%d",
    "%m-%d-%Y",
    "%d-%b-%Y",
    "%d. %B %Y",
    "%d %B %Y",
    "%B %d, %Y",
    "%B %d %Y",
    "%b %Y",
    "%B %Y",
)
_SHORT = ("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%d-%b-%y", "%d %b %y")
_TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S%.f", "T%H:%M", "T%H:%M:%S", "T%H:%M:%S%.f")
_CLOCKS = (" %I:%M %p", " %I:%M:%S %p")
_ZONES = ("", "Z", "%#z")
_OF_DAY = ("%H:%M", "%H:%M:%S", "%H:%M:%S%.f", "%I:%M %p", "%I:%M:%S %p")
FORMATS = (
    *(f"{d}{t}{z}" for d in _DATES for t in _TIMES for z in (_ZONES if t else ("",))),
    *(f"{d}{t}" for d in _DATES for t in _CLOCKS),
    *(f"{d}{t}" for d in (*_OTHERS, *_SHORT) for t in ("", " %H:%M", " %H:%M:%S")),
    *_OF_DAY,
)
# Formats in which the month is not before the day, or the day not before the month, unless the year comes first.
ORDERS = {
    "date": FORMATS,
    "day-first": tuple(f for f in FORMATS if f.startswith("%Y") or "%d" not in f.partition("%m")[2]),
    "month-first": tuple(f for f in FORMATS if f.startswith("%Y") or "%m" not in f.partition("%d")[2]),
}
N_TRIED = 50  # cells that choose the formats worth trying on all
N_MIXED = 1_000  # different cells that choose the formats of a column that has several
MOST = 6  # formats of a column
# What every date in these formats is made of. Without this look, a column of other words that hold digits costs a
# tenth of a second: all formats are tried on it in vain.
_MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_LIKE_A_DATE = rf"(?i)^\s*(\d|{_MONTH})([\d\s:/.,+\-\u{{2212}}]|{_MONTH}|[ap]m|[tz])*$"


def date_format(column: pl.Series, formats: Sequence[str] = FORMATS) -> str | None:
    """The format in which every cell of a text column is a date, or None.

    Examples
    --------
    >>> date_format(pl.Series(["2020-01-31", None])), date_format(pl.Series(["1/31/2020"]))
    ('%Y-%m-%d', '%m/%d/%Y')
    >>> date_format(pl.Series(["31 red", "2020-01-31"]))
    """
    first = column.drop_nulls().head(N_TRIED)
    if len(first) == 0 or not first.str.contains(_LIKE_A_DATE).all():
        return None
    for format in formats:
        if _fit(first, format).all() and (
            len(first) < N_TRIED or _fit(column.drop_nulls().unique(), format).all()
        ):
            return format
    return None


def mixed_formats(column: pl.Series, formats: Sequence[str] = FORMATS) -> tuple[str, tuple[str, ...]] | None:
    """The formats of a column of dates written in several ways, joined by "|", and the words among them.

    Examples
    --------
    >>> mixed_formats(pl.Series(["2020-01-31", "31/01/2020", "Jan 31, 2020", "unknown"]))
    ('%Y-%m-%d|%d/%m/%Y|%b %d, %Y', ('unknown',))
    """
    first = _without_missing(column.head(20 * N_TRIED).drop_nulls().unique(maintain_order=True)).head(N_TRIED)
    if len(first) == 0 or not first.str.contains(_LIKE_A_DATE).mean() >= 0.8:  # type: ignore[operator]
        return None
    distinct = column.drop_nulls().unique(maintain_order=True)
    cells = _without_missing(distinct).head(N_MIXED)
    fits = {format: _fit(cells, format) for format in formats}
    chosen: list[str] = []
    while len(chosen) < MOST:
        best = max(formats, key=lambda format: fits[format].sum())  # of equal ones the first
        if not fits[best].any():
            break
        if not chosen:  # a time of day is no date
            formats = [format for format in formats if (format in _OF_DAY) == (best in _OF_DAY)]
        chosen.append(best)
        fits = {format: fits[format] & ~fits[best] for format in formats}
    if not chosen:
        return None
    # In the order of all formats, so that a cell which two of them fit is read as in a column of one format.
    format = "|".join(sorted(chosen, key=FORMATS.index))
    words = words_among(column, distinct, seconds(distinct, format))
    return None if words is None else (format, words)


def example_of_doubt(column: pl.Series, format: str) -> tuple[str, str] | None:
    """A cell that would be another date with month before day, where every such cell would be one, and its format.

    None if there is no doubt, or if other cells of the column have no such format.

    Examples
    --------
    >>> example_of_doubt(pl.Series(["01/02/2024", "03/04/2024"]), "%d/%m/%Y")
    ('01/02/2024', '%d/%m/%Y')
    >>> example_of_doubt(pl.Series(["01/02/2024", "31/03/2024"]), "%d/%m/%Y")
    >>> example_of_doubt(pl.Series(["2024-02-01"]), "%Y-%m-%d")
    """
    distinct = column.drop_nulls().unique(maintain_order=True).head(N_MIXED)
    for one in format.split("|"):
        swapped = one.replace("%d", "%?").replace("%m", "%d").replace("%?", "%m")
        # With the year first, nobody writes the day before the month.
        if swapped == one or swapped not in FORMATS or "%m" not in one or one.startswith("%Y"):
            continue
        mine = distinct.filter(_fit(distinct, one))
        others = seconds(mine, swapped)
        if len(mine) and others.is_not_null().all() and (differ := others != seconds(mine, one)).any():
            order = "month-first" if is_day_first(one) else "day-first"
            return (str(mine.filter(differ)[0]), one) if mixed_formats(column, ORDERS[order]) else None
    return None


def is_time_of_day(dtype: pl.DataType, format: str | None) -> bool:
    """Whether a column of dates holds times of day only.

    Examples
    --------
    >>> is_time_of_day(pl.Time(), ""), is_time_of_day(pl.String(), "%H:%M"), is_time_of_day(pl.Date(), "")
    (True, True, False)
    """
    return dtype == pl.Time if not format else all(one in _OF_DAY for one in format.split("|"))


def is_day_first(format: str) -> bool:
    """Whether the day is before the month in a format that has both."""
    return format.index("%d") < format.index("%m")


def _without_missing(words: pl.Series) -> pl.Series:
    return words.filter(~words.str.strip_chars().str.to_lowercase().is_in(list(MISSING)))


def _fit(cells: pl.Series, format: str) -> pl.Series:
    """Which cells are dates in a format; a year of four digits is not met by fewer."""
    fits = seconds(cells, format).is_not_null()
    return fits & cells.str.contains(r"\d{4}") if "%Y" in format else fits


def seconds(column: pl.Series, format: str) -> pl.Series:
    """Seconds since 1970, or midnight, as float64; null where a cell is no such date. "" is for real dates.

    Examples
    --------
    >>> seconds(pl.Series(["1:30", " 14:30"]), "%H:%M").to_list()
    [5400.0, 52200.0]
    """
    if format in _OF_DAY:
        # Minutes have two digits: 3:1 is a score.
        clocks = column.set(~column.str.contains(r"^\s*\d\d?:\d\d").fill_null(False), None)
        return seconds("1970-01-01 " + clocks.str.strip_chars(), f"%Y-%m-%d {format}").alias(column.name)
    if "|" in format:
        found = pl.Series(column.name, [None] * len(column), pl.Float64)
        for one in format.split("|"):
            moments = seconds(column, one)
            # Other than where all cells have one format, a year of two digits must not pass for one of four.
            fits = moments.is_not_null() & (column.str.contains(r"\d{4}") if "%Y" in one else True)
            found = found.zip_with(found.is_not_null() | ~fits.fill_null(False), moments)
        return found
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
