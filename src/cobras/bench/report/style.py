"""How figures look: one style per method, readable in grey and by the colour-blind, labels at the ends of lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import isotonic_regression

from cobras.core.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, LINE, PAPER = "#1b1b1b", "#d8d8d8", "#ffffff"
RC: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "svg.fonttype": "none",
    "text.parse_math": False,  # a name may hold a dollar sign
}


@dataclass(frozen=True, slots=True)
class Style:
    """The line of a method; colours are those of Okabe and Ito."""

    colour: str
    dashes: tuple[float, ...]
    marker: str
    width: float = 1.4

    @property
    def line(self) -> dict[str, Any]:
        """As matplotlib's plot wants it."""
        return {
            "color": self.colour,
            "linestyle": (0, self.dashes) if self.dashes else "-",
            "marker": self.marker,
            "linewidth": self.width,
            "markersize": 5,
            "markeredgecolor": PAPER,
            "markeredgewidth": 0.6,
        }


KNOWN = {
    "COBRAS": Style(INK, (), "o", 2.2),
    "COBRA-10": Style("#E69F00", (1.2, 1.2), "s"),
    "COBRA-25": Style("#D55E00", (4, 1.5), "^"),
    "COBRA-50": Style("#CC79A7", (6, 1.5, 1.2, 1.5), "v"),
    "COBS": Style("#009E73", (9, 2), "D"),
    "MPCKMeans-NPU": Style("#0072B2", (), "X"),
    "COSC-NPU": Style("#56B4E9", (3, 1, 1, 1, 1, 1), "P"),
    "ADDER": Style("#A4161A", (), "*", 2.2),
}
OTHERS = (
    Style("#7A7A7A", (), "d"),
    Style("#009E73", (2, 2), "<"),
    Style("#E69F00", (7, 2), ">"),
    Style("#0072B2", (5, 1, 1, 1), "h"),
    Style("#CC79A7", (1, 2), "p"),
)


def styles(methods: Sequence[str]) -> dict[str, Style]:
    """A style for each method: its own for those of the paper, then others by turns."""
    unknown = [method for method in methods if method not in KNOWN]
    more = {method: OTHERS[i % len(OTHERS)] for i, method in enumerate(unknown)}
    return {method: KNOWN.get(method) or more[method] for method in methods}


def cut(name: str, n: int) -> str:
    """A name that takes no more than n characters."""
    return name if len(name) <= n else f"{name[: n - 1]}…"


def spread(wanted: FloatArray, gap: float, low: float, high: float) -> FloatArray:
    """Move positions as little as possible so that neighbours are `gap` apart, within bounds if there is room.

    Examples
    --------
    >>> spread(np.array([5.0, 5.0, 9.0]), gap=2, low=0, high=10).tolist()
    [4.0, 6.0, 9.0]
    >>> spread(np.array([9.5, 9.0]), gap=2, low=0, high=10).tolist()
    [10.0, 8.0]
    """
    order = np.argsort(wanted, kind="stable")
    shift = gap * np.arange(len(wanted))
    packed = np.asarray(isotonic_regression(np.asarray(wanted)[order] - shift).x)
    found = np.empty(len(wanted))
    found[order] = np.clip(packed, low, max(high - shift[-1], low)) + shift
    return found


def label_ends(axes: Axes, x: float, ends: dict[str, float], looks: dict[str, Style]) -> None:
    """Write the name of each line right of the axes, at the height of its end, without overlaps."""
    height = axes.bbox.height / axes.figure.dpi * 72  # points
    to_axes = axes.transScale + axes.transLimits
    wanted = np.array([to_axes.transform((x, y))[1] for y in ends.values()])
    for (method, y), place in zip(ends.items(), spread(wanted, 13 / height, 0.0, 1.0), strict=True):
        style = looks[method]
        axes.annotate(
            cut(method, 18),
            (x, y),
            xytext=(1.05, place),
            textcoords="axes fraction",
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": style.colour,
                "linewidth": 0.8,
                "shrinkA": 8,
                "relpos": (0, 0.5),
            },
        )
        axes.plot([1.035], [place], transform=axes.transAxes, clip_on=False, **style.line)
