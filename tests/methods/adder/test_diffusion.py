"""Diffusion against the inverse of the whole matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris

from cobras.methods.adder.diffusion import Diffusion, affinities

X = load_iris().data


@pytest.mark.parametrize("a", [0.9, 0.99])
def test_a_column_is_that_of_the_inverse(a):
    S = affinities(X, 10)
    whole = (1 - a) * np.linalg.inv(np.eye(len(X)) - a * S.toarray())
    for i in (0, 77, 149):
        np.testing.assert_allclose(Diffusion(S, a).column(i), whole[:, i], atol=1e-6)


@given(st.integers(1, 12), st.integers(1, 15), st.integers(0, 100), st.booleans())
def test_affinities_are_symmetric_and_bounded(n, k, seed, twins):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (n, 2)).astype(float) if twins else rng.random((n, 2))
    S = affinities(rows, k)
    assert isinstance(S, sparse.csr_array)
    dense = S.toarray()
    np.testing.assert_allclose(dense, dense.T)
    assert not dense.diagonal().any()
    assert np.abs(np.linalg.eigvalsh(dense)).max() <= 1 + 1e-9


def test_affinities_of_a_few_points_from_the_definition():
    """Two neighbours each, so the width is the distance to the second one."""
    rows = np.array([[0.0], [1.0], [3.0], [7.0]])
    away = np.abs(rows - rows.T)
    width = np.sort(away, axis=1)[:, 2]
    is_near = away <= width[:, None]
    weight = np.where(is_near | is_near.T, np.exp(-(away**2) / np.outer(width, width)), 0)
    np.fill_diagonal(weight, 0)
    root = np.sqrt(weight.sum(axis=1))
    np.testing.assert_allclose(affinities(rows, 2).toarray(), weight / np.outer(root, root))


def test_what_spreads_is_the_sum_of_columns():
    diffusion = Diffusion(affinities(X, 10), 0.9)
    source = np.zeros(len(X))
    source[[3, 99]] = 2.0, 0.5
    expected = 2 * diffusion.column(3) + 0.5 * diffusion.column(99)
    np.testing.assert_allclose(diffusion.spread(source), expected, atol=1e-5)
