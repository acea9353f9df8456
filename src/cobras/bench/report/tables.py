"""The tables of a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cobras.bench.measures import Mean, friedman_aligned, median_interval, over_tasks
from cobras.bench.report.claims import TIMED_AT
from cobras.bench.report.numbers import duration, percent, plus_minus, short, span
from cobras.bench.report.pages import Table
from cobras.bench.report.summary import Summary

POINTS = (10, 25, 50, 100, 250)
NONE = "–"


def points(summary: Summary) -> list[int]:
    """The numbers of queries that tables show."""
    return sorted({q for q in POINTS if q <= summary.n_queries} | {summary.n_queries})


def what_was_run(summary: Summary) -> Table:
    """How much of the experiment each method has run, and how many runs the time limit stopped."""
    rows = []
    for method in summary.methods:
        runs = summary.runs.filter(summary.runs["method"] == method)
        per_task = runs.group_by("task").n_unique().sort("task")
        folds = runs.group_by("task", "repetition").len()["len"].to_list()
        limits = sorted(set(runs["limit"].drop_nulls().to_list()))
        rows.append(
            (
                method,
                f"{len(per_task)} of {len(summary.tasks)}",
                f"{span(per_task['repetition'].to_list())} × {span(folds)}",
                str(len(runs)),
                span(runs["n_queries"].to_list()),
                " or ".join(duration(limit) for limit in limits) or "none",
                percent(float(runs["cut_off"].to_numpy().mean())),
                duration(float(runs["seconds"].to_numpy().sum(dtype=np.float64))),
            )
        )
    header = (
        "method",
        "tasks",
        "repetitions × folds",
        "runs",
        "answers",
        "time limit",
        "cut off",
        "CPU time",
    )
    caption = (
        "Per task: repetitions of the cross-validation, and folds in each. Answers: how many a run was "
        "given; a run may end early because nothing is left to ask, or because the time limit cuts it off; "
        "then its last clustering counts for all later queries."
    )
    return Table("What was run", header, tuple(rows), caption)


def mean_ari(summary: Summary) -> Table:
    """The headline: mean ARI over tasks and the area under the curve."""
    fair = summary.fair(summary.methods)
    at = points(summary)
    curves = [summary.mean_curve(method, fair.tasks) for method in fair.methods] if fair.tasks else []
    areas = [_mean_area(summary, method, fair.tasks) for method in fair.methods] if fair.tasks else []
    values = [[*(_at(curve, q) for q in at), area] for curve, area in zip(curves, areas, strict=True)]
    caption = (
        f"Over {len(fair.tasks)} tasks, all folds each method has run, ± half of the 95 % interval for "
        "running it again on the same tasks. AUC: area under the curve from 0 queries on, 1 at most. "
        + " ".join(fair.left_out)
    )
    header = ("method", *(f"{q} queries" for q in at), "AUC")
    return _table("Mean ARI", header, fair.methods, values, caption.strip(), by_row=False)


def ari_per_task(summary: Summary) -> list[Table]:
    """ARI of every method on every task, at some numbers of queries, and the area under the curve."""

    def at(q: int) -> Callable[[str, str], Mean]:
        return lambda method, task: _at(summary.curve(method, task), q)

    caption = "All folds each method has run, ± half of the 95 % interval; the best of each row stands out."
    return [
        *(_task_table(summary, f"ARI at {q} queries", at(q), caption) for q in points(summary)),
        _task_table(summary, "Area under the ARI curve", summary.area, caption),
    ]


def aligned_rank(summary: Summary) -> Table | None:
    """Aligned ranks at some numbers of queries, with Friedman's test."""
    ranking = summary.ranking
    if ranking is None:
        return None
    at, (low, high) = points(summary), ranking.interval
    rows = [
        (method, *(f"{ranking.ranks[i, q]:.1f} ({low[i, q]:.1f}–{high[i, q]:.1f})" for q in at))
        for i, method in enumerate(ranking.fair.methods)
    ]
    tests = [friedman_aligned(ranking.Z[:, :, q]) for q in at]
    rows.append(("Friedman p", *("< 0.001" if test.p < 0.001 else f"{test.p:.3f}" for test in tests)))
    strong = frozenset((int(ranking.ranks[:, q].argmin()), place) for place, q in enumerate(at, 1))
    caption = (
        f"Rank 1 is the best of {len(ranking.fair.methods) * len(ranking.fair.tasks)}; in brackets the 95 % "
        "interval with the folds drawn anew. Friedman p: how likely differences as large as these are over "
        "such tasks if all methods were equal. " + " ".join(ranking.fair.left_out)
    )
    header = ("method", *(f"{q} queries" for q in at))
    return Table("Aligned rank", header, tuple(rows), caption.strip(), strong)


