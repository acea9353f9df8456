"""The pool of COBS: its members, duplicates, its cache."""

import io
import itertools

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.cluster import DBSCAN
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from cobras import InvalidDataError
from cobras.baselines import pool as pool_module
from cobras.baselines.pool import Grid, build_pool
from tests.baselines.blobs import SMALL, blobs, members


def test_dbscan_members_of_the_pool_and_their_noise():
    X, _ = blobs(60, cluster_std=1.5)
    noise_of = {}
    for noise in ("singletons", "one_cluster"):
        pool = build_pool(X, 0, Grid(k_max=1, n_eps=8, max_min_points=4, noise=noise, deduplicate=False))
        assert len(pool.labels) + pool.n_duplicates + pool.n_failures == 24
        assert pool.n_failures == 3  # with the smallest eps nearly all rows are noise
        noise_of[noise] = dict(zip(pool.sources, pool.labels, strict=True))
    assert max((np.bincount(c) == 1).sum() for c in noise_of["singletons"].values()) <= 30
    scale = np.ptp(X, axis=0).max()
    distances = np.linalg.norm(X[:, None] - X, axis=2) / scale
    eps = np.linspace(distances[distances > 0].min(), distances.max(), 8)[1]
    model = DBSCAN(eps=eps * (1 + 1e-6), min_samples=4, metric="precomputed").fit(distances)
    name = f"DBSCAN eps={eps:.3g} min_points=4"
    alone = np.where(model.labels_ < 0, 100 + np.arange(60), model.labels_)
    assert adjusted_rand_score(alone, noise_of["singletons"][name]) == 1
    assert adjusted_rand_score(model.labels_, noise_of["one_cluster"][name]) == 1


@pytest.mark.parametrize("n", [40, 200])
def test_components_of_a_graph_are_told_apart_whatever_the_scale(n):
    """Far-away blobs are separate in every graph, even where all weights between them underflow."""
    X, y = blobs(n, centers=[[0, 0], [50, 0], [0, 50]], cluster_std=0.5)
    pool = build_pool(
        X, 0, Grid(k_max=3, max_min_points=1, n_sigma=3, min_sigma=0.05, max_sigma=0.2, deduplicate=False)
    )
    rows = [c for name, c in zip(pool.sources, pool.labels, strict=True) if "k=3" in name]
    assert pool.n_failures == 0
    assert np.mean([adjusted_rand_score(y, c) for c in rows]) > 0.8


def test_moons_are_in_the_pool_but_not_by_k_means():
    X, y = make_moons(200, noise=0.05, random_state=0)
    pool = build_pool(X, 0, Grid(k_max=4, n_eps=20, max_min_points=6, max_neighbors=10, n_sigma=5))
    aris = {name: adjusted_rand_score(y, c) for name, c in zip(pool.sources, pool.labels, strict=True)}
    assert max(a for name, a in aris.items() if name.startswith("k-means")) < 0.6
    assert max(aris.values()) > 0.99


@pytest.mark.parametrize("deduplicate", [True, False])
def test_labels_are_canonical_and_duplicates_are_counted(deduplicate):
    pool = build_pool(
        blobs(50)[0],
        0,
        Grid(k_max=4, n_eps=6, max_min_points=4, max_neighbors=4, n_sigma=4, deduplicate=deduplicate),
    )
    assert pool.labels.dtype == np.int16
    assert len(pool.labels) == len(pool.sources)
    assert len(pool.labels) + pool.n_duplicates + pool.n_failures == 3 + 6 * 3 + 3 * 3 + 4 * 3
    for labels in pool.labels:
        values, first = np.unique(labels, return_index=True)
        assert values.tolist() == list(range(len(values)))
        assert (np.diff(first) > 0).all()
    assert (len(members(pool.labels)) == len(pool.labels)) == deduplicate
    assert sum(not c.any() for c in pool.labels) == 1


