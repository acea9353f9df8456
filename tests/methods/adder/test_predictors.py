"""The predictors, against leaving points out one by one."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from cobras import InvalidDataError, Session
from cobras.methods.adder.geometry.points import Points
from cobras.methods.adder.predictors import (
    LEAF,
    PREDICTORS,
    KnownPoints,
    RidgePredictor,
    log_shares,
    predictor_names,
    squared_distances,
    sums_by_cluster,
)
from cobras.spaces.euclidean import EuclideanSpace
from cobras.spaces.kernels.forest import grow_forest

X, y = load_iris(return_X_y=True)


def some_known(seed: int, n: int = 20) -> KnownPoints:
    rng = np.random.default_rng(seed)
    points = rng.permutation(len(X))[:n]
    return KnownPoints(points, np.unique(y[points], return_inverse=True)[1], np.ones(n, bool))


def without(known: KnownPoints, x: int) -> KnownPoints:
    others = np.arange(len(known.points)) != x
    return KnownPoints(*(part[others] for part in known))


def test_known_points_say_their_clusters():
    known = KnownPoints(np.array([7, 3, 5]), np.array([1, 0, 1]), np.ones(3, bool))
    assert known.n_clusters == 2
    np.testing.assert_array_equal(known.membership, [[0, 1], [1, 0], [0, 1]])
    assert known.key == known._replace(is_answered=np.zeros(3, bool)).key
    assert known.key != known._replace(clusters=np.array([1, 0, 0])).key


@pytest.mark.parametrize("name", sorted(PREDICTORS.keys() - {"means", "forest"}))
@pytest.mark.parametrize("seed", range(3))
def test_a_point_left_out_is_predicted_from_the_others(iris, name, seed):
    """Every cluster keeps a known point when one is left out, so that the clusters are the same."""
    known, predictor = some_known(seed), PREDICTORS[name]
    assert known.membership.sum(axis=0).min() > 1
    found = predictor.left_out(iris, known)
    assert found.shape == (20, 3)
    for x, point in enumerate(known.points):
        np.testing.assert_allclose(
            found[x], predictor.scores(iris, without(known, x), iris)[point], atol=1e-3
        )


def test_diffusion_and_the_nearest_point_from_their_definitions(iris):
    known = some_known(1, n=8)
    squared = ((X[:, None] - X[known.points]) ** 2).sum(axis=2)
    found = PREDICTORS["nearest"].scores(iris, known, iris)
    np.testing.assert_array_equal(found.argmax(axis=1), known.clusters[squared.argmin(axis=1)])
    np.testing.assert_allclose(np.sort(found, axis=1), np.tile([0, 0, 3], (150, 1)))
    arrives = iris.columns("near", known.points)
    for name, of in (("near", np.sum), ("even", np.mean)):
        by_cluster = np.stack([of(arrives[:, known.clusters == c], axis=1) for c in range(3)], axis=1)
        expected = by_cluster / by_cluster.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(np.exp(PREDICTORS[name].scores(iris, known, iris)), expected, atol=1e-4)


# Fewer known points than columns as well, where another matrix is inverted.
@pytest.mark.parametrize("n_known", [3, 20])
@pytest.mark.parametrize("predictor", [RidgePredictor(0.1), RidgePredictor(1.0, "wide")])
def test_ridge_regression_solves_the_penalised_equations(iris, predictor, n_known):
    known = some_known(0, n_known)
    rows = iris.rows()
    kernel = rows @ rows.T / iris.variance
    if predictor.relation:
        kernel = iris.columns("wide", np.arange(iris.n)).astype(np.float64)
    target = known.membership - 1 / known.n_clusters
    among = kernel[np.ix_(known.points, known.points)]
    weights = np.linalg.solve(among + predictor.penalty * np.eye(n_known), target)
    expected = predictor.sharpness * kernel[:, known.points] @ weights
    np.testing.assert_allclose(predictor.scores(iris, known, iris), expected, atol=1e-3)


@pytest.fixture(scope="module")
def far_groups():
    """Three long groups side by side, and the group of each row."""
    rng = np.random.default_rng(0)
    clusters = np.repeat([0, 1, 2], 80)
    rows = np.stack([6.0 * clusters, np.zeros(240)], axis=1) + rng.normal(size=(240, 2)) * [0.5, 3.0]
    return Points(EuclideanSpace(rows), seed=0, n_parts=3), clusters


@pytest.mark.parametrize("n_each", [1, 4])
def test_the_means_find_far_groups_from_a_few_known_points(far_groups, n_each):
    points, clusters = far_groups
    known_points = np.concatenate([np.arange(80 * c, 80 * c + n_each) for c in range(3)])
    known = KnownPoints(known_points, clusters[known_points], np.ones(3 * n_each, bool))
    scores = PREDICTORS["means"].scores(points, known, points)
    np.testing.assert_array_equal(scores.argmax(axis=1), clusters)
    left_out = PREDICTORS["means"].left_out(points, known)
    if n_each > 1:
        np.testing.assert_array_equal(left_out.argmax(axis=1), known.clusters)
    else:
        # Nothing else says where a cluster is of which the only known point is left out.
        assert (left_out.argmax(axis=1) != known.clusters).any()


def test_a_known_point_that_is_judged_by_the_means_takes_along_what_it_brought(far_groups):
    """One known point lies in another group: the others there, with those they brought, speak against it."""
    points, clusters = far_groups
    known_points = np.array([0, 1, 2, 80, 81, 82, 160, 161, 162, 5])
    known = KnownPoints(known_points, np.append(clusters[known_points[:-1]], 2), np.ones(10, bool))
    assert PREDICTORS["means"].left_out(points, known)[-1].argmax() == 0


def test_sums_and_distances_of_clusters():
    rng = np.random.default_rng(0)
    rows, weight = rng.random((7, 2)).astype(np.float32), rng.random(7)
    clusters = np.array([0, 1, 1, 3, 0, 3, 3])
    expected = np.array([(weight[clusters == c, None] * rows[clusters == c]).sum(axis=0) for c in range(4)])
    np.testing.assert_allclose(sums_by_cluster(rows, clusters, weight, 4), expected, rtol=1e-6)
    squared = ((rows[:, None] - expected) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared_distances(rows, (rows**2).sum(axis=1), expected), squared.T, atol=1e-6)


def test_a_forest_predicts_a_known_point_by_the_trees_that_do_not_know_it(iris):
    known, forest = some_known(0, n=30), PREDICTORS["forest"]
    rows = iris.rows().astype(np.float32)
    used, nodes, thresholds, leaves = grow_forest(
        np.ascontiguousarray(rows[known.points].T), known.clusters.astype(np.int64), forest.n_trees, 1
    )
    found = np.exp(forest.left_out(iris, known)) - LEAF / 3
    everywhere = np.exp(forest.scores(iris, known, iris)) - LEAF / 3
    for x, point in enumerate(known.points):
        by_tree = []
        for tree in range(forest.n_trees):
            node = 0
            while nodes[tree, node, 0] >= 0:
                feature, left = nodes[tree, node]
                node = left + int(rows[point, feature] > thresholds[tree, node])
            inside = used[tree] & (leaves[tree] == node)
            by_tree.append(np.bincount(known.clusters, inside, 3) / inside.sum())
        np.testing.assert_allclose(everywhere[point], np.mean(by_tree, axis=0), atol=1e-5)
        unaware = [share for tree, share in enumerate(by_tree) if not used[tree, x]]
        np.testing.assert_allclose(found[x], np.mean(unaware, axis=0), atol=1e-5)


def test_the_logarithms_of_shares():
    amounts = np.array([[1.0, 3.0], [0.0, 2.0]])
    np.testing.assert_allclose(np.exp(log_shares(amounts)), [[0.25, 0.75], [0, 1]], atol=1e-5)
    assert np.isfinite(log_shares(np.zeros((1, 3)))).all()


def test_an_unknown_predictor_is_refused():
    with pytest.raises(InvalidDataError, match="some of near even nearest means"):
        Session(X, "adder", predictors="near nowhere").ask()
    assert predictor_names("all") == tuple(PREDICTORS)
    assert predictor_names("near far wide") == ("near", "wide")  # an old file may name the one in the middle
