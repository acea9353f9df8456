"""Time series: COBRAS-TS (Van Craenendonck et al., 2018), by dynamic time warping or by shape.

`distance="dtw"` is COBRAS-DTW: all pairs of series are compared once, and super-instances are split by spectral
clustering. `distance="kshape"` is COBRAS-kShape. Departures from the authors' code: a representative is always a
training instance, the medoid of the first super-instance included; series at distance 0 are not asked about; and a
super-instance is split wherever it holds two different training instances.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

from cobras.core.checks import check_options
from cobras.core.exceptions import InvalidDataError
from cobras.core.partition import Child, NodePath, Partition, Split, SuperInstance
from cobras.core.types import BoolArray, FloatArray, IndexArray
from cobras.spaces.base import Parts, TreeSpace
from cobras.spaces.kernels.dtw import dtw_matrix
from cobras.spaces.kernels.kshape import KShape
from cobras.spaces.kernels.scaling import landmark_scaling
from cobras.spaces.kernels.spectral import SpectralGeometry

LARGEST = 1e15  # distances are kept in single precision
N_LANDMARKS = 500  # series from whose distances all others get their coordinates
MOST_SERIES = 10_000  # for DTW: 400 MB for the distances of all pairs, and 800 more during the first split


class SeriesSpace(TreeSpace):
    """Time series, some of which may be shown.

    Parameters
    ----------
    values : array of shape (n, length) or (n, channels, length), or list of arrays (length,) or (channels, length)
        The series. NaN at the end of a series is padding; a gap inside is bridged by a straight line.
    train : array of bool, optional
        Which series may be shown in a question; all by default.
    distance : {"dtw", "kshape"}
        Dynamic time warping with spectral splits, or k-Shape. DTW compares series of different lengths as they
        are; for k-Shape they are stretched to the length of the longest.
    window : float
        How far DTW may warp, as a part of the longest series; 1 for any distance.
    alpha : float
        The affinity of two series is exp(-alpha DTW).
    normalise : bool
        Bring every channel of every series to mean 0 and variance 1 first.
    n_jobs : int
        Threads for the distances of DTW; the result does not depend on it.
    progress : callable, optional
        Told which part of these distances is done, from 0 to 1.

    Examples
    --------
    >>> t = np.arange(30)
    >>> values = [np.sin(t / 2), np.sin(t / 2 + 0.3), np.cos(t / 7), np.cos(t / 7 - 0.2)[:25]]
    >>> space = SeriesSpace(values)
    >>> sorted(part.members.tolist() for part in space.split(space.root(seed=0), 2))
    [[0, 1], [2, 3]]
    """

    def __init__(
        self,
        values: Any,
        train: BoolArray | None = None,
        *,
        distance: Literal["dtw", "kshape"] = "dtw",
        window: float = 0.1,
        alpha: float = 0.5,
        normalise: bool = True,
        n_jobs: int = 1,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        super().__init__()
        self.values, self.lengths = as_series(values)
        self.n = len(self.values)
        self.train = None if train is None else self._mask(np.asarray(train))
        self.parameters: dict[str, Any] = {
            "space": "series",
            "distance": distance,
            "normalise": bool(normalise),
            "channels": self.values.shape[1],
        }
        if distance == "dtw":
            self.parameters |= {"window": float(window), "alpha": float(alpha)}
        self._check(distance, window, alpha, n_jobs)
        self.n_jobs = n_jobs
        self.progress = progress
        self._shown = np.ones(self.n, dtype=bool) if self.train is None else self.train
        self.memo: dict[Any, Any] = {}

    @property
    def table(self) -> FloatArray:
        """Return all values as one table, a row for each series: what a session file recognises them by."""
        return self.values.reshape(self.n, -1)

    def distances(self, a: Sequence[SuperInstance], b: Sequence[SuperInstance]) -> FloatArray:
        """Return DTW between representatives, or the shape-based distance between centroids."""
        return self._geometry.distances_between(a, b)

    def coordinates(self) -> FloatArray:
        """Return one row of numbers per series; their Euclidean distances are about those of the space."""
        if "coordinates" not in self.memo:
            landmarks = np.unique(np.linspace(0, self.n - 1, min(self.n, N_LANDMARKS)).astype(np.intp))
            squared = self._geometry.squared_distances_to_series(landmarks)
            self.memo["coordinates"] = landmark_scaling(squared, landmarks)
        found: FloatArray = self.memo["coordinates"]
        return found

    def partition(self, labels: IndexArray) -> Partition:
        """Return the clustering given by labels: one super-instance for each cluster."""
        members = (np.flatnonzero(labels == label).astype(np.int32) for label in np.unique(labels))
        return Partition.of((self._part(rows, None, 0, ()),) for rows in members)

    @cached_property
    def _geometry(self) -> SpectralGeometry | KShape:
        """Return the distances; made when first needed, because they are nearly all of the work."""
        series = fill_gaps(self.values, self.lengths)
        if self.parameters["normalise"]:
            series = standardize(series, self.lengths)
        if self.parameters["distance"] == "kshape":
            return KShape(stretch(series, self.lengths))
        distances = dtw_matrix(series, self.lengths, self.parameters["window"], self.n_jobs, self.progress)
        return SpectralGeometry(distances, self.parameters["alpha"], series)

    def _make_root(self, seed: int) -> SuperInstance:
        return self._part(np.arange(self.n, dtype=np.int32), None, seed, ())

    def _make_parts(self, s: SuperInstance, split: Split) -> Parts:
        shown = self._shown[s.members]
        deciding = s.members if split.among == "all" else s.members[shown]
        labels, centres = self._geometry.groups(deciding, split.k, s.random(split))
        groups = []
        for g in range(int(labels.max()) + 1):
            start = None if centres is None else centres[g]
            groups.append(self._part(deciding[labels == g], start, s.seed, (*s.path, Child(split, g))))
        parts = self._attach(groups, s.members[:0] if split.among == "all" else s.members[~shown])
        return parts if len(parts) > 1 else (s,)

    def _best_members(self, s: SuperInstance, count: int) -> IndexArray:
        order, _ = self._geometry.describe(s.members[self._shown[s.members]], s.members, s.centroid)
        return order[:count]

    def _attach(self, groups: Sequence[SuperInstance], others: IndexArray) -> Parts:
        """Let groups without a training member, and single others, follow the nearest group that has one."""
        good = [group for group in groups if group.n_train]
        untrained = [group for group in groups if not group.n_train]
        if not untrained and not len(others):
            return tuple(groups)
        joining: list[list[IndexArray]] = [[part.members] for part in good]
        if untrained:
            nearest = self._geometry.distances_between(untrained, good).argmin(axis=1)
            for group, target in zip(untrained, nearest, strict=True):
                joining[target].append(group.members)
        if len(others):
            nearest = self._geometry.distances_to(others, good).argmin(axis=1)
            for target in range(len(good)):
                joining[target].append(others[nearest == target])
        return tuple(
            part
            if len(members) == len(part)
            else self._part(np.sort(members), part.centroid, part.seed, part.path)
            for part, members in zip(good, map(np.concatenate, joining), strict=True)
        )

    def _part(
        self, members: IndexArray, start: FloatArray | None, seed: int, path: NodePath
    ) -> SuperInstance:
        shown = members[self._shown[members]]
        order, centroid = self._geometry.describe(shown if len(shown) else members, members, start)
        return SuperInstance(members, int(order[0]), centroid, len(shown), seed, path)

    def _mask(self, train: BoolArray) -> BoolArray | None:
        if train.dtype != bool or train.shape != (self.n,):
            raise InvalidDataError(
                f"train must be a boolean mask with one value for each of the {self.n} series."
            )
        if not train.any():
            raise InvalidDataError("train names no series, so nothing could be asked. Name at least one.")
        return None if train.all() else train

    def _check(self, distance: str, window: float, alpha: float, n_jobs: int) -> None:
        check_options(SeriesSpace.__init__, {"distance": distance, "n_jobs": n_jobs})
        if not 0 <= window <= 1 or not alpha > 0:
            raise InvalidDataError(
                f"window must lie between 0 and 1 and alpha above 0, but they are {window!r} and {alpha!r}."
            )
        if distance == "dtw" and self.n > MOST_SERIES:
            raise InvalidDataError(
                f"DTW compares every pair of series: {self.n} are too many, at most {MOST_SERIES} are accepted. "
                "Cluster a sample of them, or use distance='kshape'."
            )


def as_series(values: Any) -> tuple[FloatArray, IndexArray]:
    """
    Return series as one array of shape (n, channels, length), NaN after the end of each, and their lengths.

    Examples
    --------
    >>> series, lengths = as_series([[1, 2, 3], [4.5]])
    >>> series.tolist(), lengths.tolist()
    ([[[1.0, 2.0, 3.0]], [[4.5, nan, nan]]], [3, 1])
    """
    array = _pad(values)
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


def _pad(values: Any) -> FloatArray:
    """Return one array, padded with NaN where series have different lengths."""
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


def fill_gaps(values: FloatArray, lengths: IndexArray) -> FloatArray:
    """Return values with a straight line across every gap; 0 after the end and in channels without a number.

    Examples
    --------
    >>> fill_gaps(np.array([[[np.nan, 1, np.nan, 3, np.nan]]]), np.array([4]))
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


def standardize(series: FloatArray, lengths: IndexArray) -> FloatArray:
    """Return every channel of every series with mean 0 and variance 1 up to its end, or 0 where it is flat."""
    count = lengths[:, None, None]
    inside = np.arange(series.shape[2]) < count
    largest = np.abs(series).max(axis=2, keepdims=True)
    # Divided by the largest number first, so that squares neither over- nor underflow.
    found = series.astype(np.float64) / np.where(largest > 0, largest, 1)
    found -= found.sum(axis=2, keepdims=True) / count
    found = np.where(inside, found, 0)
    spread = np.sqrt((found**2).sum(axis=2, keepdims=True) / count)
    # A spread of a few roundings is that of a flat series.
    found /= np.where(spread > 16 * np.finfo(series.dtype).eps, spread, np.inf)
    return found


def stretch(series: FloatArray, lengths: IndexArray) -> FloatArray:
    """Return all series at the length of the longest, by straight lines between their values."""
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
