"""Where new rows belong when they are added to the data, and the first questions after that.

A new row joins the cluster that is likeliest for it, and in this the nearest super-instance. If that is unsure, it
waits in a super-instance of its own, so that the method can ask about it first. What is marked keeps its members:
new rows of such a cluster stand beside them.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from cobras.core.constraints import Constraints
from cobras.core.partition import Partition, SuperInstance
from cobras.core.types import Answer, FloatArray
from cobras.methods.merge import Groups
from cobras.methods.protocol import Growth, Step, ask, representative_pairs
from cobras.spaces.base import GrowingSpace, Space

if TYPE_CHECKING:
    from cobras.spaces.euclidean import EuclideanSpace
    from cobras.spaces.growth import GrownSpace

SURE = 0.5  # a new row that is less sure of its cluster is worth a question
FAR = 4.0  # and so is one that is so many times as far from a centroid as any old row is from its own
N_SAMPLE = 256  # members from which it is estimated how far they are
MOST_PENDING = 3  # super-instances of unsure rows; the smaller ones are not asked about first
N_CLUSTERS = 1  # with which new rows are compared at once; the merge compares them with all others


def grow_partition(
    base: Partition,
    space: GrownSpace,
    likely: FloatArray,
    marked: Collection[SuperInstance],
    complete: Collection[int],
    *,
    sees_far: bool,
) -> Growth:
    """Put new rows into the clusters that are likeliest for them, of shape (n_new, n_clusters).

    `marked` are the super-instances that keep their members, and `complete` the numbers of the clusters that do.
    `sees_far` says whether these probabilities are low for a row that is far from all others.
    """
    rows, chosen, sure = space.new_rows, likely.argmax(axis=1), likely.max(axis=1) >= SURE
    # For each cluster the super-instances that are new in it.
    beside: dict[int, list[SuperInstance]] = {}
    # The super-instances that may grow, their clusters, and which of them each new row joins, or -1.
    parts: list[SuperInstance] = []
    homes: list[int] = []
    at, away = np.full(len(rows), -1), np.zeros(len(rows))
    for number, cluster in enumerate(base.clusters):
        here = np.flatnonzero(chosen == number)
        if not len(here):
            continue
        open_parts: Sequence[SuperInstance] = cluster.super_instances
        if marked:
            open_parts = [s for s in open_parts if s not in marked]
        if not open_parts or number in complete:
            seed = cluster.super_instances[0].seed
            beside[number] = [space.group(rows[here], seed)]
            continue
        nearest, away[here] = space.nearest(rows[here], open_parts)
        at[here] = len(parts) + nearest
        parts += open_parts
        homes += [number] * len(open_parts)
    if not sees_far:
        # Not of the nearest one alone: one that has a single member would be far from every row.
        sure &= away <= FAR * max(radius(space.old, s) for group in base.groups for s in group)
    # Before anything was asked there is nothing to compare with.
    sure |= len(base.groups) == len(base.groups[0]) == 1
    waiting = np.flatnonzero(~sure & (at >= 0))
    near, first, size = np.unique(at[waiting], return_index=True, return_counts=True)
    pending = []
    for x in np.lexsort([first, -size])[:MOST_PENDING].tolist():
        part, few = int(near[x]), waiting[at[waiting] == near[x]]
        pending.append(space.group(rows[few], parts[part].seed))
        beside.setdefault(homes[part], []).append(pending[-1])
        at[few] = -1
    grown = space.grow(parts, rows[at >= 0], at[at >= 0])
    replaced = {s: new for s, new in zip(parts, grown, strict=True) if new is not s}
    groups = [
        (*(replaced.get(s, s) for s in cluster.super_instances), *beside.get(number, ()))
        for number, cluster in enumerate(base.clusters)
    ]
    added = tuple(s for new in beside.values() for s in new)
    return Growth(Partition.of(groups), replaced, added, tuple(pending), rows[waiting], likely)


def radius(space: EuclideanSpace, s: SuperInstance) -> float:
    """How far the members of a super-instance are from its centroid at most, of some of them."""
    members = s.members
    some = members[np.linspace(0, len(members) - 1, min(len(members), N_SAMPLE)).astype(np.intp)]
    return float(np.sqrt(((space.X[some] - s.centroid) ** 2).sum(axis=1).max()))


def keep_known_rows(
    space: Space, constraints: Constraints, parts: tuple[SuperInstance, ...]
) -> tuple[SuperInstance, ...]:
    """Let rows that were asked about represent the parts that hold them, once rows were added.

    Parts change when rows are added, and with medoids of their own the answers about the old ones would be lost.
    Without new rows the medoids stay, as in the paper.
    """
    if len(parts) < 2 or not isinstance(space, GrowingSpace):
        return parts
    # What a person moved or told without being asked is often an exception, which stands for no others.
    asked = (pair for pair, _ in constraints if pair not in constraints.volunteered)
    return space.represent(parts, list(dict.fromkeys(chain.from_iterable(asked))))


def place_new_rows(
    space: Space, constraints: Constraints, growth: Growth
) -> Generator[Step, Answer, tuple[Groups, Groups]]:
    """Compare each pending super-instance with the nearest clusters.

    Return the clusters as they are then, and those that are the same as none of them.
    """
    home = {s: number for number, group in enumerate(growth.partition.groups) for s in group}
    pending = {*growth.pending}
    groups = [[s for s in group if s not in pending] for group in growth.partition.groups]
    others: Groups = []
    for place, s in enumerate(growth.pending):
        report, left = growth.partition, growth.pending[place:]
        apart = [waiting for waiting in left if is_apart(constraints, waiting, groups[home[waiting]])]
        if place or apart:
            # Until it is compared, each is shown where it most likely belongs and may be.
            shown = [list(group) for group in groups]
            for waiting in left:
                if waiting not in apart:
                    shown[home[waiting]].append(waiting)
            alone = [(waiting,) for waiting in apart]
            report = Partition.of((*(tuple(group) for group in shown if group), *others, *alone))
        target = yield from find_cluster(space, constraints, s, groups, report)
        if target is None:
            others.append((s,))
        else:
            groups[target].append(s)
    return [tuple(group) for group in groups if group], others


def is_apart(constraints: Constraints, s: SuperInstance, group: Iterable[SuperInstance]) -> bool:
    """Whether a super-instance is known to differ from a part of a group."""
    relations = (constraints.relation(s.representative, part.representative) for part in group)
    return any(relation is Answer.DIFFERENT for relation in relations)


def find_cluster(
    space: Space,
    constraints: Constraints,
    s: SuperInstance,
    groups: list[list[SuperInstance]],
    report: Partition,
) -> Generator[Step, Answer, int | None]:
    """The number of the group that a super-instance belongs to; None if it is none of the nearest."""
    open_groups = [
        number
        for number, group in enumerate(groups)
        if group and not any(part.mark in constraints.complete for part in group)
    ]
    nearest = [(space.distances([s], groups[number])[0], number) for number in open_groups]
    for away, number in sorted(nearest, key=lambda found: float(found[0].min()))[:N_CLUSTERS]:
        part = groups[number][int(np.argmin(away))]
        pairs = representative_pairs(space, s, part)
        if (yield from ask(constraints, pairs, report, constraints.relation)) is Answer.SAME:
            return number
    return None
