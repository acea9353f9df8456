"""The predictors together: how likely each cluster is for every point.

The scores of a predictor become probabilities by a softmax, at several temperatures. The shares of all these in
the mixture are those that make the truth at the known points likeliest: the answers decide which predictors fit the
data, and how sure they may be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from cobras.core.types import FloatArray, IndexArray
from cobras.methods.adder.geometry.points import Points
from cobras.methods.adder.predictors import PREDICTORS, KnownPoints, Rows
from cobras.spaces.kernels.expectation import mixture_shares

# How much these count more than the others, and how many known points that is worth, before anything is known.
PRIOR = {"near": 4.0, "narrow": 4.0, "wide": 4.0}
PRIOR_WEIGHT = 2.0
N_ROUNDS = 60  # of expectation and maximisation, for the shares of the mixture
NEGLIGIBLE = 0.01  # a predictor with a smaller share of the mixture is not used
FLOOR = 0.01  # no predictor is taken to be surer than this
# By which scores are multiplied: one over the temperature. Each is twice the one before.
SHARPNESSES = (0.5, 1.0, 2.0, 4.0)

# The share of the mixture that each predictor, by name, has at each sharpness.
Trust: TypeAlias = dict[tuple[str, float], float]


class Prediction(NamedTuple):
    """How likely each cluster is for all points, and for each known point judging from the others."""

    known: KnownPoints
    p: FloatArray
    left_out: FloatArray
    trust: Trust


def predict(points: Points, known: KnownPoints, predictors: tuple[str, ...]) -> Prediction:
    """The mixture of all predictors; those points judge them that take part in an answer."""
    M = known.membership
    # A point that is alone in its cluster cannot be predicted from the others.
    judges = known.is_answered & (M[known.is_answered].sum(axis=0)[known.clusters] > 1)
    # A forest is slow with many columns: it is left out then, and while nothing can judge it, unless there is
    # nothing else.
    with_forest = points.has_few_columns and judges.any()
    names = [name for name in predictors if name != "forest" or with_forest] or list(predictors)
    scores = {name: PREDICTORS[name].left_out(points, known) for name in names}
    hypotheses = [(name, sharpness) for sharpness in SHARPNESSES for name in names]
    # How likely each hypothesis made the truth at each judge: (hypotheses, judges).
    truth = known.clusters[judges], np.flatnonzero(judges)
    by_predictor = np.stack([scores[name].T for name in names])
    right = [powers[:, *truth] / powers.sum(axis=1)[:, judges] for powers in exponentials(by_predictor)]
    given = np.maximum(np.concatenate(right), FLOOR).astype(np.float64)
    prior = np.array([PRIOR.get(name, 1.0) for name, _ in hypotheses])
    prior *= PRIOR_WEIGHT / prior.sum()
    shares = mixture_shares(given, prior, N_ROUNDS) if judges.any() else prior / prior.sum()
    trust = {of: float(share) for of, share in zip(hypotheses, shares, strict=True) if share > NEGLIGIBLE}
    total = sum(trust.values())
    trust = {of: share / total for of, share in trust.items()}
    return Prediction(known, predict_at(points, points, known, trust), mixture(scores, trust), trust)


def predict_at(rows: Rows, points: Points, known: KnownPoints, trust: Trust) -> FloatArray:
    """How likely each cluster is for some rows, by the predictors that are trusted."""
    names = {name for name, _ in trust}
    return mixture({name: PREDICTORS[name].scores(points, known, rows) for name in names}, trust)


def mixture(scores: Mapping[str, FloatArray], trust: Trust) -> FloatArray:
    """The probabilities that the predictors give, in the shares of the mixture."""
    found = np.zeros_like(next(iter(scores.values())).T)
    part = np.empty_like(found)
    for name in dict.fromkeys(name for name, _ in trust):
        for sharpness, powers in zip(SHARPNESSES, exponentials(scores[name].T), strict=True):
            if (share := trust.get((name, sharpness))) is not None:
                found += np.multiply(powers, share / powers.sum(axis=0), out=part)
    return found.T


def exponentials(scores: FloatArray) -> Iterator[FloatArray]:
    """What a softmax along the last axis but one divides by its sum, at each of `SHARPNESSES`, in one array."""
    # The exponential of twice a score is the square of its exponential: a fifth of the time of four exponentials.
    powers = scores - scores.max(axis=-2, keepdims=True)
    powers *= np.float32(SHARPNESSES[0])
    np.exp(powers, out=powers)
    for _ in SHARPNESSES:
        yield powers
        powers *= powers


def entropy(p: FloatArray) -> FloatArray:
    """How uncertain each row is, in nats."""
    uncertain: FloatArray = -(p * np.log(np.maximum(p, 1e-12))).sum(axis=1)
    return uncertain


def row_shares(amounts: FloatArray) -> FloatArray:
    """Every row divided by its sum; a row of zeros becomes equal shares."""
    amounts = amounts + 1e-12
    shares: FloatArray = amounts / amounts.sum(axis=1, keepdims=True)
    return shares


def expected_ari(p: FloatArray, shown: IndexArray, weight: FloatArray, same: FloatArray) -> float:
    """The adjusted Rand index that a clustering is expected to have, if p draws the true cluster of each point.

    `shown` is the column of p in which each point is shown, `weight` how many instances a point stands for, which
    are all in one cluster, and `same` how likely each two columns are one cluster, with ones on its diagonal.
    Expected numbers of pairs take the place of numbers of pairs, in the time of one pass.

    Examples
    --------
    >>> p = np.array([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    >>> expected_ari(p, np.array([0, 0, 0, 1]), np.ones(4), np.eye(2))
    0.5
    """
    n, k = weight.sum(), p.shape[1]
    order = np.argsort(shown, kind="stable")
    # Instances of each true cluster (columns) in each that is shown (rows).
    mass = np.zeros((k, k))
    used, starts = np.unique(shown[order], return_index=True)
    mass[used] = np.add.reduceat((weight[:, None] * p)[order], starts, axis=0)
    total = mass.sum(axis=0)
    # The instances of a point are together for sure, whatever the clusters that it may be in.
    # In single precision, which takes half the time: of all that is done here it takes longest.
    single = (weight[:, None] * p).astype(np.float32)
    alone = float((same * (single.T @ single)).sum())
    within = float((weight * (weight - 1)).sum())
    # Pairs that are shown as one and are one.
    together = (float((mass @ same * mass).sum()) - alone + within) / 2
    true = (float(total @ same @ total) - alone + within) / 2
    size = mass.sum(axis=1)
    one = float((size * (size - 1)).sum()) / 2
    chance = true * one / max(n * (n - 1) / 2, 1)
    most = (true + one) / 2
    return 1.0 if most - chance < 1e-9 else round(float((together - chance) / (most - chance)), 6)
