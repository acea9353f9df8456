"""Speed and quality of `cobras.spaces.kernels.kmeans.kmeans` beside scikit-learn's `KMeans`, on one thread.

    python -m benchmarks.peers.kmeans

About a minute. Both sides run ten restarts with the same tolerance; runs alternate in one process and the table
gives medians, since a shared machine is noisy. Up to 1,000 rows a run is five calls in a row, as COBRAS makes
them (a single call right after scikit-learn's finds cold caches: 32x at 50).
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
import sklearn
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs
from threadpoolctl import threadpool_limits

from cobras.spaces.kernels.kmeans import kmeans

SECONDS_PER_CASE = 2.5
MAX_RUNS = 15


def tables() -> Iterator[tuple[str, Any]]:
    for n in (50, 1_000, 10_000, 100_000):
        yield f"{n:,} x 20", make_blobs(n, 20, centers=8, cluster_std=4.0, random_state=0)[0]
    yield "digits 1,797 x 64", load_digits().data
    wide = make_blobs(624, 2048, centers=20, cluster_std=12.0, random_state=0)[0]
    yield "624 x 2,048", np.maximum(wide, 0)  # like image features after a rectifier


def timed(run: Callable[[], float], n_calls: int) -> tuple[float, float]:
    start = time.perf_counter()
    inertia = float(np.mean([run() for _ in range(n_calls)]))
    return (time.perf_counter() - start) / n_calls, inertia


def compare(X: Any, k: int) -> tuple[float, float, float]:
    """Return the median milliseconds of both sides and the ratio of mean inertias, ours to theirs."""
    ours, theirs = [], []
    stop = time.perf_counter() + SECONDS_PER_CASE
    n_calls = 5 if len(X) <= 1_000 and X.shape[1] < 100 else 1
    for seed in range(MAX_RUNS):
        rng = np.random.default_rng(seed)
        model = KMeans(k, n_init=10, random_state=seed)
        ours.append(timed(lambda: kmeans(X, k, rng).inertia, n_calls))  # noqa: B023
        theirs.append(timed(lambda: float(model.fit(X).inertia_), n_calls))  # noqa: B023
        if seed >= 2 and time.perf_counter() > stop:
            break
    mine, other = np.array(ours), np.array(theirs)
    inertia = mine[:, 1].mean() / other[:, 1].mean()
    return 1e3 * float(np.median(mine[:, 0])), 1e3 * float(np.median(other[:, 0])), float(inertia)


def main() -> None:
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, numba {numba.__version__}, "
        f"scikit-learn {sklearn.__version__}; one thread, n_init=10 on both sides"
    )
    print(
        f"{'rows x columns':18} {'type':8} {'k':>2} {'ours ms':>9} {'sklearn ms':>11} {'faster':>7} {'inertia':>8}"
    )
    for dtype in (np.float32, np.float64):
        kmeans(np.random.default_rng(0).normal(size=(5_000, 4)).astype(dtype), 2, np.random.default_rng(0))
    with threadpool_limits(1):
        for name, table in tables():
            for dtype in (np.float32, np.float64):
                X = np.ascontiguousarray(table, dtype)
                for k in (2, 8):
                    ours, theirs, inertia = compare(X, k)
                    print(
                        f"{name:18} {X.dtype.name:8} {k:2d} {ours:9.3f} {theirs:11.2f} {theirs / ours:6.1f}x "
                        f"{inertia:8.4f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
