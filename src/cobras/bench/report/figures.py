"""The figures of the paper, and more, drawn by matplotlib as SVG and PNG.

The same results give the same files: no dates, no random ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cobras.bench.measures import Mean
from cobras.bench.report.claims import TIMED_AT
from cobras.bench.report.numbers import span
from cobras.bench.report.pages import Picture
from cobras.bench.report.style import INK, RC, Style, cut, label_ends, styles
from cobras.bench.report.summary import Ranking, Summary
from cobras.core.exceptions import CobrasError
from cobras.core.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ERROR = (
    "95 % interval for running the experiment again on the same tasks with other folds and seeds: from the "
    "spread of repetitions, or, where a method ran only one, from that of its folds, widened because "
    "training sets overlap"
)


def draw(summary: Summary, folder: Path) -> list[Picture]:
    """Draw every figure the results allow into a folder."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        raise CobrasError(
            "Figures need matplotlib. Install it by pip install 'cobras-clustering[bench]'."
        ) from None
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    for name, title, figure_of in _figures(summary):
        with mpl.rc_context({**RC, "svg.hashsalt": name}):
            made = figure_of()
            if made is None:
                continue
            figure, caption = made
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})
            svg = _hundredths((folder / f"{name}.svg").read_text(encoding="utf-8"))
            (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
            figure.savefig(folder / f"{name}.png", dpi=150, metadata={"Software": None})
        pictures.append(Picture(name, title, caption, svg))
    return pictures


Drawn = tuple["Figure", str] | None


def _figures(summary: Summary) -> list[tuple[str, str, Callable[[], Drawn]]]:
    family = [method for method in summary.methods if method == "COBRAS" or method.startswith("COBRA-")]
    everyone = () if len(family) == len(summary.methods) else summary.methods  # not the same figure twice
    return [
        ("aligned-rank", "Aligned rank of all methods", lambda: aligned_rank(summary)),
        ("mean-ari", "Mean ARI of COBRAS and COBRA", lambda: mean_ari(summary, family)),
        ("mean-ari-all", "Mean ARI of all methods", lambda: mean_ari(summary, everyone)),
        ("run-time", "Run time of COBRAS beside the others", lambda: run_time(summary)),
        ("tasks", "ARI on each task", lambda: per_task(summary)),
    ]


def aligned_rank(summary: Summary) -> Drawn:
    """Aligned rank of all methods per number of queries; rank 1 is the best and on top."""
    ranking = summary.ranking
    if ranking is None:
        return None
    figure, axes = _axes()
    ends = {}
    for method, style, line, low, high, at in _with_errors(ranking):
        axes.plot(line, markevery=at.tolist(), **style.line)
        axes.vlines(at, low[at], high[at], color=style.colour, linewidth=1)
        ends[method] = float(line[-1])
    n_ranks = len(ranking.fair.methods) * len(ranking.fair.tasks)
    axes.set_ylim(axes.get_ylim()[1], axes.get_ylim()[0])
    axes.set(xlabel="queries answered", ylabel=f"average aligned rank, 1 to {n_ranks}   (better →)")
    _finish(axes, summary.n_queries, ends, styles(ranking.fair.methods))
    caption = (
        f"Rank 1 is the best and on top; all values of {len(ranking.fair.methods)} methods on "
        f"{len(ranking.fair.tasks)} tasks are ranked together. Mean ARI over folds that all these methods "
        f"have run ({span(list(ranking.n_common))} per task). Bars: 95 % interval with the folds of each "
        "task drawn anew (bootstrap). " + " ".join(ranking.fair.left_out)
    )
    return figure, caption.strip()


def mean_ari(summary: Summary, methods: Sequence[str]) -> Drawn:
    """Mean ARI over the tasks per number of queries."""
    fair = summary.fair(methods)
    if not fair.tasks:
        return None
    figure, axes = _axes()
    looks = styles(summary.methods)
    curves = {method: summary.mean_curve(method, fair.tasks) for method in fair.methods}
    _curves(axes, curves, looks, markers=True)
    axes.set(xlabel="queries answered", ylabel=f"mean ARI over {len(fair.tasks)} tasks   (better →)")
    ends = {method: float(mean.value[-1]) for method, mean in curves.items()}
    _finish(axes, summary.n_queries, ends, looks)
    caption = f"ARI on test folds, all folds each method has run. Bands: {ERROR}. " + " ".join(fair.left_out)
    return figure, caption.strip()


def run_time(summary: Summary) -> Drawn:
    """Run time of COBRAS divided by that of each other method, over the tasks from small to large."""
    rivals = [method for method in summary.methods if method != "COBRAS"]
    if "COBRA-25" in rivals:  # it stands for COBRA, as in the paper
        rivals = [method for method in rivals if method not in ("COBRA-10", "COBRA-50")]
    at = min(TIMED_AT, summary.n_queries)
    ratios = {rival: found for rival in rivals if (found := summary.ratios("COBRAS", rival, at))}
    if not ratios:
        return None
    names = [task.name for task in summary.tasks]
    labels = [f"{cut(task.name, 30)} ({task.n_rows})" for task in summary.tasks]
    below = 0.25 + 0.066 * max(map(len, labels))  # inches
    figure, axes = _axes(height=3.2 + below, bottom=below / (3.2 + below), left=0.12)
    looks, ends, circles = styles(summary.methods), {}, 0
    for rival, found in ratios.items():
        values = np.array([found.get(name, np.nan) for name in names])
        axes.plot(values, **{**looks[rival].line, "linewidth": 0.9, "markersize": 6})
        stopped = [i for i, name in enumerate(names) if name in found and _was_cut(summary, rival, name, at)]
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
    label_ends(axes, len(names) - 1, ends, looks)
    caption = (
        f"CPU time until {at} queries, preparation included: medians over common folds; tasks from the fewest "
        "rows (in brackets) to the most. Below 1 COBRAS is faster."
    )
    if circles:
        caption += (
            " Circles: the time limit stopped runs of the other method before, so the true ratio is smaller."
        )
    return figure, caption


def per_task(summary: Summary) -> Drawn:
    """A small panel per task with all methods."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    n_rows, above, below = -(-len(summary.tasks) // 3), 0.45 + 0.2 * -(-len(summary.methods) // 4), 0.5
    height = 1.75 * n_rows + above + below  # inches
    figure = Figure(figsize=(7.5, height))
    grid = figure.subplots(n_rows, 3, squeeze=False)
    figure.subplots_adjust(0.08, below / height, 0.98, 1 - above / height, hspace=0.5, wspace=0.25)
    looks = styles(summary.methods)
    for panel in grid.flat[len(summary.tasks) :]:
        panel.set_axis_off()
    for task, panel in zip(summary.tasks, grid.flat, strict=False):
        there = [method for method in summary.methods if len(summary.rows(method, task.name))]
        _curves(panel, {method: summary.curve(method, task.name) for method in there}, looks, markers=False)
        panel.set_title(f"{cut(task.name, 30)} ({task.n_rows}, {task.n_classes})", fontsize=8, loc="left")
        panel.tick_params(labelsize=7.5)
        panel.set_xlim(0, summary.n_queries)
    for panel in grid[:, 0]:
        panel.set_ylabel("ARI", fontsize=8)
    for panel in grid.flat[max(0, len(summary.tasks) - 3) : len(summary.tasks)]:
        panel.set_xlabel("queries answered", fontsize=8)
    keys = [Line2D([], [], **looks[method].line) for method in summary.methods]
    names = [cut(method, 18) for method in summary.methods]
    figure.legend(keys, names, loc="upper center", ncols=4, handlelength=4)
    return (
        figure,
        "In brackets rows and classes; the vertical axes differ. All folds each method has run. Bands: "
        f"{ERROR}.",
    )


def _axes(height: float = 4.4, bottom: float = 0.12, left: float = 0.1) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, height))
    axes = figure.subplots()
    figure.subplots_adjust(left=left, right=0.78, bottom=bottom, top=0.97)
    return figure, axes


def _finish(axes: Axes, n_queries: int, ends: Mapping[str, float], looks: dict[str, Style]) -> None:
    axes.set_xlim(0, n_queries)
    label_ends(axes, n_queries, dict(ends), looks)


def _curves(axes: Axes, curves: Mapping[str, Mean], looks: Mapping[str, Style], *, markers: bool) -> None:
    for place, (method, mean) in enumerate(curves.items()):
        style, n = looks[method], len(mean.value)
        line: dict[str, Any] = {**style.line, "markevery": _marks(n, place, len(curves)).tolist()}
        if not markers:
            line |= {"marker": "", "markevery": None, "linewidth": style.width * 0.7}
        # A small panel needs not every point.
        x = np.arange(n) if markers else np.unique(np.r_[0 : min(n, 20), 20:n:5, n - 1])
        value, error = mean.value[x], mean.half_width[x]
        axes.plot(x, value, **line)
        axes.fill_between(x, value - error, value + error, color=style.colour, alpha=0.18, linewidth=0)


def _with_errors(ranking: Ranking) -> list[tuple[str, Style, FloatArray, FloatArray, FloatArray, Any]]:
    looks, k = styles(ranking.fair.methods), len(ranking.fair.methods)
    low, high = ranking.interval
    n = ranking.ranks.shape[1]
    return [
        (method, looks[method], ranking.ranks[i], low[i], high[i], _marks(n, i, k))
        for i, method in enumerate(ranking.fair.methods)
    ]


def _marks(n: int, place: int, k: int, n_marks: int = 6) -> Any:
    """Where a line carries markers: evenly, and beside those of the other lines."""
    step = max(n // n_marks, 1)
    return np.arange(min(step * (place + 1) // (k + 1), n - 1), n, step)


def _was_cut(summary: Summary, method: str, task: str, query: int) -> bool:
    """Whether the time limit stopped a run before some query."""
    runs = summary.runs[summary.rows(method, task)]
    return bool((runs["cut_off"] & (runs["n_queries"] < query)).any())


def _hundredths(svg: str) -> str:
    """Coordinates to a hundredth of a point, for smaller files; what is written in the figure stays."""

    def shorten(tag: re.Match[str]) -> str:
        return re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", tag[0])

    return re.sub(r"<[^>]*>", shorten, svg)
