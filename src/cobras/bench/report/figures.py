"""The figures of the paper, and more, drawn by matplotlib as SVG and PNG.

The same results give the same files: no dates, no random ids. One style per method, readable in grey and by the
colour-blind; the names of the methods stand at the ends of their lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.optimize import isotonic_regression

from cobras.bench.measures import Mean, mean_over_tasks
from cobras.bench.report.claims import TIMED_AT
from cobras.bench.report.formats import span
from cobras.bench.report.frozen import frozen_sentence
from cobras.bench.report.pages import INK, LINE, PAPER, Picture
from cobras.bench.report.summary import Summary
from cobras.core.exceptions import CobrasError
from cobras.core.types import FloatArray, IndexArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Drawing: TypeAlias = "tuple[Figure, str] | None"

ERROR = (
    "95 % interval for running the experiment again on the same tasks with other folds and seeds: from the "
    "spread of repetitions, or, where a method ran only one, from that of its folds, widened because "
    "training sets overlap"
)
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
    # A name may hold a dollar sign.
    "text.parse_math": False,
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
        """The keyword arguments of matplotlib's `plot`."""
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


def draw_figures(summary: Summary, folder: Path) -> list[Picture]:
    """Write every figure for which there are results into a folder."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        raise CobrasError(
            "Figures need matplotlib. Install it by pip install 'cobras-clustering[bench]'."
        ) from None
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    family = [method for method in summary.methods if method == "COBRAS" or method.startswith("COBRA-")]
    # Where no other method ran, the figure of all methods would be that of the family again.
    everyone = () if len(family) == len(summary.methods) else summary.methods
    figures: list[tuple[str, str, Callable[[], Drawing]]] = [
        ("aligned-rank", "Aligned rank of all methods", lambda: aligned_rank(summary)),
        ("mean-ari", "Mean ARI of COBRAS and COBRA", lambda: mean_ari(summary, family)),
        ("mean-ari-all", "Mean ARI of all methods", lambda: mean_ari(summary, everyone)),
        ("run-time", "Run time of COBRAS beside the others", lambda: run_time(summary)),
        ("tasks", "ARI on each task", lambda: ari_per_task(summary)),
    ]
    for name, title, figure_of in figures:
        with mpl.rc_context({**RC, "svg.hashsalt": name}):
            drawing = figure_of()
            if drawing is None:
                continue
            figure, caption = drawing
            # Without a date, so that the same results give the same file.
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})
            svg = _round_coordinates((folder / f"{name}.svg").read_text(encoding="utf-8"))
            (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
            figure.savefig(folder / f"{name}.png", dpi=150, metadata={"Software": None})
        pictures.append(Picture(name, title, caption, svg))
    return pictures


def aligned_rank(summary: Summary) -> Drawing:
    """Aligned rank of all methods per number of queries; rank 1 is the best and on top."""
    ranking = summary.ranking
    if ranking is None:
        return None
    figure, axes = _axes()
    ends = {}
    styles, (low, high) = line_styles(ranking.methods), ranking.interval
    x = np.arange(summary.n_queries + 1)
    for i, method in enumerate(ranking.methods):
        at = _marker_positions(len(x), i, len(ranking.methods))
        share = summary.frozen_shares(method, ranking.tasks)
        _draw_line(axes, x, ranking.ranks[i], share, {**styles[method].line, "markevery": at.tolist()})
        # Bars at the markers only: bands of all methods would cover each other.
        axes.vlines(at, low[i, at], high[i, at], color=styles[method].colour, linewidth=1)
        ends[method] = float(ranking.ranks[i, -1])
    n_ranks = len(ranking.methods) * len(ranking.tasks)
    axes.set_ylim(axes.get_ylim()[1], axes.get_ylim()[0])
    axes.set(xlabel="queries answered", ylabel=f"average aligned rank, 1 to {n_ranks}   (better →)")
    axes.set_xlim(0, summary.n_queries)
    label_ends(axes, summary.n_queries, ends, styles)
    caption = (
        f"Rank 1 is the best and on top; all values of {len(ranking.methods)} methods on "
        f"{len(ranking.tasks)} tasks are ranked together. Mean ARI over folds that all these methods "
        f"have run ({span(list(ranking.n_common))} per task). Bars: 95 % interval with the folds of each "
        "task drawn anew (bootstrap). "
        + " ".join((*ranking.left_out, _frozen_note(summary, ranking.methods, ranking.tasks)))
    )
    return figure, caption.strip()


def mean_ari(summary: Summary, methods: Sequence[str]) -> Drawing:
    """Mean ARI over the tasks per number of queries."""
    methods, tasks, left_out = summary.comparable(methods)
    if not tasks:
        return None
    figure, axes = _axes()
    styles = line_styles(summary.methods)
    curves = {method: mean_over_tasks([summary.curve(method, task) for task in tasks]) for method in methods}
    frozen = {method: summary.frozen_shares(method, tasks) for method in methods}
    _draw_curves(axes, curves, frozen, styles, markers=True)
    axes.set(xlabel="queries answered", ylabel=f"mean ARI over {len(tasks)} tasks   (better →)")
    ends = {method: float(mean.value[-1]) for method, mean in curves.items()}
    axes.set_xlim(0, summary.n_queries)
    label_ends(axes, summary.n_queries, ends, styles)
    notes = (*left_out, _frozen_note(summary, methods, tasks))
    caption = f"ARI on test folds, all folds each method has run. Bands: {ERROR}. " + " ".join(notes)
    return figure, caption.strip()


def run_time(summary: Summary) -> Drawing:
    """Run time of COBRAS divided by that of each other method, over the tasks from small to large."""
    rivals = [method for method in summary.methods if method != "COBRAS"]
    if "COBRA-25" in rivals:  # the only COBRA in this figure, as in the paper
        rivals = [method for method in rivals if method not in ("COBRA-10", "COBRA-50")]
    at = min(TIMED_AT, summary.n_queries)
    ratios = {rival: found for rival in rivals if (found := summary.run_time_ratios("COBRAS", rival, at))}
    if not ratios:
        return None
    names = [task.name for task in summary.tasks]
    labels = [f"{shorten(task.name, 30)} ({task.n_rows})" for task in summary.tasks]
    # Inches below the axes, by the longest label, which stands upright.
    below = 0.25 + 0.066 * max(map(len, labels))
    figure, axes = _axes(height=3.2 + below, bottom=below / (3.2 + below), left=0.12)
    styles, ends, circles = line_styles(summary.methods), {}, 0
    for rival, found in ratios.items():
        values = np.array([found.get(name, np.nan) for name in names])
        axes.plot(values, **{**styles[rival].line, "linewidth": 0.9, "markersize": 6})
        runs = summary.runs.filter(method=rival, cut_off=True)
        cut_off = found.keys() & set(runs.filter(runs["n_queries"] < at)["task"])
        stopped = [i for i, name in enumerate(names) if name in cut_off]
        circles += len(stopped)
        axes.plot(stopped, values[stopped], "o", markersize=10, markerfacecolor="none", markeredgecolor=INK)
        ends[rival] = float(values[np.flatnonzero(~np.isnan(values))[-1]])
    axes.axhline(1, color=INK, linewidth=1)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_ylabel("run time, COBRAS / other\n(← COBRAS faster, slower →)")
    axes.set_xticks(range(len(names)), labels, rotation=90, fontsize=8.5)
    axes.grid(visible=False, axis="x")
    axes.margins(x=0.02)
    label_ends(axes, len(names) - 1, ends, styles)
    caption = (
        f"CPU time until {at} queries, preparation included: medians over common folds; tasks from the fewest "
        "rows (in brackets) to the most. Below 1 COBRAS is faster."
    )
    if circles:
        caption += (
            " Circles: the time limit stopped runs of the other method before, so the true ratio is smaller."
        )
    return figure, caption


def ari_per_task(summary: Summary) -> Drawing:
    """A small panel per task with all methods."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    n_rows, above, below = -(-len(summary.tasks) // 3), 0.45 + 0.2 * -(-len(summary.methods) // 4), 0.5
    height = 1.75 * n_rows + above + below  # inches
    figure = Figure(figsize=(7.5, height))
    grid = figure.subplots(n_rows, 3, squeeze=False)
    figure.subplots_adjust(0.08, below / height, 0.98, 1 - above / height, hspace=0.5, wspace=0.25)
    styles = line_styles(summary.methods)
    for panel in grid.flat[len(summary.tasks) :]:
        panel.set_axis_off()
    for task, panel in zip(summary.tasks, grid.flat, strict=False):
        there = [method for method in summary.methods if len(summary.rows(method, task.name))]
        curves = {method: summary.curve(method, task.name) for method in there}
        frozen = {method: summary.frozen_shares(method, [task.name]) for method in there}
        _draw_curves(panel, curves, frozen, styles, markers=False)
        panel.set_title(f"{shorten(task.name, 30)} ({task.n_rows}, {task.n_classes})", fontsize=8, loc="left")
        panel.tick_params(labelsize=7.5)
        panel.set_xlim(0, summary.n_queries)
    for panel in grid[:, 0]:
        panel.set_ylabel("ARI", fontsize=8)
    for panel in grid.flat[max(0, len(summary.tasks) - 3) : len(summary.tasks)]:
        panel.set_xlabel("queries answered", fontsize=8)
    keys = [Line2D([], [], **styles[method].line) for method in summary.methods]
    names = [shorten(method, 18) for method in summary.methods]
    figure.legend(keys, names, loc="upper center", ncols=4, handlelength=4)
    caption = "In brackets rows and classes; the vertical axes differ. All folds each method has run. Bands: "
    note = _frozen_note(summary, summary.methods, [task.name for task in summary.tasks])
    return figure, f"{caption}{ERROR}. {note}".strip()


