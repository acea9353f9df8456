"""Which kind of data a path holds, guessed from what is there, and what a user may say instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.data.recipe import Recipe
from cobras.data.tables.columns import listed

Kind: TypeAlias = Literal["table", "text", "image", "series"]
IMAGES = frozenset(
    {".png", ".jpg", ".jpeg", ".webp", ".gif", ".tif", ".tiff", ".pgm", ".ppm", ".pbm", ".bmp"}
)
TEXTS = frozenset({".txt", ".md", ".text", ".rst", ".tex", ".html", ".htm", ".eml", ".log"})
LONG = 80  # characters from which on, on average, a column is one of texts to be read
N_SAMPLED = 1_000  # rows that a guess looks at
FEATURES = {
    **dict.fromkeys(("efficientnet", "pixels"), "image"),
    **dict.fromkeys(("lsi", "sentences"), "text"),
    **dict.fromkeys(("dtw", "kshape", "points"), "series"),
}
FEW = 2  # numbers beside a text that do not make it a table


@dataclass(frozen=True, slots=True)
class Choices:
    """What a user says about the data; what is left out is guessed."""

    label: str | None = None
    id: str | None = None
    drop: tuple[str, ...] = ()
    kind: str | None = None
    text: str | None = None
    image: str | None = None
    vectors: str | None = None
    features: str | None = None

    def __post_init__(self) -> None:
        if self.kind is not None and self.kind not in get_args(Kind):
            raise InvalidDataError(f"kind must be one of {', '.join(get_args(Kind))}, not {self.kind!r}.")
        if self.features is not None and self.features not in FEATURES:
            raise InvalidDataError(f"features must be one of {', '.join(FEATURES)}, not {self.features!r}.")
        if self.text is not None and self.image is not None:
            raise InvalidDataError("Give either a column of texts or one of images, not both.")
        for column, kind in ((self.text, "text"), (self.image, "image")):
            if column is not None and self.kind not in (None, kind):
                raise InvalidDataError(f"A column of {kind}s goes with kind {kind}, not {self.kind}.")

    def check(self, source: str, columns: Sequence[str]) -> None:
        """Refuse the names of columns that do not exist or contradict each other."""
        for name in (self.label, self.id, *self.drop, self.text, self.image):
            if name is not None and name not in columns:
                raise InvalidDataError(
                    f"{source} has no column {name!r}; its columns are {listed(columns, 20)}."
                )
        if self.label is not None and self.label in (self.id, *self.drop):
            raise InvalidDataError(
                f"Column {self.label!r} cannot be both the label and the id or a dropped column."
            )
        shown = self.text or self.image
        if shown is not None and shown in (self.label, *self.drop):
            raise InvalidDataError(
                f"Column {shown!r} cannot be both what is compared and the label or a dropped column."
            )

    def check_features(self, kind: str) -> None:
        """Refuse features of another kind."""
        if self.features is not None and FEATURES[self.features] != kind:
            raise InvalidDataError(
                f"Features {self.features!r} are for the kind {FEATURES[self.features]}, but the data is of kind "
                f"{kind}. Leave them out, or give another kind."
            )

    def recipe(self, **found: Any) -> Recipe:
        """The recipe of data that was read by these choices, with what was found out about it."""
        return Recipe(**{**asdict(self), **found})

    def open_columns(self, columns: Sequence[str]) -> list[str]:
        """The columns that may be used and shown."""
        hidden = {self.label, *self.drop}
        return [name for name in columns if name not in hidden]


def kind_of_table(path: Path, frame: pl.DataFrame, choices: Choices) -> tuple[Kind, str | None, str]:
    """The kind of a table's rows, the column that holds them if they are texts or images, and a note."""
    schema = frame.schema  # asked for once: it is built anew each time
    words = [name for name in choices.open_columns(frame.columns) if schema[name] == pl.String]
    if choices.kind in ("table", "series"):
        return choices.kind, None, ""  # type: ignore[return-value]
    if choices.image is not None or choices.kind == "image":
        column = choices.image or next((n for n in words if names_images(path.parent, frame[n])), None)
        if column is None:
            raise InvalidDataError(
                f"No column of {path.name} names image files that exist; give the column by image, or other files."
            )
        return "image", column, ""
    if choices.text is not None or choices.kind == "text":
        column = choices.text or _longest(frame, words)
        if column is None or frame.schema[column] != pl.String:
            raise InvalidDataError(
                f"{path.name} has no column of texts{'' if column is None else f' called {column!r}'}; "
                f"its columns are {listed(frame.columns, 20)}."
            )
        return "text", column, ""
    return _guess(path, frame, choices, words)


def _guess(
    path: Path, frame: pl.DataFrame, choices: Choices, words: Sequence[str]
) -> tuple[Kind, str | None, str]:
    for name in words:
        if names_images(path.parent, frame[name]):
            return "image", name, f"Read as images: {name!r} names them. (--kind table for the other columns)"
    n_numbers = sum(
        dtype.is_numeric() and name not in (choices.label, choices.id, *choices.drop)
        for name, dtype in frame.schema.items()
    )
    longest = _longest(frame, words)
    if longest is not None and _length(frame[longest]) >= LONG and n_numbers <= FEW:
        return "text", longest, f"Read as texts: {longest!r} holds them. (--kind table for the other columns)"
    other = f"; --text {longest!r} for texts" if longest is not None and n_numbers == 0 else ""
    n = len(choices.open_columns(frame.columns))
    return (
        "table",
        None,
        f"Read as a table of {frame.height} x {n}. (--kind text, image or series if it is not{other})",
    )


def names_images(folder: Path, column: pl.Series) -> bool:
    """Whether a column's words are names of image files, most of which exist."""
    first = column.drop_nulls().head(20).to_list()
    if not first or not all(Path(name).suffix.lower() in IMAGES for name in first):
        return False
    return sum(_exists(folder / name) for name in first) >= len(first) / 2


def _exists(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or with a null character
        return False


def _length(column: pl.Series) -> float:
    """Characters per cell, on average of the first rows."""
    mean = column.head(N_SAMPLED).str.len_chars().mean()
    return float(mean or 0)  # type: ignore[arg-type]


def _longest(frame: pl.DataFrame, words: Sequence[str]) -> str | None:
    return max(words, key=lambda name: _length(frame[name]), default=None)
