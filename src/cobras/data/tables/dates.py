"""Dates that were written as text: which of the usual ways of writing them fits a whole column."""

from __future__ import annotations

import polars as pl

# Day before month where both fit; a time may follow a date.
_DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d %b %Y", "%b %d, %Y")
_TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S%.f", "T%H:%M", "T%H:%M:%S", "T%H:%M:%S%.f")
_ZONES = ("", "Z", "%#z")
FORMATS = tuple(f"{d}{t}{z}" for d in _DATES for t in _TIMES for z in (_ZONES if t else ("",)))
N_TRIED = 50  # cells that choose the formats worth trying on all


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
        if as_seconds(first, format).null_count() == 0 and (
            len(first) < N_TRIED or as_seconds(column.drop_nulls().unique(), format).null_count() == 0
        ):
            return format
    return None


def as_seconds(column: pl.Series, format: str) -> pl.Series:
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
