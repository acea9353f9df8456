"""The loop of `ask --board`: some cards and numbered piles, a line that says where each card belongs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cobras.cli.terminal import Glyphs, cut_text, height_of, printable, wrap_text
from cobras.cli.terminal.keys import END, REDRAW
from cobras.cli.terminal.loop import AskLoop
from cobras.cli.terminal.pairs import cell_text, item_title
from cobras.core.board import Board
from cobras.core.exceptions import CobrasError, DataChangedError, InvalidDataError, SessionFileError
from cobras.data import Dataset, Row
from cobras.data import Text as CardText
from cobras.data.dataset import columns_by_range
from cobras.session.session import Session

N_CARDS = 6
LETTERS = "ABCDEFGHIJKL"
QUESTION = "Which of these belong together?"
LEGEND = (
    ("1 1 2 - n", "a pile for each card, then Enter"),
    ("z", "undo"),
    ("r", "redo"),
    ("q", "quit"),
    ("?", "help"),
)
HELP = """\
Type one entry for each card, A first, and press Enter: 1 1 2 - 3
1 2 3 ...   the number of a pile; a number that no pile has is a new pile
n           a new pile for this card alone
-           you cannot tell
1=3         after the entries: piles 1 and 3 belong together; without that,
            a card on one of them is different from the other
