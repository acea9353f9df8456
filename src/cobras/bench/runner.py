"""Run an experiment: tasks x methods x repetitions x folds, on all cores, one thread each.

An experiment that was stopped continues where it was when it is started again.
"""

from __future__ import annotations

import platform
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import joblib
from threadpoolctl import threadpool_limits

from cobras.bench.experiment import Experiment
from cobras.bench.results import (
    KEY,
    Run,
    collect,
    lock_folder,
    read_about,
    read_runs,
    write_about,
    write_part,
)
from cobras.bench.tasks import load_task
from cobras.bench.trial import Trial, run_in_worker
from cobras.core.exceptions import CobrasError, DataChangedError

SAVE_EVERY = 10.0  # seconds between two parts
PACKAGES = ("cobras-clustering", "numpy", "scipy", "scikit-learn", "numba", "polars", "joblib")


class Watcher(Protocol):
    """What `run_experiment` calls to show its progress."""

    def start(self, waiting: Sequence[Trial], done: Sequence[Mapping[str, Any]]) -> None:
        """Show what is left to run, and the runs that are there already, as rows of `runs.parquet`."""

    def add_run(self, run: Run) -> None:
        """Count a run that has ended."""


def run_experiment(
    experiment: Experiment,
    out: Path,
    *,
    data: Path | None = None,
    methods: Sequence[str] = (),
    tasks: Sequence[str] = (),
    n_jobs: int = -1,
    watcher: Watcher | None = None,
) -> int:
    """Make all runs that are not there yet, write them, and return how many were made.

    The results go to `out`, where those of earlier calls are kept. `data` is the folder with the files of the tasks
    (see `load_task`); `methods` and `tasks` choose some by name, all by default; `n_jobs` is the number of
    processes, -1 for one per core.
    """
    with lock_folder(out):
        collect(out)
        about = _record(experiment, read_about(out))
        made_before = read_runs(out)
        done = set(made_before.select(KEY).iter_rows())
        waiting = [trial for trial in trials(experiment, data, methods, tasks) if trial.key not in done]
        if watcher is not None:
            watcher.start(waiting, made_before.rows(named=True))
        write_about(out, about)
        begun = saved = time.monotonic()
        unsaved: list[Run] = []
        try:
            for run in _runs(experiment, waiting, n_jobs):
                unsaved.append(run)
                about["runs"][-1]["n_runs"] += 1
                if watcher is not None:
                    watcher.add_run(run)
                if time.monotonic() - saved > SAVE_EVERY:
                    write_part(out, unsaved)
                    unsaved, saved = [], time.monotonic()
                    about["runs"][-1]["seconds"] = round(saved - begun)
                    write_about(out, about)
        finally:
            write_part(out, unsaved)
            collect(out)
            about["runs"][-1]["seconds"] = round(time.monotonic() - begun)
            write_about(out, about)
    return int(about["runs"][-1]["n_runs"])


def trials(
    experiment: Experiment, data: Path | None = None, methods: Sequence[str] = (), tasks: Sequence[str] = ()
) -> list[Trial]:
    """All runs of an experiment, the first fold of every task and method first, so that early results are broad."""
    contestants = [c for c in experiment.contestants if not methods or c.name in methods]
    specs = {
        spec if isinstance(spec, str) else str(spec.get("name") or Path(str(spec.get("path"))).stem): spec
        for spec in experiment.tasks
    }
    for kind, asked, known in (("method", methods, [c.name for c in contestants]), ("task", tasks, specs)):
        if unknown := sorted(set(asked).difference(known)):
            raise CobrasError(f"Experiment {experiment.name} has no {kind} {', '.join(unknown)}.")
    loaded = [load_task(spec, data) for name, spec in specs.items() if not tasks or name in tasks]
    # The largest first: a long run that began last would keep all other cores waiting at the end.
    loaded.sort(key=lambda task: -task.X.size)
    return [
        Trial(task, contestant, repetition, fold)
        for repetition in range(experiment.repetitions)
        for fold in range(experiment.folds)
        for contestant in contestants
        if repetition < (contestant.repetitions or experiment.repetitions)
        and fold < (contestant.first_folds or experiment.folds)
        for task in loaded
    ]


def _runs(experiment: Experiment, waiting: Sequence[Trial], n_jobs: int) -> Iterator[Run]:
    # Parallel over runs, one thread inside each: small fits are slower on several threads.
    with threadpool_limits(1), joblib.parallel_config("loky", n_jobs=n_jobs, inner_max_num_threads=1):
        yield from joblib.Parallel(return_as="generator_unordered")(
            joblib.delayed(run_in_worker)(experiment, trial) for trial in waiting
        )


def _record(experiment: Experiment, before: dict[str, Any]) -> dict[str, Any]:
    """The record of a folder with this start added; an experiment that does not fit what lies there is refused."""
    # Without the folder of its file, which differs between machines.
    now = {key: value for key, value in asdict(experiment).items() if key != "home"}
    old = before.get("experiment", {})
    for key in ("folds", "queries", "seed"):
        if old and old[key] != now[key]:
            raise DataChangedError(
                f"The results there were made with {key} = {old[key]}, not {now[key]}. Give another --out."
            )
    # More tasks, repetitions and methods may be added later; each method keeps its parameters.
    known = {c["name"]: c for c in old.get("contestants", [])}
    for contestant in now["contestants"]:
        other = known.get(contestant["name"], contestant)
        if any(contestant[key] != other[key] for key in ("use", "parameters")):
            raise DataChangedError(
                f"The results there were made with other parameters of {contestant['name']}. Rename the method, "
                "give another --out, or remove its file and its rows."
            )
    here = {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "python": platform.python_version(),
        "packages": {package: version(package) for package in PACKAGES},
        "machine": f"{platform.system()} {platform.machine()}, {joblib.cpu_count()} cores",
        "n_runs": 0,
    }
    return {"experiment": now, "runs": [*before.get("runs", []), here]}


def _commit() -> str | None:
    """The commit of the code, with a plus sign when files were changed since."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--abbrev=12", "--dirty=+"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
