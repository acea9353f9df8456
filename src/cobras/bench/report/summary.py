"""The results of an experiment as arrays, and the comparisons drawn from them.

Comparisons are fair: ranks, differences and run-time ratios use only folds that all compared methods have run. What
a comparison leaves out is kept with it as a sentence for the report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from cobras.bench.measures import (
    Mean,
    aligned_ranks,
    area_under_curve,
    bootstrap_interval,
    bootstrap_means,
    latencies,
    mean_over_folds,
    mean_over_tasks,
)
from cobras.bench.results import KEY, read_about, read_results, read_runs
from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray, IndexArray

# The methods of the paper, in its order.
METHODS = ("COBRAS", "COBRA-10", "COBRA-25", "COBRA-50", "COBS", "MPCKMeans-NPU", "COSC-NPU")
N_DRAWS = 400  # of the bootstrap


class TaskSize(NamedTuple):
    """A task and how large it is."""

    name: str
    n_rows: int
    n_features: int
    n_classes: int


class Comparable(NamedTuple):
    """Methods and tasks that can be compared, and what had to be left out, one sentence each."""

    methods: tuple[str, ...]
    tasks: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class Ranking:
    """Aligned ranks of all methods that can be compared; the first three fields are those of `Comparable`."""

    methods: tuple[str, ...]
    tasks: tuple[str, ...]
    left_out: tuple[str, ...]
    n_common: tuple[int, ...]  # folds of each task that all methods have run
    Z: FloatArray  # mean ARI over the common folds; shape (n_tasks, n_methods, n_queries + 1)
    ranks: FloatArray  # shape (n_methods, n_queries + 1)
    draws: FloatArray  # the ranks with the folds drawn anew; shape (n_draws, n_methods, n_queries + 1)

    @cached_property
    def interval(self) -> FloatArray:
        """The 95 % interval of each rank; shape (2, n_methods, n_queries + 1)."""
        n, k = self.Z.shape[:2]
        # The best average a method can have: the ranks 1 to n on the n tasks.
        best = (n + 1) / 2
        return np.asarray(np.clip(bootstrap_interval(self.ranks, self.draws), best, n * k + 1 - best))


@dataclass(frozen=True)
class Summary:
    """All runs of an experiment."""

    name: str
    tasks: tuple[TaskSize, ...]  # from the fewest rows to the most
    methods: tuple[str, ...]  # in the order of the paper, then all others by name
    n_folds: int  # of the cross-validation
    runs: pl.DataFrame  # one row per run, in the order of the rows of `ari` and `seconds`
    # On the test fold, and the CPU seconds in total, after 0, 1, 2, ... answers; shape (n_runs, n_queries + 1).
    ari: FloatArray
    seconds: FloatArray
    about: dict[str, Any]  # the record of what was run where; see `read_about`

    @property
    def n_queries(self) -> int:
        """The budget of each run."""
        return int(self.ari.shape[1]) - 1

    @cached_property
    def paper(self) -> Summary:
        """The runs of the paper's methods alone, on which its claims are judged."""
        kept = self.runs["method"].is_in(METHODS).to_numpy()
        if kept.all():
            return self
        runs = self.runs.filter(kept)
        ran = set(runs["task"])
        return replace(
            self,
            tasks=tuple(task for task in self.tasks if task.name in ran),
            methods=tuple(method for method in self.methods if method in METHODS),
            runs=runs,
            ari=self.ari[kept],
            seconds=self.seconds[kept],
        )

    @cached_property
    def _rows(self) -> dict[tuple[str, str], dict[tuple[int, int], int]]:
        """By task and method, then by (repetition, fold): the row of `runs`."""
        found: dict[tuple[str, str], dict[tuple[int, int], int]] = {}
        for row, (task, method, repetition, fold) in enumerate(self.runs.select(KEY).iter_rows()):
            found.setdefault((task, method), {})[repetition, fold] = row
        return found

    def rows(self, method: str, task: str) -> IndexArray:
        """The row numbers of the runs of a method on a task."""
        return np.array(list(self._rows.get((task, method), {}).values()), np.int64)

    def common_folds(self, methods: Sequence[str], task: str) -> tuple[IndexArray, IndexArray]:
        """The m folds of a task that all methods have run: row numbers of shape (m, n_methods), and repetitions."""
        runs = [self._rows.get((task, method), {}) for method in methods]
        keys = sorted(set(runs[0]).intersection(*runs))
        rows = np.array([[run[key] for run in runs] for key in keys], np.int64)
        return rows.reshape(-1, len(methods)), np.array([repetition for repetition, _ in keys], np.int64)

    def shared_tasks(self, methods: Sequence[str]) -> tuple[str, ...]:
        """Tasks on which all methods have run a common fold."""
        return tuple(
            task.name for task in self.tasks if methods and len(self.common_folds(methods, task.name)[0])
        )

    def comparable(self, methods: Sequence[str]) -> Comparable:
        """Which of these methods can be compared: those with at least half of the tasks, on tasks they share."""
        tasks = [task.name for task in self.tasks]
        counts = {method: sum(len(self.rows(method, task)) > 0 for task in tasks) for method in methods}
        kept = [method for method in methods if 2 * counts[method] >= len(tasks) and counts[method]]
        out = [
            f"{method} is left out: it ran on {counts[method]} of {len(tasks)} tasks only."
            for method in methods
            if method not in kept
        ]
        shared = self.shared_tasks(kept)
        if kept and len(shared) < len(tasks):
            missing = ", ".join(task for task in tasks if task not in shared)
            out.append(f"Left out, because not all methods ran there on a common fold: {missing}.")
        return Comparable(tuple(kept), shared, tuple(out))

    def curve(self, method: str, task: str) -> Mean:
        """Mean ARI on a task per number of queries, over all folds the method has run."""
        rows = self.rows(method, task)
        return mean_over_folds(self.ari[rows], self.runs["repetition"].to_numpy()[rows], self.n_folds)

    def area(self, method: str, task: str) -> Mean:
        """The normalised area under the ARI curve on a task."""
        rows = self.rows(method, task)
        areas = area_under_curve(self.ari[rows])
        return mean_over_folds(areas, self.runs["repetition"].to_numpy()[rows], self.n_folds)

    def difference(
        self, a: str, b: str, queries: Sequence[int], tasks: Sequence[str] | None = None
    ) -> tuple[Mean, FloatArray]:
        """ARI of `a` minus ARI of `b`, averaged over some numbers of queries: mean over tasks, and each task's own.

        Taken fold by fold; only folds that both methods have run count. All shared tasks by default.
        """
        found = []
        for task in self.shared_tasks((a, b)) if tasks is None else tasks:
            rows, repetition = self.common_folds((a, b), task)
            scores = self.ari[rows][..., list(queries)].mean(axis=2, dtype=np.float64)
            found.append(mean_over_folds(scores[:, 0] - scores[:, 1], repetition, self.n_folds))
        return mean_over_tasks(found), np.array([mean.value for mean in found])

    def lead_per_query(self, a: str, b: str) -> Mean:
        """ARI of `a` minus ARI of `b` as by `difference`, mean over tasks, for each number of queries by itself."""
        found = []
        for task in self.shared_tasks((a, b)):
            rows, repetition = self.common_folds((a, b), task)
            scores = self.ari[rows].astype(np.float64)
            found.append(mean_over_folds(scores[:, 0] - scores[:, 1], repetition, self.n_folds))
        return mean_over_tasks(found)

    def frozen_shares(self, method: str, tasks: Sequence[str]) -> FloatArray:
        """For each number of queries, the share of a method's runs that the time limit had cut off before it.

        From there on the last clustering of such a run is repeated.
        """
        rows = np.concatenate([np.zeros(0, np.int64), *(self.rows(method, task) for task in tasks)])
        cut_off, given = (self.runs[name].to_numpy()[rows] for name in ("cut_off", "n_queries"))
        frozen = cut_off[:, None] & (given[:, None] < np.arange(self.n_queries + 1))
        return np.asarray(frozen.sum(axis=0) / max(len(rows), 1))

    def run_time_ratios(self, a: str, b: str, query: int) -> dict[str, float]:
        """Run time of `a` divided by that of `b` after some queries: medians over the common folds of each task.

        Below 1 `a` is the faster one. Tasks on which a time is too short to be measured are missing.
        """
        found = {}
        for task in self.shared_tasks((a, b)):
            rows, _ = self.common_folds((a, b), task)
            ours, theirs = np.median(self.seconds[rows, query], axis=0).tolist()
            if ours > 0 and theirs > 0:
                found[task] = ours / theirs
        return found

    def waiting_times(self, method: str, task: str | None = None) -> FloatArray:
        """Seconds between each answer and its clustering, over all runs of a method or those on one task."""
        names = [size.name for size in self.tasks] if task is None else [task]
        rows = np.concatenate([self.rows(method, name) for name in names])
        return latencies(self.seconds[rows], self.runs["n_queries"].to_numpy()[rows])

    @cached_property
    def ranking(self) -> Ranking | None:
        """Aligned ranks of all methods; None when fewer than two can be compared."""
        comparable = self.comparable(self.methods)
        if len(comparable.methods) < 2 or not comparable.tasks:
            return None
        found = [self.common_folds(comparable.methods, task) for task in comparable.tasks]
        scores = [self.ari[rows] for rows, _ in found]
        Z = np.array([values.mean(axis=0, dtype=np.float64) for values in scores])
        draws = [aligned_ranks(means) for means in bootstrap_means(scores, [r for _, r in found], N_DRAWS)]
        # float32: with 21 tasks and 7 methods the draws take 2.8 MB, and a rank needs no more digits.
        return Ranking(*comparable, tuple(map(len, scores)), Z, aligned_ranks(Z), np.array(draws, np.float32))


