"""How the time of every method grows with the rows, and what NPU with COSC takes to its end.

    python -m benchmarks.growth [--spambase]

Overlapping blobs with 20 columns and three classes, 30 queries from the labels, CPU seconds on one thread; the last
column is the exponent b of time ~ n^b from the smallest to the largest size. `--spambase` adds 250 queries of NPU
with COSC on spambase; in the COBRAS paper 40 took 24 hours.
"""

import argparse
import time
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from benchmarks.data import HAS_SPAMBASE, FloatArray, IntArray, blobs, load
from cobras import COBRA, COBRAS, COBS, COSC, NPU, ExploreConsolidate, MinMax, MPCKMeans

SIZES = (500, 1_000, 2_000, 4_000)
N_QUERIES = 30
METHODS: dict[str, Any] = {
    "COBRAS": COBRAS(),
    "COBRA-25": COBRA(25),
    "COBS": COBS(n_jobs=1),
    "MPCKMeans-NPU": NPU(MPCKMeans(3)),
    "COSC-NPU": NPU(COSC(3, preset="fast")),
    "Explore-Consolidate": ExploreConsolidate(3),
    "Min-Max": MinMax(3),
}


def seconds(model: Any, X: FloatArray, y: IntArray, n_queries: int) -> float:
    """CPU seconds of one fit."""
    start = time.process_time()
    model.set_params(max_queries=n_queries, random_state=0).fit(X, y)
    return time.process_time() - start


def growth() -> None:
    """Print a line per method."""
    print(
        f"CPU seconds for {N_QUERIES} queries\n{'':22}"
        + "".join(f"{n:>9,}" for n in SIZES)
        + f"{'exponent':>10}"
    )
    for name, model in METHODS.items():
        seconds(model, *blobs(60, n_centres=3), 5)  # compile
        took = [seconds(model, *blobs(n, n_centres=3), N_QUERIES) for n in SIZES]
        exponent = np.log(took[-1] / took[0]) / np.log(SIZES[-1] / SIZES[0])
        print(f"{name:22}" + "".join(f"{t:9.2f}" for t in took) + f"{exponent:10.2f}", flush=True)


def to_the_end(name: str, X: FloatArray, y: IntArray, k: int, n_queries: int) -> None:
    """Print what NPU with COSC takes."""
    model = NPU(COSC(k, preset="fast"))
    took = seconds(model, X, y, n_queries)
    n_rounds = len({id(p) for p in model.labels_per_query_.partitions})
    ari = adjusted_rand_score(y, model.labels_)
    where = f"NPU(COSC) on {name} {X.shape[0]} x {X.shape[1]}"
    cost = f"{n_queries} queries in {took:.0f} CPU seconds, {n_rounds} clusterings"
    print(f"{where}: {cost}, {took / n_rounds:.2f} s for each with its forest; ARI {ari:.3f}", flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="Growth of all methods with the number of rows.")
    parser.add_argument("--spambase", action="store_true", help="250 queries on spambase, too")
    options = parser.parse_args()
    with threadpool_limits(1):
        growth()
        to_the_end("blobs", *blobs(2_000, n_centres=3), 3, 100)
        if options.spambase and HAS_SPAMBASE:
            to_the_end("spambase", *load("spambase"), 2, 250)


if __name__ == "__main__":
    main()