z           take the last board back; again for the one before
r           bring back what was taken back
q  Ctrl-C   stop; go on later with the same command
Blanks may be left out where every entry is one character: 112-3
Every board is on disk before the next one appears."""


def check_sortable(dataset: Dataset) -> None:
    """Refuse items of which a terminal cannot show several at once."""
    if not isinstance(dataset.show(0), Row | CardText):
        raise InvalidDataError(
            "--board shows texts and tables in the terminal; for pictures and series use cobras serve."
        )


def groups_of(line: str, board: Board) -> list[list[int]]:
    """Return the rows that belong together, from one entry for each card.

    Examples
    --------
    >>> groups_of("1 1 2 - n", Board((10, 11, 12, 13, 14), (3,)))
    [[3, 10, 11], [12], [14]]
    >>> groups_of("1 3 1=2", Board((10, 11), (3, 4)))
    [[3, 10, 4], [11]]
    """
    words = re.split(r"[\s,;]+", line.strip())
    joins, entries = [word for word in words if "=" in word], [word for word in words if "=" not in word]
    if len(entries) == 1 and len(board.cards) > 1:
        entries = list(entries[0])
    if len(entries) != len(board.cards):
        raise InvalidDataError(
            f"One entry for each card is needed, {len(board.cards)} in all, not {len(entries)}."
        )
    piles: dict[str, list[int]] = {str(number): [row] for number, row in enumerate(board.piles, 1)}
    for entry, card in zip(entries, board.cards, strict=True):
        if entry.lower() == "n":
            piles[f"n {card}"] = [card]
        elif entry.isascii() and entry.isdigit() and int(entry) > 0:
            piles.setdefault(str(int(entry)), []).append(card)
        elif entry != "-":
            raise InvalidDataError(f"An entry is the number of a pile, n or -, not {printable(entry)!r}.")
    for join in joins:
        first, *others = join.split("=")
        if unknown := [number for number in (first, *others) if number not in piles]:
            raise InvalidDataError(
                f"There is no pile {printable(unknown[0])!r} to be put together as {join}."
            )
        for other in others:
            if piles[other] is not piles[first]:
                piles[first] += piles[other]
                piles |= dict.fromkeys([n for n in piles if piles[n] is piles[other]], piles[first])
    every = {id(rows): rows for rows in piles.values()}.values()
    return [rows for rows in every if len(rows) > 1 or rows[0] in board.cards]


def render_board(
    dataset: Dataset, board: Board, names: Sequence[str], glyphs: Glyphs, *, width: int, height: int
) -> RenderableType:
    """Return piles and cards, a line or more for each, in at most about `height` lines."""
    heads = [*(f"{number}" for number in range(1, len(board.piles) + 1)), *LETTERS[: len(board.cards)]]
    rows = [*board.piles, *board.cards]
    titles = [*names, *(item_title(dataset, row) for row in board.cards)]
    left = min(width // 3, max(map(cell_len, titles)))
    grid = Table.grid(padding=(0, 2, 0, 0))
    for size in (2, left):
        grid.add_column(width=size, no_wrap=True)
    contents, table_head = _contents(dataset, rows, glyphs, width - left - 6, height)
    for _ in contents[0]:
        grid.add_column(overflow="fold")
    if table_head:
        grid.add_row("", "", *(Text(name, "dim") for name in table_head))
    for k, (head, title, cells) in enumerate(zip(heads, titles, contents, strict=True)):
        if k == len(board.piles) and k:
            grid.add_row("")
        name = Text(cut_text(title, left, 1, glyphs), "dim")
        grid.add_row(Text(head, "bold"), name, *map(Text, cells))
    return grid


def _contents(
    dataset: Dataset, rows: list[int], glyphs: Glyphs, width: int, height: int
) -> tuple[list[list[str]], list[str]]:
    """The cells of each row, and the names above them; of a table the columns that differ most and fit."""
    cards = [dataset.show(row) for row in rows]
    if isinstance(cards[0], CardText):
        depth = max(1, min(4, (height - 1) // len(rows)))
        texts = [printable(card.text) for card in cards if isinstance(card, CardText)]
        lines = [wrap_text(text, text, width, depth, glyphs) for text in texts]
        return [["\n".join(line.plain for line in text)] for text in lines], []
    values = [card.values for card in cards if isinstance(card, Row)]
    shown: list[list[str]] = []
    for name in chain(*columns_by_range(dataset, rows)):
        column = [printable(name), *(cell_text(row[name], glyphs) for row in values)]
        column = [cut_text(text, 24, 1, glyphs) for text in column]
        room = max(map(cell_len, column)) + 2
        if room > width and shown:
            continue
        shown.append(column)
        width -= room
    return [list(cells) for cells in zip(*(column[1:] for column in shown), strict=True)], [
        c[0] for c in shown
    ]


def in_order_of_ids(session: Session, board: Board) -> Board:
    """The board with its piles by the ids of their clusters, so that numbers change little from board to board."""
    homes, ids = session.clusters_of(board.piles), session.cluster_ids_
    return Board(board.cards, tuple(sorted(board.piles, key=lambda row: ids[homes[row]])))


def pile_titles(
    dataset: Dataset, piles: Sequence[int], homes: Mapping[int, int], names: Mapping[int, str]
) -> list[str]:
    """Return what piles are called: by the name of their cluster, or by their row where it has none.

    The number of a cluster would be taken for that of a pile. Of two piles in one cluster, the second says so.
    """
    titles = []
    for place, row in enumerate(piles):
        twins = [number for number, other in enumerate(piles[:place], 1) if homes[other] == homes[row]]
        title = printable(names.get(homes[row]) or item_title(dataset, row))
        titles.append(f"{title} (={twins[0]}?)" if twins else title)
    return titles


class BoardLoop(AskLoop):
    """Ask by boards; a pair comes only where no board can be made."""

    typed = ""  # what stands on the line at the moment

    def _turn(self, message: RenderableType, *, first: bool = False) -> RenderableType | None:
        board = None if self._open_pair() is None else self.session.board(N_CARDS)
        if board is None:
            return super()._turn(message, first=first)
        self.progress = self.session.progress
        if first:
            self.keys.forget()
        self._draw_board(message, in_order_of_ids(self.session, board), self.redraws and not first)
        if self.keys.live:
            self.thinker.begin(self.session, board=board)
        line = self._read_line()
        if line in (END, "q", "Q"):
            return None
        return message if line in (REDRAW, "") else self._sort(line, board)

    def _read_line(self) -> str:
        if not self.keys.live:
            return self.keys.read_line()
        write = self.console.file
        while (key := self.keys.read()) not in (END, REDRAW):
            if key in ("\n", "\r"):
                line, self.typed = self.typed.strip(), ""
                return line
            if key == "backspace" and self.typed:
                self.typed = self.typed[:-1]
                write.write("\b \b")
            elif len(key) == 1 and key.isascii() and key.isprintable():
                self.typed += key
                write.write(key)
            write.flush()
        return key

    def _sort(self, line: str, board: Board) -> RenderableType:
        """Do what a line says, and return a line about it."""
        try:
            match line.lower():
                case "z":
                    return self._done(f"Taken back: {self.session.undo().text}.")
                case "r":
                    return self._done(f"Brought back: {self.session.redo().text}.")
                case "?" | "help":
                    return Text(HELP)
            self.session.sort(board, groups_of(line, in_order_of_ids(self.session, board)))
            return self._done(f"Saved: {line}.")
        except (DataChangedError, SessionFileError):
            raise  # going on would be pointless: no answer can be kept
        except CobrasError as error:
            return Text(str(error))

    def _draw_board(self, message: RenderableType, board: Board, clear: bool) -> None:
        console = self.console
        above = Group(message, "", Text(QUESTION, "bold"), "")
        below = Group(
            "",
            self._state(),
            Text("  ").join(Text.assemble((key, "bold"), f" {word}") for key, word in LEGEND),
        )
        room = console.height if console.is_terminal else 40
        homes, names = self.session.clusters_of(board.piles), self.session.names
        titles = pile_titles(self.dataset, board.piles, homes, names)
        size = {"width": console.width, "height": max(4, room - height_of(console, above, below) - 2)}
        if clear:
            console.clear()
        console.print(above)
        console.print(render_board(self.dataset, board, titles, self.glyphs, **size))
        console.print(below)
        if self.keys.live:
            console.file.write(f"> {self.typed}")
        console.file.flush()
