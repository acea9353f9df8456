"""What constraints imply, and what cuts cost, by their definitions; random graphs to try that on."""

from itertools import combinations

import numpy as np
import scipy.sparse as sp


def implied(n, must_link, cannot_link):
    """Same and different as boolean matrices, by repeating the rules until nothing new follows."""
    same, different = np.eye(n, dtype=int), np.zeros((n, n), dtype=int)
    for i, j in must_link:
        same[i, j] = same[j, i] = 1
    for i, j in cannot_link:
        different[i, j] = different[j, i] = 1
    for _ in range(n):
        same = np.minimum(same @ same, 1)
        different = np.minimum(different + same @ different @ same, 1)
    return same.astype(bool), different.astype(bool)


def implied_pairs(n, must_link, cannot_link):
    """All must-links and all cannot-links, as lists of pairs i < j."""
    return [
        [(i, j) for i, j in combinations(range(n), 2) if matrix[i, j]]
        for matrix in implied(n, must_link, cannot_link)
    ]


def random_graph(rng, low=3, high=12):
    n = int(rng.integers(low, high + 1))
    A = np.triu(rng.random((n, n)) * (rng.random((n, n)) < rng.uniform(0.3, 0.9)), 1)
    path = np.arange(n - 1)
    A[path, path + 1] += 0.01 * (A[path, path + 1] == 0)
    W = sp.csr_array(A + A.T)
    return W, W.sum(axis=0) if rng.random() < 0.5 else np.ones(n)


def random_problem(seed, high=12):
    """A graph with cannot-links that some partition meets."""
    rng = np.random.default_rng(seed)
    W, volume = random_graph(rng, high=high)
    truth = rng.permutation(len(volume)) % 2
    pairs = rng.integers(0, len(volume), (int(rng.integers(0, 6)), 2))
    apart = np.unique(np.sort(pairs[truth[pairs[:, 0]] != truth[pairs[:, 1]]], axis=1), axis=0)
    return W, volume, apart, rng


def cut_costs(W, volume, apart, gamma):
    """F of all sets that do not hold vertex n - 1, and the sets; 2 ** (n - 1) - 1 of them."""
    n = len(volume)
    sides = (np.arange(1, 2 ** (n - 1))[:, None] >> np.arange(n)) & 1
    cut = np.einsum("si,ij,sj->s", sides, W.toarray(), 1 - sides)
    violations = (sides[:, apart[:, 0]] == sides[:, apart[:, 1]]).sum(axis=1)
    return (cut + gamma * violations) * (1 / (sides @ volume) + 1 / ((1 - sides) @ volume)), sides.astype(
        bool
    )
