"""Results on disk: parts while an experiment runs, then one Parquet file per method.

A part holds a few finished runs, one row each; it is written whole or not at all, so an experiment that is killed
loses only what was being computed. `collect` merges the parts into

- `results/<method>.parquet`: one row per (task, method, repetition, fold, query), with `ari` and `seconds`;
- `runs.parquet`: one row per run;

sorted, so that the files do not depend on the order in which runs ended.
"""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from cobras.core.exceptions import CobrasError
from cobras.core.writers import write_frame

Schema: TypeAlias = dict[str, "type[pl.DataType] | pl.DataType"]

KEY = ["task", "method", "repetition", "fold"]
RUN: Schema = {
    "task": pl.String,
    "method": pl.String,
    "repetition": pl.Int16,
    "fold": pl.Int16,
    "seed": pl.Int64,
    "n_queries": pl.Int32,
    "seconds": pl.Float32,
    "cut_off": pl.Boolean,
    "limit": pl.Float32,
    "n_rows": pl.Int32,
    "n_features": pl.Int32,
    "n_classes": pl.Int32,
}
ROW: Schema = {
    **{name: RUN[name] for name in KEY},
    "query": pl.Int16,
    "ari": pl.Float32,
    "seconds": pl.Float32,
}
_CURVES: Schema = {"aris": pl.List(pl.Float32), "seconds_per_query": pl.List(pl.Float32)}
_number = itertools.count()


@dataclass(frozen=True, slots=True)
class Run:
    """One method on one task with one fold held out."""

    task: str
    method: str
    repetition: int
    fold: int
    seed: int
    n_queries: int
    seconds: float  # CPU seconds, as everywhere here
    cut_off: bool  # whether the time limit ended the run
    limit: float | None
    n_rows: int
    n_features: int
    n_classes: int
    # Of the test instances after 0, 1, 2, ... answers, and the seconds the run had cost by then. The values of the
    # last answer are repeated up to the budget of the experiment, so all runs have equally many.
    aris: list[float]
    seconds_per_query: list[float]


def write_part(folder: Path, runs: Sequence[Run]) -> None:
    """Write finished runs into a part, which `collect` will read."""
    if not runs:
        return
    parts = folder / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    frame = pl.DataFrame([asdict(run) for run in runs], schema=RUN | _CURVES)
    write_frame(frame, parts / f"{os.getpid()}-{next(_number)}.parquet")


def collect(folder: Path) -> None:
    """Merge the parts into the result files, then remove them; a run that is there already is not added again."""
    # What was being written when the process was killed.
    for unfinished in (folder / "parts").glob(".*.part"):
        unfinished.unlink()
    files = sorted((folder / "parts").glob("*.parquet"))
    if not files:
        return
    # Results first, then runs: a run counts as made only when its results are there.
    parts = pl.concat([pl.read_parquet(file) for file in files])
    (folder / "results").mkdir(exist_ok=True)
    for (method,), runs in parts.group_by("method"):
        curves = runs.select(*KEY, pl.int_ranges(pl.col("aris").list.len()).alias("query"), *_CURVES).explode(
            "query", *_CURVES
        )
        new = curves.rename({"aris": "ari", "seconds_per_query": "seconds"}).select(
            pl.col(name).cast(dtype) for name, dtype in ROW.items()
        )
        _add(new, folder / "results" / f"{method}.parquet", [*KEY, "query"])
    _add(parts.select(list(RUN)), folder / "runs.parquet", KEY)
    for file in files:
        file.unlink()


def read_results(folder: Path) -> pl.DataFrame:
    """All collected rows, one per query."""
    files = sorted((folder / "results").glob("*.parquet"))
    return pl.concat([pl.read_parquet(file) for file in files]) if files else pl.DataFrame(schema=ROW)


def read_runs(folder: Path) -> pl.DataFrame:
    """All collected runs, one row each."""
    file = folder / "runs.parquet"
    return pl.read_parquet(file) if file.exists() else pl.DataFrame(schema=RUN)


def read_about(folder: Path) -> dict[str, Any]:
    """What was run, when, with which versions and on which machine; empty before the first run."""
    file = folder / "about.json"
    if not file.exists():
        return {}
    about: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return about


def write_about(folder: Path, about: dict[str, Any]) -> None:
    """Write the record that `read_about` reads."""
    new = folder / "about.json.part"
    new.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    new.replace(folder / "about.json")


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Refuse a second experiment in the same folder; the lock is SQLite's and ends with the process."""
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / ".lock", timeout=0.2, isolation_level=None)) as lock:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            raise CobrasError(f"Another run is writing into {folder}. Wait for it, or give --out.") from None
        yield


def _add(new: pl.DataFrame, file: Path, key: list[str]) -> None:
    old = [pl.read_parquet(file)] if file.exists() else []
    together = pl.concat([*old, new]).unique(key, keep="first", maintain_order=True).sort(key)
    write_frame(together, file)
