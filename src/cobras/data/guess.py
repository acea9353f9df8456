"""Which kind of data a path holds, guessed from what is there, and what a user may say instead."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from numbers import Real
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.data.items.tsfiles import guess_layout
from cobras.data.recipe import Recipe
from cobras.data.tables.columns import cells, check_names, name_list
from cobras.data.tables.dates import date_format, mixed_formats
from cobras.data.tables.files import IMAGES
from cobras.data.tables.names import names_rows
from cobras.data.tables.notation import number_notation

Kind: TypeAlias = Literal["table", "text", "image", "series"]
ColumnType: TypeAlias = Literal["number", "category", "text", "date", "day-first", "month-first"]
MOST = 1_000.0  # the largest weight of a column
LONG = 80  # characters from which on, on average, a column is one of texts to be read
PROSE = 40, 6  # characters and words of shorter texts, most words of which begin with no capital
N_SAMPLED = 1_000  # rows that a guess looks at
FEATURES = {
    **dict.fromkeys(("efficientnet", "shapes", "pixels"), "image"),
    **dict.fromkeys(("lsi", "sentences"), "text"),
    **dict.fromkeys(("dtw", "kshape", "points"), "series"),
}
FEW = 2  # numbers beside a text that do not make it a table; one beside a shorter one
FEWEST_TEXTS = 3  # that can be compared
FEWEST_WORDS = 2  # of a text, on average, where nothing else can be compared
N_FILES = 20  # names that show whether a column names images
N_FOLDERS = 20  # folders beside a table in which they are looked for
_LIKELY = ("images", "image", "img", "imgs", "photos", "pictures", "pics", "thumbnails", "files")


@dataclass(frozen=True, slots=True)
class Choices:
    """What a user says about the data, as in `read_dataset`; what is left out is guessed."""

    label: str | None = None
    id: str | None = None
    drop: Sequence[str] = ()
    kind: str | None = None
    text: str | None = None
    image: str | None = None
    vectors: str | os.PathLike[str] | None = None
    features: str | None = None
    sheet: str | None = None
    use: Sequence[str] = ()
    types: Mapping[str, str] | Iterable[tuple[str, str]] = ()
    weights: Mapping[str, float] | Iterable[tuple[str, float]] = ()

    def __post_init__(self) -> None:
        for option in ("drop", "use"):
            # One name is taken for that column, not for its letters.
            given = getattr(self, option)
            if not isinstance(given, (str, Iterable)):
                raise InvalidDataError(f"{option} is a list of names of columns, not {given!r}.")
            object.__setattr__(self, option, (given,) if isinstance(given, str) else tuple(given))
        for option in ("types", "weights"):
            if not isinstance(given := getattr(self, option), (Mapping, tuple, list)):
                raise InvalidDataError(
                    f"{option} is given by columns, as {{'price': ...}}, not as {given!r}."
                )
        object.__setattr__(self, "types", tuple(sorted(dict(self.types).items())))
        weights = {name: _checked_weight(name, weight) for name, weight in dict(self.weights).items()}
        # A weight of 1 says nothing.
        object.__setattr__(self, "weights", tuple(sorted(w for w in weights.items() if w[1] != 1)))
        for name, type in dict(self.types).items():
            if type not in get_args(ColumnType):
                raise InvalidDataError(
                    f"The type of column {name!r} must be one of {', '.join(get_args(ColumnType))}, not {type!r}."
                )
        if self.vectors is not None:
            # A session may be resumed from another folder.
            object.__setattr__(self, "vectors", str(Path(self.vectors).absolute()))
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
        typed = dict([*self.types, *self.weights])
        named = (self.label, self.id, *self.drop, *self.use, *typed, self.text, self.image)
        check_names(source, named, columns)
        if hidden := [name for name in typed if name in (self.label, self.id, *self.drop)]:
            raise InvalidDataError(
                f"Column {hidden[0]!r} is the label, the id or a dropped column, so it has no type and no weight; "
                "leave them out."
            )
        if both := [name for name in self.use if name in (self.label, self.id, *self.drop)]:
            raise InvalidDataError(
                f"Column {both[0]!r} cannot be both used and the label, the id or a dropped column."
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
        """Refuse features of another kind, and types and weights of columns that are not compared."""
        if (self.types or self.weights) and (kind != "table" or self.vectors is not None):
            raise InvalidDataError(
                "Types and weights are for the columns of a table, but "
                + (
                    f"the data is of kind {kind}; "
                    if kind != "table"
                    else "vectors of your own are compared; "
                )
                + "leave them out, or give the kind table."
            )
        if self.features is not None and FEATURES[self.features] != kind:
            raise InvalidDataError(
                f"Features {self.features!r} are for the kind {FEATURES[self.features]}, but the data is of kind "
                f"{kind}. Leave them out, or give another kind."
            )

    def recipe(self, **found: Any) -> Recipe:
        """The recipe of data that was read by these choices, with what was found out about it."""
        return Recipe(**{**asdict(self), **found})

    @property
    def hidden(self) -> list[str]:
        """The columns that are neither used nor shown."""
        return [*([] if self.label is None else [self.label]), *self.drop]

    def may_name(self, columns: Sequence[str]) -> list[str]:
        """The columns that may be taken for names of the rows: all that the user does not want to be used."""
        wanted = {*self.use, *dict(self.types), *dict(self.weights)}
        return [name for name in columns if name not in wanted]

    def usable(self, columns: Sequence[str]) -> list[str]:
        """The columns that may be used and shown."""
        hidden = {self.label, *self.drop}
        return [name for name in columns if name not in hidden]


def _checked_weight(name: str, weight: float) -> float:
    if isinstance(weight, bool) or not isinstance(weight, Real) or not 0 < weight <= MOST:
        raise InvalidDataError(
            f"The weight of column {name!r} must be a number above 0 and at most {MOST:.0f}, not {weight!r}; "
            "to leave the column out, drop it."
        )
    return float(weight)


def kind_of_table(path: Path, frame: pl.DataFrame, choices: Choices) -> tuple[Kind, str | None, str]:
    """The kind of a table's rows, the column that holds them if they are texts or images, and a note."""
    schema = frame.schema  # asked for once: it is built anew each time
    other = {name for name, type in dict(choices.types).items() if type != "text"}
    words = [
        name for name in choices.usable(frame.columns) if schema[name] == pl.String and name not in other
    ]
    if choices.kind in ("table", "series"):
        return choices.kind, None, ""  # type: ignore[return-value]
    if choices.image is not None or choices.kind == "image":
        column = choices.image or next((n for n in words if image_place(path, frame[n]) is not None), None)
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
                f"its columns are {name_list(frame.columns, 20)}."
            )
        return "text", column, ""
    return _guess(path, frame, choices, words)


