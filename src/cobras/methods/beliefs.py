"""Where the instances belong, judging from those whose cluster is known.

Several simple predictors speak: diffusion near and far, the nearest known point, and ridge regression with linear
and Gaussian kernels. Each predicts every known point from the others, in closed form, and is believed in proportion
to the likelihood it gave to the truth; so the answers themselves decide which picture of the data is right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from cobras.exceptions import InvalidDataError
from cobras.methods.landscape import Landscape
from cobras.types import BoolArray, FloatArray, IndexArray

HEADSTART = 2.0  # in favour of diffusion, as long as nothing is known; a difference of log-likelihoods
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


class Prediction(NamedTuple):
    """How likely each cluster is: for the points in question, and for the known ones from the others."""

    points: FloatArray
    left_out: FloatArray


Predictor: TypeAlias = Callable[[Landscape, Known, FloatArray, IndexArray], Prediction]


def diffusion(relation: str) -> Predictor:
    """What is felt of each cluster."""

    def predict(land: Landscape, known: Known, M: FloatArray, at: IndexArray) -> Prediction:
        columns = land.columns(relation, known.points)
        among = columns[known.points]
        np.fill_diagonal(among, 0)
        return Prediction(shares(columns[at] @ M), shares(among @ M))

    return predict


def nearest(land: Landscape, known: Known, M: FloatArray, at: IndexArray) -> Prediction:
    """The cluster of the nearest known point."""
    columns = land.columns("distance", known.points)
    among = columns[known.points]
    np.fill_diagonal(among, np.inf)
    smooth = 0.9 * M + 0.1 / M.shape[1]
    return Prediction(smooth[columns[at].argmin(axis=1)], smooth[among.argmin(axis=1)])


def ridge(kernel: Callable[[Landscape, IndexArray], FloatArray], penalty: float) -> Predictor:
    """Kernel ridge regression on the clusters; a point's own residual follows from the inverse alone."""

    def predict(land: Landscape, known: Known, M: FloatArray, at: IndexArray) -> Prediction:
        columns = kernel(land, known.points)
        mean = 1 / M.shape[1]
        inverse = np.linalg.inv(columns[known.points].astype(np.float64) + penalty * np.eye(len(M)))
        weights = inverse @ (M - mean)
        left_out = M - weights / np.diag(inverse)[:, None]
        return Prediction(
            shares(np.maximum(columns[at] @ weights + mean, LEAST)), shares(np.maximum(left_out, LEAST))
        )

    return predict


def gaussian(sharpness: float) -> Callable[[Landscape, IndexArray], FloatArray]:
    """A kernel that falls off with the distance, in units of the median of all distances."""

    def kernel(land: Landscape, points: IndexArray) -> FloatArray:
        columns: FloatArray = np.exp(land.columns("distance", points) * (-sharpness / land.median))
        return columns

    return kernel


def linear(land: Landscape, points: IndexArray) -> FloatArray:
    """The scalar product."""
    return land.columns("linear", points)


PREDICTORS: dict[str, Predictor] = {
    "near": diffusion("near"),
    "far": diffusion("far"),
    "nearest": nearest,
    "linear": ridge(linear, 0.1),
    "stiff": ridge(linear, 1.0),
    "narrow": ridge(gaussian(4), 0.1),
    "wide": ridge(gaussian(1), 0.1),
    "broad": ridge(gaussian(1), 1.0),
}

ALL = " ".join(PREDICTORS)


def chosen_predictors(names: str) -> tuple[str, ...]:
    """The predictors with these names.

    Examples
    --------
    >>> chosen_predictors("near linear")
    ('near', 'linear')
    """
    chosen = tuple(names.split())
    if not chosen or not set(chosen) <= PREDICTORS.keys():
        raise InvalidDataError(f"predictors must be some of {ALL}, separated by spaces, not {names!r}.")
    return chosen


def believe(land: Landscape, known: Known, at: IndexArray, predictors: tuple[str, ...]) -> FloatArray:
    """How likely each cluster is for the points `at`: the mixture of all predictors."""
    M = known.membership
    judges = known.answered & (M[known.answered].sum(axis=0)[known.clusters] > 1)
    predictions = [PREDICTORS[name](land, known, M, at) for name in predictors]
    truth = np.arange(len(M)), known.clusters
    evidence = np.array([np.log(np.maximum(p.left_out[truth][judges], LEAST)).sum() for p in predictions])
    evidence[0] += HEADSTART
    trust = np.exp(evidence - evidence.max())
    mixture: FloatArray = sum(t * p.points for t, p in zip(trust / trust.sum(), predictions, strict=True))
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
