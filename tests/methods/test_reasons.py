"""Why a question is asked: the sentence for every method, and what it says about numbers."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from cobras import LabelOracle, Session, run
from cobras.methods.reasons import Scope, reason

X, y = load_iris(return_X_y=True)
SENTENCES = (
    r"These two decide whether cluster (\d+) is one thing: ([\d,]+) items?\.",
    r"These two decide whether a part of cluster (\d+) is one thing: about ([\d,]+) of ([\d,]+) items\.",
    r"These two decide whether (?:about )?([\d,]+) items? of cluster (\d+) belongs? there\.",
    r"These two decide whether clusters (\d+) and (\d+) are one: ([\d,]+) items\.",
    r"These two decide whether (?:about )?([\d,]+) items? of cluster (\d+) belongs? to cluster (\d+)\.",
    r"An earlier answer does not fit the others: these two check it\.",
)


@pytest.mark.parametrize("method", ["cobras", "cobra", "adder"])
def test_every_question_of_a_method_has_a_reason_that_is_true(method):
    session = Session(X, method, random_state=0)

    def check(session):
        pair, said = session.ask(), session.reason
        if pair is None:
            return True
        (found,) = [m for sentence in SENTENCES if (m := re.fullmatch(sentence, said))]
        ids = session.cluster_ids_
        here = [ids[session.labels_[row]] for row in pair]
        sizes = {number: int((session.labels_ == k).sum()) for k, number in enumerate(ids)}
        if "are one" in said:
            a, b, n = map(int, found.groups())
            assert sorted(here) == [a, b]
            assert n == sizes[a] + sizes[b]
        elif "there." in said:
            n, own = map(int, found.groups())
            assert here == [own] * 2
            assert 1 <= n <= sizes[own]
        elif "of cluster" in said and "belong" in said:
            n, own, other = map(int, found.groups())
            assert sorted(here) == sorted((own, other))
            assert 1 <= n <= sizes[own]
        elif "one thing" in said:
            assert here == [int(found[1])] * 2
        return session.n_answers >= 60

    run(session, LabelOracle(y), until=check)
    assert session.n_answers >= 25


@given(st.integers(0, 200), st.integers(0, 200), st.booleans())
def test_no_scope_is_refused(first, second, is_check):
    session = Session(X, "cobras", random_state=0)
    said = reason(session.ask(), Scope(first, second, is_check), session.partition, session.cluster_ids_)
    assert any(re.fullmatch(sentence, said) for sentence in SENTENCES)


def test_a_method_that_does_not_say_gives_no_reason():
    session = Session(X, "min_max", random_state=0, n_clusters=3)
    assert session.ask() is not None
    assert session.reason == ""
    done = run(Session(X[:20], "cobras", random_state=0), LabelOracle(np.zeros(20)))
    assert done.reason == ""