def _guess(
    path: Path, frame: pl.DataFrame, choices: Choices, words: Sequence[str]
) -> tuple[Kind, str | None, str]:
    for name in words:
        if image_place(path, frame[name]) is not None:
            named = name_list([name])
            return "image", name, f"Read as images: {named} names them. (--kind table for the other columns)"
    longest = _longest(frame, words)
    hidden = {choices.label, choices.id, *choices.drop}
    numbers = [name for name, dtype in frame.schema.items() if dtype.is_numeric() and name not in hidden]
    if longest is not None and len(numbers) <= FEW + 3:
        numbers = [name for name in numbers if not names_rows(name, cells(frame, name))]
    n_numbers = len(numbers)
    if (
        longest is not None
        and frame.height >= FEWEST_TEXTS
        and (
            (n_numbers <= FEW and _length(frame[longest]) >= LONG)
            or (n_numbers < FEW and _is_prose(frame[longest]))
            or (not n_numbers and _is_all_there_is(frame, longest, choices.usable(frame.columns)))
        )
    ):
        named = name_list([longest])
        others = " (--kind table for the other columns)" if frame.width > 1 else ""
        return "text", longest, f"Read as texts: {named} holds them.{others}"
    other = (
        f"; --text {longest!r} for texts"
        if longest is not None and not n_numbers and _length(frame[longest]) > 20
        else ""
    )
    size = f"{frame.height} x {len(choices.usable(frame.columns))}"
    return "table", None, f"Read as a table of {size}. (--kind text, image or series if it is not{other})"


