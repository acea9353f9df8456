"""What a person sees of an item: cards, thumbnails, pictures and the columns in which two rows differ."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, Literal, TypeAlias

import numpy as np

from cobras.core.types import FloatArray, Pair
from cobras.data import Dataset, Photo, Picture, Series, Text
from cobras.data.dataset import value_text
from cobras.data.tables.columns import value_line
from cobras.web.api import models

Size: TypeAlias = Literal["small", "large"]
PIXELS: dict[Size, int] = {"small": 128, "large": 512}  # longest side of a picture
CELL = 2_000  # characters of a cell that are shown
TEXT = 20_000  # characters of a text that are shown
POINTS = 1_000  # points of a series that are drawn on a card
BRIEF, BRIEF_POINTS = 80, 64  # characters of a thumbnail's line, and points of its curve
SHORT, N_READ = 280, 50  # characters of a short text, and texts that are looked at to tell
COLUMNS = 500  # columns of a card, the most different ones


class Cards:
    """The cards of a data set; `run` goes into the addresses of pictures, so that no browser shows an old one."""

    def __init__(self, dataset: Dataset, run: str) -> None:
        self.dataset, self.run = dataset, run
        self._meaning = dataset.recipe.meanings()
        self.thumbnail = lru_cache(maxsize=10_000)(self._thumbnail)
        self.kind: models.Kind = self._card(0).kind

    @cached_property
    def short(self) -> bool:
        """Whether several items are seen at one look: pictures, or texts of which most are short."""
        rows = np.linspace(0, len(self.dataset) - 1, N_READ).astype(int)
        return self.kind == "image" or (
            self.kind == "text" and float(np.median([len(self.text(int(i))) for i in rows])) <= SHORT
        )

    def item(self, i: int) -> models.Item:
        """The card of row i."""
        return models.Item(**self.thumbnail(i).model_dump(), card=self._card(i))

    def _thumbnail(self, i: int) -> models.Thumbnail:
        brief = models.Thumbnail(i=i, id=str(self.dataset.ids[i]), text="")
        match self.dataset.show(i):
            case Picture() | Photo():
                brief.image = self._address(i, "small")
            case Series(channels=channels):
                brief.line = _scale(_thin(channels[0], BRIEF_POINTS))
            case Text(text=text):
                brief.text = truncate(" ".join(text[:TEXT].split()), BRIEF)
            case row:
                brief.text = self._summary(self._without_name(row.values))
        return brief

    def _card(self, i: int) -> models.Card:
        card = self.dataset.show(i)
        fields = [
            models.Cell(name=name, value=format_value(value)) for name, value in self._values(i).items()
        ]
        match card:
            case Picture(pixels=pixels):
                height, width = pixels.shape
                return models.ImageCard(src=self._address(i, "large"), width=width, height=height)
            case Photo():
                width, height = card.shape(PIXELS["large"])
                return models.ImageCard(
                    src=self._address(i, "large"), width=width, height=height, fields=fields
                )
            case Series(channels=channels):
                drawn = [_thin(channel, POINTS) for channel in channels]
                return models.SeriesCard(channels=drawn, length=channels.shape[1], fields=fields)
            case Text(text=text):
                return models.TextCard(text=text[:TEXT], cut=len(text) > TEXT, fields=fields)
        return models.TableCard(fields=fields)

    def columns(self, pair: Pair) -> list[models.Column] | None:
        """The columns of two rows, those that differ most first: by share of the range, or all or nothing.

        Where a value is missing, nothing is known about the difference: such a column comes after all others.
        """
        left, right = self._values(pair.i), self._values(pair.j)
        if not left:
            return None
        measured: dict[str, float] = {}
        # Features of tables are scaled to [0, 1] by the range of their column; those of other kinds are no columns.
        if self.kind == "table":
            left_row, right_row = self.dataset.features(np.array([pair.i, pair.j])).astype(float)
            apart = np.clip(np.abs(left_row - right_row), 0, 1)
            measured = dict(zip(self.dataset.columns, apart.tolist(), strict=True))
        found = []
        for name, value in left.items():
            a, b = format_value(value), format_value(right[name])
            missing = self._is_missing(name, a) or self._is_missing(name, b)
            found.append(
                models.Column(
                    name=name,
                    left=a,
                    right=b,
                    difference=0.0 if missing else measured.get(name, self._differ(name, a, b)),
                    measured=name in measured and not missing,
                    missing=missing,
                    used=name in self._weights,
                )
            )
        return sorted(found, key=lambda column: (column.missing, -column.difference))[:COLUMNS]

    def _differ(self, column: str, *values: str | None) -> float:
        """1 if values differ by more than spellings that are read as the same, else 0."""
        return float(len({self._meaning(column, value) for value in values}) > 1)

    @cached_property
    def _weights(self) -> dict[str, float]:
        """The columns that items are compared by, and their weights."""
        return {column.name: column.weight for column in self.dataset.recipe.columns or ()}

    def line(self, i: int, columns: Sequence[str]) -> str:
        """The values of row i in the first of some columns."""
        values = self._values(i)
        return _line(values[name] for name in columns)

    def text(self, i: int) -> str:
        """The text of row i; empty where items are not texts."""
        card = self.dataset.show(i)
        return card.text if isinstance(card, Text) else ""

    def picture(self, i: int, size: Size) -> tuple[bytes, str] | None:
        """The picture of row i as a file, and its media type, if it has one."""
        card = self.dataset.show(i)
        if isinstance(card, Photo):
            return card.thumbnail(PIXELS[size])
        return (png(card.pixels), "image/png") if isinstance(card, Picture) else None

    @cached_property
    def _is_missing(self) -> Callable[[str, Any], bool]:
        return self.dataset.recipe.gaps()

    def _values(self, i: int) -> Mapping[str, Any]:
        """The columns of row i besides its name, its text and its picture."""
        card = self.dataset.show(i)
        return {} if isinstance(card, Picture) else self._without_name(card.values)

    def _without_name(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        name = self.dataset.recipe.id
        return {column: value for column, value in values.items() if column != name}

    def _summary(self, values: Mapping[str, Any]) -> str:
        """One line about a row: a few values it is compared by, large weights first, words before numbers."""
        # A hundred columns are enough to find five: a row may have very many.
        shown = {name: value for name, value in values.items() if name in self._weights} or values
        some = [(name, value) for name, value in shown.items() if value is not None][:100]
        some.sort(key=lambda cell: (-self._weights.get(cell[0], 1.0), not self._is_word(*cell)))
        return _line(value for _, value in some)

    def _is_word(self, column: str, value: Any) -> bool:
        """Whether a value is neither a number nor a date, which may be written as text: 1.030,71 or 5.7.2022."""
        return isinstance(value, str) and column not in self._measured

    @cached_property
    def _measured(self) -> frozenset[str]:
        return frozenset(c.name for c in self.dataset.recipe.columns or () if c.kind != "category")

    def _address(self, i: int, size: Size) -> str:
        return f"api/image/{i}?size={size}&run={self.run}"


def png(pixels: FloatArray) -> bytes:
    r"""Return a grey picture (0 for paper, 1 for ink) as a PNG file, black on white.

    Examples
    --------
    >>> png(np.eye(8))[:8]
    b'\x89PNG\r\n\x1a\n'
    """
    from PIL import Image

    grey = (255 * (1 - np.clip(np.nan_to_num(pixels), 0, 1))).round().astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(grey).save(buffer, "PNG")
    return buffer.getvalue()


def _line(values: Iterable[Any]) -> str:
    """Return the first few values in one line; a gap is a dash."""
    texts = (" ".join((format_value(value) or "–").split()) for value in islice(values, 5))
    return truncate(value_line(texts), BRIEF)


def format_value(value: Any) -> str | None:
    """Return a value as text; None where it is missing.

    Examples
    --------
    >>> format_value(0.1 + 0.2), format_value(1821.96), format_value("red"), format_value(float("nan"))
    ('0.3', '1821.96', 'red', None)
    """
    # NaN is the only value that differs from itself.
    if value is None or value != value:
        return None
    return truncate(value_text(value), CELL)


def truncate(text: str, length: int) -> str:
    """Return at most so many characters of a text."""
    return text if len(text) <= length else text[: length - 1] + "…"


def _thin(values: FloatArray, n: int) -> list[float | None]:
    """Return at most n points, evenly spaced; a gap is None."""
    at = np.unique(np.linspace(0, len(values) - 1, min(n, len(values))).round().astype(int))
    return [float(v) if np.isfinite(v) else None for v in values[at]]


def _scale(line: list[float | None]) -> list[float | None]:
    """Return a line moved and stretched to [0, 1]; a constant one lies at 0."""
    known = [v for v in line if v is not None] or [0.0]
    low, extent = min(known), (max(known) - min(known)) or 1.0
    return [None if v is None else (v - low) / extent for v in line]
