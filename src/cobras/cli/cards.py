"""What the two items of a question look like, side by side: rows as a table, pictures as blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.cells import cell_len, chop_cells, set_cell_size
from rich.color import Color
from rich.console import Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from cobras.cli.glyphs import Glyphs
from cobras.cli.screen import counted
from cobras.data import Dataset, Picture, Row
from cobras.types import FloatArray, Pair

NOTABLE = 0.1  # share of a column's range from which on a difference is set in bold
BAR = 8  # cells


@dataclass(frozen=True, slots=True)
class Line:
    """One column of the table, for both rows."""

    column: str
    left: str
    right: str
    difference: float
    measured: bool


def render_pair(
    dataset: Dataset, pair: Pair, glyphs: Glyphs, *, width: int, height: int, colours: bool
) -> RenderableType:
    """The cards of a pair in at most `height` lines."""
    left, right = dataset.show(pair.i), dataset.show(pair.j)
    titles = _title(dataset, pair.i), _title(dataset, pair.j)
    if isinstance(left, Picture) and isinstance(right, Picture):
        return _pictures(titles, left, right, glyphs, width, height, colours)
    assert isinstance(left, Row)
    assert isinstance(right, Row)
    return _rows(titles, compare(dataset, pair, left, right, glyphs), glyphs, width, height)


def compare(dataset: Dataset, pair: Pair, left: Row, right: Row, glyphs: Glyphs) -> list[Line]:
    """The columns of both rows, those that differ most first: by share of the range, or all or nothing for text."""
    measured = dict(zip(dataset.columns, np.abs(dataset.X[pair.i] - dataset.X[pair.j]).tolist(), strict=True))
    lines = []
    for column, a in left.values.items():
        if column == dataset.recipe.get("id"):
            continue  # stands in the title
        b = right.values[column]
        difference = measured.get(column, float(a != b))
        lines.append(Line(plain(column), _text(a, glyphs), _text(b, glyphs), difference, column in measured))
    return sorted(lines, key=lambda line: -line.difference)


def plain(value: object) -> str:
    r"""One line of printable text: a cell of the data cannot steer the terminal.

    Examples
    --------
    >>> plain("two\nlines and \x1b[31m red")
    'two lines and  [31m red'
    """
    return "".join(character if character.isprintable() else " " for character in str(value))


def _text(value: Any, glyphs: Glyphs) -> str:
    if value is None or value != value:
        return glyphs.missing
    if isinstance(value, float):
        return f"{value:.6g}"
    return plain(value)


def _title(dataset: Dataset, i: int) -> str:
    return plain(f"{dataset.recipe.get('id') or 'row'} {dataset.ids[i]}")


def _rows(
    titles: tuple[str, str], lines: list[Line], glyphs: Glyphs, width: int, height: int
) -> RenderableType:
    names, values = _widths(titles, lines, width)
    # Long texts may take several lines, fewer when the table does not fit.
    for depth in (6, 4, 3):
        depths = [min(depth, _depth(line, values)) for line in lines]
        if 1 + sum(depths) <= height:
            shown = lines
            break
    else:
        depth = 3 if height >= 12 else 1
        ends = np.cumsum([min(depth, _depth(line, values)) for line in lines])
        shown = lines[: max(1, int((ends <= height - 2).sum()))]
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=names, no_wrap=True)
    grid.add_column(width=values)
    grid.add_column(width=values)
    grid.add_column(width=BAR)
    heads = (Text(_cut(title, values, 1, glyphs), "bold underline") for title in titles)
    grid.add_row("", *heads, Text("apart", "dim"))
    for line in shown:
        style = "bold" if line.difference >= NOTABLE else ""
        cells = (Text(_cut(text, values, depth, glyphs), style) for text in (line.left, line.right))
        grid.add_row(Text(_cut(line.column, names, 1, glyphs)), *cells, Text(_mark(line, glyphs)))
    if rest := lines[len(shown) :]:
        what = "alike" if rest[0].difference == 0 else "less far apart"
        more = f"{glyphs.more} {counted(len(rest), 'more column')}, {what}"
        return Group(grid, Text(more, "dim", no_wrap=True, overflow="crop"))
    return grid


def _widths(titles: tuple[str, str], lines: list[Line], width: int) -> tuple[int, int]:
    """Cells for the names of the columns and for a value; what one does not need, the other gets."""
    free = width - BAR - 6
    texts = [*titles, *(text for line in lines for text in (line.left, line.right))]
    name, value = max(4, *(cell_len(line.column) for line in lines)), max(12, *map(cell_len, texts))
    values = max(4, min(value, (free - min(name, width // 3)) // 2))
    return max(4, min(name, free - 2 * values)), values


def _depth(line: Line, width: int) -> int:
    return max(1, len(chop_cells(line.left, width)), len(chop_cells(line.right, width)))


def _cut(text: str, width: int, depth: int, glyphs: Glyphs) -> str:
    """At most `depth` lines of text; a word may be broken anywhere, so that the count is exact."""
    lines = chop_cells(text, width)
    if len(lines) > depth:
        lines = lines[:depth]
        lines[-1] = set_cell_size(lines[-1], width - cell_len(glyphs.more)) + glyphs.more
    return "\n".join(lines)


def _mark(line: Line, glyphs: Glyphs) -> str:
    """How far apart, as a bar; text has no measure, only a sign."""
    if not line.measured:
        return glyphs.differ if line.difference else glyphs.alike
    if line.difference == 0:
        return glyphs.alike
    steps = len(glyphs.bar) - 1
    full, part = divmod(max(1, round(line.difference * BAR * steps)), steps)
    return (glyphs.bar[-1] * full + glyphs.bar[part]).rstrip() or glyphs.bar[1]


def _pictures(
    titles: tuple[str, str],
    left: Picture,
    right: Picture,
    glyphs: Glyphs,
    width: int,
    height: int,
    colours: bool,
) -> RenderableType:
    rows, columns = left.pixels.shape
    scale = max(1, min((height - 1) * 2 // rows, (width - 8) // 2 // columns, 6))
    draw = _half_blocks if colours and glyphs.blocks else _shades
    grid = Table.grid(padding=(0, 4))
    grid.add_row(*(Text(title, "bold") for title in titles))
    grid.add_row(*(draw(picture.pixels, scale, glyphs) for picture in (left, right)))
    return grid


def _half_blocks(pixels: FloatArray, scale: int, glyphs: Glyphs) -> Text:
    """Dark ink on light paper, with both colours set, so that it looks the same on every terminal."""
    image = _stretched(pixels, pixels.shape[0] * scale // 2 * 2, pixels.shape[1] * scale)
    grey = (250 - 225 * image).astype(int)
    text = Text()
    for upper, lower in zip(grey[::2], grey[1::2], strict=True):
        for a, b in zip(upper, lower, strict=True):
            text.append("▀", Style(color=Color.from_rgb(a, a, a), bgcolor=Color.from_rgb(b, b, b)))
        text.append("\n")
    text.right_crop()
    return text


def _shades(pixels: FloatArray, scale: int, glyphs: Glyphs) -> Text:
    """Ink in the terminal's own colour: light on dark or dark on light, readable on both."""
    image = _stretched(pixels, pixels.shape[0] * scale // 2, pixels.shape[1] * scale)
    levels = np.minimum((image * len(glyphs.shades)).astype(int), len(glyphs.shades) - 1)
    return Text("\n".join("".join(glyphs.shades[level] for level in row) for row in levels))


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
