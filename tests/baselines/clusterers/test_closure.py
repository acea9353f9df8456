"""The closure of constraints, beside brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras.baselines.clusterers.closure import close
from cobras.core.exceptions import InconsistentAnswersError, InvalidDataError


@st.composite
def constraints(draw):
    n = draw(st.integers(2, 9))
    pair = st.lists(st.integers(0, n - 1), min_size=2, max_size=2, unique=True)
    return n, draw(st.lists(pair, max_size=8)), draw(st.lists(pair, max_size=8))


def brute_force(n, must_link, cannot_link):
    """Same and different as boolean matrices, by repeating the rules until nothing new follows."""
    same, different = np.eye(n, dtype=int), np.zeros((n, n), dtype=int)
    for i, j in must_link:
        same[i, j] = same[j, i] = 1
    for i, j in cannot_link:
        different[i, j] = different[j, i] = 1
    for _ in range(n):
        same = np.minimum(same @ same, 1)
        different = np.minimum(different + same @ different @ same, 1)
    return same.astype(bool), different.astype(bool)


def pairs(matrix):
    return [[int(i), int(j)] for i, j in combinations(range(len(matrix)), 2) if matrix[i, j]]


@given(constraints())
def test_the_closure_is_all_that_follows_and_contradictions_raise(problem):
    n, must_link, cannot_link = problem
    same, different = brute_force(n, must_link, cannot_link)
    if (same & different).any():
        with pytest.raises(InconsistentAnswersError, match="contradicts earlier answers"):
            close(n, must_link, cannot_link)
        return
    closed = close(n, must_link, cannot_link)
    assert closed.must_link.tolist() == pairs(same)
    assert closed.cannot_link.tolist() == pairs(different)
    for i, j in combinations(range(n), 2):
        assert (closed.component[i] == closed.component[j]) == same[i, j]


@given(constraints(), st.randoms())
def test_neither_order_nor_repetition_nor_direction_matters(problem, random):
    n, must_link, cannot_link = problem
    try:
        closed = close(n, must_link, cannot_link)
    except InconsistentAnswersError:
        return
    for found in (must_link, cannot_link):
        found += [pair[::-1] for pair in found]
        random.shuffle(found)
    again = close(n, must_link, cannot_link)
    np.testing.assert_array_equal(again.component, closed.component)
    np.testing.assert_array_equal(again.apart, closed.apart)


def test_components_are_numbered_by_their_first_rows():
    closed = close(6, [(5, 1), (4, 0)], [(4, 5)])
    assert closed.component.tolist() == [0, 1, 2, 3, 0, 1]
    assert [rows.tolist() for rows in closed.members] == [[0, 4], [1, 5], [2], [3]]
    assert closed.apart.tolist() == [[0, 1]]
    assert closed.n_components == 4


def test_a_cannot_link_to_a_single_row_is_passed_on():
    assert close(4, [(1, 2)], [(2, 3)]).cannot_link.tolist() == [[1, 3], [2, 3]]


def test_a_long_chain_needs_no_recursion():
    n = 5_000
    closed = close(n, [(i, i + 1) for i in range(n - 1)])
    assert closed.n_components == 1


@pytest.mark.parametrize(
    ("must_link", "message"),
    [
        ([(0, 3)], "names row 3, but rows go from 0 to 2"),
        ([(-1, 2)], "names row -1"),
        ([(1, 1)], "pairs row 1 with itself"),
        ([0, 1], "must hold pairs of row numbers"),
        ([(0.0, 1.0)], "must hold pairs of row numbers"),
    ],
)
def test_bad_pairs_get_one_sentence(must_link, message):
    with pytest.raises(InvalidDataError, match=message):
        close(3, must_link)
