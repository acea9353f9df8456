"""A board answers every pair of cards, and every card with every pile."""

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import Answer, Board, Constraints, InvalidDataError, Pair


@st.composite
def sorted_boards(draw):
    rows = draw(st.permutations(range(12)))
    n_cards, n_piles = draw(st.integers(1, 6)), draw(st.integers(0, 4))
    board = Board(rows[:n_cards], rows[n_cards : n_cards + n_piles])
    on_board = [*board.cards, *board.piles]
    homes = draw(st.lists(st.integers(0, 4), min_size=len(on_board), max_size=len(on_board)))
    groups = [[row for row, home in zip(on_board, homes, strict=True) if home == g] for g in range(1, 5)]
    return board, groups


@given(sorted_boards())
def test_a_grouping_says_what_the_same_answers_to_pairs_say(case):
    board, groups = case
    home = {row: g for g, group in enumerate(groups) for row in group}
    expected = {}
    for i, j in [*combinations(board.cards, 2), *product(board.cards, board.piles)]:
        if i not in home or (j in board.cards and j not in home):
            expected[Pair(i, j)] = Answer.UNSURE
        else:
            expected[Pair(i, j)] = Answer(int(home[i] == home.get(j)))
    for i, j in combinations(board.piles, 2):
        if i in home and home[i] == home.get(j):
            expected[Pair(i, j)] = Answer.SAME
    said = board.pairs(groups)
    assert dict(said) == expected
    assert len(said) == len(expected)
    answers = [answer for _, answer in said]
    assert answers == sorted(answers, reverse=True)
    constraints = Constraints()  # they never contradict each other
    for pair, answer in said:
        constraints.add(*pair, answer)


@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        ([[1, 9]], "Row 9 is not on the board: .1, 2, 3.."),
        ([[1, 2], [2]], "Row 2 is in two groups"),
        ([[1, 1]], "Row 1 is in two groups, or twice in one"),
        ([1, 2], "sorted into lists of rows, not into"),
        ("ab", "sorted into lists of rows"),
        ([[1.5]], "sorted into lists of rows"),
        ([[float("inf")]], "sorted into lists of rows"),
        (None, "sorted into lists of rows"),
    ],
)
def test_groups_that_make_no_sense(groups, sentence):
    with pytest.raises(InvalidDataError, match=sentence):
        Board((1, 2), (3,)).pairs(groups)


def test_a_row_is_on_a_board_once():
    with pytest.raises(InvalidDataError, match="Row 2 is twice on the board"):
        Board((1, 2), (2,))
