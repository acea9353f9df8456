"""The map: in the unit square, faithful to neighbours, of any size, and gone with its parent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cobras.data import maps
from cobras.data.maps import nearest, pca_map, place_rows, principal_components, tsne_maps, unit_square
from tests import started


@given(arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 6)), elements=st.floats(-1e6, 1e6)))
def test_the_principal_components_fill_the_unit_square(X: np.ndarray) -> None:
    points = pca_map(X)
    assert points.shape == (len(X), 2)
    assert points.dtype == np.float32
    assert np.isfinite(points).all()
    assert points.min() >= 0
    assert points.max() <= 1
    if np.ptp(X, axis=0).max() > 1e-3:
        assert np.ptp(points, axis=0).max() == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("shape", [(200, 5), (30, 100), (3, 4)])
def test_components_are_those_of_scikit_learn(shape: tuple[int, int]) -> None:
    from sklearn.decomposition import PCA

    X = np.random.default_rng(0).normal(size=shape) * np.arange(1, shape[1] + 1)
    expected = PCA(2).fit_transform(X)
    np.testing.assert_allclose(np.abs(principal_components(X, 2)), np.abs(expected), rtol=1e-3, atol=1e-3)


def test_columns_that_do_not_exist_are_zero() -> None:
    assert (principal_components(np.arange(5.0).reshape(-1, 1), 2)[:, 1] == 0).all()


def test_both_axes_have_one_scale() -> None:
    points = unit_square(np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 1.0]]))
    assert points.tolist() == [[0.0, 0.375], [1.0, 0.375], [1.0, 0.625]]


def test_every_row_is_placed_between_the_sampled_rows_nearest_to_it() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5_000, 3)).astype(np.float32)
    sample = rows[:200]
    found, weights = nearest(rows, sample)
    away = ((rows[:50, None] - sample) ** 2).sum(axis=2)
    for i in range(50):
        assert set(found[i]) == set(np.argsort(away[i])[:4])
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)
    layout = rng.normal(size=(200, 2))
    everywhere = place_rows(layout, np.arange(200), (found, weights))
    np.testing.assert_allclose(everywhere[:200], layout, rtol=1e-5)
    np.testing.assert_allclose(everywhere[300], weights[300] @ layout[found[300]], rtol=1e-4)


def test_neighbours_stay_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "N_LAID_OUT", 300)
    rng = np.random.default_rng(0)
    group = np.arange(900) % 3
    X = rng.normal(size=(900, 10)) + 20 * np.eye(10)[group]
    *_, last = tsne_maps(X)
    assert last.min() >= 0
    assert last.max() <= 1
    middle = np.array([last[group == g].mean(axis=0) for g in range(3)])
    nearest_middle = ((last[:, None] - middle) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest_middle == group).mean() > 0.99


def test_a_hundred_thousand_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "N_LAID_OUT", 200)
    X = np.random.default_rng(0).normal(size=(100_000, 5)).astype(np.float32)
    first = next(tsne_maps(X))
    assert first.shape == (100_000, 2)
    assert np.isfinite(first).all()


def test_too_few_rows_have_no_neighbourhoods() -> None:
    assert list(tsne_maps(np.eye(5))) == []


def test_identical_rows_do_not_break_it() -> None:
    assert list(tsne_maps(np.zeros((20, 3)))) == []
    X = np.repeat(np.eye(3), 10, axis=0)
    for layout in tsne_maps(X):
        assert np.isfinite(layout).all()


def test_one_column_has_a_map() -> None:
    *_, last = tsne_maps(np.arange(40.0).reshape(-1, 1))
    assert np.isfinite(last).all()


def test_the_process_ends_with_its_parent(tmp_path: Path) -> None:
    rows = tmp_path / "rows.npy"
    np.save(rows, np.random.default_rng(0).normal(size=(3_000, 10)))
    command = [sys.executable, "-m", "cobras.data.maps", str(rows), str(tmp_path)]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        first = child.stdout.readline().decode().strip()
        assert np.load(first).shape == (3_000, 2)
        child.stdin.close()
        assert child.wait(300) == 0
    assert len(list(tmp_path.glob("[0-9]*.npy"))) < 6
