"""COBRAS: constraint-based repeated aggregation and splitting (Van Craenendonck et al., 2018).

`split_and_merge` is Algorithm 1 of the paper and `split_level` is Algorithm 2; `cobras`, at the end, takes the
options. Departures from the paper, each of which saves answers or avoids a dead end and can be switched off:

* What the answers imply is not asked (`reuse`).
* A super-instance whose training members all fall into one part is split again among its training members alone
  (`split_fallback`). One that still cannot be split is not tried again, so identical rows end the search.

Once rows were added to the data, parts are represented by rows that were asked about (`keep_known_rows`).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from cobras.core.constraints import Constraints
from cobras.core.partition import Partition, SuperInstance
from cobras.core.types import Answer
from cobras.methods.inside import Division, search_inside
from cobras.methods.merge import Groups, join_known, merge
from cobras.methods.newcomers import keep_known_rows, place_new_rows
from cobras.methods.protocol import (
    Branch,
    FirstIteration,
    Grown,
    Growth,
    Reconsider,
    Representative,
    Reuse,
    SplitFallback,
    Step,
    Steps,
    Variant,
    ask,
    representative_pairs,
    scope_of,
)
from cobras.spaces.base import Space


def split_and_merge(space: Space, constraints: Constraints, seed: int, variant: Variant) -> Steps:
    """Algorithm 1: split the largest super-instance, merge the parts by queries, and begin again."""
    state = State([(space.root(seed),)])
    while True:
        try:
            yield from fulfil_wishes(space, constraints, state, variant)
            s = largest(state.clusters, constraints, state.unsplittable)
            if s is None:
                yield Step(None, state.complete)
                continue
            k = yield from split_level(space, constraints, s, state.complete, variant)
            parts = keep_known_rows(space, constraints, final_split(space, s, k, variant))
            if len(parts) < 2:
                state.unsplittable.add(s)
                continue
            yield from merge_parts(space, constraints, state, s, parts, variant)
        except Grown as signal:
            space = signal.space
            state.take_in(signal)
        except Reconsider as signal:
            # What was asked in this iteration is among the constraints: it is not asked again.
            state.look_again(signal, constraints)


def split_level(
    space: Space, constraints: Constraints, s: SuperInstance, complete: Partition, variant: Variant
) -> Generator[Step, Answer, int]:
    """Algorithm 2: into how many parts a super-instance is to be split.

    Halve it, then one of its halves, and so on, until two halves belong together; d cannot-links mean 2^d parts.
    """
    known = {
        "transitive": constraints.relation,
        "exact": constraints.answer_to,
        "reference": lambda i, j: None,
    }[variant.reuse]
    level, part = 0, s
    while variant.max_level is None or level < variant.max_level:
        halves = keep_known_rows(space, constraints, space.split(part, 2))
        if len(halves) < 2:
            break
        pairs = representative_pairs(space, *halves)
        report = search_report(space, constraints, s, level, complete, variant)
        # A person who is unsure gives no reason to look deeper.
        scope = scope_of(halves[:1], halves[1:])
        if (yield from ask(constraints, pairs, report, known, scope=scope)) is not Answer.DIFFERENT:
            break
        level += 1
        splittable = [half for half in halves if half.n_train >= 2]
        if not splittable:
            break
        part = pick_half(part, splittable, variant.branch)
    return int(2 ** max(level, 1))


def merge_parts(
    space: Space,
    constraints: Constraints,
    state: State,
    s: SuperInstance,
    parts: Sequence[SuperInstance],
    variant: Variant,
) -> Generator[Step, Answer, None]:
    """End an iteration: every part of a super-instance becomes a cluster, and those that belong together merge."""
    new: Groups = [(part,) for part in parts]
    report = merge_report(s, state.complete, new, variant)
    state.finish((yield from merge(space, constraints, without(state.clusters, s), new, report, variant)))


def largest(
    clusters: Groups, constraints: Constraints, unsplittable: set[SuperInstance]
) -> SuperInstance | None:
    """The largest super-instance that can be split and is not marked as pure or complete; the first on a tie."""
    marked = constraints.pure | constraints.complete.keys()
    best, size = None, 1
    for cluster in clusters:
        for s in cluster:
            if len(s) > size and s.n_train >= 2 and not (s in unsplittable or s.mark in marked):
                best, size = s, len(s)
    return best


def pick_half(part: SuperInstance, halves: Sequence[SuperInstance], branch: Branch) -> SuperInstance:
    """The half in which the search goes on."""
    if branch == "random" and len(halves) > 1:
        return halves[int(part.random().random(1)[0] * len(halves))]
    return max(halves, key=len) if branch == "largest" else min(halves, key=len)


def final_split(space: Space, s: SuperInstance, k: int, variant: Variant) -> tuple[SuperInstance, ...]:
    """The parts that stay; a single one when the super-instance cannot be split."""
    # The authors' code runs k-means anew, where we take the halves of the search again if k is 2.
    parts = space.split(s, k, draw=1 if variant.reuse == "reference" else 0)
    if len(parts) < 2 and variant.split_fallback == "train_only":
        parts = space.split(s, 2, among="train")
    return parts


def without(clusters: Groups, s: SuperInstance) -> Groups:
    """The clusters without a super-instance, and without the cluster that it leaves empty."""
    rest = (tuple(other for other in c if other is not s) if s in c else c for c in clusters)
    return [cluster for cluster in rest if cluster]


def is_first_iteration(s: SuperInstance, complete: Partition) -> bool:
    """Whether the super-instance that is to be split is all there is."""
    return complete.groups == ((s,),)


def search_report(
    space: Space,
    constraints: Constraints,
    s: SuperInstance,
    level: int,
    complete: Partition,
    variant: Variant,
) -> Partition:
    """The clustering a person would get by stopping while the split level is sought."""
    if not is_first_iteration(s, complete) or variant.first_iteration != "eager" or level == 0:
        return complete
    parts: Groups = [(part,) for part in space.split(s, 2**level)]
    return Partition.of(group.super_instances for group in join_known(constraints, parts, variant.reuse))


def merge_report(s: SuperInstance, complete: Partition, new: Groups, variant: Variant) -> Partition | None:
    """The clustering a person would get by stopping during the merge; None for the partly merged one."""
    if not is_first_iteration(s, complete) or variant.first_iteration == "single":
        return complete
    return Partition.of(new) if variant.first_iteration == "unmerged" else None


@dataclass(slots=True)
class State:
    """The clustering, and what a person wants that comes before the next iteration."""

    clusters: Groups
    complete: Partition = field(init=False)  # the clustering of the last complete iteration
    unsplittable: set[SuperInstance] = field(default_factory=set)
    division: Division | None = None  # what is to be split because the person wants it, until that is done
    growth: Growth | None = None  # new rows whose place is to be asked first
    is_compared: bool = True  # False after an iteration was given up before all its parts were compared

    def __post_init__(self) -> None:
        self.complete = Partition.of(self.clusters)

    def finish(self, clusters: Groups) -> None:
        """Take the clusters of a complete iteration."""
        self.clusters, self.complete, self.is_compared = clusters, Partition.of(clusters), True

    def take_in(self, signal: Grown) -> None:
        """Go on with the new rows, each of which is shown where it most likely belongs."""
        self.is_compared = self.is_compared and signal.partition is self.complete
        self.growth, self.division = signal.growth, None
        self.complete = signal.growth.partition
        self.clusters = list(self.complete.groups)

    def look_again(self, signal: Reconsider, constraints: Constraints) -> None:
        """Begin this iteration again, since the person said or wants something."""
        shown = signal.partition or self.complete
        if shown is not self.complete and any(
            s.mark in constraints.to_split for group in shown.groups for s in group
        ):
            # One of the parts of the first iteration is to be split: what is open is compared later.
            self.clusters, self.complete = list(shown.groups), shown
            self.is_compared, self.growth = False, None


def fulfil_wishes(
    space: Space, constraints: Constraints, state: State, variant: Variant
) -> Generator[Step, Answer, None]:
    """Split the clusters that the person wants to be split, and ask about new rows."""
    while True:
        if state.division and state.division.whole.mark in constraints.pure | constraints.complete.keys():
            state.division = None
        if state.division is None and constraints.to_split:
            state.division = yield from search_inside(space, constraints, state.complete)
        if state.division is None:
            break
        yield from merge_parts(space, constraints, state, *state.division, variant)
        state.division = None
    if state.growth is not None:
        clusters, alone = yield from place_new_rows(space, constraints, state.growth)
        report = None
        if not state.is_compared:  # they came within the first iteration
            clusters, alone = [], clusters + alone
            report = Partition.of(alone) if variant.first_iteration == "unmerged" else None
        if alone:
            clusters = yield from merge(space, constraints, clusters, alone, report, variant)
        state.finish(clusters)
        state.growth = None
    if not state.is_compared and largest(state.clusters, constraints, state.unsplittable) is None:
        state.finish((yield from merge(space, constraints, state.clusters, [], None, variant)))


def cobras(
    space: Space,
    constraints: Constraints,
    seed: int,
    *,
    branch: Branch = "random",
    first_iteration: FirstIteration = "partial",
    reuse: Reuse = "transitive",
    split_fallback: SplitFallback = "train_only",
    representative: Representative = "first",
    max_level: int | None = None,
) -> Steps:
    """Split the largest super-instance, merge the parts by queries, and begin again.

    Parameters
    ----------
    branch : {"random", "smallest", "largest"}
        Which half the search for the split level follows; the paper says random, the authors' code smallest.
    first_iteration : {"partial", "unmerged", "single", "eager"}
        What is reported before the first iteration is complete: one cluster and then the partly merged parts; the
        parts unmerged; one cluster throughout; or already during the search the split at the level found so far.
    reuse : {"transitive", "exact", "reference"}
        Which pairs cost no query: all that the answers imply, those answered before, or as in the authors' code.
    split_fallback : {"train_only", "none"}
        What to do when all training members fall into one part of a split.
    representative : {"first", "closest"}
        Which super-instances of two clusters are compared: the first of each, or the two that are closest.
    max_level : int, optional
        A limit to the depth of the search for the split level.
    """
    variant = Variant(branch, first_iteration, reuse, split_fallback, representative, max_level)
    return split_and_merge(space, constraints, seed, variant)
