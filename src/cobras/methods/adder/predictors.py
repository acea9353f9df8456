"""Where the instances belong, judging from those whose cluster is known.

Several simple predictors speak: diffusion near and far, the nearest known point, and ridge regression with linear
and Gaussian kernels. Each predicts every known point from the others, in closed form, and is believed in proportion
to the likelihood it gave to the truth; so the answers themselves decide which picture of the data is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import BoolArray, FloatArray, IndexArray
from cobras.methods.adder.points import Landscape

HEADSTART = 2.0  # in favour of diffusion, as long as nothing is known; a difference of log-likelihoods
NEGLIGIBLE = 1e-3  # a predictor with this share of the best one's trust is not heard
LEAST = 0.02  # no predictor is taken to be surer than this


class Known(NamedTuple):
    """Points with their clusters 0, 1, ...; those that were answered about may judge the predictors."""

    points: IndexArray
    clusters: IndexArray
    answered: BoolArray

    @property
    def membership(self) -> FloatArray:
        """One row per point, with a one at its cluster."""
        table = np.zeros((len(self.points), int(self.clusters.max()) + 1))
        table[np.arange(len(self.points)), self.clusters] = 1
        return table


class Predictor(Protocol):
    """Predicts clusters from known points, whose membership is M."""

    least: float  # no cluster is less likely than this, before all are divided by their sum

    def influence(self, land: Landscape, points: IndexArray) -> FloatArray:
        """How much each known point, left out itself, hears of each other one; the diagonal is zero."""

    def __call__(self, land: Landscape, known: Known, M: FloatArray, at: IndexArray | slice) -> FloatArray:
        """How likely each cluster is for the points `at`."""


@dataclass(frozen=True)
class Diffused:
    """What is felt of each cluster."""

    relation: str
    least = 0.0

    def influence(self, land: Landscape, points: IndexArray) -> FloatArray:
        """What a point feels of the others."""
        among = land.block(self.relation, points, points).astype(np.float64)
        np.fill_diagonal(among, 0)
        felt: FloatArray = among / np.maximum(among.sum(axis=1, keepdims=True), 1e-12)
        return felt

    def __call__(self, land: Landscape, known: Known, M: FloatArray, at: IndexArray | slice) -> FloatArray:
        """What is felt at these points."""
        return shares(land.block(self.relation, at, known.points) @ M)


class Nearest:
    """The cluster of the nearest known point."""

    least = 0.0
    sure = 0.9

    def influence(self, land: Landscape, points: IndexArray) -> FloatArray:
        """The nearest but itself."""
        among = land.block("distance", points, points)
        np.fill_diagonal(among, np.inf)
        heard = np.zeros(among.shape)
        if len(points) > 1:
            heard[np.arange(len(points)), among.argmin(axis=1)] = self.sure
        return heard

    def __call__(self, land: Landscape, known: Known, M: FloatArray, at: IndexArray | slice) -> FloatArray:
        """The nearest to these points."""
        nearest = land.block("distance", at, known.points).argmin(axis=1)
        likely: FloatArray = self.sure * M[nearest] + (1 - self.sure) / M.shape[1]
        return likely


@dataclass(frozen=True)
class Ridge:
    """Kernel ridge regression on the clusters.

    The kernel is the scalar product, or falls off with the squared distance in units of the median of all.
    """

    penalty: float
    sharpness: float = 0  # of the Gaussian; 0 for the scalar product
    least = LEAST

    def influence(self, land: Landscape, points: IndexArray) -> FloatArray:
        """What regression would say at a point, had it been left out, follows from the inverse alone."""
        inverse = self._inverse(land, points)
        heard: FloatArray = -inverse / np.diag(inverse)[:, None]
        np.fill_diagonal(heard, 0)
        return heard

    def __call__(self, land: Landscape, known: Known, M: FloatArray, at: IndexArray | slice) -> FloatArray:
        """The regression at these points."""
        weights = self._inverse(land, known.points) @ (M - 1 / M.shape[1])
        kernel = self._kernel(land, at, known.points)
        return shares(np.maximum(kernel @ weights.astype(kernel.dtype) + 1 / M.shape[1], LEAST))

    def _inverse(self, land: Landscape, points: IndexArray) -> FloatArray:
        kernel = self._kernel(land, points, points).astype(np.float64)
        inverse: FloatArray = np.linalg.inv(kernel + self.penalty * np.eye(len(points)))
        return inverse

    def _kernel(self, land: Landscape, at: IndexArray | slice, points: IndexArray) -> FloatArray:
        if not self.sharpness:
            return land.block("linear", at, points)
        kernel: FloatArray = np.exp(
            land.block("distance", at, points) * np.float32(-self.sharpness / land.median)
        )
        return kernel


PREDICTORS: dict[str, Predictor] = {
    "near": Diffused("near"),
    "far": Diffused("far"),
    "nearest": Nearest(),
    "linear": Ridge(0.1),
    "stiff": Ridge(1.0),
    "narrow": Ridge(0.1, sharpness=4),
    "wide": Ridge(0.1, sharpness=1),
    "broad": Ridge(1.0, sharpness=1),
}


def chosen_predictors(names: str) -> tuple[str, ...]:
    """The predictors with these names.

    Examples
    --------
    >>> chosen_predictors("near linear")
    ('near', 'linear')
    """
    chosen = tuple(PREDICTORS if names == "all" else names.split())
    if not chosen or not set(chosen) <= PREDICTORS.keys():
        raise InvalidDataError(
            f'predictors must be "all" or some of {" ".join(PREDICTORS)}, separated by spaces, not {names!r}.'
        )
    return chosen


def believe(land: Landscape, known: Known, at: IndexArray | slice, predictors: tuple[str, ...]) -> FloatArray:
    """How likely each cluster is for the points `at`: the mixture of all predictors."""
    M = known.membership
    trust, _ = trusted(land, known, predictors)
    mixture: FloatArray = sum(
        share * PREDICTORS[name](land, known, M, at)
        for name, share in zip(predictors, trust, strict=True)
        if share
    )
    return mixture


def heard(land: Landscape, known: Known, predictors: tuple[str, ...]) -> FloatArray:
    """How much each known point, left out itself, hears of each other one: the mixture of all predictors."""
    trust, influences = trusted(land, known, predictors)
    mixture: FloatArray = sum(share * by for share, by in zip(trust, influences, strict=True) if share)
    return mixture


def trusted(
    land: Landscape, known: Known, predictors: tuple[str, ...]
) -> tuple[FloatArray, list[FloatArray]]:
    """How far each predictor is trusted, and its influences among the known points."""
    M = known.membership
    judges = known.answered & (M[known.answered].sum(axis=0)[known.clusters] > 1)
    influences = [PREDICTORS[name].influence(land, known.points) for name in predictors]
    evidence = np.zeros(len(predictors))
    evidence[0] = HEADSTART
    for x, name in enumerate(predictors):
        likely = left_out(PREDICTORS[name], influences[x], M)[np.arange(len(M)), known.clusters]
        evidence[x] += np.log(np.maximum(likely[judges], LEAST)).sum()
    trust = np.exp(evidence - evidence.max())
    trust[trust < NEGLIGIBLE] = 0
    return trust / trust.sum(), influences


def left_out(predictor: Predictor, influence: FloatArray, M: FloatArray) -> FloatArray:
    """How likely each cluster is for each known point, judging from the others."""
    unheard = 1 - influence.sum(axis=1, keepdims=True)
    return shares(np.maximum(influence @ M + unheard / M.shape[1], predictor.least))


def entropy(p: FloatArray) -> FloatArray:
    """How uncertain each row is, in nats."""
    uncertain: FloatArray = -(p * np.log(np.maximum(p, 1e-12))).sum(axis=1)
    return uncertain


def shares(amounts: FloatArray) -> FloatArray:
    """Every row divided by its sum; where there is nothing, all are equal."""
    amounts = amounts + 1e-12
    divided: FloatArray = amounts / amounts.sum(axis=1, keepdims=True)
    return divided
