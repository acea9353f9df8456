"""Oracles answer in place of a person; what goes wrong loses no answer."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from cobras import (
    COBRAS,
    Answer,
    CobrasError,
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

X, y = load_iris(return_X_y=True)


@pytest.fixture
def session():
    return Session(X, random_state=0)


def answered(n):
    return run(Session(X, random_state=0), LabelOracle(y), until=lambda s: s.n_answers >= n)


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
    session = Session(X, random_state=0, reuse="exact")
    with pytest.raises(InconsistentAnswersError) as caught:
        run(session, NoisyOracle(y, noise=0.4, random_state=1))
    assert caught.value.chain
    before = session.n_answers
    session.skip(session.ask())
    assert session.n_answers == before + 1


def test_a_noisy_oracle_never_contradicts_what_is_implied():
    session = run(Session(X, random_state=0), NoisyOracle(y, noise=0.4), until=lambda s: s.n_answers >= 80)
    assert session.n_answers == 80


def test_recorded_answers_replay_a_session():
    first = answered(30)
    recorded = RecordedOracle(first.history)
    again = run(Session(X, random_state=0), recorded, until=lambda s: s.n_answers >= 30)
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