def run_times(summary: Summary) -> Table:
    """Run time of each method over the tasks, and that of COBRAS divided by it."""
    at = min(TIMED_AT, summary.n_queries)
    rows = []
    for method in summary.methods:
        times = [_median_time(summary, method, task.name, at) for task in summary.tasks]
        known = [value for value in times if value is not None]
        ratios = (
            np.array(list(summary.ratios("COBRAS", method, at).values()))
            if method != "COBRAS"
            else np.array([])
        )
        rows.append(
            (
                method,
                duration(float(np.median(known))),
                f"{duration(min(known))} to {duration(max(known))}",
                short(float(np.median(ratios))) if len(ratios) else NONE,
                " to ".join(map(short, median_interval(ratios))) if len(ratios) else NONE,
                f"{short(ratios.min())} to {short(ratios.max())}" if len(ratios) else NONE,
            )
        )
    header = ("method", "median", "range over tasks", "COBRAS / method", "95 % interval", "range over tasks")
    caption = (
        f"CPU time until {at} queries, preparation included. Each task counts by the median of its folds; "
        "ratios use folds that both methods have run, and below 1 COBRAS is the faster one. The interval is "
        "that of the median over tasks. A run that was cut off counts with the time it had, which flatters "
        "a slow method."
    )
    return Table(f"Run time until {at} queries", header, tuple(rows), caption)


def run_time_per_task(summary: Summary) -> Table:
    """The median run time of every method on every task."""
    at = min(TIMED_AT, summary.n_queries)
    rows = tuple(
        (
            f"{task.name} ({task.n_rows} × {task.n_features})",
            *(
                NONE if (found := _median_time(summary, method, task.name, at)) is None else duration(found)
                for method in summary.methods
            ),
        )
        for task in summary.tasks
    )
    caption = "Median over all folds each method has run; in brackets rows and features of the task."
    return Table(f"CPU time until {at} queries", ("task", *summary.methods), rows, caption, folded=True)


def waiting(summary: Summary) -> Table:
    """How long a person would wait: before the first question, and after each answer."""
    rows = []
    for method in summary.methods:
        found = summary.waits(method)
        chosen = summary.runs["method"].to_numpy() == method
        first = summary.seconds[chosen, 0]
        cells = (
            [duration(float(value)) for value in np.percentile(found, [50, 95, 100])]
            if len(found)
            else [NONE] * 3
        )
        quick = percent(float((found < 0.1).mean())) if len(found) else NONE
        rows.append((method, duration(float(np.median(first))), duration(float(first.max())), *cells, quick))
    header = ("method", "first question", "at most", "p50", "p95", "longest", "below 0.1 s")
    caption = (
        "CPU time before the first question (median over runs, and the longest), then between an answer and "
        "the clustering it led to, over all answers of all runs."
    )
    return Table("Waiting time", header, tuple(rows), caption)


def _task_table(summary: Summary, title: str, score: Callable[[str, str], Mean], caption: str) -> Table:
    tasks = [task.name for task in summary.tasks]
    values: list[list[Mean | None]] = [
        [score(method, task) if len(summary.rows(method, task)) else None for method in summary.methods]
        for task in tasks
    ]
    complete = [[mean for mean in row if mean is not None] for row in values if None not in row]
    if complete:
        values.append([over_tasks(column) for column in zip(*complete, strict=True)])
        tasks.append(f"mean of {len(complete)} tasks")
    return _table(title, ("task", *summary.methods), tasks, values, caption, folded=True)


def _table(
    title: str,
    header: Sequence[str],
    names: Sequence[str],
    values: Sequence[Sequence[Mean | None]],
    caption: str,
    *,
    by_row: bool = True,
    folded: bool = False,
) -> Table:
    """A table of means, in which the best of each row or column stands out."""
    rows = tuple(
        (name, *(NONE if mean is None else plus_minus(mean) for mean in row))
        for name, row in zip(names, values, strict=True)
    )
    numbers = np.array([[-np.inf if mean is None else mean.value for mean in row] for row in values])
    axis = 1 if by_row else 0
    best = numbers >= numbers.max(axis=axis, keepdims=True) if numbers.size else numbers
    strong = frozenset((int(i), int(j) + 1) for i, j in np.argwhere(best))
    return Table(title, tuple(header), rows, caption, strong, folded)


def _at(curve: Mean, q: int) -> Mean:
    return Mean(curve.value[q], curve.variance[q], curve.df[q])


def _mean_area(summary: Summary, method: str, tasks: Sequence[str]) -> Mean:
    return over_tasks([summary.area(method, task) for task in tasks])


def _median_time(summary: Summary, method: str, task: str, query: int) -> float | None:
    rows = summary.rows(method, task)
    return float(np.median(summary.seconds[rows, query])) if len(rows) else None
