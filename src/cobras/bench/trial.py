"""One run of an experiment: fit a method with one fold held out, and score it there.

A run is charged its CPU seconds, which other work on the machine hardly changes. When they exceed the method's
limit nothing more is answered, and the last clustering is repeated, as in the paper.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from cobras.bench.experiment import Contestant, Experiment, add_to_path
from cobras.bench.measures import ari_per_query
from cobras.bench.results import Run
from cobras.bench.tasks import Task
from cobras.core.exceptions import CobrasError, StopAsking
from cobras.core.types import BoolArray, FloatArray, IndexArray


class Trial(NamedTuple):
    """A run that is still to be made."""

    task: Task
    contestant: Contestant
    repetition: int
    fold: int

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What identifies a run."""
        return self.task.name, self.contestant.name, self.repetition, self.fold


class TimedOracle:
    """Answers by labels, records when each question came, and stops when the time limit is exceeded."""

    def __init__(self, y: IndexArray, limit: float | None) -> None:
        self.y = y
        self.limit = limit
        self.cut_off = False
        self.start = time.process_time()
        self.times: list[float] = []

    def __call__(self, i: int, j: int) -> bool:
        """Answer one question."""
        # Question q comes when the clustering after q answers is there, so this is the time that clustering took.
        now = time.process_time() - self.start
        self.times.append(now)
        if self.limit is not None and now > self.limit:
            self.cut_off = True
            raise StopAsking
        return bool(self.y[i] == self.y[j])


def run_trial(experiment: Experiment, trial: Trial) -> Run:
    """Fit a method on all instances, asking about those of the other folds only, and score it on its own fold."""
    task, contestant, repetition, fold = trial
    seed = experiment.run_seed(repetition, fold)
    train = experiment.train_mask(len(task.X), repetition, fold)
    estimator = contestant.make_estimator(task.n_classes, experiment.queries, seed)
    oracle = TimedOracle(task.y, contestant.seconds)
    clusterings = fit(estimator, task.X, oracle, train)
    seconds = time.process_time() - oracle.start
    n_queries = min(len(clusterings) - 1, experiment.queries)
    aris = ari_per_query(clusterings[: n_queries + 1], task.y, np.flatnonzero(~train))
    # The last clustering has no question after it; its time is that of the whole run.
    times = [*oracle.times[:n_queries], seconds]
    n = experiment.queries + 1
    return Run(
        task=task.name,
        method=contestant.name,
        repetition=repetition,
        fold=fold,
        seed=seed,
        n_queries=n_queries,
        seconds=seconds,
        cut_off=oracle.cut_off,
        limit=contestant.seconds,
        n_rows=len(task.X),
        n_features=task.X.shape[1],
        n_classes=task.n_classes,
        aris=np.pad(aris, (0, n - len(aris)), mode="edge").tolist(),
        # To ten microseconds: further digits are noise, and they would double the size of the files.
        seconds_per_query=np.pad(np.round(times, 5), (0, n - len(times)), mode="edge").tolist(),
    )


def fit(estimator: Any, X: FloatArray, oracle: TimedOracle, train: BoolArray) -> Sequence[IndexArray]:
    """Fit an estimator and return its clusterings after 0, 1, 2, ... answers; one if it asks nothing."""
    if "oracle" not in signature(estimator.fit).parameters:
        return [np.asarray(estimator.fit(X).labels_)]
    estimator.fit(X, oracle=oracle, train_indices=np.flatnonzero(train))
    clusterings: Sequence[IndexArray] = estimator.labels_per_query_
    return clusterings


def run_in_worker(experiment: Experiment, trial: Trial) -> Run:
    """`run_trial` in a worker process; an error names the run."""
    add_to_path(experiment.home)
    _load_kernels(trial)
    try:
        return run_trial(experiment, trial)
    except Exception as error:
        reason = str(error) if isinstance(error, CobrasError) else f"{type(error).__name__}: {error}"
        task, method, repetition, fold = trial.key
        raise CobrasError(f"{method} on {task}, repetition {repetition}, fold {fold}: {reason}") from error


# Methods and types of data whose kernels this process has loaded.
_loaded: set[tuple[str, str]] = set()


def _load_kernels(trial: Trial) -> None:
    """Load or compile the kernels by a fit on a few rows, so that it does not count as time of a run."""
    task, contestant = trial.task, trial.contestant
    key = contestant.name, task.X.dtype.char
    if key in _loaded:
        return
    _loaded.add(key)
    # Kernels are compiled per type of data, not per shape, so 80 rows do.
    rows = np.random.default_rng(0).permutation(len(task.X))[:80]
    few = np.ascontiguousarray(task.X[rows])
    oracle = TimedOracle(task.y[rows], min(5.0, contestant.seconds or 5.0))
    # A method may refuse so few rows; a defect will show in the run itself.
    with suppress(Exception):
        estimator = contestant.make_estimator(min(task.n_classes, 3), 10, 0)
        fit(estimator, few, oracle, np.ones(len(rows), dtype=bool))
