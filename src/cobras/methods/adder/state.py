"""The next question, chosen by what is known: a pair, or a board of rows to be sorted.

The cards of a board are chosen one after another by the same scores as single questions. A card takes away from the
score of what lies around it, so that cards which would teach the same are not shown together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np

from cobras.core.board import MOST_PILES, Board
from cobras.core.types import Answer, FloatArray, IndexArray, Pair
from cobras.methods.adder.clustering import Clustering
from cobras.methods.adder.geometry.points import Points
from cobras.methods.adder.mixture import entropy
from cobras.methods.adder.predictors import KnownPoints
from cobras.methods.adder.recheck import Recheck, answers_to_recheck
from cobras.methods.adder.similarity import OPEN
from cobras.methods.protocol import N_TRIES
from cobras.methods.reasons import Scope
from cobras.spaces.base import digest

SURE = 0.5  # a row that was added is asked about first if it is less sure of its cluster
MOST_NEW = 8  # of them, after each time that rows were added


class State(Clustering):
    """What is known, and what to ask next: two components, or the place of an instance, or an answer again."""

    def may_ask_about(self, instance: int) -> bool:
        """Whether it is in no complete cluster and, in a pure one, has been asked about before."""
        point = self.points.of([instance])[0]
        return not self._in_complete()[point] and (
            instance in self.seeds() or not self._marks.inside()[point]
        )

    def most_uncertain(self) -> int | None:
        """The instance around which the prediction is most uncertain; None when all have been tried."""
        return self._most_uncertain()[0]

    def most_uncertain_new_row(self) -> int | None:
        """The most uncertain of the rows that were added last; None if their places are sure."""
        out = {*self.tried, *self.seeds()}
        if self._n_placed >= MOST_NEW or not (rows := [i for i in self._new if i not in out]):
            return None
        score = self._uncertainty(self.points.of(sorted(out)))
        score[self._prediction().p.max(axis=1) >= SURE] = -1
        at = self.points.of(rows)
        best = at[int(score[at].argmax())]
        if score[best] < 0:
            return None
        self._n_placed += 1
        return int(self.points.instance[best])

    def _most_uncertain(self) -> tuple[int | None, float]:
        out = self.points.of(sorted({*self.tried, *self.seeds()}))

        def make() -> tuple[int | None, float]:
            p, marked, score = self._prediction().p, self._marks.inside(), self._uncertainty(out)
            best = int(score.argmax())
            if score[best] < 0:
                return None, 0.0
            # What is put right: the wrong instances around it, each in as many pairs as a cluster has instances.
            wrong = self.points.amount_around(np.where(marked, 0, 1 - p.max(axis=1)))[best]
            size = self.points.weight @ p
            mean_size = float((size**2).sum() / size.sum())
            return int(self.points.instance[best]), float(wrong * mean_size)

        return self._memoise(make, "next", digest(out))

    def _uncertainty(self, out: IndexArray) -> FloatArray:
        """How uncertain the prediction is around each point; -1 for those that must not be asked about."""
        known, p, *_ = self._prediction()
        marked = self._marks.inside()
        # Divided by the cover, so that questions do not return to where answers are near.
        uncertain = np.where(marked, 0, entropy(p) + self._options.calm)
        score = self.points.amount_around(uncertain) / (1 + self.points.cover(known.points))
        score[~self.points.may_show | marked] = -1
        score[out] = -1
        return score

    def board(self, n_cards: int) -> Board:
        """Rows to be sorted at once: components to be compared, or instances to be placed."""
        seeds, known = self.seeds(), self._known()
        # What was left out of a board, and of which nothing is known since, does not come back.
        left_out = {i for pair in self.constraints.set_aside for i in pair} - self.answered_instances()
        gain, two = self._best_pair()
        if two is not None and gain > self._most_uncertain()[1]:
            n_answered = np.bincount(known.clusters, known.is_answered, known.n_clusters)
            roots, gains = self._gains(self._masses(), self._chances())
            out = [x for x, root in enumerate(roots) if root in left_out]
            gains[out], gains[:, out] = 0, 0
            if gains.any():
                return board_of_components(roots, gains, n_answered, n_cards)
        score = self._uncertainty(self.points.of(sorted({*self.tried, *seeds, *left_out})))
        found = self._prediction()
        return board_of_instances(self.points, found.known, seeds, found.p, score, n_cards)

    def board_with(self, pairs: Sequence[tuple[int, int]], n_cards: int) -> Board:
        """The same, with the pair on it that is asked: the first of these about which the person was not unsure."""
        asked = next(p for p in pairs if Pair(*p).ordered not in self.constraints.set_aside)
        return with_pair(self.board(n_cards), asked, self.links.component, n_cards)

    def _masses(self) -> dict[int, float]:
        """For each component, by root, how many instances are nearest to one of its seeds."""
        known = self._known()
        nearest = self.points.nearest(known.points)
        mass = np.bincount(known.clusters[nearest], self.points.weight, known.n_clusters)
        return dict(zip(self._roots(), mass.tolist(), strict=True))

    def scope(self, a: int, b: int) -> Scope:
        """For how many instances two of them stand: those nearest to an instance that is the same as they are."""
        seeds = sorted({*self.seeds(), a, b})
        known = self._known_points(seeds)
        nearest = self.points.nearest(known.points)
        mass = np.bincount(known.clusters[nearest], self.points.weight, known.n_clusters)
        cluster = dict(zip(seeds, known.clusters.tolist(), strict=True))
        return Scope(round(mass[cluster[a]]), round(mass[cluster[b]]))

    def most_informative_pair(self) -> tuple[int, int] | None:
        """Two components whose relation is worth more than the place of the most uncertain instance."""
        gain, two = self._best_pair()
        return two if two is not None and gain > self._most_uncertain()[1] else None

    def _best_pair(self) -> tuple[float, tuple[int, int] | None]:
        return self._memoise(lambda: self._best(*self._gains(self._masses(), self._chances())), "pair")

    def likely_clusters(self, instance: int, stop_belief: float) -> list[tuple[int, float]]:
        """One instance of each known component but its own, and its probability, likeliest first, down to one.

        The likeliest one is in it in any case.
        """

        def make() -> list[tuple[int, float]]:
            at, linked = self.points.of([instance]), {*self.links.members(instance)}
            others = [i for i in self.open_seeds() if i not in linked]
            if not others:
                return []
            roots = list(map(self.links.component, others))
            number = {root: x for x, root in enumerate(dict.fromkeys(roots))}
            where = np.array([number[root] for root in roots])
            # A group that is probably one cluster may hold several components: the near ones are asked first.
            known, p, *_ = self._prediction()
            group_of = dict(zip(self.seeds(), known.clusters.tolist(), strict=True))
            group = np.array([group_of[i] for i in others])
            near = self.points.columns("near", self.points.of(others), at)[0].astype(np.float64)
            weight = np.bincount(where, near, len(number))
            of = np.zeros(len(number), dtype=np.intp)
            of[where] = group
            share = weight / np.maximum(np.bincount(of, weight)[of], 1e-300)
            likely = p[at[0]][of] * share
            likely = likely / max(likely.sum(), 1e-300)
            first = np.unique(where, return_index=True)[1]
            least = min(stop_belief, likely.max())
            order = [c for c in np.argsort(-likely, kind="stable") if likely[c] >= least]
            return [(others[first[c]], float(likely[c])) for c in order]

        return self._memoise(make, "order", instance, stop_belief)

    def most_informative_parts(self, unsure: set[tuple[int, int]]) -> tuple[int, int] | None:
        """Two of the first parts, by component, whose relation is most worth asking; None when all are known."""
        mass: dict[int, float] = {}
        for part in self.first_parts:
            root = self.links.component(part.representative)
            mass[root] = mass.get(root, 0) + len(part)
        # Parts that are nearly surely different are not compared before all others.
        p = self._component_similarities()[1]
        roots, gain = self._gains(mass, np.where(np.minimum(p, 1 - p) > OPEN, p, 0))
        for x, root in enumerate(roots):
            for a, b in unsure:
                if root == a and b in roots:
                    gain[x, roots.index(b)] = gain[roots.index(b), x] = 0
        return self._best(roots, gain)[1]

    def _gains(self, mass: Mapping[int, float], p: FloatArray) -> tuple[list[int], FloatArray]:
        """The components, by root, and how many pairs of instances the relation of each two puts right.

        `mass` says how many instances each stands for, `p` how likely each two are the same. Zero where that is
        known.
        """
        roots = self._roots()
        size = np.array([mass.get(root, 0.0) for root in roots])
        known = self._known()
        size[np.unique(known.clusters[self._in_complete()[known.points]])] = 0
        gain = size[:, None] * size * np.minimum(p, 1 - p)
        gain[self._apart()] = 0
        return roots, gain

    def _best(self, roots: list[int], gain: FloatArray) -> tuple[float, tuple[int, int] | None]:
        a, b = divmod(int(gain.argmax()), len(roots))
        return float(gain[a, b]), (roots[a], roots[b]) if gain[a, b] > 0 else None

    def answer_to_recheck(self, rechecked: set[Pair]) -> Recheck | None:
        """The answer most worth asking again, if it is worth more than an ordinary question."""

        def make() -> list[Recheck]:
            seeds = self.seeds()
            known, similarity = self._known(), self._similarities()
            groups, _, left_out, _ = self._prediction()
            given = self.points, self.constraints, seeds, known, groups, similarity, left_out
            marked = self._marks.inside()
            return [
                found
                for found in answers_to_recheck(*given)
                if found.worth * len(seeds) > self._options.doubt
                and not (found.answer is Answer.SAME and marked[self.points.of(found.pair)].all())
            ]

        volunteered = frozenset(self.constraints.volunteered)
        all_found = self._memoise(make, "recheck", len(self.constraints.doubted), volunteered)
        return next((found for found in all_found if found.pair not in rechecked), None)

    def nearest_pairs(self, a: int, b: int) -> list[tuple[int, int]]:
        """The pairs to be shown for two clusters, nearest first."""
        return self._nearest(self._seeds_linked_to(a), self._seeds_linked_to(b))[:N_TRIES]

    def recheck_pairs(self, found: Recheck) -> list[tuple[int, int]]:
        """The pairs to be shown instead of one that was answered, nearest first."""
        mine, theirs = (sorted({*side} & {*self.open_seeds()}) for side in found.sides)
        pairs = self._nearest(mine, theirs) if mine and theirs else []
        return [pair for pair in pairs if Pair(*pair).ordered != found.pair][:N_TRIES]

    def _nearest(self, mine: Sequence[int], theirs: Sequence[int]) -> list[tuple[int, int]]:
        """The nearest pairs of one instance here and one there; one more than may be shown."""
        distance = self.points.columns("distance", self.points.of(theirs))[self.points.of(mine)]
        pairs = list(product(mine, theirs))
        return [pairs[x] for x in np.argsort(distance, axis=None, kind="stable")[: N_TRIES + 1]]

    def _seeds_linked_to(self, instance: int) -> list[int]:
        linked = {*self.links.members(instance)}
        found = [i for i in self.open_seeds() if i in linked] or [instance]
        # One that is there by inference is shown only if nothing else is.
        return [i for i in found if i not in self.inferences()] or found


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
