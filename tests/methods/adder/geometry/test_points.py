"""The points of ADDER: instances or micro-clusters, also where rows are added."""

import numpy as np
from sklearn.datasets import load_iris, make_blobs

from cobras import LabelOracle, Session, run
from cobras.methods.adder.geometry import points as module
from cobras.methods.adder.geometry.points import Parts, Points
from cobras.methods.adder.geometry.relations import MEASURES, SHARES
from cobras.spaces.euclidean import EuclideanSpace

X = load_iris().data
SPACE = EuclideanSpace(X)


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


def grown(n_old, n_new, n_all):
    """Points of blobs after an append, those that are measured anew, and the points before."""
    X, y = make_blobs(n_all, 4, centers=5, cluster_std=4.0, random_state=0)
    session = Session(X[:n_old], "adder", random_state=0)
    run(session, LabelOracle(y), until=lambda s: s.n_answers >= 30)
    before = session._replay.step.beliefs.state.points
    session.append(X[n_old : n_old + n_new])
    after = session._replay.step.beliefs.state.points
    anew = Points(session.space, 0, 12, Parts(after.first_parts, after._micro))
    return before, after, anew


def test_points_stay_where_they_are_while_few_rows_come(monkeypatch):
    """What is not measured anew is nearly what it would be."""
    monkeypatch.setattr(module, "MOST_POINTS", 400)
    before, after, anew = grown(2000, 100, 2200)
    assert after.n > before.n  # some of the new rows are points of their own
    np.testing.assert_array_equal(after.rows()[: before.n], before.rows())
    # What is counted is exact.
    np.testing.assert_array_equal(after.weight, anew.weight)
    np.testing.assert_array_equal(after.of(range(2100)), anew.of(range(2100)))
    # How far each point is from where its members are, beside how far they are from each other.
    apart = np.linalg.norm((after.rows() - anew.rows()) - (after.rows() - anew.rows()).mean(axis=0), axis=1)
    assert apart.max() < 0.25 * np.sqrt(after.variance)
    assert np.median(apart) < 0.01 * np.sqrt(after.variance)
    some = np.arange(0, before.n, 20)
    for relation in ("near", "far", "distance", "narrow", "wide"):
        mine, theirs = (points.columns(relation, some).ravel() for points in (after, anew))
        assert np.corrcoef(mine, theirs)[0, 1] > 0.98, relation
    for measure in MEASURES:
        mine, theirs = (points.similarity_steps(measure, some[:, None], some) for points in (after, anew))
        assert np.abs(mine.astype(float) - theirs).mean() < 0.02 * len(SHARES), measure


def test_points_are_measured_anew_when_many_rows_came(monkeypatch):
    monkeypatch.setattr(module, "MOST_POINTS", 400)
    _, after, anew = grown(2000, 201, 2201)
    np.testing.assert_array_equal(after.rows(), anew.rows())
    some = np.arange(0, after.n, 20)
    for relation in ("near", "far", "distance", "narrow", "wide"):
        np.testing.assert_array_equal(after.columns(relation, some), anew.columns(relation, some))
