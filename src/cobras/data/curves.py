"""Time series as items: their cards, and rows of equal length for those who compare rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from cobras.data.dataset import Dataset, Series
from cobras.data.kinds import Choices
from cobras.data.series import read_series
from cobras.data.seriesfiles import SeriesData, guess_layout
from cobras.data.vectors import read_vectors
from cobras.exceptions import InvalidDataError
from cobras.types import FloatArray

CLASS = "class"  # the column of the classes that a .ts file or one of the UCR archive gives
N_POINTS = 512  # of a row, at most


def read_curves(path: Path, choices: Choices) -> Dataset:
    """The series of a file; `X` holds each channel brought to one length, to mean 0 and variance 1."""
    named = guess_layout(path) is None
    data = (
        read_series(path, id=choices.id, label=choices.label, drop=choices.drop)
        if named
        else read_series(path)
    )
    choices.check(path.name, data.frame.columns)
    own = choices.vectors
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
        notes=data.notes,
        recipe={**choices.recipe(), "kind": "series", "id": id_column, "hidden": hidden},
        series=data.values,
    )


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
    values = np.interp(at, known, channel[known])
    spread = values.std()
    normal: FloatArray = (values - values.mean()) / (spread if spread > 0 else 1.0)
    return normal


class CurveCards:
    """The cards of series: without padding, with what the file says of each."""

    def __init__(self, data: SeriesData, hidden: list[Any]) -> None:
        self.data = data
        self.values = [column for column in data.frame if column.name not in hidden]
        if len(self.values) > 20:
            self.values = []  # a row for each series: the columns are its moments

    def __call__(self, i: int) -> Series:
        """Series i."""
        return Series(self.data.show(i), {column.name: column[i] for column in self.values})
