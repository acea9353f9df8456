"""ADDER: active clustering by diffusion of answers and entropy-driven refinement.

Like COBRAS it begins with a few super-instances, compares their representatives, and has a coarse clustering after
a few answers. It differs in what an answer does:

* *Diffusion.* An instance does not follow the representative of its super-instance. Its cluster is predicted from
  all instances whose cluster is known, by predictors that are trusted as far as they predict the known instances
  from each other (`cobras.methods.beliefs`).
* *Likeness.* Clusters whose relation was not asked are shown as one where the answers to other pairs make this
  likely (`cobras.methods.likeness`).
* *Refinement.* The next instance is one in whose surroundings the prediction is most uncertain. It is compared with
  the clusters in the order of belief, so that one or two answers usually place it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from cobras.constraints import Constraints
from cobras.exceptions import InvalidDataError
from cobras.methods.asking import N_TRIES, Reconsider, Step, Steps, ask
from cobras.methods.beliefs import Known, believe, chosen_predictors, entropy
from cobras.methods.landscape import EVERYWHERE, Landscape
from cobras.methods.likeness import Likeness
from cobras.methods.neighbourhoods import fingerprint
from cobras.partition import Partition
from cobras.spaces import Space, VectorSpace
from cobras.types import Answer, BoolArray, FloatArray, IndexArray

MEMBERS = 8  # a first split into parts with fewer members than this on average is too fine
OPEN = 0.1  # a relation that is less uncertain than this is not asked while the first parts are compared


def adder(
    space: Space,
    constraints: Constraints,
    seed: int,
    *,
    n_parts: int = 12,
    stop_belief: float = 0.05,
    join: float = 1 / 3,
    calm: float = 0.1,
    predictors: str = "all",
) -> Steps:
    """Compare the first parts, then place one uncertain instance after another.

    Parameters
    ----------
    n_parts : int
        Super-instances of the first split.
    stop_belief : float
        A new instance is not compared with clusters that are less likely than this.
    join : float
        Clusters whose relation was not asked are shown as one if they are at least so likely the same: too many
        small clusters cost more than a wrong join.
    calm : float
        What an instance adds to the uncertainty around it, however sure the prediction is.
    predictors : str
        Which predictors speak, separated by spaces, or "all"; see `cobras.methods.beliefs`.
    """
    if not isinstance(space, VectorSpace):
        raise InvalidDataError("ADDER looks at neighbours of rows, so it needs a table of numbers.")
    options = Options(n_parts, join, calm, chosen_predictors(predictors))
    scene = Scene(space, constraints, seed, options)
    tried: set[int] = set()
    compared = False
    while True:
        try:
            if not compared:
                yield from compare_first_parts(scene)
                compared = not scene.split_finer()
                continue
            instance = scene.most_uncertain(tried)
            if instance is not None:
                tried.add(instance)
                yield from place(scene, instance, stop_belief)
                continue
            for instance in sorted({*scene.seeds(), *tried}):  # what was too unlikely to be asked
                yield from place(scene, instance, 0)
            yield Step(None, scene.partition())
        except Reconsider:
            continue


def compare_first_parts(scene: Scene) -> Generator[Step, Answer, None]:
    """Ask about the two parts whose relation would, if it is not as believed, put most pairs of instances right."""
    doubted: set[tuple[int, int]] = set()
    while (two := scene.most_telling(doubted)) is not None:
        pairs = scene.nearest_pairs(*two)
        answer = yield from ask(scene.constraints, pairs, scene.partition(), scene.constraints.relation)
        if answer is Answer.UNSURE:
            doubted.add(two)


def place(scene: Scene, instance: int, stop_belief: float) -> Generator[Step, Answer, None]:
    """Compare an instance with the clusters in the order of belief, until one takes it or none is likely."""
    relation = scene.constraints.relation
    for cluster in scene.in_order_of_belief(instance, stop_belief):
        if relation(instance, cluster) is None:
            pairs = scene.nearest_pairs(instance, cluster)
            yield from ask(scene.constraints, pairs, scene.partition(), relation)
        if relation(instance, cluster) is Answer.SAME:
            return


class Options(NamedTuple):
    """The options of `adder` that change what is believed."""

    n_parts: int
    join: float
    calm: float
    predictors: tuple[str, ...]


class Scene:
    """The landscape and what is known about it. All it says is a function of the constraints, and memoised."""

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
        self._last: tuple[object, Known, FloatArray] | None = None

    def partition(self) -> Partition:
        """What a person would get by stopping now."""
        key = (*self._state(), "partition")
        if key not in self._memo:
            known, belief = self._picture()
            clusters = belief.argmax(axis=1)
            clusters[known.points] = known.clusters
            self._memo[key] = self.land.partition(clusters)
        found: Partition = self._memo[key]
        return found

    def most_uncertain(self, tried: set[int]) -> int | None:
        """The instance around which the prediction is most uncertain; None when all have been tried."""
        out = self.land.points(sorted({*tried, *self.seeds()}))
        key = (*self._state(), "next", fingerprint(out))
        if key not in self._memo:
            known, belief = self._picture()
            score = self.land.felt(entropy(belief) + self._options.calm) / (1 + self.land.cover(known.points))
            score[~self.land.shown] = -1
            score[out] = -1
            best = int(score.argmax())
            self._memo[key] = int(self.land.instance[best]) if score[best] >= 0 else None
        found: int | None = self._memo[key]
        return found

    def in_order_of_belief(self, instance: int, stop_belief: float) -> list[int]:
        """One instance of each known cluster but its own, likeliest first, down to the belief at which to stop."""
        key = (*self._state(), "order", instance, stop_belief)
        if key not in self._memo:
            own = self.constraints.component(instance)
            others = [i for i in self.seeds() if self.constraints.component(i) != own]
            order: list[int] = []
            if others:
                known = self._known(others)
                p = believe(self.land, known, self.land.points([instance]), self._options.predictors)[0]
                first = np.unique(known.clusters, return_index=True)[1]
                least = min(stop_belief, p.max())  # the likeliest is always asked
                order = [others[first[c]] for c in np.argsort(-p, kind="stable") if p[c] >= least]
            self._memo[key] = order
        found: list[int] = self._memo[key]
        return found

    def most_telling(self, doubted: set[tuple[int, int]]) -> tuple[int, int] | None:
        """Two of the first parts, by component, whose relation is most worth asking; None when all are settled."""
        component = self.constraints.component
        mass: dict[int, int] = {}
        for part in self.first:
            root = component(part.representative)
            mass[root] = mass.get(root, 0) + len(part)
        if len(mass) < 2:
            return None
        roots, p = self._likely_same()
        best, most = None, 0.0
        for x, y in combinations([x for x, root in enumerate(roots) if root in mass], 2):
            two = roots[x], roots[y]
            doubt = min(p[x, y], 1 - p[x, y])
            gain = mass[roots[x]] * mass[roots[y]] * doubt
            if (
                gain > most
                and doubt > OPEN
                and two not in doubted
                and self.constraints.relation(*two) is None
            ):
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

    def nearest_pairs(self, a: int, b: int) -> Iterable[tuple[int, int]]:
        """The pairs to be shown for two clusters, nearest first."""
        mine, theirs = self._together(a), self._together(b)
        distance = self.land.columns("distance", self.land.points(theirs))[self.land.points(mine)]
        pairs = list(product(mine, theirs))
        return [pairs[x] for x in np.argsort(distance, axis=None, kind="stable")[:N_TRIES]]

    def seeds(self) -> list[int]:
        """The instances that something is known about, and the representatives of the first parts."""
        seen = {i for pair, _ in self.constraints for i in pair}
        return sorted(seen | {part.representative for part in self.first})

    def _state(self) -> tuple[object, ...]:
        return (
            *self._key,
            len(self.first),
            fingerprint(*(np.unique(links, axis=0) for links in self.constraints.pairs())),
        )

    def _together(self, instance: int) -> list[int]:
        component = self.constraints.component
        return [i for i in self.seeds() if component(i) == component(instance)] or [instance]

    def _known(self, seeds: list[int]) -> Known:
        """These instances with their must-link components as clusters."""
        roots = [self.constraints.component(i) for i in seeds]
        number = {root: x for x, root in enumerate(dict.fromkeys(roots))}
        answered = {i for pair, _ in self.constraints for i in pair}
        return Known(
            self.land.points(seeds),
            np.array([number[root] for root in roots]),
            np.array([i in answered for i in seeds]),
        )

    def _picture(self) -> tuple[Known, FloatArray]:
        """All seeds with their clusters, and the belief of all points; the last one is kept, it is needed twice."""
        state = self._state()
        if self._last is None or self._last[0] != state:
            known = self._grouped()
            self._last = (
                state,
                known,
                believe(self.land, known, EVERYWHERE, self._options.predictors),
            )
        return self._last[1:]

    def _likely_same(self) -> tuple[list[int], FloatArray]:
        """The must-link components, by root, and how likely each two are the same cluster."""
        seeds = self.seeds()
        known = self._known(seeds)
        M = known.membership
        n_pairs = M.sum(axis=0)[:, None] * M.sum(axis=0)
        p = M.T @ Likeness(self.land, self.constraints).among(known.points) @ M / n_pairs
        roots = list(dict.fromkeys(self.constraints.component(i) for i in seeds))
        return roots, p

    def _grouped(self) -> Known:
        """All seeds, with components joined that are probably one cluster."""
        known = self._known(self.seeds())
        roots, p = self._likely_same()
        apart = np.eye(len(roots), dtype=bool)
        number = {root: x for x, root in enumerate(roots)}
        for x, root in enumerate(roots):
            for other in self.constraints.apart_from(root):
                apart[x, number[other]] = True
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
