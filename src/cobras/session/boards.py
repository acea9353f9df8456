"""The board that is shown in place of a pair: that of the method, or one made from the questions that come next.

The rows of the next questions, if every answer were DIFFERENT or every one SAME, are the cards. Those that belong
to a known cluster are piles, and so are other known clusters that may be theirs, the nearest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest

import numpy as np

from cobras.core.board import MOST_PILES, Board
from cobras.core.constraints import Constraints
from cobras.core.partition import Partition, SuperInstance
from cobras.core.types import Answer, Pair
from cobras.session.acts import KnownRows
from cobras.session.entries import Entry
from cobras.session.history import History
from cobras.session.replay import Replay, Setting
from cobras.spaces.base import RemoteSpace, Space


def next_board(
    setting: Setting,
    history: History,
    replay: Replay,
    space: Space,
    n_cards: int,
    homes: dict[int, SuperInstance] | None = None,
) -> Board | None:
    """The board in place of the open question; None if there is none, or if it is implied.

    `homes` is the memo of `Partition.clusters_of`.
    """
    constraints, pair = replay.constraints, replay.step.pair
    if pair is None:
        return None
    if replay.step.board is not None:
        proposed = without_implied(constraints, replay.step.board(n_cards))
        # One that was sorted before, with nothing but unsure cards, would come again and again.
        if proposed is not None and not is_set_aside(constraints, proposed):
            return proposed
    if constraints.relation(*pair) is not None:
        return None
    pairs = chain([pair], questions(setting, history, n_cards))
    cards, piles = cards_and_piles(constraints, pairs, n_cards)
    piles = nearest_piles(space, replay.partition, constraints, cards, piles, homes)
    return without_implied(constraints, Board(tuple(cards), tuple(piles)))


def questions(setting: Setting, history: History, count: int) -> Iterator[Pair]:
    """The questions that would come after the open one, if all answers were DIFFERENT, or if all were SAME."""

    def after(answer: Answer) -> Iterator[Pair]:
        # Two runs of the method, not one for each sequence of answers: a replay takes longer than many answers.
        replay = Replay(setting, history)
        for _ in range(count):
            if replay.step.pair is None or replay.constraints.relation(*replay.step.pair) is not None:
                return
            replay.feed([Entry.of_answer(replay.step.pair, answer)])
            if replay.step.pair is not None:
                yield replay.step.pair

    for pairs in zip_longest(after(Answer.DIFFERENT), after(Answer.SAME)):
        yield from (pair for pair in pairs if pair is not None)


def cards_and_piles(
    constraints: Constraints, pairs: Iterable[Pair], n_cards: int
) -> tuple[list[int], list[int]]:
    """The rows of some questions, as cards to be placed and as piles, of no component more than one."""
    known, here = set(constraints.rows()), set[int]()
    cards: list[int] = []
    piles: list[int] = []

    def put(row: int, on: list[int]) -> None:
        component = constraints.component(row)
        if component not in here:
            here.add(component)
            on.append(row)

    for pair in pairs:
        if len(cards) >= n_cards:
            break
        if constraints.relation(*pair) is not None:
            continue
        # The one of which less is known is the card.
        card, other = sorted(pair, key=lambda row: len(constraints.members(row)) if row in known else 0)
        put(card, cards)
        put(other, piles if other in known or len(cards) >= n_cards else cards)
    return cards, piles


def nearest_piles(
    space: Space,
    partition: Partition,
    constraints: Constraints,
    cards: list[int],
    piles: list[int],
    homes: dict[int, SuperInstance] | None,
) -> list[int]:
    """At most eight known clusters that may be those of the cards, nearest first; the first pile is kept."""
    here = {constraints.component(row) for row in (*cards, *piles)}
    known = KnownRows(partition, constraints, homes)
    rows = list(piles)
    for row in (next(known.main(cluster)) for cluster in known.clusters):
        if constraints.component(row) not in here:
            here.add(constraints.component(row))
            rows.append(row)
    rows = [row for row in rows if any(constraints.relation(row, card) is None for card in cards)]
    # What lies on other machines has no place here by which it could be compared.
    if len(rows) > 1 and not isinstance(space, RemoteSpace):
        places = partition.super_instances_of([*cards, *rows], homes)
        between = space.distances([places[row] for row in cards], [places[row] for row in rows])
        rows = [rows[x] for x in np.argsort(between.min(axis=0), kind="stable")]
    if piles and piles[0] in rows[MOST_PILES:]:
        rows[MOST_PILES - 1] = piles[0]
    return rows[:MOST_PILES]


def is_set_aside(constraints: Constraints, board: Board) -> bool:
    """Whether every pair of a board that is not known was answered by unsure."""
    pairs = [pair for pair, _ in board.pairs([]) if constraints.relation(*pair) is None]
    return all(pair.ordered in constraints.set_aside for pair in pairs)


def without_implied(constraints: Constraints, board: Board) -> Board | None:
    """The board without cards whose relation to all others is known, and without piles that none can be on."""
    cards, piles = list(board.cards), list(board.piles)
    relation = constraints.relation
    while True:
        open_cards = [
            card for card in cards if any(card != x and relation(card, x) is None for x in (*cards, *piles))
        ]
        open_piles = [pile for pile in piles if any(relation(pile, card) is None for card in open_cards)]
        if (open_cards, open_piles) == (cards, piles):
            return Board(tuple(cards), tuple(piles)) if cards else None
        cards, piles = open_cards, open_piles
