"""COBS: its selection beside brute force, and its laws."""

import itertools
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from cobras import Answer, Constraints, InvalidDataError, Session
from cobras.baselines.cobs import (
    clustering_weights,
    entailed_pairs,
    n_satisfied,
    select,
    unknown_pairs,
    vote_margins,
)
from cobras.spaces.euclidean import EuclideanSpace
from tests.baselines.blobs import SMALL, blobs, members
from tests.laws.problems import Problem

METHOD = "cobras.baselines.cobs:cobs"


@st.composite
def cobs_problems(draw, unsure=True, max_rows=16):
    n = draw(st.integers(1, max_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = rng.integers(draw(st.integers(1, 4)), size=n)
    X = (
        rng.integers(0, 3, (n, 2)).astype(float)
        if draw(st.booleans())
        else rng.normal(size=(n, 2)) + 3 * y[:, None]
    )
    X = X.astype(draw(st.sampled_from([np.float64, np.float32])))
    train = None
    if draw(st.booleans()):
        train = rng.random(n) < 0.6
        train[rng.integers(n)] = True
    options = SMALL | {
        "noise": draw(st.sampled_from(["singletons", "one_cluster"])),
        "deduplicate": draw(st.booleans()),
        "sample_size": draw(st.sampled_from([1, 5, 200])),
        "update": draw(st.sampled_from(["both", "penalise"])),
        "count_entailed": draw(st.booleans()),
    }
    return Problem(
        X, y, train, METHOD, draw(st.integers(0, 99)), options, draw(st.sampled_from([0, 3])) * unsure
    )


def pool_of(session):
    (pool,) = (value for key, value in session.space.memo.items() if key[0] == "cobs")
    return pool


def scores(labels, pairs_and_answers):
    """By definition, clustering by clustering and constraint by constraint."""
    return [sum((c[i] == c[j]) == (a is Answer.SAME) for (i, j), a in pairs_and_answers) for c in labels]


def implied(constraints, rows):
    """All pairs of rows with a known relation."""
    relations = ((pair, constraints.relation(*pair)) for pair in itertools.combinations(rows, 2))
    return [(pair, answer) for pair, answer in relations if answer is not None]


@settings(max_examples=40)
@given(cobs_problems())
def test_the_result_is_the_pool_member_with_the_largest_score_until_no_pair_is_left(problem):
    session = problem.session()
    known, n = Constraints(), len(problem.X)
    shown = range(n) if problem.train is None else np.flatnonzero(problem.train).tolist()
    session.ask()
    labels = pool_of(session).labels
    while True:
        assert tuple(session.labels_.tolist()) in members(labels)
        counted = implied(known, range(n)) if problem.options["count_entailed"] else list(known)
        assert scores([session.labels_], counted)[0] == max(scores(labels, counted))
        left = [
            p
            for p in itertools.combinations(shown, 2)
            if known.relation(*p) is None and p not in known.set_aside
        ]
        pair = session.ask()
        assert (pair is None) == (not left)
        if pair is None:
            break
        assert pair.ordered in left  # training rows, neither implied nor set aside
        known.add(*pair, problem.answer(*pair))
        session.tell(problem.answer(*pair), pair)


@settings(max_examples=25)
@given(cobs_problems(), st.integers(0, 12), st.integers(0, 12))
def test_replay_equals_live_and_a_smaller_budget_is_a_prefix(problem, small, more):
    short, long = problem.session(), problem.session()
    asked = problem.answer_all(short, small)
    assert problem.answer_all(long, small + more)[: len(asked)] == asked
    before = long.ask(), [p.labels.tolist() for p in long.partitions]
    long._state = None
    assert (long.ask(), [p.labels.tolist() for p in long.partitions]) == before
    for q in range(len(asked) + 1):
        np.testing.assert_array_equal(short.labels_at(q), long.labels_at(q))


@settings(max_examples=25)
@given(cobs_problems(unsure=False), st.data())
def test_volunteered_and_revised_answers_count_as_answers(problem, data):
    session = problem.session()
    problem.answer_all(session, 5)
    if len(problem.X) > 2:
        i, j = data.draw(st.lists(st.integers(0, len(problem.X) - 1), min_size=2, max_size=2, unique=True))
        session.add_constraint(i, j, bool(problem.y[i] == problem.y[j]))
    if session.history:
        session.revise(data.draw(st.integers(0, len(session.history) - 1)), None)
    known = session._replay.constraints
    counted = implied(known, range(len(problem.X))) if problem.options["count_entailed"] else list(known)
    assert scores([session.labels_], counted)[0] == max(scores(pool_of(session).labels, counted))
    problem.answer_all(session)
    assert session.ask() is None


@pytest.mark.parametrize("seed", range(5))
def test_the_pair_asked_minimises_the_criterion(seed):
    """With a sample that holds all pairs, the vote on the asked pair is the closest of all unknown ones."""
    X, y = blobs(14, seed, centers=3)
    problem = Problem(X, y, None, METHOD, seed, SMALL | {"update_factor": 1.3, "sample_size": 1000})
    session = problem.session()
    session.ask()
    labels = pool_of(session).labels
    for _ in range(25):
        known = session._replay.constraints
        weights = [1.3 ** (2 * s) for s in scores(labels, list(known))]
        left = [p for p in itertools.combinations(range(14), 2) if known.relation(*p) is None]
        votes = {
            (i, j): abs(sum(w * (1 if c[i] == c[j] else -1) for w, c in zip(weights, labels, strict=True)))
            for i, j in left
        }
        if (pair := session.ask()) is None:
            break
        assert votes[pair.ordered] <= min(votes.values()) + 1e-9 * sum(weights)
        problem.answer_all(session, 1)


def steps(labels, y, seed=0, n_queries=None, train=None, **options):
    """Partitions and pairs of the selection from a pool of our own."""
    space = EuclideanSpace(np.arange(len(y), dtype=float)[:, None], train)
    settings = {"factor": 1.05**2, "sample_size": 200} | options
    method = select(space, Constraints(), seed, np.array(labels), **settings)
    found = [next(method)]
    while found[-1].pair is not None and (n_queries is None or len(found) <= n_queries):
        i, j = found[-1].pair
        found.append(method.send(Answer.SAME if y[i] == y[j] else Answer.DIFFERENT))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_a_target_in_the_pool_satisfies_all_and_is_found(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=40)
    labels = [rng.integers(k, size=40) for k in range(1, 8)] + [y] + [np.arange(40)]
    found = steps(labels, y, seed)
    asked = [(s.pair, Answer.SAME if y[s.pair.i] == y[s.pair.j] else Answer.DIFFERENT) for s in found[:-1]]
    for q in range(1, len(asked)):
        assert scores([y], asked[:q])[0] == q
    assert adjusted_rand_score(y, found[-1].partition.labels) == 1
    n_needed = next(q for q, s in enumerate(found) if adjusted_rand_score(y, s.partition.labels) == 1)
    assert n_needed < 15


def test_ties_are_broken_by_an_order_drawn_from_the_seed():
    labels = [[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 3]]
    chosen = [tuple(steps(labels, [0] * 4, seed, 0)[0].partition.labels) for seed in range(400)]
    assert min(chosen.count(tuple(c)) for c in labels) > 60
    assert chosen == [tuple(steps(labels, [0] * 4, seed, 0)[0].partition.labels) for seed in range(400)]


def test_every_question_has_random_numbers_of_its_own(monkeypatch):
    drawn = []

    def record(constraints, shown, n, size, rng):
        drawn.append(rng.random())
        return unknown_pairs(constraints, shown, n, size, rng)

    monkeypatch.setattr(import_module("cobras.baselines.cobs"), "unknown_pairs", record)
    steps([np.arange(8) % 2], np.arange(8) % 3, 5)
    first, drawn = drawn, []
    assert len(set(first)) == len(first) > 8
    steps([np.arange(8) % 2], np.arange(8) % 3, 5)
    assert drawn == first


def test_a_pool_that_agrees_asks_any_pair_and_keeps_its_result():
    first = set()
    for seed in range(30):
        found = steps([[0, 0, 1, 1, 1]], [0, 1, 0, 1, 2], seed)
        first.add(found[0].pair.ordered)
        assert {tuple(s.partition.labels) for s in found} == {(0, 0, 1, 1, 1)}
        assert found[-1].pair is None
    assert len(first) >= 8  # of ten pairs


def test_weights_are_positive_and_ignore_the_order_of_answers():
    rng = np.random.default_rng(0)
    by_row = rng.integers(3, size=(20, 50))
    pairs, same = rng.integers(20, size=(40, 2)), rng.random(40) < 0.5
    order = rng.permutation(40)
    weights = clustering_weights(n_satisfied(by_row, pairs, same), 1.1)
    np.testing.assert_array_equal(
        weights, clustering_weights(n_satisfied(by_row, pairs[order], same[order]), 1.1)
    )
    one_by_one = np.ones(50)
    for (i, j), is_same in zip(pairs, same, strict=True):
        agrees = (by_row[i] == by_row[j]) == is_same
        one_by_one *= np.where(agrees, np.sqrt(1.1), 1 / np.sqrt(1.1))
    np.testing.assert_allclose(weights, one_by_one / one_by_one.max())
    assert clustering_weights(np.array([0, 10_000]), 4.0).min() > 0


def test_disagreement_is_the_margin_of_the_vote():
    by_row = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 2]])
    weights = np.array([1.0, 0.5, 0.25])
    votes = vote_margins(by_row, np.array([[0, 1], [0, 2], [1, 2]]), weights)
    np.testing.assert_allclose(votes, [1.25, 0.75, 0.75])


