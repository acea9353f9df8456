"""What ADDER sees: the landscape, the answers, and what follows from both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from cobras.core.constraints import Constraints
from cobras.core.partition import Partition
from cobras.core.types import Answer, BoolArray, FloatArray, IndexArray, Pair
from cobras.methods.adder.marks import Promises
from cobras.methods.adder.points import EVERYWHERE, Landscape
from cobras.methods.adder.predictors import Known, believe, entropy, shares
from cobras.methods.adder.recheck import Doubt, doubts
from cobras.methods.adder.similarity import Likeness
from cobras.methods.protocol import N_TRIES
from cobras.spaces.base import VectorSpace, digest

MEMBERS = 8  # a first split into parts with fewer members than this on average is too fine
OPEN = 0.1  # a relation that is less uncertain than this is not asked while the first parts are compared


class Options(NamedTuple):
    """The options of `adder` that change what is believed."""

    n_parts: int
    join: float
    calm: float
    doubt: float
    predictors: tuple[str, ...]


class Scene:
    """The landscape and what is known about it. All it says is a function of the constraints, and memoised.

    Attributes
    ----------
    constraints : Constraints
        The answers and promises.
    land : Landscape
        The points and their relations; shared by all runs on this space, in whatever thread.
    first : list of SuperInstance
        The first parts, largest first.
    """

    def __init__(self, space: VectorSpace, constraints: Constraints, seed: int, options: Options) -> None:
        self.constraints = constraints
        self._memo = space.memo
        self._options = options
        key = ("adder", seed, options.n_parts)
        if key not in space.memo:
            space.memo[key] = Landscape(space, seed, options.n_parts)
        self.land: Landscape = space.memo[key]
        self._key = (*key, options)
        self.first = self.land.first
        self._promises = Promises(constraints, self.land)
        self._shown: Partition | None = None
        self._last: dict[str, tuple[object, Any]] = {}

    def heed_promises(self) -> None:
        """Keep clusters as they were shown last, where the person has promised something about them."""
        if self._shown is not None:
            self._promises.heed(self._shown)

    def may_ask_about(self, instance: int) -> bool:
        """Not about an instance of a complete cluster, and of a pure one only about those known before."""
        point = self.land.points([instance])[0]
        return not self._closed()[point] and (instance in self.seeds() or not self._promises.inside()[point])

    def partition(self) -> Partition:
        """What a person would get by stopping now."""
        key = (*self._state(), "partition")
        if key not in self._memo:
            known, belief = self._picture()
            clusters = belief.argmax(axis=1)
            clusters[known.points] = known.clusters
            for points in self._promises.clusters(complete=False):
                inside = points[np.isin(points, known.points)]
                clusters[points] = clusters[(inside if len(inside) else points)[0]]
            for new, points in enumerate(self._promises.clusters(complete=True), start=belief.shape[1]):
                clusters[points] = new
            self._memo[key] = self.land.partition(clusters, self._promises.pieces())
        found: Partition = self._memo[key]
        self._shown = found
        return found

    def most_uncertain(self, tried: set[int]) -> int | None:
        """The instance around which the prediction is most uncertain; None when all have been tried."""
        out = self.land.points(sorted({*tried, *self.seeds()}))
        key = (*self._state(), "next", digest(out))
        if key not in self._memo:
            known, belief = self._picture()
            promised = self._promises.inside()
            uncertain = np.where(promised, 0, entropy(belief) + self._options.calm)
            score = self.land.felt(uncertain) / (1 + self.land.cover(known.points))
            score[~self.land.shown | promised] = -1
            score[out] = -1
            best = int(score.argmax())
            self._memo[key] = int(self.land.instance[best]) if score[best] >= 0 else None
        found: int | None = self._memo[key]
        return found

    def in_order_of_belief(self, instance: int, stop_belief: float) -> list[int]:
        """One instance of each known cluster but its own, likeliest first, down to the belief at which to stop.

        The likeliest one is in it in any case.
        """
        key = (*self._state(), "order", instance, stop_belief)
        if key not in self._memo:
            component = self.links.component
            others = [i for i in self.open_seeds() if component(i) != component(instance)]
            order: list[int] = []
            if others:
                known = self._known(others)
                p = believe(self.land, known, self.land.points([instance]), self._options.predictors)[0]
                first = np.unique(known.clusters, return_index=True)[1]
                least = min(stop_belief, p.max())
                order = [others[first[c]] for c in np.argsort(-p, kind="stable") if p[c] >= least]
            self._memo[key] = order
        found: list[int] = self._memo[key]
        return found

    def most_telling(self, unsure: set[tuple[int, int]]) -> tuple[int, int] | None:
        """Two of the first parts, by component, whose relation is most worth asking; None when all are settled."""
        links, closed, mass = self.links, self._closed(), dict[int, int]()
        for part in self.first:
            if not closed[self.land.points([part.representative])[0]]:
                root = links.component(part.representative)
                mass[root] = mass.get(root, 0) + len(part)
        if len(mass) < 2:
            return None
        roots, p = self._likely_same()
        best, most = None, 0.0
        for x, y in combinations([x for x, root in enumerate(roots) if root in mass], 2):
            two = roots[x], roots[y]
            doubt = min(p[x, y], 1 - p[x, y])
            gain = mass[roots[x]] * mass[roots[y]] * doubt
            if gain > most and doubt > OPEN and two not in unsure and links.relation(*two) is None:
                best, most = two, gain
        return best

    def split_finer(self) -> bool:
        """Split everything into twice as many first parts, if more than half of them are clusters of their own."""
        known, _ = self._picture()
        medoids = self.land.points([part.representative for part in self.first])
        n_clusters = len(np.unique(known.clusters[np.isin(known.points, medoids)]))
        finer = self.land.split(2 * len(self.first)) if 2 * n_clusters > len(self.first) else []
        if len(finer) < 2 * len(self.first) or MEMBERS * len(finer) > self.land.n:
            return False
        self.first = finer
        return True

    def doubtful(self, settled: set[Pair]) -> Doubt | None:
        """The answer most worth asking again, if it is worth more than an ordinary question."""
        said = frozenset(self.constraints.volunteered)
        key = (*self._state(), "doubts", len(self.constraints.doubted), said)
        if key not in self._memo:
            seeds = self.seeds()
            known, alike = self._known(seeds), self._alike()
            found = doubts(self.land, self.constraints, seeds, known, alike, self._options.predictors)
            promised = self._promises.inside()
            self._memo[key] = [
                doubt
                for doubt in found
                if doubt.worth * len(seeds) > self._options.doubt
                and not (doubt.answer is Answer.SAME and promised[self.land.points(doubt.pair)].all())
            ]
        return next((doubt for doubt in self._memo[key] if doubt.pair not in settled), None)

    def nearest_pairs(self, a: int, b: int) -> Iterable[tuple[int, int]]:
        """The pairs to be shown for two clusters, nearest first."""
        return self.nearest_among(self._together(a), self._together(b))[:N_TRIES]

    def second_pairs(self, doubt: Doubt) -> list[tuple[int, int]]:
        """The pairs to be shown instead of one that was answered, nearest first."""
        mine, theirs = (sorted({*side} & {*self.open_seeds()}) for side in doubt.sides)
        found = self.nearest_among(mine, theirs) if mine and theirs else []
        return [pair for pair in found if Pair(*pair).ordered != doubt.pair][:N_TRIES]

    def nearest_among(self, mine: Sequence[int], theirs: Sequence[int]) -> list[tuple[int, int]]:
        """The nearest pairs of one instance here and one there; one more than may be shown."""
        distance = self.land.columns("distance", self.land.points(theirs))[self.land.points(mine)]
        pairs = list(product(mine, theirs))
        return [pairs[x] for x in np.argsort(distance, axis=None, kind="stable")[: N_TRIES + 1]]

    def relation(self, i: int, j: int) -> Answer | None:
        """What the answers and promises imply."""
        return self.links.relation(i, j)

    @property
    def links(self) -> Constraints:
        """The answers and promises as links; promises are not answers, so they are not among the constraints."""
        if not self._promises.any:
            return self.constraints
        links: Constraints = self._recent("links", lambda: self._promises.linked(self.seeds()))
        return links

    def seeds(self) -> list[int]:
        """The instances that something is known about, and the representatives of the first parts."""
        seen = {i for pair, _ in self.constraints for i in pair}
        return sorted(seen | {part.representative for part in self.first})

    def open_seeds(self) -> list[int]:
        """The seeds that questions may be about: not those in complete clusters."""
        seeds, closed = self.seeds(), self._closed()
        return [i for i, out in zip(seeds, closed[self.land.points(seeds)], strict=True) if not out]

    def _closed(self) -> BoolArray:
        return self._promises.inside(complete_only=True)

    def _state(self) -> tuple[object, ...]:
        pairs = (np.unique(links, axis=0) for links in self.constraints.pairs())
        return (*self._key, len(self.first), digest(*pairs), self._promises.state)

    def _recent(self, what: str, make: Callable[[], Any]) -> Any:
        """What was made last in this state: only the last is kept, where all would take much memory."""
        state = self._state()
        if what not in self._last or self._last[what][0] != state:
            self._last[what] = state, make()
        return self._last[what][1]

    def _together(self, instance: int) -> list[int]:
        component = self.links.component
        return [i for i in self.open_seeds() if component(i) == component(instance)] or [instance]

    def _known(self, seeds: list[int]) -> Known:
        """These instances with their must-link components as clusters."""
        roots = list(map(self.links.component, seeds))
        number = {root: x for x, root in enumerate(dict.fromkeys(roots))}
        answered = {i for pair, _ in self.constraints for i in pair}
        return Known(
            self.land.points(seeds),
            np.array([number[root] for root in roots]),
            np.array([i in answered for i in seeds]),
        )

    def _picture(self) -> tuple[Known, FloatArray]:
        """All seeds with their clusters, and the belief of all points."""
        picture: tuple[Known, FloatArray] = self._recent("picture", self._believed)
        return picture

    def _believed(self) -> tuple[Known, FloatArray]:
        known = self._grouped()
        belief = believe(self.land, known, EVERYWHERE, self._options.predictors)
        closed = np.unique(known.clusters[self._closed()[known.points]])
        if len(closed):  # a last column takes in those that could only be in complete clusters
            nowhere = np.full((len(belief), 1), float(len(closed) == belief.shape[1]))
            belief[:, closed] = 0
            belief = shares(np.hstack([belief, nowhere]))
        return known, belief

    def _alike(self) -> FloatArray:
        """How likely each two seeds are in the same cluster, by their likeness."""
        points = self.land.points(self.seeds())
        alike: FloatArray = self._recent("alike", lambda: Likeness(self.land, self.constraints).among(points))
        return alike

    def _likely_same(self) -> tuple[list[int], FloatArray]:
        """The must-link components, by root, and how likely each two are the same cluster."""
        seeds = self.seeds()
        M = self._known(seeds).membership
        n_pairs = M.sum(axis=0)[:, None] * M.sum(axis=0)
        roots = list(dict.fromkeys(map(self.links.component, seeds)))
        return roots, M.T @ self._alike() @ M / n_pairs

    def _grouped(self) -> Known:
        """All seeds, with components joined that are probably one cluster."""
        known, links = self._known(self.seeds()), self.links
        roots, p = self._likely_same()
        apart = np.eye(len(roots), dtype=bool)
        number = {root: x for x, root in enumerate(roots)}
        for x, root in enumerate(roots):
            for other in links.apart_from(root):
                apart[x, number[other]] = True
        closed = known.clusters[self._closed()[known.points]]
        apart[closed], apart[:, closed] = True, True
        group = join_likely(p, apart, known.membership.sum(axis=0), self._options.join)
        return known._replace(clusters=group[known.clusters])


def join_likely(p: FloatArray, apart: BoolArray, size: FloatArray, least: float) -> IndexArray:
    """Join the likeliest two, by average linkage, as long as they are likely enough to be the same."""
    p, apart, size = p.copy(), apart.copy(), size.copy()
    group = np.arange(len(p))
    p[apart] = -1
    while True:
        a, b = divmod(int(p.argmax()), len(p))
        if p[a, b] < least:
            joined: IndexArray = np.unique(group, return_inverse=True)[1]
            return joined
        apart[a] |= apart[b]
        p[a] = (size[a] * p[a] + size[b] * p[b]) / (size[a] + size[b])
        p[a, apart[a]] = -1
        p[:, a] = p[a]
        p[b], p[:, b] = -1, -1
        apart[:, a] = apart[a]
        size[a] += size[b]
        group[group == b] = a
