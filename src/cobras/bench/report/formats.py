"""How numbers are written in a report."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cobras.bench.measures import Mean


def short(value: float) -> str:
    """A number with two significant digits, without an exponent.

    Examples
    --------
    >>> short(0.00421), short(3.14159), short(9.99), short(4210.7)
    ('0.0042', '3.1', '10', '4211')
    """
    if abs(value) >= 100:
        return f"{value:.0f}"
    return np.format_float_positional(float(f"{value:.2g}"), trim="-")


def duration(seconds: float) -> str:
    """A time with its unit; minutes from 2 minutes on, hours from 2 hours on.

    Examples
    --------
    >>> duration(0.00042), duration(0.0421), duration(3.14), duration(4210.0), duration(36000.0)
    ('0.42 ms', '42 ms', '3.1 s', '70 min', '10 h')
    """
    for unit, least, size in (("h", 7200, 3600), ("min", 120, 60), ("s", 1, 1)):
        if seconds >= least:
            return f"{short(seconds / size)} {unit}"
    return f"{short(1000 * seconds)} ms"


def plus_minus(mean: Mean) -> str:
    """A mean with half of its 95 % interval.

    Examples
    --------
    >>> plus_minus(Mean(np.array(0.5), np.array(0.0001), np.array(20.0)))
    '0.500 ± 0.021'
    """
    error = float(mean.half_width)
    return f"{float(mean.value):.3f}" + ("" if math.isnan(error) else f" ± {error:.3f}")


def percent(share: float) -> str:
    """A share in percent; 0 % and 100 % mean exactly that.

    Examples
    --------
    >>> percent(0.0), percent(0.001), percent(0.5), percent(0.9999), percent(1.0)
    ('0 %', '< 1 %', '50 %', '> 99 %', '100 %')
    """
    if 0 < share < 0.01:
        return "< 1 %"
    if 0.99 < share < 1:
        return "> 99 %"
    return f"{share:.0%}".replace("%", " %")


def ranges(numbers: Sequence[int]) -> str:
    """Increasing whole numbers as ranges; more than four ranges as the outer one and a count.

    Examples
    --------
    >>> ranges([4, 5, 6, 9]), ranges([7])
    ('4 to 6 and 9', '7')
    >>> ranges([1, 3, 5, 7, 9])
    '5 of 1 to 9'
    """
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    if len(parts) > 4:
        return f"{len(numbers)} of {span(numbers)}"
    texts = [span(part) for part in parts]
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def span(numbers: Sequence[int]) -> str:
    """The range of some whole numbers.

    Examples
    --------
    >>> span([10, 10]), span([4, 10])
    ('10', '4 to 10')
    """
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"
