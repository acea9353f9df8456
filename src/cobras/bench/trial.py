"""One run of an experiment: fit a method with one fold held out, and score it there.

A run is charged its CPU seconds, which other work on the machine hardly changes. When they exceed the method's
limit nothing more is answered, and the last clustering is repeated, as in the paper. In an experiment by minutes a
person answers pairs or sorts boards, and what counts is what they have after each second of their time.
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
from cobras.core.board import Board
from cobras.core.exceptions import CobrasError, StopAsking
from cobras.core.types import Answer, BoolArray, FloatArray, IndexArray
from cobras.estimators.active import LabelsPerQuery
from cobras.session.oracles import HumanOracle, run
from cobras.session.session import Session


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


class TimedPerson(HumanOracle):
    """A person who answers pairs or sorts boards, and a record of the CPU seconds at which each came."""

    def __init__(self, y: IndexArray, contestant: Contestant, seed: int) -> None:
        super().__init__(y, contestant.person, seed)  # type: ignore[arg-type]
        self.start = time.process_time()
        self.times: list[float] = []

    def __call__(self, i: int, j: int) -> Answer:
        """Answer a pair."""
        self.times.append(time.process_time() - self.start)
        return super().__call__(i, j)

    def sort(self, board: Board) -> list[list[int]]:
        """Sort a board."""
        self.times.append(time.process_time() - self.start)
        return super().sort(board)


class Course(NamedTuple):
    """How a run went: the score and the CPU seconds after each answer, or after each second of a person's time."""

    aris: FloatArray
    times: FloatArray
    n_queries: int
    cut_off: bool = False


def run_trial(experiment: Experiment, trial: Trial) -> Run:
    """Fit a method on all instances, asking about those of the other folds only, and score it on its own fold."""
    task, contestant, repetition, fold = trial
    seed = experiment.run_seed(repetition, fold)
    train = experiment.train_mask(len(task.X), repetition, fold)
    follow = by_queries if contestant.person is None else by_seconds
    aris, times, n_queries, cut_off = follow(experiment, trial, seed, train)
    n = experiment.queries + 1
    return Run(
        task=task.name,
        method=contestant.name,
        repetition=repetition,
        fold=fold,
        seed=seed,
        n_queries=n_queries,
        seconds=float(times[-1]),
        cut_off=cut_off,
        limit=contestant.seconds,
        n_rows=len(task.X),
        n_features=task.X.shape[1],
        n_classes=task.n_classes,
        aris=np.pad(aris, (0, n - len(aris)), mode="edge").tolist(),
        # To ten microseconds: further digits are noise, and they would double the size of the files.
        seconds_per_query=np.pad(np.round(times, 5), (0, n - len(times)), mode="edge").tolist(),
    )


def by_queries(experiment: Experiment, trial: Trial, seed: int, train: BoolArray) -> Course:
    """Score the clustering after each answer."""
    task, contestant = trial.task, trial.contestant
    estimator = contestant.make_estimator(task.n_classes, experiment.queries, seed)
    oracle = TimedOracle(task.y, contestant.seconds)
    clusterings = fit(estimator, task.X, oracle, train)
    seconds = time.process_time() - oracle.start
    n_queries = min(len(clusterings) - 1, experiment.queries)
    aris = ari_per_query(clusterings[: n_queries + 1], task.y, np.flatnonzero(~train))
    # The last clustering has no question after it; its time is that of the whole run.
    return Course(aris, np.array([*oracle.times[:n_queries], seconds]), n_queries, oracle.cut_off)


def by_seconds(experiment: Experiment, trial: Trial, seed: int, train: BoolArray) -> Course:
    """Score the clustering after each second of a person's time."""
    task, contestant, *_ = trial
    person = TimedPerson(task.y, contestant, seed)
    session = Session(task.X, contestant.use, seed, train_indices=train, **contestant.parameters)
    run(session, person, lambda _: person.seconds >= experiment.queries, boards=contestant.boards)
    aris = ari_per_query(LabelsPerQuery(session.partitions), task.y, np.flatnonzero(~train))
    times = np.array([*person.times, time.process_time() - person.start])
    ends = np.cumsum(person.seconds_per_act)
    # What the person had at each second: all answers that were finished by then.
    shown = np.searchsorted(ends, np.arange(experiment.queries + 1), side="right")
    return Course(aris[shown], times[shown], len(ends))


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
