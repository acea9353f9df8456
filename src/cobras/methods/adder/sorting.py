"""Which rows a person is shown together to be sorted: cards to be placed, and the piles that they may belong to.

The cards are chosen one after another by the same scores as single questions. A card takes away from the score of
what lies around it, so that cards which would teach the same are not shown together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cobras.core.board import MOST_PILES, Board
from cobras.core.types import FloatArray, IndexArray
from cobras.methods.adder.points import Points
from cobras.methods.adder.predictors import KnownPoints


def board_of_components(roots: list[int], gain: FloatArray, n_answered: IndexArray, n_cards: int) -> Board:
    """The components whose relations, all taken together, put most pairs of instances right.

    Those with several answered instances are piles, if there are any cards for them.
    """
    first = int(gain.sum(axis=1).argmax())
    chosen = [first]
    while len(chosen) < min(n_cards + MOST_PILES, len(roots)):
        worth = gain[chosen].sum(axis=0)
        worth[chosen] = -1
        best = int(worth.argmax())
        is_card = n_answered[best] < 2
        full = sum(n_answered[x] < 2 for x in chosen) >= n_cards if is_card else False
        if worth[best] <= 0 or full:
            break
        chosen.append(best)
    cards = [x for x in chosen if n_answered[x] < 2][:n_cards]
    piles = [x for x in chosen if n_answered[x] >= 2][:MOST_PILES]
    if not cards:
        # Large components only: the smaller ones are the cards.
        piles.sort(key=lambda x: -int(n_answered[x]))
        cards, piles = piles[1 : 1 + n_cards], piles[:1]
    return Board(tuple(roots[x] for x in cards), tuple(roots[x] for x in piles))


def with_pair(board: Board, pair: tuple[int, int], component: Callable[[int], int], n_cards: int) -> Board:
    """A board that compares these two as well: one is a card, the other a pile."""
    card, pile = pair
    theirs = {component(card), component(pile)}
    cards, piles = (
        [row for row in rows if component(row) not in theirs] for rows in (board.cards, board.piles)
    )
    return Board((card, *cards[: n_cards - 1]), (pile, *piles[: MOST_PILES - 1]))


def board_of_instances(
    points: Points, known: KnownPoints, seeds: list[int], p: FloatArray, score: FloatArray, n_cards: int
) -> Board:
    """The instances around which the prediction is most uncertain, and the clusters that they may belong to."""
    score, cards = score.copy(), list[int]()
    while len(cards) < n_cards and score.max() > 0:
        best = int(score.argmax())
        cards.append(best)
        near = points.columns("near", np.array([best]))[:, 0]
        score *= 1 - near / near[best]
        score[best] = -1
    if not cards:
        return Board(())
    likely = p[cards].sum(axis=0)
    distance = points.columns("distance", known.points, np.array(cards)).min(axis=0)
    piles = []
    for cluster in np.argsort(-likely, kind="stable")[:MOST_PILES].tolist():
        # Each cluster is shown by the known instance that is nearest to one of the cards.
        members = np.flatnonzero((known.clusters == cluster) & known.is_answered)
        if len(members):
            piles.append(seeds[int(members[distance[members].argmin()])])
    return Board(tuple(points.instance[cards].tolist()), tuple(piles))
