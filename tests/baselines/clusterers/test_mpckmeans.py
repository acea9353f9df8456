"""Laws of MPCKMeans and PCKMeans."""

import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from cobras import CobrasError, InconsistentAnswersError, InvalidDataError
from cobras.baselines.clusterers.mpckmeans import MPCKMeans, PCKMeans
from tests.baselines.clusterers.brute_force import implied_pairs

ALL_METRICS = [
    {},
    {"per_cluster": True},
    {"metric": "full"},
    {"metric": "full", "per_cluster": True},
    {"learn_metric": False},
]


@parametrize_with_checks(
    [MPCKMeans(), MPCKMeans(per_cluster=True), MPCKMeans(metric="full", per_cluster=True), PCKMeans()]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@st.composite
def problems(draw, distinct=False):
    """A small table, the true labels, constraints that hold for them, and a number of clusters."""
    n, d = draw(st.integers(2, 14)), draw(st.integers(1, 3))
    row = st.tuples(*[st.integers(-8, 8)] * d)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n, unique=distinct)), dtype=float)
    X *= draw(st.sampled_from([1.0, 0.01, 1e5]))
    k = draw(st.integers(1, min(n, 4)))
    y = np.array(draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    pair = st.lists(st.integers(0, n - 1), min_size=2, max_size=2, unique=True)
    pairs = draw(st.lists(pair, max_size=12))
    must_link = [p for p in pairs if y[p[0]] == y[p[1]]]
    return X, y, k, must_link, [p for p in pairs if p not in must_link]


weights = st.sampled_from([0.0, 0.02, 0.1, 0.3, 1.0, 50.0])


def squares(X, i, j, A):
    return (X[i] - X[j]) @ A @ (X[i] - X[j])


def objective(est, X, must_link, cannot_link, w=(1.0, 1.0)):
    """J as the paper writes it, by loops; Δ from the box for diagonal metrics."""
    labels, k, d = est.labels_, est.n_clusters, X.shape[1]
    A = np.broadcast_to(est.metric_, (k, d) if est.metric == "diagonal" else (k, d, d))
    if est.metric == "diagonal":
        A = [np.diag(a) for a in A]
        delta = [np.ptp(X, axis=0) @ a @ np.ptp(X, axis=0) for a in A]
    else:
        delta = [max(squares(X, i, j, a) for i in range(len(X)) for j in range(len(X))) for a in A]
    together, apart = implied_pairs(len(X), must_link, cannot_link)
    J = 0.0
    for x, h in zip(X, labels, strict=True):
        v = x - est.cluster_centers_[h]
        J += v @ A[h] @ v - np.linalg.slogdet(A[h])[1]
    for i, j in together:
        if labels[i] != labels[j]:
            J += w[0] * (squares(X, i, j, A[labels[i]]) + squares(X, i, j, A[labels[j]])) / 2
    for i, j in apart:
        if labels[i] == labels[j]:
            J += w[1] * (delta[labels[i]] - squares(X, i, j, A[labels[i]]))
    return J


def never_grows(path, n):
    """Up to rounding; J is a difference of terms of the size of n."""
    return (np.diff(path) <= 1e-9 * (np.maximum(np.abs(path[:-1]), np.abs(path[1:])) + n)).all()


@given(
    problems(),
    weights,
    weights,
    st.sampled_from(["index", "random"]),
    st.sampled_from(["neighbourhoods", "perturb"]),
    st.booleans(),
    st.booleans(),
)
def test_the_objective_never_grows(problem, w, v, order, init, per_cluster, regroup):
    X, _, k, must_link, cannot_link = problem
    est = MPCKMeans(
        k,
        w_must_link=w,
        w_cannot_link=v,
        order=order,
        init=init,
        per_cluster=per_cluster,
        regroup=regroup,
        random_state=0,
    ).fit(X, must_link=must_link, cannot_link=cannot_link)
    assert never_grows(est.objective_path_, len(X))
    assert (est.metric_ > 0).all()
    assert np.isfinite(est.metric_).all()
    assert len(est.objective_path_) == 3 * est.n_iter_


@given(problems(), st.sampled_from([0.5, 2.0]))
def test_pckmeans_never_lets_its_objective_grow(problem, w):
    X, _, k, must_link, cannot_link = problem
    est = PCKMeans(k, w_must_link=w, w_cannot_link=w, random_state=0)
    est.fit(X, must_link=must_link, cannot_link=cannot_link)
    assert never_grows(est.objective_path_, len(X))
    inertia = np.square(X - est.cluster_centers_[est.labels_]).sum()
    assert est.objective_ == pytest.approx(inertia + w * est.n_violations_)


@pytest.mark.parametrize("options", ALL_METRICS, ids=str)
@settings(max_examples=40)
@given(problem=problems(), w=st.tuples(weights, weights))
def test_the_objective_is_that_of_the_paper(options, problem, w):
    X, _, k, must_link, cannot_link = problem
    est = MPCKMeans(k, w_must_link=w[0], w_cannot_link=w[1], max_iter=1, random_state=0, **options)
    est.fit(X, must_link=must_link, cannot_link=cannot_link)
    (together, apart), labels = implied_pairs(len(X), must_link, cannot_link), est.labels_
    n_parted = sum(labels[i] != labels[j] for i, j in together)
    n_joined = sum(labels[i] == labels[j] for i, j in apart)
    assert est.n_violations_ == n_parted + n_joined
    if est.metric == "full" and n_joined:
        return  # the farthest pair of the metric before is in force until the next assignment
    expected = objective(est, X, must_link, cannot_link, w)
    assert est.objective_ == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.abs(est.objective_path_).max())


