"""The tables on a method that is not in the paper: it beside COBRAS, and beside its own variants.

A method of an experiment that is given without parameters may have *variants*: the same estimator with other
parameters. A table says what each of them would lose; and since settings look better than they are on the tasks on
which they were chosen, another one chooses among the variants by leave-one-task-out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cobras.bench.report.formats import percent, plus_minus
from cobras.bench.report.frozen import MARK, frozen_sentence, is_frozen
from cobras.bench.report.pages import Block, Table
from cobras.bench.report.summary import METHODS, Summary
from cobras.core.types import FloatArray

# Numbers of queries: of the comparison with COBRAS, at which variants are compared, and from which on the best rank
# is counted.
LEAD_POINTS = (5, 10, 15, 25, 50, 100, 150, 200, 250)
CHOSEN_AT = (10, 25, 50, 100)
RANKED_FROM = 15


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
            found += [_lead_table(summary, method), words]
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
    pair = (method, "COBRAS")
    tasks = summary.shared_tasks(pair)
    # Four tasks on the same pictures weigh much in a mean over all tasks.
    others = [task for task in tasks if not task.startswith("faces-")]
    with_others = 0 < len(others) < len(tasks)
    rows = []
    for q in (q for q in LEAD_POINTS if q <= summary.n_queries):
        lead, per_task = summary.difference(*pair, [q])
        worst = int(per_task.argmin())
        rows.append(
            (
                str(q) + (f" {MARK}" if is_frozen(summary, pair, tasks, q) else ""),
                plus_minus(lead),
                *([plus_minus(summary.difference(*pair, [q], others)[0])] if with_others else []),
                f"{float(np.median(per_task)):.3f}",
                f"{int((per_task > 0).sum())} of {len(tasks)}",
                f"{per_task[worst]:+.3f} ({tasks[worst]})",
                f"{per_task.max():+.3f} ({tasks[int(per_task.argmax())]})",
            )
        )
    without_faces = ("without faces",) if with_others else ()
    header = ("queries", "lead in mean ARI", *without_faces, "median task", "tasks ahead", "worst", "best")
    caption = (
        "Folds that both have run, ± half of the 95 % interval for running it again on the same tasks. "
        + (f"Without faces: the mean over the other {len(others)} tasks. " if with_others else "")
        + "Median task: the median of the leads on the tasks. "
        + frozen_sentence(summary, pair, tasks)
    )
    return Table(f"{method} minus COBRAS", header, tuple(rows), caption.strip())


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
        "How often each was chosen: " + ", ".join(f"{name} {times[name]}" for name in often) + ".",
    ]


def _lead_sentence(summary: Summary, method: str) -> str:
    lead = summary.lead_per_query(method, "COBRAS")
    value = lead.value[1:]
    lowest = int(value.argmin())
    # An error that is not known counts as none.
    behind = int((value < -np.sqrt(np.nan_to_num(lead.variance[1:]))).sum())
    return (
        f"From 1 to {summary.n_queries} queries the lowest lead of {method} over COBRAS is "
        f"{value[lowest]:+.3f}, at {lowest + 1} queries; it is behind by more than one standard "
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
