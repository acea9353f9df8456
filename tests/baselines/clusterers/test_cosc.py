"""COSC: its graph, and what holds for every clustering."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from cobras.baselines.clusterers.cosc import COSC, colour_groups, contraction, multiway_cut, similarity_graph
from cobras.core.exceptions import InconsistentAnswersError, InvalidDataError

SOAK = 10 if os.environ.get("COBRAS_SOAK") else 1
seeds = st.integers(0, 10_000)
tables = st.integers(1, 30).flatmap(
    lambda n: arrays(np.float64, (n, 2), elements=st.integers(-3, 3).map(float))  # many equal rows
)


@parametrize_with_checks([COSC(random_state=0), COSC(3, preset="fast", vertex_weights="one")])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@given(tables, st.integers(1, 12), st.sampled_from(["symmetric", "mutual"]))
def test_the_graph_is_symmetric_positive_and_in_one_piece(X, k, kind):
    W = similarity_graph(X, k, kind=kind)
    dense = W.toarray()
    np.testing.assert_array_equal(dense, dense.T)
    assert (W.data > 0).all()
    assert (W.data <= 1).all()
    assert (dense.diagonal() == 0).all()
    assert connected_components(W)[0] == 1


@pytest.mark.parametrize(("kind", "join"), [("symmetric", np.maximum), ("mutual", np.minimum)])
def test_weights_against_the_definition(kind, join):
    X = np.random.default_rng(0).normal(size=(40, 3))
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    order = np.argsort(squared, axis=1)
    one_way = np.zeros((40, 40))
    for i in range(40):
        near = order[i, 1:6]
        one_way[i, near] = np.exp(-3.0 * squared[i, near] / squared[i, near[-1]])
    W = similarity_graph(X, 5, scale=3.0, kind=kind).toarray()
    expected = join(one_way, one_way.T)
    bridges = (expected == 0) & (W > 0)
    np.testing.assert_allclose(np.where(bridges, 0, W), expected, rtol=1e-12)
    n_pieces = connected_components(sp.csr_array(expected))[0]
    assert bridges.sum() == 2 * (n_pieces - 1)


def test_pieces_are_joined_by_the_shortest_edge():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [30.0], [31.0]])
    W = similarity_graph(X, 1).toarray()
    assert W[2, 3] > 0
    assert W[5, 6] > 0
    assert W[2, 6] == W[0, 3] == 0


def test_equal_rows_have_weight_one_and_are_not_an_island():
    X = np.concatenate([np.zeros((20, 3)), np.random.default_rng(0).normal(size=(30, 3))]).astype(np.float32)
    W = similarity_graph(X, 5)
    assert set(W[:20][:, :20].data) == {1.0}
    assert connected_components(W)[0] == 1
    assert connected_components(similarity_graph(np.ones((15, 2)), 3))[0] == 1


@given(st.integers(2, 12), st.data())
def test_contraction_keeps_every_cut_between_groups(n, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    A = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.5), 1)
    W = sp.csr_array(A + A.T)
    group = np.unique(rng.integers(0, n, n), return_inverse=True)[1]
    small, m = contraction(W, group), group.max() + 1
    expected = np.array(
        [[W.toarray()[group == a][:, group == b].sum() * (a != b) for b in range(m)] for a in range(m)]
    )
    np.testing.assert_allclose(small.toarray(), expected, atol=1e-12)
    volume = rng.random(n) + 0.1
    side = np.arange(m) % 2
    value = multiway_cut(small, np.bincount(group, volume), side)
    assert value == pytest.approx(multiway_cut(W, volume, side[group]))


@given(
    st.integers(2, 10), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12), st.booleans()
)
def test_two_colours(n, pairs, feasible):
    truth = np.arange(n) % 2
    pairs = [(i % n, j % n) for i, j in pairs if i % n != j % n]
    if feasible:
        pairs = [(i, j) for i, j in pairs if truth[i] != truth[j]]
    apart = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    group = colour_groups(n, apart)
    assert (group[apart[:, 0]] != group[apart[:, 1]]).all()
    assert set(group) == set(range(group.max() + 1))
    pieces = connected_components(sp.coo_array((np.ones(len(apart)), apart.T), shape=(n, n)), directed=False)[
        1
    ]
    for i in range(n):
        for j in range(n):
            if group[i] == group[j]:
                assert pieces[i] == pieces[j]
            elif feasible and pieces[i] == pieces[j]:
                assert truth[i] != truth[j]


def test_an_odd_cycle_is_left_alone():
    group = colour_groups(6, np.array([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5)]))
    assert len(set(group[:3])) == 3
    assert group[3] == group[5] != group[4]


@given(seeds, st.integers(1, 5), st.sampled_from(["symmetric", "mutual"]), st.booleans())
@settings(max_examples=40 * SOAK)
def test_what_holds_for_every_clustering(seed, k, graph, warm):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 40))
    X = rng.normal(size=(n, 2)).round(int(rng.integers(0, 3)))  # equal rows
    y = rng.integers(0, max(k, 1), n)
    pairs = rng.integers(0, n, (int(rng.integers(0, 15)), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    model = COSC(k, preset="fast", graph=graph, n_neighbors=5, random_state=0)
    given_ = {"must_link": pairs[same], "cannot_link": pairs[~same], "init_labels": y if warm else None}
    try:
        labels = model.fit(X, **given_).labels_
    except InvalidDataError as error:
        assert "groups" in str(error)  # noqa: PT017
        return
    assert sorted(set(labels)) == list(range(k))
    assert labels[0] == 0
    assert (labels[pairs[same, 0]] == labels[pairs[same, 1]]).all()
    violated = {tuple(sorted(p)) for p in pairs[~same].tolist() if labels[p[0]] == labels[p[1]]}
    assert model.n_violations_ == len(violated)
    if k <= 2:
        assert model.n_violations_ == 0
    np.testing.assert_array_equal(clone(model).fit(X, **given_).labels_, labels)


@pytest.mark.parametrize("preset", ["full", "fast"])
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("weights", ["degree", "one"])
def test_separated_blobs_are_found_exactly(preset, k, weights):
    X, y = make_blobs(40 * k, 3, centers=10.0 * np.eye(4)[:k, :3], cluster_std=0.5, random_state=0)
    model = COSC(k, preset=preset, vertex_weights=weights, random_state=0)
    assert adjusted_rand_score(y, model.fit(X).labels_) == 1
    assert adjusted_rand_score(y, model.fit(X, init_labels=np.arange(len(X)) % k).labels_) == 1


@pytest.mark.parametrize("k", [2, 3])
def test_constraints_pull_the_clustering_to_the_labels(k):
    X, y = load_iris(return_X_y=True)
    X, y = X[y >= 3 - k], y[y >= 3 - k]
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, len(X), (120, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    model = COSC(k, preset="fast", random_state=0)
    without = adjusted_rand_score(y, model.fit(X).labels_)
    with_them = model.fit(X, must_link=pairs[same], cannot_link=pairs[~same])
    assert adjusted_rand_score(y, with_them.labels_) > without
    again = model.fit(X, must_link=pairs[same], cannot_link=pairs[~same], init_labels=y)
    assert adjusted_rand_score(y, again.labels_) > without


def test_the_graph_is_built_once_for_the_same_rows():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = COSC(preset="fast", random_state=0).fit(X)
    first = model.affinity_matrix_
    assert model.fit(X.copy(), cannot_link=[(0, 1)]).affinity_matrix_ is first
    X[0] += 1.0  # in place
    assert model.fit(X).affinity_matrix_ is not first
    assert model.set_params(n_neighbors=5).fit(X).affinity_matrix_.nnz < first.nnz


def test_degenerate_data():
    X = np.zeros((12, 2))
    X[:, 1] = 5.0  # constant columns, equal rows
    assert set(COSC(2, random_state=0).fit(X).labels_) == {0, 1}
    assert set(COSC(3, preset="fast", random_state=0).fit(X, cannot_link=[(0, 1)]).labels_) == {0, 1, 2}
    assert COSC(1).fit(X).cut_ == 0
    assert COSC(1).fit(X[:1]).labels_.tolist() == [0]
    assert COSC(1).fit(X, cannot_link=[(3, 4)]).n_violations_ == 1
    assert COSC(2).fit(X, must_link=[(i, i + 1) for i in range(10)]).labels_.tolist() == [0] * 11 + [1]
    exactly = COSC(3).fit(X, must_link=[(i, i + 1) for i in range(11) if i not in (3, 7)])
    assert exactly.labels_.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    far = np.array([[0.0], [1e-8], [1e6], [2e6]], dtype=np.float32)
    assert set(COSC(2, random_state=0).fit(far).labels_) == {0, 1}


def test_an_odd_cycle_is_met_as_well_as_possible():
    X = np.random.default_rng(0).normal(size=(30, 2))
    for preset in ("full", "fast"):
        model = COSC(2, preset=preset, random_state=0).fit(X, cannot_link=[(0, 1), (1, 2), (2, 0), (5, 6)])
        assert model.n_violations_ == 1


@pytest.mark.parametrize(
    ("options", "given_", "message"),
    [
        ({"n_clusters": 9}, {}, r"n_clusters=9 asks for more clusters than there are rows \(n_samples=8\)"),
        (
            {"n_clusters": 8},
            {"must_link": [(0, 1)]},
            "n_clusters=8, but the must-links join the rows to 7 groups",
        ),
        ({"n_clusters": 0}, {}, "n_clusters must be a whole number from 1 on, not 0"),
        ({"scale": -1.0}, {}, "scale must be a number above 0, not -1.0"),
        ({"preset": "slow"}, {}, "preset must be one of full, fast, not 'slow'"),
        ({"graph": "full"}, {}, "graph must be one of symmetric, mutual, not 'full'"),
        ({}, {"cannot_link": [(0, 8)]}, "cannot_link names row 8, but rows go from 0 to 7"),
        ({}, {"init_labels": [0, 1]}, "one label for each of the 8 rows"),
    ],
)
def test_errors_are_one_sentence(options, given_, message):
    with pytest.raises(InvalidDataError, match=message):
        COSC(**options).fit(np.arange(16.0).reshape(8, 2), **given_)


def test_contradicting_constraints_name_the_chain():
    with pytest.raises(InconsistentAnswersError, match="contradicts"):
        COSC().fit(np.eye(5), must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
