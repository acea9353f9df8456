"""The graph of nearest neighbours, from its definition, and with points added."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from cobras.methods.adder.geometry.neighbors import by_distance, nearest, neighbor_graph, with_new_rows


@given(st.integers(2, 300), st.integers(1, 20), st.integers(1, 12), st.integers(0, 100), st.booleans())
def test_neighbours_are_those_of_scikit_learn(n, d, k, seed, twins):
    """Where rows are equally near, any of them may be found, but none that is farther."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (n, d)).astype(float) if twins else rng.normal(size=(n, d))
    rows -= rows.mean(axis=0)
    k = min(k, n - 1)
    near, distance = by_distance(rows, rows, nearest(rows, rows, k, np.arange(n)))
    expected, among = NearestNeighbors(n_neighbors=k).fit(rows).kneighbors()
    np.testing.assert_allclose(distance, expected, atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(rows[:, None] - rows[near], axis=2), distance, atol=1e-12)
    assert not (near == np.arange(n)[:, None]).any()
    assert all(len(set(row)) == k for row in near.tolist())
    if not twins:
        np.testing.assert_array_equal(near, among)


@given(st.integers(1, 12), st.integers(1, 15), st.integers(0, 100), st.booleans())
def test_affinities_are_symmetric_and_bounded(n, k, seed, twins):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (n, 2)).astype(float) if twins else rng.random((n, 2))
    S = neighbor_graph(rows, k).affinities()
    assert isinstance(S, sparse.csr_array)
    assert S.dtype == np.float32
    dense = S.toarray()
    np.testing.assert_allclose(dense, dense.T, rtol=1e-6)
    assert not dense.diagonal().any()
    assert np.abs(np.linalg.eigvalsh(dense)).max() <= 1 + 1e-5


def test_affinities_of_a_few_points_from_the_definition():
    """Two neighbours each, so the width is the distance to the second one."""
    rows = np.array([[0.0], [1.0], [3.0], [7.0]])
    away = np.abs(rows - rows.T)
    width = np.sort(away, axis=1)[:, 2]
    is_near = away <= width[:, None]
    weight = np.where(is_near | is_near.T, np.exp(-(away**2) / np.outer(width, width)), 0)
    np.fill_diagonal(weight, 0)
    root = np.sqrt(weight.sum(axis=1))
    np.testing.assert_allclose(
        neighbor_graph(rows, 2).affinities().toarray(), weight / np.outer(root, root), rtol=1e-6
    )


@given(st.integers(2, 12), st.integers(1, 6), st.integers(1, 15), st.integers(0, 100), st.booleans())
def test_new_points_have_the_neighbours_that_they_would_have_among_all(n_old, n_new, k, seed, twins):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (n_old + n_new, 2)).astype(float) if twins else rng.random((n_old + n_new, 2))
    before, anew = neighbor_graph(rows[:n_old], k), neighbor_graph(rows, k)
    found = with_new_rows(before, rows, k)
    assert found.weight.shape == anew.weight.shape
    # Ties may be broken otherwise, and among equal rows a width is relative to the largest distance.
    if not twins:
        np.testing.assert_allclose(found.width[n_old:], anew.width[n_old:])
    assert found.gap >= anew.gap * (1 - 1e-9)
    dense = found.affinities().toarray()
    np.testing.assert_allclose(dense, dense.T, rtol=1e-6)
    assert not dense.diagonal().any()
    assert ((dense > 0).sum(axis=1)[n_old:] >= min(k, n_old + n_new - 1)).all()
    assert np.abs(np.linalg.eigvalsh(dense)).max() <= 1 + 1e-5
    # Old points stay neighbours of each other, with the same weights.
    np.testing.assert_array_equal(found.weight.toarray()[:n_old, :n_old], before.weight.toarray())


def test_far_points_are_found_by_the_gap():
    rows = np.array([[0.0], [1.0], [2.0], [9.0]])
    assert neighbor_graph(rows[:3], 2).gap == pytest.approx(1)
    assert with_new_rows(neighbor_graph(rows[:3], 2), rows, 2).gap == pytest.approx(7)
