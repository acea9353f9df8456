"""What a person sees of an item: cards, thumbnails and the columns in which two rows differ."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np

from cobras.core.types import FloatArray, Pair
from cobras.data import Dataset, Photo, Picture, Series, Text
from cobras.web.api import models
from cobras.web.pictures import png

Size: TypeAlias = Literal["small", "large"]
PIXELS: dict[Size, int] = {"small": 128, "large": 512}  # longest side of a picture
CELL = 2_000  # characters of a cell that are shown
TEXT = 20_000  # characters of a text that are shown
POINTS = 1_000  # points of a series that are drawn on a card
BRIEF, BRIEF_POINTS = 80, 64  # characters of a thumbnail's line, and points of its curve
COLUMNS = 500  # columns that are compared, the most different ones


class Cards:
    """The cards of a data set; `run` goes into the addresses of pictures, so that no browser shows an old one."""

    def __init__(self, dataset: Dataset, run: str) -> None:
        self.dataset, self.run = dataset, run
        self.thumbnail = lru_cache(maxsize=10_000)(self._thumbnail)
        self.kind: models.Kind = self._card(0).kind

    def item(self, i: int) -> models.Item:
        """The card of row i."""
        return models.Item(**self.thumbnail(i).model_dump(), card=self._card(i))

    def _thumbnail(self, i: int) -> models.Thumbnail:
        """Row i in brief."""
        brief = models.Thumbnail(i=i, id=str(self.dataset.ids[i]), text="")
        match self.dataset.show(i):
            case Picture() | Photo():
                brief.image = self._address(i, "small")
            case Series(channels=channels):
                brief.line = _scaled(_thinned(channels[0], BRIEF_POINTS))
            case Text(text=text):
                brief.text = cut(" ".join(text[:TEXT].split()), BRIEF)
            case row:
                brief.text = _line(self._without_name(row.values))
        return brief

    def _card(self, i: int) -> models.Card:
        card = self.dataset.show(i)
        fields = [models.Cell(name=name, value=words(value)) for name, value in self._values(i).items()]
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
                drawn = [_thinned(channel, POINTS) for channel in channels]
                return models.SeriesCard(channels=drawn, length=channels.shape[1], fields=fields)
            case Text(text=text):
                return models.TextCard(text=text[:TEXT], cut=len(text) > TEXT, fields=fields)
        return models.TableCard(fields=fields)

    def columns(self, pair: Pair) -> list[models.Column] | None:
        """The columns of two rows, those that differ most first: by share of the range, or all or nothing."""
        left, right = self._values(pair.i), self._values(pair.j)
        if not left:
            return None
        measured: dict[str, float] = {}
        if self.kind == "table":
            left_row, right_row = self.dataset.features(np.array([pair.i, pair.j])).astype(float)
            apart = np.clip(np.abs(left_row - right_row), 0, 1)
            measured = dict(zip(self.dataset.columns, apart.tolist(), strict=True))
        found = [
            models.Column(
                name=name,
                left=words(a),
                right=words(right[name]),
                difference=measured.get(name, float(words(a) != words(right[name]))),
                measured=name in measured,
            )
            for name, a in left.items()
        ]
        return sorted(found, key=lambda column: -column.difference)[:COLUMNS]

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

    def _values(self, i: int) -> Mapping[str, Any]:
        """The columns of row i besides its name, its text and its picture."""
        card = self.dataset.show(i)
        return {} if isinstance(card, Picture) else self._without_name(card.values)

    def _without_name(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        name = self.dataset.recipe.id
        return {column: value for column, value in values.items() if column != name}

    def _address(self, i: int, size: Size) -> str:
        return f"api/image/{i}?size={size}&run={self.run}"


def _line(values: Mapping[str, Any]) -> str:
    """One line about a row: a few values, words before numbers."""
    told = [value for value in values.values() if value is not None][:100]
    told.sort(key=lambda value: not isinstance(value, str))
    return cut(", ".join(" ".join((words(value) or "").split()) for value in told[:5]), BRIEF)


def words(value: Any) -> str | None:
    """A value as it is read; None where it is missing.

    Examples
    --------
    >>> words(0.1 + 0.2), words("red"), words(float("nan"))
    ('0.3', 'red', None)
    """
    if value is None or value != value:
        return None
    if isinstance(value, float):
        return f"{value:.6g}"
    return cut(str(value), CELL)


def cut(text: str, length: int) -> str:
    """At most so many characters."""
    return text if len(text) <= length else text[: length - 1] + "…"


def _thinned(values: FloatArray, n: int) -> list[float | None]:
    """At most n points, evenly spaced; a gap is None."""
    at = np.unique(np.linspace(0, len(values) - 1, min(n, len(values))).round().astype(int))
    return [float(v) if np.isfinite(v) else None for v in values[at]]


def _scaled(line: list[float | None]) -> list[float | None]:
    known = [v for v in line if v is not None]
    low, extent = min(known, default=0.0), (max(known, default=0.0) - min(known, default=0.0)) or 1.0
    return [None if v is None else (v - low) / extent for v in line]
