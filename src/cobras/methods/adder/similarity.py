"""How similar two points must be for this person to say "same": a small Bayesian model of the answers.

With u the share of all pairs that are more similar than these two, p(same) = 1 / (1 + (u / t)^s). Threshold t and
steepness s are unknown: a grid of both, for each measure, is weighted by the likelihood of the answers so far. So
a few answers tell which of the clusters that were not compared belong together.
"""

from __future__ import annotations

import numpy as np

from cobras.core.constraints import Constraints
from cobras.core.types import Answer, FloatArray, IndexArray
from cobras.methods.adder.points import Points

THRESHOLDS = np.array([0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6])
STEEPNESSES = np.array([0.5, 1, 2, 4, 8])
SLIP = 0.02  # the share of answers that similarity does not explain
N_STEPS = 500
_u = np.linspace(0.002, 1, N_STEPS)
_t, _s = (axis.ravel()[:, None] for axis in np.meshgrid(THRESHOLDS, STEEPNESSES))
# One row per hypothesis, one column per step of u.
P_SAME: FloatArray = SLIP + (1 - 2 * SLIP) / (1 + (_u / _t) ** _s)

MEASURES = ("distance", "near", "far")


class Similarity:
    """What the answers say about how similar the members of a cluster are."""

    def __init__(self, points: Points, constraints: Constraints) -> None:
        self._points = points
        same = np.array([answer is Answer.SAME for _, answer in constraints], dtype=bool)
        a = points.of([pair.i for pair, _ in constraints])
        b = points.of([pair.j for pair, _ in constraints])
        evidence, self._p = [], []
        for measure in MEASURES:
            p = P_SAME[:, self._steps(measure, a, b)]
            likelihood = np.log(np.where(same, p, 1 - p)).sum(axis=1)
            weight = np.exp(likelihood - likelihood.max())
            evidence.append(likelihood.max() + np.log(weight.sum()))
            self._p.append(weight / weight.sum() @ P_SAME)
        trust = np.exp(np.array(evidence) - max(evidence))
        self._trust = trust / trust.sum()

    def probabilities(self, points: IndexArray) -> FloatArray:
        """How likely each two of these points are in the same cluster."""
        a, b = np.meshgrid(points, points, indexing="ij")
        steps = (self._steps(measure, a.ravel(), b.ravel()) for measure in MEASURES)
        p: FloatArray = sum(t * p[s] for t, p, s in zip(self._trust, self._p, steps, strict=True))
        return p.reshape(a.shape)

    def _steps(self, measure: str, a: IndexArray, b: IndexArray) -> IndexArray:
        u = self._points.share_more_similar(measure, a, b)
        steps: IndexArray = np.minimum((u * N_STEPS).astype(np.intp), N_STEPS - 1)
        return steps
