"""What the two items of a question look like side by side: tables, texts, pictures and curves of characters."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from rich.cells import cell_len, chop_cells
from rich.color import Color
from rich.console import Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from cobras.cli.terminal import Glyphs, cut_text, fold_text, printable, wrap_text
from cobras.core.notebook import quantity
from cobras.core.types import FloatArray, Pair
from cobras.data import Card, Dataset, Photo, Picture, Row, Series
from cobras.data import Text as CardText
from cobras.data.dataset import value_text

NOTABLE = 0.1  # share of a column's range from which on a difference is set in bold
BAR = 8  # cells
DEPTHS = (6, 4, 3)  # lines that a long text may take, fewer when the table does not fit
LOW = 8  # lines below which there is room for pictures, texts and curves only
LARGEST = 6  # cells for one pixel of a small picture


@dataclass(frozen=True, slots=True)
class Line:
    """One column of the table, for both rows."""

    column: str
    left: str
    right: str
    difference: float
    is_measured: bool
    is_missing: bool = False
    is_used: bool = True


def render_pair(
    dataset: Dataset, pair: Pair, glyphs: Glyphs, *, width: int, height: int, colours: bool
) -> RenderableType:
    """Return the cards of a pair in at most `height` lines."""
    left, right = dataset.show(pair.i), dataset.show(pair.j)
    titles = item_title(dataset, pair.i), item_title(dataset, pair.j)
    if isinstance(left, Row):
        return _table(titles, compare(dataset, pair, left, right, glyphs), glyphs, width, height)
    # The other columns get a third of the window at most, a line each.
    lines = compare(dataset, pair, left, right, glyphs) if height >= LOW else []
    n_below = min(len(lines), height // 3)
    below = [_table(("", ""), lines, glyphs, width, n_below + 1, depths=(1,))] if lines else []
    left_over = height - (n_below + 1 if lines else 0)
    if isinstance(left, CardText) and isinstance(right, CardText):
        above: RenderableType = _texts(titles, left.text, right.text, glyphs, width, left_over)
    else:
        above = _pictures(titles, (left, right), glyphs, width, left_over, colours)
    return Group(above, "", *below) if below else above


def compare(dataset: Dataset, pair: Pair, left: Card, right: Card, glyphs: Glyphs) -> list[Line]:
    """Return the columns of both rows, the most different first: by share of the range; texts differ or do not.

    Last come those that lack a value, of which nothing is known, and those that items are not compared by.
    """
    if isinstance(left, Picture) or isinstance(right, Picture):
        return []
    x, y = dataset.features(np.array(pair))
    distances = dict(zip(dataset.columns, np.abs(x - y).tolist(), strict=True))
    lines, meaning, is_gap = [], dataset.recipe.meanings(), dataset.recipe.gaps()
    used = {column.name for column in dataset.recipe.columns or ()}
    for column, a in left.values.items():
        if column == dataset.recipe.id:
            continue  # stands in the title
        b = right.values[column]
        is_missing = is_gap(column, a) or is_gap(column, b)
        differs = float(meaning(column, a) != meaning(column, b))
        difference = 0.0 if is_missing else distances.get(column, differs)
        values = cell_text(a, glyphs), cell_text(b, glyphs)
        is_used = not used or column in used  # beside a text or a picture there is nothing else
        lines.append(Line(printable(column), *values, difference, column in distances, is_missing, is_used))
    return sorted(lines, key=lambda line: (not line.is_used, line.is_missing, -line.difference))


def cell_text(value: Any, glyphs: Glyphs) -> str:
    """Return a value of a column as text."""
    if value is None or value != value:
        return glyphs.missing
    return printable(value_text(value))


def item_title(dataset: Dataset, i: int) -> str:
    """Return what row i is called: by the column of names and the name, which may begin with the same word."""
    column, name = str(dataset.recipe.id or "row"), str(dataset.ids[i])
    return printable(name if name.lower().startswith(column.lower()) else f"{column} {name}")


def _table(
    titles: tuple[str, str],
    lines: list[Line],
    glyphs: Glyphs,
    width: int,
    height: int,
    depths: tuple[int, ...] = DEPTHS,
) -> RenderableType:
    names, values = _widths(titles, lines, width)
    # All columns in as many lines as fit; else the first columns, and a line that counts the rest.
    for depth in depths:
        if 1 + sum(min(depth, _depth(line, values)) for line in lines) <= height:
            shown = lines
            break
    else:
        depth = depths[-1] if height >= 12 else 1
        ends = np.cumsum([min(depth, _depth(line, values)) for line in lines])
        shown = lines[: max(1, int((ends <= height - 2).sum()))]
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=names, no_wrap=True)
    grid.add_column(width=values)
    grid.add_column(width=values)
    grid.add_column(width=BAR)
    if any(titles):
        heads = (Text(cut_text(title, values, 1, glyphs), "bold underline") for title in titles)
        grid.add_row("", *heads, Text("apart", "dim"))
    for line in shown:
        style = "dim" if not line.is_used else "bold" if line.difference >= NOTABLE else ""
        lengths = depth if line.is_used else 1
        cells = (Text(cut_text(text, values, lengths, glyphs), style) for text in (line.left, line.right))
        name = Text(cut_text(line.column, names, 1, glyphs), style if not line.is_used else "")
        grid.add_row(name, *cells, Text(_mark(line, glyphs)))
    if rest := lines[len(shown) :]:
        more = f"{glyphs.more} {quantity(len(rest), 'more column')}, {_rank(rest)}"
        return Group(grid, Text(more, "dim", no_wrap=True, overflow="crop"))
    return grid


def _widths(titles: tuple[str, str], lines: list[Line], width: int) -> tuple[int, int]:
    """Return the cells for the names of the columns and for a value; what one does not need, the other gets."""
    free = width - BAR - 6
    texts = [*titles, *(text for line in lines for text in (line.left, line.right))]
    name, value = max(4, *(cell_len(line.column) for line in lines)), max(12, *map(cell_len, texts))
    values = max(4, min(value, (free - min(name, width // 3)) // 2))
    return max(4, min(name, free - 2 * values)), values


def _depth(line: Line, width: int) -> int:
    if not line.is_used:
        return 1
    return max(len(fold_text(line.left, width)), len(fold_text(line.right, width)))


def _rank(rest: list[Line]) -> str:
    """Return why these columns stand below all others."""
    if all(line.difference == 0 and not line.is_missing for line in rest):
        return "alike"
    if not rest[0].is_used:
        return "not used"
    return "missing in one of the two" if rest[0].is_missing else "less far apart"


def _mark(line: Line, glyphs: Glyphs) -> str:
    """Return how far apart two values are, as a bar; texts only differ or do not."""
    if line.is_missing:
        return ""
    if line.difference == 0:
        return glyphs.alike
    if not line.is_measured:
        return glyphs.differ
    steps = len(glyphs.bar) - 1
    full, part = divmod(max(1, round(line.difference * BAR * steps)), steps)
    return (glyphs.bar[-1] * full + glyphs.bar[part]).rstrip() or glyphs.bar[1]


def _texts(titles: tuple[str, str], left: str, right: str, glyphs: Glyphs, width: int, height: int) -> Table:
    """Return both texts in at most `height` lines."""
    column = max(8, (width - 4) // 2)
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=column)
    grid.add_column(width=column)
    grid.add_row(*(Text(chop_cells(title, column)[0] if title else "", "bold underline") for title in titles))
    sides = [
        wrap_text(text, other, column, max(1, height - 1), glyphs)
        for text, other in ((left, right), (right, left))
    ]
    for a, b in zip_longest(*sides, fillvalue=Text("")):
        grid.add_row(a, b)
    return grid


def _pictures(
    titles: tuple[str, str], cards: tuple[Card, Card], glyphs: Glyphs, width: int, height: int, colours: bool
) -> Table:
    """Return two pictures or curves in at most `height` lines."""
    room = max(4, (width - 8) // 2), max(1, height - 1)
    grid = Table.grid(padding=(0, 4))
    grid.add_row(*(Text(chop_cells(title, room[0])[0] if title else "", "bold") for title in titles))
    series = [card.channels for card in cards if isinstance(card, Series)]
    if series:
        # Both on the same scale of time and of values.
        longest, extent = max(each.shape[1] for each in series), _extent(series)
        widths = [max(1, room[0] * each.shape[1] // longest) for each in series]
        grid.add_row(*(Text("from {:.4g} to {:.4g}".format(*_extent([each])), "dim") for each in series))
        shapes = zip(series, widths, strict=True)
        grid.add_row(*(curve(each, wide, max(1, height - 2), glyphs, extent) for each, wide in shapes))
    else:
        grid.add_row(*(_picture(card, *room, glyphs, colours and bool(glyphs.half)) for card in cards))
    return grid


def _picture(card: Card, width: int, height: int, glyphs: Glyphs, colours: bool) -> Text:
    if isinstance(card, Photo):
        columns, rows = card.shape(512)
        # A cell is about twice as high as wide, so it holds two pixels, one above the other.
        scale = min(width / columns, 2 * height / rows)
        pixels = card.pixels(max(2, int(max(columns, rows) * min(1.0, scale))))
        pixels = pixels[: 2 * height, :width]
        if colours:
            return _half_blocks(pixels[: max(2, len(pixels) // 2 * 2)], glyphs)
        ink = 1 - pixels.mean(axis=2) / 255
        return _shades(_resize(ink, max(1, len(ink) // 2), ink.shape[1]), glyphs)
    assert isinstance(card, Picture)
    rows, columns = card.pixels.shape
    scale = max(1, min(height * 2 // rows, width // columns, LARGEST))
    if not colours:
        return _shades(_resize(card.pixels, rows * scale // 2, columns * scale), glyphs)
    # Dark ink on light paper, with both colours set, so that it looks the same on every terminal.
    grey = (250 - 225 * _resize(card.pixels, rows * scale // 2 * 2, columns * scale)).astype(np.uint8)
    return _half_blocks(np.repeat(grey[:, :, None], 3, axis=2), glyphs)


def _half_blocks(pixels: npt.NDArray[np.uint8], glyphs: Glyphs) -> Text:
    """Return a picture with two pixels in every cell: one is the character's colour, one the paper's."""
    if len(pixels) % 2:
        pixels = np.concatenate([pixels, pixels[-1:]])
    text = Text()
    for upper, lower in zip(pixels[::2].tolist(), pixels[1::2].tolist(), strict=True):
        for a, b in zip(upper, lower, strict=True):
            text.append(glyphs.half, Style(color=Color.from_rgb(*a), bgcolor=Color.from_rgb(*b)))
        text.append("\n")
    text.right_crop()
    return text


def _shades(image: FloatArray, glyphs: Glyphs) -> Text:
    """Return ink in the terminal's own colour: light on dark or dark on light, readable on both."""
    levels = np.minimum((image * len(glyphs.shades)).astype(int), len(glyphs.shades) - 1)
    return Text("\n".join("".join(glyphs.shades[level] for level in row) for row in levels))


