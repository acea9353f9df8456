"""Boards in the terminal: what a line says, and the conversation."""

from __future__ import annotations

import io
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from cobras.cli.terminal import UNICODE
from cobras.cli.terminal.grouping import (
    BoardLoop,
    check_sortable,
    groups_of,
    in_order_of_ids,
    pile_titles,
    render_board,
)
from cobras.cli.terminal.keys import END, Keys
from cobras.core.board import Board
from cobras.core.exceptions import InvalidDataError
from cobras.data import load_demo, read_dataset
from cobras.session.session import Session
from tests.cli.terminal import Talk
from tests.cli.terminal.test_terminal import Opener, n_answers, pexpect, terminal

__all__ = ["terminal"]  # a fixture

boards = st.builds(
    lambda cards, piles: Board(range(100, 100 + cards), range(piles)), st.integers(1, 9), st.integers(0, 8)
)


@given(board=boards, data=st.data())
def test_a_line_says_who_is_with_whom(board: Board, data: st.DataObject) -> None:
    """Two cards are in one group if their entries are the same number; a card is with the pile of its number."""
    entry = st.sampled_from([*map(str, range(1, 12)), "n", "N", "-"])
    entries = [data.draw(entry) for _ in board.cards]
    groups = groups_of(data.draw(st.sampled_from([" ", ", ", "  "])).join(entries), board)
    board.check(groups)  # no row twice, none from elsewhere
    home = {row: number for number, group in enumerate(groups) for row in group}
    for card, said in zip(board.cards, entries, strict=True):
        assert (card in home) == (said != "-")
        for other, also in zip(board.cards, entries, strict=True):
            if card != other and card in home and other in home:
                assert (home[card] == home[other]) == (said == also and said.isdigit())
        for number, pile in enumerate(board.piles, 1):
            assert (card in home and home[card] == home.get(pile)) == (said == str(number))
    if all(len(said) == 1 for said in entries):
        assert groups_of("".join(entries), board) == groups


def test_piles_can_be_put_together() -> None:
    board = Board((10, 11), (1, 2, 3))
    assert groups_of("- 3 1=2", board) == [[1, 2], [3, 11]]
    assert groups_of("3 4 1=2=3", board) == [[1, 2, 3, 10], [11]]
    assert groups_of("1 2 1=2 2=1", board) == [[1, 10, 2, 11]]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("1", "2 in all, not 1"),
        ("1 2 3", "2 in all, not 3"),
        ("1 x", "not 'x'"),
        ("0 1", "not '0'"),
        ("1 ²", "not '²'"),
        ("1 1 1=9", "There is no pile '9'"),
        ("1 1 =", "There is no pile ''"),
    ],
)
def test_a_wrong_line(line: str, says: str) -> None:
    with pytest.raises(InvalidDataError, match=says):
        groups_of(line, Board((10, 11), (1,)))


@pytest.fixture
def talk(flowers: Path) -> Talk:
    return Talk(BoardLoop, flowers, method="cobras", random_state=0)


def test_sort_undo_redo_and_resume(talk: Talk) -> None:
    with Session(talk.dataset.X, "cobras", random_state=0) as twin:
        first = twin.board()
        twin.sort(first, groups_of("1 1 2 - n 2", first))
        second = twin.board()
    text = talk("1 1 2 - n 2\n")
    assert "Saved: 1 1 2 - n 2." in text
    assert [record.groups for record in talk.history] == [tuple(map(tuple, groups_of("112-n2", first)))]
    assert "Taken back" not in talk("u\n")  # unsure, where pairs are asked
    assert talk("z\nr\nz\n").count("Taken back: a board of 6 cards.") == 2
    assert talk.history == ()
    assert "There is nothing to undo." in talk("z\n")
    text = talk("r\n")
    assert "Brought back: a board of 6 cards." in text
    shown = text.split("Brought back")[1]
    for row in second.cards:
        assert f"f{row:02}" in shown
    assert "secret" not in text


def test_help_mistakes_and_the_end(talk: Talk) -> None:
    text = talk("?\n1 2\n\nq\n1 1 1 1 1 1\n")
    assert "one entry for each card" in text
    assert "One entry for each card is needed, 6 in all, not 2." in text
    assert talk.history == ()
    assert "as many as --max-queries allows" in talk("1 2 3 4 5 6\n", max_queries=1)
    assert talk("z\n?\n", encoding="ascii").isascii()


