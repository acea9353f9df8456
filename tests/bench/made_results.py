"""Results of an experiment that never ran, with properties that are known."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from cobras.bench.results import ROW, RUN

Curve = Callable[[np.ndarray], np.ndarray]  # what a method has, or has cost, after each number of queries


def cobras(q):
    return 0.6 * (1 - np.exp(-q / 15)) + 0.2 * q / 250


def cobra(n: int, lead: float = 0.03) -> Curve:
    """A little above COBRAS near n queries, and below it elsewhere."""
    return lambda q: cobras(q) - 0.08 + (0.08 + lead) * np.exp(-((2 * np.log(np.maximum(q, 1) / n)) ** 2))


def steady(start: float, end: float = 0.0) -> Curve:
    return lambda q: start + (end - start) * q / 250


def costing(first: float, each: float) -> Curve:
    """So many seconds before the first query, and so many for each answer."""
    return lambda q: first + each * q


# Every claim of the paper holds here.
PAPER: dict[str, tuple[Curve, Curve]] = {
    "COBRAS": (cobras, costing(0.01, 0.004)),
    "COBRA-10": (cobra(10), costing(0.05, 0.0002)),
    "COBRA-25": (cobra(25), costing(0.06, 0.0003)),
    "COBRA-50": (cobra(50), costing(0.08, 0.0004)),
    "COBS": (steady(0.1, 0.5), costing(30, 0.01)),
    "MPCKMeans-NPU": (steady(0.33, 0.45), costing(0.1, 0.3)),
    "COSC-NPU": (steady(0.3, 0.42), costing(1, 3)),
}
FAMILY = ("COBRAS", "COBRA-10", "COBRA-25", "COBRA-50")


def write_results(
    folder: Path,
    methods: Mapping[str, tuple[Curve, Curve]] = PAPER,
    *,
    tasks: Sequence[str] = ("easy", "medium", "hard"),
    repetitions: Mapping[str, int] | None = None,
    folds: int = 10,
    queries: int = 250,
    limit: float | None = None,
    noise: float = 0.004,
    without: Sequence[tuple[str, str]] = (),
) -> Path:
    """Write what an experiment with these methods would have.

    Later tasks are larger, and harder by a factor down to one half. `without` are (task, method) that did not run;
    a run that reaches `limit` seconds is cut off.
    """
    random = np.random.default_rng(0)
    q = np.arange(queries + 1)
    rows, runs = [], []
    for place, task in enumerate(tasks):
        size = {"n_rows": 150 * (place + 1), "n_features": 4, "n_classes": 3}
        scale = 1 - 0.5 * place / max(len(tasks) - 1, 1)
        for method, (ari, cost) in methods.items():
            for repetition in range((repetitions or {}).get(method, 2)):
                for fold in range(folds):
                    shift, speed = random.normal(0, noise), random.lognormal(0, 0.2)
                    if (task, method) in without:
                        continue
                    seconds = cost(q) * (place + 1) * speed
                    given = queries if limit is None else max(int((seconds <= limit).sum()) - 1, 0)
                    kept = np.minimum(q, given)
                    key = (task, method, repetition, fold)
                    rows.append((*key, q, (scale * ari(q.astype(float)) + shift)[kept], seconds[kept]))
                    run = dict(
                        zip(RUN, (*key, fold, given, seconds[given], given < queries, limit), strict=False)
                    )
                    runs.append({**run, **size})
    lists = {"query": pl.List(pl.Int16), "ari": pl.List(pl.Float32), "seconds": pl.List(pl.Float32)}
    frame = pl.DataFrame(rows, schema={**ROW, **lists}, orient="row").explode(*lists)
    (folder / "results").mkdir(parents=True)
    for (method,), part in frame.group_by("method"):
        part.select(pl.col(name).cast(dtype) for name, dtype in ROW.items()).write_parquet(
            folder / "results" / f"{method}.parquet"
        )
    pl.DataFrame(runs, schema=RUN).write_parquet(folder / "runs.parquet")
    here = {
        "started": "2026-01-01T00:00:00+00:00",
        "commit": "abc",
        "python": "3.11",
        "packages": {"numpy": "2.0"},
    }
    about = {
        "experiment": {"name": "fabricated", "folds": folds, "queries": queries},
        "runs": [{**here, "machine": "none", "n_runs": len(runs), "seconds": 1}],
    }
    (folder / "about.json").write_text(json.dumps(about))
    return folder
