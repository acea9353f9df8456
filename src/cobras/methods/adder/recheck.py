"""Which answers are probably wrong, judging from all others.

Some answers are the only ones that relate two sides: two clusters, or two parts of one that fall apart without the
answer. For these, b is the probability, without the answer, that the sides belong together. If a share e of all
answers is wrong, a "different" is wrong with probability e b / (e b + (1 - e)(1 - b)), and a "same" likewise. What
a second question puts right is that probability times the instances of one side times those of the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cobras.core.constraints import Constraints
from cobras.core.types import Answer, FloatArray, Pair
from cobras.methods.adder.points import Points
from cobras.methods.adder.predictors import FLOOR, KnownPoints, left_out_influence

PRIOR = 1.0, 30.0  # wrong answers out of so many, before any is seen


class Recheck(NamedTuple):
    """An answer, the two sides that it relates, the smaller first, and what asking again is worth."""

    worth: float
    pair: Pair
    answer: Answer
    sides: tuple[list[int], list[int]]


def answers_to_recheck(
    points: Points,
    constraints: Constraints,
    seeds: list[int],
    known: KnownPoints,
    similarity: FloatArray,
    predictors: tuple[str, ...],
) -> list[Recheck]:
    """The answers to questions that no other answer confirms, most doubtful first.

    `known` are the seeds with their clusters, and `similarity` says how likely each two seeds are in the same one.
    """
    cases = sorted(case for case in constraints.decisive_answers() if case[0] not in constraints.volunteered)
    if not cases:
        return []
    at = {i: x for x, i in enumerate(seeds)}
    # One column per case: which seeds are on the small side, and which on the large one.
    S, L = (np.zeros((len(seeds), len(cases))) for _ in range(2))
    for c, (_, _, (small, large)) in enumerate(cases):
        S[[at[i] for i in small], c] = 1
        L[[at[i] for i in large], c] = 1
    n_small, n_large = S.sum(axis=0), L.sum(axis=0)
    influence = left_out_influence(points, known, predictors)
    undecided = (1 - influence.sum(axis=1)) / (known.clusters.max() + 1)
    b = ((influence @ L + undecided[:, None]) * S).sum(axis=0) / n_small
    # Several seeds may be a cluster of their own, which predictors do not foresee.
    several = n_small > 1
    b[several] = np.maximum(b, ((similarity @ L) * S).sum(axis=0) / (n_small * n_large))[several]
    same = np.array([case[1] is Answer.SAME for case in cases])
    against = np.clip(np.where(same, 1 - b, b), FLOOR, 1 - FLOOR)
    n_wrong = PRIOR[0] + len(constraints.doubted)
    e = n_wrong / (PRIOR[1] + len(constraints) + len(constraints.doubted))
    wrong = e * against / (e * against + (1 - e) * (1 - against))
    # How many instances have each known point as their nearest one.
    nearest = points.columns("distance", known.points).argmin(axis=1)
    mass = np.bincount(nearest, weights=points.weight, minlength=len(known.points))
    worth = wrong * (mass @ S) * (mass @ L) / ((mass @ known.membership) ** 2).sum()
    order = np.argsort(-worth, kind="stable").tolist()
    return [Recheck(float(worth[c]), *cases[c]) for c in order]
