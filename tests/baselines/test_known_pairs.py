"""Pairs whose relation the answers imply, and samples of the others, beside brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import Answer, Constraints
from cobras.baselines import known_pairs
from cobras.baselines.known_pairs import entailed_pairs, unknown_pairs


def implied(constraints, rows):
    """All pairs of rows with a known relation."""
    relations = ((pair, constraints.relation(*pair)) for pair in itertools.combinations(rows, 2))
    return [(pair, answer) for pair, answer in relations if answer is not None]


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
        patch.setattr(known_pairs, "FEW_ROWS", few)
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
