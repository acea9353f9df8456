"""What follows from the clusterings that a session has shown: how far it has come, and which cluster is which.

Progress is a few numbers, the answers that the clusters contradict, and whether one may stop.

An id stays with its cluster for life, while cluster numbers change. From one clustering that is shown to the next,
every cluster inherits the id of the old cluster with which it shares most items; pairs of clusters that share more
come first, and an id is given once. Others get new ids. So ids are a function of the clusterings that were shown,
one after another, and a replay gives the same. A session that goes on with other features brings the ids that its
clusters had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np

from cobras.core.overlap import kept_share, overlap, shared_items
from cobras.core.partition import Partition
from cobras.core.types import Answer, LabelArray, Pair, Record

WINDOW = 20  # answers over which stability is measured
# A stop is suggested from this expected ARI on, after so many answers: on the tasks of the paper, 250 answers then
# add less than 0.02 in the mean. That clusters were stable over the last answers is no reason: with COBRAS, 0.1 was
# still to be gained then. Both are printed by `python -m benchmarks.stopping`.
ENOUGH, FEWEST = 0.97, 10
SHORTEST, TREND = 40, 60  # answers from which the number of further ones is estimated: at least, and at most
N_FORETOLD = 20  # beyond so many, estimates were wrong too often to be said


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
    elif ari is not None and ari >= ENOUGH and len(expected) > FEWEST and not unsatisfied:
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

    What is missing to 1 is taken to shrink by the same share with every answer, as it did over the last ones.

    Examples
    --------
    >>> n_answers_left([1 - 0.95**n for n in range(60)])
    10
    >>> n_answers_left([0.5] * 60)
    """
    recent = [1 - value for value in expected[-TREND - 1 :] if value is not None]
    if len(recent) <= SHORTEST or not 0 < recent[-1] < 1:
        return None
    missing = np.log(np.maximum(recent, 1e-3))
    slope = float(np.polyfit(np.arange(len(missing)), missing, 1)[0])
    needed = float(np.log(1 - ENOUGH) - missing[-1])
    # Needed is negative, or one may stop already.
    if slope > -1e-3 or needed > 0 or needed / slope > N_FORETOLD:
        return None
    return max(5, 5 * round(needed / slope / 5))


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


class Numbered(NamedTuple):
    """How far ids have been given: to how many clusterings, by place, the last of them, and how many ids."""

    n_shown: int
    ids: tuple[tuple[int, ...], ...]
    last: Partition | None
    n_used: int


class KeptIds(NamedTuple):
    """Ids that clusters had before: after how many entries of the history they count, and the parts of each.

    A part is a row that stands for it, and how many rows it has.
    """

    place: int
    clusters: tuple[tuple[int, tuple[tuple[int, int], ...]], ...]

    def next_ids(self, partition: Partition, n_used: int) -> tuple[int, ...]:
        """The ids of a clustering, whose clusters inherit by the parts that they hold."""
        ids = [id for id, _ in self.clusters]
        homes = partition.clusters_of([row for _, parts in self.clusters for row, _ in parts])
        shared: Counter[tuple[int, int]] = Counter()
        for old, (_, parts) in enumerate(self.clusters):
            for row, size in parts:
                shared[old, homes[row]] += size
        return next_ids(ids, shared, partition, max([n_used, *(id + 1 for id in ids)]))


class ClusterIds:
    """The ids along a sequence of clusterings, computed when they are asked for.

    Parameters
    ----------
    shown : list of (Partition, bool)
        The clusterings in the order in which they were shown, and whether each has a place of its own or takes that
        of the one before. It may grow.
    kept : dict of int to KeptIds
        Ids from elsewhere, by the number of the clustering in that order.

    Examples
    --------
    >>> import numpy as np
    >>> from cobras import SuperInstance
    >>> a, b, c = (SuperInstance(np.array(rows), rows[0], np.zeros(1), 2) for rows in ([0, 3], [1, 2], [4]))
    >>> groups = ((b, c), (a,)), ((b,), (a,), (c,)), ((b,), (a, c))
    >>> ids = ClusterIds([(Partition(some), True) for some in groups])
    >>> ids.at(0), ids.at(1), ids.at(2)
    ((0, 1), (0, 1, 2), (0, 1))
    """

    def __init__(
        self, shown: list[tuple[Partition, bool]], kept: Mapping[int, KeptIds] | None = None
    ) -> None:
        self._shown, self._kept = shown, kept or {}
        self._numbered = Numbered(0, (), None, 0)

    def at(self, place: int) -> tuple[int, ...]:
        """The ids of the clusters at a place, by cluster number."""
        n_shown, places, last, n_used = self._numbered
        ids = list(places)
        for partition, is_new in self._shown[n_shown:]:
            new = ids[-1] if ids else ()
            if n_shown in self._kept:
                new = self._kept[n_shown].next_ids(partition, n_used)
            elif partition is not last:
                new = next_ids(new, {} if last is None else shared_items(last, partition), partition, n_used)
            n_used = max(n_used, *(number + 1 for number in new))
            last = partition
            if not is_new:
                ids.pop()
            ids.append(new)
            n_shown += 1
        # In one step: Ctrl-C may come between any two.
        self._numbered = Numbered(n_shown, tuple(ids), last, n_used)
        return ids[place]


def next_ids(
    ids: Sequence[int], shared: dict[tuple[int, int], int], partition: Partition, n_used: int
) -> tuple[int, ...]:
    """The ids of a clustering, by cluster number: those of the one before, and new ones from `n_used` on."""
    found, unused = inherited_ids(ids, shared), count(n_used)
    return tuple(found[x] if x in found else next(unused) for x in range(partition.n_clusters))


def inherited_ids(ids: Sequence[int], shared: dict[tuple[int, int], int]) -> dict[int, int]:
    """The ids that new clusters inherit: those that share most come first, then those with the older id."""
    found: dict[int, int] = {}
    given: set[int] = set()
    for old, new in sorted(shared, key=lambda pair: (-shared[pair], ids[pair[0]], pair[1])):
        if old not in given and new not in found:
            given.add(old)
            found[new] = ids[old]
    return found
