"""What follows from the points and the answers, against brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from cobras import Answer, Constraints
from cobras.methods.adder.predictors import predictor_names
from cobras.methods.adder.state import Options, State, join_likely
from cobras.spaces.euclidean import EuclideanSpace

X, y = load_iris(return_X_y=True)
OPTIONS = Options(n_parts=5, join=1 / 3, calm=0.1, doubt=0.15, predictors=predictor_names("all"))
ANSWERS = [(0, 60), (60, 61), (0, 3), (61, 140)]


@pytest.fixture(scope="module")
def space():
    return EuclideanSpace(X)


@pytest.fixture
def state(space):
    constraints = Constraints()
    for i, j in ANSWERS:
        constraints.add(i, j, Answer.of(bool(y[i] == y[j])))
    return State(space, constraints, 0, OPTIONS)


def test_seeds_are_the_answered_instances_and_the_first_representatives(state):
    representatives = {part.representative for part in state.first_parts}
    assert set(state.seeds()) == representatives | {0, 3, 60, 61, 140}
    assert state.seeds() == state.open_seeds() == sorted(state.seeds())


def test_the_nearest_pairs_of_two_clusters(state):
    pairs = [(i, j) for i in (0, 3) for j in (60, 61)]
    expected = sorted(pairs, key=lambda pair: np.linalg.norm(X[pair[0]] - X[pair[1]]))
    assert state.nearest_pairs(3, 61) == expected[:3]


def test_answers_are_kept_in_the_clustering(state):
    labels = state.partition().labels
    assert labels[0] == labels[3] != labels[60] == labels[61] != labels[140]


def test_the_same_answers_give_the_same_objects_in_another_run(space, state):
    other = State(space, state.constraints, 0, OPTIONS)
    assert other.partition() is state.partition()
    assert other.points is state.points


def test_the_parts_to_compare_are_of_unknown_relation_and_only_once(state):
    asked = set()
    while (two := state.most_informative_parts(asked)) is not None:
        assert state.relation(*two) is None
        assert two not in asked
        asked.add(two)
    assert len(asked) <= len(list(combinations(range(5), 2)))
    for part in state.first_parts[1:]:
        state.constraints.add(state.first_parts[0].representative, part.representative, Answer.UNSURE)
    assert state.most_informative_parts(asked) is None


def test_clusters_are_compared_likeliest_first(state):
    """For a setosa, the cluster of the two known ones comes first; its own cluster never comes."""
    order = state.likely_clusters(10, 0.0)
    component = state.constraints.component
    assert component(order[0]) == component(0)
    assert len({component(i) for i in order}) == len(order)
    assert component(0) not in map(component, state.likely_clusters(3, 0.0))
    assert state.likely_clusters(10, 1.0) == order[:1]


def test_the_most_uncertain_instance_is_a_new_one_until_all_are_tried(state):
    tried: set[int] = set()
    while (instance := state.most_uncertain(tried)) is not None:
        assert instance not in tried
        assert instance not in state.seeds()
        tried.add(instance)
    assert tried | set(state.seeds()) == set(range(150))


@given(st.integers(1, 9), st.integers(0, 1000), st.floats(0, 1))
def test_joining_respects_what_is_apart_and_stops_at_the_threshold(n, seed, least):
    rng = np.random.default_rng(seed)
    p = rng.random((n, n))
    p = (p + p.T) / 2
    apart = np.eye(n, dtype=bool) | (rng.random((n, n)) < 0.2)
    apart |= apart.T
    size = rng.integers(1, 4, n).astype(float)
    before = p.copy(), apart.copy(), size.copy()
    group = join_likely(p, apart, size, least)
    for given_, kept in zip((p, apart, size), before, strict=True):
        np.testing.assert_array_equal(given_, kept)
    np.testing.assert_array_equal(group, slow_join(p, apart, size, least))


def slow_join(p, apart, size, least):
    """The same, from the definition: the mean over all pairs of seeds."""
    groups = [[i] for i in range(len(p))]

    def likely(a, b):
        if any(apart[i, j] for i in a for j in b):
            return -1.0
        weights = np.array([[size[i] * size[j] for j in b] for i in a])
        return float((p[np.ix_(a, b)] * weights).sum() / weights.sum())

    while len(groups) > 1:
        best, a, b = max(
            ((likely(groups[a], groups[b]), -a, -b) for b in range(len(groups)) for a in range(b)),
        )
        if best < least or best < 0:
            break
        groups[-a] += groups.pop(-b)
    labels = np.empty(len(p), int)
    for group in groups:
        labels[group] = min(group)
    return np.unique(labels, return_inverse=True)[1]
