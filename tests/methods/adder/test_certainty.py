"""How sure ADDER is, and where it puts new rows."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from cobras import LabelOracle, Session, run
from cobras.methods.adder.certainty import NewRows
from cobras.methods.adder.geometry import points as module
from cobras.methods.adder.geometry.relations import SHARPNESS
from cobras.methods.adder.predictors import PREDICTORS, KnownPoints

X, y = load_iris(return_X_y=True)
KNOWN = KnownPoints(np.array([3, 20, 60, 77, 110, 140]), np.array([0, 0, 1, 1, 2, 2]), np.ones(6, dtype=bool))


def answered(rows, truth, n=30):
    session = Session(rows, method="adder", random_state=0)
    for _ in range(n):
        i, j = session.ask()
        session.tell(bool(truth[i] == truth[j]), (i, j))
    return session


@pytest.mark.parametrize("most", [5000, 60])
def test_answered_rows_are_sure_and_others_less_so(monkeypatch, most):
    """Also where points are micro-clusters."""
    monkeypatch.setattr(module, "MOST_POINTS", most)
    session = answered(X, y)
    told = np.unique(session.constraints().must_link)
    assert session.confidence_[told].min() >= np.float32(0.99)
    assert 0.3 < session.confidence_.min() < 0.99
    assert session.confidence_.max() <= 1


def test_rows_that_are_less_sure_are_more_often_wrong():
    session = answered(X, y, n=15)
    majority = np.array(
        [np.bincount(y[session.labels_ == c]).argmax() for c in range(session.labels_.max() + 1)]
    )
    right = majority[session.labels_] == y
    sure = session.confidence_ > np.median(session.confidence_)
    assert right[sure].mean() > right[~sure].mean()


def test_new_rows_are_put_where_rows_like_them_are():
    half = np.arange(len(X)) % 2 == 0
    session = answered(X[half], y[half], n=40)
    p = session.predict_proba(X[~half])
    assert p.shape == ((~half).sum(), session.partition.n_clusters)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(session.predict(X[~half]), p.argmax(axis=1))
    assert adjusted_rand_score(y[~half], session.predict(X[~half])) > 0.85


def test_nothing_else_is_in_a_complete_cluster():
    session = answered(X, y)
    session.mark(0, complete=True)
    inside = session.labels_ == 0
    np.testing.assert_allclose(session.confidence_[inside], 1)
    p = session.predict_proba(X)
    np.testing.assert_allclose(p[inside, 0], 1)
    assert p[~inside, 0].max() < 0.5


@pytest.mark.parametrize("name", PREDICTORS)
def test_rows_of_the_data_have_the_scores_of_their_points(iris, name):
    _, rows, count = np.unique(X, axis=0, return_index=True, return_counts=True)
    rows = rows[count == 1]
    expected = PREDICTORS[name].scores(iris, KNOWN, iris)[rows]
    found = PREDICTORS[name].scores(iris, KNOWN, NewRows(iris, X[rows]))
    np.testing.assert_allclose(found, expected, atol=2e-3)


def test_relations_of_other_rows_are_those_of_their_coordinates(iris):
    other = X[:40] + 0.05
    rows = NewRows(iris, other)
    squared = ((other[:, None] - X[KNOWN.points]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(rows.nearest(KNOWN.points), squared.argmin(axis=1))
    unit = 2.0**iris._coordinates.unit.exponent
    away = np.sqrt(((other[:, None] - X) ** 2).sum(axis=2).min(axis=1))
    np.testing.assert_allclose(rows.away[:, 0] * unit, away, rtol=1e-5)
    all_pairs = ((X[:, None] - X) ** 2).sum(axis=2)[np.triu_indices(len(X), 1)]
    for name, sharpness in SHARPNESS.items():
        expected = np.exp(-sharpness * squared / np.median(all_pairs))
        np.testing.assert_allclose(rows.columns(name, KNOWN.points), expected, atol=1e-4)


def test_what_is_known_of_points_is_averaged_over_the_nearest(iris):
    found = NewRows(iris, X[[0, 60]] + 1e-3).means(np.arange(150.0)[:, None])
    near = np.argsort(((X[[0, 60], None] + 1e-3 - X) ** 2).sum(axis=2), axis=1)[:, :5]
    assert ((near.min(axis=1) <= found[:, 0]) & (found[:, 0] <= near.max(axis=1))).all()


@pytest.mark.parametrize("marked", [False, True])
def test_new_rows_are_predicted_also_where_a_cluster_is_marked(marked):
    half = np.random.default_rng(0).permutation(150) < 75
    session = run(
        Session(X[half], "adder", random_state=0), LabelOracle(y[half]), lambda s: s.n_answers >= 30
    )
    if marked:
        session.mark(int(np.bincount(session.labels_).argmax()), complete=True)
    found = session.predict_proba(X[~half])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert adjusted_rand_score(y[~half], found.argmax(axis=1)) > 0.7
