"""Speed and quality of NPU with MPCKMeans beside the package active-semi-supervised-clustering, on wine.

Usage: ``python -m benchmarks.npu [--seeds 5]``; the peer takes about 20 seconds for each seed.

One thread, CPU seconds, 50 queries answered from the labels, columns scaled to [0, 1], the true number of clusters.
Each peer run is a process of its own with a time limit: it may try for ever where a cluster gets empty, and it
changes how NumPy treats underflow. Ours is timed with both forests, and its compiled parts are compiled before.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from importlib import import_module
from importlib.metadata import version
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale
from threadpoolctl import threadpool_limits

from cobras import LabelOracle, Session, run
from cobras.baselines.npu import forest as forests
from cobras.baselines.npu.npu import npu

PACKAGE = "active-semi-supervised-clustering"
N_QUERIES = 50
TIME_LIMIT = 300


def wine() -> tuple[Any, Any]:
    X, y = load_wine(return_X_y=True)
    return minmax_scale(X), y


def run_peer(seed: int) -> dict[str, float]:
    """CPU seconds and ARI of the peer, in this process."""
    active = import_module("active_semi_clustering.active.pairwise_constraints")
    passive = import_module("active_semi_clustering.semi_supervised.pairwise_constraints")
    np.seterr(all="warn", under="ignore")  # its import made them errors
    X, y = wine()
    np.random.seed(seed)
    model = passive.MPCKMeans(n_clusters=3)
    start = time.process_time()
    active.NPU(model).fit(X, oracle=active.ExampleOracle(y, max_queries_cnt=N_QUERIES))
    return {"seconds": time.process_time() - start, "ari": adjusted_rand_score(y, model.labels_)}


def peer(seed: int) -> dict[str, float] | None:
    """The same in a process of its own; None if it takes too long."""
    command = [sys.executable, "-m", "benchmarks.npu", "--peer", str(seed)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    try:
        done = subprocess.run(
            command, env={**os.environ, **threads}, stdout=subprocess.PIPE, timeout=TIME_LIMIT, check=True
        )
    except subprocess.TimeoutExpired:
        return None
    found: dict[str, float] = json.loads(done.stdout)
    return found


def ours(seed: int, forest: str) -> dict[str, float]:
    """CPU seconds, those of the forest, and ARI of our NPU."""
    X, y = wine()
    clock = [0.0]
    leaves = forests.leaves

    def timed(*args: Any) -> Any:
        start = time.process_time()
        found = leaves(*args)
        clock[0] += time.process_time() - start
        return found

    with patch.object(forests, "leaves", timed):
        start = time.process_time()
        session = Session(X, npu, seed, n_clusters=3, forest=forest)
        run(session, LabelOracle(y), until=lambda s: s.n_answers >= N_QUERIES)
        labels = session.labels_
        seconds = time.process_time() - start
    return {"seconds": seconds, "forest": clock[0], "ari": adjusted_rand_score(y, labels)}


def mean(runs: list[dict[str, float]], key: str) -> tuple[float, float]:
    """The mean and its standard error."""
    values = np.array([r[key] for r in runs])
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description="NPU beside its peer.")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--peer", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peer is not None:
        print(json.dumps(run_peer(given.peer)))
        return
    runs: dict[str, list[dict[str, float]]] = {PACKAGE: [], "ours, sklearn": [], "ours, lean": []}
    late = 0
    with threadpool_limits(1):
        ours(0, "lean")
        for seed in range(given.seeds):
            runs["ours, lean"].append(ours(seed, "lean"))
            runs["ours, sklearn"].append(ours(seed, "sklearn"))
            found = peer(seed)
            late += found is None
            runs[PACKAGE] += [] if found is None else [found]
    print(f"NPU with MPCKMeans on wine (178 x 13), {N_QUERIES} queries, {given.seeds} seeds, one thread")
    print(f"{PACKAGE} {version(PACKAGE)}; {late} of its runs took more than {TIME_LIMIT} s and are left out")
    print(f"{'':36}{'seconds':>16}{'ratio':>8}{'forest':>8}{'ARI':>17}")
    slow = mean(runs[PACKAGE], "seconds")[0] if runs[PACKAGE] else float("nan")
    for name, found_runs in runs.items():
        if found_runs:
            (seconds, error), (ari, ari_error) = mean(found_runs, "seconds"), mean(found_runs, "ari")
            share = f"{mean(found_runs, 'forest')[0] / seconds:.0%}" if name != PACKAGE else ""
            times = f"{seconds:8.3f} ± {error:5.3f}{slow / seconds:7.1f}x"
            print(f"{name:36}{times}{share:>8}{ari:9.3f} ± {ari_error:.3f}")


if __name__ == "__main__":
    main()
