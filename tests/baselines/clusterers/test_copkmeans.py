"""Laws of COP-KMeans."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from cobras import CobrasError, InconsistentAnswersError, InvalidDataError
from cobras.baselines.clusterers.copkmeans import COPKMeans, InfeasibleConstraintsError


@parametrize_with_checks([COPKMeans()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def holds(labels, must_link, cannot_link):
    return all(labels[i] == labels[j] for i, j in must_link) and all(
        labels[i] != labels[j] for i, j in cannot_link
    )


@st.composite
def problems(draw):
    n = draw(st.integers(2, 7))
    X = np.array(draw(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=n, max_size=n)))
    pair = st.lists(st.integers(0, n - 1), min_size=2, max_size=2, unique=True)
    must_link, cannot_link = draw(st.lists(pair, max_size=3)), draw(st.lists(pair, max_size=9))
    return X.astype(float), draw(st.integers(1, min(n, 3))), must_link, cannot_link


@given(problems())
def test_it_violates_nothing_or_says_so(problem):
    X, k, must_link, cannot_link = problem
    feasible = any(holds(labels, must_link, cannot_link) for labels in product(range(k), repeat=len(X)))
    try:
        est = COPKMeans(k, random_state=0).fit(X, must_link=must_link, cannot_link=cannot_link)
    except (InfeasibleConstraintsError, InconsistentAnswersError):
        assert not feasible
        return
    assert holds(est.labels_, must_link, cannot_link)
    for h in set(est.labels_):
        np.testing.assert_allclose(est.cluster_centers_[h], X[est.labels_ == h].mean(axis=0), atol=1e-12)
    assert est.inertia_ == pytest.approx(np.square(X - est.cluster_centers_[est.labels_]).sum())


@given(problems())
def test_no_component_would_rather_be_in_another_cluster_open_to_it(problem):
    X, k, _, cannot_link = problem
    try:
        est = COPKMeans(k, random_state=0).fit(X, cannot_link=cannot_link)
    except InfeasibleConstraintsError:
        return
    D = np.square(X[:, np.newaxis] - est.cluster_centers_).sum(axis=2)
    for i, h in product(range(len(X)), range(k)):
        labels = est.labels_.copy()
        labels[i] = h
        if holds(labels, [], cannot_link):
            assert D[i, h] >= D[i, est.labels_[i]] - 1e-9


def test_two_clusters_are_found_however_long_the_chain():
    rng = np.random.default_rng(0)
    rows = rng.permutation(301)
    est = COPKMeans(2, n_init=1, random_state=0).fit(
        rng.normal(size=(301, 2)), cannot_link=np.column_stack((rows[:-1], rows[1:]))
    )
    assert holds(est.labels_, [], pairwise(rows))


def test_without_constraints_it_is_lloyd():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    est = COPKMeans(2, random_state=0).fit(X)
    assert sorted(est.cluster_centers_.ravel()) == [1.0, 11.0]
    np.testing.assert_array_equal(est.predict(X), est.labels_)


def test_an_impossible_wish_ends_in_one_sentence():
    with pytest.raises(
        InfeasibleConstraintsError, match=r"No assignment to 2 clusters .* in 3 attempts"
    ) as caught:
        COPKMeans(2, n_init=3).fit(np.eye(3), cannot_link=[(0, 1), (1, 2), (0, 2)])
    assert isinstance(caught.value, CobrasError)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 4}, "more clusters than there are rows"),
        ({"n_init": 0}, "n_init must be a whole number from 1 on"),
        ({"max_iter": 1.5}, "max_iter must be a whole number from 1 on"),
    ],
)
def test_bad_input_gets_one_sentence(options, message):
    with pytest.raises(InvalidDataError, match=message):
        COPKMeans(**options).fit(np.eye(3))