def _resize(pixels: FloatArray, rows: int, columns: int) -> FloatArray:
    """Return the picture in another size, bilinear, so that eight pixels read as strokes and not as tiles."""
    image = Image.fromarray(pixels.astype(np.float32)).resize((columns, rows), Image.Resampling.BILINEAR)
    return np.clip(np.asarray(image, dtype=np.float64), 0.0, 1.0)


def curve(
    channels: FloatArray, width: int, height: int, glyphs: Glyphs, extent: tuple[float, float] | None = None
) -> Text:
    """Return all channels of a series on one axis, in dots of Braille where the terminal has them.

    `extent` gives the values at the bottom and at the top, where they are not those of the series itself.

    Examples
    --------
    >>> from cobras.cli.terminal import ASCII
    >>> print(curve(np.array([[0.0, 1.0, 2.0, 1.0, 0.0]]), 5, 3, ASCII))
      *
     * *
    *   *
    """
    across, up = (2, 4) if glyphs.half else (1, 1)
    low, high = extent or _extent([channels])
    dots = np.zeros((height * up, width * across), dtype=bool)
    if high > low:
        heights = (high - channels) / (high - low) * (len(dots) - 1)
    else:
        heights = np.where(np.isfinite(channels), len(dots) // 2, np.nan)
    for line in heights:
        _draw(dots, line)
    if not glyphs.half:
        return Text("\n".join("".join(" *"[dot] for dot in row).rstrip() for row in dots.astype(int)))
    # Unicode numbers the Braille patterns by their dots, one bit each, from 0x2800 on: 4 rows of 2 in a cell.
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


def _extent(series: list[FloatArray]) -> tuple[float, float]:
    """Return the smallest and the largest value."""
    return min(float(np.nanmin(each)) for each in series), max(float(np.nanmax(each)) for each in series)
