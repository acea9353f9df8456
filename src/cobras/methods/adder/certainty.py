"""How sure ADDER is of each row, and where new rows belong.

The probabilities are those of the mixture of predictors, whose temperatures the answers chose: of the rows that are
said to be 80 % sure, about 80 % are right. A new row is as likely in each cluster as the points next to it, and the
less sure the farther it is from all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cobras.core.types import FloatArray, IndexArray
from cobras.methods.adder.state import State
from cobras.methods.protocol import ANSWERED

N_NEAREST = 5


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
        answered = points.of(sorted(self.state.answered_instances()))
        at[answered] = np.maximum(at[answered], ANSWERED)
        sure: FloatArray = at[points.of(range(points.n_instances))].astype(np.float32)
        return sure

    def expected_ari(self) -> float:
        """How well the clustering is expected to agree with what the person has in mind."""
        return self.state.expected_ari(self.shown)

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """How likely each cluster is for new rows: the mean over the nearest points, near ones counting more."""
        from sklearn.neighbors import NearestNeighbors

        p, _ = self.shown or self.state.shown_probabilities()
        rows = self.state.points.places
        search = NearestNeighbors(n_neighbors=min(N_NEAREST, len(rows))).fit(rows)
        distance, near = search.kneighbors(np.asarray(X, dtype=rows.dtype))
        nearest = distance[:, :1]
        # In units of the nearest one, whatever the units of X are; a row that was there already counts alone.
        weight = np.divide(nearest, distance, out=np.ones_like(distance), where=distance > 0) ** 2
        found = np.einsum("ij,ijk->ik", weight, p[near])
        found /= found.sum(axis=1, keepdims=True)
        # How far points are from each other at most: beyond that, a new row is unlike anything seen.
        apart = self.state.points.gap
        sure = np.divide(apart, nearest, out=np.ones_like(nearest), where=nearest > apart)
        shares: FloatArray = sure * found + (1 - sure) / found.shape[1]
        return shares
