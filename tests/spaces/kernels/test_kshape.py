"""Shapes, their distance and their centres, beside the definitions."""

import numpy as np
import pytest

from cobras.core.partition import NodeRandom
from cobras.spaces.kernels import kshape
from cobras.spaces.kernels.kshape import KShape


def test_shape_based_distance_is_its_definition():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(6, 2, 9))
    values /= np.linalg.norm(values, axis=(1, 2), keepdims=True)
    shapes = KShape(values)
    similarity, shift = shapes.fit(shapes.spectra, shapes.series[:3])
    for i in range(6):
        for j in range(3):
            lags = {
                s: sum(
                    values[i, c, t + s] * values[j, c, t]
                    for c in range(2)
                    for t in range(9)
                    if 0 <= t + s < 9
                )
                for s in range(-8, 9)
            }
            assert similarity[i, j] == pytest.approx(max(lags.values()), abs=1e-5)
            assert shift[i, j] == max(lags, key=lags.get)


def test_a_centre_is_the_leading_eigenvector_of_its_shifted_members():
    rng = np.random.default_rng(0)
    shapes = KShape(np.cumsum(rng.normal(size=(30, 1, 20)), axis=2))
    shift = rng.integers(-4, 5, 30)
    centre = shapes.centre(np.arange(30), shift, np.zeros((1, 20), np.float32))[0]
    rows = []
    for one, s in zip(shapes.series[:, 0], shift, strict=True):
        padded = np.concatenate([np.zeros(20), one, np.zeros(20)])[20 + s : 40 + s]
        rows.append((padded - padded.mean()) / padded.std())
    leading = np.linalg.eigh(np.array(rows).T @ rows)[1][:, -1]
    assert abs(leading @ centre) == pytest.approx(1, abs=1e-4)
    assert (np.array(rows) @ centre).sum() >= 0


def test_a_centre_of_opposites_is_one_of_them():
    wave = np.sin(np.arange(30.0))
    shapes = KShape(np.stack([wave, -wave])[:, None])
    centre = shapes.centre(np.arange(2), np.zeros(2, int), np.zeros((1, 30), np.float32))[0]
    assert abs(np.corrcoef(centre, wave)[0, 1]) == pytest.approx(1)


def test_correlations_in_pieces_are_those_of_all_at_once(monkeypatch):
    shapes = KShape(np.random.default_rng(0).normal(size=(23, 1, 16)))
    expected = shapes.fit(shapes.spectra, shapes.series[:4])
    monkeypatch.setattr(kshape, "CHUNK", 300)
    for one, other in zip(shapes.fit(shapes.spectra, shapes.series[:4]), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_groups_are_those_of_the_shapes_wherever_they_begin():
    bump, wave = np.eye(40)[[5, 9, 20]], np.sin(np.arange(40) / 2 + np.arange(3)[:, None])
    labels, centres = KShape(np.vstack([bump, wave])[:, None]).groups(np.arange(6), 2, NodeRandom(0, ()))
    assert len(set(labels[:3])) == len(set(labels[3:])) == 1
    assert labels[0] != labels[3]
    assert centres.shape == (2, 1, 40)
