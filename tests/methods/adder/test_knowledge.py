"""What is known: seeds, groups, predictions and the clustering."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from cobras import Answer, Constraints
from cobras.core.types import Pair
from cobras.methods.adder.knowledge import MOST_PARTS, Knowledge
from cobras.spaces.euclidean import EuclideanSpace
from tests.methods.adder.test_marks import set_marks

X, y = load_iris(return_X_y=True)


def test_seeds_are_the_answered_instances_and_the_first_representatives(state):
    representatives = {part.representative for part in state.first_parts}
    assert set(state.seeds()) == representatives | {0, 3, 60, 61, 140}
    assert state.seeds() == state.open_seeds() == sorted(state.seeds())


def test_answers_are_kept_in_the_clustering(state):
    labels = state.partition().labels
    assert labels[0] == labels[3] != labels[60] == labels[61] != labels[140]


def test_the_same_answers_give_the_same_objects_in_another_run(space, options, state):
    other = Knowledge(space, state.constraints, 0, options)
    assert other.partition() is state.partition()
    assert other.points is state.points


def test_an_answer_that_is_doubted_twice_changes_what_is_known(space, options):
    """As many answers are in force as before, and the same pairs are doubted, but others than before."""
    constraints = Constraints()
    constraints.add(0, 60, Answer.SAME)
    constraints.doubt(Pair(0, 60))
    constraints.add(0, 60, Answer.DIFFERENT)
    known = Knowledge(space, constraints, 0, options)
    assert {0, 60} <= set(known.seeds())
    before = known.partition()
    constraints.doubt(Pair(0, 60))
    constraints.add(100, 140, Answer.SAME)
    found = known.partition()
    assert found is not before
    assert found is Knowledge(space, constraints, 0, options).partition()


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


def test_votes_are_all_answers_whether_in_force_or_not(state):
    state.constraints.doubt(Pair(60, 61))
    seeds, votes = state.seeds(), state._votes(Answer.SAME)
    expected = {(0, 3), (3, 0), (60, 61), (61, 60)} & {(i, j) for i in seeds for j in seeds}
    found = [(seeds[a], seeds[b]) for a, b in zip(*np.nonzero(votes), strict=True)]
    assert {(0, 3), (3, 0)} <= expected
    assert set(found) == expected
    assert votes.max() == 1


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


def test_where_clusters_may_have_several_regions_less_is_expected(options, monkeypatch):
    """Twelve far groups, of which six are known to differ."""
    rng = np.random.default_rng(0)
    rows = np.repeat(100 * np.arange(12.0), 20)[:, None] + rng.random((240, 1))
    expected = []
    for regions in (1e-9, 1.0 - 1e-9):
        monkeypatch.setattr("cobras.methods.adder.similarity.REGIONS", regions)
        known = Knowledge(EuclideanSpace(rows), Constraints(), 0, options._replace(n_parts=12))
        parts = sorted((part.representative for part in known.first_parts), key=lambda i: rows[i, 0])
        for a, b in combinations(parts[:6], 2):
            known.constraints.add(a, b, Answer.DIFFERENT)
        expected.append(known.expected_ari())
    assert expected[1] < expected[0] - 0.1
    # Those that are apart by the answers are not the same cluster.
    number = known.shown_probabilities()[1]
    shown = number[known.points.of(parts)]
    chances = known._chances_between(number, number.max() + 1)
    np.testing.assert_array_equal(chances[np.ix_(shown[:6], shown[:6])], np.eye(6))
    np.testing.assert_allclose(chances[shown[0], shown[11]], 0.1)


@pytest.mark.parametrize(("n", "most"), [(9, MOST_PARTS), (100, 9)])
def test_there_are_not_more_first_parts_than_rows_or_than_are_fast(options, n, most, monkeypatch):
    monkeypatch.setattr("cobras.methods.adder.knowledge.MOST_PARTS", most)
    rows = np.arange(float(n))[:, None]
    known = with_different_parts(rows, options)
    assert not known.is_too_coarse()
    assert not known.split_finer()
    assert len(known.first_parts) == 5
