"""What follows from the points and the answers: groups, predictions, and the next question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple, TypeVar

import numpy as np

from cobras.core.constraints import Constraints
from cobras.core.partition import Partition
from cobras.core.types import Answer, BoolArray, FloatArray, IndexArray, Pair
from cobras.methods.adder.marks import Marks
from cobras.methods.adder.points import EVERYWHERE, Points
from cobras.methods.adder.predictors import KnownPoints, cluster_probabilities, entropy, row_shares
from cobras.methods.adder.recheck import Recheck, answers_to_recheck
from cobras.methods.adder.similarity import Similarity
from cobras.methods.protocol import N_TRIES
from cobras.spaces.base import VectorSpace, digest

T = TypeVar("T")

MEMBERS = 8  # a first split into parts with fewer members than this on average is too fine
OPEN = 0.1  # a relation that is less uncertain than this is not asked while the first parts are compared


class Options(NamedTuple):
    """The options of `adder` that change what is predicted."""

    n_parts: int
    join: float
    calm: float
    doubt: float
    predictors: tuple[str, ...]


class State:
    """The points and what is known about them. Every result is a function of the constraints, and memoised.

    The instances that something is known about are called seeds. The points are shared by all runs on a space, in
    whatever thread.
    """

    def __init__(self, space: VectorSpace, constraints: Constraints, seed: int, options: Options) -> None:
        self.constraints = constraints
        self._memo = space.memo
        self._options = options
        key = ("adder", seed, options.n_parts)
        if key not in space.memo:
            space.memo[key] = Points(space, seed, options.n_parts)
        self.points: Points = space.memo[key]
        self._start = (*key, options)
        self.first_parts = self.points.first_parts
        self._marks = Marks(constraints, self.points)
        self._shown: Partition | None = None
        self._last: dict[str, tuple[object, Any]] = {}

    def update_marks(self) -> None:
        """Keep the clusters that the person has marked as they were shown last."""
        if self._shown is not None:
            self._marks.update(self._shown)

    def may_ask_about(self, instance: int) -> bool:
        """Whether it is in no complete cluster and, in a pure one, has been asked about before."""
        point = self.points.of([instance])[0]
        return not self._in_complete()[point] and (
            instance in self.seeds() or not self._marks.inside()[point]
        )

    def partition(self) -> Partition:
        """What a person would get by stopping now."""
        self._shown = self._memoise(self._make_partition, "partition")
        return self._shown

    def _make_partition(self) -> Partition:
        known, p = self._prediction()
        clusters = p.argmax(axis=1)
        clusters[known.points] = known.clusters
        for points in self._marks.clusters(complete=False):
            inside = points[np.isin(points, known.points)]
            clusters[points] = clusters[(inside if len(inside) else points)[0]]
        # Complete clusters get numbers of their own: nothing else can be in them.
        for new, points in enumerate(self._marks.clusters(complete=True), start=p.shape[1]):
            clusters[points] = new
        return self.points.partition(clusters, self._marks.parts())

    def most_uncertain(self, tried: set[int]) -> int | None:
        """The instance around which the prediction is most uncertain; None when all have been tried."""
        out = self.points.of(sorted({*tried, *self.seeds()}))

        def make() -> int | None:
            known, p = self._prediction()
            marked = self._marks.inside()
            # Divided by the cover, so that questions do not return to where answers are near.
            uncertain = np.where(marked, 0, entropy(p) + self._options.calm)
            score = self.points.amount_around(uncertain) / (1 + self.points.cover(known.points))
            score[~self.points.may_show | marked] = -1
            score[out] = -1
            best = int(score.argmax())
            return int(self.points.instance[best]) if score[best] >= 0 else None

        return self._memoise(make, "next", digest(out))

    def likely_clusters(self, instance: int, stop_belief: float) -> list[int]:
        """One instance of each known cluster but its own, likeliest first, down to a probability.

        The likeliest one is in it in any case.
        """

        def make() -> list[int]:
            component = self.links.component
            others = [i for i in self.open_seeds() if component(i) != component(instance)]
            if not others:
                return []
            known, at = self._known_points(others), self.points.of([instance])
            p = cluster_probabilities(self.points, known, at, self._options.predictors)[0]
            first = np.unique(known.clusters, return_index=True)[1]
            least = min(stop_belief, p.max())
            return [others[first[c]] for c in np.argsort(-p, kind="stable") if p[c] >= least]

        return self._memoise(make, "order", instance, stop_belief)

    def most_informative_parts(self, unsure: set[tuple[int, int]]) -> tuple[int, int] | None:
        """Two of the first parts, by component, whose relation is most worth asking; None when all are known."""
        links, in_complete, mass = self.links, self._in_complete(), dict[int, int]()
        for part in self.first_parts:
            if not in_complete[self.points.of([part.representative])[0]]:
                root = links.component(part.representative)
                mass[root] = mass.get(root, 0) + len(part)
        if len(mass) < 2:
            return None
        roots, p = self._component_similarities()
        best, most = None, 0.0
        for x, y in combinations([x for x, root in enumerate(roots) if root in mass], 2):
            two = roots[x], roots[y]
            uncertainty = min(p[x, y], 1 - p[x, y])
            # The number of pairs of instances that the answer is expected to put right.
            gain = mass[roots[x]] * mass[roots[y]] * uncertainty
            if gain > most and uncertainty > OPEN and two not in unsure and links.relation(*two) is None:
                best, most = two, gain
        return best

    def split_finer(self) -> bool:
        """Split everything into twice as many first parts, if more than half of them are clusters of their own."""
        known, _ = self._prediction()
        medoids = self.points.of([part.representative for part in self.first_parts])
        n_clusters = len(np.unique(known.clusters[np.isin(known.points, medoids)]))
        twice = 2 * len(self.first_parts)
        finer = self.points.split(twice) if 2 * n_clusters > len(self.first_parts) else []
        if len(finer) < twice or MEMBERS * len(finer) > self.points.n:
            return False
        self.first_parts = finer
        return True

    def answer_to_recheck(self, rechecked: set[Pair]) -> Recheck | None:
        """The answer most worth asking again, if it is worth more than an ordinary question."""

        def make() -> list[Recheck]:
            seeds = self.seeds()
            known, similarity = self._known_points(seeds), self._similarities()
            given = self.points, self.constraints, seeds, known, similarity, self._options.predictors
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

    def relation(self, i: int, j: int) -> Answer | None:
        """What the answers and marks imply."""
        return self.links.relation(i, j)

    @property
    def links(self) -> Constraints:
        """The answers and marks as links; marks are not answers, so they are not among the constraints."""
        if not self._marks:
            return self.constraints
        return self._latest(lambda: self._marks.links(self.seeds()), "links")

    def seeds(self) -> list[int]:
        """The instances that something is known about, and the representatives of the first parts."""
        return sorted(self._answered_instances() | {part.representative for part in self.first_parts})

    def open_seeds(self) -> list[int]:
        """The seeds that questions may be about: not those in complete clusters."""
        seeds, in_complete = self.seeds(), self._in_complete()
        return [i for i, out in zip(seeds, in_complete[self.points.of(seeds)], strict=True) if not out]

    def _answered_instances(self) -> set[int]:
        return {i for pair, _ in self.constraints for i in pair}

    def _in_complete(self) -> BoolArray:
        return self._marks.inside(complete_only=True)

    def _key(self) -> tuple[object, ...]:
        """What every result depends on."""
        pairs = (np.unique(links, axis=0) for links in self.constraints.pairs())
        return (*self._start, len(self.first_parts), digest(*pairs), self._marks.key)

    def _memoise(self, make: Callable[[], T], *what: object) -> T:
        """What was made before under the same conditions, in whatever run on this space, or is made now."""
        key = (*self._key(), *what)
        if key not in self._memo:
            self._memo[key] = make()
        found: T = self._memo[key]
        return found

    def _latest(self, make: Callable[[], T], what: str) -> T:
        """The same, but only the last result is kept, where all would take much memory."""
        key = self._key()
        if what not in self._last or self._last[what][0] != key:
            self._last[what] = key, make()
        found: T = self._last[what][1]
        return found

    def _seeds_linked_to(self, instance: int) -> list[int]:
        component = self.links.component
        return [i for i in self.open_seeds() if component(i) == component(instance)] or [instance]

    def _known_points(self, seeds: list[int]) -> KnownPoints:
        """These instances with their must-link components as clusters."""
        roots = list(map(self.links.component, seeds))
        number = {root: x for x, root in enumerate(dict.fromkeys(roots))}
        answered = self._answered_instances()
        return KnownPoints(
            self.points.of(seeds),
            np.array([number[root] for root in roots]),
            np.array([i in answered for i in seeds]),
        )

    def _prediction(self) -> tuple[KnownPoints, FloatArray]:
        """All seeds with their clusters, and how likely each cluster is for every point."""

        def make() -> tuple[KnownPoints, FloatArray]:
            known = self._groups()
            p = cluster_probabilities(self.points, known, EVERYWHERE, self._options.predictors)
            complete = np.unique(known.clusters[self._in_complete()[known.points]])
            if len(complete):
                # A last column is for the points that could only be in complete clusters.
                nowhere = np.full((len(p), 1), float(len(complete) == p.shape[1]))
                p[:, complete] = 0
                p = row_shares(np.hstack([p, nowhere]))
            return known, p

        return self._latest(make, "prediction")

    def _similarities(self) -> FloatArray:
        """How likely each two seeds are in the same cluster, by their similarity."""
        at = self.points.of(self.seeds())
        make = lambda: Similarity(self.points, self.constraints).probabilities(at)  # noqa: E731
        return self._latest(make, "similarities")

    def _component_similarities(self) -> tuple[list[int], FloatArray]:
        """The must-link components, by root, and how likely each two are the same cluster."""
        seeds = self.seeds()
        M = self._known_points(seeds).membership
        n_pairs = M.sum(axis=0)[:, None] * M.sum(axis=0)
        roots = list(dict.fromkeys(map(self.links.component, seeds)))
        return roots, M.T @ self._similarities() @ M / n_pairs

    def _groups(self) -> KnownPoints:
        """All seeds, with components joined that are probably one cluster."""
        known, links = self._known_points(self.seeds()), self.links
        roots, p = self._component_similarities()
        apart = np.eye(len(roots), dtype=bool)
        number = {root: x for x, root in enumerate(roots)}
        for x, root in enumerate(roots):
            for other in links.apart_from(root):
                apart[x, number[other]] = True
        complete = known.clusters[self._in_complete()[known.points]]
        apart[complete], apart[:, complete] = True, True
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
            numbers: IndexArray = np.unique(group, return_inverse=True)[1]
            return numbers
        # The mean over all pairs of seeds, weighted by the sizes: O(m) for m groups.
        apart[a] |= apart[b]
        p[a] = (size[a] * p[a] + size[b] * p[b]) / (size[a] + size[b])
        p[a, apart[a]] = -1
        p[:, a] = p[a]
        p[b], p[:, b] = -1, -1
        apart[:, a] = apart[a]
        size[a] += size[b]
        group[group == b] = a
