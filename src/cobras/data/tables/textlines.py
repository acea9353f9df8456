"""Lists of texts: a .txt file with one on each line."""

from __future__ import annotations

import csv
import re
from collections.abc import Container
from pathlib import Path

import polars as pl

from cobras.data.tables.csv import DELIMITERS, LARGE, NotTextError, decode, first_rows
from cobras.data.tables.header import N_LINES

LIST = "text"  # the column of texts that has no name
WORD = r"[^\W\d_]+"


def read_list(path: Path, as_text: Container[str], *, is_new: bool = True) -> pl.DataFrame | None:
    """The lines of a text file without columns, one text each; None where it is a table, or too large to tell.

    A first line of one or two words, or one that is in `as_text`, is the name of the column. Where the column
    without a name is asked for, and none has that name, all lines are texts, however short they are.

    Lines with as many commas each are a table, unless the commas are those of sentences. What was read as a table
    once, hence is not new, stays one.
    """
    if path.stat().st_size > LARGE:
        return None
    try:
        text, _ = decode(path.read_bytes())
    except NotTextError:
        return None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    first = lines[:N_LINES]
    is_list = LIST in as_text and bool(lines) and not any(_has_cell(line, LIST) for line in first)
    if not is_list:
        if sum(map(_is_sentence, first)) <= len(first) / 2:
            return None
        for delimiter in DELIMITERS:
            widths = {len(row) for row, _ in first_rows("\n".join(first), delimiter)}
            if len(widths) == 1 and widths != {1} and not (is_new and _are_sentences(first, delimiter)):
                return None
    rows = list(csv.reader(lines))
    if len(rows) == len(lines) and all(len(row) == 1 for row in rows):
        lines = [row[0] for row in rows]  # a column that a program wrote, with quotes where they are needed
    has_name = not is_list and (not _is_sentence(lines[0]) or lines[0] in as_text)
    return pl.DataFrame({lines[0] if has_name else LIST: lines[has_name:]})


def _has_cell(line: str, name: str) -> bool:
    """Whether a line holds a word as a cell of its own, whatever the delimiter."""
    return name in (cell.strip(' "') for cell in re.split(f"[{DELIMITERS}]", line))


def _are_sentences(lines: list[str], delimiter: str) -> bool:
    """Whether commas or semicolons stand between words, before a blank, and mostly before several last words."""
    cells = [line.split(delimiter) for line in lines]
    if delimiter not in ",;" or any(cell[:1].strip() or not cell for row in cells for cell in row[1:]):
        return False
    if not any(map(_is_sentence, cells[0])):  # names of columns
        return False
    n_words = [[len(re.findall(WORD, cell)) for cell in row] for row in cells]
    return sum(min(row) > 0 and row[-1] > 1 for row in n_words) > len(lines) / 2


def _is_sentence(line: str) -> bool:
    """Whether a line is a text rather than the name of a column."""
    return len(re.findall(WORD, line)) > 2
