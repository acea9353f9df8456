"""COBRA: constraint-based repeated aggregation (Van Craenendonck et al., 2017).

One over-clustering by k-means into super-instances, then the merge step. The partly merged clustering is reported
with every question, as in the experiments of the COBRAS paper.
"""

from __future__ import annotations

from cobras.core.constraints import Constraints
from cobras.core.partition import Partition
from cobras.methods.inside import search_inside
from cobras.methods.merge import Groups, merge
from cobras.methods.newcomers import place_new_rows
from cobras.methods.protocol import Grown, Growth, Reconsider, Representative, Reuse, Step, Steps, Variant
from cobras.spaces.base import Space


def cobra(
    space: Space,
    constraints: Constraints,
    seed: int,
    *,
    n_super_instances: int = 25,
    reuse: Reuse = "transitive",
    representative: Representative = "first",
) -> Steps:
    """Split everything into super-instances, then merge them by queries.

    Parameters
    ----------
    n_super_instances : int
        How many super-instances to make; the papers run 10, 25 and 50.
    reuse, representative
        As in `cobras`.
    """
    variant = Variant(reuse=reuse, representative=representative)
    parts: Groups = [(part,) for part in space.split(space.root(seed), n_super_instances)]
    shown = Partition.of(parts)
    grown: Growth | None = None
    while True:
        try:
            # The paper has no further splits: these are on request.
            if constraints.to_split and (division := (yield from search_inside(space, constraints, shown))):
                parts = [
                    (s,) for (part,) in parts for s in (division.parts if part is division.whole else (part,))
                ]
            if grown is not None:
                yield from place_new_rows(space, constraints, grown)
                grown = None
            clusters = yield from merge(space, constraints, [], parts, None, variant)
            yield Step(None, Partition.of(clusters))
        except Grown as signal:
            space, grown, shown = signal.space, signal.growth, signal.growth.partition
            parts = [(s,) for group in shown.groups for s in group]
        except Reconsider as signal:
            shown = signal.partition or shown
