"""What is shown: the clustering, and how good it is expected to be."""

from itertools import combinations

import numpy as np
from sklearn.datasets import load_iris

from cobras import Answer, Constraints
from cobras.core.types import Pair
from cobras.methods.adder.clustering import Clustering
from cobras.spaces.euclidean import EuclideanSpace

X, y = load_iris(return_X_y=True)


def test_answers_are_kept_in_the_clustering(state):
    labels = state.partition().labels
    assert labels[0] == labels[3] != labels[60] == labels[61] != labels[140]


def test_the_same_answers_give_the_same_objects_in_another_run(space, options, state):
    other = Clustering(space, state.constraints, 0, options)
    assert other.partition() is state.partition()
    assert other.points is state.points


def test_an_answer_that_is_doubted_twice_changes_what_is_known(space, options):
    """As many answers are in force as before, and the same pairs are doubted, but others than before."""
    constraints = Constraints()
    constraints.add(0, 60, Answer.SAME)
    constraints.doubt(Pair(0, 60))
    constraints.add(0, 60, Answer.DIFFERENT)
    known = Clustering(space, constraints, 0, options)
    assert {0, 60} <= set(known.seeds())
    before = known.partition()
    constraints.doubt(Pair(0, 60))
    constraints.add(100, 140, Answer.SAME)
    found = known.partition()
    assert found is not before
    assert found is Clustering(space, constraints, 0, options).partition()


def test_votes_are_all_answers_whether_in_force_or_not(state):
    state.constraints.doubt(Pair(60, 61))
    seeds, votes = state.seeds(), state._votes(Answer.SAME)
    expected = {(0, 3), (3, 0), (60, 61), (61, 60)} & {(i, j) for i in seeds for j in seeds}
    found = [(seeds[a], seeds[b]) for a, b in zip(*np.nonzero(votes), strict=True)]
    assert {(0, 3), (3, 0)} <= expected
    assert set(found) == expected
    assert votes.max() == 1


def test_where_clusters_may_have_several_regions_less_is_expected(options, monkeypatch):
    """Twelve far groups, of which six are known to differ."""
    rng = np.random.default_rng(0)
    rows = np.repeat(100 * np.arange(12.0), 20)[:, None] + rng.random((240, 1))
    expected = []
    for regions in (1e-9, 1.0 - 1e-9):
        monkeypatch.setattr("cobras.methods.adder.similarity.REGIONS", regions)
        known = Clustering(EuclideanSpace(rows), Constraints(), 0, options._replace(n_parts=12))
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
