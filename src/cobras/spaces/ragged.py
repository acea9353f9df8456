"""Series of different lengths in one array: padded, without gaps, normalised, stretched."""

from __future__ import annotations

from typing import Any

import numpy as np

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import BoolArray, FloatArray, IndexArray

LARGEST = 1e15  # distances are kept in single precision


def as_series(values: Any) -> tuple[FloatArray, IndexArray]:
    """
    Series as one array of shape (n, channels, length), NaN after the end of each, and their lengths.

    Examples
    --------
    >>> series, lengths = as_series([[1, 2, 3], [4.5]])
    >>> series.tolist(), lengths.tolist()
    ([[[1.0, 2.0, 3.0]], [[4.5, nan, nan]]], [3, 1])
    """
    array = _stacked(values)
    if array.ndim == 2:
        array = array[:, None]
    if array.ndim != 3 or 0 in array.shape:
        raise InvalidDataError(
            "Series must be given as an array (n, length) or (n, channels, length) or as a list of arrays, "
            f"but the shape is {array.shape}."
        )
    large = np.abs(array) > LARGEST
    if large.any():
        raise InvalidDataError(
            f"Series {np.argwhere(large)[0][0]} holds infinity or a number beyond {LARGEST:.0e}. Scale or drop it."
        )
    known: BoolArray = ~np.isnan(array)
    by_moment: BoolArray = np.logical_or.reduce(known, axis=1)
    empty = ~np.logical_or.reduce(by_moment, axis=1)
    if empty.any():
        raise InvalidDataError(f"Series {empty.argmax()} holds no number. Leave it out.")
    lengths = array.shape[2] - by_moment[:, ::-1].argmax(axis=1)
    return np.ascontiguousarray(array[:, :, : lengths.max()]), lengths


def _stacked(values: Any) -> FloatArray:
    """One array, padded with NaN where series have different lengths."""
    try:
        if isinstance(values, np.ndarray) and values.dtype != object:
            return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
        series = [np.atleast_2d(np.asarray(one, dtype=np.float64)) for one in values]
    except (TypeError, ValueError):
        raise InvalidDataError("Series must hold numbers; give NaN for what is missing.") from None
    shapes = {one.shape[:-1] for one in series}
    if len(shapes) != 1:
        raise InvalidDataError(
            f"All series must have the same number of channels, but there are {len(shapes)} kinds among them."
            if shapes
            else "There are no series."
        )
    stacked = np.full((len(series), *shapes.pop(), max(one.shape[-1] for one in series)), np.nan)
    for row, one in zip(stacked, series, strict=True):
        row[..., : one.shape[-1]] = one
    return stacked


def bridged(values: FloatArray, lengths: IndexArray) -> FloatArray:
    """The same values with a straight line across every gap; 0 after the end and in channels without a number.

    Examples
    --------
    >>> bridged(np.array([[[np.nan, 1, np.nan, 3, np.nan]]]), np.array([4]))
    array([[[1., 1., 2., 3., 0.]]])
    """
    gaps = np.isnan(values)
    if not gaps.any():
        return values
    values = np.where(gaps, 0, values)
    for i, channel in np.argwhere(gaps.any(axis=2) & ~gaps.all(axis=2)):
        times = np.arange(lengths[i])
        known = times[~gaps[i, channel, : lengths[i]]]
        values[i, channel, : lengths[i]] = np.interp(times, known, values[i, channel, known])
    return values


def normalised(series: FloatArray, lengths: IndexArray) -> FloatArray:
    """
    Every channel of every series with mean 0 and variance 1 up to its end, or 0 where it is flat.

    Examples
    --------
    >>> normalised(np.array([[[1.0, 3.0, 0.0]], [[5.0, 5.0, 5.0]]]), np.array([2, 3]))
    array([[[-1.,  1.,  0.]],
    <BLANKLINE>
           [[ 0.,  0.,  0.]]])
    """
    count = lengths[:, None, None]
    inside = np.arange(series.shape[2]) < count
    largest = np.abs(series).max(axis=2, keepdims=True)
    found = series.astype(np.float64) / np.where(
        largest > 0, largest, 1
    )  # squares neither over- nor underflow
    found -= found.sum(axis=2, keepdims=True) / count
    found = np.where(inside, found, 0)
    spread = np.sqrt((found**2).sum(axis=2, keepdims=True) / count)
    found /= np.where(spread > 16 * np.finfo(series.dtype).eps, spread, np.inf)
    return found


def stretched(series: FloatArray, lengths: IndexArray) -> FloatArray:
    """All series at the length of the longest, by straight lines between their values."""
    longest = series.shape[2]
    if (lengths == longest).all():
        return series
    times = np.arange(longest)
    found = series.copy()
    for i in np.flatnonzero(lengths < longest):
        at = times * ((lengths[i] - 1) / max(1, longest - 1))
        for channel in range(series.shape[1]):
            found[i, channel] = np.interp(at, times[: lengths[i]], series[i, channel, : lengths[i]])
    return found
