"""The report on an experiment by minutes of a person's time: pairs beside boards, for each kind of person."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cobras.bench.measures import Mean, mean_over_tasks
from cobras.bench.report.formats import plus_minus
from cobras.bench.report.pages import Block, Heading, Table
from cobras.bench.report.summary import Summary

SHOWN = (3, 6, 12)  # minutes
MANY = 20  # clusters


def is_by_minutes(summary: Summary) -> bool:
    """Whether results are by seconds of a person's time."""
    return summary.about.get("experiment", {}).get("minutes") is not None


def minutes_blocks(summary: Summary) -> list[Block]:
    """What a person has after some minutes, and what boards bring."""
    all_tasks = [task.name for task in summary.tasks]
    many = [task.name for task in summary.tasks if task.n_classes >= MANY]
    few = [task for task in all_tasks if task not in many]
    groups = {f"tasks with fewer than {MANY} clusters": few, f"tasks with {MANY} clusters and more": many}
    blocks: list[Block] = [
        (
            f"{len(summary.methods)} ways to answer on {len(all_tasks)} tasks, {len(summary.runs)} runs of "
            f"{summary.n_queries // 60} minutes of a simulated person's time. Errors and times are those of "
            "HumanOracle: exact, careful (3 % of the pairs, or cards, are wrong) or one of a crowd."
        ),
        Heading("Boards less pairs"),
    ]
    blocks += [_difference_table(summary, title, tasks) for title, tasks in groups.items() if tasks]
    blocks.append(Heading("Mean ARI"))
    blocks += [_mean_table(summary, title, tasks) for title, tasks in groups.items() if tasks]
    return blocks


def _seconds(summary: Summary) -> list[int]:
    return [60 * minutes for minutes in SHOWN if 60 * minutes <= summary.n_queries]


def _pairs_of_methods(summary: Summary) -> list[tuple[str, str]]:
    """Each way with boards, and the same method with pairs for the same person."""
    given = {c["name"]: c for c in summary.about["experiment"]["contestants"]}
    plain = {name: (c["use"], c["parameters"], c["person"]) for name, c in given.items()}
    return [
        (name, other)
        for name in summary.methods
        for other in summary.methods
        if given[name]["boards"] and not given[other]["boards"] and plain[name] == plain[other]
    ]


def _difference_table(summary: Summary, title: str, tasks: Sequence[str]) -> Table:
    at, rows = _seconds(summary), []
    for boards, pairs in _pairs_of_methods(summary):
        shared = [task for task in summary.shared_tasks((boards, pairs)) if task in tasks]
        if not shared:
            continue
        found = [summary.difference(boards, pairs, [q], shared) for q in at]
        worst = int(found[-1][1].argmin())
        rows.append(
            (
                f"{boards} less {pairs}",
                *(plus_minus(mean) for mean, _ in found),
                f"{int((found[-1][1] > 0).sum())} of {len(shared)}",
                f"{found[-1][1][worst]:+.3f} ({shared[worst]})",
            )
        )
    header = ("", *(f"{q // 60} min" for q in at), "tasks ahead", "worst")
    caption = (
        "Mean over tasks, folds that both have run, ± half of the 95 % interval; ahead and worst at the end."
    )
    return Table(f"On {title}", header, tuple(rows), caption)


def _mean_table(summary: Summary, title: str, tasks: Sequence[str]) -> Table:
    at, rows = _seconds(summary), []
    for method in summary.methods:
        ran = [task for task in tasks if len(summary.rows(method, task))]
        if not ran:
            continue
        curve = mean_over_tasks([summary.curve(method, task) for task in ran])
        acts = np.concatenate(
            [summary.runs["n_queries"].to_numpy()[summary.rows(method, task)] for task in ran]
        )
        means = [Mean(*(part[q] for part in curve)) for q in at]
        rows.append((method, *map(plus_minus, means), f"{np.median(acts):.0f}"))
    header = ("", *(f"{q // 60} min" for q in at), "acts")
    caption = "On test folds, ± half of the 95 % interval. Acts: pairs answered or boards sorted, the median."
    return Table(f"On {title}", header, tuple(rows), caption)
