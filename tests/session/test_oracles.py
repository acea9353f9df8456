"""Oracles answer in place of a person; what goes wrong loses no answer."""

import itertools
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import (
    COBRAS,
    Answer,
    Board,
    CobrasError,
    HumanOracle,
    InconsistentAnswersError,
    InvalidDataError,
    LabelOracle,
    NoisyOracle,
    Pair,
    RecordedOracle,
    Session,
    StopAsking,
    run,
)
from tests.session import X, answered, y


@pytest.fixture
def session():
    return answered(0)


def test_an_oracle_that_raises_loses_nothing(session):
    def moody(i, j):
        if session.n_answers == 7:
            raise RuntimeError("tea break")
        return y[i] == y[j]

    with pytest.raises(RuntimeError, match="tea break"):
        run(session, moody)
    assert session.n_answers == 7
    run(session, LabelOracle(y), until=lambda s: s.n_answers >= 9)
    assert session.n_answers == 9


def test_an_oracle_that_contradicts_itself_is_named_and_nothing_is_lost():
    session = Session(X, random_state=0, reuse="exact", method="cobras")
    with pytest.raises(InconsistentAnswersError) as caught:
        run(session, NoisyOracle(y, noise=0.4, random_state=1))
    assert caught.value.chain
    before = session.n_answers
    session.skip(session.ask())
    assert session.n_answers == before + 1


def test_a_noisy_oracle_never_contradicts_what_is_implied():
    session = run(
        Session(X, random_state=0, method="cobras"),
        NoisyOracle(y, noise=0.4),
        until=lambda s: s.n_answers >= 80,
    )
    assert session.n_answers == 80


def test_recorded_answers_replay_a_session():
    first = answered(30)
    recorded = RecordedOracle(first.history)
    again = run(Session(X, random_state=0, method="cobras"), recorded, until=lambda s: s.n_answers >= 30)
    np.testing.assert_array_equal(first.labels_, again.labels_)
    with pytest.raises(CobrasError, match="No answer was recorded"):
        run(again, recorded)


def test_recorded_pairs_and_the_last_of_two_answers():
    recorded = RecordedOracle([(Pair(4, 9), Answer.SAME), ((9, 4), False)])
    assert recorded(4, 9) is Answer.DIFFERENT


def test_an_oracle_may_end_the_run(session):
    def tired(i, j):
        if session.n_answers == 3:
            raise StopAsking
        return

    assert run(session, tired).n_answers == 3


def test_bad_oracles_get_one_sentence():
    with pytest.raises(InvalidDataError, match="one label for each row"):
        LabelOracle([[0, 1]])
    with pytest.raises(InvalidDataError, match="probability from 0 to 1, not 2"):
        NoisyOracle([0, 1], noise=2)


MISSING = {
    "None": ["a", None, "b"],
    "NaN": [0.0, math.nan, 1.0],
    "NaN among texts": ["a", math.nan, "b"],
    "NaN among objects": np.array(["a", math.nan, 1], dtype=object),
    "NaT": np.array(["2020-01-01", "NaT", "2021-01-01"], dtype="datetime64[D]"),
    "a masked value": np.ma.masked_array([0, 1, 2], mask=[False, True, False]),
    "NA": pd.array([1, pd.NA, 2], dtype="Int64"),
    "NA among texts": pd.Series(["a", pd.NA, "b"], dtype="string"),
    "pandas NaT": pd.Series([pd.Timestamp(0), pd.NaT, pd.Timestamp(1)]),
    "a category": pd.Categorical(["a", None, "b"]),
    "polars null": pl.Series(["a", None, "b"]),
    "polars null number": pl.Series([1, None, 2]),
    "decimal": [Decimal(1), Decimal("NaN"), Decimal(2)],
}


@pytest.mark.parametrize("labels", MISSING.values(), ids=MISSING)
def test_a_missing_label_is_refused(labels):
    fit = COBRAS(random_state=0).fit
    for use in (LabelOracle, NoisyOracle, lambda labels: fit([[0.0], [1.0], [5.0]], labels)):
        with pytest.raises(
            InvalidDataError, match=r"y holds no label for row 1 \(.*\)\. Fill or drop such rows"
        ):
            use(labels)


@pytest.mark.parametrize(
    "labels", [["nan", "None", ""], np.array(["nan", "NaT", "x"]), [math.inf, 0, 1], [None][:0]]
)
def test_what_only_looks_missing_is_a_label(labels):
    assert len(LabelOracle(labels).y) == len(labels)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=9), st.floats(0, 1), st.integers(0, 99))
def test_noise_turns_the_truth_and_does_not_depend_on_order(labels, noise, seed):
    truth, noisy = LabelOracle(labels), NoisyOracle(labels, noise, seed)
    for i in range(len(labels)):
        for j in range(i):
            assert noisy(i, j) is noisy(j, i)
            assert noisy(i, j) in (Answer.SAME, Answer.DIFFERENT)
            if noise in (0, 1):
                assert (noisy(i, j) is truth(i, j)) == (noise == 0)


# -- a simulated person ------------------------------------------------------------------------------------------

RATES = {2: (0.48, 0.09), 4: (0.40, 0.12), 6: (0.44, 0.11), 8: (0.38, 0.12)}  # missed and false, on boards


