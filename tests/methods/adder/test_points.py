"""The points of ADDER and their relations, against brute force."""

import threading

import numpy as np
import pytest
from sklearn.datasets import load_iris

from cobras.methods.adder import points as module
from cobras.methods.adder.diffusion import Diffusion
from cobras.methods.adder.points import Points
from cobras.spaces.euclidean import EuclideanSpace

X = load_iris().data


def test_the_relations_are_those_of_the_rows(iris):
    some = np.array([140, 3, 77])
    centred = X - X.mean(axis=0)
    squared = ((X[:, None] - X[some]) ** 2).sum(axis=2)
    unit = 2.0 ** np.frexp(np.median(np.abs(X - np.median(X, axis=0)).max(axis=1)))[1]
    np.testing.assert_allclose(iris.columns("distance", some) * unit**2, squared, atol=1e-4)
    products = centred @ centred[some].T / (centred**2).sum(axis=1).mean()
    np.testing.assert_allclose(iris.columns("linear", some), products, atol=1e-5)


@pytest.mark.parametrize("outlier", [1e10, -1e100, 1e150])
def test_an_outlier_does_not_hide_how_the_others_lie(iris, outlier):
    rows = np.vstack([X, np.full(4, outlier)])
    some = np.array([140, 3, 77])
    columns = Points(EuclideanSpace(rows), seed=0, n_parts=5).columns("distance", some)
    np.testing.assert_allclose(columns[:-1], iris.columns("distance", some), rtol=0.02, atol=1e-3)
    assert (columns[-1] > 1e10).all()


def test_rows_of_which_most_are_the_same():
    rows = np.zeros((40, 2))
    rows[:3] = 1e-100, 1e-99
    module.set_unit(rows)
    assert 0.1 < np.abs(rows).max() < 2
    module.set_unit(zeros := np.zeros((3, 2)))
    assert not zeros.any()


def test_columns_come_in_the_order_they_are_asked_for(iris):
    """Also where all points are asked for."""
    order = np.random.default_rng(0).permutation(iris.n)
    whole = iris.columns("distance", np.arange(iris.n))
    np.testing.assert_array_equal(iris.columns("distance", order, order), whole[np.ix_(order, order)])


def test_columns_that_two_threads_ask_for_do_not_get_mixed_up(monkeypatch):
    """The second thread comes while the column of the first is being computed."""
    used, whole = (Points(EuclideanSpace(X), seed=0, n_parts=5) for _ in range(2))
    other = threading.Thread(target=lambda: used.columns("near", np.array([140])))
    spread = Diffusion.spread

    def interrupted(diffusion, source):
        if source[12] and not other.ident:
            other.start()
            other.join(0.2)  # seconds; it waits if it has to, and goes on afterwards
        return spread(diffusion, source)

    monkeypatch.setattr(Diffusion, "spread", interrupted)
    first = used.columns("near", np.array([12]))
    other.join()
    np.testing.assert_array_equal(first, whole.columns("near", np.array([12])))
    both = np.array([12, 140])
    np.testing.assert_array_equal(used.columns("near", both), whole.columns("near", both))


def test_the_share_of_more_similar_pairs(iris):
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    all_pairs = squared[np.triu_indices(len(X), 1)]
    a, b = np.array([0, 10, 70]), np.array([1, 120, 140])
    expected = [(all_pairs < squared[i, j]).mean() for i, j in zip(a, b, strict=True)]
    np.testing.assert_allclose(iris.share_more_similar("distance", a, b), expected, atol=0.01)
    near = iris.share_more_similar("near", a, b)
    assert near[0] < near[2] < near[1]


def test_a_point_covers_itself_best(iris):
    cover = iris.cover(np.array([7]))
    assert cover.argmax() == 7
    assert cover[7] == pytest.approx(1)


def test_an_amount_that_is_the_same_everywhere_is_so_after_diffusion(iris):
    np.testing.assert_allclose(iris.amount_around(np.full(iris.n, 3.0)), 3.0, rtol=1e-4)


def test_a_partition_keeps_parts_as_super_instances(iris):
    clusters = np.repeat([0, 1, 2], 50)
    part = np.array([60, 61, 99])
    partition = iris.partition(clusters, [part])
    np.testing.assert_array_equal(partition.labels, clusters)
    assert part.tolist() in [s.members.tolist() for s in partition.clusters[1].super_instances]


def test_micro_clusters_hold_every_instance_once(monkeypatch):
    monkeypatch.setattr(module, "MOST_POINTS", 60)
    points = Points(EuclideanSpace(X), seed=0, n_parts=5)
    assert 10 < points.n < 60
    assert points.weight.sum() == len(X)
    held = [np.flatnonzero(points.of(range(len(X))) == point) for point in range(points.n)]
    assert [len(members) for members in held] == points.weight.tolist()
    assert all(shown in members for shown, members in zip(points.instance, held, strict=True))
    clusters = np.arange(points.n) % 3
    labels = points.partition(clusters).labels
    for members, cluster in zip(held, clusters, strict=True):
        assert set(labels[members]) == {labels[held[cluster][0]]}
