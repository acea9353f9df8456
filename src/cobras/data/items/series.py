"""Time series as items: read from tables with a row for each series or each moment, shown and made equally long."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray, IndexArray
from cobras.data.dataset import Dataset, Series
from cobras.data.guess import Choices
from cobras.data.items.tsfiles import SeriesData, guess_layout, pad_series, read_ts, read_ucr
from cobras.data.tables.columns import check_names, name_list
from cobras.data.tables.files import read_table, read_vectors
from cobras.data.tables.header import Extent

Layout: TypeAlias = Literal["ts", "ucr", "wide", "long"]

SERIES_NAMES = (
    "series",
    "series_id",
    "id",
    "case",
    "case_id",
    "item",
    "item_id",
    "unit",
    "unique_id",
    "name",
)
TIME_NAMES = ("time", "t", "timestamp", "datetime", "date", "ds", "step", "timepoint", "moment")
CLASS = "class"  # the column of the classes that a .ts file or one of the UCR archive gives
N_POINTS = 512  # of a row, at most
WAYS = {"dtw": "by dynamic time warping", "kshape": "by shape", "points": "by moments"}
MOST_CELLS = 2e11  # of all pairs of moments: within a tenth of them, DTW takes some ten seconds
MOST_SERIES = 10_000  # as many as the space of series accepts


def read_series(
    path: str | os.PathLike[str],
    *,
    layout: Layout | None = None,
    id: str | None = None,
    time: str | None = None,
    label: str | None = None,
    drop: Sequence[str] = (),
    sheet: str | None = None,
) -> SeriesData:
    """Read time series, of one or more channels and of equal or different lengths.

    Parameters
    ----------
    path : path
        A `.ts` file; a text file of the UCR archive, with a class and then the values on each line; or a table.
    layout : {"ts", "ucr", "wide", "long"}, optional
        "wide" is a table with a row for each series, "long" one with a row for each moment. Guessed if left out.
    id : str, optional
        The column that names the series; in a long table also the one that tells them apart.
    time : str, optional
        The column by which the rows of a long table are sorted.
    label : str, optional
        A column with known classes.
    drop : sequence of str
        Columns that hold no values of the series.
    sheet : str, optional
        The sheet of an Excel file.
    """
    file = Path(path)
    if layout not in (None, "ts", "ucr", "wide", "long"):
        raise InvalidDataError(f"layout must be one of ts, ucr, wide, long, not {layout!r}.")
    named = any(name is not None for name in (id, time, label))
    if layout is None and (file.suffix.lower() == ".ts" or not named):
        layout = guess_layout(file)
    if layout in ("ts", "ucr"):
        if named:
            raise InvalidDataError(f"{file.name} has no columns with names, so none can be given by name.")
        return read_ts(file) if layout == "ts" else read_ucr(file)
    frame, notes, _ = read_table(file, Extent(sheet, 0, blank=False, totals=False, times=False), points=False)
    check_names(file.name, (id, time, label, *drop), frame.columns)
    free = {name.strip().lower(): name for name in frame.columns if name not in (id, label, *drop)}
    if layout != "wide":
        time = time or next((free[name] for name in TIME_NAMES if name in free), None)
        series = id or next(
            (free[name] for name in SERIES_NAMES if name in free and free[name] != time), None
        )
        if series is None and time is not None:
            series = _series_column(frame, [name for name in free.values() if name != time], time)
        if series is not None and time is not None and (layout or frame[series].is_duplicated().any()):
            return _long(file.name, frame, series, time, label, drop, notes)
        if layout == "long":
            raise InvalidDataError(
                f"A long table needs a column that names the series and one of times; give them by id and time. "
                f"{file.name} has the columns {name_list(frame.columns, 20)}."
            )
    return _wide(file.name, frame, id or free.get("id"), label, drop, notes)


def _series_column(frame: pl.DataFrame, columns: Sequence[str], time: str) -> str | None:
    """Return the only column of words that occur again, but never twice at the same time."""
    found = []
    for name in columns:
        column = frame[name].alias("series")
        if column.dtype == pl.String and column.is_duplicated().any():
            moments = pl.DataFrame([column, frame[time].alias("time")])
            found += [name] * (not moments.is_duplicated().any())
    return found[0] if len(found) == 1 else None


def _wide(
    source: str,
    frame: pl.DataFrame,
    id: str | None,
    label: str | None,
    drop: Sequence[str],
    notes: Sequence[str],
) -> SeriesData:
    numbers = _value_columns(source, frame, (id, label, *drop))
    begin, end = frame.columns.index(numbers[0]), frame.columns.index(numbers[-1])
    # A column without any value, between others, is a moment at which no series has one.
    empty = [name for name in frame.columns[begin:end] if frame[name].null_count() == frame.height]
    moments = [name for name in frame.columns if name in {*numbers, *empty} - {id, label, *drop}]
    values = np.column_stack([_floats(frame[name]) for name in moments])
    ids = np.arange(len(values)) if id is None else frame[id].to_numpy()
    columns = f"the {len(moments)} columns {moments[0]!r} to {moments[-1]!r}"
    note = f"Read {len(values)} series, a row each, of {columns}. (--kind table for plain numbers)"
    return pad_series(
        source,
        [row[None] for row in values],
        ids=ids,
        labels=None if label is None else frame[label].to_numpy(),
        frame=frame,
        notes=[*notes, note],
        options={"layout": "wide", "id": id, "label": label, "drop": list(drop)},
    )


def _long(
    source: str,
    frame: pl.DataFrame,
    id: str,
    time: str,
    label: str | None,
    drop: Sequence[str],
    notes: Sequence[str],
) -> SeriesData:
    for name in (id, time):
        if frame[name].null_count():
            raise InvalidDataError(f"Column {name!r} of {source} has empty cells; each row needs its {name}.")
    channels = _value_columns(source, frame, (id, time, label, *drop))
    ranks, first, inverse = np.unique(
        frame[id].rank("dense").to_numpy(), return_index=True, return_inverse=True
    )
    place = np.empty(len(ranks), np.intp)
    place[np.argsort(first)] = np.arange(len(ranks))  # series in the order in which the file begins them
    moment = frame[time].rank("dense").to_numpy()
    order = np.lexsort((moment, place[inverse]))
    which, when = place[inverse][order], moment[order]
    twice = np.flatnonzero((np.diff(which) == 0) & (np.diff(when) == 0))
    if len(twice):
        row = frame.row(int(order[twice[0]]), named=True)
        raise InvalidDataError(f"Series {row[id]!r} of {source} has two values at {time} {row[time]}.")
    rows = np.column_stack([_floats(frame[name]) for name in channels])[order]
    starts = np.flatnonzero(np.diff(which, prepend=-1))
    begin = np.sort(first)
    about = [
        name
        for name in frame.columns
        if name not in (time, *channels) and _is_constant(frame[name].to_numpy()[order], starts)
    ]
    if label is not None and label not in about:
        raise InvalidDataError(f"Column {label!r} of {source} changes within a series; a class must not.")
    table = pl.DataFrame([frame[name][begin.tolist()] for name in about])
    return pad_series(
        source,
        [part.T for part in np.split(rows, starts[1:])],
        ids=table[id].to_numpy(),
        labels=None if label is None else table[label].to_numpy(),
        frame=table,
        notes=[
            *notes,
            f"Read {len(starts)} series, a row for each moment: told apart by {id!r}, sorted by {time!r}, with the "
            f"values of {name_list(channels)}; moments count as evenly spaced. (--kind table for plain rows)",
        ],
        options={"layout": "long", "id": id, "time": time, "label": label, "drop": list(drop)},
    )


def _value_columns(source: str, frame: pl.DataFrame, others: Sequence[str | None]) -> list[str]:
    found = [name for name, dtype in frame.schema.items() if dtype.is_numeric() and name not in others]
    if not found:
        raise InvalidDataError(
            f"{source} has no column of numbers for the values; its columns are {name_list(frame.columns, 20)}."
        )
    return found


def _floats(column: pl.Series) -> FloatArray:
    found: FloatArray = column.cast(pl.Float64).fill_null(np.nan).to_numpy()
    if np.isinf(found).any():
        raise InvalidDataError(f"Column {column.name!r} holds infinity; leave it out.")
    return found


def _is_constant(column: npt.NDArray[Any], starts: IndexArray) -> bool:
    """Whether a column keeps its value within every series; `starts` tells where they begin."""
    same = column[1:] == column[:-1]
    return bool(np.delete(same, starts[1:] - 1).all())


def read_series_dataset(path: Path, choices: Choices) -> Dataset:
    """Read the series of a file; `X` holds each channel with one length, mean 0 and variance 1."""
    named = guess_layout(path) is None
    names: Any = {"id": choices.id, "label": choices.label, "drop": choices.drop} if named else {}
    data = read_series(path, **names, sheet=choices.sheet)
    choices.check(path.name, data.frame.columns)
    choices.check_features("series")
    own = choices.vectors
    how, note = _comparison(data, choices)
    X = equal_rows(data) if own is None else read_vectors(Path(own), len(data), path.name)
    hidden = choices.hidden if named else [*choices.hidden, CLASS]
    id_column = data.options.get("id") or (None if named else "series")
    return Dataset(
        X=X,
        ids=data.ids,
        columns=tuple(f"{'point' if own is None else 'vector'}_{k}" for k in range(1, X.shape[1] + 1)),
        frame=data.frame,
        labels=None if choices.label is None else data.frame[choices.label].to_numpy(),
        card=_cards(data, [*hidden, id_column]),
        notes=(*data.notes, note),
        recipe=choices.recipe(kind="series", id=id_column, hidden=tuple(hidden), features=how),
        series=data.values,
    )


def _comparison(data: SeriesData, choices: Choices) -> tuple[str | None, str]:
    """How the series are compared, and a note; DTW unless comparing all pairs takes too long."""
    if choices.vectors is not None:
        return None, f"Compared by the vectors in {Path(choices.vectors).name}, as they are."
    n, longest = len(data), int(data.lengths.max())
    how = choices.features or ("dtw" if (n * longest) ** 2 <= MOST_CELLS and n <= MOST_SERIES else "kshape")
    others = [f"{name} {WAYS[name]}" for name in WAYS if name != how]
    return how, f"Compared {WAYS[how]}. (--features {', '.join(others)})"


def equal_rows(data: SeriesData, n_points: int | None = None) -> FloatArray:
    """Rows of equal length: gaps bridged, short series stretched, each channel normalised.

    The length is that of the longest series, unless a number of points is given.
    """
    n_points = n_points or min(N_POINTS, int(data.lengths.max()))
    X = np.empty((len(data), data.values.shape[1] * n_points))
    for row, i in zip(X, range(len(data)), strict=True):
        row[:] = np.concatenate([_stretch(channel, n_points) for channel in data.show(i)])
    if not np.isfinite(X).all():
        raise InvalidDataError("A series holds infinity; leave it out.")
    return X


def _stretch(channel: FloatArray, n_points: int) -> FloatArray:
    known = np.flatnonzero(np.isfinite(channel))
    if not len(known):
        return np.zeros(n_points)
    at = np.linspace(0, len(channel) - 1, n_points)
    largest = float(np.abs(channel[known]).max()) or 1.0
    values = np.interp(at, known, channel[known] / largest)  # squares do not overflow
    spread = values.std()
    normal: FloatArray = (values - values.mean()) / (spread if spread > 0 else 1.0)
    return normal


def _cards(data: SeriesData, hidden: Sequence[str | None]) -> Callable[[int], Series]:
    """What makes the card of a series: without its padding, with what the file says of it."""
    shown = [column for column in data.frame if column.name not in hidden]
    if data.options["layout"] == "wide":
        # The numbers of such a table are the moments of the series, which are drawn.
        shown = [column for column in shown if not column.dtype.is_numeric()]
    return lambda i: Series(data.show(i), {column.name: column[i] for column in shown})