def pair_errors(oracle, boards):
    """The shares of pairs of one class that were told apart, and of two classes that were put together."""
    wrong, count = {True: 0, False: 0}, {True: 0, False: 0}
    for cards in boards:
        home = {row: g for g, group in enumerate(oracle.sort(Board(cards))) for row in group}
        for i, j in itertools.combinations(cards, 2):
            same = bool(oracle.truth.y[i] == oracle.truth.y[j])
            count[same] += 1
            wrong[same] += (home[i] == home[j]) != same
    return wrong[True] / count[True], wrong[False] / count[False]


@pytest.mark.parametrize("n_cards", RATES)
def test_a_crowd_errs_on_boards_as_in_the_study(n_cards):
    """Cards of five classes at random, as there."""
    chance = np.random.default_rng(0)
    labels = chance.integers(5, size=4000)
    boards = [tuple(chance.choice(4000, n_cards, replace=False).tolist()) for _ in range(24_000 // n_cards)]
    missed, false = pair_errors(HumanOracle(labels, "crowd", random_state=1), boards)
    assert (missed, false) == pytest.approx(RATES[n_cards], abs=0.02)


@pytest.mark.parametrize(
    ("level", "missed", "false"), [("exact", 0, 0), ("careful", 0.03, 0.03), ("crowd", 0.3, 0.26)]
)
def test_pairs_err_at_the_rates_of_the_level(level, missed, false):
    labels = np.random.default_rng(0).integers(2, size=300)
    oracle = HumanOracle(labels, level, random_state=0)
    wrong = {True: [], False: []}
    for i, j in itertools.combinations(range(300), 2):
        wrong[bool(labels[i] == labels[j])].append(oracle(i, j) != (labels[i] == labels[j]))
    assert np.mean(wrong[True]) == pytest.approx(missed, abs=0.01)
    assert np.mean(wrong[False]) == pytest.approx(false, abs=0.01)


def test_a_careful_person_puts_three_in_a_hundred_cards_wrong():
    chance = np.random.default_rng(0)
    labels = chance.integers(5, size=4000)
    boards = [tuple(chance.choice(4000, 6, replace=False).tolist()) for _ in range(3000)]
    missed, false = pair_errors(HumanOracle(labels, "careful", random_state=1), boards)
    assert 0.2 * missed + 0.8 * false == pytest.approx(0.03, abs=0.004)


def test_a_person_repeats_themselves_and_needs_time():
    first, second = (HumanOracle(y, "crowd", random_state=3) for _ in range(2))
    board = Board((1, 60, 120, 2, 70, 130), (5, 55))
    assert first.sort(board) == second.sort(board) == first.sort(board)
    assert {row for group in first.sort(board) for row in group} == {*board.cards, *board.piles}
    assert [second(3, 4), second(4, 3)] == [first(3, 4)] * 2
    assert second.seconds_per_act == [18.5, 3.2, 3.2]
    assert second.seconds == pytest.approx(24.9)
    assert HumanOracle(y).random_state != HumanOracle(y).random_state
    with pytest.raises(InvalidDataError, match="level is one of exact, careful, crowd, not 'sloppy'"):
        HumanOracle(y, "sloppy")


@pytest.mark.parametrize("method", ["cobras", "cobra", "adder"])
@pytest.mark.parametrize("level", ["exact", "crowd"])
def test_boards_are_sorted_to_the_end(method, level):
    oracle = HumanOracle(y[::3], level, random_state=0)
    session = run(
        Session(X[::3], method, random_state=0), oracle, until=lambda s: s.n_answers >= 40, boards=5
    )
    assert {record.kind for record in session.history} <= {"board", "answer"}
    assert any(record.kind == "board" for record in session.history)
    if level == "exact":
        assert session.ask() is None
        assert len(oracle.seconds_per_act) == session.n_answers


def test_any_oracle_sorts_boards_by_pairs():
    session = run(Session(X, random_state=0, method="cobras"), LabelOracle(y), boards=6)
    assert session.ask() is None
    assert len(np.unique(np.stack([y, session.labels_]), axis=1).T) == 3
    unsure = run(Session(X[:30], random_state=0, method="cobras"), lambda i, j: None, boards=6)
    assert unsure.ask() is None
    stopped = run(Session(X, random_state=0, method="cobras"), stop_asking, boards=6)
    assert stopped.n_answers == 0


def stop_asking(i, j):
    raise StopAsking


def test_recorded_boards_answer_pairs():
    session = run(
        Session(X, random_state=0, method="cobras"),
        LabelOracle(y),
        boards=6,
        until=lambda s: s.n_answers >= 3,
    )
    oracle = RecordedOracle(session.history)
    for record in session.history:
        for pair, answer in record.said:
            assert oracle(*pair) is answer


def test_labels_of_fewer_rows_than_the_data_has_get_one_sentence():
    with pytest.raises(
        InvalidDataError, match=r"There are 2 labels, so none for each row of pair \(\d+, \d+\)"
    ):
        run(Session(X, "cobras", random_state=0), LabelOracle(y[:2]))


@pytest.mark.parametrize(
    ("oracle", "until", "sentence"),
    [
        (None, None, "An oracle is a function of two row numbers, not None"),
        ([0, 0, 1], None, "An oracle is a function of two row numbers"),
        (LabelOracle([0, 0, 1]), 10, "until is a function of the session, not 10"),
    ],
)
def test_a_run_without_a_function_that_answers_or_ends_it_is_refused(oracle, until, sentence):
    with pytest.raises(InvalidDataError, match=sentence):
        run(Session([[0.0], [0.1], [5.0]], "cobras", random_state=0), oracle, until)
