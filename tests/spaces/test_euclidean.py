"""Laws of the Euclidean space."""

from contextlib import nullcontext

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from cobras import EuclideanSpace, Space
from tests.laws.problems import in_passes, problems


def space_of(problem):
    with in_passes() if problem.space == "passes" else nullcontext():
        return EuclideanSpace(problem.X, problem.train, medoid=problem.options["medoid"])


def tables(spaces=("table", "passes")):
    return problems(methods=("cobras",), spaces=spaces)


@given(tables(), st.integers(1, 9), st.sampled_from(["all", "train"]))
def test_parts_partition_their_parent_and_hold_training_members(problem, k, among):
    space = space_of(problem)
    assert isinstance(space, Space)
    root = space.root(problem.seed)
    shown = np.ones(len(problem.X), bool) if problem.train is None else problem.train
    for parent in [root, *space.split(root, 3)]:
        parts = space.split(parent, k, among)
        assert 1 <= len(parts) <= max(1, min(k, parent.n_train))
        rows = np.sort(np.concatenate([p.members for p in parts]))
        np.testing.assert_array_equal(rows, parent.members)
        for part in parts:
            assert part.n_train == shown[part.members].sum() >= 1
            assert shown[part.representative]
            assert part.representative in part.members
            mean = problem.X[part.members].mean(axis=0, dtype=float)
            rounding = 1e-12 if problem.space == "table" else 1e-5  # passes add up in the precision of X
            np.testing.assert_allclose(part.centroid, mean, atol=rounding)


@given(tables(), st.integers(2, 9))
def test_splits_belong_to_their_node_and_not_to_the_order_of_calls(problem, k):
    one, other = space_of(problem), space_of(problem)
    other.split(other.root(problem.seed), k + 1)
    other.split(other.root(problem.seed + 1), k)
    a, b = (s.split(s.root(problem.seed), k) for s in (one, other))
    assert [p.members.tolist() for p in a] == [p.members.tolist() for p in b]
    again = one.split(one.root(problem.seed), k)
    assert all(p is q for p, q in zip(again, a, strict=True))


@given(tables())
def test_distinct_rows_can_be_split_and_identical_ones_cannot(problem):
    space = space_of(problem)
    shown = problem.X if problem.train is None else problem.X[problem.train]
    n_distinct = len(np.unique(shown, axis=0))
    assert len(space.split(space.root(0), 2, "train")) == min(2, n_distinct)


@given(tables(spaces=("table",)))
def test_the_representative_is_the_medoid(problem):
    root = space_of(problem).root(0)
    shown = np.arange(len(problem.X)) if problem.train is None else np.flatnonzero(problem.train)
    X = problem.X.astype(float)
    cost = {
        "nearest_to_centroid": lambda: cdist(X[shown], X.mean(axis=0)[None])[:, 0],
        "train_centroid": lambda: cdist(X[shown], X[shown].mean(axis=0)[None])[:, 0],
        "pam": lambda: cdist(X[shown], X).sum(axis=1),
    }[problem.options["medoid"]]()
    at = shown.tolist().index(root.representative)
    assert cost[at] <= cost.min() + 1e-6 * (1 + cost.max())


@given(tables(), st.integers(1, 5))
def test_further_representatives_are_different_training_members(problem, count):
    space = space_of(problem)
    for part in space.split(space.root(1), 3):
        found = space.representatives(part, count)
        assert found[0] == part.representative
        assert len(set(found)) == len(found) == min(count, part.n_train)
        assert set(found) <= set(part.members.tolist())
        assert problem.train is None or problem.train[list(found)].all()


@given(tables())
def test_distances_are_between_centroids(problem):
    space = space_of(problem)
    parts = space.split(space.root(1), 4)
    expected = cdist([p.centroid for p in parts], [p.centroid for p in parts[:2]])
    np.testing.assert_allclose(space.distances(parts, parts[:2]), expected)