def _axes(height: float = 4.4, bottom: float = 0.12, left: float = 0.1) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, height))
    axes = figure.subplots()
    figure.subplots_adjust(left=left, right=0.78, bottom=bottom, top=0.97)
    return figure, axes


def _frozen_note(summary: Summary, methods: Sequence[str], tasks: Sequence[str]) -> str:
    return frozen_sentence(summary, methods, tasks, "Pale lines, from a circle on")


def _draw_line(axes: Axes, x: IndexArray, y: FloatArray, frozen: FloatArray, line: dict[str, Any]) -> None:
    """Draw a curve at the numbers of queries x, pale from the first one on at which some of its runs are frozen."""
    axes.plot(x, y, **line, alpha=0.4 if frozen.any() else None)
    if frozen.any():
        # Over the pale line, so that markers and dashes stay where they are.
        first = int(np.searchsorted(x, (frozen > 0).argmax()))
        places = line["markevery"]
        before = places if places is None else [place for place in places if place <= first]
        axes.plot(x[: first + 1], y[: first + 1], **{**line, "markevery": before})
        axes.plot(
            x[first], y[first], "o", markersize=6, markerfacecolor="none", markeredgecolor=line["color"]
        )


def _draw_curves(
    axes: Axes,
    curves: Mapping[str, Mean],
    frozen: Mapping[str, FloatArray],
    styles: Mapping[str, Style],
    *,
    markers: bool,
) -> None:
    for place, (method, mean) in enumerate(curves.items()):
        style, n = styles[method], len(mean.value)
        line: dict[str, Any] = {**style.line, "markevery": _marker_positions(n, place, len(curves)).tolist()}
        if not markers:
            line |= {"marker": "", "markevery": None, "linewidth": style.width * 0.7}
        # A small panel is drawn from fewer points: all of the first 20, where curves bend, then every fifth.
        x = np.arange(n) if markers else np.unique(np.r_[0 : min(n, 20), 20:n:5, n - 1])
        value, error = mean.value[x], mean.half_width[x]
        _draw_line(axes, x, value, frozen[method], line)
        axes.fill_between(x, value - error, value + error, color=style.colour, alpha=0.18, linewidth=0)


