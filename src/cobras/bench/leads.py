"""How far a method that is not in the paper leads over COBRAS, fold by fold: the tables of a report about it."""

from __future__ import annotations

import math

import numpy as np

from cobras.bench.measures import Mean
from cobras.bench.pages import Block, Table, Text
from cobras.bench.summary import METHODS, Summary
from cobras.bench.wording import percent, plus_minus

POINTS = (5, 10, 15, 25, 50, 100, 150, 200, 250)
RANKED_FROM = 15  # queries


def leads(summary: Summary) -> list[Block]:
    """One table and a few sentences for each method that is not in the paper."""
    others = [method for method in summary.methods if method not in METHODS]
    return [
        block
        for method in others
        if "COBRAS" in summary.methods and summary.shared((method, "COBRAS"))
        for block in (_table(summary, method), Text(_in_words(summary, method)))
    ]


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


def _in_words(summary: Summary, method: str) -> str:
    every = [summary.difference(method, "COBRAS", [q])[0] for q in range(1, summary.n_queries + 1)]
    lowest = min(range(len(every)), key=lambda x: float(every[x].value))
    behind = sum(_behind(lead) for lead in every)
    text = (
        f"From 1 to {summary.n_queries} queries the lowest lead of {method} over COBRAS is "
        f"{float(every[lowest].value):+.3f}, at {lowest + 1} queries; it is behind by more than one standard "
        f"error at {behind} numbers of queries."
    )
    ranking = summary.ranking
    if ranking is None or method not in ranking.fair.methods or summary.n_queries < RANKED_FROM:
        return text
    own = ranking.fair.methods.index(method)
    best = ranking.ranks[:, RANKED_FROM:].argmin(axis=0) == own
    return text + (
        f" Among {len(ranking.fair.methods)} methods it has the best aligned rank at "
        f"{percent(float(best.mean()))} of the numbers of queries from {RANKED_FROM} on."
    )


def _behind(lead: Mean) -> bool:
    error = math.sqrt(float(lead.variance)) if np.isfinite(lead.variance) else 0.0
    return float(lead.value) < -error
