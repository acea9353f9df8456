"""What constraints imply, beside brute force, and the first centers that they suggest."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras.baselines.clusterers.links import first_centers, links_of
from cobras.core.exceptions import InconsistentAnswersError, InvalidDataError
from tests.baselines.clusterers.brute_force import implied


@st.composite
def constraints(draw):
    n = draw(st.integers(2, 9))
    pair = st.lists(st.integers(0, n - 1), min_size=2, max_size=2, unique=True)
    return n, draw(st.lists(pair, max_size=8)), draw(st.lists(pair, max_size=8))


@given(constraints())
def test_the_closure_is_all_that_follows_and_contradictions_raise(problem):
    n, must_link, cannot_link = problem
    same, different = implied(n, must_link, cannot_link)
    if (same & different).any():
        with pytest.raises(InconsistentAnswersError, match="contradicts earlier answers"):
            links_of(n, must_link, cannot_link)
        return
    links = links_of(n, must_link, cannot_link)
    component, apart = links.component, {tuple(pair) for pair in links.apart_pairs.tolist()}
    for i, j in combinations(range(n), 2):
        assert (component[i] == component[j]) == same[i, j]
        assert (tuple(sorted((component[i], component[j]))) in apart) == different[i, j]
    assert links.rows.tolist() == np.flatnonzero((same.sum(axis=1) > 1) | different.any(axis=1)).tolist()
    assert list(map(tuple, links.cannot_link.tolist())) == sorted(
        {tuple(sorted(pair)) for pair in cannot_link}
    )


@given(constraints(), st.randoms())
def test_neither_order_nor_repetition_nor_direction_matters(problem, random):
    n, must_link, cannot_link = problem
    try:
        links = links_of(n, must_link, cannot_link)
    except InconsistentAnswersError:
        return
    for found in (must_link, cannot_link):
        found += [pair[::-1] for pair in found]
        random.shuffle(found)
    for before, after in zip(links, links_of(n, must_link, cannot_link), strict=True):
        np.testing.assert_array_equal(before, after)


def test_components_are_numbered_by_their_first_rows():
    links = links_of(6, [(5, 1), (4, 0)], [(4, 5)])
    assert links.component.tolist() == [0, 1, 2, 3, 0, 1]
    assert links.members.tolist() == [0, 4, 1, 5, 2, 3]
    assert links.first.tolist() == [0, 2, 4, 5, 6]
    assert links.apart.tolist() == [1, 0]
    assert links.first_apart.tolist() == [0, 1, 2, 2, 2]
    assert links.n_components == 4


def test_a_cannot_link_to_a_single_row_is_passed_on():
    links = links_of(4, [(1, 2)], [(2, 3)])
    assert links.apart_pairs.tolist() == [[1, 2]]
    assert links.rows.tolist() == [1, 2, 3]


def test_a_long_chain_needs_no_recursion():
    n = 5_000
    assert links_of(n, [(i, i + 1) for i in range(n - 1)]).n_components == 1


@pytest.mark.parametrize(
    ("must_link", "message"),
    [
        ([(0, 3)], "names row 3, but rows go from 0 to 2"),
        ([(-1, 2)], "names row -1"),
        ([(1, 1)], "pairs row 1 with itself"),
        ([0, 1], "must hold pairs of row numbers"),
        ([(0.0, 1.0)], "rows are given by whole numbers"),
    ],
)
def test_bad_pairs_get_one_sentence(must_link, message):
    with pytest.raises(InvalidDataError, match=message):
        links_of(3, must_link)


def test_first_centers_are_neighbourhoods_then_rows_cannot_linked_to_all_of_them():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [12.0], [50.0], [900.0], [902.0]])
    links = links_of(8, [(0, 1), (2, 3), (3, 4)], [(0, 2), (5, 0), (5, 2), (6, 0)])
    centers, labels = first_centers(X, 3, links, np.random.default_rng(0))
    # The largest neighbourhood first; row 6 lacks a cannot-link.
    assert centers.ravel().tolist() == [11.0, 0.5, 50.0]
    assert labels.tolist() == [1, 1, 0, 0, 0, 2, -1, -1]


def test_neighbourhoods_are_picked_by_size_and_distance():
    X = np.array([[0.0], [0.0], [0.0], [2.0], [2.0], [2.0], [2.0], [2.0], [4.0], [4.0], [-3.0], [-3.0]])
    must_link = [(0, 1), (1, 2), (3, 4), (4, 5), (5, 6), (6, 7), (8, 9), (10, 11)]
    links = links_of(12, must_link)
    picked = first_centers(X, 3, links, np.random.default_rng(0))[0].ravel().tolist()
    # From 2 (5 rows): 0 weighs 2 √15 = 7.7, 4 weighs 2 √10 = 6.3, -3 weighs 5 √10 = 15.8; then 0 has 3 √6 = 7.3.
    assert picked == [2.0, -3.0, 0.0]
