"""A board as the page shows it: whole cards, and piles with a few of their members."""

from __future__ import annotations

from collections import defaultdict

from cobras.core.board import Board
from cobras.data.dataset import columns_by_range
from cobras.web.api import models
from cobras.web.cards import COLUMNS
from cobras.web.context import Context
from cobras.web.view import View

WORDS = "Which of these belong together?"
N_MEMBERS = 4  # of a pile that are shown


def board_model(context: Context, view: View, board: Board | None) -> models.BoardModel:
    """Return a board with its cards, which tell no cluster, and its piles, each with its cluster and members."""
    cards, rows = context.cards, [] if board is None else list(board.cards)
    columns, unused = columns_by_range(cards.dataset, rows)
    found = [] if board is None else piles(context, view, board)
    items = [cards.item(row) for row in rows]
    if cards.kind == "table":
        # On piles the values stand in the order of the cards, since their columns are not named there.
        for item in (*items, *(member for pile in found for member in pile.members)):
            item.text = cards.line(item.i, columns)
    return models.BoardModel(
        run=context.live.run,
        version=view.versions.session,
        words=WORDS,
        cards=items,
        piles=found,
        columns=columns[:COLUMNS],
        unused=unused[:COLUMNS],
    )


def piles(context: Context, view: View, board: Board) -> list[models.Pile]:
    """The piles of a board, with those of their members first that the person called the same."""
    homes, names, linked = view.clusters_of(board.piles), dict(view.names), links(view)
    return [
        models.Pile(
            row=row,
            cluster=view.ids[homes[row]],
            colour=view.colours[homes[row]],
            name=names.get(homes[row], ""),
            members=[context.cards.thumbnail(i).model_copy() for i in component(linked, row, N_MEMBERS)],
        )
        for row in board.piles
    ]


def links(view: View) -> dict[int, list[int]]:
    """The rows that each row is linked with, as the person said."""
    found = defaultdict(list)
    for i, j in () if view.constraints is None else view.constraints.must_link.tolist():
        found[i].append(j)
        found[j].append(i)
    return found


def component(linked: dict[int, list[int]], row: int, n: int) -> list[int]:
    """The row and at most n - 1 others that are linked with it, the nearest first."""
    found = [row]
    for at in found:
        found += [other for other in dict.fromkeys(linked.get(at, ())) if other not in found]
        if len(found) >= n:
            break
    return found[:n]
