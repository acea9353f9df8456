"""The compiled parts of k-means, each beside brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from cobras.spaces.kernels.lloyd import (
    LANES,
    WIDTH,
    draw_row,
    draw_sample,
    grid,
    label_rows,
    lloyd,
    move_rows,
    pack,
    seed,
    unpack_centers,
)
from tests.spaces.data import blobs, seeds

sizes = st.tuples(st.integers(1, 600), st.integers(1, 9), seeds)


def unpacked(blocks, frame, n, d):
    """Undo `pack` for all rows."""
    rows = blocks.transpose(0, 2, 1).reshape(-1, blocks.shape[1])[:n, :d]
    return (rows + frame[1]) / frame[2] + frame[0]


@given(st.integers(1, 100_000))
def test_blocks_hold_all_rows_with_little_padding(n):
    n_blocks, width = grid(n)
    assert width % LANES == 0
    assert width <= WIDTH
    assert n <= n_blocks * width < n + (n_blocks + 1) * 2 * LANES


@given(sizes)
def test_packing_centres_the_rows_and_loses_nothing(size):
    n, d, at = size
    X, _ = blobs(n, d, seed=at, dtype=np.float64)
    blocks, weights, frame, variance = pack(X, *grid(n))
    assert weights.sum() == n
    assert abs(blocks).max() <= 2
    np.testing.assert_allclose(unpacked(blocks, frame, n, d), X, atol=1e-12)
    assert variance / frame[2, 0] ** 2 == pytest.approx(X.var(axis=0).mean(), rel=1e-9, abs=1e-20)
    some = blocks.transpose(0, 2, 1).reshape(-1, blocks.shape[1])[: min(n, 3)].astype(float)
    centers, inertia = unpack_centers(some, 2.0, frame, X)
    np.testing.assert_allclose(centers, X[:3], atol=1e-12)
    assert inertia == 2 / frame[2, 0] ** 2


@given(st.integers(1, 9), seeds, st.integers(1, 9))
def test_rows_get_their_nearest_center(d, at, k):
    rng = np.random.default_rng(at)
    x, centers = rng.normal(size=(4 * d, LANES)), rng.normal(size=(k, 4 * d))
    near, labels, squares = np.empty(LANES), np.empty(LANES, np.int32), np.empty((k, LANES))
    label_rows(x, centers, squares, near, labels)
    expected = cdist(x.T, centers, "sqeuclidean")
    np.testing.assert_allclose(squares.T, expected, rtol=1e-12)
    np.testing.assert_array_equal(labels, expected.argmin(axis=1))
    np.testing.assert_allclose(near, expected.min(axis=1), rtol=1e-12)


@given(seeds, st.integers(1, 5), st.floats(0, 1))
def test_moved_rows_leave_one_sum_for_another(at, k, part):
    """Few rows are moved one by one, many by products; both give the sums of the new labels."""
    rng = np.random.default_rng(at)
    x, weight = rng.normal(size=(4, 64)), rng.random(64)
    old = rng.integers(-1, k, 64).astype(np.int32)
    new = np.where(rng.random(64) < part, rng.integers(0, k, 64), np.maximum(old, 0)).astype(np.int32)

    def totals(labels):
        chosen = weight * (labels == np.arange(k)[:, None])
        return np.vstack([chosen @ x.T, np.zeros(4)]), chosen.sum(axis=1)

    sums, counts = totals(old)
    assert move_rows(x, weight, old, new, sums, counts) == (old != new).sum()
    for found, expected in zip((sums[:k], counts), (totals(new)[0][:k], totals(new)[1]), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


@given(seeds, st.floats(0, 0.999))
def test_a_row_is_drawn_where_the_running_sum_passes(at, u):
    rng = np.random.default_rng(at)
    near, weights = rng.integers(0, 3, (3, 8)) / 4, rng.integers(0, 2, (3, 8)).astype(float)
    mass = (near * weights).ravel()
    if mass.any():
        g, b = draw_row(near, weights, (near * weights).sum(axis=1), u * mass.sum())
        assert 8 * g + b == np.searchsorted(np.cumsum(mass), u * mass.sum(), side="right")


def test_seeds_are_different_rows_as_long_as_there_are_any():
    X = np.repeat(np.random.default_rng(0).normal(size=(4, 3)), 30, axis=0)
    blocks, weights, frame, _ = pack(X, *grid(len(X)))
    starts, n_found = seed(blocks, weights, np.random.default_rng(1).random((5, 7, 3)))
    assert n_found == 4
    found = unpack_centers(starts[0, :4].copy(), 0.0, frame, X)[0]
    np.testing.assert_allclose(np.unique(found, axis=0), np.unique(X, axis=0), atol=1e-12)


@given(sizes, st.integers(1, 4))
def test_without_tolerance_an_iteration_ends_at_means_of_nearest_rows(size, k):
    n, d, at = size
    X, _ = blobs(n, d, seed=at, dtype=np.float64)
    blocks, weights, frame, _ = pack(X, *grid(n))
    starts, n_found = seed(blocks, weights, np.random.default_rng(at).random((1, k, 2)))
    labels, inertias, any_empty = lloyd(blocks, weights, starts[:, :n_found].copy(), 300, 0.0)
    labels = labels.ravel()[:n]
    assert not any_empty
    means = np.array([X[labels == c].mean(axis=0) for c in range(n_found)])
    away = cdist(X, means, "sqeuclidean")
    assert (away[np.arange(n), labels] <= away.min(axis=1) + 1e-9).all()
    assert inertias[0] / frame[2, 0] ** 2 == pytest.approx(away.min(axis=1).sum(), rel=1e-6, abs=1e-9)


def test_the_inertia_of_a_sample_is_unbiased():
    X, _ = blobs(3000, 4, dtype=np.float64)
    blocks, weights, _, variance = pack(X, *grid(len(X)))
    estimates = []
    for at in range(200):
        rows, heavy = draw_sample(blocks, weights, np.random.default_rng(at).random((1, 96)))
        estimates.append((heavy * (rows**2).sum(axis=1)).sum())
    expected = variance * len(X) * 4
    assert np.mean(estimates) == pytest.approx(expected, abs=4 * np.std(estimates) / np.sqrt(200))
