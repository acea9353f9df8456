"""The series of a cluster as one curve for each channel."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np

from cobras.core.types import FloatArray
from cobras.web.api.explanations import Curve

N_DRAWN = 300  # series of a cluster, and of the rest, that are looked at
N_POINTS = 120  # points of a curve
N_CHANNELS = 4
BAND = (10, 90)  # percentiles


def mean_curves(
    channels: Callable[[int], FloatArray], inside: Sequence[int], outside: Sequence[int]
) -> list[Curve]:
    """Mean and band of the series of some rows, and the mean of others; `channels` gives those of a row."""
    here, there = (_stack(channels, rows[:: 1 + len(rows) // N_DRAWN]) for rows in (inside, outside))
    found = []
    for k in range(min(here.shape[1], N_CHANNELS)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a moment at which all series have a gap
            low, high = np.nanpercentile(here[:, k], BAND, axis=0)
            mean = np.nanmean(here[:, k], axis=0)
            rest = np.nanmean(there[:, k], axis=0) if k < there.shape[1] else np.full(1, np.nan)
        curves = (_values(line) for line in (mean, low, high, rest))
        found.append(Curve(**dict(zip(("mean", "low", "high", "rest"), curves, strict=True))))
    return found


def _stack(channels: Callable[[int], FloatArray], rows: Sequence[int]) -> FloatArray:
    """The series of some rows with as many points each; what is shorter is stretched."""
    series = [_thin(np.asarray(channels(i), float)) for i in rows]
    if not series:
        return np.empty((0, 0, N_POINTS))
    n_channels = max(len(s) for s in series)
    found = np.full((len(series), n_channels, N_POINTS), np.nan)
    for place, s in enumerate(series):
        found[place, : len(s)] = s
    return found


def _thin(series: FloatArray) -> FloatArray:
    """So many points of a series, evenly spaced from its first known moment to its last."""
    known = np.flatnonzero(np.isfinite(series).any(axis=0))
    length = int(known[-1]) + 1 if len(known) else series.shape[1]
    at = np.linspace(0, length - 1, N_POINTS).round().astype(int)
    return series[:, at]


def _values(line: FloatArray) -> list[float | None]:
    return [float(f"{v:.5g}") if np.isfinite(v) else None for v in line]
