"""How far a session has come: a few numbers, the answers that the clusters contradict, and whether one may stop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cobras.core.edits import EditedPartition
from cobras.core.partition import NodePath, Partition, SuperInstance
from cobras.core.types import Answer, IndexArray, LabelArray, Pair, Record

WINDOW = 20  # answers over which stability is measured
# A stop is suggested where the expected ARI was at least so high after each of the last answers: on the tasks of
# the paper, 250 answers then add less than 0.02 in the mean. That clusters were stable over the last answers is no
# reason: with COBRAS, 0.1 was still to be gained then. Both are printed by `python -m benchmarks.stopping`.
ENOUGH, LASTING = 0.9, 10
SHORTEST, TREND = 40, 60  # answers from which the number of further ones is estimated: at least, and at most
N_FORETOLD = 30  # beyond this many, estimates were wrong too often to be said


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
        Answers and boards of which some pair is unsure and was not settled since.
    may_stop : bool
        Whether further answers are likely to change little: nothing is left to ask, or the method says so.
    reason : str
        Why one may stop; empty otherwise.
    expected_ari : float or None
        How well the method expects the clustering to agree with what the person has in mind, as an adjusted Rand
        index: 1 for all right, 0 for chance. None for methods that do not say.
    ari_range : tuple of float, or None
        Between which it probably is: as far from the expected value as that is from 1, and at least 0.02.
    n_left : int or None
        About how many further answers it takes until one may stop; None where that cannot be said.
    """

    n_answers: int
    n_clusters: int
    stable_share: float | None
    unsatisfied: tuple[Record, ...]
    n_set_aside: int
    may_stop: bool
    reason: str
    expected_ari: float | None = None
    ari_range: tuple[float, float] | None = None
    n_left: int | None = None


def overlap(before: Partition, now: Partition) -> IndexArray:
    """How many items each cluster of `before` (rows) shares with each cluster of `now` (columns).

    Two clusterings of one split tree are compared by their super-instances, not by their rows: one of the later
    clustering lies in exactly one of the earlier, the one whose path begins its own. So the cost does not depend on
    the size of the data. Clusterings without paths are compared by labels.
    """
    shared = np.zeros((before.n_clusters, now.n_clusters), np.int64)
    for pair, count in shared_items(before, now).items():
        shared[pair] = count
    return shared


def shared_items(before: Partition, now: Partition) -> dict[tuple[int, int], int]:
    """How many items a cluster of `before` and one of `now` share, where they share any; see `overlap`."""
    n_before = sum(map(len, before.clusters))
    if n_before != sum(map(len, now.clusters)):
        # Rows were added, or taken back, between the two.
        labels = before.labels, now.labels
        n_both = min(map(len, labels))
        return _count_pairs(labels[0][:n_both], labels[1][:n_both], now.n_clusters)
    old_parts, new_parts = _numbered_parts(before), _numbered_parts(now)
    numbers = {s.path: number for s, number in old_parts.items()}
    # Most super-instances are there before and after.
    above = {s: old_parts[s] if s in old_parts else _number_above(s.path, numbers) for s in new_parts}
    shared: Counter[tuple[int, int]] = Counter()
    # Where two super-instances have the same path, or one has none above it, they are not of one split tree.
    if len(numbers) < len(old_parts) or None in above.values():
        return _count_pairs(before.labels, now.labels, now.n_clusters)
    for s, number in new_parts.items():
        shared[above[s] or 0, number] += len(s)
    # Rows that were cut out of their super-instance were counted where the rest of it is.
    cut = {*_cut_rows(before), *_cut_rows(now)}
    for counted, count in ((True, -1), (False, 1)):
        places = (_places(before, cut, counted), _places(now, cut, counted))
        for row in cut:
            shared[places[0][row], places[1][row]] += count
    return {pair: count for pair, count in shared.items() if count}


def _count_pairs(old: LabelArray, new: LabelArray, width: int) -> dict[tuple[int, int], int]:
    counts = np.bincount(old.astype(np.int64) * width + new)
    return {divmod(int(x), width): int(counts[x]) for x in np.flatnonzero(counts)}


def _numbered_parts(partition: Partition) -> dict[SuperInstance, int]:
    """The super-instances of the method and the cluster in which each is, or what is left of it."""
    parts = {s: number for number, c in enumerate(partition.clusters) for s in c.super_instances}
    if not isinstance(partition, EditedPartition):
        return parts
    # One that was cut up completely is nowhere: each of its rows is counted by itself.
    nowhere = dict.fromkeys(partition.cut.values(), 0)
    return nowhere | {partition.whole[s]: number for s, number in parts.items() if s in partition.whole}


