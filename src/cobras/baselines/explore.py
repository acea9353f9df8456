"""Explore-Consolidate (Basu, Banerjee & Mooney, 2004), Min-Max (Mallapragada, Jin & Jain, 2008), and their rounds.

A *neighbourhood* is a set of training instances known to belong together, and known to be apart from every other
neighbourhood. A round picks an instance outside of all of them, asks it against one member of each until its place
is known, and clusters anew with all constraints. The two methods here and NPU (see `npu`) differ in which instance
they pick and in which order they ask, and in nothing else.

Explore visits the instance farthest from all visited ones until every cluster has a neighbourhood. Then
Explore-Consolidate places random instances, and Min-Max the instance that is least similar to all placed ones.
Min-Max's Gaussian kernel falls with the distance, so distances alone decide; its width, which would only make far
instances indistinguishable, is left out.

Both were meant to collect constraints for one clustering at the end. Here the clusterer is run again after each
placed instance, from scratch, so that a person sees a result and a curve can be drawn: each report is what one
would have got by ending there.

Departures: the neighbourhoods are asked in the order of their distance while exploring, too; an instance that
belongs to none of `n_clusters` neighbourhoods founds one more; answers of an unfinished round are not lost.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TypeAlias

import numpy as np

from cobras.baselines.clusterers import Clusterer, Clustering, find_n_clusters, state_random
from cobras.core.constraints import Constraints
from cobras.core.exceptions import InvalidDataError
from cobras.core.partition import Partition
from cobras.core.types import Answer, FloatArray, IndexArray, Pair
from cobras.methods.protocol import N_TRIES, Reconsider, Step, Steps, ask
from cobras.spaces.base import Space, VectorSpace, digest, squared_distances

# From the neighbourhoods, the candidates and the clustering to an instance and the order of neighbourhoods to ask.
Choose: TypeAlias = Callable[["Neighbourhoods", IndexArray, Clustering], tuple[int, Iterable[int]]]


def explore_consolidate(
    space: Space,
    constraints: Constraints,
    seed: int,
    *,
    n_clusters: int | None = None,
    clusterer: Clusterer = "mpckmeans",
    infer_last: bool = True,
) -> Steps:
    """Find one member of each cluster, farthest first; then place random instances.

    Parameters
    ----------
    n_clusters : int, optional
        The number of clusters; needed unless the clusterer has it.
    clusterer : "mpckmeans", "cosc" or an object with ``fit(X, must_link=, cannot_link=)``
        What clusters under the constraints, anew after each placed instance.
    infer_last : bool
        Where there are `n_clusters` neighbourhoods, an instance that is in none but the last is in the last,
        and that is not asked. Wrong where there are more clusters than that.
    """
    k = find_n_clusters("explore_consolidate", clusterer, n_clusters)
    farthest = FarthestFirst()

    def choose(
        neighbourhoods: Neighbourhoods, rows: IndexArray, clustering: Clustering
    ) -> tuple[int, Iterable[int]]:
        groups, X = neighbourhoods.groups, clustering.space.X
        if len(groups) < k:
            return farthest(neighbourhoods, rows, clustering)
        x = int(state_random(seed, digest(rows)).choice(rows))
        centroids = [X[group].mean(axis=0, dtype=np.float64) for group in groups]
        return x, np.argsort(squared_distances(np.array(centroids), X[x]), kind="stable").tolist()

    return rounds(space, constraints, seed, choose, clusterer, k, infer_last=infer_last, warm=False)


def min_max(
    space: Space,
    constraints: Constraints,
    seed: int,
    *,
    n_clusters: int | None = None,
    clusterer: Clusterer = "mpckmeans",
    infer_last: bool = True,
) -> Steps:
    """Place the instance whose largest similarity to all placed ones is smallest.

    Parameters
    ----------
    n_clusters, clusterer, infer_last
        As in `explore_consolidate`.
    """
    k = find_n_clusters("min_max", clusterer, n_clusters)
    return rounds(space, constraints, seed, FarthestFirst(), clusterer, k, infer_last=infer_last, warm=False)


class FarthestFirst:
    """Picks the instance farthest from all visited ones; its neighbourhoods in the order of their nearest members.

    An instance counts as visited once it is in a neighbourhood or the person was unsure about it. One row of
    distances is taken for each visited instance, O(n d).
    """

    def __init__(self) -> None:
        self._visited: set[int] = set()
        self._nearest: FloatArray = np.empty(0)

    def __call__(
        self, neighbourhoods: Neighbourhoods, rows: IndexArray, clustering: Clustering
    ) -> tuple[int, Iterable[int]]:
        """The instance, and the neighbourhoods in the order in which it is asked."""
        X = clustering.space.X
        if not self._visited:
            self._nearest = np.full(len(X), np.inf)
        visited = set(neighbourhoods.train.tolist()) - set(neighbourhoods.candidates().tolist())
        for i in visited - self._visited:
            np.minimum(self._nearest, squared_distances(X, X[i]), out=self._nearest)
        self._visited |= visited
        x = int(rows[self._nearest[rows].argmax()])
        away = [squared_distances(X[group], X[x]).min() for group in neighbourhoods.groups]
        return x, np.argsort(away, kind="stable").tolist()


class Neighbourhoods:
    """Sets of training instances known to belong together, each known to be apart from the others.

    Attributes
    ----------
    groups : list of list of int
        The members of each neighbourhood in the order in which they joined.
    known : Constraints
        The answers, and what `place` inferred from the number of clusters as far as no answer contradicts it.
    """

    def __init__(self, train: IndexArray, first: int, constraints: Constraints) -> None:
        self.train, self.constraints = train, constraints
        self.groups = [[first]]
        self.known = constraints
        self._inferred: list[Pair] = []
        self._may_be_shown = set(train.tolist())

    def refresh(self) -> None:
        """Read the neighbourhoods from the constraints; an instance apart from all of them founds a new one."""
        self._infer_again()
        relation, component = self.known.relation, self.known.component
        groups: list[list[int]] = []
        for old in self.groups:
            if all(relation(old[0], group[0]) is Answer.DIFFERENT for group in groups):
                groups.append([i for i in old if relation(old[0], i) is Answer.SAME])
        home = {component(group[0]): group for group in groups}
        placed = {i for group in groups for i in group}
        for i in sorted({i for pair, _ in self.known for i in pair} & self._may_be_shown - placed):
            if component(i) in home:
                home[component(i)].append(i)
            elif all(relation(i, group[0]) is Answer.DIFFERENT for group in groups):
                groups.append(home.setdefault(component(i), [i]))
        self.groups = groups

    def _infer_again(self) -> None:
        """Drop what was inferred and turned out to be wrong, because there are more clusters than was said."""
        self.known = self.constraints
        if not self._inferred:
            return
        self.known = Constraints()
        for (i, j), answer in self.constraints:
            self.known.add(i, j, answer)
        inferred, self._inferred = self._inferred, []
        for i, j in inferred:
            if self.known.relation(i, j) is not Answer.DIFFERENT:
                self.known.add(i, j, Answer.SAME)
                self._inferred.append(Pair(i, j))

    def candidates(self) -> IndexArray:
        """Training instances outside of all neighbourhoods whose place the person has not been unsure about."""
        out = {i for group in self.groups for i in group}
        doubts = [(x, v) for pair in self.constraints.set_aside for x, v in (pair, pair[::-1]) if v in out]
        out.update(x for x, v in doubts if self.known.relation(x, v) is None)
        return self.train[~np.isin(self.train, list(out))]

    def place(
        self, x: int, order: Iterable[int], report: Partition, n_clusters: int | None
    ) -> Generator[Step, Answer, None]:
        """Ask x against the neighbourhoods, in this order, until one takes it.

        Where there can be only as many neighbourhoods as there are, `n_clusters`, the last one is not asked.
        """
        unsure = False
        left = len(self.groups)
        for j in order:
            group = self.groups[j]
            left -= 1
            if not left and not unsure and len(self.groups) == n_clusters:
                self._inferred.append(Pair(x, group[0]))
                return
            pairs = [(x, member) for member in group[:N_TRIES]]
            answer = yield from ask(self.constraints, pairs, report, self.known.relation)
            if answer is Answer.SAME:
                return
            unsure |= answer is Answer.UNSURE


def rounds(
    space: Space,
    constraints: Constraints,
    seed: int,
    choose: Choose,
    clusterer: Clusterer,
    n_clusters: int | None,
    *,
    infer_last: bool,
    warm: bool,
) -> Steps:
    """Place one instance after another, as `choose` picks them, and cluster anew after each.

    Inside a round the clustering before it is reported; with the last answer of a round the new one.
    """
    if not isinstance(space, VectorSpace):
        raise InvalidDataError("This method hands all rows to a clusterer, so it needs a table of numbers.")
    train: IndexArray = np.arange(space.n) if space.train is None else np.flatnonzero(space.train)
    first = int(state_random(seed, b"first").choice(train))
    neighbourhoods = Neighbourhoods(train, first, constraints)
    clustering = Clustering(space, clusterer, n_clusters, seed, warm=warm)
    limit = (n_clusters or getattr(clusterer, "n_clusters", None)) if infer_last else None
    while True:
        try:
            neighbourhoods.refresh()
            report = clustering.update(neighbourhoods.known)
            rows = neighbourhoods.candidates()
            if len(rows) == 0:
                yield Step(None, report)
                continue
            x, order = choose(neighbourhoods, rows, clustering)
            yield from neighbourhoods.place(x, order, report, limit)
        except Reconsider:
            continue
