"""DTW beside its definition and dtaidistance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras.spaces.kernels.dtw import LANES, dtw_matrix
from tests.spaces.data import series


def warped(x, y, width):
    """DTW by its definition: x and y of shape (channels, length)."""
    r, c = x.shape[1], y.shape[1]
    cost = np.full((r + 1, c + 1), np.inf)
    cost[0, 0] = 0
    for i in range(r):
        for j in range(c):
            if -max(0, r - c) - width < j - i < max(0, c - r) + width:
                least = min(cost[i, j], cost[i, j + 1], cost[i + 1, j])
                cost[i + 1, j + 1] = ((x[:, i] - y[:, j]) ** 2).sum() + least
    return np.sqrt(cost[r, c])


def together(values):
    """One array, with rubbish after the end of shorter series, and the lengths."""
    lengths = np.array([one.shape[1] for one in values])
    padded = np.full((len(values), len(values[0]), lengths.max()), 77.0)
    for row, one in zip(padded, values, strict=True):
        row[:, : one.shape[1]] = one
    return padded, lengths


@given(series(), st.sampled_from([0.0, 0.1, 0.3, 1.0]), st.integers(1, 3))
def test_dtw_is_its_definition(values, window, n_jobs):
    found = dtw_matrix(*together(values), window, n_jobs)
    width = max(1, int(window * max(one.shape[1] for one in values)))
    expected = [[warped(x, y, width) for y in values] for x in values]
    np.testing.assert_allclose(found, expected, atol=1e-4)
    np.testing.assert_array_equal(found, found.T)
    assert not found.diagonal().any()


@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e15])
def test_dtw_of_many_series_is_that_of_dtaidistance(scale):
    dtw = pytest.importorskip("dtaidistance.dtw")
    values = np.random.default_rng(0).normal(size=(2 * LANES + 5, 60)) * scale + 3 * scale
    said = []
    found = dtw_matrix(values[:, None], np.full(len(values), 60), 0.1, progress=said.append)
    expected = dtw.distance_matrix_fast(values / scale, window=6, parallel=False) * scale
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert said == sorted(said)
    assert said[-1] == 1
