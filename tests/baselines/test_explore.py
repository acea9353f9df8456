"""Explore-Consolidate and Min-Max beside their definitions, by brute force.

What holds for all methods with neighbourhoods is tested with NPU.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from cobras import Session
from cobras.baselines.clusterers.mpckmeans import MPCKMeans
from cobras.baselines.explore import explore_consolidate, min_max
from tests.laws.problems import Problem


@st.composite
def tables(draw):
    """Rows without ties, labels, training rows, K and a method."""
    n, k = draw(st.integers(2, 30)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = rng.integers(k, size=n)
    train = rng.random(n) < draw(st.sampled_from([0.6, 2.0]))
    train[rng.integers(n, size=2)] = True
    method = draw(st.sampled_from([explore_consolidate, min_max]))
    options = {"n_clusters": k, "infer_last": draw(st.booleans())}
    return Problem(
        rng.normal(size=(n, 2)) + 2 * y[:, None], y, train, method, draw(st.integers(0, 99)), options
    )


def placed_in_turn(asked):
    """The instances in the order in which they were asked about, with their partners."""
    turns = []
    for i, j in asked:
        if not turns or turns[-1][0] != i:
            turns.append((i, []))
        turns[-1][1].append(j)
    return turns


@given(tables())
def test_instances_and_neighbourhoods_are_asked_in_the_order_of_the_papers(problem):
    problem.options["infer_last"] = False
    asked = problem.answer_all(problem.session())
    between, y, k = cdist(problem.X, problem.X), problem.y, problem.options["n_clusters"]
    train = np.flatnonzero(problem.train)
    if not asked:
        assert len(train) == 1
        return
    groups = [[asked[0].j]]
    for x, partners in placed_in_turn(asked):
        placed = [i for group in groups for i in group]
        outside = np.setdiff1d(train, placed)
        if problem.method is min_max or len(groups) < k:
            assert x == outside[between[np.ix_(outside, placed)].min(axis=1).argmax()]
            away = [between[x, group].min() for group in groups]
        else:
            away = [np.linalg.norm(problem.X[x] - problem.X[group].mean(axis=0)) for group in groups]
        order = np.argsort(away)
        assert [next(g for g, group in enumerate(groups) if j in group) for j in partners] == order[
            : len(partners)
        ].tolist()
        home = [group for group in groups if y[group[0]] == y[x]]
        home[0].append(x) if home else groups.append([x])
    assert sorted(i for group in groups for i in group) == train.tolist()


@given(tables())
def test_no_instance_costs_more_questions_than_there_are_clusters(problem):
    turns = placed_in_turn(problem.answer_all(problem.session()))
    most = problem.options["n_clusters"] - problem.options["infer_last"]
    assert all(len(partners) <= most for _, partners in turns)


@settings(max_examples=20)
@given(tables())
def test_each_report_is_a_run_of_the_clusterer_with_the_constraints_of_whole_rounds(problem):
    problem.options |= {"infer_last": False, "clusterer": MPCKMeans(2, random_state=1)}
    session = problem.session()
    asked = problem.answer_all(session, 12)
    ends = [q for q in range(1, len(asked)) if asked[q].i != asked[q - 1].i]
    for q in (0, *ends):
        answers = [problem.answer(i, j) for i, j in asked[:q]]
        must_link = [pair for pair, answer in zip(asked, answers, strict=False) if answer]
        cannot_link = [pair for pair, answer in zip(asked, answers, strict=False) if not answer]
        alone = MPCKMeans(2, random_state=1).fit(problem.X, must_link=must_link, cannot_link=cannot_link)
        assert adjusted_rand_score(alone.labels_, session.labels_at(q)) == 1


def test_consolidate_draws_at_random_and_by_the_seed():
    X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, size=(20, 1)) for c in (0, 5)])
    asked = [
        tuple(
            Problem(X, np.arange(40) // 20, None, explore_consolidate, seed).answer_all(
                Session(X, explore_consolidate, seed, n_clusters=2)
            )
        )
        for seed in (0, 0, 1)
    ]
    assert asked[0] == asked[1] != asked[2]
    later = [i for i, _ in placed_in_turn(asked[0])][1:]
    assert later != sorted(later)


@pytest.mark.parametrize("method", [explore_consolidate, min_max])
@pytest.mark.parametrize("k", [1, 2, 5, 20])
def test_identical_rows_come_to_an_end(method, k):
    X, y = np.ones((9, 2)), np.arange(9) % 3
    problem = Problem(X, y, None, method, 0, {"n_clusters": k, "infer_last": False})
    session = problem.session()
    problem.answer_all(session)
    known = session._replay.constraints
    assert all(bool(known.relation(i, j)) == (y[i] == y[j]) for i in range(9) for j in range(i))


@pytest.mark.parametrize("method", [explore_consolidate, min_max])
@pytest.mark.parametrize(("n", "train"), [(1, None), (2, None), (2, [1]), (6, [4])])
def test_one_row_or_one_training_row_leaves_nothing_to_ask(method, n, train):
    session = Session(np.arange(float(n))[:, None], method, 0, train_indices=train, n_clusters=2)
    if n == 2 and train is None:
        session.tell(False, session.ask())
    assert session.ask() is None
    assert len(session.labels_) == n


def test_far_rows_are_told_apart_where_a_gaussian_kernel_would_underflow():
    X = np.array([0.0, 1e6, 1e7, 1e8, 1e9])[:, None]
    session = Session(X, min_max, 0, n_clusters=5)
    asked = Problem(X, np.arange(5), None, min_max, 0).answer_all(session)
    assert 4 in asked[0]
    assert len({i for i, _ in asked}) == 4
