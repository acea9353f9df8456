"""The predictors, against leaving points out one by one."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from cobras import InvalidDataError, Session
from cobras.methods.adder.points import Points
from cobras.methods.adder.predictors import (
    PREDICTORS,
    KnownPoints,
    cluster_probabilities,
    entropy,
    left_out_influence,
    left_out_probabilities,
    row_shares,
)
from cobras.spaces.euclidean import EuclideanSpace

X, y = load_iris(return_X_y=True)


def some_known(seed: int, n: int = 20) -> KnownPoints:
    rng = np.random.default_rng(seed)
    points = rng.permutation(len(X))[:n]
    return KnownPoints(points, np.unique(y[points], return_inverse=True)[1], np.ones(n, bool))


@pytest.mark.parametrize("name", PREDICTORS)
@pytest.mark.parametrize("seed", range(3))
def test_a_point_left_out_is_predicted_from_the_others(iris, name, seed):
    known, predictor = some_known(seed), PREDICTORS[name]
    M = known.membership
    found = left_out_probabilities(predictor, predictor.influence(iris, known.points), M)
    for x in range(len(M)):
        others = np.arange(len(M)) != x
        rest = KnownPoints(*(part[others] for part in known))
        alone = predictor.predict(iris, rest, known.points[[x]])
        np.testing.assert_allclose(found[x], alone[0], atol=1e-4)


def test_the_nearest_point_and_diffusion_from_their_definitions(iris):
    known = some_known(1, n=8)
    at = np.arange(0, 150, 13)
    squared = ((X[at][:, None] - X[known.points]) ** 2).sum(axis=2)
    nearest = known.clusters[squared.argmin(axis=1)]
    found = PREDICTORS["nearest"].predict(iris, known, at)
    np.testing.assert_array_equal(found.argmax(axis=1), nearest)
    arriving = iris.columns("far", known.points, at)
    sums = np.stack([arriving[:, known.clusters == c].sum(axis=1) for c in range(3)], axis=1)
    expected = sums / sums.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(PREDICTORS["far"].predict(iris, known, at), expected, atol=1e-5)


def test_one_predictor_has_its_own_influence(iris):
    known = some_known(0)
    expected = PREDICTORS["linear"].influence(iris, known.points)
    np.testing.assert_allclose(left_out_influence(iris, known, ("linear",)), expected)


def test_the_mixture_is_a_distribution_and_trusts_who_predicts_well(iris):
    known = some_known(0, n=40)
    everywhere = np.arange(iris.n)
    p = cluster_probabilities(iris, known, everywhere, tuple(PREDICTORS))
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
    assert (p.argmax(axis=1) == y).mean() > 0.9


def test_the_predictor_that_predicts_best_is_trusted(iris):
    """Clusters that are stripes along one direction: linear regression knows them, the nearest point does not."""
    rng = np.random.default_rng(0)
    rows = rng.random((300, 30))
    rows[:, 0] *= 2
    half = (rows[:, 0] > 1).astype(int)
    wide = Points(EuclideanSpace(rows), seed=0, n_parts=3)
    known = KnownPoints(np.arange(80), half[:80], np.ones(80, bool))
    everywhere = np.arange(300)
    both = cluster_probabilities(wide, known, everywhere, ("nearest", "linear"))
    linear = cluster_probabilities(wide, known, everywhere, ("linear",))
    nearest = cluster_probabilities(wide, known, everywhere, ("nearest",))
    right = [(p.argmax(axis=1)[80:] == half[80:]).mean() for p in (nearest, linear, both)]
    assert right[1] > right[0] + 0.1
    np.testing.assert_allclose(both, linear, atol=0.05)


def test_entropy_and_shares():
    np.testing.assert_allclose(entropy(np.array([[0.5, 0.5], [1.0, 0.0]])), [np.log(2), 0], atol=1e-9)
    np.testing.assert_allclose(row_shares(np.array([[1.0, 3.0], [0.0, 0.0]])), [[0.25, 0.75], [0.5, 0.5]])


def test_an_unknown_predictor_is_refused():
    with pytest.raises(InvalidDataError, match="some of near far nearest"):
        Session(X, "adder", predictors="near nowhere").ask()