class Person(Keys):
    """Knows the labels, and types what they say about the board or the pair."""

    def __init__(self, session: Session, labels: list[str]) -> None:
        self.session, self.labels, self.n_lines = session, labels, 0
        self.shown: list[list[int]] = []  # the clusters of the piles of each board

    def read(self) -> str:
        pair = self.session.ask()
        return END if pair is None else "yn"[self.labels[pair.i] != self.labels[pair.j]]

    def read_line(self) -> str:
        board = in_order_of_ids(self.session, self.session.board())
        ids = self.session.cluster_ids_
        self.shown.append([ids[number] for number in self.session.clusters_of(board.piles).values()])
        kinds = [self.labels[row] for row in (*board.piles, *board.cards)]
        self.n_lines += 1
        if self.n_lines > 100:
            return END
        joins = [f"{kinds.index(kind) + 1}={k}" for k, kind in enumerate(kinds[: len(board.piles)], 1)]
        return " ".join([*(str(kinds.index(self.labels[card]) + 1) for card in board.cards), *joins])


def test_until_nothing_is_left(talk: Talk) -> None:
    """Where no board can be made, the pair is asked. Of two piles, the older cluster has the smaller number."""
    console = Console(file=io.StringIO(), width=80)
    with Session(talk.dataset.X, "cobras", random_state=0) as session:
        person = Person(session, talk.dataset.labels.tolist())
        BoardLoop(talk.dataset, session, console, person, talk.file).run("")
        assert session.ask() is None
        assert person.n_lines >= 3
        assert max(map(len, person.shown)) > 1
        assert all(ids == sorted(ids) for ids in person.shown)
    assert "Nothing is left worth asking." in console.file.getvalue()


def test_a_table_shows_the_columns_that_differ_most(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = np.c_[np.full(20, 5.0), rng.random(20)]
    text = "shown but not compared although it differs in each row: number"
    rows = [f"{k},{text} {k},{a},{b:.4f}" for k, (a, b) in enumerate(X)]
    lines = ["id,remark,same,other", *(f"r{row}" for row in rows), "rx,a remark of its own,6,0.5"]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    data = read_dataset(tmp_path / "a.csv")
    console = Console(width=60, color_system=None)
    board = Board((1, 2, 3), (4,))
    card = render_board(data, board, ["roses"], UNICODE, width=60, height=20)
    head, *lines = ["".join(part.text for part in line) for line in console.render_lines(card)]
    assert head.split() == ["other", "same", "remark"]
    assert [line.split()[0] for line in lines if line.strip()] == ["1", "A", "B", "C"]
    assert "roses" in lines[0]


def test_pictures_are_for_the_page() -> None:
    with pytest.raises(InvalidDataError, match="cobras serve"):
        check_sortable(load_demo())


def test_a_board_in_a_terminal(terminal: Opener, flowers: Path) -> None:
    """Typing with a slip, undo, a kill, and going on where it stopped."""
    with terminal(flowers, "--label", "species", "--seed", "1", "--board") as child:
        child.send("1 1 2 - 34\x7f 3\n")
        child.expect_exact("Saved: 1 1 2 - 3 3.")
        child.expect_exact("help")
        child.send("z\n")
        child.expect_exact("Taken back: a board")
        child.expect_exact("help")
        child.send("123-n1\n")
        child.expect_exact("Saved: 123-n1.")
        child.expect_exact("help")
        child.send("11")  # not sent yet
        child.kill(signal.SIGKILL)
        child.wait()
    assert n_answers(flowers) == 1
    with terminal(flowers, "--board") as child:
        assert "Resumed: 1 answer" in child.before
        child.send("q\n")
        child.expect(pexpect.EOF)
        child.wait()
    assert child.exitstatus == 0


def test_piles_are_called_by_their_cluster_or_row_and_never_by_a_number_of_a_cluster(tmp_path):
    path = tmp_path / "flowers.csv"
    path.write_text("id,x\nrose,1\nlily,2\nivy,3\nfern,4\n")
    titles = pile_titles(read_dataset(path), (0, 2, 3), {0: 4, 2: 1, 3: 4}, {1: "climbers"})
    assert titles == ["id rose", "climbers", "id fern (=1?)"]
