"""The report on an experiment: figures, tables and the check-list of the paper's claims.

Written as one HTML page that needs no other file, as Markdown, and as SVG and PNG figures.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from cobras.bench.report import tables
from cobras.bench.report.claims import check_claims, leads_of_cobra
from cobras.bench.report.comparisons import comparison_tables
from cobras.bench.report.figures import draw_figures
from cobras.bench.report.formats import duration
from cobras.bench.report.minutes import is_by_minutes, minutes_blocks
from cobras.bench.report.pages import (
    Block,
    Check,
    Claims,
    Code,
    Heading,
    Table,
    Verdict,
    html_page,
    markdown_page,
)
from cobras.bench.report.summary import Summary, read_summary


def write_report(*folders: Path, out: Path | None = None) -> Path:
    """Write `report.html`, `report.md` and `figures/` on one or several experiments, and return the HTML page.

    The folders were filled by `cobras bench run` with the same folds and seed; `out` is the first by default.
    """
    summary = read_summary(*folders)
    out = folders[0] if out is None else out
    out.mkdir(parents=True, exist_ok=True)
    by_minutes = is_by_minutes(summary)
    title = (
        f"Experiment {summary.name}: which clustering after how many {'minutes' if by_minutes else 'answers'}"
    )
    blocks = minutes_blocks(summary) if by_minutes else _blocks(summary, out)
    blocks += [*_machine_tables(summary.about), *HOW]
    (out / "report.md").write_text(markdown_page(title, blocks), encoding="utf-8")
    page = out / "report.html"
    page.write_text(html_page(title, blocks), encoding="utf-8")
    return page


def _blocks(summary: Summary, out: Path) -> list[Block]:
    checks = check_claims(summary)
    return [
        _introduction(summary, checks),
        Heading("What the paper claims, and what we measured"),
        (
            "Claims are those of the COBRAS paper (Advances in Intelligent Data Analysis XVII, 2018), worded after "
            "a manuscript of it and judged on its seven methods alone. A part is true (✓) or false (✗) only if "
            "its whole 95 % interval lies on one side of the bound, otherwise unclear (?). A claim holds if all "
            "its parts are true, and does not hold if one is false."
        ),
        Claims(tuple(checks)),
        *leads_of_cobra(summary),
        Heading("Figures"),
        *draw_figures(summary, out / "figures"),
        Heading("Tables"),
        tables.mean_ari(summary),
        *comparison_tables(summary),
        tables.aligned_rank(summary),
        tables.run_times(summary),
        tables.waiting_times(summary),
        *tables.ari_per_task(summary),
        tables.run_time_per_task(summary),
        Heading("What was run, and how it is measured"),
        tables.runs_per_method(summary),
    ]


# How to read the numbers; the last paragraphs of every report.
HOW = (
    "Score: the adjusted Rand index (ARI) on the instances of the test fold only, of the clustering a "
    "person would get by stopping after so many answers. 1 is the true clustering, 0 is chance.",
    "Errors: all intervals are about running the experiment again on the same tasks with other folds and "
    "seeds. With several repetitions they come from how repetitions differ, since folds of one repetition "
    "are not independent; with one repetition from how its folds differ, with the correction of Nadeau and "
    "Bengio for overlapping training sets. Tasks are taken as given: how far a result carries over to "
    "others, the Friedman test and the number of tasks won tell better.",
    "Fairness: aligned ranks, differences and run-time ratios use only folds that all compared methods have "
    "run. Mean curves and tables of ARI use all folds of each method. A method that ran on less than half "
    "of the tasks is left out of comparisons over tasks, then each task that one of the others lacks; every "
    "such case is named where it occurs.",
    "Times are CPU seconds of one thread, from the start of a run, with compiled code loaded beforehand.",
)


def _introduction(summary: Summary, checks: list[Check]) -> str:
    n_of = Counter(check.verdict for check in checks)
    counts = ", ".join(f"{verdict}: {n_of[verdict]}" for verdict in Verdict if n_of[verdict])
    return (
        f"{len(summary.methods)} methods on {len(summary.tasks)} tasks, {len(summary.runs)} runs of up to "
        f"{summary.n_queries} queries. Verdicts on {len(checks)} claims of the paper: {counts}."
    )


def _machine_tables(about: dict[str, Any]) -> list[Block]:
    runs = about.get("runs", [])
    if not runs:
        return ["Where and with which versions it was run is not recorded."]
    header = ("started", "runs made", "elapsed", "commit", "Python", "machine", "packages")
    rows = tuple(
        (
            str(run.get("started", "")),
            str(run.get("n_runs", "")),
            duration(run["seconds"]) if run.get("seconds") else "",
            str(run.get("commit") or "unknown"),
            str(run.get("python", "")),
            str(run.get("machine", "")),
            ", ".join(f"{name} {version}" for name, version in run.get("packages", {}).items()),
        )
        for run in runs
    )
    return [
        Table("Where it was run", header, rows),
        Code("The experiment as it was given", json.dumps(about.get("experiment", {}), indent=1)),
    ]
