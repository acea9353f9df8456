"""Which rows ADDER shows together to be sorted."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from cobras import HumanOracle, Session, run
from cobras.methods.adder.sorting import MOST_PILES, board_of_components

X, y = load_iris(return_X_y=True)


def sort_right(session: Session, n_cards: int = 6):
    """Show a board, sort it as the species are, and return it."""
    board = session.board(n_cards)
    groups: dict[int, list[int]] = {}
    for row in (*board.cards, *board.piles):
        groups.setdefault(int(y[row]), []).append(row)
    session.sort(board, list(groups.values()))
    return board


def test_boards_alone_find_the_clusters():
    session = Session(X, method="adder", random_state=0)
    for _ in range(12):
        board = sort_right(session)
        assert 1 <= len(board.cards) <= 6
        assert len(board.piles) <= MOST_PILES
    assert adjusted_rand_score(y, session.labels_) > 0.9


def test_an_answer_that_is_checked_is_on_the_board():
    """And the board comes from the method: to make one from the next questions takes two replays."""
    session, person = Session(X, method="adder", random_state=0), HumanOracle(y, "crowd", random_state=0)
    n_checks = 0
    for _ in range(40):
        step = session._replay.step
        assert step.board is not None
        if step.scope().is_check:
            n_checks += 1
            board = session.board()
            card, pile = step.pair
            assert card in board.cards
            assert session._replay.constraints.relation(card, pile) is None
            assert pile in board.piles
        run(session, person, until=lambda s, n=session.n_answers: s.n_answers > n, boards=6)
    assert n_checks > 1


def test_cards_that_teach_the_same_are_not_shown_together():
    """Of two identical rows at most one is a card."""
    twice = np.repeat(X[::3], 2, axis=0)
    session = Session(twice, method="adder", random_state=0)
    for _ in range(6):
        board = session.board(6)
        assert len({row // 2 for row in board.cards}) == len(board.cards)
        session.sort(board, [[row] for row in board.cards])


def test_the_components_with_the_largest_gains_are_chosen_together():
    gain = np.zeros((5, 5))
    for a, b, worth in ((0, 1, 3.0), (1, 2, 2.0), (3, 4, 1.0)):
        gain[a, b] = gain[b, a] = worth
    board = board_of_components([10, 11, 12, 13, 14], gain, np.array([1, 5, 1, 1, 1]), 6)
    assert board.piles == (11,)
    assert set(board.cards) == {10, 12}


@pytest.mark.parametrize("n_answered", [[4, 5], [1, 1]])
def test_there_is_always_a_card(n_answered):
    gain = np.array([[0.0, 1.0], [1.0, 0.0]])
    board = board_of_components([7, 8], gain, np.array(n_answered), 6)
    assert board.cards
    assert {*board.cards, *board.piles} == {7, 8}


def test_a_split_asks_inside_the_cluster():
    session = Session(X, method="adder", random_state=0)
    for _ in range(8):
        sort_right(session)
    before = session.labels_.copy()
    session.split(1)
    pair = session.ask()
    assert {int(session.labels_[i]) for i in pair} == {1}
    session.undo()
    np.testing.assert_array_equal(session.labels_, before)
