"""The search of COSC on graphs: its starts, and cuts beside brute force."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from cobras.baselines.clusterers.cosc import graph_labels, similarity_graph
from cobras.baselines.clusterers.ratiodca import CutProblem
from cobras.baselines.clusterers.splits import Effort, harmonic_vector, second_eigenvector
from tests.baselines.clusterers.brute_force import cut_costs, random_problem

SOAK = 10 if os.environ.get("COBRAS_SOAK") else 1
FULL, FAST = Effort(), Effort(n_starts=2, n_runs=1, max_inner=1000, perturbation=False, jump=True)
seeds = st.integers(0, 10_000)


@pytest.mark.parametrize("n", [30, 200])  # dense, and by Lanczos
def test_the_second_eigenvector_tells_two_blobs_apart(n):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(n // 2, 2)), rng.normal(size=(n // 2, 2)) + 20])
    W = similarity_graph(X, 5)
    for volume in (W.sum(axis=0), np.ones(n)):
        f = second_eigenvector(W, volume, rng)
        low, high = sorted((f[: n // 2], f[n // 2 :]), key=np.mean)
        assert low.max() < high.min()


def test_a_harmonic_vector_is_the_mean_of_its_neighbours():
    W = sp.csr_array(np.diag([1.0, 1.0, 1.0, 1.0], 1) + np.diag([1.0, 1.0, 1.0, 1.0], -1))
    f = harmonic_vector(W, np.array([True, False, False, False, False]), np.array([0, 4]))
    np.testing.assert_allclose(f, [1, 0.75, 0.5, 0.25, 0], atol=1e-2)


@pytest.mark.parametrize(("effort", "share"), [(FULL, 0.95), (FAST, 0.8)], ids=["full", "fast"])
def test_the_optimum_of_small_graphs_is_reached(effort, share):
    n_cases = n_reached = 0
    for seed in range(100 * SOAK):
        W, volume, apart, _ = random_problem(seed)
        costs, sides = cut_costs(W, volume, apart, 0.0)
        feasible = (sides[:, apart[:, 0]] != sides[:, apart[:, 1]]).all(axis=1)
        best = costs[feasible].min()
        n = len(volume)
        labels = graph_labels(W, volume, np.arange(n), apart, 2, effort, np.random.default_rng(seed))
        found = CutProblem.of(W, volume, apart).cut(labels == 1)
        assert found.n_violations == 0
        assert found.value >= best * (1 - 1e-9)
        n_cases += 1
        n_reached += found.value <= best * (1 + 1e-9)
    print(f"optimum reached in {n_reached} of {n_cases} cases")
    assert n_reached >= share * n_cases


@given(seeds, st.sampled_from([2.0**-20, 0.125, 8.0, 2.0**20]), st.sampled_from([2, 3]))
@settings(max_examples=20 * SOAK)
def test_the_scale_of_the_weights_does_not_matter(seed, factor, k):
    W, volume, apart, _ = random_problem(seed)
    n = len(volume)
    if k >= n:
        return
    labels = [
        graph_labels(W * c, volume, np.arange(n), apart, k, FAST, np.random.default_rng(0))
        for c in (1.0, factor)
    ]
    np.testing.assert_array_equal(*labels)


def test_pieces_isolated_vertices_and_parts_of_a_given_graph():
    blocks = [np.ones((3, 3)) - np.eye(3), np.ones((4, 4)) - np.eye(4), np.zeros((1, 1))]
    W = sp.csr_array(sp.block_diag(blocks))
    volume = np.maximum(W.sum(axis=0), 1e-6)
    rng = np.random.default_rng(0)
    for k in range(1, 9):
        labels = graph_labels(W, volume, np.arange(8), np.empty((0, 2), dtype=int), k, FULL, rng)
        assert len(set(labels)) == k
        if k == 3:
            assert len(set(labels[:3])) == len(set(labels[3:7])) == 1
