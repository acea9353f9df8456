"""The forest of NPU: similarity is the share of common leaves."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from cobras.baselines.npu.forest import leaves, similarity


@pytest.mark.parametrize("forest", ["lean", "sklearn"])
def test_similarity_is_the_share_of_common_leaves(forest):
    X, y = load_iris(return_X_y=True)
    found = leaves(X, y, 20, 3, forest)
    together = (found[:, None, :] == found[None, :, :]).mean(axis=2)
    groups = [[0, 1, 2], [60], [110, 120]]
    rows = np.arange(5, 150, 7)
    expected = np.stack([together[np.ix_(rows, group)].mean(axis=1) for group in groups], axis=1)
    np.testing.assert_allclose(similarity(found, rows, groups), expected)
    homes = [set(found[:, tree].tolist()) for tree in range(20)]
    assert sum(map(len, homes)) == len(set.union(*homes))
    np.testing.assert_array_equal(found, leaves(X, y, 20, 3, forest))
    assert (found != leaves(X, y, 20, 4, forest)).any()


def test_the_lean_forest_is_as_similar_as_that_of_scikit_learn():
    X, labels = load_iris(return_X_y=True)
    labels = np.where(np.arange(150) % 10 == 0, np.roll(labels, 50), labels)  # noise, so that trees are deep
    rows = np.arange(0, 150, 3)
    groups = [np.flatnonzero(labels == c)[:10].tolist() for c in range(3)]
    means, n_leaves = {}, {}
    for forest in ("lean", "sklearn"):
        found = [leaves(X, labels, 200, seed, forest) for seed in range(3)]
        means[forest] = np.array([similarity(one, rows, groups) for one in found])
        n_leaves[forest] = np.mean([len(np.unique(one)) / 200 for one in found])
    centres = [m.mean(axis=0) for m in means.values()]
    noise = np.mean([m.std(axis=0, ddof=1) for m in means.values()])
    between = np.abs(centres[0] - centres[1])
    assert between.mean() < 1.5 * noise  # of two means of three, were they alike: 0.65
    assert between.max() < 0.05
    assert n_leaves["lean"] == pytest.approx(n_leaves["sklearn"], rel=0.03)


@pytest.mark.parametrize("forest", ["lean", "sklearn"])
@pytest.mark.parametrize("X", [np.zeros((6, 2)), np.ones((6, 1)) * 1e-200])
def test_a_forest_of_identical_rows_has_one_leaf_per_tree(forest, X):
    found = leaves(X, np.array([0, 1, 0, 1, 0, 1]), 4, 0, forest)
    assert (found == found[0]).all()
    assert (leaves(X, np.zeros(6, int), 4, 0, forest) == found).all()


@pytest.mark.parametrize("scale", [1e-100, 1, 1e100])
def test_trees_see_only_the_order_of_values(scale):
    X, y = load_iris(return_X_y=True)
    np.testing.assert_array_equal(leaves(X * scale + scale, y, 5, 0), leaves(X + 1, y, 5, 0))
