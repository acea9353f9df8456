"""Questions inside the clusters that a person wants to be split."""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

from cobras.core.constraints import Constraints
from cobras.core.partition import Partition, SuperInstance
from cobras.core.types import Answer
from cobras.methods.protocol import Step, ask, representative_pairs, scope_of
from cobras.spaces.base import Space


class Division(NamedTuple):
    """A super-instance, and smaller ones that together hold its instances, two of which are different."""

    whole: SuperInstance
    parts: tuple[SuperInstance, ...]


def search_inside(
    space: Space, constraints: Constraints, report: Partition
) -> Generator[Step, Answer, Division | None]:
    """Halve the largest part of these clusters, then the next, until two halves are different.

    None when nothing inside is left to ask. The clustering that is reported is `report`.
    """
    wanted = constraints.to_split.keys() - constraints.pure - constraints.complete.keys()
    # Each part of a super-instance, with the others that make it whole.
    parts = [
        (s, Division(s, ())) for group in report.groups for s in group if s.mark in wanted and s.n_train >= 2
    ]
    while parts and constraints.to_split:
        place = max(range(len(parts)), key=lambda at: len(parts[at][0]))
        part, division = parts.pop(place)
        halves = space.split(part, 2)
        if len(halves) < 2:
            continue
        pairs = representative_pairs(space, *halves)
        known, scope = constraints.relation, scope_of(halves[:1], halves[1:])
        if (yield from ask(constraints, pairs, report, known, scope=scope)) is Answer.DIFFERENT:
            return Division(division.whole, (*division.parts, *halves))
        for half, other in (halves, reversed(halves)):
            if half.n_train >= 2:
                parts.append((half, Division(division.whole, (*division.parts, other))))
    return None
