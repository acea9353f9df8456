"""How a claim is judged: from measured parts, by one rule, so that taste has no say in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from cobras.bench.measures import Mean


class Verdict(StrEnum):
    """Whether a claim is borne out."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNCLEAR = "unclear"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Part:
    """A measured statement; `true` is None when the error is too large to tell."""

    text: str
    true: bool | None


@dataclass(frozen=True, slots=True)
class Check:
    """A claim, the rule by which it is judged, what was measured, or why nothing was."""

    claim: str
    rule: str
    parts: tuple[Part, ...]
    missing: str = ""

    @property
    def verdict(self) -> Verdict:
        """See `judge`."""
        return judge([part.true for part in self.parts])


def judge(parts: Sequence[bool | None]) -> Verdict:
    """The verdict on a claim: it holds if all parts are true, and does not if one is false.

    Examples
    --------
    >>> judge([True, True]).value, judge([True, None]).value, judge([None, False]).value, judge([]).value
    ('holds', 'unclear', 'does not hold', 'not measured')
    """
    if not parts:
        return Verdict.NOT_MEASURED
    if False in parts:
        return Verdict.FAILS
    return Verdict.UNCLEAR if None in parts else Verdict.HOLDS


def above(interval: tuple[float, float], bound: float) -> bool | None:
    """Whether what the interval is about lies above a bound; None if the interval does not tell.

    Examples
    --------
    >>> above((0.1, 0.3), 0), above((-0.3, -0.1), 0), above((-0.1, 0.3), 0)
    (True, False, None)
    """
    low, high = interval
    if low > bound:
        return True
    return False if high < bound else None


def below(interval: tuple[float, float], bound: float) -> bool | None:
    """Whether what the interval is about lies below a bound; None if the interval does not tell."""
    return above((-interval[1], -interval[0]), -bound)


def interval(mean: Mean) -> tuple[float, float]:
    """The 95 % interval of a mean."""
    return float(mean.value - mean.half_width), float(mean.value + mean.half_width)
