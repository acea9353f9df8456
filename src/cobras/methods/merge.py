"""The merge step: the bottom-up half of COBRA (Van Craenendonck et al., 2017), used by COBRA and COBRAS.

Ask about the two closest clusters whose relation is unknown, until every relation is known. One matrix holds the
distances of all pairs of clusters that are still open, and infinity elsewhere; a must-link joins two rows, a
cannot-link closes one entry. Selecting a pair is O(m^2) for m clusters, an update O(m): with 500 super-instances
both together take a small part of a millisecond.

Distance between clusters is single linkage over the centroids of their super-instances, as in the authors' code.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import TypeAlias

import numpy as np

from cobras.core.constraints import Constraints
from cobras.core.partition import Partition, SuperInstance
from cobras.core.types import Answer, FloatArray
from cobras.methods.protocol import (
    N_TRIES,
    Representative,
    Reuse,
    Step,
    Variant,
    ask,
    representative_pairs,
    scope_of,
)
from cobras.spaces.base import Space

Groups: TypeAlias = list[tuple[SuperInstance, ...]]


@dataclass(frozen=True, slots=True)
class Group:
    """Super-instances that are together in one cluster.

    `components` are the must-link components of their representatives. Nothing is asked about a complete group, and
    no answer changes it. Old groups have been compared with each other in an earlier iteration.
    """

    super_instances: tuple[SuperInstance, ...]
    components: set[int]
    is_complete: bool
    is_old: bool


def merge(
    space: Space,
    constraints: Constraints,
    old: Groups,
    new: Groups,
    report: Partition | None,
    variant: Variant,
) -> Generator[Step, Answer, Groups]:
    """Merge old and new clusters until every relation is known; the old ones know each other's.

    The clustering reported with each question is `report`, or the partly merged one when there is none.
    """
    known = constraints.relation if variant.reuse == "transitive" else constraints.answer_to
    groups = join_known(constraints, old + new, variant.reuse, len(old))
    clusters = [group.super_instances for group in groups]
    apart = {(min(a, b), max(a, b)) for a, b in pairs_apart(constraints, groups, variant.reuse) if a != b}
    # Often all relations follow from the answers so far: then not even distances are needed.
    if len(apart) == math.comb(len(clusters), 2):
        return clusters
    distance = open_distances(space, clusters, apart, sum(group.is_old for group in groups))
    while True:
        a, b = divmod(int(distance.argmin()), len(clusters))
        if distance[a, b] == np.inf:
            return [cluster for cluster in clusters if cluster]
        a, b = min(a, b), max(a, b)
        compare = super_instances_to_compare(space, clusters[a], clusters[b], variant.representative)
        pairs = representative_pairs(space, *compare)
        shown, scope = report or Partition.of(clusters), scope_of(clusters[a], clusters[b])
        if (yield from ask(constraints, pairs, shown, known, scope=scope)) is Answer.SAME:
            join(clusters, distance, a, b)
        else:
            distance[a, b] = distance[b, a] = np.inf


def join(clusters: Groups, distance: FloatArray, a: int, b: int) -> None:
    """Move cluster b into cluster a; a relation that is known for one of them is known for both."""
    clusters[a] += clusters[b]
    clusters[b] = ()
    # Infinite: known to be different, or the same cluster.
    is_known = np.isinf(distance[a]) | np.isinf(distance[b])
    row = np.where(is_known, np.inf, np.minimum(distance[a], distance[b]))
    distance[a] = distance[:, a] = row
    distance[b] = distance[:, b] = np.inf


def join_known(constraints: Constraints, clusters: Groups, reuse: Reuse, n_old: int = 0) -> list[Group]:
    """Join the clusters that the answers so far put together, each into the first of them."""
    groups = [
        Group(
            cluster,
            constraints.components([s.representative for s in cluster]),
            is_complete=bool(constraints.complete) and any(s.mark in constraints.complete for s in cluster),
            is_old=c < n_old,
        )
        for c, cluster in enumerate(clusters)
    ]
    into = list(range(len(groups)))
    for a, b in pairs_together(constraints, groups, reuse):
        while into[a] != a:
            a = into[a]
        while into[b] != b:
            b = into[b]
        into[max(a, b)] = min(a, b)
    # Backwards: whatever is joined into a cluster stands behind it, so a cluster is whole before it moves on.
    for c in reversed(range(len(groups))):
        if into[c] != c:
            first, other = groups[into[c]], groups[c]
            together = first.super_instances + other.super_instances
            components = first.components | other.components
            groups[into[c]] = replace(first, super_instances=together, components=components)
    return [group for c, group in enumerate(groups) if into[c] == c]


def open_distances(
    space: Space, clusters: Groups, apart: Collection[tuple[int, int]], n_old: int
) -> FloatArray:
    """The distances of the clusters whose relation is open, and infinity elsewhere."""
    # Old clusters are compared anew only where something was left open, as after an unsure answer.
    n_known = sum(b < n_old for _, b in apart)
    rows = range(n_old if n_known == math.comb(n_old, 2) else 0, len(clusters))
    distance = np.full((len(clusters), len(clusters)), np.inf)
    distance[rows.start :] = linkage(space, clusters, rows)
    distance[:, rows.start :] = distance[rows.start :].T
    distance.flat[:: len(clusters) + 1] = np.inf
    for a, b in apart:
        distance[a, b] = distance[b, a] = np.inf
    return distance


def linkage(space: Space, clusters: Groups, rows: Sequence[int]) -> FloatArray:
    """Single-linkage distances between some of the clusters and all of them."""
    chosen = [clusters[r] for r in rows]
    between = space.distances(list(chain(*chosen)), list(chain(*clusters)))
    across = np.minimum.reduceat(between, starts(clusters), axis=1)
    return across if len(across) == len(rows) else np.minimum.reduceat(across, starts(chosen), axis=0)


def starts(clusters: Sequence[Sequence[SuperInstance]]) -> list[int]:
    """Where each cluster begins in the concatenation of all."""
    return [0, *accumulate(len(c) for c in clusters[:-1])]


def super_instances_to_compare(
    space: Space, a: Sequence[SuperInstance], b: Sequence[SuperInstance], representative: Representative
) -> tuple[SuperInstance, SuperInstance]:
    """The super-instances whose representatives are shown: the first of each cluster, or the two closest."""
    if representative == "first" or len(a) == len(b) == 1:
        return a[0], b[0]
    i, j = divmod(int(space.distances(a, b).argmin()), len(b))
    return a[i], b[j]


def pairs_together(constraints: Constraints, groups: list[Group], reuse: Reuse) -> Iterator[tuple[int, int]]:
    """Pairs of groups that are one cluster, by the answers or because they were marked as complete together."""
    first: dict[int, int] = {}
    for c, group in enumerate(groups):
        for s in group.super_instances if group.is_complete else ():
            if s.mark in constraints.complete:
                yield first.setdefault(constraints.complete[s.mark], c), c
    if reuse == "transitive":
        owner: dict[int, int] = {}
        for c, group in enumerate(groups):
            for component in () if group.is_complete else group.components:
                if (other := owner.setdefault(component, c)) != c:
                    yield other, c
    # The authors' code sees a known must-link only when the turn of its clusters comes.
    elif reuse == "exact":
        yield from pairs_with_answer(constraints, groups, Answer.SAME)


def pairs_apart(constraints: Constraints, groups: list[Group], reuse: Reuse) -> Iterator[tuple[int, int]]:
    """Pairs of groups that stay apart, by the answers, by a mark or because the person is unsure."""
    for c, group in enumerate(groups):
        if group.is_complete:
            yield from ((c, other) for other in range(len(groups)))
    if constraints.set_aside:
        yield from pairs_unsure(constraints, groups)
    if reuse == "transitive":
        owner = {r: c for c, group in enumerate(groups) if not group.is_complete for r in group.components}
        for component, c in owner.items():
            for other in constraints.apart_from(component):
                if other in owner:
                    yield c, owner[other]
    else:
        yield from pairs_with_answer(constraints, groups, Answer.DIFFERENT)


def pairs_with_answer(
    constraints: Constraints, groups: list[Group], wanted: Answer
) -> Iterator[tuple[int, int]]:
    """Pairs of groups, not complete, between whose representatives this very answer was given."""
    owner = {
        s.representative: c for c, g in enumerate(groups) if not g.is_complete for s in g.super_instances
    }
    for (i, j), answer in constraints:
        if answer is wanted and i in owner and j in owner:
            yield owner[i], owner[j]


def pairs_unsure(constraints: Constraints, groups: list[Group]) -> Iterator[tuple[int, int]]:
    """Pairs of groups about which the person has been unsure as often as may be asked."""
    partition = Partition.of(group.super_instances for group in groups)
    # A partition numbers its clusters in its own order.
    place = {group.super_instances: c for c, group in enumerate(groups)}
    places = [place[cluster.super_instances] for cluster in partition.clusters]
    number = partition.clusters_of(i for pair in constraints.set_aside for i in pair)
    times = Counter(tuple(sorted((places[number[i]], places[number[j]]))) for i, j in constraints.set_aside)
    for (a, b), n_unsure in times.items():
        if n_unsure >= N_TRIES:
            yield a, b
