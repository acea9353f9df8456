"""Why a question is asked: what its answer decides, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cobras.core.partition import Partition
from cobras.core.types import Pair

WHOLE = 0.9  # share of a cluster from which on a part is the cluster
SMALL = 0.25  # share of a cluster up to which a part of it is something that may not belong there


class Scope(NamedTuple):
    """How many rows follow the first row of a question, and how many the second one, whatever is answered.

    Attributes
    ----------
    first, second : int
        Estimates: the members of the super-instances that the rows stand for, or the rows that are nearest to them.
    is_check : bool
        Whether the question is about an earlier answer that others contradict.
    """

    first: int
    second: int
    is_check: bool = False


def reason(pair: Pair, scope: Scope, partition: Partition, ids: Sequence[int]) -> str:
    """What the answer to a question decides, for a clustering with these ids.

    Examples
    --------
    >>> from cobras import Session
    >>> session = Session([[0.0], [0.2], [5.0], [5.2]], "cobras", random_state=0)
    >>> reason(session.ask(), Scope(2, 2), session.partition, session.cluster_ids_)
    'These two decide whether cluster 0 is one thing: 4 items.'
    """
    if scope.is_check:
        return "An earlier answer does not fit the others: these two check it."
    clusters = partition.clusters_of(pair)
    first, second = (clusters[row] for row in pair)
    sizes = [len(partition.clusters[number]) for number in (first, second)]
    counts = [max(1, min(n, size)) for n, size in zip(scope[:2], sizes, strict=True)]
    if first == second:
        return f"These two decide whether {_inside(counts, sizes[0], ids[first])}."
    if all(n >= WHOLE * size for n, size in zip(counts, sizes, strict=True)):
        a, b = sorted((ids[first], ids[second]))
        return f"These two decide whether clusters {a} and {b} are one: {_items(sum(sizes))}."
    few = counts.index(min(counts))
    own, other = (ids[first], ids[second])[:: 1 if few == 0 else -1]
    verb = "belongs" if counts[few] == 1 else "belong"
    return f"These two decide whether {_about(counts[few], sizes[few])} of cluster {own} {verb} to cluster {other}."


def _inside(counts: list[int], size: int, cluster: int) -> str:
    """What two rows of one cluster decide."""
    few, together = min(counts), min(sum(counts), size)
    if few <= SMALL * size:
        return f"{_about(few, size)} of cluster {cluster} belong{'s' if few == 1 else ''} there"
    if together >= WHOLE * size:
        return f"cluster {cluster} is one thing: {_items(size)}"
    return f"a part of cluster {cluster} is one thing: about {together:,} of {_items(size)}"


def _about(n: int, size: int) -> str:
    return f"{'' if n in (1, size) else 'about '}{_items(n)}"


def _items(n: int) -> str:
    return f"{n:,} item{'' if n == 1 else 's'}"
