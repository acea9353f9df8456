"""How sure ADDER is, and where it puts new rows."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from cobras import Session
from cobras.methods.adder import points as module

X, y = load_iris(return_X_y=True)


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
    asked = sorted({i for record in session.history for i in record.pair})
    assert session.confidence_[asked].min() >= np.float32(0.99)
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
    session = answered(X[half], y[half])
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
