"""COBRAS: constraint-based repeated aggregation and splitting (Van Craenendonck et al., 2018).

`cobras` is Algorithm 1 and `split_level` is Algorithm 2. Departures from the paper, each of which saves answers or
avoids a dead end and can be switched off:

* What the answers imply is not asked (`reuse`).
* A super-instance whose training members all fall on one side of a split is split again among its training
  members alone (`split_fallback`); one that still cannot be split is left alone, so identical rows end the search.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Literal

from cobras.core.constraints import Constraints
from cobras.core.partition import NodePath, Partition, SuperInstance
from cobras.core.types import Answer
from cobras.methods.merge import Groups, join_known, merge
from cobras.methods.protocol import Reconsider, Representative, Reuse, Step, Steps, ask, tries
from cobras.spaces.base import Space

Branch = Literal["random", "smallest", "largest"]
FirstIteration = Literal["partial", "unmerged", "single", "eager"]
SplitFallback = Literal["train_only", "none"]


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
        What to do when all training members fall on one side of a split.
    representative : {"first", "closest"}
        Which super-instances speak for two clusters.
    max_level : int, optional
        A limit to the depth of the search for the split level.
    """
    clusters: Groups = [(space.root(seed),)]
    single = complete = Partition.of(clusters)
    unsplittable: set[NodePath] = set()
    while True:
        try:
            chosen = largest(clusters, constraints, unsplittable)
            if chosen is None:
                yield Step(None, complete)
                continue
            eager = complete is single and first_iteration == "eager"
            k = yield from split_level(space, constraints, chosen, complete, branch, reuse, max_level, eager)
            parts = space.split(chosen, k, draw=int(reuse == "reference"))
            if len(parts) < 2 and split_fallback == "train_only":
                parts = space.split(chosen, 2, among="train")
            if len(parts) < 2:
                unsplittable.add(chosen.path)
                continue
            new: Groups = [(part,) for part in parts]
            report: Partition | None = complete
            if complete is single and first_iteration != "single":
                report = Partition.of(new) if first_iteration == "unmerged" else None
            old = without(clusters, chosen)
            clusters = yield from merge(
                space,
                constraints,
                old + new,
                reuse=reuse,
                representative=representative,
                n_old=len(old),
                report=report,
            )
            complete = Partition.of(clusters)
        except Reconsider:
            continue


def split_level(
    space: Space,
    constraints: Constraints,
    s: SuperInstance,
    complete: Partition,
    branch: Branch,
    reuse: Reuse,
    max_level: int | None,
    eager: bool,
) -> Generator[Step, Answer, int]:
    """Follow one branch of bisections until two halves belong together; d cannot-links call for 2^d parts."""
    known = {
        "transitive": constraints.relation,
        "exact": constraints.answered,
        "reference": lambda i, j: None,
    }[reuse]
    level, part = 0, s
    while max_level is None or level < max_level:
        halves = space.split(part, 2)
        if len(halves) < 2:
            break
        report = complete
        if eager and level > 0:
            so_far = space.split(s, 2**level)
            report = Partition.of(join_known(constraints, [(p,) for p in so_far], reuse)[0])
        if (yield from ask(constraints, tries(space, *halves), report, known)) is not Answer.DIFFERENT:
            break
        level += 1
        splittable = [half for half in halves if half.n_train >= 2]
        if not splittable:
            break
        part = pick(part, splittable, branch)
    return int(2 ** max(level, 1))


def pick(part: SuperInstance, halves: Sequence[SuperInstance], branch: Branch) -> SuperInstance:
    """The half in which the search goes on."""
    if branch == "random" and len(halves) > 1:
        return halves[int(part.random().random(1)[0] * len(halves))]
    return max(halves, key=len) if branch == "largest" else min(halves, key=len)


def without(clusters: Groups, chosen: SuperInstance) -> Groups:
    """The clusters after one super-instance has left."""
    left = (c if chosen not in c else tuple(s for s in c if s is not chosen) for c in clusters)
    return [cluster for cluster in left if cluster]


def largest(clusters: Groups, constraints: Constraints, unsplittable: set[NodePath]) -> SuperInstance | None:
    """The largest super-instance that can be split and that nobody promised to be pure; the first on a tie."""
    done = constraints.pure | constraints.complete.keys()
    best, size = None, 1
    for cluster in clusters:
        for s in cluster:
            if len(s) > size and s.n_train >= 2 and not (s.path in unsplittable or s.mark in done):
                best, size = s, len(s)
    return best
