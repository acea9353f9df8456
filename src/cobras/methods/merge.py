"""The merge step: the bottom-up half of COBRA (Van Craenendonck et al., 2017), used by COBRA and COBRAS.

Ask about the two closest clusters whose relation is unknown until every relation is known. One matrix holds the
distances of all pairs of clusters that are still open, and infinity elsewhere; a must-link joins two rows, a
cannot-link closes one entry. Selecting a pair is O(m^2) for m clusters, an update O(m): with 500 super-instances
both together take a small part of a millisecond.

Distance between clusters is single linkage over the centroids of their super-instances, as in the authors' code.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Generator, Iterator, Sequence
from itertools import accumulate, chain
from typing import TypeAlias

import numpy as np

from cobras.core.constraints import Constraints
from cobras.core.partition import Partition, SuperInstance
from cobras.core.types import Answer, FloatArray
from cobras.methods.protocol import N_TRIES, Representative, Reuse, Step, ask, tries
from cobras.spaces.base import Space

Groups: TypeAlias = list[tuple[SuperInstance, ...]]


def merge(
    space: Space,
    constraints: Constraints,
    groups: Groups,
    *,
    reuse: Reuse,
    representative: Representative,
    n_old: int = 0,
    report: Partition | None = None,
) -> Generator[Step, Answer, Groups]:
    """Merge clusters until every relation is known.

    The first `n_old` groups have been compared with each other before. The clustering reported with each question
    is `report`, or the partly merged one when there is none.
    """
    known = constraints.relation if reuse == "transitive" else constraints.answered
    clusters, roots, n_old = join_known(constraints, groups, reuse, n_old)
    apart = {(min(a, b), max(a, b)) for a, b in known_apart(constraints, clusters, roots, reuse) if a != b}
    if len(apart) == math.comb(len(clusters), 2):  # often: then not even distances are needed
        return clusters
    distance = open_distances(space, clusters, apart, n_old)
    while True:
        a, b = divmod(int(distance.argmin()), len(clusters))
        if distance[a, b] == np.inf:
            return [cluster for cluster in clusters if cluster]
        a, b = min(a, b), max(a, b)
        near, far = spokesmen(space, clusters[a], clusters[b], representative)
        partition = report or Partition.of(clusters)
        answer = yield from ask(constraints, tries(space, near, far), partition, known)
        if answer is Answer.SAME:
            join(clusters, distance, a, b)
        else:
            distance[a, b] = distance[b, a] = np.inf


def join(clusters: Groups, distance: FloatArray, a: int, b: int) -> None:
    """Let cluster a take in cluster b; a relation that one of them has settled is settled for both."""
    clusters[a] += clusters[b]
    clusters[b] = ()
    settled = np.isinf(distance[a]) | np.isinf(distance[b])
    row = np.where(settled, np.inf, np.minimum(distance[a], distance[b]))
    distance[a] = distance[:, a] = row
    distance[b] = distance[:, b] = np.inf


def join_known(
    constraints: Constraints, groups: Groups, reuse: Reuse, n_old: int = 0
) -> tuple[Groups, list[set[int]], int]:
    """Join the groups that the answers so far put together, each into the first.

    Return them with the must-link components of their representatives, none for a cluster that is promised to be
    complete, and how many of the old ones remain.
    """
    roots = [components(constraints, group) for group in groups]
    into = list(range(len(groups)))
    for a, b in known_same(constraints, groups, roots, reuse):
        while into[a] != a:
            a = into[a]
        while into[b] != b:
            b = into[b]
        into[max(a, b)] = min(a, b)
    joined = list(groups)
    for c in reversed(
        range(len(groups))
    ):  # what has been joined into c lies behind it, and is complete by now
        if into[c] != c:
            joined[into[c]] += joined[c]
            roots[into[c]] |= roots[c]
    kept = [c for c in range(len(groups)) if into[c] == c]
    return [joined[c] for c in kept], [roots[c] for c in kept], sum(c < n_old for c in kept)


def open_distances(
    space: Space, clusters: Groups, apart: Collection[tuple[int, int]], n_old: int
) -> FloatArray:
    """The distances of the clusters whose relation is open, and infinity elsewhere."""
    # Old clusters are compared anew only where something was left open, as after an unsure answer.
    n_settled = sum(b < n_old for _, b in apart)
    rows = range(n_old if n_settled == math.comb(n_old, 2) else 0, len(clusters))
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


def spokesmen(
    space: Space, a: Sequence[SuperInstance], b: Sequence[SuperInstance], representative: Representative
) -> tuple[SuperInstance, SuperInstance]:
    """The super-instances whose representatives are shown: the first of each cluster, or the two closest."""
    if representative == "first" or len(a) == len(b) == 1:
        return a[0], b[0]
    between = space.distances(a, b)
    i, j = divmod(int(between.argmin()), len(b))
    return a[i], b[j]


def components(constraints: Constraints, group: tuple[SuperInstance, ...]) -> set[int]:
    """The must-link components of its representatives; none for a cluster promised to be complete."""
    if constraints.complete and any(s.mark in constraints.complete for s in group):
        return set()
    return constraints.components([s.representative for s in group])


def known_same(
    constraints: Constraints, groups: Groups, roots: list[set[int]], reuse: Reuse
) -> Iterator[tuple[int, int]]:
    """Pairs of groups that the answers, or one promise to be complete, put together."""
    if constraints.complete:
        first: dict[int, int] = {}
        for c, group in enumerate(groups):
            for s in group:
                if s.mark in constraints.complete:
                    yield first.setdefault(constraints.complete[s.mark], c), c
    if reuse == "transitive":
        homes: dict[int, int] = {}
        for c, own in enumerate(roots):
            for root in own:
                if (home := homes.setdefault(root, c)) != c:
                    yield home, c
    elif (
        reuse == "exact"
    ):  # the authors' code sees a known must-link only when the turn of its clusters comes
        yield from answered_pairs(constraints, groups, roots, Answer.SAME)


def known_apart(
    constraints: Constraints, clusters: Groups, roots: list[set[int]], reuse: Reuse
) -> Iterator[tuple[int, int]]:
    """Pairs of clusters that are held apart by the answers, by a promise or by doubt."""
    yield from ((c, other) for c, own in enumerate(roots) if not own for other in range(len(clusters)))
    if constraints.set_aside:
        yield from doubtful(constraints, clusters)
    if reuse == "transitive":
        homes = {root: c for c, own in enumerate(roots) for root in own}
        for root, c in homes.items():
            for other in constraints.apart_from(root):
                if other in homes:
                    yield c, homes[other]
    else:
        yield from answered_pairs(constraints, clusters, roots, Answer.DIFFERENT)


def answered_pairs(
    constraints: Constraints, clusters: Groups, roots: list[set[int]], wanted: Answer
) -> Iterator[tuple[int, int]]:
    """Pairs of clusters between whose representatives this very answer was given."""
    owner = {s.representative: c for c, group in enumerate(clusters) if roots[c] for s in group}
    for (i, j), answer in constraints:
        if answer is wanted and i in owner and j in owner:
            yield owner[i], owner[j]


def doubtful(constraints: Constraints, clusters: Groups) -> Iterator[tuple[int, int]]:
    """Pairs of clusters about which the person has been unsure as often as may be asked."""

    def home(i: int) -> int:
        for c, group in enumerate(clusters):
            for s in group:
                at = int(np.searchsorted(s.members, i))
                if at < len(s) and s.members[at] == i:
                    return c
        raise AssertionError("every instance has a cluster")

    unsure = Counter(tuple(sorted((home(i), home(j)))) for i, j in constraints.set_aside)
    for (a, b), times in unsure.items():
        if times >= N_TRIES:
            yield a, b
