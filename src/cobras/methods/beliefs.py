"""Where the instances belong, judging from those whose cluster is known.

Several simple predictors speak: diffusion near and far, the nearest known point, and ridge regression with linear
and Gaussian kernels. Each predicts every known point from the others, in closed form, and is believed in proportion
to the likelihood it gave to the truth; so the answers themselves decide which picture of the data is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from cobras.exceptions import InvalidDataError
from cobras.methods.landscape import Landscape
from cobras.types import BoolArray, FloatArray, IndexArray

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

    def left_out(self, land: Landscape, known: Known, M: FloatArray) -> FloatArray:
        """How likely each cluster is for each known point, judging from the others."""

    def __call__(self, land: Landscape, known: Known, M: FloatArray, at: IndexArray | slice) -> FloatArray:
        """How likely each cluster is for the points `at`."""


@dataclass(frozen=True)
class Diffused:
    """What is felt of each cluster."""

    relation: str

    def left_out(self, land: Landscape, known: Known, M: FloatArray) -> FloatArray:
        """Without what a point feels of itself."""
        among = land.block(self.relation, known.points, known.points)
        np.fill_diagonal(among, 0)
        return shares(among @ M)

    def __call__(self, land: Landscape, known: Known, M: FloatArray, at: IndexArray | slice) -> FloatArray:
        """What is felt at these points."""
        return shares(land.block(self.relation, at, known.points) @ M)


class Nearest:
    """The cluster of the nearest known point."""

    def left_out(self, land: Landscape, known: Known, M: FloatArray) -> FloatArray:
        """The nearest but itself."""
        among = land.block("distance", known.points, known.points)
        np.fill_diagonal(among, np.inf)
        return self._of(M, among)

    def __call__(self, land: Landscape, known: Known, M: FloatArray, at: IndexArray | slice) -> FloatArray:
        """The nearest to these points."""
        return self._of(M, land.block("distance", at, known.points))

    def _of(self, M: FloatArray, distance: FloatArray) -> FloatArray:
        likely: FloatArray = 0.9 * M[distance.argmin(axis=1)] + 0.1 / M.shape[1]
        return likely


@dataclass(frozen=True)
class Ridge:
    """Kernel ridge regression on the clusters.

    The kernel is the scalar product, or falls off with the squared distance in units of the median of all.
    """

    penalty: float
    sharpness: float = 0  # of the Gaussian; 0 for the scalar product

    def left_out(self, land: Landscape, known: Known, M: FloatArray) -> FloatArray:
        """A point's residual, had it been left out, follows from the inverse alone."""
        inverse, weights = self._fit(land, known, M)
        return shares(np.maximum(M - weights / np.diag(inverse)[:, None], LEAST))

    def __call__(self, land: Landscape, known: Known, M: FloatArray, at: IndexArray | slice) -> FloatArray:
        """The regression at these points."""
        _, weights = self._fit(land, known, M)
        kernel = self._kernel(land, at, known.points)
        return shares(np.maximum(kernel @ weights.astype(kernel.dtype) + 1 / M.shape[1], LEAST))

    def _fit(self, land: Landscape, known: Known, M: FloatArray) -> tuple[FloatArray, FloatArray]:
        kernel = self._kernel(land, known.points, known.points).astype(np.float64)
        inverse = np.linalg.inv(kernel + self.penalty * np.eye(len(M)))
        return inverse, inverse @ (M - 1 / M.shape[1])

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
    judges = known.answered & (M[known.answered].sum(axis=0)[known.clusters] > 1)
    truth = np.arange(len(M)), known.clusters
    evidence = np.zeros(len(predictors))
    evidence[0] = HEADSTART
    if judges.any():
        for x, name in enumerate(predictors):
            left_out = PREDICTORS[name].left_out(land, known, M)[truth][judges]
            evidence[x] += np.log(np.maximum(left_out, LEAST)).sum()
    trust = np.exp(evidence - evidence.max())
    trust[trust < NEGLIGIBLE] = 0
    mixture: FloatArray = sum(
        share * PREDICTORS[name](land, known, M, at)
        for name, share in zip(predictors, trust / trust.sum(), strict=True)
        if share
    )
    return mixture


def entropy(p: FloatArray) -> FloatArray:
    """How uncertain each row is, in nats."""
    uncertain: FloatArray = -(p * np.log(np.maximum(p, 1e-12))).sum(axis=1)
    return uncertain


def shares(amounts: FloatArray) -> FloatArray:
    """Every row divided by its sum; where there is nothing, all are equal."""
    amounts = amounts + 1e-12
    divided: FloatArray = amounts / amounts.sum(axis=1, keepdims=True)
    return divided
