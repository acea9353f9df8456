"""What two clusterings share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

import numpy as np

from cobras.core.edits import EditedPartition
from cobras.core.partition import NodePath, Partition, SuperInstance
from cobras.core.types import IndexArray, LabelArray


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
    """The same, of those that share some."""
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