@given(st.integers(0, 10_000))
def test_entailed_pairs_are_those_of_the_store(seed):
    constraints = answered(12, 10, seed)
    pairs, same = entailed_pairs(constraints)
    expected = {p: a is Answer.SAME for p, a in implied(constraints, range(12))}
    assert dict(zip(map(tuple, pairs.tolist()), same.tolist(), strict=True)) == expected


def answered(n, n_answers, seed):
    rng = np.random.default_rng(seed)
    y, constraints = rng.integers(3, size=n), Constraints()
    for _ in range(n_answers):
        i, j = rng.choice(n, 2, replace=False).tolist()
        if constraints.relation(i, j) is None:
            kind = Answer.UNSURE if rng.random() < 0.2 else Answer.of(bool(y[i] == y[j]))
            constraints.add(i, j, kind)
    return constraints


@pytest.mark.parametrize("few", [0, 200])
@given(seed=st.integers(0, 10_000), size=st.sampled_from([1, 5, 100]), n_answers=st.integers(0, 60))
def test_candidates_are_distinct_unknown_pairs_and_all_of_them_if_few_are_left(few, seed, size, n_answers):
    constraints = answered(12, n_answers, seed)
    shown = np.flatnonzero(np.random.default_rng(seed).random(12) < 0.8)
    left = {
        p
        for p in itertools.combinations(shown.tolist(), 2)
        if constraints.relation(*p) is None and p not in constraints.set_aside
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            import_module("cobras.baselines.cobs"), "FEW_ROWS", few
        )  # the name leads to the function
        pairs = unknown_pairs(constraints, shown, 12, size, np.random.default_rng(seed))
    found = {tuple(p) for p in pairs.tolist()}
    assert len(found) == len(pairs) == min(size, len(left))
    assert found <= left


