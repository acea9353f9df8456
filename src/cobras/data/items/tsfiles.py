"""Time series and the text files that hold nothing else: `.ts` and those of the UCR archive."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray, IndexArray
from cobras.data.tables.csv import NULL_WORDS, NotTextError, decode
from cobras.data.tables.files import check_size

HEAD = 1 << 20  # bytes that a guess looks at
_OUTSIDE = re.compile(r":(?![^(]*\))")  # a colon, but not that of a time of day in a (timestamp, value)


@dataclass(frozen=True, slots=True)
class SeriesData:
    """The series of a file.

    Attributes
    ----------
    values : array of shape (n, channels, length)
        NaN is a gap, and follows the end of a shorter series.
    lengths : array of shape (n,)
        How long each series is.
    ids : array of shape (n,)
        The user's own names of the series, or their numbers from 0.
    labels : array of shape (n,) or None
        The classes that the file gives, if it does.
    frame : polars.DataFrame
        A row for each series, for export: what the file says of it.
    notes : tuple of str
        How the file was read, a sentence each.
    options : dict
        What `read_series` must be told to read the file again in the same way, as JSON values.
    """

    values: FloatArray
    lengths: IndexArray
    ids: npt.NDArray[Any]
    labels: npt.NDArray[Any] | None
    frame: pl.DataFrame = field(repr=False, compare=False)
    notes: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.values)

    def show(self, i: int) -> FloatArray:
        """Series `i` without its padding, of shape (channels, length)."""
        shown: FloatArray = self.values[i, :, : self.lengths[i]]
        return shown


def pad_series(
    source: str,
    series: Sequence[FloatArray],
    *,
    labels: npt.NDArray[Any] | None,
    notes: Sequence[str],
    options: dict[str, Any],
    ids: npt.NDArray[Any] | None = None,
    frame: pl.DataFrame | None = None,
) -> SeriesData:
    """Pad the series, each of shape (channels, length), to one array."""
    lengths = np.array([_length(one) for one in series])
    if not lengths.all():
        raise InvalidDataError(f"Series {(lengths == 0).argmax()} of {source} holds no number; leave it out.")
    n_channels = {len(one) for one in series}
    if len(n_channels) > 1:
        raise InvalidDataError(
            f"All series of {source} must have the same number of channels, but some have {min(n_channels)} and "
            f"others {max(n_channels)}."
        )
    n_bytes = 8 * len(series) * min(n_channels) * int(lengths.max())
    check_size(f"{source}, with every series padded to {lengths.max():,} moments,", n_bytes)
    # One array for all, so that the compiled distances read it without a step per series.
    values = np.full((len(series), n_channels.pop(), lengths.max()), np.nan)
    for row, one, length in zip(values, series, lengths, strict=True):
        row[:, :length] = one[:, :length]
    n_gaps = sum(int(np.isnan(row[:, :length]).sum()) for row, length in zip(values, lengths, strict=True))
    notes = list(notes)
    if lengths.min() < lengths.max():
        notes.append(f"Their lengths go from {lengths.min()} to {lengths.max()}.")
    if n_gaps:
        notes.append(f"{n_gaps} values are missing; gaps are bridged by straight lines.")
    ids = np.arange(len(series)) if ids is None else ids
    if frame is None:
        about = {"series": ids, "length": lengths} | ({} if labels is None else {"class": labels})
        frame = pl.DataFrame(about)
    return SeriesData(values, lengths, ids, labels, frame, tuple(notes), options)


def _length(one: FloatArray) -> int:
    known = np.flatnonzero(~np.isnan(one).all(axis=0))
    return int(known[-1]) + 1 if len(known) else 0


def guess_layout(path: Path) -> Literal["ts", "ucr"] | None:
    """Guess by the suffix, or by the first lines: only numbers, the first of each whole and not unique."""
    if path.suffix.lower() == ".ts":
        return "ts"
    if path.suffix.lower() not in ("", ".tsv", ".txt", ".csv", ".data") or not path.is_file():
        return None
    with path.open("rb") as file:
        head = file.read(HEAD)
    try:
        lines = decode(head, cut=True)[0].splitlines()
        rows = [_numbers(cells) for _, cells in _cells(lines[:-1] if len(head) == HEAD else lines)]
    except ValueError:  # neither text nor numbers
        return None
    if not rows or min(map(len, rows)) < 2 or any(np.isinf(row).any() for row in rows):
        return None
    classes = np.array([row[0] for row in rows])
    values = np.concatenate([row[1:] for row in rows])
    # Classes come back, and a file of whole numbers alone is rather a table.
    shared = (classes % 1 == 0).all() and len(np.unique(classes)) <= max(1, len(rows) // 2)
    return "ucr" if shared and (np.nan_to_num(values) % 1 != 0).any() else None


def read_ts(path: Path) -> SeriesData:
    """Read the format of aeon and sktime: channels between colons, the class last."""
    text, has_label, in_data = _text(path), False, False
    series, labels = [], []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line[0] in "#%":
            continue
        if not in_data:
            key, _, value = line.partition(" ")
            if key.lower() in ("@classlabel", "@targetlabel"):
                has_label = value.strip().lower().startswith("true")
            in_data = key.lower() == "@data"
            if not line.startswith("@"):
                raise InvalidDataError(f"{path.name} is not a .ts file: line {number} comes before @data.")
            continue
        parts = _OUTSIDE.split(line)
        if has_label:
            labels.append(parts.pop().strip())
        series.append([_row(path, number, _values(part)) for part in parts])
    if not series:
        raise InvalidDataError(f"{path.name} holds no series after @data.")
    note = f"Read {len(series)} series{' with their classes' * has_label}. (--kind text if they are words)"
    return pad_series(
        path.name,
        [_join_channels(path, k, channels) for k, channels in enumerate(series)],
        labels=np.array(labels) if has_label else None,
        notes=[note],
        options={"layout": "ts"},
    )


def read_ucr(path: Path) -> SeriesData:
    """Read a class and then the values on each line, between commas, tabs or blanks."""
    rows = [_row(path, number, cells) for number, cells in _cells(_text(path).splitlines())]
    if not rows or min(map(len, rows)) < 2:
        raise InvalidDataError(f"{path.name} must hold a class and at least one value on each line.")
    classes = np.array([row[0] for row in rows])
    labels = classes.astype(np.int64) if (classes % 1 == 0).all() else classes
    note = f"Read {len(rows)} series; the first number of each line is its class. (--kind table for plain numbers)"
    series = [row[None, 1:] for row in rows]
    return pad_series(path.name, series, labels=labels, notes=[note], options={"layout": "ucr"})


def _text(path: Path) -> str:
    if not path.is_file():
        raise InvalidDataError(f"There is no file {path}.")
    try:
        return decode(path.read_bytes())[0]
    except NotTextError:
        raise InvalidDataError(f"{path.name} is not a text file, so it holds no series.") from None


def _cells(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The cells of every line that is not empty, with its number."""
    for number, line in enumerate(lines, 1):
        if line := line.strip():
            mark = next((mark for mark in "\t,;" if mark in line), None)
            yield number, [cell.strip() for cell in line.split(mark)]


