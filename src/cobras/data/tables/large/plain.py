"""Large files of delimited text in plain UTF-8, which polars reads without a copy of the text in Python."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from cobras.data.tables.csv import (
    Layout,
    ShortNote,
    empty_as_null,
    find_layout,
    has_thousands,
    parse_cells,
    read_cells,
    rows_of_width,
)

SAMPLE = 1 << 18  # bytes that tell the layout of a large file, and which columns are fractions


def plain_layout(path: Path, above: int | None = None) -> tuple[Layout, str] | None:
    """Return the layout of a large file and its first lines; None where these are not plain UTF-8, or no table."""
    with path.open("rb") as file:
        head = file.read(SAMPLE)
    lines, newline, _ = head.rpartition(b"\n")
    try:
        text = lines.decode()
    except UnicodeDecodeError:
        return None
    if not newline or text.startswith("\ufeff") or "\0" in text or text[:1] in "\r\n":
        return None
    layout = find_layout(path, text, False, above)
    return None if layout.above else (layout, text)


def read_plain(path: Path, above: int | None, points: bool) -> tuple[Layout, list[pl.Series]] | None:
    """Read a large file without a copy of its text: columns that begin as fractions are read as such at once.

    None where the file is not plain UTF-8, polars does not follow its rows or short notes stand below them; then it
    is read exactly.
    """
    if (found := plain_layout(path, above)) is None:
        return None
    layout, text = found
    sample, _ = read_cells(layout, text)
    is_fraction = [
        parse_cells(cells.alias("cells")).dtype == pl.Float64
        and not (points and has_thousands(cells, layout.delimiter))
        for cells in sample
    ]
    dtypes = [pl.Float64 if fraction else pl.String for fraction in is_fraction]
    read = partial(
        pl.read_csv, path, separator=layout.delimiter, has_header=not layout.headless, infer_schema=False
    )
    try:
        try:
            frame, whole = read(schema_overrides=dtypes), True
        except pl.exceptions.PolarsError:  # a word in a column of fractions, or worse
            frame, whole = read(schema_overrides=dtypes, ignore_errors=True), False
        if frame.width != len(dtypes):
            return None
        columns = frame.get_columns()
        for k, column in enumerate(columns):
            # What is null was empty or, if anything went wrong, no number; nothing may be lost.
            if dtypes[k] == pl.Float64 and (
                not np.isfinite(float(column.sum())) or (column.null_count() and not whole)
            ):
                columns[k] = read(columns=[k]).to_series()
    except pl.exceptions.PolarsError:
        return None
    del frame
    below: list[ShortNote] = []
    if columns[-1].null_count():
        check_widths(layout, below)
    if below:
        return None
    named = zip(layout.names, columns, strict=True)
    return layout, [c.alias(n) if c.dtype == pl.Float64 else empty_as_null(c, n) for n, c in named]


def check_widths(layout: Layout, below: list[ShortNote] | None = None) -> None:
    """Refuse a file with rows of another width than the header's; polars fills up short ones.

    Short notes at the end are added to `below`, or refused where it is not given.
    """
    with layout.path.open(encoding="utf-8", newline="") as file:
        for _ in rows_of_width(layout, file, below):
            pass
