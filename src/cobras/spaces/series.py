"""Time series: COBRAS-TS (Van Craenendonck et al., 2018), by dynamic time warping or by shape.

`distance="dtw"` is COBRAS-DTW: all pairs of series are compared once, and super-instances are split by spectral
clustering. `distance="kshape"` is COBRAS-kShape. Departures from the authors' code: a representative is always a
training instance, the medoid of the first super-instance included; series at distance 0 are not asked about; and a
super-instance is split wherever it holds two different training instances. As in every space, random numbers belong
to the node of the split tree and splits are memoised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np

from cobras.core.exceptions import InvalidDataError
from cobras.core.partition import Child, NodePath, Split, SuperInstance
from cobras.core.types import BoolArray, FloatArray, IndexArray
from cobras.spaces.kernels.dtw import dtw_matrix
from cobras.spaces.kernels.kmeans import Uniforms
from cobras.spaces.kernels.kshape import KShape
from cobras.spaces.kernels.spectral import Spectral
from cobras.spaces.ragged import as_series, bridged, normalised, stretched

MOST_SERIES = 10_000  # for DTW: 400 MB for the distances of all pairs, and 800 more during the first split


class Geometry(Protocol):
    """How series are cut, ranked and compared."""

    def cut(self, members: IndexArray, k: int, rng: Uniforms) -> tuple[IndexArray, FloatArray | None]:
        """At most k groups: a number for every member, and the centres of the groups, if it has any."""

    def describe(
        self, candidates: IndexArray, members: IndexArray, start: FloatArray | None
    ) -> tuple[IndexArray, FloatArray]:
        """The candidates, the one that best stands for the members first, and their centroid."""

    def to(self, members: IndexArray, parts: Sequence[SuperInstance]) -> FloatArray:
        """The distance of every member to every part."""

    def between(self, a: Sequence[SuperInstance], b: Sequence[SuperInstance]) -> FloatArray:
        """The distance between every part of a and every one of b."""


class SeriesSpace:
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
        self._splits: dict[tuple[int, NodePath, Split | None], tuple[SuperInstance, ...]] = {}

    @property
    def table(self) -> FloatArray:
        """All values as one table, a row for each series: what a session file recognises them by."""
        return self.values.reshape(self.n, -1)

    def root(self, seed: int) -> SuperInstance:
        """The super-instance that holds everything."""
        if (seed, (), None) not in self._splits:
            self._splits[seed, (), None] = (self._part(np.arange(self.n, dtype=np.int32), None, seed, ()),)
        return self._splits[seed, (), None][0]

    def split(
        self, s: SuperInstance, k: int, among: Literal["all", "train"] = "all", draw: int = 0
    ) -> tuple[SuperInstance, ...]:
        """At most k parts, each with a training member; two at least where training members are different."""
        split = Split(min(k, s.n_train), among, draw)
        if split.k < 2:
            return (s,)
        node = s.seed, s.path, split
        if node not in self._splits:
            shown = self._shown[s.members]
            deciding = s.members if among == "all" else s.members[shown]
            labels, centres = self._geometry.cut(deciding, split.k, s.random(split))
            groups = [
                self._part(
                    deciding[labels == g],
                    None if centres is None else centres[g],
                    s.seed,
                    (*s.path, Child(split, g)),
                )
                for g in range(int(labels.max()) + 1)
            ]
            parts = self._housed(groups, s.members[:0] if among == "all" else s.members[~shown])
            self._splits[node] = parts if len(parts) > 1 else (s,)
        return self._splits[node]

    def representatives(self, s: SuperInstance, count: int) -> tuple[int, ...]:
        """The medoid, then the training members that stand for the others next best."""
        shown = s.members[self._shown[s.members]]
        order, _ = self._geometry.describe(shown, s.members, s.centroid)
        others = (int(i) for i in order[: count + 1])
        return (s.representative, *(i for i in others if i != s.representative))[:count]

    def distances(self, a: Sequence[SuperInstance], b: Sequence[SuperInstance]) -> FloatArray:
        """DTW between representatives, or the shape-based distance between centroids."""
        return self._geometry.between(a, b)

    @cached_property
    def _geometry(self) -> Geometry:
        """Made when first needed: it is nearly all of the work."""
        series = bridged(self.values, self.lengths)
        if self.parameters["normalise"]:
            series = normalised(series, self.lengths)
        if self.parameters["distance"] == "kshape":
            return KShape(stretched(series, self.lengths))
        distances = dtw_matrix(series, self.lengths, self.parameters["window"], self.n_jobs, self.progress)
        return Spectral(distances, self.parameters["alpha"], series)

    def _housed(self, groups: Sequence[SuperInstance], others: IndexArray) -> tuple[SuperInstance, ...]:
        """Let groups without a training member, and single others, follow the nearest group that has one."""
        good = [group for group in groups if group.n_train]
        lonely = [group for group in groups if not group.n_train]
        if not lonely and not len(others):
            return tuple(groups)
        joining: list[list[IndexArray]] = [[part.members] for part in good]
        if lonely:
            for group, home in zip(lonely, self._geometry.between(lonely, good).argmin(axis=1), strict=True):
                joining[home].append(group.members)
        if len(others):
            nearest = self._geometry.to(others, good).argmin(axis=1)
            for home in range(len(good)):
                joining[home].append(others[nearest == home])
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
        if distance not in ("dtw", "kshape"):
            raise InvalidDataError(f"distance must be one of dtw, kshape, not {distance!r}.")
        if not 0 <= window <= 1 or not alpha > 0:
            raise InvalidDataError(
                f"window must lie between 0 and 1 and alpha above 0, but they are {window!r} and {alpha!r}."
            )
        if n_jobs < 1:
            raise InvalidDataError(f"n_jobs must be a whole number from 1 on, not {n_jobs!r}.")
        if distance == "dtw" and self.n > MOST_SERIES:
            raise InvalidDataError(
                f"DTW compares every pair of series: {self.n} are too many, at most {MOST_SERIES} are accepted. "
                "Cluster a sample of them, or use distance='kshape'."
            )
