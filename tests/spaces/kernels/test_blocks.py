"""The compiled passes over rows, beside brute force; `tests.spaces.passes.test_memory` has the whole pass."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cobras.spaces.kernels.blocks import add_selection, assign, load_tile, order_by_label
from tests.spaces.data import seeds


@given(seeds, st.integers(1, 40), st.integers(1, 5))
def test_a_tile_holds_members_side_by_side(seed, m, d):
    rng = np.random.default_rng(seed)
    X, origin = rng.normal(size=(60, d)), rng.normal(size=d)
    members = np.sort(rng.permutation(60)[:m])
    start = int(rng.integers(m))
    tile = np.full((d, 64), np.nan)
    load_tile(X, members, start, m, origin, tile)
    np.testing.assert_array_equal(tile[:, : m - start].T, X[members[start:]] - origin)
    assert np.isnan(tile[:, m - start :]).all()


@given(seeds)
def test_selected_rows_are_added(seed):
    rng = np.random.default_rng(seed)
    tile, selection, sums = rng.normal(size=(8, 32)), (rng.random(32) < 0.5).astype(float), np.ones(8)
    add_selection(tile, selection, sums)
    np.testing.assert_allclose(sums, 1 + tile @ selection, atol=1e-12)


@given(seeds, st.integers(1, 60))
def test_members_are_ordered_by_label(seed, m):
    rng = np.random.default_rng(seed)
    members = np.sort(rng.permutation(99)[:m]).astype(np.int32)
    labels = rng.integers(4, size=m).astype(np.uint8)
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels, minlength=4))])[:-1]
    expected = members[np.argsort(labels, kind="stable")]
    np.testing.assert_array_equal(order_by_label(members, labels, starts), expected)


def test_few_and_many_centers_are_added_up_alike():
    """Up to 16 centers sums are products, beyond rows are added one by one."""
    rng = np.random.default_rng(0)
    X, origin = rng.normal(size=(500, 3)), np.zeros(3)
    for k in (16, 17):
        centers = np.zeros((k, 4))
        centers[:, :3] = rng.normal(size=(k, 3))
        labels = np.empty(500, np.uint8)
        sums, counts, *_ = assign(
            X, np.arange(500), np.array([0, 200, 500]), centers, origin, np.empty(0, bool), labels, False
        )
        for c in range(k):
            np.testing.assert_allclose(sums[:, c, :3].sum(axis=0), X[labels == c].sum(axis=0), atol=1e-9)
        np.testing.assert_array_equal(counts[:, :, 0].sum(axis=0), np.bincount(labels, minlength=k))
