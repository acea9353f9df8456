"""Coordinates from distances to landmarks."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from cobras.spaces.kernels.scaling import landmark_scaling


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 5), st.sampled_from([1e-3, 1.0, 1e3]))
def test_distances_of_a_table_are_kept(seed, n, d, unit):
    rng = np.random.default_rng(seed)
    X = unit * rng.normal(size=(n, d))
    landmarks = np.sort(rng.permutation(n)[: max(1, min(n, d + 5))])
    found = landmark_scaling(cdist(X, X[landmarks]) ** 2, landmarks)
    # With more landmarks than dimensions, all distances are kept; what is dropped is less than a thousandth.
    if len(landmarks) > d:
        assert np.abs(cdist(found, found) - cdist(X, X)).max() <= 0.15 * cdist(X, X).max()
        order = np.linalg.matrix_rank(X - X.mean(axis=0))
        assert found.shape[1] <= max(order, 1)


@given(st.integers(0, 2**32 - 1), st.integers(2, 40))
def test_distances_that_no_table_has_still_give_numbers(seed, n):
    rng = np.random.default_rng(seed)
    squared = rng.random((n, n))
    squared = squared + squared.T
    np.fill_diagonal(squared, 0)
    found = landmark_scaling(squared, np.arange(n))
    assert found.shape[0] == n
    assert 1 <= found.shape[1] <= 20
    assert np.isfinite(found).all()


def test_equal_instances_have_one_place():
    assert landmark_scaling(np.zeros((4, 2)), np.array([0, 2])).tolist() == [[0.0]] * 4
