"""The neighbour graph, its contraction, and the starts taken from it."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse.csgraph import connected_components

from cobras.baselines.clusterers.graph import (
    contract,
    harmonic,
    multiway_cut,
    neighbour_graph,
    second_eigenvector,
    two_colour,
)
from cobras.core.exceptions import InvalidDataError

tables = st.integers(1, 30).flatmap(
    lambda n: arrays(np.float64, (n, 2), elements=st.integers(-3, 3).map(float))  # many equal rows
)


@given(tables, st.integers(1, 12), st.sampled_from(["symmetric", "mutual"]))
def test_the_graph_is_symmetric_positive_and_in_one_piece(X, k, kind):
    W = neighbour_graph(X, k, kind=kind)
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
    W = neighbour_graph(X, 5, scale=3.0, kind=kind).toarray()
    expected = join(one_way, one_way.T)
    bridges = (expected == 0) & (W > 0)
    np.testing.assert_allclose(np.where(bridges, 0, W), expected, rtol=1e-12)
    n_pieces = connected_components(sp.csr_array(expected))[0]
    assert bridges.sum() == 2 * (n_pieces - 1)


def test_pieces_are_joined_by_the_shortest_edge():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [30.0], [31.0]])
    W = neighbour_graph(X, 1).toarray()
    assert W[2, 3] > 0
    assert W[5, 6] > 0
    assert W[2, 6] == W[0, 3] == 0


def test_equal_rows_have_weight_one_and_are_not_an_island():
    X = np.concatenate([np.zeros((20, 3)), np.random.default_rng(0).normal(size=(30, 3))]).astype(np.float32)
    W = neighbour_graph(X, 5)
    assert set(W[:20][:, :20].data) == {1.0}
    assert connected_components(W)[0] == 1
    assert connected_components(neighbour_graph(np.ones((15, 2)), 3))[0] == 1


def test_an_unknown_kind_is_named():
    with pytest.raises(InvalidDataError, match="graph must be one of symmetric, mutual, not 'full'"):
        neighbour_graph(np.eye(3), kind="full")


@given(st.integers(2, 12), st.data())
def test_contraction_keeps_every_cut_between_groups(n, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    A = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.5), 1)
    W = sp.csr_array(A + A.T)
    group = np.unique(rng.integers(0, n, n), return_inverse=True)[1]
    small, m = contract(W, group), group.max() + 1
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
    group = two_colour(n, apart)
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
    group = two_colour(6, np.array([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5)]))
    assert len(set(group[:3])) == 3
    assert group[3] == group[5] != group[4]


@pytest.mark.parametrize("n", [30, 200])  # dense, and by Lanczos
def test_the_second_eigenvector_tells_two_blobs_apart(n):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(n // 2, 2)), rng.normal(size=(n // 2, 2)) + 20])
    W = neighbour_graph(X, 5)
    for volume in (W.sum(axis=0), np.ones(n)):
        f = second_eigenvector(W, volume, rng)
        low, high = sorted((f[: n // 2], f[n // 2 :]), key=np.mean)
        assert low.max() < high.min()


def test_a_harmonic_vector_is_the_mean_of_its_neighbours():
    W = sp.csr_array(np.diag([1.0, 1.0, 1.0, 1.0], 1) + np.diag([1.0, 1.0, 1.0, 1.0], -1))
    f = harmonic(W, np.array([True, False, False, False, False]), np.array([0, 4]))
    np.testing.assert_allclose(f, [1, 0.75, 0.5, 0.25, 0], atol=1e-2)
