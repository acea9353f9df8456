"""COSC: time of one re-clustering as NPU does it, cold and warm, and its growth with the number of rows.

Constraints are those of neighbourhoods: every row asked about is must-linked to the first of its class, and these
are held apart. "cold" builds the graph as well; "warm" has it and starts from the clustering with one row less.
"""

import argparse
import os
import time
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from benchmarks.data import HAS_SPAMBASE, FloatArray, IntArray, blobs, load
from cobras.baselines.clusterers.cosc import COSC

N_ASKED = (10, 50, 100, 200)


def neighbourhoods(y: IntArray, n_asked: int) -> dict[str, Any]:
    """Must-links to the first row asked of each class, cannot-links between these."""
    asked = np.random.default_rng(0).permutation(len(y))[:n_asked]
    first = {int(y[i]): int(i) for i in asked[::-1]}
    heads = sorted(first.values())
    must_link = [(first[int(y[i])], int(i)) for i in asked if first[int(y[i])] != i]
    return {
        "must_link": must_link,
        "cannot_link": [(i, j) for n, i in enumerate(heads) for j in heads[n + 1 :]],
    }


def timed(model: COSC, X: FloatArray, **given: Any) -> float:
    """CPU seconds of one fit."""
    start = time.process_time()
    model.fit(X, **given)
    return time.process_time() - start


def reclustering(name: str, X: FloatArray, y: IntArray, k: int) -> None:
    """Print a line per number of rows asked: seconds cold and warm, and the clustering reached."""
    for n_asked in N_ASKED:
        model = COSC(k, preset="fast", random_state=0)
        cold = timed(model, X, **neighbourhoods(y, n_asked - 1))
        warm = timed(model, X, **neighbourhoods(y, n_asked), init_labels=model.labels_)
        print(
            f"{name:12}{f'{X.shape[0]} x {X.shape[1]}':>12}{k:>4}{n_asked:>8}{cold:>8.2f}{warm:>8.2f}", end=""
        )
        print(f"{250 * warm / 60:>12.1f}{model.cut_:>10.4f}{model.n_violations_:>6}", end="")
        print(f"{adjusted_rand_score(y, model.labels_):>8.3f}", flush=True)


def growth() -> None:
    """Print how a warm re-clustering grows when the rows double."""
    print("\nGrowth: overlapping blobs, 20 columns, 100 rows asked, warm CPU seconds")
    print(f"{'rows':>6}{'K=2':>8}{'ratio':>8}{'K=3':>8}{'ratio':>8}")
    before = [np.nan, np.nan]
    for n in (500, 1000, 2000, 4000):
        now = []
        for k in (2, 3):
            X, y = blobs(n, n_centres=k)
            model = COSC(k, preset="fast", random_state=0)
            timed(model, X, **neighbourhoods(y, 99))
            now.append(timed(model, X, **neighbourhoods(y, 100), init_labels=model.labels_))
        cells = "".join(f"{t:>8.2f}{t / b:>8.1f}" for t, b in zip(now, before, strict=True))
        print(f"{n:>6}{cells}", flush=True)
        before = now


def full() -> None:
    """Print what the preset of the paper costs and brings, beside the fast one."""
    X, y = load("spambase")
    print("\nPreset full on spambase, 100 rows asked")
    for preset in ("fast", "full"):
        model = COSC(2, preset=preset, random_state=0)
        seconds = timed(model, X, **neighbourhoods(y, 100))
        print(f"  {preset}: {seconds:.1f} s, cut {model.cut_:.4f}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Speed of COSC inside NPU.")
    parser.add_argument("--full", action="store_true", help="the preset full on spambase, too (minutes)")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with threadpool_limits(1):
        for k in (2, 3):  # compile
            COSC(k, preset="fast").fit(*blobs(60, n_centres=k)[:1], cannot_link=[(0, 1)])
        print("One re-clustering, preset fast, CPU seconds on one core; cold includes the graph")
        print(f"{'data':12}{'shape':>12}{'K':>4}{'asked':>8}{'cold':>8}{'warm':>8}{'250 in min':>12}", end="")
        print(f"{'cut':>10}{'viol':>6}{'ARI':>8}")
        X, y = make_blobs(2000, 20, centers=3, cluster_std=8.0, random_state=0)
        reclustering("blobs", X, y, 3)
        if HAS_SPAMBASE:
            reclustering("spambase", *load("spambase"), 2)
        growth()
        if options.full and HAS_SPAMBASE:
            full()


if __name__ == "__main__":
    main()
