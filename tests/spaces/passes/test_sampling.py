"""K-means in passes: as good as on all rows at once, the same for any number of threads and from a mapped file."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from cobras import Answer, Session
from cobras.core import threads
from cobras.core.partition import NodeRandom
from cobras.spaces.kernels.kmeans import kmeans
from cobras.spaces.passes.memory import MemoryRegion
from cobras.spaces.passes.sampling import find_groups
from tests.spaces.data import blobs


def test_the_number_of_threads_changes_nothing(monkeypatch):
    X, _ = blobs(50_000)
    found = []
    for n_threads in (1, 3):
        with ThreadPoolExecutor(n_threads) as pool:
            monkeypatch.setattr(threads, "_pool", lambda pool=pool: pool)
            found.append(find_groups(MemoryRegion(X, None, None, 4096), 5, NodeRandom(0, ()), 10))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("n", "k", "dtype"), [(60_000, 2, np.float32), (60_000, 7, np.float64), (100_000, 20, np.float32)]
)
def test_the_groups_are_as_tight_as_those_of_kmeans_on_all_rows(n, k, dtype):
    X, _ = blobs(n, k=8, dtype=dtype)
    cut = find_groups(MemoryRegion(X, None, None), k, NodeRandom(3, ()), 10)
    inertia = sum(((X[cut.labels == g] - cut.means[g]) ** 2).sum(dtype=float) for g in range(k))
    best = min(kmeans(X, k, NodeRandom(seed, ()), full_restarts=True).inertia for seed in range(2))
    assert inertia <= 1.03 * best


def test_large_numbers_that_differ_little_are_told_apart():
    X, y = blobs(50_000, d=3, k=2, dtype=np.float64)
    shifted = (X / 100 + 1e5).astype(np.float32)
    cut = find_groups(MemoryRegion(shifted, None, None), 2, NodeRandom(0, ()), 10)
    for g in range(2):
        np.testing.assert_allclose(
            cut.means[g], shifted[cut.labels == g].mean(axis=0, dtype=float), atol=1e-3
        )
    assert max((cut.labels == y).mean(), (cut.labels != y).mean()) > 0.9


@pytest.mark.parametrize("k", [2, 3, 8])
def test_one_row_that_differs_from_all_others_is_found(k):
    X = np.ones((40_000, 3), np.float32)
    X[31_234] += 1
    cut = find_groups(MemoryRegion(X, None, None), k, NodeRandom(0, ()), 10)
    assert sorted(cut.sizes.tolist()) == [1, 39_999]
    assert 31_234 in cut.medoids
    X[:] = 1
    assert find_groups(MemoryRegion(X, None, None), k, NodeRandom(0, ()), 10).sizes.tolist() == [40_000]


def test_a_mapped_file_gives_what_memory_gives(tmp_path):
    X, y = blobs(80_000)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    sessions = [Session(data, random_state=0, method="cobras") for data in (X, mapped)]
    assert np.shares_memory(sessions[1].space.X, mapped)
    for _ in range(30):
        asked = [session.ask() for session in sessions]
        assert asked[0] == asked[1]
        for session in sessions:
            session.tell(Answer.of(y[asked[0].i] == y[asked[0].j]), asked[0])
    np.testing.assert_array_equal(sessions[0].labels_, sessions[1].labels_)