def test_candidates_of_many_rows_are_drawn_evenly():
    counts = np.zeros(300)
    constraints = answered(300, 200, 0)
    for seed in range(300):
        np.add.at(
            counts,
            unknown_pairs(constraints, np.arange(300), 300, 100, np.random.default_rng(seed)).ravel(),
            1,
        )
    assert 140 < counts.min() < counts.max() < 270  # 200 on average


def test_many_rows_end_when_all_pairs_are_known():
    y = np.random.default_rng(0).integers(2, size=260)
    found = steps([y, np.zeros(260, int)], y, sample_size=50)
    assert found[-1].pair is None
    assert len(found) >= 260
    assert adjusted_rand_score(y, found[-1].partition.labels) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "rows", [[[0.0]], [[0.0], [1.0]], [[2.0, 1.0]] * 7, [[0.0]] * 4 + [[1.0]], [[1e-30], [0.0], [1e15]]]
)
def test_the_smallest_tables(rows, dtype):
    session = Session(np.array(rows).astype(dtype), METHOD, 0)
    while (pair := session.ask()) is not None:
        session.tell(rows[pair.i] == rows[pair.j], pair)
    assert len(session.labels_) == len(rows)
    if len({tuple(r) for r in rows}) == 1:
        assert session.partition.n_clusters == 1
        assert len(pool_of(session).labels) == 1


def test_one_training_row_is_never_asked():
    session = Session(blobs(10)[0], METHOD, 0, train_indices=[3], **SMALL)
    assert session.ask() is None
    assert len(session.labels_) == 10


def test_bad_options_are_named():
    X = blobs(5)[0]
    for options, words in [
        ({"update_factor": 1.0}, "greater than 1"),
        ({"min_sigma": 0.0}, "positive and in order"),
        ({"min_sigma": 6.0}, "positive and in order"),
        ({"k_max": 0}, "k_max must be a whole number"),
        ({"noise": "none"}, "noise must be one of"),
    ]:
        with pytest.raises(InvalidDataError, match=words):
            Session(X, METHOD, 0, **options).ask()