def _marker_positions(n: int, place: int, k: int, n_marks: int = 6) -> Any:
    """The queries at which a line has markers: evenly spaced, and not where the other lines have theirs."""
    step = max(n // n_marks, 1)
    return np.arange(min(step * (place + 1) // (k + 1), n - 1), n, step)


def _round_coordinates(svg: str) -> str:
    """The drawing with coordinates to a hundredth of a point; matplotlib has no setting for it."""

    def round_numbers(tag: re.Match[str]) -> str:
        return re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", tag[0])

    return re.sub(r"<[^>]*>", round_numbers, svg)


def line_styles(methods: Sequence[str]) -> dict[str, Style]:
    """A style for each method: a fixed one for those of the paper, the next of the others for all others."""
    unknown = [method for method in methods if method not in KNOWN]
    more = {method: OTHERS[i % len(OTHERS)] for i, method in enumerate(unknown)}
    return {method: KNOWN.get(method) or more[method] for method in methods}


def shorten(name: str, n: int) -> str:
    """The first characters of a name, so that it has n at most."""
    return name if len(name) <= n else f"{name[: n - 1]}…"


def spaced_positions(wanted: FloatArray, gap: float, low: float, high: float) -> FloatArray:
    """Positions nearest to the wanted ones with neighbours `gap` apart, and within bounds if there is room.

    Examples
    --------
    >>> spaced_positions(np.array([5.0, 5.0, 9.0]), gap=2, low=0, high=10).tolist()
    [4.0, 6.0, 9.0]
    >>> spaced_positions(np.array([9.5, 9.0]), gap=2, low=0, high=10).tolist()
    [10.0, 8.0]
    """
    # With the gaps subtracted, the nearest positions in the same order are an isotonic regression.
    order = np.argsort(wanted, kind="stable")
    shift = gap * np.arange(len(wanted))
    packed = np.asarray(isotonic_regression(np.asarray(wanted)[order] - shift).x)
    found = np.empty(len(wanted))
    found[order] = np.clip(packed, low, max(high - shift[-1], low)) + shift
    return found


def label_ends(axes: Axes, x: float, ends: Mapping[str, float], styles: Mapping[str, Style]) -> None:
    """Write the name of each line right of the axes, at the height of its end, without overlaps."""
    # In points, like the size of the font: labels are 13 points apart.
    height = axes.bbox.height / axes.figure.dpi * 72
    to_axes = axes.transScale + axes.transLimits
    wanted = np.array([to_axes.transform((x, y))[1] for y in ends.values()])
    for (method, y), place in zip(ends.items(), spaced_positions(wanted, 13 / height, 0.0, 1.0), strict=True):
        style = styles[method]
        # From the left end of the label to the end of the line, with room for the marker.
        arrow = {"arrowstyle": "-", "color": style.colour, "lw": 0.8, "shrinkA": 8, "relpos": (0, 0.5)}
        axes.annotate(
            shorten(method, 18),
            (x, y),
            xytext=(1.05, place),
            textcoords="axes fraction",
            va="center",
            annotation_clip=False,
            arrowprops=arrow,
        )
        axes.plot([1.035], [place], transform=axes.transAxes, clip_on=False, **style.line)
