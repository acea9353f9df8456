"""Spectral groups beside scikit-learn's, and where affinities vanish."""

import numpy as np
import pytest
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score

from cobras.core.partition import NodeRandom
from cobras.spaces.kernels.spectral import FEW, affinities, embed, order_by_affinity, spectral_groups


@pytest.mark.parametrize("k", [2, 3, 5])
def test_spectral_groups_are_those_of_scikit_learn(k):
    rng = np.random.default_rng(k)
    for n in (40, 300):  # by the dense and by the iterative solver
        points = rng.normal(size=(n, 2)) + 5 * rng.integers(0, k, n)[:, None]
        distances = np.linalg.norm(points[:, None] - points, axis=2)
        labels = spectral_groups(distances, k, 0.5, NodeRandom(0, ()))
        model = SpectralClustering(k, affinity="precomputed", random_state=0).fit(np.exp(-0.5 * distances))
        assert adjusted_rand_score(labels, model.labels_) == 1


def test_spectral_splits_what_is_far_apart():
    """Affinities that vanish, an outlier, and more components than groups."""
    for points in ([0, 1, 2, 1e6], [0, 1, 1e9, 2e9, 3e9], np.arange(200) ** 3.0):
        x = np.array(points, float)
        for k in (2, 3):
            labels = spectral_groups(abs(x[:, None] - x), k, 0.5, NodeRandom(0, ()))
            assert 2 <= labels.max() + 1 <= k


def test_affinities_do_not_vanish_and_order_the_items():
    np.testing.assert_array_equal(affinities(np.array([[0.0, 1000.0], [1000.0, 0.0]]), 0.5), [[0, 1], [1, 0]])
    x = np.random.default_rng(0).normal(size=(12, 2))
    distances = np.linalg.norm(x[:, None] - x, axis=2)
    expected = np.exp(-0.5 * distances) - np.eye(12)
    np.testing.assert_allclose(affinities(distances, 0.5), expected / expected.max())
    assert order_by_affinity(distances, 0.5).tolist() == np.argsort(-expected.sum(axis=1)).tolist()
    assert order_by_affinity(np.zeros((1, 1)), 0.5).tolist() == [0]


@pytest.mark.parametrize("n", [20, FEW + 50])
def test_the_embedding_is_that_of_the_random_walk(n):
    """By the dense and by the iterative solver: P v = value v, for the k largest values."""
    rng = np.random.default_rng(n)
    x = rng.normal(size=(n, 2)) + 4 * rng.integers(0, 3, n)[:, None]
    affinity = affinities(np.linalg.norm(x[:, None] - x, axis=2), 0.5)
    walk = affinity / affinity.sum(axis=1, keepdims=True)
    rows = embed(affinity.copy(), 3, NodeRandom(0, ()))
    values = np.sort(np.linalg.eigvals(walk).real)[-3:]
    found = np.einsum("ij,ij->j", walk @ rows, rows) / np.einsum("ij,ij->j", rows, rows)
    np.testing.assert_allclose(np.sort(found), values, atol=1e-5)
    np.testing.assert_allclose(walk @ rows, rows * found, atol=1e-4 * abs(rows).max())
