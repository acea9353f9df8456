"""The options that say what the data is and how to ask, the same for every verb. Imports nothing heavy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

DataPath = Annotated[
    Path,
    typer.Argument(
        metavar="PATH",
        help="A table (.csv, .tsv, .parquet, .jsonl, .xlsx, .arrow, .npy, .npz), a folder of Parquet, images or "
        "texts, time series (.ts, or a table with --kind series), or a session file.",
    ),
]
SessionPath = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Where answers are kept. [default: beside the data, as NAME.cobras]"),
]
Label = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="A column with known classes: never used, never shown."),
]
Id = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column that names the rows.")]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="A column to leave out. May be repeated.")
]
Kind = Annotated[
    str | None, typer.Option(metavar="KIND", help="table, text, image or series. [default: guessed]")
]
TextColumn = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column that holds texts.")]
ImageColumn = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column that names image files.")]
Vectors = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Your own vectors, a row for each item, in place of the features."),
]
Features = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How to compare: efficientnet or pixels for images, lsi or sentences for texts, dtw, kshape or points "
        "for series. [default: the first that is installed]",
    ),
]

Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Let a dask cluster read and split Parquet files: tcp://host:8786, or local for this machine.",
    ),
]

MethodName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="adder, cobras, cobra, cobs, npu, explore_consolidate or min_max. [default: adder; cobras "
        "for series, on a cluster and beyond 200,000 rows]",
    ),
]
Seed = Annotated[int | None, typer.Option(metavar="N", help="The same seed asks the same questions.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="An option of the method, such as n_clusters=3. May be repeated."
    ),
]


class DataOptions(NamedTuple):
    """What was said about the data on the command line."""

    label: str | None = None
    id: str | None = None
    drop: list[str] | None = None
    kind: str | None = None
    text: str | None = None
    image: str | None = None
    vectors: Path | None = None
    features: str | None = None

    def given(self) -> dict[str, object]:
        """The options that were used, by name."""
        return {name: value for name, value in self._asdict().items() if value}


def is_session(path: Path) -> bool:
    """Whether a path is that of a session, not of data.

    Examples
    --------
    >>> is_session(Path("flowers.cobras"))
    True
    """
    return path.suffix == ".cobras" and not path.is_dir()


def session_file(path: Path, session: Path | None) -> Path:
    """Where the answers about a path are kept.

    Examples
    --------
    >>> print(session_file(Path("my/flowers.csv"), None))
    my/flowers.cobras
    >>> print(session_file(Path("s3://bucket/flowers/*.parquet"), None))
    flowers.cobras
    """
    if is_session(path):
        return path
    if session is not None:
        return session
    signs = ("*", "?", "[")
    plain = path
    while (
        any(sign in plain.name for sign in signs) and not plain.exists()
    ):  # many files: the folder they are in
        plain = plain.parent
    if re.match(r"[a-z][a-z0-9+.-]+:/", path.as_posix()) and not path.exists():  # an address
        return Path(f"{plain.stem or 'data'}.cobras")
    if plain.is_dir():
        named = plain if plain.name not in ("", "..") else plain.resolve()
        return named.with_name(f"{named.name or 'data'}.cobras")
    return plain.with_suffix(".cobras")
