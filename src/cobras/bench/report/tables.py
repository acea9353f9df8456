"""The tables of a report: scores, ranks and times of all methods. Points that a time limit froze are marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from cobras.bench.measures import Mean, friedman_aligned, mean_over_tasks, median_interval
from cobras.bench.report.claims import TIMED_AT
from cobras.bench.report.formats import duration, percent, plus_minus, short, span
from cobras.bench.report.frozen import MARK, frozen_sentence, is_frozen
from cobras.bench.report.pages import Table
from cobras.bench.report.summary import Summary

POINTS = (10, 25, 50, 100, 250)  # numbers of queries
NONE = "–"


class Cell(NamedTuple):
    """A mean in a table, and whether some of its runs are frozen."""

    mean: Mean
    frozen: bool


def points(summary: Summary) -> list[int]:
    """The numbers of queries that tables show."""
    return sorted({q for q in POINTS if q <= summary.n_queries} | {summary.n_queries})


def runs_per_method(summary: Summary) -> Table:
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
    columns = ("tasks", "repetitions × folds", "runs", "answers", "time limit", "cut off", "CPU time")
    caption = (
        "Per task: repetitions of the cross-validation, and folds in each. Answers: how many a run was "
        "given; a run may end early because nothing is left to ask, or because the time limit cuts it off; "
        "then its last clustering counts for all later queries."
    )
    return Table("What was run", ("method", *columns), tuple(rows), caption)


def mean_ari(summary: Summary) -> Table:
    """The main table: mean ARI over tasks and the area under the curve."""
    comparable, tasks, left_out = summary.comparable(summary.methods)
    methods = comparable if tasks else ()
    at = points(summary)
    values = []
    for method in methods:
        curve = mean_over_tasks([summary.curve(method, task) for task in tasks])
        area = mean_over_tasks([summary.area(method, task) for task in tasks])
        means = [*(Mean(*(part[q] for part in curve)) for q in at), area]
        until = [*at, summary.n_queries]
        values.append(
            [Cell(mean, is_frozen(summary, [method], tasks, q)) for mean, q in zip(means, until, strict=True)]
        )
    caption = (
        f"Over {len(tasks)} tasks, all folds each method has run, ± half of the 95 % interval for "
        "running it again on the same tasks. AUC: area under the curve from 0 queries on, 1 at most. "
        + " ".join((*left_out, frozen_sentence(summary, methods, tasks)))
    )
    header = ("method", *(f"{q} queries" for q in at), "AUC")
    return _table("Mean ARI", header, methods, values, caption.strip(), by_row=False)


def ari_per_task(summary: Summary) -> list[Table]:
    """ARI of every method on every task, at some numbers of queries, and the area under the curve."""

    def at(q: int) -> Callable[[str, str], Mean]:
        return lambda method, task: Mean(*(part[q] for part in summary.curve(method, task)))

    caption = "All folds each method has run, ± half of the 95 % interval; the best of each row stands out."
    return [
        *(_task_table(summary, f"ARI at {q} queries", at(q), q, caption) for q in points(summary)),
        _task_table(summary, "Area under the ARI curve", summary.area, summary.n_queries, caption),
    ]


def aligned_rank(summary: Summary) -> Table | str:
    """Aligned ranks at some numbers of queries, with Friedman's test."""
    ranking = summary.ranking
    if ranking is None:
        return "No aligned ranks: fewer than two methods share a task."
    at, (low, high) = points(summary), ranking.interval
    rows = [
        (
            method,
            *(
                f"{ranking.ranks[i, q]:.1f} ({low[i, q]:.1f}–{high[i, q]:.1f})"
                + (f" {MARK}" if is_frozen(summary, [method], ranking.tasks, q) else "")
                for q in at
            ),
        )
        for i, method in enumerate(ranking.methods)
    ]
    tests = [friedman_aligned(ranking.Z[:, :, q]) for q in at]
    rows.append(("Friedman p", *("< 0.001" if test.p < 0.001 else f"{test.p:.3f}" for test in tests)))
    strong = frozenset((int(ranking.ranks[:, q].argmin()), place) for place, q in enumerate(at, 1))
    caption = (
        f"Rank 1 is the best of {len(ranking.methods) * len(ranking.tasks)}; in brackets the 95 % "
        "interval with the folds drawn anew. Friedman p: how likely differences as large as these are over "
        "such tasks if all methods were equal. "
        + " ".join((*ranking.left_out, frozen_sentence(summary, ranking.methods, ranking.tasks)))
    )
    header = ("method", *(f"{q} queries" for q in at))
    return Table("Aligned rank", header, tuple(rows), caption.strip(), strong)


