"""COBS: its selection beside brute force, and its laws."""

import itertools
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, rand_score

from cobras import Answer, Constraints, InvalidDataError, Session
from cobras.baselines.clusterers import state_random
from cobras.baselines.cobs import EVEN, clustering_weights, mostly_alone, question_chances, select
from cobras.baselines.known_pairs import unknown_pairs
from cobras.spaces.euclidean import EuclideanSpace
from tests.baselines.blobs import SMALL, blobs, members
from tests.baselines.test_known_pairs import implied
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


@settings(max_examples=40)
@given(cobs_problems())
def test_the_result_is_a_pool_member_until_no_pair_is_left(problem):
    session = problem.session()
    known, n = Constraints(), len(problem.X)
    shown = range(n) if problem.train is None else np.flatnonzero(problem.train).tolist()
    session.ask()
    labels = pool_of(session).labels
    while True:
        assert tuple(session.labels_.tolist()) in members(labels)
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


@settings(max_examples=40)
@given(cobs_problems(unsure=False), st.booleans())
def test_with_all_pairs_answered_the_result_has_the_highest_rand_index(problem, volunteered):
    session = problem.session()
    shown = range(len(problem.X)) if problem.train is None else map(int, np.flatnonzero(problem.train))
    pairs = [(p, problem.answer(*p)) for p in itertools.combinations(shown, 2)]
    if volunteered:
        for p, answer in pairs:
            session.add_constraint(*p, answer is Answer.SAME)
    problem.answer_all(session)
    assert session.ask() is None
    assert scores([session.labels_], pairs)[0] == max(scores(pool_of(session).labels, pairs))


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
    problem.answer_all(session)
    assert session.ask() is None
    if problem.train is None and not session._replay.constraints.set_aside:
        counted = implied(session._replay.constraints, range(len(problem.X)))
        assert scores([session.labels_], counted)[0] == max(scores(pool_of(session).labels, counted))


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
def test_questions_and_results_by_definition(seed):
    """The chance of a pair, how much its answer counts, and the score of a clustering, in the words of the docs."""
    rng, n, size = np.random.default_rng(seed), 14, 30
    y = rng.integers(3, size=n)
    labels = [rng.integers(k, size=n) for k in (1, 2, 3, 4)] + [
        np.where(rng.random(n) < 0.3, 3, y),
        np.arange(n),
    ]
    known, counts = Constraints(), []
    for step in steps(labels, y, seed, sample_size=size, factor=1.3):
        total = sum(counts)
        right = [
            [
                count * ((c[i] == c[j]) == (a is Answer.SAME))
                for ((i, j), a), count in zip(known, counts, strict=True)
            ]
            for c in labels
        ]
        implied_now = implied(known, range(n))
        n_left = n * (n - 1) // 2 - len(implied_now)
        score = [
            found + n_left * sum(r) / max(len(counts), 1)
            for found, r in zip(scores(labels, implied_now), right, strict=True)
        ]
        at = [tuple(step.partition.labels) == tuple(space_labels(c)) for c in labels].index(True)
        assert score[at] == pytest.approx(max(score))
        if step.pair is None:
            break
        draws = state_random(seed, (2, 1, len(known), 0))
        pairs = [tuple(p) for p in unknown_pairs(known, np.arange(n), n, size, draws).tolist()]
        weights = [1.3 ** (sum(r) * len(counts) / total) if total else 1.0 for r in right]
        doubt = []
        for i, j in pairs:
            p = sum(w for w, c in zip(weights, labels, strict=True) if c[i] == c[j]) / sum(weights)
            doubt.append(max(p * (1 - p), 0) ** 0.5)
        chances = [EVEN / len(pairs) + (1 - EVEN) * d / sum(doubt) for d in doubt]
        at = draws.choice(len(pairs), p=chances)
        assert step.pair == pairs[at]
        counts.append(1 / (len(pairs) * chances[at]))
        known.add(*step.pair, Answer.of(bool(y[step.pair.i] == y[step.pair.j])))
    assert len(counts) > 10


def space_labels(labels):
    """Numbered by the first instance, as partitions are."""
    return EuclideanSpace(np.arange(len(labels), dtype=float)[:, None]).partition(np.array(labels)).labels


def test_who_is_right_about_the_most_disputed_pairs_alone_is_not_chosen():
    """The pool splits a class in many ways, all wrong; one cluster for everything is right about just that."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    halves = [np.where(y == 1, 2, rng.integers(2, size=200)) for _ in range(20)]
    labels = [*halves, np.zeros(200, int)]
    indices = [rand_score(y, c) for c in labels]
    assert min(indices[:-1]) > 0.8 > indices[-1]
    for seed in range(5):
        found = steps(labels, y, seed, 60)
        assert all(step.partition.n_clusters == 3 for step in found[20:])


def test_between_equals_a_clustering_of_single_rows_is_not_chosen():
    labels = [
        np.arange(9),
        [0] * 9,
        np.arange(9) // 5,
        [0, 0, 0, 0, 1, 2, 3, 4, 5],
        [0, 0, 0, 0, 0, 1, 2, 3, 4],
    ]
    assert mostly_alone(np.array(labels)).tolist() == [True, False, False, True, False]
    for seed in range(30):
        chosen = steps(labels, np.arange(9), seed, 0)[0].partition.labels
        assert not mostly_alone(chosen[None])[0]
    assert steps(labels[:1], np.arange(9), 0, 0)[0].partition.n_clusters == 9  # if there is no other


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
    labels = [[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 2]]
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


def test_weights_are_positive_and_follow_the_number_of_satisfied_answers():
    weights = clustering_weights(np.array([3.0, 5.0, 4.5]), 1.1)
    np.testing.assert_allclose(weights, [1.1**-2, 1, 1.1**-0.5])
    assert clustering_weights(np.array([0, 10_000.0]), 4.0).min() > 0


def test_pairs_that_all_agree_about_are_asked_by_even_chance_alone():
    by_row = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 2], [1, 1, 2]])
    weights = np.array([1.0, 0.5, 0.25])
    chances = question_chances(by_row, np.array([[0, 1], [0, 2], [2, 3]]), weights)
    np.testing.assert_allclose(chances, [1 - 2 * EVEN / 3, EVEN / 3, EVEN / 3])
    np.testing.assert_allclose(question_chances(by_row, np.array([[0, 2], [2, 3]]), weights), [0.5, 0.5])


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
