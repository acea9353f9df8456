"""The relations of the points of ADDER, against brute force."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata
from sklearn.datasets import load_iris
from sklearn.neighbors import NearestNeighbors

from cobras.methods.adder.geometry import relations
from cobras.methods.adder.geometry.neighbors import N_STEPS, neighbor_graph
from cobras.methods.adder.geometry.points import Points
from cobras.methods.adder.geometry.relations import GOES_ON, MEASURES, SHARES, SHARPNESS
from cobras.spaces.euclidean import EuclideanSpace

X = load_iris().data
SPACE = EuclideanSpace(X)


@pytest.fixture
def fresh():
    """Iris before any column is asked for."""
    return Points(EuclideanSpace(X), seed=0, n_parts=5)


def inverse(points, a):
    """The whole matrix of a diffusion."""
    S = neighbor_graph(points.rows(), relations.N_NEIGHBORS).affinities().toarray().astype(np.float64)
    return (1 - a) * np.linalg.inv(np.eye(points.n) - a * S)


@pytest.mark.parametrize("name", GOES_ON)
def test_what_spreads_is_what_the_inverse_of_the_whole_matrix_says(iris, name):
    whole = inverse(iris, GOES_ON[name])
    source = np.zeros((iris.n, 2), dtype=np.float32)
    source[:, 0] = 1
    source[[3, 99], 1] = 2.0, 0.5
    for found, expected in zip(iris._spread(source)[name].T, (whole @ source).T, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-3 * expected.max())
    for i in (0, 77, 149):
        column = iris.columns(name, np.array([i]))[:, 0]
        np.testing.assert_allclose(column, whole[:, i], atol=1e-3 * whole[:, i].max())


def test_the_relations_are_those_of_the_rows(iris):
    some = np.array([140, 3, 77])
    centred = X - X.mean(axis=0)
    squared = ((X[:, None] - X[some]) ** 2).sum(axis=2)
    unit = 2.0 ** np.frexp(np.median(np.abs(X - np.median(X, axis=0)).max(axis=1)))[1]
    np.testing.assert_allclose(iris.columns("distance", some) * unit**2, squared, atol=1e-4)
    all_pairs = ((X[:, None] - X) ** 2).sum(axis=2)[np.triu_indices(len(X), 1)]
    for name, sharpness in SHARPNESS.items():
        expected = np.exp(-sharpness * squared / np.median(all_pairs))
        np.testing.assert_allclose(iris.columns(name, some), expected, atol=1e-4)
    np.testing.assert_allclose(iris.rows(some) * unit, centred[some], atol=1e-9)
    np.testing.assert_allclose(iris.by_column.T * unit, centred, atol=1e-5)
    assert iris.variance * unit**2 == pytest.approx((centred**2).sum(axis=1).mean())


@pytest.mark.parametrize("outlier", [1e10, -1e100, 1e150])
def test_an_outlier_does_not_hide_how_the_others_lie(iris, outlier):
    rows = np.vstack([X, np.full(4, outlier)])
    some = np.array([140, 3, 77])
    columns = Points(EuclideanSpace(rows), seed=0, n_parts=5).columns("distance", some)
    np.testing.assert_allclose(columns[:-1], iris.columns("distance", some), rtol=0.02, atol=1e-3)
    assert (columns[-1] > 1e10).all()


@pytest.mark.parametrize("scale", [1.0, 1e-100, 1e100])
def test_new_rows_have_the_nearest_points_of_a_search_among_all(scale):
    points = Points(EuclideanSpace(X * scale), seed=0, n_parts=5)
    rows = np.random.default_rng(0).normal(5, 2, (300, 4))
    near, distance = points.nearest_to(points.measure(rows * scale), 5)
    expected, _ = NearestNeighbors(n_neighbors=5).fit(X).kneighbors(rows)
    np.testing.assert_allclose(distance / distance[0, 0], expected / expected[0, 0], rtol=1e-4)
    found = np.linalg.norm(rows[:, None] - X[near], axis=2)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_fewer_points_than_are_looked_for():
    points = Points(EuclideanSpace(np.array([[0.0], [4.0]])), 0, 2)
    near, distance = points.nearest_to(points.measure(np.array([[3.0]])), 5)
    assert near.tolist() == [[1, 0]]
    assert distance[0, 1] == 3 * distance[0, 0]


def test_ranks_are_coordinates_but_not_columns():
    rows = np.random.default_rng(0).lognormal(0, 2, (150, 3))
    points = Points(EuclideanSpace(rows), seed=0, n_parts=5)
    assert points.rows().shape == (150, 6)
    assert points.by_column.shape == (3, 150)
    np.testing.assert_array_equal(rankdata(points.rows()[:, 5]), rankdata(rows[:, 2]))
    np.testing.assert_array_equal(points.measure(rows), points.rows32)


def test_columns_come_in_the_order_they_are_asked_for(iris):
    """Also where all points are asked for."""
    order = np.random.default_rng(0).permutation(iris.n)
    whole = iris.columns("distance", np.arange(iris.n))
    np.testing.assert_array_equal(iris.columns("distance", order, order), whole[np.ix_(order, order)])


def test_columns_that_two_threads_ask_for_do_not_get_mixed_up(monkeypatch, fresh):
    """The second thread comes while the column of the first is being computed."""
    whole = Points(EuclideanSpace(X), seed=0, n_parts=5)
    other = threading.Thread(target=lambda: fresh.columns("near", np.array([140])))
    spread = Points._spread

    def interrupted(points, source):
        if source[12].any() and not other.ident:
            other.start()
            other.join(0.2)  # seconds; it waits if it has to, and goes on afterwards
        return spread(points, source)

    monkeypatch.setattr(Points, "_spread", interrupted)
    first = fresh.columns("near", np.array([12]))
    other.join()
    np.testing.assert_array_equal(first, whole.columns("near", np.array([12])))
    both = np.array([12, 140])
    for relation in ("near", "far", "distance"):
        np.testing.assert_array_equal(fresh.columns(relation, both), whole.columns(relation, both))
    for measure in MEASURES:
        found, expected = (p.similarity_steps(measure, both, both[::-1]) for p in (fresh, whole))
        np.testing.assert_array_equal(found, expected)


def test_a_thread_that_waited_finds_columns_that_another_one_made(fresh):
    """While a person answers, another thread thinks ahead about the same points."""
    found = []
    with fresh._lock:
        other = threading.Thread(target=lambda: found.append(fresh.columns("near", np.array([3]))))
        other.start()
        other.join(0.2)  # it waits for the lock
        fresh._keep(np.array([3]))
    other.join()
    np.testing.assert_array_equal(found[0], fresh.columns("near", np.array([3])))


def test_the_nearest_of_points_that_were_never_asked_for(fresh):
    some = np.arange(3, 150, 7)
    squared = ((X[:, None] - X[some]) ** 2).sum(axis=2)
    nearest = fresh.nearest(some)
    np.testing.assert_allclose(squared[np.arange(150), nearest], squared.min(axis=1), atol=1e-9)


def test_of_each_kind_the_latest_result_is_kept(fresh):
    calls = []

    def result(kind, key):
        return fresh.latest(kind, key, lambda: calls.append((kind, key)) or (kind, key))

    asked = [("a", 1), ("a", 1), ("b", 1), ("a", 1), ("a", 2), ("b", 1), ("a", 1)]
    assert [result(*each) for each in asked] == asked
    assert calls == [("a", 1), ("b", 1), ("a", 2), ("a", 1)]


def test_similarity_is_a_share_of_all_pairs(iris):
    """The step of `SHARES` at which a pair is says how many pairs are more similar."""
    a, b = np.array([0, 10, 70, 100]), np.array([1, 120, 140, 101])
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    all_pairs = squared[np.triu_indices(len(X), 1)]
    expected = [(all_pairs < squared[i, j]).mean() for i, j in zip(a, b, strict=True)]
    np.testing.assert_allclose(SHARES[iris.similarity_steps("distance", a, b)], expected, atol=0.01)
    for name, goes_on in GOES_ON.items():
        whole = inverse(iris, goes_on)
        reach = whole.sum(axis=1)
        similar = whole / np.sqrt(np.outer(reach, reach))
        all_pairs = similar[np.triu_indices(len(X), 1)]
        expected = np.array([(all_pairs > similar[i, j]).mean() for i, j in zip(a, b, strict=True)])
        found = SHARES[iris.similarity_steps(name, a, b)]
        # The quantiles of diffusions come from a third of all columns. Nothing goes from 10 to 120, and so it is
        # with about half of the pairs.
        np.testing.assert_allclose(found[[0, 2, 3]], expected[[0, 2, 3]], atol=0.03)
        assert found[1] > 0.5


@given(st.randoms(use_true_random=False), st.integers(1, 150))
def test_similarity_is_symmetric_and_the_order_of_the_questions_does_not_matter(random, at_once):
    """The columns are asked for some at once, in any order."""
    used, whole = (Points(SPACE, seed=0, n_parts=5) for _ in range(2))
    order = np.array(random.sample(range(150), 150))
    for start in range(0, 150, at_once):
        used.columns("near", order[start : start + at_once])
    every = np.arange(150)
    for measure in MEASURES:
        steps = used.similarity_steps(measure, every[:, None], every)
        np.testing.assert_array_equal(steps, steps.T)
        np.testing.assert_array_equal(steps, whole.similarity_steps(measure, every[:, None], every))


def test_a_point_covers_itself_best(iris):
    cover = iris.cover(np.array([7]))
    assert cover.argmax() == 7
    assert cover[7] == pytest.approx(1)


def test_the_amount_around_a_point_is_what_arrives_in_a_few_steps(iris):
    a = GOES_ON["near"]
    S = neighbor_graph(iris.rows(), relations.N_NEIGHBORS).affinities().toarray().astype(np.float64)
    amount = np.random.default_rng(0).random(iris.n)
    steps = [np.linalg.matrix_power(a * S, k) @ amount for k in range(N_STEPS + 1)]
    expected = (1 - a) * sum(steps) / inverse(iris, a).sum(axis=1)
    np.testing.assert_allclose(iris.amount_around(amount), expected, rtol=1e-3)