def _values(part: str) -> list[str]:
    """The values of a channel; of (timestamp, value) only the value."""
    if "(" in part:
        return [pair.rpartition(",")[2].strip() for pair in re.findall(r"\(([^)]*)\)", part)]
    return [cell.strip() for cell in part.split(",")]


def _numbers(cells: Sequence[str]) -> FloatArray:
    try:
        return np.array(cells, np.float64)
    except ValueError:  # a word, perhaps one for a missing value
        return np.array([np.nan if cell.lower() in NULL_WORDS else float(cell) for cell in cells])


def _row(path: Path, number: int, cells: Sequence[str]) -> FloatArray:
    try:
        row = _numbers(cells)
    except ValueError as error:
        raise InvalidDataError(f"Line {number} of {path.name} must hold numbers: {error}.") from None
    if np.isinf(row).any():
        raise InvalidDataError(f"Line {number} of {path.name} holds infinity; leave it out.")
    return row


def _join_channels(path: Path, k: int, channels: Sequence[FloatArray]) -> FloatArray:
    """Channels of one series as one array; a shorter one ends in NaN."""
    if not channels:
        raise InvalidDataError(f"Series {k} of {path.name} holds a class but no values.")
    found = np.full((len(channels), max(map(len, channels))), np.nan)
    for row, channel in zip(found, channels, strict=True):
        row[: len(channel)] = channel
    return found