def read_summary(*folders: Path) -> Summary:
    """Read what `cobras bench run` wrote into a folder, or into several with the same folds and seed.

    Where they differ in the number of queries, all runs count up to the smallest.
    """
    read = [_read(folder) for folder in folders]
    about = _merge_abouts([about for _, _, about in read])
    n_queries = min(int(results["query"].to_numpy().max()) for results, _, _ in read)
    results = pl.concat([results for results, _, _ in read]).sort(*KEY, "query")
    results = results.filter(pl.col("query") <= n_queries)
    runs = pl.concat([runs for _, runs, _ in read]).sort(KEY)
    if runs.select(KEY).is_duplicated().any():
        raise InvalidDataError(
            f"A run is in more than one of {', '.join(map(str, folders))}. Name each method once."
        )
    ran = set(runs["method"])
    sizes = runs.select("task", "n_rows", "n_features", "n_classes").unique("task").sort("n_rows", "task")
    return Summary(
        name=str(about.get("experiment", {}).get("name", folders[0].name)),
        tasks=tuple(TaskSize(*row) for row in sizes.iter_rows()),
        methods=(*(m for m in METHODS if m in ran), *sorted(ran.difference(METHODS))),
        n_folds=int(about.get("experiment", {}).get("folds", runs["fold"].to_numpy().max() + 1)),
        runs=runs,
        ari=results["ari"].to_numpy().reshape(-1, n_queries + 1),
        seconds=results["seconds"].to_numpy().reshape(-1, n_queries + 1),
        about=about,
    )


