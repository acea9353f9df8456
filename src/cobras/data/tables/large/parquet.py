"""Parquet files of one table, and delimited text larger than memory, which becomes Parquet in the user's cache.

A column of text gets the type that holds what each of its batches is found to be, by the rules for files that fit;
so everything is read twice. The Parquet files stay, under a name made of the file's path, size and time: the next
start is fast. One difference to files that fit: whole numbers beyond 64 bits make a column text, fractions or not.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.core.threads import on_all_cores
from cobras.data.cache import cache_folder
from cobras.data.tables.csv import Layout, empty_as_null, missing_as_null, parse_column
from cobras.data.tables.large.plain import check_widths, plain_layout

BATCH = 1 << 20  # cells that are looked at together


def scan_parquet_files(path: Path, files: Sequence[Path]) -> list[pl.LazyFrame] | None:
    """The rows of each Parquet file of a path, to be read when they are needed; None where one is damaged."""
    parts = [pl.scan_parquet(file, glob=False) for file in files]
    try:
        names = [part.collect_schema().names() for part in parts]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return None  # the usual reader says what is wrong with it
    if any(other != names[0] for other in names):
        raise InvalidDataError(
            f"The Parquet files of {path} have different columns; give those that belong together."
        )
    return parts


def convert_to_parquet(path: Path) -> list[Path] | None:
    """Write the rows of a delimited file as Parquet files, if needed; None where polars cannot read it."""
    found = plain_layout(path)
    if found is None:
        return None
    folder = _folder(path)
    if not folder.is_dir():
        try:
            _convert(found[0], folder)
        except pl.exceptions.PolarsError:
            return None  # the usual reader says what is wrong with it
        except OSError as error:
            raise InvalidDataError(
                f"{path.name} is too large to load, and cannot be kept as Parquet in {folder.parent}: "
                f"{error.strerror or error}. Make room there, or name another folder in XDG_CACHE_HOME."
            ) from error
    return sorted(folder.glob("*.parquet")) or None


def _folder(path: Path) -> Path:
    stat = path.stat()
    name = hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:16]
    return cache_folder() / "tables" / f"{name}-{stat.st_size}-{stat.st_mtime_ns}"


def _convert(layout: Layout, folder: Path) -> None:
    """Write all rows, then give the folder its name; the rows of an earlier state of the file are removed."""
    types, has_gaps = _types(layout)
    if has_gaps:
        check_widths(layout)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
        for number, batch in enumerate(_batches(layout)):
            whole = [_parse_as(column, dtype, layout) for column, dtype in zip(batch, types, strict=True)]
            pl.DataFrame(whole).write_parquet(Path(unfinished, f"{number:06}.parquet"))
        # The name begins with a hash of the path, so these are the states that the same file had before.
        for old in folder.parent.glob(f"{folder.name.partition('-')[0]}-*"):
            shutil.rmtree(old, ignore_errors=True)
        ready = Path(unfinished, "ready")
        ready.mkdir()
        for file in Path(unfinished).glob("*.parquet"):
            file.rename(ready / file.name)
        with contextlib.suppress(OSError):  # another process was faster
            ready.rename(folder)


def _batches(layout: Layout) -> Iterator[list[pl.Series]]:
    """All cells as text, some rows at a time; an empty cell is null."""
    width = len(layout.names)
    rows = pl.scan_csv(
        layout.path,
        separator=layout.delimiter,
        has_header=not layout.headless,
        infer_schema=False,
        glob=False,
    )
    for batch in rows.collect_batches(chunk_size=max(1, BATCH // width)):
        if batch.width != width:
            raise pl.exceptions.ShapeError(f"rows of {batch.width} cells below a header of {width}")
        yield [empty_as_null(cells, name) for name, cells in zip(layout.names, batch, strict=True)]


def _types(layout: Layout) -> tuple[list[type[pl.DataType]], bool]:
    """The type of every column, and whether the last one has gaps, which may hide a short row."""
    found: list[set[type[pl.DataType]]] = [set() for _ in layout.names]
    has_gaps = False
    for batch in _batches(layout):
        has_gaps = has_gaps or batch[-1].null_count() > 0
        typed = on_all_cores(partial(parse_column, delimiter=layout.delimiter), batch)
        for votes, (column, _), cells in zip(found, typed, batch, strict=True):
            if column.dtype != pl.String or missing_as_null(cells.alias("cells")).count():
                votes.add(column.dtype.base_type())
    return [_common(votes) for votes in found], has_gaps


def _common(votes: set[type[pl.DataType]]) -> type[pl.DataType]:
    if len(votes) == 1:
        return next(iter(votes))
    return pl.Float64 if votes == {pl.Int64, pl.Float64} else pl.String


def _parse_as(cells: pl.Series, dtype: type[pl.DataType], layout: Layout) -> pl.Series:
    if dtype == pl.String:
        return cells
    typed, _ = parse_column(cells, layout.delimiter)
    return (
        typed.cast(dtype) if typed.dtype != pl.String else pl.Series(cells.name, [None] * len(cells), dtype)
    )
