"""Pictures, photographs and curves, drawn with the characters of a terminal."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from rich.cells import chop_cells
from rich.color import Color
from rich.style import Style
from rich.table import Table
from rich.text import Text

from cobras.cli.terminal.glyphs import Glyphs
from cobras.core.types import FloatArray
from cobras.data import Card, Photo, Picture, Series

LARGEST = 6  # cells for one pixel of a small picture


def render_pictures(
    titles: tuple[str, str], cards: tuple[Card, Card], glyphs: Glyphs, width: int, height: int, colours: bool
) -> Table:
    """Two pictures in at most `height` lines."""
    room = max(4, (width - 8) // 2), max(1, height - 1)
    grid = Table.grid(padding=(0, 4))
    grid.add_row(*(Text(chop_cells(title, room[0])[0] if title else "", "bold") for title in titles))
    series = [card.channels for card in cards if isinstance(card, Series)]
    if series:
        grid.add_row(*(Text("from {:.4g} to {:.4g}".format(*_extent([each])), "dim") for each in series))
        grid.add_row(*_curves(series, room[0], max(1, height - 2), glyphs))
    else:
        grid.add_row(*(_drawn(card, *room, glyphs, colours and glyphs.blocks) for card in cards))
    return grid


def _curves(series: list[FloatArray], width: int, height: int, glyphs: Glyphs) -> list[Text]:
    """Several series on the same scale of time and of values."""
    longest, extent = max(channels.shape[1] for channels in series), _extent(series)
    widths = [max(1, width * channels.shape[1] // longest) for channels in series]
    return [curve(each, wide, height, glyphs, extent) for each, wide in zip(series, widths, strict=True)]


def _extent(series: list[FloatArray]) -> tuple[float, float]:
    """Between which values they move."""
    return min(float(np.nanmin(each)) for each in series), max(float(np.nanmax(each)) for each in series)


def _drawn(card: Card, width: int, height: int, glyphs: Glyphs, colours: bool) -> Text:
    if isinstance(card, Photo):
        columns, rows = card.shape(512)
        scale = min(width / columns, 2 * height / rows)
        pixels = card.pixels(max(2, int(max(columns, rows) * min(1.0, scale))))
        pixels = pixels[: 2 * height, :width]
        if colours:
            return _half_blocks(pixels[: max(2, len(pixels) // 2 * 2)])
        ink = 1 - pixels.mean(axis=2) / 255
        return _shades(_stretched(ink, max(1, len(ink) // 2), ink.shape[1]), glyphs)
    assert isinstance(card, Picture)
    rows, columns = card.pixels.shape
    scale = max(1, min(height * 2 // rows, width // columns, LARGEST))
    if not colours:
        return _shades(_stretched(card.pixels, rows * scale // 2, columns * scale), glyphs)
    # Dark ink on light paper, with both colours set, so that it looks the same on every terminal.
    grey = (250 - 225 * _stretched(card.pixels, rows * scale // 2 * 2, columns * scale)).astype(np.uint8)
    return _half_blocks(np.repeat(grey[:, :, None], 3, axis=2))


def _half_blocks(pixels: npt.NDArray[np.uint8]) -> Text:
    """Two pixels in every cell: one is the character's colour, one the paper's."""
    if len(pixels) % 2:
        pixels = np.concatenate([pixels, pixels[-1:]])
    text = Text()
    for upper, lower in zip(pixels[::2].tolist(), pixels[1::2].tolist(), strict=True):
        for a, b in zip(upper, lower, strict=True):
            text.append("▀", Style(color=Color.from_rgb(*a), bgcolor=Color.from_rgb(*b)))
        text.append("\n")
    text.right_crop()
    return text


def _shades(image: FloatArray, glyphs: Glyphs) -> Text:
    """Ink in the terminal's own colour: light on dark or dark on light, readable on both."""
    levels = np.minimum((image * len(glyphs.shades)).astype(int), len(glyphs.shades) - 1)
    return Text("\n".join("".join(glyphs.shades[level] for level in row) for row in levels))


def curve(
    channels: FloatArray, width: int, height: int, glyphs: Glyphs, extent: tuple[float, float] | None = None
) -> Text:
    """All channels of a series on one axis, in dots of Braille where the terminal has them.

    `extent` gives the values at the bottom and at the top, where they are not those of the series itself.

    Examples
    --------
    >>> from cobras.cli.terminal.glyphs import ASCII
    >>> print(curve(np.array([[0.0, 1.0, 2.0, 1.0, 0.0]]), 5, 3, ASCII))
      *
     * *
    *   *
    """
    across, up = (2, 4) if glyphs.blocks else (1, 1)
    low, high = extent or _extent([channels])
    dots = np.zeros((height * up, width * across), dtype=bool)
    if high > low:
        heights = (high - channels) / (high - low) * (len(dots) - 1)
    else:
        heights = np.where(np.isfinite(channels), len(dots) // 2, np.nan)
    for line in heights:
        _draw(dots, line)
    if not glyphs.blocks:
        return Text("\n".join("".join(" *"[dot] for dot in row).rstrip() for row in dots.astype(int)))
    cells = dots.reshape(height, 4, width, 2).transpose(0, 2, 1, 3)
    weights = np.array([[1, 8], [2, 16], [4, 32], [64, 128]])
    codes = 0x2800 + (cells * weights).sum(axis=(2, 3))
    return Text("\n".join("".join(map(chr, row)) for row in codes))


def _draw(dots: npt.NDArray[np.bool_], line: FloatArray) -> None:
    """Set the dots that a line passes, given by its distance from the top at each moment; NaN is a gap."""
    columns = dots.shape[1]
    moments, known = np.arange(len(line)), np.isfinite(line)
    step = max(1, len(line) - 1) / max(1, columns - 1)
    dots[line[known].round().astype(int), (moments[known] / step).round().astype(int)] = True
    # What a column shows: the line from half a column before its middle to half a column after.
    nearby = np.linspace(-0.49, 0.49, 9) + np.arange(columns)[:, None]
    passed = np.interp(nearby * step, moments, line)
    for column in np.flatnonzero(np.isfinite(passed).any(axis=1)):
        ends = np.array([np.nanmin(passed[column]), np.nanmax(passed[column])])
        first, last = ends.round().astype(int)
        dots[first : last + 1, column] = True


def _stretched(pixels: FloatArray, rows: int, columns: int) -> FloatArray:
    """Bilinear, so that eight pixels read as strokes and not as tiles."""
    for size, axis in ((rows, 0), (columns, 1)):
        n = pixels.shape[axis]
        at = np.clip((np.arange(size) + 0.5) * n / size - 0.5, 0, n - 1)
        below = np.floor(at).astype(int)
        above = np.minimum(below + 1, n - 1)
        weight = (at - below).reshape((-1, 1) if axis == 0 else (1, -1))
        pixels = pixels.take(below, axis) * (1 - weight) + pixels.take(above, axis) * weight
    return np.clip(pixels, 0.0, 1.0)
