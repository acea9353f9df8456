"""The mixture of the predictors."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score, pair_confusion_matrix

from cobras.methods.adder.geometry.points import Points
from cobras.methods.adder.mixture import (
    SHARPNESSES,
    entropy,
    expected_ari,
    exponentials,
    predict,
    row_shares,
)
from cobras.methods.adder.predictors import PREDICTORS, KnownPoints, predictor_names
from cobras.spaces.euclidean import EuclideanSpace

X, y = load_iris(return_X_y=True)


def known_points(clusters, n):
    return KnownPoints(np.arange(n), clusters[:n], np.ones(n, bool))


def n_right(prediction, clusters, n):
    return (prediction.p.argmax(axis=1)[n:] == clusters[n:]).mean()


@given(st.integers(1, 5), st.integers(1, 5), st.floats(-1e3, 1e3), st.integers(0, 100))
def test_exponentials_divided_by_their_sums_are_softmaxes(n, k, offset, seed):
    scores = np.random.default_rng(seed).normal(size=(n, k))
    for sharpness, powers in zip(SHARPNESSES, exponentials(scores.T + offset), strict=True):
        np.testing.assert_allclose((powers / powers.sum(axis=0)).T, softmax(sharpness * scores), rtol=1e-9)


def softmax(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)


def test_entropy_and_shares():
    np.testing.assert_allclose(entropy(np.array([[0.5, 0.5], [1.0, 0.0]])), [np.log(2), 0], atol=1e-9)
    np.testing.assert_allclose(row_shares(np.array([[1.0, 3.0], [0.0, 0.0]])), [[0.25, 0.75], [0.5, 0.5]])


def test_the_mixture_from_its_definition(iris):
    """Two predictors: their trust, at each sharpness, weighs the softmax of their scores."""
    rng = np.random.default_rng(0)
    at = rng.permutation(len(X))[:25]
    known = KnownPoints(at, y[at], np.ones(25, bool))
    found = predict(iris, known, ("near", "linear"))
    assert found.trust.keys() <= {(name, s) for name in ("near", "linear") for s in SHARPNESSES}
    assert sum(found.trust.values()) == pytest.approx(1)
    for p, scores in (
        (found.p, {name: PREDICTORS[name].scores(iris, known, iris) for name in ("near", "linear")}),
        (found.left_out, {name: PREDICTORS[name].left_out(iris, known) for name in ("near", "linear")}),
    ):
        expected = sum(share * softmax(s * scores[name]) for (name, s), share in found.trust.items())
        np.testing.assert_allclose(p, expected, atol=1e-6)
        np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)


def test_all_predictors_together_predict_well(iris):
    at = np.random.default_rng(0).permutation(len(X))[:40]
    found = predict(iris, KnownPoints(at, y[at], np.ones(40, bool)), tuple(PREDICTORS))
    np.testing.assert_allclose(found.p.sum(axis=1), 1, atol=1e-5)
    assert (found.p.argmax(axis=1) == y).mean() > 0.9


def test_only_points_that_take_part_in_an_answer_judge(iris):
    """With no answers, and with points that are alone in their clusters, the trust is that before."""
    at = np.array([0, 1, 60, 61, 140])
    silent = predict(iris, KnownPoints(at, y[at], np.zeros(5, bool)), ("near", "linear"))
    alone = predict(iris, KnownPoints(at[[0, 2, 4]], y[at[[0, 2, 4]]], np.ones(3, bool)), ("near", "linear"))
    for found in (silent, alone):
        assert found.trust == pytest.approx(
            {(name, s): share / 4 for name, share in (("near", 0.8), ("linear", 0.2)) for s in SHARPNESSES}
        )


def test_the_predictor_that_predicts_best_is_trusted():
    """Clusters that are stripes along one direction: linear regression knows them, the nearest point does not."""
    rng = np.random.default_rng(0)
    rows = rng.random((300, 30))
    rows[:, 0] *= 2
    half = (rows[:, 0] > 1).astype(int)
    points, known = Points(EuclideanSpace(rows), seed=0, n_parts=3), known_points(half, 80)
    both = predict(points, known, ("nearest", "linear"))
    linear, nearest = (predict(points, known, (name,)) for name in ("linear", "nearest"))
    assert n_right(linear, half, 80) > n_right(nearest, half, 80) + 0.1
    assert sum(share for (name, _), share in both.trust.items() if name == "linear") > 0.8
    assert n_right(both, half, 80) > n_right(linear, half, 80) - 0.03


def test_a_forest_ignores_columns_of_noise():
    """One of twenty columns matters, and not in a straight line."""
    rng = np.random.default_rng(0)
    rows = rng.random((400, 20))
    middle = (np.abs(rows[:, 3] - 0.5) < 0.25).astype(int)
    points, known = Points(EuclideanSpace(rows), seed=0, n_parts=3), known_points(middle, 100)
    with_forest = predict(points, known, predictor_names("all"))
    others = predict(points, known, tuple(name for name in PREDICTORS if name != "forest"))
    assert n_right(with_forest, middle, 100) > n_right(others, middle, 100) + 0.1
    assert sum(share for (name, _), share in with_forest.trust.items() if name == "forest") > 0.5


def test_with_many_columns_a_forest_grows_only_if_there_is_nothing_else():
    rows = np.random.default_rng(0).normal(size=(60, 101))
    rows[:, 0] += np.repeat([0, 6], 30)
    points, known = (
        Points(EuclideanSpace(rows), seed=0, n_parts=3),
        KnownPoints(np.arange(20, 40), np.repeat([0, 1], 10), np.ones(20, bool)),
    )
    assert {name for name, _ in predict(points, known, ("near", "forest")).trust} == {"near"}
    assert {name for name, _ in predict(points, known, ("forest",)).trust} == {"forest"}


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 4)), min_size=2, max_size=30))
def test_where_nothing_is_uncertain_the_expected_ari_is_the_real_one(points):
    true, shown, weight = np.array(points).T
    real = adjusted_rand_score(np.repeat(true, weight), np.repeat(shown, weight))
    assert expected_ari(np.eye(4)[true], shown, weight.astype(float), np.eye(4)) == pytest.approx(
        real, abs=1e-5
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_expected_ari_is_made_of_the_expected_numbers_of_pairs(seed):
    rng = np.random.default_rng(seed)
    p, shown = row_shares(rng.random((5, 3)) ** 3), rng.integers(0, 3, 5)
    # The first two columns may be one cluster.
    same, counts = np.eye(3), np.zeros((2, 2))
    same[0, 1] = same[1, 0] = chance_of_one = seed / 4
    for true in product(range(3), repeat=5):  # all that may be true
        for clusters, share in ((true, 1 - chance_of_one), (np.maximum(true, 1), chance_of_one)):
            counts += share * pair_confusion_matrix(clusters, shown) * np.prod(p[np.arange(5), true])
    (_, alone), (apart, both) = counts
    both, true, one, total = both / 2, (both + apart) / 2, (both + alone) / 2, 10
    chance = true * one / total
    assert expected_ari(p, shown, np.ones(5), same) == pytest.approx(
        (both - chance) / ((true + one) / 2 - chance), abs=1e-5
    )
