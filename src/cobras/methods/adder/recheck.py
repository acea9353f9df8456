"""Which answers are probably wrong, judging from all others.

An answer that alone relates two sides, be it two clusters or the parts of one that would fall apart without it, is
held against the picture: b is the belief, without this answer, that the sides belong together. If a share e of all
answers is wrong, a "different" is wrong with probability e b / (e b + (1 - e)(1 - b)), and a "same" likewise. What
a second question would put right is that probability times the instances of one side times those of the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cobras.core.constraints import Constraints
from cobras.core.types import Answer, FloatArray, Pair
from cobras.methods.adder.points import Landscape
from cobras.methods.adder.predictors import LEAST, Known, heard

PRIOR = 1.0, 30.0  # wrong answers out of so many, before any is seen


class Doubt(NamedTuple):
    """An answer, the two sides that it relates, the smaller first, and the worth of asking again."""

    worth: float
    pair: Pair
    answer: Answer
    sides: tuple[list[int], list[int]]


def doubts(
    land: Landscape,
    constraints: Constraints,
    seeds: list[int],
    known: Known,
    alike: FloatArray,
    predictors: tuple[str, ...],
) -> list[Doubt]:
    """The answers to questions that nothing confirms, most doubtful first.

    Parameters
    ----------
    seeds, known
        The instances with known clusters, and these clusters.
    alike : array of shape (len(seeds), len(seeds))
        How likely each two seeds are in the same cluster, by their likeness alone.
    """
    cases = sorted(case for case in constraints.decisive() if case[0] not in constraints.volunteered)
    if not cases:
        return []
    at = {i: x for x, i in enumerate(seeds)}
    S, R = (np.zeros((len(seeds), len(cases))) for _ in range(2))
    for c, (_, _, (small, large)) in enumerate(cases):
        S[[at[i] for i in small], c] = 1
        R[[at[i] for i in large], c] = 1
    n_small, n_large = S.sum(axis=0), R.sum(axis=0)
    by = heard(land, known, predictors)
    unheard = (1 - by.sum(axis=1)) / (known.clusters.max() + 1)
    b = ((by @ R + unheard[:, None]) * S).sum(axis=0) / n_small
    several = n_small > 1  # they may be a cluster of their own, of which predictors know nothing
    b[several] = np.maximum(b, ((alike @ R) * S).sum(axis=0) / (n_small * n_large))[several]
    same = np.array([case[1] is Answer.SAME for case in cases])
    against = np.clip(np.where(same, 1 - b, b), LEAST, 1 - LEAST)
    n_wrong = PRIOR[0] + len(constraints.doubted)
    e = n_wrong / (PRIOR[1] + len(constraints) + len(constraints.doubted))
    wrong = e * against / (e * against + (1 - e) * (1 - against))
    mass = masses(land, known)
    worth = wrong * (mass @ S) * (mass @ R) / ((mass @ known.membership) ** 2).sum()
    order = np.argsort(-worth, kind="stable").tolist()
    return [Doubt(float(worth[c]), *cases[c]) for c in order]


def masses(land: Landscape, known: Known) -> FloatArray:
    """How many instances each known point is the nearest of."""
    nearest = land.columns("distance", known.points).argmin(axis=1)
    return np.bincount(nearest, weights=land.weight, minlength=len(known.points)).astype(np.float64)
