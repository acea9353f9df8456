"""The graph of nearest neighbours, from its definition, and with points added."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cobras.methods.adder.neighbors import neighbor_graph, with_new_rows


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
