"""When am I done? Three honest numbers, the answers that do not hold, and a hint with its reason."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cobras.history import Record
from cobras.types import Answer, LabelArray

WINDOW = 20  # answers over which stability is judged
STABLE = 0.99  # share of instances that must have kept their cluster before a stop is suggested


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


def stable_share(before: LabelArray, now: LabelArray) -> float:
    """Share of instances that stayed in their cluster, when clusters are matched by overlap.

    Examples
    --------
    >>> stable_share(np.array([0, 0, 1, 1], np.int32), np.array([1, 1, 1, 0], np.int32))
    0.75
    """
    from scipy.optimize import linear_sum_assignment  # not before it is needed: its import takes a while

    n_before, n_now = int(before.max()) + 1, int(now.max()) + 1
    overlap = np.bincount(before.astype(np.int64) * n_now + now, minlength=n_before * n_now)
    overlap = overlap.reshape(n_before, n_now)
    return float(overlap[linear_sum_assignment(overlap, maximize=True)].sum() / len(now))


def measure(
    history: tuple[Record, ...],
    now: LabelArray,
    before: LabelArray | None,
    n_set_aside: int,
    exhausted: bool,
) -> Progress:
    """Progress from the answers, the labels now and those 20 answers ago, and whether questions are left."""
    share = None if before is None else stable_share(before, now)
    reason = ""
    if exhausted:
        reason = "Nothing is left worth asking."
    elif share is not None and share >= STABLE:
        reason = f"{100 * share:.4g} % of the items kept their cluster over the last {WINDOW} answers."
    return Progress(
        n_answers=sum(r.kind == "answer" for r in history),
        n_clusters=int(now.max()) + 1,
        stable_share=share,
        unsatisfied=tuple(r for r in history if not satisfied(r, now)),
        n_set_aside=n_set_aside,
        may_stop=bool(reason),
        reason=reason,
    )


def satisfied(record: Record, labels: LabelArray) -> bool:
    """Whether a clustering agrees with an answer; with an unsure one it always does."""
    together = bool(labels[record.pair.i] == labels[record.pair.j])
    return record.answer is Answer.UNSURE or together == bool(record.answer)
