"""Boards: made from the next questions, or by the method; sorted as one answer."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from cobras import (
    Answer,
    Board,
    InconsistentAnswersError,
    InvalidDataError,
    LabelOracle,
    Pair,
    Partition,
    Reconsider,
    Session,
    StaleQuestionError,
    Step,
    run,
)

X, y = load_iris(return_X_y=True)


def true_groups(board):
    rows = [*board.cards, *board.piles]
    return [[row for row in rows if y[row] == label] for label in range(3)]


@pytest.mark.parametrize("method", ["cobras", "cobra", "adder"])
def test_pairs_and_boards_are_mixed(method):
    session = Session(X, method, random_state=0)
    for n in range(12):
        if n % 2 and (board := session.board()) is not None:
            session.sort(board, true_groups(board))
        elif (pair := session.ask()) is not None:
            session.tell(y[pair.i] == y[pair.j], pair)
    assert session.n_answers == len(session.partitions) - 1
    assert {r.kind for r in session.history} == {"answer", "board"}
    assert all(np.array_equal(session.labels_at(n), p.labels) for n, p in enumerate(session.partitions))
    assert session.progress.n_answers == session.n_answers


def test_a_board_answers_the_open_question():
    session = Session(X, random_state=0, method="cobras")
    pair, board = session.ask(), session.board()
    assert {*pair} <= {*board.cards, *board.piles}
    session.sort(board, true_groups(board))
    assert session._replay.constraints.relation(*pair) is not None
    assert session._replay.constraints.volunteered == set()
    assert session.undo().text == f"a board of {len(board.cards)} cards"
    assert (session.ask(), session.board()) == (pair, board)


def test_a_late_or_second_board_is_refused():
    session = Session(X, random_state=0, method="cobras")
    board = session.board()
    session.name(0, "all")  # changes no question
    session.sort(board, true_groups(board))
    with pytest.raises(StaleQuestionError, match="Call board"):
        session.sort(board, true_groups(board))
    late = session.board()
    session.tell(None, session.ask())
    with pytest.raises(StaleQuestionError):
        session.sort(late, true_groups(late))
    with pytest.raises(StaleQuestionError):
        session.sort(Board((1, 2)), [])
    with pytest.raises(InvalidDataError, match=r"as board\(\) returns it"):
        session.sort([1, 2], [])


def test_a_board_is_good_in_a_resumed_session(tmp_path):
    with Session.open(tmp_path / "s.cobras", X, random_state=0, method="cobras") as session:
        session.tell(False, session.ask())
        board = session.board()
    with Session.open(tmp_path / "s.cobras", X) as session:
        session.sort(board, true_groups(board))
    with Session.open(tmp_path / "s.cobras", X) as session:
        assert session.history[1].groups == tuple(map(tuple, filter(None, true_groups(board))))
        assert session.n_answers == 2


def test_cards_left_out_are_unsure_and_are_not_asked_again():
    session = Session(X[:30], random_state=0, method="cobras")
    seen = set()
    while (board := session.board()) is not None:
        session.sort(board, [])
        assert session.ask() is None or session.ask().ordered not in seen
        seen |= {Pair(*pair).ordered for pair in session.set_aside}
        assert session.n_answers < 500
    assert len(session.constraints().must_link) == 0


def test_cards_left_out_do_not_come_back_on_the_next_boards():
    session = Session(X, random_state=0, method="adder")
    left_out = set()
    for _ in range(8):
        board = session.board()
        assert not left_out & {*board.cards}
        left_out |= {*board.cards[::2]}
        session.sort(board, [[row for row in group if row not in left_out] for group in true_groups(board)])
    assert len(left_out) > 12


def test_a_grouping_that_contradicts_is_refused_with_the_chain():
    session = run(
        Session(X, random_state=0, method="cobras"), LabelOracle(y), until=lambda s: s.n_answers >= 10
    )
    while True:
        board = session.board()
        relation = session._replay.constraints.relation
        rows = [(c, i) for c in board.cards for i in (*board.cards, *board.piles) if i != c]
        apart = [pair for pair in rows if relation(*pair) is Answer.DIFFERENT]
        if apart:
            break
        session.sort(board, true_groups(board))
    before = session.history
    with pytest.raises(InconsistentAnswersError) as caught:
        session.sort(board, [list(apart[0])])
    assert caught.value.chain
    assert session.history == before
    assert session.board() is board


def test_the_preview_of_a_board_is_what_comes():
    session = run(
        Session(X, random_state=0, method="cobras"), LabelOracle(y), until=lambda s: s.n_answers >= 6
    )
    board = session.board()
    groups = true_groups(board)
    preview, following = session.after_sort(board, groups), session.board_after(board, groups)
    assert session.n_answers == 6
    session.sort(board, groups)
    np.testing.assert_array_equal(preview.partition.labels, session.labels_)
    assert following() == session.board()


def by_proposal(space, constraints, seed):
    """Proposes its own boards: three rows in turn, of which the first may be known."""
    whole, n = Partition.of([(space.root(seed),)]), 0
    while True:
        try:
            open_pairs = [(0, i) for i in range(1, space.n) if constraints.relation(0, i) is None]
            pair = Pair(*open_pairs[0]) if open_pairs else None
            n += 1
            yield Step(pair, whole, lambda n_cards: Board(tuple(range(1, n_cards + 1)), (0,)))
        except Reconsider:
            continue


def test_a_method_proposes_its_own_board_and_implied_cards_are_left_out():
    session = Session(X[:12], by_proposal, random_state=0)
    assert session.board(3) == Board((1, 2, 3), (0,))
    session.sort(session.board(3), [[0, 1], [2]])
    # 1 and 2 are known; of 3, which was unsure, nothing is.
    assert session.board(3) == Board((1, 2, 3), (0,)) or session.board(3).cards == (3,)
    session.add_constraint(0, 3, Answer.SAME)
    # Nothing of the proposed board is open any more: one is made from the next questions.
    assert session.board(3).cards[0] == 4


def test_numbers_of_cards():
    session = Session(X, random_state=0, method="cobras")
    assert len(session.board(1).cards) == 1
    assert len(session.board(1).piles) == 1
    assert len(session.board(6).cards) <= 6
    with pytest.raises(InvalidDataError, match="one card or more, not 0"):
        session.board(0)
    with pytest.raises(InvalidDataError, match="whole number"):
        session.board("six")
    assert Session([[0.0]], method="cobras").board() is None
