"""How far a method that is not in the paper leads over COBRAS, and what its parts bring: tables of a report.

A method of an experiment that is given without parameters may have *variants*: the same estimator with other
parameters. Its table says what each of them would lose; and since settings that were chosen on the tasks they are
judged by look better than they are, another one chooses among them by leave-one-task-out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cobras.bench.measures import Mean
from cobras.bench.report.numbers import percent, plus_minus
from cobras.bench.report.pages import Block, Table, Text
from cobras.bench.report.summary import METHODS, Summary
from cobras.core.types import FloatArray

POINTS = (5, 10, 15, 25, 50, 100, 150, 200, 250)
CHOSEN_AT = (10, 25, 50, 100)  # queries at which variants are compared
RANKED_FROM = 15  # queries


def leads(summary: Summary) -> list[Block]:
    """The tables, with a few sentences, of each method that is not in the paper or has variants."""
    families = variants(summary)
    all_variants = {variant for family in families.values() for variant in family}
    found: list[Block] = []
    for method in summary.methods:
        if method not in METHODS and method not in all_variants and _comparable(summary, method):
            ranked = method not in families  # variants share the places of the method
            words = _in_words(summary, method) + (_rank_in_words(summary, method) if ranked else "")
            found += [_table(summary, method), Text(words)]
        if method in families and summary.n_queries >= CHOSEN_AT[0]:
            found += [_variants_table(summary, method, families[method])]
            if _comparable(summary, method):
                found += _chosen_tables(summary, method, families[method])
    return found


def variants(summary: Summary) -> dict[str, tuple[str, ...]]:
    """The variants of each method that has some: the same estimator with parameters, in the order of the file."""
    given = summary.about.get("experiment", {}).get("contestants", [])
    ran = {contestant["name"]: contestant for contestant in given if contestant["name"] in summary.methods}
    families = {
        method: tuple(name for name, c in ran.items() if c["use"] == plain["use"] and c["parameters"])
        for method, plain in ran.items()
        if not plain["parameters"]
    }
    return {method: family for method, family in families.items() if family}


class Choice(NamedTuple):
    """What leave-one-task-out chose.

    Attributes
    ----------
    tasks : tuple of str
    chosen : tuple of str
        For each task the candidate with the best mean ARI on the others.
    leads : array of shape (2, n_tasks, n_points)
        Mean lead over COBRAS: of what was chosen, and of the first candidate.
    """

    tasks: tuple[str, ...]
    chosen: tuple[str, ...]
    leads: FloatArray


def leave_one_task_out(summary: Summary, candidates: Sequence[str], points: Sequence[int]) -> Choice:
    """Choose for each task the candidate that is best on all others, at some numbers of queries.

    Only folds that all candidates and COBRAS have run count. Equal candidates: the first one is chosen.
    """
    methods = (*candidates, "COBRAS")
    tasks = summary.shared(methods)
    rows = [summary.common(methods, task)[0] for task in tasks]
    ari = np.array([summary.ari[r][..., list(points)].mean(axis=0, dtype=np.float64) for r in rows])
    own = ari[:, :-1].mean(axis=2)
    best = (own.sum(axis=0) - own).round(9).argmax(axis=1)  # rounded, so that equal candidates are equal
    of_tasks = np.arange(len(tasks))
    found = np.array([ari[of_tasks, best], ari[:, 0]]) - ari[:, -1]
    return Choice(tasks, tuple(candidates[c] for c in best), found)


def _comparable(summary: Summary, method: str) -> bool:
    return "COBRAS" in summary.methods and bool(summary.shared((method, "COBRAS")))


def _table(summary: Summary, method: str) -> Table:
    tasks = summary.shared((method, "COBRAS"))
    rows = []
    for q in (q for q in POINTS if q <= summary.n_queries):
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


def _variants_table(summary: Summary, method: str, family: Sequence[str]) -> Table:
    points = _points(summary)
    rows = []
    for variant in (variant for variant in family if summary.shared((method, variant))):
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


def _chosen_tables(summary: Summary, method: str, family: Sequence[str]) -> list[Block]:
    points = _points(summary)
    choice = leave_one_task_out(summary, (method, *family), points)
    n = len(choice.tasks)
    if n < 2:
        return []
    rows = []
    for name, per_task in zip(("chosen without the task", "defaults"), choice.leads, strict=True):
        columns = np.column_stack([per_task, per_task.mean(axis=1)])
        errors = columns.std(axis=0, ddof=1) / math.sqrt(n)
        rows.append(
            (name, *(f"{m:.3f} ± {e:.3f}" for m, e in zip(columns.mean(axis=0), errors, strict=True)))
        )
    n_folds = [len(summary.common((method, *family, "COBRAS"), task)[0]) for task in choice.tasks]
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


def _points(summary: Summary) -> list[int]:
    return [q for q in CHOSEN_AT if q <= summary.n_queries]


def _in_words(summary: Summary, method: str) -> str:
    every = [summary.difference(method, "COBRAS", [q])[0] for q in range(1, summary.n_queries + 1)]
    lowest = min(range(len(every)), key=lambda x: float(every[x].value))
    behind = sum(_behind(lead) for lead in every)
    return (
        f"From 1 to {summary.n_queries} queries the lowest lead of {method} over COBRAS is "
        f"{float(every[lowest].value):+.3f}, at {lowest + 1} queries; it is behind by more than one standard "
        f"error at {behind} numbers of queries."
    )


def _rank_in_words(summary: Summary, method: str) -> str:
    ranking = summary.ranking
    if ranking is None or method not in ranking.fair.methods or summary.n_queries < RANKED_FROM:
        return ""
    own = ranking.fair.methods.index(method)
    best = ranking.ranks[:, RANKED_FROM:].argmin(axis=0) == own
    return (
        f" Among {len(ranking.fair.methods)} methods it has the best aligned rank at "
        f"{percent(float(best.mean()))} of the numbers of queries from {RANKED_FROM} on."
    )


def _behind(lead: Mean) -> bool:
    error = math.sqrt(float(lead.variance)) if np.isfinite(lead.variance) else 0.0
    return float(lead.value) < -error