def holds_series(path: Path) -> bool:
    """Whether a file surely holds series: by its suffix .ts, or as a part of the UCR archive by its name."""
    suffix, name = path.suffix.lower(), path.stem.upper()
    has_name = name.endswith(("_TRAIN", "_TEST")) and suffix in ("", ".tsv", ".txt")
    return suffix == ".ts" or (has_name and guess_layout(path) == "ucr")


def image_place(path: Path, column: pl.Series) -> tuple[str, str] | None:
    """Where most of the images are that a column names, from the folder of its table, and what the names lack.

    They may lie in a folder beside the table, and the names may lack their suffix.
    """
    first = column.cast(pl.String).drop_nulls().unique(maintain_order=True).head(N_FILES).to_list()
    suffixes = {Path(name).suffix.lower() for name in first}
    if not first or any(not name.strip() or "\n" in name for name in first):
        return None
    if suffixes <= IMAGES:
        for folder in ("", *_folders(path)):
            if sum(_exists(path.parent / folder / name) for name in first) >= len(first) / 2:
                return folder, ""
    elif len(first) > 1 and suffixes.isdisjoint(IMAGES) and all(len(name.split()) == 1 for name in first):
        for folder in ("", *_folders(path)):
            for suffix in sorted(IMAGES):
                names = (path.parent / folder / f"{name}{suffix}" for name in first)
                if _exists(next(names)) and all(map(_exists, names)):
                    return folder, suffix
    return None


def _folders(path: Path) -> list[str]:
    """The folders beside a table, those first that are called after it or after images."""
    try:
        found = [entry.name for entry in os.scandir(path.parent) if entry.is_dir()]
    except OSError:
        return []
    likely = (path.stem.lower(), *_LIKELY)
    shown = [name for name in found if not name.startswith(".")]
    return sorted(shown, key=lambda name: (name.lower() not in likely, name))[:N_FOLDERS]


def _is_prose(column: pl.Series) -> bool:
    """Whether a column holds sentences: rather long, mostly different, and most words begin with no capital."""
    texts = column.head(N_SAMPLED).drop_nulls().to_list()
    words = [text.split() for text in texts]
    n_words = sum(map(len, words))
    if not texts or _length(column) < PROSE[0] or n_words < PROSE[1] * len(texts):
        return False
    plain = sum(word[0].isalpha() and not word[0].isupper() for some in words for word in some)
    return len(set(texts)) > 0.8 * len(texts) and plain > n_words / 2


def _is_all_there_is(frame: pl.DataFrame, name: str, usable: Sequence[str]) -> bool:
    """Whether a column holds some words per row, and rows cannot be compared by any other column."""
    texts = frame[name].head(N_SAMPLED).drop_nulls()
    if _may_compare(texts) or texts.str.count_matches(r"\S+").sum() < FEWEST_WORDS * len(texts):
        return False
    others = [other for other in usable if other != name]
    return not any(_may_compare(cells(frame, other).head(N_SAMPLED).drop_nulls()) for other in others)


def _may_compare(column: pl.Series) -> bool:
    """Whether rows may be compared by a column of a table: it holds something else than words that differ."""
    if column.dtype != pl.String or not len(column):
        return len(column) > 0 and not column.dtype.is_integer()  # whole numbers are names of the rows by now
    read = (number_notation, date_format, mixed_formats)
    return column.n_unique() <= len(column) / 2 or any(found(column) is not None for found in read)


def _exists(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or with a null character
        return False


def leads_out(folder: Path, name: Path) -> bool:
    """Whether a name in a table, by dots or a link, leads out of its folder; an absolute path is taken as it is."""
    try:
        return not name.is_absolute() and not (folder / name).resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # too long, with a null character, or a link to itself
        return False


def _length(column: pl.Series) -> float:
    """Characters per cell, on average of the first rows."""
    mean = column.head(N_SAMPLED).str.len_chars().mean()
    return float(mean or 0)  # type: ignore[arg-type]


def _longest(frame: pl.DataFrame, words: Sequence[str]) -> str | None:
    return max(words, key=lambda name: _length(frame[name]), default=None)
