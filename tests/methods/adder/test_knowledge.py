"""What is known: seeds, groups and predictions."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from cobras import Answer, Constraints
from cobras.methods.adder.knowledge import MOST_PARTS, Knowledge
from cobras.spaces.euclidean import EuclideanSpace
from tests.methods.adder.test_marks import set_marks

X, y = load_iris(return_X_y=True)


def test_seeds_are_the_answered_instances_and_the_first_representatives(state):
    representatives = {part.representative for part in state.first_parts}
    assert set(state.seeds()) == representatives | {0, 3, 60, 61, 140}
    assert state.seeds() == state.open_seeds() == sorted(state.seeds())


def test_components_are_joined_to_groups_unless_an_answer_separates_them(space, options):
    """With join=0 all that may be one is one, with more than 1 nothing."""
    constraints = Constraints()
    for i, j in ((0, 60), (60, 61), (0, 140), (60, 140)):
        constraints.add(i, j, Answer.of(bool(y[i] == y[j])))
    all_joined = Knowledge(space, constraints, 0, options._replace(join=0.0))
    at = [all_joined.seeds().index(i) for i in (0, 60, 61, 140)]
    groups = all_joined._groups().clusters
    assert groups.max() == 2
    assert len(set(groups[at])) == 3
    assert groups[at[1]] == groups[at[2]]
    nothing_joined = Knowledge(space, constraints, 0, options._replace(join=1.1))._groups()
    assert nothing_joined.n_clusters == len({*map(constraints.component, all_joined.seeds())})


def test_the_prediction_is_a_distribution_also_without_the_complete_clusters(state):
    known, p, left_out, _ = state._prediction()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
    assert left_out.shape == (len(state.seeds()), p.shape[1]) == (len(known.points), known.n_clusters)
    cluster = state.partition().clusters[0]
    set_marks(state.constraints, cluster, complete=True)
    marked = state._prediction()
    np.testing.assert_allclose(marked.p.sum(axis=1), 1, atol=1e-5)
    inside = np.unique(marked.known.clusters[np.isin(marked.known.points, cluster.members)])
    assert len(inside) == 1
    assert marked.p[:, inside].max() < 1e-6
    assert marked.p.shape[1] == marked.left_out.shape[1] + 1


def with_different_parts(rows, options):
    """What is known after all first parts were said to be different."""
    constraints = Constraints()
    known = Knowledge(EuclideanSpace(rows), constraints, 0, options)
    for a, b in combinations([part.representative for part in known.first_parts], 2):
        constraints.add(a, b, Answer.DIFFERENT)
    return known


def test_first_parts_that_are_clusters_of_their_own_are_too_coarse(options):
    """Ten far groups, and five first parts: all of them differ."""
    rng = np.random.default_rng(0)
    rows = np.repeat(100 * np.arange(10.0), 20)[:, None] + rng.random((200, 1))
    known = with_different_parts(rows, options)
    assert known.is_too_coarse(0.9)
    assert not known.is_too_coarse(1.0)
    assert known.split_finer()
    assert len(known.first_parts) == 10


@pytest.mark.parametrize(("n", "most"), [(9, MOST_PARTS), (100, 9)])
def test_there_are_not_more_first_parts_than_rows_or_than_are_fast(options, n, most, monkeypatch):
    monkeypatch.setattr("cobras.methods.adder.knowledge.MOST_PARTS", most)
    rows = np.arange(float(n))[:, None]
    known = with_different_parts(rows, options)
    assert not known.is_too_coarse()
    assert not known.split_finer()
    assert len(known.first_parts) == 5
