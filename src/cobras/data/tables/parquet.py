"""Parquet in one file, in a folder of them or in all files that a pattern such as data/*.parquet names."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from cobras.core.exceptions import InvalidDataError

SUFFIX = ".parquet"


def part_files(path: Path) -> list[Path] | None:
    """The Parquet files of a path, in the order of their names; None where it holds something else."""
    if path.is_dir():
        return sorted(path.glob(f"*{SUFFIX}")) or None
    if path.suffix.lower() != SUFFIX:
        return None
    if path.is_file() or not has_pattern(path):
        return [path] if path.is_file() else None
    root = Path(path.anchor) if path.is_absolute() else Path()
    return sorted(p for p in root.glob(str(path.relative_to(path.anchor))) if p.is_file()) or None


def has_pattern(path: Path) -> bool:
    """Whether a path names many files at once.

    Examples
    --------
    >>> has_pattern(Path("data/*.parquet")), has_pattern(Path("data.parquet"))
    (True, False)
    """
    return any(sign in str(path) for sign in "*?[") and not path.exists()


def scan_parts(path: Path) -> list[pl.LazyFrame] | None:
    """The rows of each file, to be read when they are needed."""
    files = part_files(path)
    if files is None:
        return None
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
