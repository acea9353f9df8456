"""Regions in memory do what brute force does, and members are found again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from cobras import EuclideanSpace
from cobras.spaces.passes import memory
from cobras.spaces.passes.memory import MemoryRegion, block_runs
from cobras.spaces.passes.sampling import group_means
from tests.laws.problems import in_passes
from tests.spaces.data import blobs


def some(rng, n):
    """A region of some of n rows, or of all."""
    return (
        np.sort(rng.permutation(n)[: rng.integers(1, n + 1)]).astype(np.int32) if rng.random() < 0.7 else None
    )


@given(
    st.integers(1, 200), st.integers(1, 9), st.integers(1, 20), st.integers(1, 64), st.integers(0, 2**32 - 1)
)
def test_a_pass_does_to_every_row_what_brute_force_does(n, d, k, block, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(rng.choice([np.float32, np.float64]))
    shown = rng.random(n) < 0.5 if rng.random() < 0.5 else None
    members, centers = some(rng, n), rng.normal(size=(k, d))
    labels, found = MemoryRegion(X, members, shown, block).assign(centers, find_farthest=True)
    members = np.arange(n) if members is None else members
    shown = np.ones(n, bool) if shown is None else shown
    distances = cdist(X[members], centers)
    assert np.allclose(distances[np.arange(len(members)), labels], distances.min(axis=1), atol=1e-5)
    for b in range(len(found.farthest)):
        reach = distances.min(axis=1)[members // block == b]
        assert (found.farthest[b] >= 0) == bool(len(reach))
        if len(reach):
            assert found.farthest[b] // block == b
            assert np.sqrt(found.reach[b]) == pytest.approx(reach.max(), abs=1e-5)
            np.testing.assert_allclose(cdist(X[[found.farthest[b]]], centers).min(), reach.max(), atol=1e-5)
    means = group_means(centers, found)
    for c in range(k):
        mine = members[labels == c]
        assert found.counts[:, c, :2].sum(axis=0).tolist() == [len(mine), shown[mine].sum()]
        firsts = found.counts[:, c, 2]
        if len(mine):
            assert firsts[firsts >= 0].min() == mine[0]
            np.testing.assert_allclose(means[c], X[mine].mean(axis=0, dtype=float), atol=1e-5)
        else:
            np.testing.assert_allclose(means[c], centers[c])
        for b in range(len(found.candidates)):
            here = [i for i in mine if i // block == b and shown[i]]
            assert (found.candidates[b, c] >= 0) == bool(here)
            if here:
                away = cdist(X[here], centers[[c]])[:, 0]
                assert away[here.index(found.candidates[b, c])] <= away.min() + 1e-5


@given(st.integers(1, 300), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_runs_of_blocks_hold_every_member_once_in_whole_blocks(n, block, seed):
    members = some(np.random.default_rng(seed), n)
    found = list(block_runs(n, members, block))
    held = np.concatenate([s.members for s in found])
    np.testing.assert_array_equal(held, np.arange(n) if members is None else members)
    numbers = [
        s.members[a:b] // block for s in found for a, b in zip(s.bounds[:-1], s.bounds[1:], strict=True)
    ]
    assert all(len(set(rows.tolist())) <= 1 for rows in numbers)
    assert len(numbers) == -(-n // block)
    assert [s.start for s in found] == np.cumsum([0, *(len(s.members) for s in found)])[:-1].tolist()


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_members_that_left_the_cache_are_found_again(seed, forgetful):
    X, _ = blobs(60, seed=seed)
    with in_passes(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "KEPT", 0 if forgetful else 3)
        patch.setattr(memory, "SMALL", 0)
        space = EuclideanSpace(X)
        leaves = [space.root(0)]
        for _ in range(8):
            largest = leaves.pop(int(np.argmax([len(s) for s in leaves])))
            leaves += space.split(largest, 3)
            members = np.concatenate([s.members for s in leaves])
            assert sorted(members.tolist()) == list(range(60))
            for s in leaves:
                assert s.first == s.members[0]
                assert len(s) == len(s.members)
                assert (np.diff(s.members) > 0).all()
