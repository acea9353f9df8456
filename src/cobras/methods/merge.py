"""The merge step: the bottom-up half of COBRA (Van Craenendonck et al., 2017), used by COBRA and COBRAS.

Ask about the two closest clusters whose relation is unknown until every relation is known. One matrix holds the
distances of all pairs of clusters that are still open, and infinity elsewhere; a must-link joins two rows, a
cannot-link closes one entry. Selecting a pair is O(m^2) for m clusters, an update O(m): with 500 super-instances
both together take a small part of a millisecond.

Distance between clusters is single linkage over the centroids of their super-instances, as in the authors' code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from cobras.constraints import Constraints
from cobras.methods.asking import N_TRIES, Representative, Reuse, Step, ask, tries
from cobras.partition import Partition, SuperInstance
from cobras.spaces import Space
from cobras.types import Answer, FloatArray

Groups: TypeAlias = list[tuple[SuperInstance, ...]]


def merge(
    space: Space,
    constraints: Constraints,
    groups: Groups,
    *,
    reuse: Reuse,
    representative: Representative,
    n_new: int,
    report: Partition | None = None,
) -> Generator[Step, Answer, Groups]:
    """Merge clusters until every relation is known.

    The last `n_new` groups are new; the others have been compared with each other before. The clustering reported
    with each question is `report`, or the partly merged one when there is none.
    """
    known = constraints.relation if reuse == "transitive" else constraints.answered
    clusters = list(groups)
    distance = open_distances(space, constraints, clusters, reuse, n_new)
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


def merge_known(space: Space, constraints: Constraints, groups: Groups, reuse: Reuse) -> Groups:
    """Merge as far as the answers given so far allow, without a question."""
    clusters = list(groups)
    open_distances(space, constraints, clusters, reuse, len(clusters))
    return [cluster for cluster in clusters if cluster]


def open_distances(
    space: Space, constraints: Constraints, clusters: Groups, reuse: Reuse, n_new: int
) -> FloatArray:
    """Join what is known to belong together; distances of the clusters whose relation is open, else infinity."""
    closed = np.zeros((len(clusters), len(clusters)), dtype=bool)
    np.fill_diagonal(closed, True)
    same = []
    for a, b, answer in known_relations(constraints, clusters, reuse):
        if answer is Answer.SAME:
            same.append((a, b))
        elif a != b:
            closed[a, b] = closed[b, a] = True
    # Old clusters are compared anew only where something was left open, as after an unsure answer.
    n_old = len(clusters) - n_new
    left_open = np.flatnonzero(~closed[:n_old, :n_old].all(axis=1))
    rows = [*left_open.tolist(), *range(n_old, len(clusters))]
    distance = np.full(closed.shape, np.inf)
    distance[rows] = linkage(space, clusters, rows)
    distance[:, rows] = distance[rows].T
    distance[closed] = np.inf
    at = list(range(len(clusters)))  # where each cluster has gone
    for a, b in same:
        while at[a] != a:
            a = at[a]
        while at[b] != b:
            b = at[b]
        if a != b:
            a, b = min(a, b), max(a, b)
            join(clusters, distance, a, b)
            at[b] = a
    return distance


def join(clusters: Groups, distance: FloatArray, a: int, b: int) -> None:
    """Let cluster a take in cluster b; a relation that one of them has settled is settled for both."""
    clusters[a] += clusters[b]
    clusters[b] = ()
    settled = np.isinf(distance[a]) | np.isinf(distance[b])
    row = np.where(settled, np.inf, np.minimum(distance[a], distance[b]))
    distance[a] = distance[:, a] = row
    distance[b] = distance[:, b] = np.inf


def linkage(space: Space, clusters: Groups, rows: Sequence[int]) -> FloatArray:
    """Single-linkage distances between some of the clusters and all of them."""
    chosen = [clusters[r] for r in rows]
    between = space.distances([s for c in chosen for s in c], [s for c in clusters for s in c])
    across = np.minimum.reduceat(between, starts(clusters), axis=1)
    return np.minimum.reduceat(across, starts(chosen), axis=0)


def starts(clusters: Sequence[Sequence[SuperInstance]]) -> list[int]:
    """Where each cluster begins in the concatenation of all."""
    return [0, *np.cumsum([len(c) for c in clusters[:-1]]).tolist()]


def spokesmen(
    space: Space, a: Sequence[SuperInstance], b: Sequence[SuperInstance], representative: Representative
) -> tuple[SuperInstance, SuperInstance]:
    """The super-instances whose representatives are shown: the first of each cluster, or the two closest."""
    if representative == "first" or len(a) == len(b) == 1:
        return a[0], b[0]
    between = space.distances(a, b)
    i, j = divmod(int(between.argmin()), len(b))
    return a[i], b[j]


def known_relations(
    constraints: Constraints, clusters: Groups, reuse: Reuse
) -> Iterator[tuple[int, int, Answer]]:
    """Pairs of clusters whose relation is settled by the answers so far, by promise, or by doubt."""
    kept = constraints.complete
    complete = {
        c for c, group in enumerate(clusters) if kept and any(s.representative in kept for s in group)
    }
    for c in complete:
        yield from ((c, other, Answer.DIFFERENT) for other in range(len(clusters)) if other != c)
    yield from doubtful(constraints, clusters)
    if reuse == "transitive":
        homes: dict[int, int] = {}
        for c, group in enumerate(clusters):
            if c not in complete:
                for root in {constraints.component(s.representative) for s in group}:
                    if (home := homes.setdefault(root, c)) != c:
                        yield home, c, Answer.SAME
        for root, c in homes.items():
            for other in constraints.apart_from(root):
                if other in homes:
                    yield c, homes[other], Answer.DIFFERENT
        return
    owner = {s.representative: c for c, group in enumerate(clusters) if c not in complete for s in group}
    for (i, j), answer in constraints:
        # The authors' code sees a known must-link only when the turn of its two clusters comes.
        if i in owner and j in owner and (reuse == "exact" or answer is Answer.DIFFERENT):
            yield owner[i], owner[j], answer


def doubtful(constraints: Constraints, clusters: Groups) -> Iterator[tuple[int, int, Answer]]:
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
        if a != b and times >= N_TRIES:
            yield a, b, Answer.DIFFERENT