def run_times(summary: Summary) -> Table:
    """Run time of each method over the tasks, and that of COBRAS divided by it."""
    at = min(TIMED_AT, summary.n_queries)
    rows = []
    for method in summary.methods:
        rows_of_tasks = [summary.rows(method, task.name) for task in summary.tasks]
        times = [float(np.median(summary.seconds[found, at])) for found in rows_of_tasks if len(found)]
        known = {} if method == "COBRAS" else summary.run_time_ratios("COBRAS", method, at)
        ratios = np.array(list(known.values()))
        rows.append(
            (
                method,
                duration(float(np.median(times))),
                f"{duration(min(times))} to {duration(max(times))}",
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
                duration(float(np.median(summary.seconds[found, at]))) if len(found) else NONE
                for found in (summary.rows(method, task.name) for method in summary.methods)
            ),
        )
        for task in summary.tasks
    )
    caption = "Median over all folds each method has run; in brackets rows and features of the task."
    return Table(f"CPU time until {at} queries", ("task", *summary.methods), rows, caption, folded=True)


def waiting_times(summary: Summary) -> Table:
    """How long a person would wait: before the first question, and after each answer."""
    rows = []
    for method in summary.methods:
        found = summary.waiting_times(method)
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


def _task_table(
    summary: Summary, title: str, score: Callable[[str, str], Mean], query: int, caption: str
) -> Table:
    """A table with a row per task; `query` is the last number of queries that the score takes into account."""
    tasks = [task.name for task in summary.tasks]
    values: list[list[Cell | None]] = [
        [
            Cell(score(method, task), is_frozen(summary, [method], [task], query))
            if len(summary.rows(method, task))
            else None
            for method in summary.methods
        ]
        for task in tasks
    ]
    if any(cell is not None and cell.frozen for row in values for cell in row):
        caption = f"{caption} {frozen_sentence(summary, summary.methods, tasks)}"
    # The last row is a mean over the tasks that all methods ran on.
    complete = [[cell for cell in row if cell is not None] for row in values if None not in row]
    if complete:
        values.append(
            [
                Cell(mean_over_tasks([cell.mean for cell in column]), any(cell.frozen for cell in column))
                for column in zip(*complete, strict=True)
            ]
        )
        tasks.append(f"mean of {len(complete)} tasks")
    return _table(title, ("task", *summary.methods), tasks, values, caption, folded=True)


def _table(
    title: str,
    header: Sequence[str],
    names: Sequence[str],
    values: Sequence[Sequence[Cell | None]],
    caption: str,
    *,
    by_row: bool = True,
    folded: bool = False,
) -> Table:
    """A table of means, in which the best of each row or column stands out."""
    rows = tuple(
        (name, *(NONE if cell is None else _cell_text(cell) for cell in row))
        for name, row in zip(names, values, strict=True)
    )
    # A method that did not run is never the best.
    numbers = np.array([[-np.inf if cell is None else cell.mean.value for cell in row] for row in values])
    axis = 1 if by_row else 0
    best = numbers >= numbers.max(axis=axis, keepdims=True) if numbers.size else numbers
    strong = frozenset((int(i), int(j) + 1) for i, j in np.argwhere(best))
    return Table(title, tuple(header), rows, caption, strong, folded)


def _cell_text(cell: Cell) -> str:
    return plus_minus(cell.mean) + (f" {MARK}" if cell.frozen else "")