def _read(folder: Path) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, Any]]:
    results, runs = read_results(folder), read_runs(folder)
    if results.is_empty() or runs.is_empty():
        raise InvalidDataError(
            f"{folder} holds no results. Name the folder of an experiment, or run it first by cobras bench run."
        )
    n_queries = int(results["query"].to_numpy().max())
    if not _is_complete(results.sort(*KEY, "query"), runs.sort(KEY), n_queries):
        raise InvalidDataError(
            f"The results in {folder} are not whole: each run in runs.parquet must have one row per query, "
            f"0 to {n_queries}, in results. Remove the folder and run the experiment again."
        )
    return results, runs, read_about(folder)


def _merge_abouts(abouts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One record of several experiments, which must share their folds."""
    given = [about.get("experiment", {}) for about in abouts]
    for other in given[1:]:
        for key in ("folds", "seed"):
            if given[0].get(key) != other.get(key):
                raise InvalidDataError(
                    f"The experiments differ in {key}: {given[0].get(key)} and {other.get(key)}."
                )
    contestants = [contestant for experiment in given for contestant in experiment.get("contestants", [])]
    return {
        "experiment": given[0] | {"contestants": contestants},
        "runs": [run for about in abouts for run in about.get("runs", [])],
    }


def _is_complete(results: pl.DataFrame, runs: pl.DataFrame, n_queries: int) -> bool:
    """Whether each run has its rows from 0 to the last query, and nothing else is there."""
    if len(results) != len(runs) * (n_queries + 1):
        return False
    queries = results["query"].to_numpy().reshape(-1, n_queries + 1)
    first = results.select(KEY).gather_every(n_queries + 1)
    return bool((queries == np.arange(n_queries + 1)).all()) and first.equals(runs.select(KEY))
