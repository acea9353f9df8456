"""What a sheet of an .xlsx file holds besides values: merged cells, and formulas that were never calculated.

A spreadsheet stores the value of a formula beside it. Other programs write the formula alone, or 0 for its value,
and leave it to the spreadsheet to calculate it when the file is opened.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from cobras.data.tables.header import N_LINES, Merge

CHUNK = 1 << 20  # bytes of a sheet that are looked at together
LONGEST = 1 << 16  # bytes of a cell with its formula, which has 8,192 characters at most
_OFFICE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MERGE = re.compile(rb"""<(?:\w+:)?mergeCell\s[^<>]*?ref=["']([A-Z]+)(\d+):([A-Z]+)(\d+)["']""")
_FORMULA = re.compile(
    rb"<(?:\w+:)?c\s(?P<cell>[^<>]*)>\s*<(?:\w+:)?f(?:\s[^<>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)"
    rb"(?:\s*<(?:\w+:)?v(?:\s[^<>]*)?>(?P<value>[^<]*)</)?"
)
_PLACE = re.compile(rb"""\br=["']([A-Z]+)(\d+)["']""")
_TEXT = re.compile(rb"""\bt=["']str["']""")  # the value of such a formula may be an empty text


class Place(NamedTuple):
    """A cell, or all cells of a column below the lines that may hold a header: their row is `N_LINES`."""

    row: int
    column: int


@dataclass(slots=True)
class Workings:
    """The merged cells of a sheet that begin where a header may be, and how many formulas have no value."""

    merges: list[Merge] = field(default_factory=list)
    formulas: Counter[Place] = field(default_factory=Counter)


def read_workings(path: Path, sheet: str) -> Workings:
    """Read what a sheet holds besides values; nothing for files that are not .xlsx or not understood."""
    found, zeros, has_value = Workings(), Counter[Place](), False
    try:
        with zipfile.ZipFile(path) as archive:
            part, is_uncalculated = _part(archive, sheet)
            for match in _matches(archive, part):
                if match.re is _MERGE:
                    left, top, right, bottom = match.groups()
                    if int(top) <= N_LINES:
                        found.merges.append(
                            Merge(int(top) - 1, _number(left), int(bottom) - 1, _number(right))
                        )
                elif (at := _PLACE.search(match["cell"])) is not None:
                    place = Place(min(int(at[2]) - 1, N_LINES), _number(at[1]))
                    value = (match["value"] or b"").strip()
                    if not value:
                        found.formulas[place] += _TEXT.search(match["cell"]) is None
                    zeros[place] += value == b"0"
                    has_value |= value not in (b"", b"0")
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        LookupError,
        ValueError,
        RuntimeError,
        ElementTree.ParseError,
    ):
        return Workings()
    if is_uncalculated and not has_value:
        found.formulas.update(zeros)
    return found


def _part(archive: zipfile.ZipFile, sheet: str) -> tuple[str, bool]:
    """Where in a file a sheet is, and whether its formulas are to be calculated when it is opened."""
    book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    ids = {e.get("name"): e.get(f"{_OFFICE}id") for e in book.iter() if _tag(e) == "sheet"}
    links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    target = {e.get("Id"): e.get("Target", "") for e in links}[ids[sheet]]
    is_uncalculated = any(_tag(e) == "calcPr" and e.get("fullCalcOnLoad") in ("1", "true") for e in book)
    return posixpath.join("/xl", target).lstrip("/"), is_uncalculated


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _matches(archive: zipfile.ZipFile, part: str) -> Iterator[re.Match[bytes]]:
    """The merged cells and the formulas of a sheet, which is read piece by piece."""
    with archive.open(part) as stream:
        text = b""
        while True:
            chunk = stream.read(CHUNK)
            text += chunk
            # What begins near the end may go on in the next piece.
            end = max(len(text) - LONGEST, 0) if chunk else len(text)
            # The patterns are ten times slower than a look for what they begin with.
            kinds = [_MERGE] * (b"mergeCell" in text) + [_FORMULA] * (b"<f" in text or b":f" in text)
            yield from (m for kind in kinds for m in kind.finditer(text) if m.start() < end)
            if not chunk:
                return
            text = text[end:]


def _number(letters: bytes) -> int:
    """The number of a column, from 0, by its letters.

    Examples
    --------
    >>> _number(b"A"), _number(b"Z"), _number(b"AA")
    (0, 25, 26)
    """
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number - 1
