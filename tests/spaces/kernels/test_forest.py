"""Random forests, against slow walks of their trees and scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from cobras.spaces.kernels.forest import (
    FEW,
    best_cut,
    find_leaf,
    forest_shares,
    grow_forest,
    next_random,
    out_of_bag_weights,
)


@st.composite
def known_rows(draw):
    """Rows, many of them with equal values, and classes 0, 1, ...; the forest that was grown on them."""
    n, d, k = draw(st.integers(1, 12)), draw(st.integers(1, 5)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    rows = rng.integers(0, draw(st.integers(2, 9)), (n, d)).astype(np.float32)
    labels = np.unique(rng.integers(0, k, n), return_inverse=True)[1].astype(np.int64)
    return rows, labels, grow_forest(np.ascontiguousarray(rows.T), labels, 6, draw(st.integers(0, 9)))


def slow_leaf(row, nodes, thresholds):
    node = 0
    while nodes[node, 0] >= 0:
        feature, left = nodes[node]
        node = left if row[feature] <= thresholds[node] else left + 1
    return node


@given(known_rows())
def test_a_tree_is_fully_grown_on_a_sample_with_replacement(case):
    rows, labels, (times, nodes, thresholds, leaves) = case
    assert (times.sum(axis=1) == len(rows)).all()
    for tree in range(6):
        drawn = np.flatnonzero(times[tree])
        assert leaves[tree].tolist() == [slow_leaf(row, nodes[tree], thresholds[tree]) for row in rows]
        for leaf in np.unique(leaves[tree]):
            inside = drawn[leaves[tree, drawn] == leaf]
            assert len(inside) > 0
            assert len(set(labels[inside])) == 1 or (rows[inside] == rows[inside[0]]).all()


@given(known_rows(), st.integers(1, 9), st.integers(0, 99))
def test_shares_from_a_walk_of_the_trees(case, n, seed):
    rows, labels, forest = case
    times, nodes, thresholds, leaves = forest
    new = np.random.default_rng(seed).uniform(-1, 10, (n, rows.shape[1])).astype(np.float32)
    k = int(labels.max()) + 1
    found = forest_shares(np.ascontiguousarray(new.T), labels, k, *forest)
    for row, shares in zip(new, found, strict=True):
        expected = np.zeros(k)
        for tree in range(6):
            leaf = slow_leaf(row, nodes[tree], thresholds[tree])
            inside = times[tree] * (leaves[tree] == leaf)
            expected += np.bincount(labels, inside, k) / inside.sum() / 6
        np.testing.assert_allclose(shares, expected, atol=1e-5)


@given(known_rows())
def test_out_of_bag_weights_from_the_definition(case):
    """In each tree without row r, the drawn rows in the leaf of r count as often as they were drawn."""
    rows, _, (times, _, _, leaves) = case
    found = out_of_bag_weights(times, leaves)
    for r in range(len(rows)):
        trees = np.flatnonzero(times[:, r] == 0)
        inside = [times[tree] * (leaves[tree] == leaves[tree, r]) for tree in trees]
        expected = np.mean([each / each.sum() for each in inside], axis=0) if inside else np.zeros(len(rows))
        np.testing.assert_allclose(found[r], expected, atol=1e-9)


def test_a_node_is_cut_where_the_impurity_is_least():
    """One feature, so that every cut is tried; against all cuts, one by one."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        m = int(rng.integers(2, 12)) if rng.random() < 0.7 else FEW + 9
        values, labels = rng.integers(0, 6, m).astype(np.float32), rng.integers(0, 3, m)
        times = rng.integers(1, 4, m)
        feature, threshold = best_cut(
            values[None], np.argsort(values)[None], labels, times, np.arange(m), np.arange(1),
            np.array([1], np.uint64), np.empty(3, np.int64), np.empty(3, np.int64),
            np.zeros(m, bool), np.empty(m, np.int64),
        )  # fmt: skip

        def purity(cut, values=values, labels=labels, times=times):
            sides = [np.bincount(labels[side], times[side], 3) for side in (values <= cut, values > cut)]
            return sum((side**2).sum() / side.sum() for side in sides)

        cuts = np.unique(values)[:-1]
        if len(set(labels)) == 1 or not len(cuts):
            assert feature == -1
        else:
            assert feature == 0
            assert purity(threshold) == pytest.approx(max(map(purity, cuts)))


@pytest.mark.parametrize("low", [np.float32(1), np.nextafter(np.float32(1), np.float32(2))])
def test_a_threshold_separates_neighbouring_numbers(low):
    """The middle of two neighbouring numbers is rounded to the lower or the upper one."""
    rows = np.array([[low, np.nextafter(low, np.float32(2))] * 8], np.float32)
    labels = np.tile([0, 1], 8)
    forest = grow_forest(rows, labels, 20, 0)
    mixed = [tree for tree in range(20) if len(set(labels[forest[0][tree] > 0])) == 2]
    assert mixed
    for tree in mixed:
        leaves = [find_leaf(rows, r, forest[1][tree], forest[2][tree]) for r in (0, 1)]
        assert leaves[0] != leaves[1]


def test_random_numbers_are_those_of_splitmix64_and_even():
    state = np.array([1234567], np.uint64)
    found = [next_random(state, 2**31) for _ in range(3)]
    # The published first numbers for this seed, of which the upper half is used.
    published = (6457827717110365317, 3203168211198807973, 9817491932198370423)
    assert found == [(z >> 32) * 2**31 >> 32 for z in published]
    counts = np.bincount([next_random(state, 7) for _ in range(7000)], minlength=7)
    assert len(counts) == 7
    assert (abs(counts - 1000) < 150).all()


def test_a_forest_predicts_as_well_as_that_of_scikit_learn():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    rows, y = X[order].astype(np.float32), y[order]
    forest = grow_forest(np.ascontiguousarray(rows[:60].T), y[:60], 100, 1)
    found = forest_shares(np.ascontiguousarray(rows[60:].T), y[:60], 3, *forest)
    theirs = RandomForestClassifier(100, random_state=0).fit(rows[:60], y[:60]).predict_proba(rows[60:])
    assert np.abs(found - theirs).mean() < 0.03
    assert (found.argmax(axis=1) == y[60:]).mean() > 0.9
