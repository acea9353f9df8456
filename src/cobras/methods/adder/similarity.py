"""How similar two points must be for this person to say "same": a small Bayesian model of the answers.

With u the share of all pairs that are more similar than these two, p(same) = 1 / (1 + (u / t)^s). Threshold t and
steepness s are unknown: a grid of both, for each measure, is weighted by the likelihood of the answers so far. So
a few answers tell which of the clusters that were not compared belong together. With k equal clusters t is about
1 / k, so the thresholds go from two clusters to a thousand, even in their logarithm.
"""

from __future__ import annotations

import numpy as np

from cobras.core.constraints import Constraints
from cobras.core.types import Answer, FloatArray, IndexArray
from cobras.methods.adder.points import MEASURES, SHARES, Points

THRESHOLDS = np.geomspace(0.001, 0.6, 16)
STEEPNESSES = np.array([0.5, 1, 2, 4, 8])
SLIP = 0.02  # the share of answers that similarity does not explain
_t, _s = (axis.ravel()[:, None] for axis in np.meshgrid(THRESHOLDS, STEEPNESSES))
# One row per hypothesis, one column per step of `SHARES`.
P_SAME: FloatArray = SLIP + (1 - 2 * SLIP) / (1 + (SHARES / _t) ** _s)
# The logarithms of the probabilities of "different", and after these of "same"; one column per hypothesis.
LOG_P: FloatArray = np.ascontiguousarray(np.log(np.hstack([1 - P_SAME, P_SAME])).T)


class Similarity:
    """What the answers say about how similar the members of a cluster are."""

    def __init__(self, points: Points, constraints: Constraints) -> None:
        self._points = points
        same = np.array([answer is Answer.SAME for _, answer in constraints], dtype=bool)
        a = points.of([pair.i for pair, _ in constraints])
        b = points.of([pair.j for pair, _ in constraints])
        evidence, self._p = [], []
        for measure in MEASURES:
            said = points.similarity_steps(measure, a, b) + np.where(same, len(SHARES), 0)
            likelihood = np.take(LOG_P, said, axis=0).sum(axis=0)
            weight = np.exp(likelihood - likelihood.max())
            evidence.append(likelihood.max() + np.log(weight.sum()))
            self._p.append(weight / weight.sum() @ P_SAME)
        trust = np.exp(np.array(evidence) - max(evidence))
        self._trust = trust / trust.sum()

    def probabilities(self, points: IndexArray) -> FloatArray:
        """How likely each two of these points are in the same cluster."""
        p: FloatArray = sum(
            t * p.take(self._points.steps_among(measure, points))
            for t, p, measure in zip(self._trust, self._p, MEASURES, strict=True)
            if t > 1e-3
        )
        return p
