"""How sure ADDER is of each row, and where new rows belong.

The probabilities are those of the mixture of predictors, whose temperatures the answers chose: of the rows that are
said to be 80 % sure, about 80 % are right. So are those of a new row, which is the less sure the farther it is from
all points. What needs coordinates alone is for a new row as it is for points; what diffuses over the graph is the
mean over the nearest points, near ones counting more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cobras.core.types import FloatArray, IndexArray
from cobras.methods.adder.geometry.points import Points
from cobras.methods.adder.geometry.relations import SHARPNESS
from cobras.methods.adder.state import State
from cobras.methods.protocol import ANSWERED

N_NEAREST = 5
AT_ONCE = 2**13  # new rows at a time, so that their relations to all seeds take little memory


@dataclass(frozen=True, slots=True)
class Certainty:
    """The beliefs of a run of ADDER at the step where it waits.

    `shown` are the probabilities and clusters of points, where they are not those of the constraints as they are.
    """

    state: State
    shown: tuple[FloatArray, IndexArray] | None = None

    def confidence(self) -> FloatArray:
        """How likely each row is in the cluster where it is shown."""
        p, number = self.shown or self.state.shown_probabilities()
        points = self.state.points
        at = p[np.arange(len(p)), number]
        settled = points.of(self.state.settled_instances())
        at[settled] = np.maximum(at[settled], ANSWERED)
        sure: FloatArray = at[points.of(range(points.n_instances))].astype(np.float32)
        return sure

    def expected_ari(self) -> float:
        """How well the clustering is expected to agree with what the person has in mind."""
        return self.state.expected_ari(self.shown)

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """How likely each cluster is for new rows: by the same predictors as for the others."""
        starts = range(0, len(X), AT_ONCE)
        return np.concatenate([self._probabilities(X[start : start + AT_ONCE]) for start in starts])

    def _probabilities(self, X: FloatArray) -> FloatArray:
        rows = NewRows(self.state.points, X)
        found = None if self.shown is not None else self.state.new_probabilities(rows)
        if found is None:
            # What is shown is not what is predicted: that of the nearest points.
            found = rows.means((self.shown or self.state.shown_probabilities())[0])
        # How far points are from each other at most: beyond that, a new row is unlike anything seen.
        apart = self.state.points.gap
        sure = np.divide(apart, rows.away, out=np.ones_like(rows.away), where=rows.away > apart)
        shares: FloatArray = sure * found + (1 - sure) / found.shape[1]
        return shares


class NewRows:
    """New rows with those relations to points that predictors need; see `geometry.points.Points`.

    Attributes
    ----------
    away : array of shape (n, 1)
        How far each row is from the nearest point.
    rows32, squares32 : array
        The rows as points have them, and their squared lengths.
    """

    def __init__(self, points: Points, X: FloatArray) -> None:
        self._points = points
        self.rows32 = points.measure(X)
        self.squares32: FloatArray = (self.rows32 * self.rows32).sum(axis=1)
        self._near, distance = points.nearest_to(self.rows32, N_NEAREST)
        self.away = distance[:, :1]
        # In units of the nearest one; a row that was there already counts alone.
        weight = np.divide(self.away, distance, out=np.ones_like(distance), where=distance > 0) ** 2
        self._weight = weight / weight.sum(axis=1, keepdims=True)
        # Several predictors need the same relations.
        self._kept: dict[tuple[str, bytes], FloatArray] = {}

    @cached_property
    def by_column(self) -> FloatArray:
        """The values of the rows, one row per column of the data."""
        return self._points.columns_of(self.rows32)

    def means(self, values: FloatArray) -> FloatArray:
        """What is known of the points, (n_points, k), at the new rows: (n, k)."""
        found: FloatArray = np.einsum("ij,ijk->ik", self._weight, values[self._near])
        return found

    def nearest(self, known: IndexArray) -> IndexArray:
        """Which of the known points is nearest to each row, by its number among them."""
        found: IndexArray = self._squared_distances(known).argmin(axis=0)
        return found

    def columns(self, relation: str, points: IndexArray) -> FloatArray:
        """The Gaussians of the distances of the rows to these points: (n, m)."""
        key = relation, points.tobytes()
        if key not in self._kept:
            scale = np.float32(-SHARPNESS[relation] / self._points.median)
            self._kept[key] = np.exp(self._squared_distances(points) * scale).T
        return self._kept[key]

    def sums(self, relation: str, points: IndexArray, clusters: IndexArray) -> FloatArray:
        """The sums of a diffusion from these points in each cluster: (k, n)."""
        return self.means(self._points.sums(relation, points, clusters).T).T.astype(np.float32)

    def _squared_distances(self, points: IndexArray) -> FloatArray:
        key = "distance", points.tobytes()
        if key not in self._kept:
            rows, squares = self._points.rows32[points], self._points.squares32[points]
            self._kept[key] = np.maximum(squares[:, None] + self.squares32 - 2 * rows @ self.rows32.T, 0)
        return self._kept[key]
