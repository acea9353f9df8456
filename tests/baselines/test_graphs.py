"""DBSCAN and spectral embeddings beside those of scikit-learn."""

from inspect import signature

import numpy as np
import pytest
from scipy.sparse.linalg import eigsh
from sklearn.cluster import DBSCAN
from sklearn.manifold import spectral_embedding

from cobras.baselines.graphs import dbscan, embedding, gaussian_graph, neighbor_graph
from tests.baselines.blobs import blobs


@pytest.mark.parametrize("seed", range(6))
def test_dbscan_equals_scikit_learn(seed):
    """Clusters, noise and border rows; a grid of integers has many ties and borders."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, (120, 2)).astype(float) if seed % 2 else blobs(150, seed, cluster_std=2.0)[0]
    distances = np.linalg.norm(X[:, None] - X, axis=2).astype(np.float32)
    min_points = np.arange(1, 21)
    n_borders = 0
    for eps in np.quantile(distances[distances > 0], [0, 0.005, 0.02, 0.05, 0.1, 0.3]).astype(np.float32):
        found = dbscan(distances, eps, min_points)
        for m, labels in zip(min_points, found, strict=True):
            model = DBSCAN(eps=eps, min_samples=m, metric="precomputed").fit(distances)
            _, numbered = np.unique(labels, return_inverse=True)
            np.testing.assert_array_equal(numbered - (labels.min() < 0), model.labels_)
            n_borders += (model.labels_ >= 0).sum() - len(model.core_sample_indices_)
    assert n_borders > 100


def parallel(u, v):
    return abs(u @ v) / np.linalg.norm(u) / np.linalg.norm(v)


@pytest.mark.parametrize("n", [60, 300])
def test_embeddings_equal_those_of_scikit_learn(n):
    X, _ = blobs(n, centers=1)
    squares = ((X[:, None] - X) ** 2).sum(axis=2).astype(np.float32)
    order = np.argsort(squares + np.diag([np.inf] * n), axis=1, kind="stable")[:, :10]
    links = np.zeros((n, n))
    links[np.arange(n)[:, None], order] = 0.5
    for graph, affinity in [
        (gaussian_graph(squares, 0.7), np.exp(-squares.astype(float) / 2 / 0.7**2)),
        (neighbor_graph(order), links + links.T),
    ]:
        assert graph.components.max() == 0
        ours = embedding(graph, 4, np.random.default_rng(0))
        theirs = spectral_embedding(affinity, n_components=4, drop_first=False, random_state=0)
        for u, v in zip(ours.T, theirs.T, strict=True):
            assert parallel(u, v) > 0.999


@pytest.mark.skipif(
    "rng" not in signature(eigsh).parameters, reason="SciPy before 1.17 takes no generator here"
)
@pytest.mark.parametrize("n_neighbors", [2, 10])
def test_a_graph_with_few_distinct_eigenvalues_has_one_embedding(n_neighbors):
    """ARPACK runs out of directions there and draws new ones, which must come from our random numbers."""
    hubs = np.arange(n_neighbors + 1)
    neighbors = np.array([hubs[hubs != i][:n_neighbors] for i in range(200)])  # all rows link to the same few
    graph = neighbor_graph(neighbors)
    first, second = (embedding(graph, 12, np.random.default_rng(0)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
