"""The tables of a report.

A method that is not in the paper is compared with COBRAS. A method of an experiment that is given without
parameters may have *variants*: the same estimator with other parameters. A table says what each of them would lose;
and since settings look better than they are on the tasks on which they were chosen, another one chooses among the
variants by leave-one-task-out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from cobras.bench.measures import Mean, friedman_aligned, mean_over_tasks, median_interval
from cobras.bench.report.claims import TIMED_AT
from cobras.bench.report.pages import Block, Table, Text, duration, percent, plus_minus, short, span
from cobras.bench.report.summary import METHODS, Summary
from cobras.core.types import FloatArray

# Numbers of queries: of tables of scores, of the comparison with COBRAS, at which variants are compared, and from
# which on the best rank is counted.
POINTS = (10, 25, 50, 100, 250)
LEAD_POINTS = (5, 10, 15, 25, 50, 100, 150, 200, 250)
CHOSEN_AT = (10, 25, 50, 100)
RANKED_FROM = 15
NONE = "–"


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
        values.append([*(Mean(*(part[q] for part in curve)) for q in at), area])
    caption = (
        f"Over {len(tasks)} tasks, all folds each method has run, ± half of the 95 % interval for "
        "running it again on the same tasks. AUC: area under the curve from 0 queries on, 1 at most. "
        + " ".join(left_out)
    )
    header = ("method", *(f"{q} queries" for q in at), "AUC")
    return _table("Mean ARI", header, methods, values, caption.strip(), by_row=False)


def ari_per_task(summary: Summary) -> list[Table]:
    """ARI of every method on every task, at some numbers of queries, and the area under the curve."""

    def at(q: int) -> Callable[[str, str], Mean]:
        return lambda method, task: Mean(*(part[q] for part in summary.curve(method, task)))

    caption = "All folds each method has run, ± half of the 95 % interval; the best of each row stands out."
    return [
        *(_task_table(summary, f"ARI at {q} queries", at(q), caption) for q in points(summary)),
        _task_table(summary, "Area under the ARI curve", summary.area, caption),
    ]


def aligned_rank(summary: Summary) -> Table | Text:
    """Aligned ranks at some numbers of queries, with Friedman's test."""
    ranking = summary.ranking
    if ranking is None:
        return Text("No aligned ranks: fewer than two methods share a task.")
    at, (low, high) = points(summary), ranking.interval
    rows = [
        (method, *(f"{ranking.ranks[i, q]:.1f} ({low[i, q]:.1f}–{high[i, q]:.1f})" for q in at))
        for i, method in enumerate(ranking.methods)
    ]
    tests = [friedman_aligned(ranking.Z[:, :, q]) for q in at]
    rows.append(("Friedman p", *("< 0.001" if test.p < 0.001 else f"{test.p:.3f}" for test in tests)))
    strong = frozenset((int(ranking.ranks[:, q].argmin()), place) for place, q in enumerate(at, 1))
    caption = (
        f"Rank 1 is the best of {len(ranking.methods) * len(ranking.tasks)}; in brackets the 95 % "
        "interval with the folds drawn anew. Friedman p: how likely differences as large as these are over "
        "such tasks if all methods were equal. " + " ".join(ranking.left_out)
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


def _task_table(summary: Summary, title: str, score: Callable[[str, str], Mean], caption: str) -> Table:
    tasks = [task.name for task in summary.tasks]
    values: list[list[Mean | None]] = [
        [score(method, task) if len(summary.rows(method, task)) else None for method in summary.methods]
        for task in tasks
    ]
    # The last row is a mean over the tasks that all methods ran on.
    complete = [[mean for mean in row if mean is not None] for row in values if None not in row]
    if complete:
        values.append([mean_over_tasks(column) for column in zip(*complete, strict=True)])
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
    # A method that did not run is never the best.
    numbers = np.array([[-np.inf if mean is None else mean.value for mean in row] for row in values])
    axis = 1 if by_row else 0
    best = numbers >= numbers.max(axis=axis, keepdims=True) if numbers.size else numbers
    strong = frozenset((int(i), int(j) + 1) for i, j in np.argwhere(best))
    return Table(title, tuple(header), rows, caption, strong, folded)


def comparison_tables(summary: Summary) -> list[Block]:
    """The tables, with a few sentences, of each method that is not in the paper or has variants."""
    families = variants_of_methods(summary)
    all_variants = {variant for family in families.values() for variant in family}
    found: list[Block] = []
    points = [q for q in CHOSEN_AT if q <= summary.n_queries]
    for method in summary.methods:
        is_comparable = len(summary.shared_tasks((method, "COBRAS"))) > 0
        if method not in METHODS and method not in all_variants and is_comparable:
            # Variants would share the ranks of their method, so the sentence on ranks is left out.
            ranked = method not in families
            words = _lead_sentence(summary, method) + (_rank_sentence(summary, method) if ranked else "")
            found += [_lead_table(summary, method), Text(words)]
        if method in families and points:
            found += [_variants_table(summary, method, families[method], points)]
            if is_comparable:
                found += _leave_one_out_tables(summary, method, families[method], points)
    return found


def variants_of_methods(summary: Summary) -> dict[str, tuple[str, ...]]:
    """The variants of each method that has some: the same estimator with parameters, in the trial of the file."""
    given = summary.about.get("experiment", {}).get("contestants", [])
    ran = {contestant["name"]: contestant for contestant in given if contestant["name"] in summary.methods}
    families = {
        method: tuple(name for name, c in ran.items() if c["use"] == plain["use"] and c["parameters"])
        for method, plain in ran.items()
        if not plain["parameters"]
    }
    return {method: family for method, family in families.items() if family}


class Choice(NamedTuple):
    """What leave-one-task-out chose."""

    tasks: tuple[str, ...]
    chosen: tuple[str, ...]  # for each task the candidate with the best mean ARI on the others
    # Mean lead over COBRAS of what was chosen, and of the first candidate; shape (2, n_tasks, n_points).
    leads: FloatArray


def leave_one_task_out(summary: Summary, candidates: Sequence[str], points: Sequence[int]) -> Choice:
    """Choose for each task the candidate that is best on all others, at some numbers of queries.

    Only folds that all candidates and COBRAS have run count. Equal candidates: the first one is chosen.
    """
    methods = (*candidates, "COBRAS")
    tasks = summary.shared_tasks(methods)
    rows = [summary.common_folds(methods, task)[0] for task in tasks]
    ari = np.array([summary.ari[r][..., list(points)].mean(axis=0, dtype=np.float64) for r in rows])
    own = ari[:, :-1].mean(axis=2)
    # The sum over all tasks less the own one; rounded, so that equal candidates are equal and the first is chosen.
    best = (own.sum(axis=0) - own).round(9).argmax(axis=1)
    of_tasks = np.arange(len(tasks))
    found = np.array([ari[of_tasks, best], ari[:, 0]]) - ari[:, -1]
    return Choice(tasks, tuple(candidates[c] for c in best), found)


def _lead_table(summary: Summary, method: str) -> Table:
    tasks = summary.shared_tasks((method, "COBRAS"))
    rows = []
    for q in (q for q in LEAD_POINTS if q <= summary.n_queries):
        lead, per_task = summary.difference(method, "COBRAS", [q])
        worst = int(per_task.argmin())
        rows.append(
            (
                str(q),
                plus_minus(lead),
                f"{int((per_task > 0).sum())} of {len(tasks)}",
                f"{per_task[worst]:+.3f} ({tasks[worst]})",
                f"{per_task.max():+.3f} ({tasks[int(per_task.argmax())]})",
            )
        )
    header = ("queries", "lead in mean ARI", "tasks ahead", "worst task", "best task")
    caption = "Folds that both have run, ± half of the 95 % interval for running it again on the same tasks."
    return Table(f"{method} minus COBRAS", header, tuple(rows), caption)


def _variants_table(summary: Summary, method: str, family: Sequence[str], points: Sequence[int]) -> Table:
    rows = []
    for variant in (variant for variant in family if summary.shared_tasks((method, variant))):
        _, per_task = summary.difference(method, variant, points)
        rows.append(
            (
                variant,
                *(plus_minus(summary.difference(method, variant, [q])[0]) for q in points),
                f"{int((per_task > 0).sum())} of {len(per_task)}",
            )
        )
    header = ("variant", *(f"{q} queries" for q in points), "tasks ahead")
    caption = (
        f"Mean ARI of {method} less that of the variant: what the part that is off, or the setting that is moved, "
        "brings. Folds that both have run, ± half of the 95 % interval for running it again on the same tasks. "
        "Tasks ahead: by the mean over these numbers of queries."
    )
    return Table(f"{method} minus its variants", header, tuple(rows), caption)


def _leave_one_out_tables(
    summary: Summary, method: str, family: Sequence[str], points: Sequence[int]
) -> list[Block]:
    choice = leave_one_task_out(summary, (method, *family), points)
    n = len(choice.tasks)
    if n < 2:
        return []
    rows = []
    for name, per_task in zip(("chosen without the task", "defaults"), choice.leads, strict=True):
        columns = np.column_stack([per_task, per_task.mean(axis=1)])
        # Over tasks, not folds: the question is how the choice would do on another task.
        errors = columns.std(axis=0, ddof=1) / math.sqrt(n)
        rows.append(
            (name, *(f"{m:.3f} ± {e:.3f}" for m, e in zip(columns.mean(axis=0), errors, strict=True)))
        )
    n_folds = [len(summary.common_folds((method, *family, "COBRAS"), task)[0]) for task in choice.tasks]
    caption = (
        f"Lead in mean ARI over COBRAS on {n} tasks and the {sum(n_folds)} folds that all have run, ± one standard "
        f"error over tasks. For each task the one of {method} and its {len(family)} variants with the best mean "
        "ARI at these numbers of queries on all other tasks was chosen."
    )
    times = {name: choice.chosen.count(name) for name in (method, *family)}
    often = sorted((name for name in times if times[name]), key=lambda name: -times[name])
    header = ("settings", *(f"{q} queries" for q in points), "mean")
    return [
        Table(f"{method} by leave-one-task-out", header, tuple(rows), caption),
        Text("How often each was chosen: " + ", ".join(f"{name} {times[name]}" for name in often) + "."),
    ]


def _lead_sentence(summary: Summary, method: str) -> str:
    every = [summary.difference(method, "COBRAS", [q])[0] for q in range(1, summary.n_queries + 1)]
    lowest = min(range(len(every)), key=lambda x: float(every[x].value))
    # An error that is not known counts as none.
    behind = sum(float(lead.value) < -math.sqrt(np.nan_to_num(lead.variance)) for lead in every)
    return (
        f"From 1 to {summary.n_queries} queries the lowest lead of {method} over COBRAS is "
        f"{float(every[lowest].value):+.3f}, at {lowest + 1} queries; it is behind by more than one standard "
        f"error at {behind} numbers of queries."
    )


def _rank_sentence(summary: Summary, method: str) -> str:
    ranking = summary.ranking
    if ranking is None or method not in ranking.methods or summary.n_queries < RANKED_FROM:
        return ""
    own = ranking.methods.index(method)
    best = ranking.ranks[:, RANKED_FROM:].argmin(axis=0) == own
    return (
        f" Among {len(ranking.methods)} methods it has the best aligned rank at "
        f"{percent(float(best.mean()))} of the numbers of queries from {RANKED_FROM} on."
    )