def _cut_rows(partition: Partition) -> Mapping[int, SuperInstance]:
    return partition.cut if isinstance(partition, EditedPartition) else {}


def _places(partition: Partition, rows: Collection[int], counted: bool) -> dict[int, int]:
    """The clusters of some rows; those where they were counted, if that is asked."""
    cut = _cut_rows(partition)
    found = partition.clusters_of(row for row in rows if row not in cut)
    if counted:
        parts = _numbered_parts(partition)
        return found | {row: parts[s] for row, s in cut.items()}
    if isinstance(partition, EditedPartition):
        for number, c in enumerate(partition.clusters):
            for s in c.super_instances:
                if s not in partition.whole:
                    found |= dict.fromkeys(s.members.tolist(), number)
    return found


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
    set_aside: Collection[Pair],
    exhausted: bool,
    expected: Sequence[float | None] = (),
) -> Progress:
    """Progress from the answers, the clusters of their rows, the clustering now and that of 20 answers ago.

    `expected` holds the ARI that the method expected after 0, 1, ... answers.
    """
    share = None if before is None else kept_share(overlap(before, now))
    unsatisfied = tuple(r for r in history if not is_satisfied(r, clusters))
    ari = expected[-1] if expected else None
    bounds = None if ari is None else ari_range(ari)
    reason = ""
    if exhausted:
        reason = "Nothing is left worth asking."
    elif is_enough(expected) and not unsatisfied:
        reason = "The clusters are probably nearly what you mean."
    return Progress(
        n_answers=sum(r.kind in ("answer", "board") for r in history),
        n_clusters=now.n_clusters,
        stable_share=share,
        unsatisfied=unsatisfied,
        n_set_aside=sum(bool(pairs_set_aside(r, set_aside)) for r in history),
        may_stop=bool(reason),
        reason=reason,
        expected_ari=ari,
        ari_range=bounds,
        n_left=None if reason else n_answers_left(expected),
    )


def is_enough(expected: Sequence[float | None], enough: float = ENOUGH) -> bool:
    """Whether the expected ARI was high enough, now and before each of the last answers.

    Examples
    --------
    >>> is_enough([0.5] + 11 * [0.95]), is_enough(11 * [0.95] + [0.5]), is_enough([1.0])
    (True, False, False)
    """
    last = expected[-LASTING - 1 :]
    return len(last) > LASTING and all(value is not None and value >= enough for value in last)


def ari_range(expected: float) -> tuple[float, float]:
    """Between which the adjusted Rand index probably is.

    `python -m benchmarks.stopping` prints how often it was.

    Examples
    --------
    >>> ari_range(0.75), ari_range(1.0)
    ((0.5, 1.0), (0.98, 1.0))
    """
    away = max(0.02, 1 - expected)
    return max(0.0, expected - away), min(1.0, expected + away)


def n_answers_left(expected: Sequence[float | None]) -> int | None:
    """About how many answers it takes until the expected ARI is enough; None where that cannot be said.

    What is missing to 1 is taken to shrink by the same share with every answer, as it did over the last ones. Then
    it has to last, and now and then it does not at once.

    Examples
    --------
    >>> n_answers_left([1 - 0.95**n for n in range(42)])
    20
    >>> n_answers_left([0.5] * 60)
    """
    recent = [1 - value for value in expected[-TREND - 1 :] if value is not None]
    if len(recent) <= SHORTEST or not 0 < recent[-1] < 1:
        return None
    missing = np.log(np.maximum(recent, 1e-3))
    slope, start = map(float, np.polyfit(np.arange(len(missing)), missing, 1))
    now = max(float(missing[-1]), start + slope * (len(missing) - 1))
    needed = float(np.log(1 - ENOUGH)) - now
    # Needed is negative, or it is enough already.
    if slope > -1e-3 or needed > 0 or needed / slope + 1.5 * LASTING > N_FORETOLD:
        return None
    return max(5, 5 * round((needed / slope + 1.5 * LASTING) / 5))


def is_satisfied(record: Record, clusters: Mapping[int, int] | LabelArray) -> bool:
    """Whether a clustering, by the clusters of its rows, agrees with all of an answer that is in force.

    With unsure it always does.
    """
    return all(
        answer is Answer.UNSURE
        or pair in record.void
        or bool(clusters[pair.i] == clusters[pair.j]) == bool(answer)
        for pair, answer in record.said
    )


def pairs_set_aside(record: Record, set_aside: Collection[Pair]) -> list[Pair]:
    """The pairs about which an answer or a board is unsure, of those that are set aside."""
    return [p for p, answer in record.said if answer is Answer.UNSURE and p.ordered in set_aside]
