"""Passes over many rows: the same whatever reads them, and as good as k-means on all rows at once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from cobras import Answer, EuclideanSpace, Session
from cobras.core import threads as cores
from cobras.core.partition import NodeRandom
from cobras.spaces.kernels.kmeans import kmeans
from cobras.spaces.passes import members as parts
from cobras.spaces.passes import sampled as large
from cobras.spaces.passes.regions import MemoryRegion, stretches
from tests.problems import in_passes


def blobs(n, d=5, k=4, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return (rng.normal(size=(n, d)) + rng.normal(size=(k, d), scale=3)[y]).astype(dtype), y


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
    labels, found = MemoryRegion(X, members, shown, block).assign(centers, keep=True)
    members = np.arange(n) if members is None else members
    shown = np.ones(n, bool) if shown is None else shown
    distances = cdist(X[members], centers)
    assert np.allclose(distances[np.arange(len(members)), labels], distances.min(axis=1), atol=1e-5)
    means = large.means(centers, found)
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
def test_stretches_hold_every_member_once_in_whole_blocks(n, block, seed):
    members = some(np.random.default_rng(seed), n)
    found = list(stretches(n, members, block))
    held = np.concatenate([s.members for s in found])
    np.testing.assert_array_equal(held, np.arange(n) if members is None else members)
    numbers = [
        s.members[a:b] // block for s in found for a, b in zip(s.bounds[:-1], s.bounds[1:], strict=True)
    ]
    assert all(len(set(rows.tolist())) <= 1 for rows in numbers)
    assert len(numbers) == -(-n // block)
    assert [s.start for s in found] == np.cumsum([0, *(len(s.members) for s in found)])[:-1].tolist()


def test_the_number_of_threads_changes_nothing(monkeypatch):
    X, _ = blobs(50_000)
    found = []
    for n_threads in (1, 3):
        with ThreadPoolExecutor(n_threads) as pool:
            monkeypatch.setattr(cores, "_pool", lambda pool=pool: pool)
            found.append(large.cut(MemoryRegion(X, None, None, 4096), 5, NodeRandom(0, ()), 10))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("n", "k", "dtype"), [(60_000, 2, np.float32), (60_000, 7, np.float64), (100_000, 20, np.float32)]
)
def test_the_groups_are_as_tight_as_those_of_kmeans_on_all_rows(n, k, dtype):
    X, _ = blobs(n, k=8, dtype=dtype)
    cut = large.cut(MemoryRegion(X, None, None), k, NodeRandom(3, ()), 10)
    inertia = sum(((X[cut.labels == g] - cut.means[g]) ** 2).sum(dtype=float) for g in range(k))
    best = min(kmeans(X, k, NodeRandom(seed, ()), full_restarts=True).inertia for seed in range(2))
    assert inertia <= 1.03 * best


def test_large_numbers_that_differ_little_are_told_apart():
    X, y = blobs(50_000, d=3, k=2, dtype=np.float64)
    shifted = (X / 100 + 1e5).astype(np.float32)
    cut = large.cut(MemoryRegion(shifted, None, None), 2, NodeRandom(0, ()), 10)
    for g in range(2):
        np.testing.assert_allclose(
            cut.means[g], shifted[cut.labels == g].mean(axis=0, dtype=float), atol=1e-3
        )
    assert max((cut.labels == y).mean(), (cut.labels != y).mean()) > 0.9


@pytest.mark.parametrize("k", [2, 3, 8])
def test_one_row_that_differs_from_all_others_is_found(k):
    X = np.ones((40_000, 3), np.float32)
    X[31_234] += 1
    cut = large.cut(MemoryRegion(X, None, None), k, NodeRandom(0, ()), 10)
    assert sorted(cut.sizes.tolist()) == [1, 39_999]
    assert 31_234 in cut.medoids
    X[:] = 1
    assert large.cut(MemoryRegion(X, None, None), k, NodeRandom(0, ()), 10).sizes.tolist() == [40_000]


def test_a_mapped_file_gives_what_memory_gives(tmp_path):
    X, y = blobs(80_000)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    sessions = [Session(data, random_state=0) for data in (X, mapped)]
    assert np.shares_memory(sessions[1].space.X, mapped)
    for _ in range(30):
        asked = [session.ask() for session in sessions]
        assert asked[0] == asked[1]
        for session in sessions:
            session.tell(Answer.of(y[asked[0].i] == y[asked[0].j]), asked[0])
    np.testing.assert_array_equal(sessions[0].labels_, sessions[1].labels_)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_members_that_left_the_shelf_are_found_again(seed, forgetful):
    X, _ = blobs(60, seed=seed)
    with in_passes(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "KEPT", 0 if forgetful else 3)
        patch.setattr(parts, "SMALL", 0)
        space = EuclideanSpace(X)
    leaves = [space.root(0)]
    for _ in range(8):
        chosen = leaves.pop(int(np.argmax([len(s) for s in leaves])))
        leaves += space.split(chosen, 3)
        members = np.concatenate([s.members for s in leaves])
        assert sorted(members.tolist()) == list(range(60))
        for s in leaves:
            assert s.first == s.members[0]
            assert len(s) == len(s.members)
            assert (np.diff(s.members) > 0).all()


def test_two_threads_make_a_split_once():
    X, _ = blobs(200_000)
    space = EuclideanSpace(X)
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: space.split(space.root(0), 2), range(4)))
    assert all(part is made[0][g] for parts_ in made for g, part in enumerate(parts_))