@st.composite
def crowds(draw):
    """Random rows with constraints from labels that have nothing to do with them: many cannot be satisfied."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X, y = rng.normal(size=(12, 2)), rng.integers(3, size=12)
    pairs = np.array([rng.choice(12, 2, replace=False) for _ in range(10)])
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return X, y, pairs[same].tolist(), pairs[~same].tolist()


@pytest.mark.parametrize("options", [{}, {"per_cluster": True}, {"learn_metric": False}], ids=str)
@given(problem=crowds(), w=st.tuples(weights, weights))
def test_at_the_end_no_move_of_a_row_lowers_the_objective(options, problem, w):
    """Brute force over all single moves; and the three steps agree about the objective."""
    X, y, must_link, cannot_link = problem
    est = MPCKMeans(3, w_must_link=w[0], w_cannot_link=w[1], tol=0, **options)
    est.fit(X, must_link=must_link, cannot_link=cannot_link, init_labels=y)
    size = np.abs(est.objective_path_).max()
    assert never_grows(est.objective_path_, len(X))
    assert est.n_iter_ < est.max_iter
    np.testing.assert_allclose(est.objective_path_[-3:], est.objective_, atol=1e-9 * size)
    assert est.objective_ == pytest.approx(objective(est, X, must_link, cannot_link, w), abs=1e-9 * size)
    other = clone(est)
    vars(other).update(vars(est))
    for i in range(len(X)):
        for h in range(3):
            other.labels_ = est.labels_.copy()
            other.labels_[i] = h
            assert objective(other, X, must_link, cannot_link, w) >= est.objective_ - 1e-9 * size


def test_a_row_between_two_centers_stays_where_it_is():
    X = [[-3.0], [-1.0], [0.0], [4.0]]
    est = MPCKMeans(2, learn_metric=False).fit(X, init_labels=[0, 0, 1, 1])
    assert est.labels_.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("options", ALL_METRICS, ids=str)
def test_a_constant_column_keeps_its_weight(options):
    rng = np.random.default_rng(0)
    X = np.column_stack((rng.normal(size=40), np.full(40, 7.0), rng.normal(size=40)))
    est = MPCKMeans(2, random_state=0, **options).fit(X, must_link=[(0, 1)], cannot_link=[(1, 2)])
    column = est.metric_[..., 1] if est.metric == "diagonal" else est.metric_[..., 1, 1]
    np.testing.assert_allclose(column, 1.0)


@given(problems(distinct=True))
def test_without_weights_and_metric_it_is_lloyd(problem):
    X, y, k, must_link, cannot_link = problem
    assume(len(set(y)) == k)
    est = MPCKMeans(k, w_must_link=0, w_cannot_link=0, learn_metric=False, tol=0, random_state=0)
    est.fit(X, must_link=must_link, cannot_link=cannot_link, init_labels=y)
    labels = y
    for _ in range(100):
        if len(set(labels)) < k:
            return  # how empty clusters are filled differs
        centers = np.array([X[labels == h].mean(axis=0) for h in range(k)])
        D = np.square(X[:, np.newaxis] - centers).sum(axis=2)
        if _ties(D).any():
            return  # rounding decides
        before, labels = labels, D.argmin(axis=1)
        if (before == labels).all():
            break
    np.testing.assert_array_equal(est.labels_, labels)


def _ties(D):
    if D.shape[1] == 1:
        return np.zeros(len(D), dtype=bool)
    two = np.sort(D, axis=1)[:, :2]
    return two[:, 1] - two[:, 0] <= 1e-9 * D.max()


@given(problems(distinct=True))
def test_heavy_must_links_hold_when_the_start_satisfies_them(problem):
    X, y, k, must_link, cannot_link = problem
    est = MPCKMeans(k, w_must_link=1e9, w_cannot_link=0, random_state=0)
    est.fit(X, must_link=must_link, cannot_link=cannot_link, init_labels=y)
    for i, j in must_link:
        assert est.labels_[i] == est.labels_[j]


@given(st.integers(0, 2**32 - 1), st.integers(-6, 6), st.integers(2, 4))
def test_scaling_a_column_scales_its_weight_and_nothing_else(seed, power, k):
    rng, n = np.random.default_rng(seed), 24
    X, y = rng.normal(size=(n, 3)), rng.permutation(np.arange(n) % k)
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(15)])
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    links = {"must_link": pairs[same], "cannot_link": pairs[~same], "init_labels": y}
    a = MPCKMeans(k, w_cannot_link=0.1).fit(X, **links)
    scale = np.array([2.0**power, 1.0, 1.0])
    b = MPCKMeans(k, w_cannot_link=0.1).fit(X * scale, **links)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    np.testing.assert_allclose(a.metric_, b.metric_ * scale**2, rtol=1e-12)


@pytest.mark.parametrize("options", ALL_METRICS, ids=str)
@settings(max_examples=25)
@given(problem=problems(), random=st.randoms())
def test_the_order_of_the_constraints_does_not_matter(options, problem, random):
    X, _, k, must_link, cannot_link = problem
    a = MPCKMeans(k, random_state=0, **options).fit(X, must_link=must_link, cannot_link=cannot_link)
    for found in (must_link, cannot_link):
        random.shuffle(found)
    flipped = [pair[::-1] for pair in must_link]
    b = MPCKMeans(k, random_state=0, **options).fit(X, must_link=flipped, cannot_link=cannot_link)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    np.testing.assert_array_equal(a.objective_path_, b.objective_path_)
    assert np.isfinite(a.metric_).all()
    assert np.isfinite(a.objective_path_).all()


def test_regrouping_lowers_the_objective_on_wine():
    X, y = load_wine(return_X_y=True)
    X, rng, gains, aris = minmax_scale(X), np.random.default_rng(0), [], []
    for seed in range(8):
        pairs = np.array([rng.choice(len(X), 2, replace=False) for _ in range(100)])
        same = y[pairs[:, 0]] == y[pairs[:, 1]]
        links = {"must_link": pairs[same], "cannot_link": pairs[~same]}
        with_it = MPCKMeans(3, random_state=seed).fit(X, **links)
        without = MPCKMeans(3, random_state=seed, regroup=False).fit(X, **links)
        gains.append(without.objective_ - with_it.objective_)
        aris.append(adjusted_rand_score(y, with_it.labels_))
    assert np.mean(gains) > 50
    assert np.mean(aris) > 0.9


@pytest.mark.parametrize("options", ALL_METRICS, ids=str)
@pytest.mark.parametrize(
    "X",
    [np.ones((6, 2)), np.array([[0.0, 1, 7]] * 3 + [[1.0, 0, 7]] * 3), np.arange(6.0)[:, None] * 1e-150],
    ids=["identical rows", "two distinct rows, a constant column", "tiny numbers"],
)
def test_poor_tables_give_finite_metrics_and_end(options, X):
    est = MPCKMeans(3, random_state=0, **options).fit(X, must_link=[(0, 1)], cannot_link=[(1, 5), (0, 4)])
    assert np.isfinite(est.metric_).all()
    assert np.isfinite(est.cluster_centers_).all()
    assert est.n_iter_ <= 20
    assert set(est.predict(X)) <= {0, 1, 2}


@given(problems())
def test_no_more_empty_clusters_than_there_must_be(problem):
    X, _, k, _, _ = problem
    est = MPCKMeans(k, init="perturb", random_state=0, max_iter=300).fit(X)
    assert len(set(est.labels_)) == min(k, len(np.unique(X, axis=0)))


def test_one_cluster_takes_all_and_counts_violations():
    est = MPCKMeans(1).fit([[0.0], [1.0], [4.0]], cannot_link=[(0, 1), (1, 2)])
    assert est.labels_.tolist() == [0, 0, 0]
    assert est.n_violations_ == 2


def test_one_class_only_still_gives_the_clusters_asked_for():
    X = np.arange(8.0)[:, None]
    est = MPCKMeans(2, random_state=0).fit(X, must_link=[(0, 1), (1, 2)])
    assert set(est.labels_) == {0, 1}


def test_predict_repeats_the_labels_where_no_constraint_pulls():
    X = minmax_scale(load_wine().data)
    for options in ALL_METRICS:
        est = MPCKMeans(3, random_state=0, tol=0, **options).fit(X)
        np.testing.assert_array_equal(est.predict(X), est.labels_)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(est)).predict(X), est.labels_)


def test_float32_and_lists_are_welcome():
    X = np.random.default_rng(0).normal(size=(30, 2)).round(2)
    a = MPCKMeans(2, random_state=0).fit(X)
    assert a.fit(X.tolist()).labels_.tolist() == a.labels_.tolist()
    assert a.fit(X.astype(np.float32)).labels_.shape == (30,)


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({"n_clusters": 5}, {}, "n_clusters=5 asks for more clusters than there are rows"),
        ({"n_clusters": 0}, {}, "n_clusters must be a whole number from 1 on, not 0"),
        ({"n_clusters": 2.0}, {}, "n_clusters must be a whole number"),
        ({"max_iter": 0}, {}, "max_iter must be a whole number from 1 on"),
        ({"metric": "cosine"}, {}, "metric must be one of diagonal, full, not 'cosine'"),
        ({"init": "random"}, {}, "init must be one of"),
        ({"order": "up"}, {}, "order must be one of"),
        ({"w_must_link": -1}, {}, "w_must_link must be a finite number from 0 on, not -1"),
        ({"w_cannot_link": np.nan}, {}, "w_cannot_link must be a finite number"),
        ({"tol": "small"}, {}, "tol must be a finite number"),
        ({}, {"must_link": [(0, 9)]}, "must_link names row 9, but rows go from 0 to 3"),
        ({}, {"init_labels": [0, 1]}, "init_labels must hold 4 whole numbers from 0 to 1"),
        ({}, {"init_labels": [0, 1, 2, 0]}, "init_labels must hold 4 whole numbers from 0 to 1"),
    ],
)
def test_bad_input_gets_one_sentence(options, arguments, message):
    with pytest.raises(InvalidDataError, match=message):
        MPCKMeans(**{"n_clusters": 2, **options}).fit([[0.0], [1.0], [2.0], [3.0]], **arguments)


def test_contradicting_constraints_name_the_chain():
    with pytest.raises(InconsistentAnswersError, match="0 and 1 are same, 1 and 2 are same") as caught:
        MPCKMeans(2).fit(np.eye(3), must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    assert isinstance(caught.value, CobrasError)
