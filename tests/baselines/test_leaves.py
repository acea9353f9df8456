"""The forest of NPU beside scikit-learn's: similarity is the share of common leaves."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from cobras.baselines.leaves import SortedColumns, similarity
from cobras.baselines.leaves import leaves as leaves_of_columns


def leaves(X, labels, n_trees, seed):
    return leaves_of_columns(SortedColumns.of(X), labels, n_trees, seed)


def leaves_of_scikit_learn(X, labels, n_trees, seed):
    """The trees of scikit-learn's random forest: bootstrap samples, sqrt(d) features at each node."""
    rng = np.random.default_rng(seed)
    found, n_nodes = np.empty((len(X), n_trees), dtype=np.int64), 0
    for t in range(n_trees):
        drawn = np.bincount(rng.integers(len(X), size=len(X)), minlength=len(X)).astype(float)
        tree = DecisionTreeClassifier(max_features="sqrt", random_state=int(rng.integers(2**31)))
        found[:, t] = tree.fit(X, labels, sample_weight=drawn).apply(X) + n_nodes
        n_nodes += tree.tree_.node_count
    return found


def test_similarity_is_the_share_of_common_leaves():
    X, y = load_iris(return_X_y=True)
    found = leaves(X, y, 20, 3)
    together = (found[:, None, :] == found[None, :, :]).mean(axis=2)
    groups = [[0, 1, 2], [60], [110, 120]]
    rows = np.arange(5, 150, 7)
    expected = np.stack([together[np.ix_(rows, group)].mean(axis=1) for group in groups], axis=1)
    np.testing.assert_allclose(similarity(found, rows, groups), expected)
    homes = [set(found[:, tree].tolist()) for tree in range(20)]
    assert sum(map(len, homes)) == len(set.union(*homes))
    np.testing.assert_array_equal(found, leaves(X, y, 20, 3))
    assert (found != leaves(X, y, 20, 4)).any()


@pytest.mark.parametrize("sparse", [False, True])
def test_our_trees_are_as_similar_as_those_of_scikit_learn(sparse):
    X, labels = load_iris(return_X_y=True)
    if sparse:
        X = np.maximum(X - np.median(X, axis=0), 0)
    labels = np.where(np.arange(150) % 10 == 0, np.roll(labels, 50), labels)  # noise, so that trees are deep
    rows = np.arange(0, 150, 3)
    groups = [np.flatnonzero(labels == c)[:10].tolist() for c in range(3)]
    means, n_leaves = {}, {}
    for forest in (leaves, leaves_of_scikit_learn):
        found = [forest(X, labels, 200, seed) for seed in range(3)]
        means[forest] = np.array([similarity(one, rows, groups) for one in found])
        n_leaves[forest] = np.mean([len(np.unique(one)) / 200 for one in found])
    centres = [m.mean(axis=0) for m in means.values()]
    noise = np.mean([m.std(axis=0, ddof=1) for m in means.values()])
    between = np.abs(centres[0] - centres[1])
    assert between.mean() < 1.5 * noise  # of two means of three, were they alike: 0.65
    assert between.max() < 0.05
    assert n_leaves[leaves] == pytest.approx(n_leaves[leaves_of_scikit_learn], rel=0.03)


@pytest.mark.parametrize("X", [np.zeros((6, 2)), np.ones((6, 1)) * 1e-200])
def test_a_forest_of_identical_rows_has_one_leaf_per_tree(X):
    found = leaves(X, np.array([0, 1, 0, 1, 0, 1]), 4, 0)
    assert (found == found[0]).all()
    assert (leaves(X, np.zeros(6, int), 4, 0) == found).all()


@pytest.mark.parametrize("scale", [1e-100, 1, 1e100])
def test_trees_see_only_the_order_of_values(scale):
    X, y = load_iris(return_X_y=True)
    np.testing.assert_array_equal(leaves(X * scale + scale, y, 5, 0), leaves(X + 1, y, 5, 0))
