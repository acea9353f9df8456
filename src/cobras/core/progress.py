"""How far a session has come: a few numbers, the answers that the clusters contradict, and whether one may stop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cobras.core.partition import NodePath, Partition
from cobras.core.types import Answer, IndexArray, LabelArray, Record

# Stability is judged over so many answers, and a stop is suggested where at least this share of the instances has
# kept its cluster.
WINDOW = 20
STABLE = 0.99


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a session has come.

    Attributes
    ----------
    n_answers, n_clusters : int
    stable_share : float or None
        Share of the instances whose cluster did not change in the last 20 answers; None before that.
    unsatisfied : tuple of Record
        Answers that the current clustering does not satisfy: a super-instance follows its representative.
    n_set_aside : int
        Pairs answered with unsure.
    may_stop : bool
        Whether further answers are likely to change little.
    reason : str
        Why one may stop; empty otherwise.
    """

    n_answers: int
    n_clusters: int
    stable_share: float | None
    unsatisfied: tuple[Record, ...]
    n_set_aside: int
    may_stop: bool
    reason: str


def overlap(before: Partition, now: Partition) -> IndexArray:
    """How many items each cluster of `before` (rows) shares with each cluster of `now` (columns).

    Two clusterings of one split tree are compared by their super-instances, not by their rows: one of the later
    clustering lies in exactly one of the earlier, the one whose path begins its own. So the cost does not depend on
    the size of the data. Clusterings without paths are compared by labels.
    """
    shared = np.zeros((before.n_clusters, now.n_clusters), np.int64)
    numbers = {s.path: number for number, c in enumerate(before.clusters) for s in c.super_instances}
    parts = [(s, number) for number, c in enumerate(now.clusters) for s in c.super_instances]
    above = [_number_above(s.path, numbers) for s, _ in parts]
    # Where two super-instances have the same path, or one has none above it, they are not of one split tree.
    if len(numbers) < sum(map(len, before.groups)) or None in above:
        np.add.at(shared, (before.labels, now.labels), 1)
        return shared
    for (s, number), old in zip(parts, above, strict=True):
        shared[old, number] += len(s)
    return shared


def _number_above(path: NodePath, numbers: Mapping[NodePath, int]) -> int | None:
    """The number of the nearest node from this one upwards that has one."""
    upwards = (path[:length] for length in range(len(path), -1, -1))
    return next((numbers[node] for node in upwards if node in numbers), None)


def kept_share(shared: IndexArray) -> float:
    """Share of the items that stayed in their cluster, when clusters are matched by overlap."""
    # Imported only here, because that takes a while.
    from scipy.optimize import linear_sum_assignment

    return float(shared[linear_sum_assignment(shared, maximize=True)].sum() / shared.sum())


def measure(
    history: tuple[Record, ...],
    clusters: Mapping[int, int],
    now: Partition,
    before: Partition | None,
    n_set_aside: int,
    exhausted: bool,
) -> Progress:
    """Progress from the answers, the clusters of their rows, the clustering now and that of 20 answers ago."""
    share = None if before is None else kept_share(overlap(before, now))
    unsatisfied = tuple(r for r in history if not is_satisfied(r, clusters))
    reason = ""
    if exhausted:
        reason = "Nothing is left worth asking."
    elif share is not None and share >= STABLE and not unsatisfied:
        reason = f"{100 * share:.4g} % of the items kept their cluster over the last {WINDOW} answers."
    return Progress(
        n_answers=sum(r.kind == "answer" for r in history),
        n_clusters=now.n_clusters,
        stable_share=share,
        unsatisfied=unsatisfied,
        n_set_aside=n_set_aside,
        may_stop=bool(reason),
        reason=reason,
    )


def is_satisfied(record: Record, clusters: Mapping[int, int] | LabelArray) -> bool:
    """Whether a clustering, by the clusters of its rows, agrees with an answer; with unsure it always does."""
    together = bool(clusters[record.pair.i] == clusters[record.pair.j])
    return record.answer is Answer.UNSURE or together == bool(record.answer)
