"""The scikit-learn face."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from cobras import (
    ADDER,
    COBRA,
    COBRAS,
    COBS,
    NPU,
    Answer,
    CobrasError,
    ExploreConsolidate,
    InvalidDataError,
    LabelOracle,
    MinMax,
    MPCKMeans,
    Session,
    run,
)

DATED = pd.DataFrame({"size": range(150), "day": pd.Timestamp("2024-01-31")})
SMALL_POOL = {"k_max": 4, "n_eps": 3, "max_min_points": 3, "max_neighbors": 4, "n_sigma": 2, "n_jobs": 1}
NEEDS_ANSWERS = "by design: fit(X) with neither y nor oracle raises, because nobody answers the questions"


@parametrize_with_checks(
    [
        COBRAS(max_queries=20),
        COBRA(max_queries=20),
        COBS(max_queries=10, **SMALL_POOL),
        NPU(MPCKMeans(2), max_queries=8, n_trees=5),
        ExploreConsolidate(2, max_queries=8),
        MinMax(2, max_queries=8),
        ADDER(max_queries=8),
    ],
    expected_failed_checks=lambda estimator: {"check_clustering": NEEDS_ANSWERS},
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(
    params=[
        COBRAS(max_queries=40, random_state=0),
        COBRA(25, max_queries=40, random_state=0),
        COBS(max_queries=40, random_state=0, **SMALL_POOL),
        NPU(MPCKMeans(3), max_queries=40, random_state=0),
        NPU("cosc", 3, max_queries=6, random_state=0),
        ExploreConsolidate(3, max_queries=40, random_state=0),
        MinMax(3, max_queries=40, random_state=0),
        ADDER(max_queries=40, random_state=0),
    ],
    ids=lambda e: type(e).__name__,
)
def estimator(request):
    return clone(request.param)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_attributes(estimator, iris):
    X, y = iris
    estimator.fit(X, y)
    n = estimator.n_queries_
    assert 0 < n <= 40
    assert estimator.queries_.shape == (n, 3)
    assert len(estimator.labels_per_query_) == n + 1
    np.testing.assert_array_equal(estimator.labels_per_query_[-1], estimator.labels_)
    assert len(estimator.labels_per_query_[1:3]) == 2
    assert estimator.n_clusters_ == len(set(estimator.labels_))
    for i, j, answer in estimator.queries_:
        assert answer == (y[i] == y[j])
    assert set(estimator.predict(X)) <= set(estimator.labels_)


def test_y_equals_its_oracle_and_a_plain_function(estimator, iris):
    X, y = iris
    expected = estimator.fit(X, y).labels_
    np.testing.assert_array_equal(estimator.fit(X, oracle=LabelOracle(y)).labels_, expected)
    np.testing.assert_array_equal(estimator.fit(X, oracle=lambda i, j: y[i] == y[j]).labels_, expected)
    np.testing.assert_array_equal(estimator.fit_predict(X, y), expected)


def test_a_session_asks_the_same_and_shows_the_same(estimator, iris):
    X, y = iris
    estimator.fit(X, y)
    options = {
        name: value for name, value in estimator.get_params(deep=False).items() if name != "max_queries"
    }
    session = Session(X, estimator._method, **options)
    run(session, LabelOracle(y), until=lambda s: s.n_answers >= estimator.max_queries)
    said = [(*pair, int(answer)) for record in session.history for pair, answer in record.said]
    np.testing.assert_array_equal(estimator.queries_, said)
    for shown, expected in zip(estimator.labels_per_query_, session.partitions, strict=True):
        np.testing.assert_array_equal(shown, expected.labels)


@pytest.mark.parametrize("estimator", [COBRAS(40, random_state=0), ADDER(40, random_state=0)])
def test_known_links_hold_and_are_not_asked(estimator, iris):
    X, y = iris
    same, different = [(0, 10), (10, 20), (60, 70)], [(0, 60), (70, 120)]
    estimator.fit(X, y, must_link=same, cannot_link=different)
    known = {frozenset(pair) for pair in [*same, (0, 20), *different, (0, 70), (20, 60), (60, 120)]}
    assert not known & {frozenset(pair) for pair in estimator.queries_[:, :2].tolist()}
    assert adjusted_rand_score(y, estimator.labels_) > 0.8


def test_none_is_unsure(estimator, iris):
    estimator.fit(iris[0], oracle=lambda i, j: None)
    assert (estimator.queries_[:, 2] == Answer.UNSURE).all()


def test_frames_of_pandas_and_polars(estimator, iris):
    X, y = iris
    names = ["a", "b", "c", "d"]
    expected = estimator.fit(X, y).labels_
    by_pandas = estimator.fit(pd.DataFrame(X, columns=names), pd.Series(y))
    np.testing.assert_array_equal(by_pandas.labels_, expected)
    assert list(by_pandas.feature_names_in_) == names
    by_polars = estimator.fit(pl.DataFrame(X, schema=names), pl.Series(y))
    np.testing.assert_array_equal(by_polars.labels_, expected)


def test_only_training_rows_are_asked(estimator, iris):
    X, y = iris
    train = np.arange(0, 150, 2)
    estimator.fit(X, y, train_indices=train)
    assert np.isin(estimator.queries_[:, :2], train).all()
    mask = np.zeros(150, bool)
    mask[train] = True
    np.testing.assert_array_equal(estimator.labels_, estimator.fit(X, y, train_indices=mask).labels_)


def test_a_fitted_estimator_survives_pickling(estimator, iris):
    estimator.fit(*iris)
    again = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(again.labels_per_query_[5], estimator.labels_per_query_[5])


def test_float32_gives_float32_splits(iris):
    X, y = iris
    est = COBRAS(max_queries=30, random_state=0).fit(X.astype(np.float32), y)
    assert est.n_queries_ == 30


@pytest.mark.parametrize(
    ("fit", "sentence"),
    [
        (lambda X, y: COBRAS(-1).fit(X, y), "max_queries must be a number from 0 on"),
        (lambda X, y: COBRAS(2.5).fit(X, y), "max_queries must be a number from 0 on"),
        (lambda X, y: COBRAS().fit(X), "requires y to be passed"),
        (lambda X, y: ADDER().fit(X), r"fit\(X, must_link=..., cannot_link=...\)"),
        (lambda X, y: ADDER().fit(X.astype(str) + "cm", y), r"must be numbers .* read_dataset\(X\).X"),
        (lambda X, y: ADDER().fit(DATED, y), r"must be numbers .* read_dataset\(X\).X"),
        (
            lambda X, y: ADDER().fit(X, must_link=[(0.5, 1)]),
            r"must_link holds the pair \(0.5, 1.0\), but rows",
        ),
        (
            lambda X, y: ADDER().fit(X, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)]),
            "The links contradict each other: 0 and 1 are same, 1 and 2 are same, but 0 and 2 are different",
        ),
        (lambda X, y: COBRAS().fit(X, y, oracle=LabelOracle(y)), "Both y and an oracle"),
        (lambda X, y: COBRAS().fit(X, y[:-1]), "one label for each of the 150 rows"),
        (lambda X, y: COBRAS().fit(X, y, train_indices=[]), "train_indices is empty"),
        (lambda X, y: COBRAS().fit(X, y, train_indices=[150]), "between 0 and 149"),
        (lambda X, y: COBRAS(branch="middle").fit(X, y), "branch must be one of random, smallest, largest"),
        (lambda X, y: COBRAS(n_init=0).fit(X, y), "n_init must be a whole number from 1 on"),
        (lambda X, y: COBRAS(full_restarts="no").fit(X, y), "full_restarts must be True or False, not 'no'"),
        (lambda X, y: ADDER(join=-1.0).fit(X, y), "join must be a finite number from 0 on, not -1.0"),
        (
            lambda X, y: ADDER(doubt=float("nan")).fit(X, y),
            "doubt must be a finite number from 0 on, not nan",
        ),
        (
            lambda X, y: ADDER(calm="a little").fit(X, y),
            "calm must be a finite number from 0 on, not 'a little'",
        ),
        (lambda X, y: COBRA(n_super_instances=0).fit(X, y), "n_super_instances must be a whole number"),
        (lambda X, y: NPU().fit(X, y), "needs the number of clusters"),
        (lambda X, y: NPU("kmeans", 3).fit(X, y), "no clusterer 'kmeans'"),
        (lambda X, y: NPU(3).fit(X, y), "no clusterer 3. Use 'mpckmeans', 'cosc', or an object with fit"),
        (lambda X, y: NPU(KMeans(3)).fit(X, y), r"no clusterer KMeans\(n_clusters=3\)"),
        (lambda X, y: COBS(update_factor=1.0).fit(X, y), "update_factor must be greater than 1"),
        (lambda X, y: ExploreConsolidate().fit(X, y), "needs the number of clusters"),
        (lambda X, y: COBRAS(random_state="x").fit(X, y), "random_state must be"),
        (lambda X, y: COBRAS().fit(X, oracle=lambda i, j: "perhaps"), "An answer must be"),
    ],
)
def test_bad_arguments_get_one_sentence(iris, fit, sentence):
    with pytest.raises(CobrasError, match=sentence) as caught:
        fit(*iris)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "X",
    [
        [],
        np.empty((5, 0)),
        np.zeros(5),
        np.zeros((5, 2, 2)),
        [[1.0], [2.0, 3.0]],
        [[10**400], [1]],
        None,
        {"a": [1, 2]},
        csr_array(np.eye(5)),
        pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"]),
        pd.DataFrame({"a": [[1], [2, 3]]}),
        pd.DataFrame(),
        pd.DataFrame({1: [1.0, 2.0], "b": [1.0, 9.0]}),
    ],
)
@pytest.mark.parametrize("estimator", [COBRAS(random_state=0), MPCKMeans(2, random_state=0)])
def test_what_is_no_table_of_numbers_is_refused(estimator, X):
    with pytest.raises(InvalidDataError):
        estimator.fit(X, [0, 1])


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (
            pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"]),
            "X has more than one column called 'a'; give",
        ),
        (pa.table([[1.0, 2.0], [3.0, 4.0]], names=["a", "a"]), "X has more than one column called 'a'; give"),
        (pl.LazyFrame({"a": [1.0, 2.0]}), "X is a LazyFrame, whose rows are not in memory. Give collect"),
    ],
)
def test_a_frame_of_another_form_is_refused_in_one_sentence(X, sentence):
    fitted = ADDER(max_queries=1).fit([[1.0, 2.0], [3.0, 4.0]], [0, 1])
    for call in (lambda: ADDER().fit(X, [0, 1]), lambda: fitted.predict(X)):
        with pytest.raises(InvalidDataError) as error:
            call()
        assert str(error.value).startswith(sentence)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("rows", [[[1.0, 2.0]], [[np.nan] * 4], [1.0] * 4, np.empty((0, 4)), [["a"] * 4]])
@pytest.mark.parametrize("estimator", [COBRAS(3, random_state=0), MPCKMeans(3, random_state=0)])
def test_new_rows_that_cannot_be_predicted_are_refused(iris, estimator, rows):
    estimator.fit(*iris)
    with pytest.raises(InvalidDataError):
        estimator.predict(rows)


@pytest.mark.parametrize("rows", [1, 2, 9])
def test_identical_rows_and_single_rows_end_without_a_question(rows):
    est = COBRAS(max_queries=None).fit(np.ones((rows, 3)), np.arange(rows))
    assert est.n_queries_ == 0
    assert est.n_clusters_ == 1


def test_a_training_set_of_one_asks_nothing(iris):
    assert COBRAS(max_queries=None).fit(*iris, train_indices=[3]).n_queries_ == 0


def test_zero_queries_is_one_cluster(iris):
    assert COBRAS(max_queries=0).fit(*iris).n_clusters_ == 1


@pytest.mark.parametrize("estimator", [COBRAS(random_state=0), ADDER(random_state=0)])
def test_gaps_that_are_not_nan_and_oracles_that_cannot_be_called_are_refused(estimator):
    X = np.arange(12.0).reshape(6, 2)
    masked = np.ma.masked_array(X, X == 5)
    times = X.astype("datetime64[s]")
    times[2, 1] = "NaT"
    for data in (masked, times):
        with pytest.raises(InvalidDataError, match="X has gaps, first at row 2, column 1"):
            estimator.fit(data, [0, 0, 0, 1, 1, 1])
    with pytest.raises(InvalidDataError, match="X has gaps, first at row 2, column 1"):
        estimator.fit(X, [0, 0, 0, 1, 1, 1]).predict(masked)
    with pytest.raises(InvalidDataError, match="An oracle is a function of two row numbers, not 3"):
        estimator.fit(X, oracle=3)
