"""Time series as items: their cards, and rows of equal length for those who compare rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray
from cobras.data.dataset import Dataset, Series
from cobras.data.guess import Choices
from cobras.data.items.series import read_series
from cobras.data.items.seriesfiles import SeriesData, guess_layout
from cobras.data.items.vectors import read_vectors

CLASS = "class"  # the column of the classes that a .ts file or one of the UCR archive gives
N_POINTS = 512  # of a row, at most
WAYS = {"dtw": "by dynamic time warping", "kshape": "by shape", "points": "by moments"}
MOST_CELLS = 2e11  # of all pairs of moments: within a tenth of them, DTW takes some ten seconds
MOST_SERIES = 10_000  # as many as the space of series accepts


def read_curves(path: Path, choices: Choices) -> Dataset:
    """The series of a file; `X` holds each channel brought to one length, to mean 0 and variance 1."""
    named = guess_layout(path) is None
    data = (
        read_series(path, id=choices.id, label=choices.label, drop=choices.drop)
        if named
        else read_series(path)
    )
    choices.check(path.name, data.frame.columns)
    choices.check_features("series")
    own = choices.vectors
    how, note = _compared(data, choices)
    X = rows_of(data) if own is None else read_vectors(Path(own), len(data), path.name)
    hidden = [name for name in (choices.label, *choices.drop, None if named else CLASS) if name is not None]
    id_column = data.recipe.get("id") or (None if named else "series")
    return Dataset(
        X=X,
        ids=data.ids,
        columns=tuple(f"{'point' if own is None else 'vector'}_{k}" for k in range(1, X.shape[1] + 1)),
        frame=data.frame,
        labels=None if choices.label is None else data.frame[choices.label].to_numpy(),
        card=CurveCards(data, [*hidden, id_column]),
        notes=(*data.notes, note),
        recipe=choices.recipe(kind="series", id=id_column, hidden=tuple(hidden), features=how),
        series=data.values,
    )


def _compared(data: SeriesData, choices: Choices) -> tuple[str | None, str]:
    """How the series are compared, and a note; DTW unless comparing all pairs takes too long."""
    if choices.vectors is not None:
        return None, f"Compared by the vectors in {Path(choices.vectors).name}, as they are."
    n, longest = len(data), int(data.lengths.max())
    how = choices.features or ("dtw" if (n * longest) ** 2 <= MOST_CELLS and n <= MOST_SERIES else "kshape")
    others = [f"{name} {WAYS[name]}" for name in WAYS if name != how]
    return how, f"Compared {WAYS[how]}. (--features {', '.join(others)})"


def rows_of(data: SeriesData) -> FloatArray:
    """Rows of equal length: gaps bridged, short series stretched, each channel normalised."""
    n_points = min(N_POINTS, int(data.lengths.max()))
    X = np.empty((len(data), data.values.shape[1] * n_points))
    for row, i in zip(X, range(len(data)), strict=True):
        row[:] = np.concatenate([_stretched(channel, n_points) for channel in data.show(i)])
    if not np.isfinite(X).all():
        raise InvalidDataError("A series holds infinity; leave it out.")
    return X


def _stretched(channel: FloatArray, n_points: int) -> FloatArray:
    known = np.flatnonzero(np.isfinite(channel))
    if not len(known):
        return np.zeros(n_points)
    at = np.linspace(0, len(channel) - 1, n_points)
    largest = float(np.abs(channel[known]).max()) or 1.0
    values = np.interp(at, known, channel[known] / largest)  # squares do not overflow
    spread = values.std()
    normal: FloatArray = (values - values.mean()) / (spread if spread > 0 else 1.0)
    return normal


class CurveCards:
    """The cards of series: without padding, with what the file says of each."""

    def __init__(self, data: SeriesData, hidden: list[Any]) -> None:
        self.data = data
        self.values = [column for column in data.frame if column.name not in hidden]
        if data.recipe["layout"] == "wide":  # numbers are the moments of the series, and drawn
            self.values = [column for column in self.values if not column.dtype.is_numeric()]

    def __call__(self, i: int) -> Series:
        """Series i."""
        return Series(self.data.show(i), {column.name: column[i] for column in self.values})
