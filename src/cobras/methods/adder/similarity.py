"""How similar two points must be for this person to say "same": a small Bayesian model of the answers.

With u the share of all pairs that are more similar than these two, p(same) = 1 / (1 + (u / t)^s). Threshold t and
steepness s are unknown: a grid of both, for each measure, is weighted by the likelihood of the answers so far. So
a few answers tell which of the clusters that were not compared belong together. With k equal clusters t is about
1 / k, so the thresholds go from two clusters to a thousand, even in their logarithm.

Or the clusters are, roughly, what k-means finds for one of a few small k (`BLOCKS`): two points of a block
are nearly always the same, and two of different blocks as often as the answers say. This is one more measure, whose
weight is divided among the k. Where it fits, a few answers tell which coarse clustering is meant; elsewhere it soon
loses its weight.

A cluster may also consist of several regions, as a department of a shop does of kinds of goods. Then pairs can be
the same that are nearly surely different by their similarity. There are two hypotheses: that hardly any of them is,
and that one in ten is. The answers about such pairs tell which of the two holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from cobras.core.constraints import Constraints
from cobras.core.types import Answer, BoolArray, FloatArray, IndexArray
from cobras.methods.adder.geometry.points import Points
from cobras.methods.adder.geometry.relations import MEASURES, SHARES

THRESHOLDS = np.geomspace(0.001, 0.6, 16)
STEEPNESSES = np.array([0.5, 1, 2, 4, 8])
SLIP = 0.02  # the share of answers that similarity does not explain
OPEN = 0.1  # what is less likely than this is nearly known
REGIONS = 0.02  # how likely clusters consist of several regions, before anything is answered
FAR_SAME = 1e-4, 0.1  # the share of "same" among pairs that are nearly surely different: if not so, and if so
# The beta distributions of the share of "same" inside a block and across two, as numbers of "same" and "different".
INSIDE, ACROSS = (9.5, 0.5), (0.25, 4.75)
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
        evidence, self._p = list[float](), []
        for measure in MEASURES:
            said = points.similarity_steps(measure, a, b) + np.where(same, len(SHARES), 0)
            likelihood = np.take(LOG_P, said, axis=0).sum(axis=0)
            weight = np.exp(likelihood - likelihood.max())
            evidence.append(likelihood.max() + np.log(weight.mean()))
            self._p.append(weight / weight.sum() @ P_SAME)
        of_blocks, self._p_block = block_evidence(points.blocks[:, a] == points.blocks[:, b], same)
        evidence += (of_blocks - math.log(max(len(of_blocks), 1))).tolist()
        trust = np.exp(np.array(evidence) - max(evidence))
        self._trust = trust / trust.sum()
        is_far = self._mixed(lambda measure: points.similarity_steps(measure, a, b), a, b) < OPEN
        self.far_same = chance_of_far_same(int((is_far & same).sum()), int((is_far & ~same).sum()))

    def probabilities(self, points: IndexArray) -> FloatArray:
        """How likely each two of these points are in the same cluster."""
        steps = lambda measure: self._points.steps_among(measure, points)  # noqa: E731
        return self._mixed(steps, points[:, None], points)

    def _mixed(self, steps: Callable[[str], IndexArray], a: IndexArray, b: IndexArray) -> FloatArray:
        """How likely pairs of points are the same, whose similarity by each measure is at these steps."""
        trust, n_measures = self._trust, len(MEASURES)
        p: FloatArray = sum(
            t * p.take(steps(measure))
            for t, p, measure in zip(trust[:n_measures], self._p, MEASURES, strict=True)
            if t > 1e-3
        )
        of_blocks = zip(trust[n_measures:], self._points.blocks, self._p_block, strict=True)
        for t, block, (inside, across) in of_blocks:
            if t > 1e-3:
                p = p + t * np.where(block[a] == block[b], inside, across)
        return p


@partial(np.vectorize, otypes=[float])
def log_beta(a: float, b: float) -> float:
    """The logarithm of the beta function; that of scipy takes long to import."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def block_evidence(inside: BoolArray, same: BoolArray) -> tuple[FloatArray, FloatArray]:
    """The log-likelihood of answers under each choice of blocks, and how likely a pair is the same there.

    `inside` says for each choice, in rows, which pairs lie in one block. The second result has two columns: inside
    a block, and across two.

    Examples
    --------
    >>> likelihood, p = block_evidence(np.array([[True, False], [False, True]]), np.array([True, False]))
    >>> np.exp(likelihood).round(4), p.round(2)
    (array([0.9025, 0.0025]), array([[0.95, 0.04],
           [0.86, 0.21]]))
    """
    likelihood, p = np.zeros(len(inside)), np.empty((len(inside), 2))
    for column, (pairs, (a, b)) in enumerate(((inside, INSIDE), (~inside, ACROSS))):
        n_same, n_different = (pairs & same).sum(axis=1), (pairs & ~same).sum(axis=1)
        likelihood += log_beta(a + n_same, b + n_different) - log_beta(a, b)
        p[:, column] = (a + n_same) / (a + b + n_same + n_different)
    return likelihood, p


def chance_of_far_same(n_same: int, n_different: int) -> float:
    """How likely a pair that is nearly surely different is the same, after so many answers about such pairs.

    Examples
    --------
    >>> [round(chance_of_far_same(0, n), 5) for n in (0, 20, 50)]
    [0.0021, 0.00035, 0.00011]
    >>> round(chance_of_far_same(1, 20), 3)
    0.071
    """
    one, several = FAR_SAME
    log_odds = math.log(REGIONS / (1 - REGIONS))
    log_odds += n_same * math.log(several / one) + n_different * math.log((1 - several) / (1 - one))
    # Beyond this it is sure, and the exponential of hundreds of answers is no number.
    share = 1 / (1 + math.exp(-min(max(log_odds, -50), 50)))
    return one + share * (several - one)
