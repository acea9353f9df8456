"""Sums by group, and the lowest rows and columns, against numpy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cobras.spaces.kernels.sums import lowest_columns, lowest_rows, sums_by_group


@given(st.integers(1, 12), st.integers(1, 9), st.integers(1, 4), st.integers(0, 1000))
def test_sums_of_some_rows_in_each_group(m, d, k, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(15, d)).astype(np.float32)
    places, groups = rng.integers(0, 15, m), rng.integers(0, k, m)
    weights = rng.random(m).astype(np.float32)
    expected = np.zeros((k, d))
    np.add.at(expected, groups, weights[:, None] * rows[places])
    np.testing.assert_allclose(sums_by_group(rows, places, groups, weights, k), expected, atol=1e-5)


@given(st.integers(1, 12), st.integers(1, 9), st.integers(0, 1000))
def test_the_lowest_row_is_the_first_of_equals(m, d, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 4, (15, d)).astype(np.float32)
    places = rng.integers(0, 15, m)
    np.testing.assert_array_equal(lowest_rows(rows, places), rows[places].argmin(axis=0))


@given(st.integers(0, 5), st.integers(1, 9), st.data(), st.integers(0, 1000))
def test_the_lowest_columns_are_the_first_of_a_stable_order(n, d, data, seed):
    k = data.draw(st.integers(1, d))
    rows = np.random.default_rng(seed).integers(0, 4, (n, d)).astype(np.float32)
    expected = np.argsort(rows, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(lowest_columns(rows, k), expected)
