"""When am I done? Three honest numbers, the answers that do not hold, and a hint with its reason."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from cobras.types import Answer, LabelArray, Pair

WINDOW = 20  # answers over which stability is judged
STABLE = 0.99  # share of instances that must have kept their cluster before a stop is suggested


@dataclass(frozen=True, slots=True)
class Record:
    """An answer or a volunteered constraint, as a person sees it in the history.

    Attributes
    ----------
    index : int
        Its place in the history, which `Session.revise` takes.
    kind : {"answer", "constraint"}
    pair, answer
        What was said about which pair.
    at : float
        When, in seconds since 1970.
    in_force : bool
        False when it contradicts an answer that was revised; it is kept, but has no effect.
    """

    index: int
    kind: str
    pair: Pair
    answer: Answer
    at: float
    in_force: bool = True


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
    n_before, n_now = int(before.max()) + 1, int(now.max()) + 1
    overlap = np.bincount(before.astype(np.int64) * n_now + now, minlength=n_before * n_now)
    overlap = overlap.reshape(n_before, n_now)
    return float(overlap[linear_sum_assignment(overlap, maximize=True)].sum() / len(now))


def unsatisfied(records: tuple[Record, ...], labels: LabelArray) -> tuple[Record, ...]:
    """The answers that the labels do not satisfy."""
    return tuple(
        r
        for r in records
        if r.answer is not Answer.UNSURE and (labels[r.pair.i] == labels[r.pair.j]) != bool(r.answer)
    )


def may_stop(exhausted: bool, share: float | None) -> str:
    """The reason why a person may stop, or an empty string."""
    if exhausted:
        return "Nothing is left worth asking."
    if share is not None and share >= STABLE:
        return f"{100 * share:.4g} % of the items kept their cluster over the last {WINDOW} answers."
    return ""
