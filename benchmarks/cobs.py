"""How COBS grows: time and peak memory of its pool, and time per query.

Usage: ``python -m benchmarks.cobs``, one or two minutes. Every size runs in a process of its own, so that its peak
memory is its own; kernels are compiled before the clock starts. With COBRAS_DATA set to a folder that holds
spambase.csv, that set, scaled to [0, 1], comes last.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
import scipy

from benchmarks.data import HAS_SPAMBASE, load
from cobras import LabelOracle, Session, run
from cobras.baselines.cobs.pool import Grid, Pool, build_pool

SIZES = (500, 1_000, 2_000, 4_000)
N_QUERIES = 100
METHOD = "cobras.baselines.cobs.cobs:cobs"


def peak_megabytes() -> float:
    """Return this process's peak plus, should joblib have been told to use processes, the largest child's."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(resource.getrusage(kind).ru_maxrss for kind in kinds) / 1024  # kilobytes on Linux


def measure(name: str) -> dict[str, Any]:
    X, y = load(name)
    build_pool(X[:150], 0, Grid(k_max=3, n_eps=2, max_min_points=3, max_neighbors=3, n_sigma=2))
    before = peak_megabytes()
    session = Session(X, METHOD, 0)
    start, cpu = time.perf_counter(), time.process_time()
    session.ask()
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = peak_megabytes()
    start = time.perf_counter()
    run(session, LabelOracle(y), until=lambda s: s.n_answers >= N_QUERIES)
    per_query = (time.perf_counter() - start) / max(1, session.n_answers)
    (pool,) = (value for value in session.space.memo.values() if isinstance(value, Pool))  # type: ignore[attr-defined]
    return {
        "n": len(X),
        "d": X.shape[1],
        "seconds": seconds,
        "cpu": cpu,
        "before": before,
        "peak": peak,
        "ms": 1e3 * per_query,
        "kept": len(pool.labels),
        "duplicates": pool.n_duplicates,
        "failures": pool.n_failures,
    }


def main() -> None:
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}; "
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; default grid of 740 clusterings"
    )
    print(
        f"{'data':12} {'rows':>6} {'pool s':>7} {'CPU s':>6} {'peak MB':>8} {'of them pool':>13} {'ms/query':>9} "
        f"{'kept':>5} {'twice':>6} {'failed':>7}"
    )
    names = [f"blobs-{n}" for n in SIZES]
    found = {}
    for name in names + ["spambase"] * HAS_SPAMBASE:
        command = [sys.executable, "-m", "benchmarks.cobs", name]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        r = found[name] = json.loads(output)
        print(
            f"{name:12} {r['n']:6d} {r['seconds']:7.2f} {r['cpu']:6.2f} {r['peak']:8.0f} "
            f"{r['peak'] - r['before']:13.0f} {r['ms']:9.2f} "
            f"{r['kept']:5d} {r['duplicates']:6d} {r['failures']:7d}",
            flush=True,
        )
    rows = np.log([found[name]["n"] for name in names])
    for key, what in (("seconds", "pool time"), ("cpu", "its CPU time"), ("ms", "time per query")):
        slope = np.polyfit(rows, np.log([found[name][key] for name in names]), 1)[0]
        print(f"{what} grows as n^{slope:.2f} from {SIZES[0]:,} to {SIZES[-1]:,} rows")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1])))
    else:
        main()
