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
from cobras.core.types import Answer, FloatArray, IndexArray, Pair
from cobras.methods.adder.geometry.points import Points
from cobras.methods.adder.mixture import FLOOR
from cobras.methods.adder.predictors import KnownPoints

N_ROUNDS = 5
PRIOR = 1.0, 30.0  # wrong answers out of so many, before any is seen


class Recheck(NamedTuple):
    """An answer, the two sides that it relates, the smaller first, and what asking again is worth.

    `wrong` is how likely the answer is wrong if another pair of the two sides gets the other answer.
    """

    worth: float
    wrong: float
    pair: Pair
    answer: Answer
    sides: tuple[list[int], list[int]]


def answers_to_recheck(
    points: Points,
    constraints: Constraints,
    seeds: list[int],
    known: KnownPoints,
    groups: KnownPoints,
    similarity: FloatArray,
    left_out: FloatArray,
) -> list[Recheck]:
    """The answers to questions that no other answer confirms, most doubtful first.

    `known` are the seeds with their components, `groups` with those joined that are probably one cluster.
    `similarity` says how likely each two seeds are in the same cluster, and `left_out` how likely each seed is in
    each group, judging from the others.
    """
    cases = sorted(case for case in constraints.decisive_answers() if case[0] not in constraints.volunteered)
    if not cases:
        return []
    at = {i: x for x, i in enumerate(seeds)}
    # One column per case: which seeds are on the small side, and which on the large one.
    S, L = (sides_of(cases, side, at) for side in (0, 1))
    n_small, n_large = S.sum(axis=0), L.sum(axis=0)
    # The group of the large side, and how likely the small side is in it, judging from the others.
    group = groups.clusters[[at[large[0]] for _, _, (_, large) in cases]]
    b = (left_out[:, group] * S).sum(axis=0) / n_small
    # Several seeds predict each other, so that only their similarity to the other side can speak against an answer.
    same = np.array([case[1] is Answer.SAME for case in cases])
    alike, several = np.zeros(len(cases)), n_small > 1
    alike[several] = ((similarity @ L[:, several]) * S[:, several]).sum(axis=0)
    alike /= n_small * n_large
    b = np.where(n_small == 1, b, np.where(same, alike, np.maximum(b, alike)))
    against = np.clip(np.where(same, 1 - b, b), FLOOR, 1 - FLOOR)
    e = share_of_wrong_answers(constraints)
    wrong = e * against / (e * against + (1 - e) * (1 - against))
    # How many instances have each known point as their nearest one.
    nearest = points.nearest(known.points)
    mass = np.bincount(nearest, weights=points.weight, minlength=len(known.points))
    worth = wrong * (mass @ S) * (mass @ L) / ((mass @ known.membership) ** 2).sum()
    order = np.argsort(-worth, kind="stable").tolist()
    contradicted = wrong * (1 - e) / (wrong * (1 - e) + (1 - wrong) * e)
    return [Recheck(float(worth[c]), float(contradicted[c]), *cases[c]) for c in order]


def share_of_wrong_answers(constraints: Constraints) -> float:
    """How many answers are wrong, judging from those that were asked again."""
    n_wrong = len(constraints.doubted)
    return (PRIOR[0] + n_wrong) / (PRIOR[1] + len(constraints) + n_wrong)


def sides_of(
    cases: list[tuple[Pair, Answer, tuple[list[int], list[int]]]], side: int, at: dict[int, int]
) -> FloatArray:
    """Which seeds are on the small side, 0, or on the large one, 1, of each case: one column per case."""
    seeds = [at[i] for *_, sides in cases for i in sides[side]]
    columns = np.repeat(np.arange(len(cases)), [len(sides[side]) for *_, sides in cases])
    table = np.zeros((len(at), len(cases)))
    table[seeds, columns] = 1
    return table


def believed_clusters(
    known: KnownPoints, left_out: FloatArray, same: FloatArray, different: FloatArray
) -> IndexArray:
    """The likeliest cluster of each known point, given its answers and what all others predict.

    `same` and `different` say how often each two points got that answer. The shares of wrong answers of either kind
    are estimated together with the clusters, by a few rounds of expectation and maximisation.
    """
    M = known.membership.astype(np.float64)
    alone = M.sum(axis=0)[known.clusters] == 1
    prior = np.maximum(left_out.astype(np.float64), 1e-4)
    # Nothing predicts a point that is alone; a new cluster is as likely as clusters were found so far.
    rows = np.arange(len(M))
    prior[rows[alone], known.clusters[alone]] = M.shape[1] / len(M)
    for_same, for_different = same @ M, different @ M
    n_same, n_different = same.sum(axis=1, keepdims=True), different.sum(axis=1, keepdims=True)
    false, missed = PRIOR[0] / PRIOR[1], PRIOR[0] / PRIOR[1]
    for _ in range(N_ROUNDS):
        score = (
            np.log(prior)
            + for_same * np.log((1 - missed) / false)
            - for_different * np.log((1 - false) / missed)
        )
        p = np.exp(score - score.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        # Wrong are the answers "same" with another cluster, and the answers "different" with its own.
        n_false = ((n_same - for_same) * p).sum()
        n_missed = (for_different * p).sum()
        n_apart = n_false + ((n_different - for_different) * p).sum()
        n_together = n_missed + (for_same * p).sum()
        false = np.clip((PRIOR[0] + n_false / 2) / (PRIOR[1] + n_apart / 2), 0.005, 0.4)
        missed = np.clip((PRIOR[0] + n_missed / 2) / (PRIOR[1] + n_together / 2), 0.005, 0.4)
    believed: IndexArray = p.argmax(axis=1)
    return believed
