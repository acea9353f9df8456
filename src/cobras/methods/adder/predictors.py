"""Which cluster each instance belongs to, predicted from those whose cluster is known.

There are several simple predictors: diffusion near and far, the nearest known point, and ridge regression with
linear and Gaussian kernels. Their `influence` is the weight of every other known point in the prediction at each
one, with a diagonal of zeros: so each predicts every known point from the others, in closed form, and is trusted in
proportion to the likelihood it gave to the truth. The answers decide which predictor fits the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import BoolArray, FloatArray, IndexArray
from cobras.methods.adder.points import Points

HEADSTART = (
    2.0  # for the first predictor, diffusion, before anything is known; a difference of log-likelihoods
)
NEGLIGIBLE = 1e-3  # a predictor with a smaller share of the best one's trust is not used
FLOOR = 0.02  # no predictor is taken to be surer than this


class KnownPoints(NamedTuple):
    """Points with their clusters 0, 1, ...; those that take part in an answer judge the predictors."""

    points: IndexArray
    clusters: IndexArray
    is_answered: BoolArray

    @property
    def membership(self) -> FloatArray:
        """One row per point, with a one at its cluster."""
        table = np.zeros((len(self.points), int(self.clusters.max()) + 1))
        table[np.arange(len(self.points)), self.clusters] = 1
        return table


@dataclass(frozen=True)
class DiffusionPredictor:
    """The share of each cluster in what arrives at a point by diffusion."""

    relation: str
    floor = 0.0  # no cluster is less likely than this, before all are divided by their sum

    def influence(self, points: Points, at: IndexArray) -> FloatArray:
        """What arrives from each of the others, as a share."""
        among = points.columns(self.relation, at, at).astype(np.float64)
        np.fill_diagonal(among, 0)
        influence: FloatArray = among / np.maximum(among.sum(axis=1, keepdims=True), 1e-12)
        return influence

    def predict(self, points: Points, known: KnownPoints, at: IndexArray | slice) -> FloatArray:
        """How likely each cluster is for the points `at`."""
        return row_shares(points.columns(self.relation, known.points, at) @ known.membership)


class NearestPredictor:
    """The cluster of the nearest known point, and a rest for all clusters alike."""

    floor = 0.0
    sure = 0.9

    def influence(self, points: Points, at: IndexArray) -> FloatArray:
        """All the weight is that of the nearest one but itself."""
        among = points.columns("distance", at, at)
        np.fill_diagonal(among, np.inf)
        influence = np.zeros(among.shape)
        if len(at) > 1:
            influence[np.arange(len(at)), among.argmin(axis=1)] = self.sure
        return influence

    def predict(self, points: Points, known: KnownPoints, at: IndexArray | slice) -> FloatArray:
        """How likely each cluster is for the points `at`."""
        nearest = points.columns("distance", known.points, at).argmin(axis=1)
        M = known.membership
        p: FloatArray = self.sure * M[nearest] + (1 - self.sure) / M.shape[1]
        return p


@dataclass(frozen=True)
class RidgePredictor:
    """Kernel ridge regression on the clusters.

    The kernel is the scalar product, or falls off with the squared distance in units of the median of all.
    """

    penalty: float
    sharpness: float = 0  # of the Gaussian; 0 for the scalar product
    floor = FLOOR

    def influence(self, points: Points, at: IndexArray) -> FloatArray:
        """The leave-one-out prediction of regression follows from the inverse alone."""
        # With P the inverse of the penalised kernel, the error at i of a fit to the others is (P y)_i / P_ii.
        inverse = self._inverse(points, at)
        influence: FloatArray = -inverse / np.diag(inverse)[:, None]
        np.fill_diagonal(influence, 0)
        return influence

    def predict(self, points: Points, known: KnownPoints, at: IndexArray | slice) -> FloatArray:
        """How likely each cluster is for the points `at`."""
        M = known.membership
        weights = self._inverse(points, known.points) @ (M - 1 / M.shape[1])
        kernel = self._kernel(points, known.points, at)
        return row_shares(np.maximum(kernel @ weights.astype(kernel.dtype) + 1 / M.shape[1], FLOOR))

    def _inverse(self, points: Points, known: IndexArray) -> FloatArray:
        kernel = self._kernel(points, known, known).astype(np.float64)
        inverse: FloatArray = np.linalg.inv(kernel + self.penalty * np.eye(len(known)))
        return inverse

    def _kernel(self, points: Points, known: IndexArray, at: IndexArray | slice) -> FloatArray:
        if not self.sharpness:
            return points.columns("linear", known, at)
        scale = np.float32(-self.sharpness / points.median)
        kernel: FloatArray = np.exp(points.columns("distance", known, at) * scale)
        return kernel


Predictor: TypeAlias = DiffusionPredictor | NearestPredictor | RidgePredictor
PREDICTORS: dict[str, Predictor] = {
    "near": DiffusionPredictor("near"),
    "far": DiffusionPredictor("far"),
    "nearest": NearestPredictor(),
    "linear": RidgePredictor(0.1),
    "stiff": RidgePredictor(1.0),
    "narrow": RidgePredictor(0.1, sharpness=4),
    "wide": RidgePredictor(0.1, sharpness=1),
    "broad": RidgePredictor(1.0, sharpness=1),
}


def predictor_names(text: str) -> tuple[str, ...]:
    """The names of predictors in a text, where they are separated by spaces; all of them for "all"."""
    names = tuple(PREDICTORS if text == "all" else text.split())
    if not names or not set(names) <= PREDICTORS.keys():
        raise InvalidDataError(
            f'predictors must be "all" or some of {" ".join(PREDICTORS)}, separated by spaces, not {text!r}.'
        )
    return names


def cluster_probabilities(
    points: Points, known: KnownPoints, at: IndexArray | slice, predictors: tuple[str, ...]
) -> FloatArray:
    """How likely each cluster is for the points `at`: the mixture of all predictors."""
    trust, _ = predictor_trust(points, known, predictors)
    mixture: FloatArray = sum(
        share * PREDICTORS[name].predict(points, known, at)
        for name, share in zip(predictors, trust, strict=True)
        if share
    )
    return mixture


def left_out_influence(points: Points, known: KnownPoints, predictors: tuple[str, ...]) -> FloatArray:
    """The weight of every other known point in the prediction at each one: the mixture of all predictors."""
    trust, influences = predictor_trust(points, known, predictors)
    mixture: FloatArray = sum(share * by for share, by in zip(trust, influences, strict=True) if share)
    return mixture


def predictor_trust(
    points: Points, known: KnownPoints, predictors: tuple[str, ...]
) -> tuple[FloatArray, list[FloatArray]]:
    """How far each predictor is trusted, and its influences among the known points."""
    M = known.membership
    # A point that is alone in its cluster cannot be predicted from the others.
    judges = known.is_answered & (M[known.is_answered].sum(axis=0)[known.clusters] > 1)
    influences = [PREDICTORS[name].influence(points, known.points) for name in predictors]
    # Evidence is the logarithm of the likelihood of the known clusters, each predicted from the others.
    evidence = np.zeros(len(predictors))
    evidence[0] = HEADSTART
    for x, name in enumerate(predictors):
        p = left_out_probabilities(PREDICTORS[name], influences[x], M)[np.arange(len(M)), known.clusters]
        evidence[x] += np.log(np.maximum(p[judges], FLOOR)).sum()
    trust = np.exp(evidence - evidence.max())
    trust[trust < NEGLIGIBLE] = 0
    return trust / trust.sum(), influences


def left_out_probabilities(predictor: Predictor, influence: FloatArray, M: FloatArray) -> FloatArray:
    """How likely each cluster is for each known point, judging from the others."""
    undecided = 1 - influence.sum(axis=1, keepdims=True)
    return row_shares(np.maximum(influence @ M + undecided / M.shape[1], predictor.floor))


def entropy(p: FloatArray) -> FloatArray:
    """How uncertain each row is, in nats."""
    uncertain: FloatArray = -(p * np.log(np.maximum(p, 1e-12))).sum(axis=1)
    return uncertain


def row_shares(amounts: FloatArray) -> FloatArray:
    """Every row divided by its sum; a row of zeros becomes equal shares."""
    amounts = amounts + 1e-12
    shares: FloatArray = amounts / amounts.sum(axis=1, keepdims=True)
    return shares