def test_failed_runs_are_dropped_and_counted(monkeypatch):
    def fail(*_):
        raise np.linalg.LinAlgError("no convergence")

    monkeypatch.setattr(pool_module, "embedding", fail)
    pool = build_pool(blobs(30)[0], 0, Grid(k_max=3, max_min_points=1, max_neighbors=4, n_sigma=2))
    assert pool.n_failures == 2 * (3 + 2)
    assert pool.sources == ("k-means k=2", "k-means k=3")


def test_an_empty_grid_leaves_one_cluster():
    pool = build_pool(blobs(5)[0], 0, Grid(k_max=1, max_min_points=1))
    assert pool.labels.tolist() == [[0] * 5]


def test_the_pool_depends_on_neither_threads_nor_processes(monkeypatch):
    monkeypatch.setattr(pool_module, "FEW_ROWS", 0)
    X, grid = blobs(150)[0], Grid(k_max=4, n_eps=4, max_min_points=4, max_neighbors=5, n_sigma=4)
    one = build_pool(X, 3, grid, n_jobs=1)
    for backend in ("threading", "loky"):
        with parallel_config(backend):
            two = build_pool(X, 3, grid, n_jobs=2)
        np.testing.assert_array_equal(one.labels, two.labels)
        assert one[1:] == two[1:]


def test_more_rows_than_allowed_follow_the_nearest_of_a_sample():
    X, y = blobs(200, centers=[[0, 0], [50, 0], [0, 50]], cluster_std=0.5)
    pool = build_pool(X, 0, Grid(k_max=3, max_min_points=1, max_neighbors=1, n_sigma=1, max_rows=30))
    assert adjusted_rand_score(y, dict(zip(pool.sources, pool.labels, strict=True))["k-means k=3"]) == 1


def test_the_cache_gives_the_same_pool_and_a_damaged_file_is_made_again(tmp_path, monkeypatch):
    X, grid, folder = blobs(30)[0], Grid(**SMALL), str(tmp_path / "new" / "folder")
    made = build_pool(X, 0, grid, cache_dir=folder)
    (file,) = (tmp_path / "new" / "folder").iterdir()
    whole = file.read_bytes()

    def same(pool):
        np.testing.assert_array_equal(pool.labels, made.labels)
        return pool.labels.dtype == made.labels.dtype and pool[1:] == made[1:]

    with monkeypatch.context() as patch:
        patch.setattr(pool_module, "_runs", lambda *_: pytest.fail("made again"))
        assert same(build_pool(X, 0, grid, cache_dir=folder))
    for damaged in (b"", whole[: len(whole) // 2], whole[:200] + b"\0" * 50 + whole[250:], b"hello"):
        file.write_bytes(damaged)
        assert same(build_pool(X, 0, grid, cache_dir=folder))
        assert file.read_bytes() == whole or same(build_pool(X, 0, grid, cache_dir=folder))
    for other in [(X + 1, 0, grid), (X, 1, grid), (X.astype(np.float32), 0, grid), (X, 0, Grid())]:
        build_pool(*other, cache_dir=folder)
    assert len(list(file.parent.iterdir())) == 5
    (tmp_path / "file").touch()
    with pytest.raises(InvalidDataError, match="cache_dir"):
        build_pool(X, 0, grid, cache_dir=str(tmp_path / "file" / "folder"))


@pytest.mark.parametrize(("seconds", "terminal"), [(0, True), (3, False), (3, True)])
def test_a_bar_is_shown_to_a_person_who_waits(monkeypatch, seconds, terminal):
    screen = io.StringIO()
    screen.isatty = lambda: terminal
    clock = itertools.count(0, seconds)
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(pool_module.time, "monotonic", lambda: next(clock))
    assert list(pool_module._show_bar([1, 2, 3], 3)) == [1, 2, 3]
    assert ("Clusterings" in screen.getvalue()) == (seconds > 2 and terminal)
