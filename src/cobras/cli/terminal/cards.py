"""What the two items of a question look like, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cobras.cli.terminal.drawings import render_pictures
from cobras.cli.terminal.glyphs import Glyphs
from cobras.cli.terminal.prose import plain, render_texts
from cobras.cli.terminal.screen import counted
from cobras.core.types import Pair
from cobras.data import Card, Dataset, Picture, Row
from cobras.data import Text as CardText

NOTABLE = 0.1  # share of a column's range from which on a difference is set in bold
BAR = 8  # cells
DEPTHS = (6, 4, 3)  # lines that a long text may take, fewer when the table does not fit
LOW = 8  # lines below which there is room for pictures, texts and curves only


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
    if isinstance(left, Row):
        return _rows(titles, compare(dataset, pair, left, right, glyphs), glyphs, width, height)
    # The other columns get a third of the window at most, a line each.
    lines = compare(dataset, pair, left, right, glyphs) if height >= LOW else []
    n_below = min(len(lines), height // 3)
    below = [_rows(("", ""), lines, glyphs, width, n_below + 1, depths=(1,))] if lines else []
    left_over = height - (n_below + 1 if lines else 0)
    if isinstance(left, CardText) and isinstance(right, CardText):
        above: RenderableType = render_texts(titles, left.text, right.text, glyphs, width, left_over)
    else:
        above = render_pictures(titles, (left, right), glyphs, width, left_over, colours)
    return Group(above, "", *below) if below else above


def compare(dataset: Dataset, pair: Pair, left: Card, right: Card, glyphs: Glyphs) -> list[Line]:
    """The columns of both rows, those that differ most first: by share of the range, or all or nothing for text."""
    if isinstance(left, Picture) or isinstance(right, Picture):
        return []
    x, y = dataset.features(np.array(pair))
    measured = dict(zip(dataset.columns, np.abs(x - y).tolist(), strict=True))
    lines = []
    for column, a in left.values.items():
        if column == dataset.recipe.id:
            continue  # stands in the title
        b = right.values[column]
        difference = measured.get(column, float(a != b))
        lines.append(Line(plain(column), _text(a, glyphs), _text(b, glyphs), difference, column in measured))
    return sorted(lines, key=lambda line: -line.difference)


def _text(value: Any, glyphs: Glyphs) -> str:
    if value is None or value != value:
        return glyphs.missing
    if isinstance(value, float):
        return f"{value:.6g}"
    return plain(value)


def _title(dataset: Dataset, i: int) -> str:
    return plain(f"{dataset.recipe.id or 'row'} {dataset.ids[i]}")


def _rows(
    titles: tuple[str, str],
    lines: list[Line],
    glyphs: Glyphs,
    width: int,
    height: int,
    depths: tuple[int, ...] = DEPTHS,
) -> RenderableType:
    names, values = _widths(titles, lines, width)
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
