"""Spectral groups beside scikit-learn's, and where affinities vanish."""

import numpy as np
import pytest
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score

from cobras.core.partition import NodeRandom
from cobras.spaces.kernels.spectral import spectral_groups


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
