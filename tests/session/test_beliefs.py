"""How sure a session is, with a method that has beliefs and with one that has none."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris

from cobras import COBRAS, InvalidDataError, LabelOracle, Pair, Partition, Session, Step, run

X, y = load_iris(return_X_y=True)


@dataclass
class Fixed:
    """Beliefs that depend on the number of clusters alone."""

    n: int
    n_clusters: int
    values: np.ndarray  # makes two of them incomparable, as arrays are

    def confidence(self):
        return np.full(self.n, 0.75)

    def predict_proba(self, X):
        weights = np.arange(1.0, self.n_clusters + 1)
        return np.tile(weights / weights.sum(), (len(X), 1))


def three_parts(space, constraints, seed, *, wrong: int = 1):
    """Three clusters, whatever is answered."""
    parts = space.split(space.root(seed), 3)
    partition = Partition.of((part,) for part in parts)
    beliefs = Fixed(space.n, 3 + wrong - 1, np.zeros(3))
    pair = Pair(parts[0].representative, parts[1].representative)
    while True:
        try:
            yield Step(pair, partition, beliefs=beliefs)
        except Exception:
            continue


def test_the_beliefs_of_a_method_count():
    session = Session(X, three_parts, 0)
    assert set(session.confidence_.tolist()) == {0.75}
    np.testing.assert_allclose(session.predict_proba(X[:2]), [[1 / 6, 2 / 6, 3 / 6]] * 2)
    assert session.predict(X[:2]).tolist() == [2, 2]


def test_clusters_that_are_merged_by_hand_share_their_beliefs():
    session = Session(X, three_parts, 0)
    session.merge(0, 2)
    assert session.partition.n_clusters == 2
    np.testing.assert_allclose(session.predict_proba(X[:1]), [[4 / 6, 2 / 6]])
    session.undo()
    assert session.predict_proba(X[:1]).shape == (1, 3)


def test_a_row_that_is_moved_by_hand_is_sure():
    session = Session(X, three_parts, 0)
    row = int(np.flatnonzero(session.labels_ == 1)[0])
    session.move([row], to=0)
    assert session.confidence_[row] == 1
    assert (session.confidence_ == 1).sum() == 1
    session.move([row + 1], to=None)  # nothing is believed of a cluster that only a person knows
    P = session.predict_proba(X[:1])
    assert P.shape == (1, session.partition.n_clusters)
    np.testing.assert_allclose(P.sum(), 1)
    session.undo()
    session.undo()
    assert (session.confidence_ == 0.75).all()


@pytest.mark.parametrize("method", ["cobras", "adder"])
def test_a_row_that_was_asked_about_is_nearly_sure(method):
    """ADDER has no beliefs while it looks for a split that was asked for."""
    session = Session(X, random_state=0, method=method)
    run(session, LabelOracle(y), until=lambda s: s.n_answers >= 20)
    session.split(0)
    assert session._shown.step.beliefs is None
    asked = [row for entry in session.history for row in entry.pair]
    assert session.confidence_[asked].min() >= np.float32(0.99)
    assert session.confidence_.min() < 0.9


def test_beliefs_of_another_shape_are_refused():
    session = Session(X, three_parts, 0, wrong=2)
    with pytest.raises(InvalidDataError, match=r"shape \(2, 4\), but predict_proba\(X\) must have \(2, 3\)"):
        session.predict_proba(X[:2])


def test_sessions_and_estimators_predict_the_same():
    est = COBRAS(max_queries=40, random_state=0).fit(X[::2], y[::2])
    session = Session(X[::2], random_state=0, method="cobras")
    run(session, LabelOracle(y[::2]), until=lambda s: s.n_answers >= 40)
    np.testing.assert_array_equal(session.labels_, est.labels_)
    np.testing.assert_array_equal(session.predict(X[1::2]), est.predict(X[1::2]))
    assert (session.predict(X[::2]) == session.labels_).mean() > 0.9


def test_confidence_is_computed_once_and_cannot_be_written_to():
    session = Session(X, random_state=0, method="cobras")
    assert session.confidence_ is session.confidence_
    with pytest.raises(ValueError, match="read-only"):
        session.confidence_[0] = 0


@pytest.mark.parametrize(
    ("new", "sentence"),
    [
        (X[:, :3], "The new rows have 3 columns, but the session has 4. Give the same columns."),
        (X[0], "X must be a table with rows and columns, but its shape is (4,)."),
        (X[:0], "X must be a table with rows and columns, but its shape is (0, 4)."),
        ([[1, 2, np.nan, 4]], "X holds NaN or infinity, first at row 0, column 2. Fill or drop such rows."),
        (
            pl.DataFrame(X, schema=["a", "b", "c", "e"]),
            "The new rows have a column 'e' where the session has 'd'. Give the same columns in the same order.",
        ),
    ],
)
def test_new_rows_are_checked(new, sentence, tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    for session in (
        Session(frame, random_state=0, method="cobras"),
        Session.open(tmp_path / "s.cobras", frame),
    ):
        with pytest.raises(InvalidDataError) as error:
            session.predict(new)
        assert str(error.value) == sentence
        session.predict(X[:3])  # rows without names are taken in the order of the columns
        session.predict(frame[:3])
        session.close()
