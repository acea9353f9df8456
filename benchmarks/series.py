"""COBRAS-DTW and COBRAS-kShape beside cobras-ts, the authors' package: as good, and how much faster?

    python -m benchmarks.series [--seeds 10] [--osuleaf]

The data are series that aeon carries in its wheel: training and test files together, every series normalised. Both
sides ask 100 queries of the same oracle, use the same band for DTW (10 % of the length) and the same affinity, and
follow the smaller half in the search for the split level, as cobras-ts does; ours otherwise keeps its default
options. The last column is ADDER, our own method, on the same distances.

CPU seconds of one process on one core with one thread, compiled before; with DTW the matrix of distances, made once
for all seeds, is counted in every run of both sides. cobras-ts makes it with the compiled code of dtaidistance, and
its k-Shape is that of the package kshape 1.0; newer ones do not fit cobras-ts. It is lent what a package of 2018
reads of NumPy: `numpy.int`, `numpy.Inf` and the global seed. The exit code is 1 where our mean ARI on a set
is lower by more than three standard errors, or lower at all over the sets, or where we are not five times as fast.
"""

import argparse
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from cobras_ts.cobras_dtw import COBRAS_DTW
from cobras_ts.cobras_kshape import COBRAS_kShape
from dtaidistance import dtw
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from benchmarks import FloatArray, IntArray
from benchmarks.peers.agreement import compare
from benchmarks.peers.peer import _Oracle
from cobras import ADDER, COBRAS
from cobras.data.items.series import read_series
from cobras.spaces.kernels.dtw import dtw_matrix
from cobras.spaces.series import SeriesSpace

DATA_SETS = ("GunPoint", "ArrowHead", "ItalyPowerDemand", "PickupGestureWiimoteZ")
QUERIES = (25, 50, 100)
WINDOW, ALPHA = 0.1, 0.5


def load(name: str) -> tuple[list[FloatArray], IntArray]:
    """The normalised series of a set in aeon's wheel, and their classes."""
    home = find_spec("aeon")
    if home is None or home.submodule_search_locations is None:
        sys.exit("The series are those in the wheel of aeon: pip install --no-deps aeon==1.6.0")
    folder = Path(home.submodule_search_locations[0], "datasets", "data", name)
    parts = [read_series(folder / f"{name}_{part}.ts") for part in ("TRAIN", "TEST")]
    series = [part.show(i)[0].astype(np.float64) for part in parts for i in range(len(part))]
    labels = np.concatenate([part.labels for part in parts if part.labels is not None])
    return [(x - x.mean()) / x.std() for x in series], np.unique(labels, return_inverse=True)[1]


def seconds_of(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of some work, and its result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def scores(y: IntArray, labels: Any) -> list[float]:
    """ARI at each of QUERIES; a run that ended by itself keeps its last clustering."""
    return [float(adjusted_rand_score(y, labels[min(q, len(labels) - 1)])) for q in QUERIES]


def peer_affinities(series: list[FloatArray]) -> FloatArray:
    """The affinities as cobras-ts makes them."""
    window = int(WINDOW * max(map(len, series)))
    distances = dtw.distance_matrix_fast(series, window=window, parallel=False)
    distances[distances == np.inf] = 0
    affinities: FloatArray = np.exp(-ALPHA * distances)
    return affinities


def run_peer(data: FloatArray, y: IntArray, distance: str, seed: int) -> tuple[float, list[float]]:
    """CPU seconds and ARI of cobras-ts on affinities or series."""
    method = COBRAS_DTW if distance == "dtw" else COBRAS_kShape
    state = np.random.get_state()
    np.random.seed(seed)
    try:
        # One query more: the report at the very last one depends on the budget.
        seconds, found = seconds_of(method(data, _Oracle(y), max(QUERIES) + 1).cluster)
    finally:
        np.random.set_state(state)
    return seconds, scores(y, [np.zeros(len(y), dtype=np.int64), *found[1]])


def make_space(series: Any, distance: Any) -> SeriesSpace:
    """Our space, with all that is computed once."""
    space = SeriesSpace(series, distance=distance, window=WINDOW, alpha=ALPHA)
    space.root(0)
    return space


def run_ours(space: SeriesSpace, y: IntArray, model: COBRAS | ADDER) -> tuple[float, list[float]]:
    """CPU seconds and ARI of one of our methods, without what the space remembers of earlier runs."""
    space._splits.clear()
    space.memo.clear()
    seconds, model = seconds_of(lambda: model.fit(space, y))
    return seconds, scores(y, list(model.labels_per_query_))


def beside_peer(name: str, distance: str, n_seeds: int) -> tuple[bool, FloatArray]:
    """Print the lines of one data set and one distance; whether all is as it should be, and the three mean ARIs."""
    series, y = load(name)
    data: Any = np.array(series) if distance == "kshape" else None
    matrix_seconds = 0.0
    if distance == "dtw":
        matrix_seconds, data = seconds_of(lambda: peer_affinities(series))
    our_seconds, space = seconds_of(lambda: make_space(series, distance))
    runs, n = [], max(QUERIES)
    for seed in range(n_seeds):
        runs.append(
            (
                run_peer(data, y, distance, seed),
                run_ours(space, y, COBRAS(max_queries=n, random_state=seed, branch="smallest")),
                run_ours(space, y, ADDER(max_queries=n, random_state=seed)),
            )
        )
    peer, ours = (np.median([run[side][0] for run in runs]) for side in (0, 1))
    ratio = (peer + matrix_seconds) / (ours + our_seconds)
    good, means = ratio >= 5, np.empty((len(QUERIES), 3))
    for column, q in enumerate(QUERIES):
        theirs, same, adder = (np.array([run[side][1][column] for run in runs]) for side in range(3))
        difference, error, z = compare(same, theirs)
        good &= z >= -3
        means[column] = theirs.mean(), same.mean(), adder.mean()
        size = f"{len(series)} x {max(map(len, series))}"
        print(
            f"{name if q == 25 else '':23}{size if q == 25 else '':>12}{distance if q == 25 else '':>8}",
            end="",
        )
        print(f"{q:6d}{theirs.mean():11.3f}{same.mean():8.3f}{difference:+8.3f}{error:8.3f}{z:+7.1f}", end="")
        if q == 25:
            print(f"{peer + matrix_seconds:11.2f}{ours + our_seconds:8.3f}{ratio:6.1f}x", end="")
        print(f"{adder.mean():{11 if q == 25 else 37}.3f}", flush=True)
    return bool(good), means


def summary(found: dict[tuple[str, str], FloatArray]) -> bool:
    """Print the mean over the data sets that both distances have; whether ours is nowhere lower."""
    names = [name for name, distance in found if distance == "kshape"]
    print(f"\nMean over {', '.join(names)}")
    good = True
    for distance in ("dtw", "kshape"):
        means = np.mean([found[name, distance] for name in names], axis=0)
        good &= bool((means[:, 1] >= means[:, 0]).all())
        for q, (theirs, ours, adder) in zip(QUERIES, means, strict=True):
            print(
                f"{distance:>43}{q:6d}{theirs:11.3f}{ours:8.3f}{ours - theirs:+8.3f}{adder:50.3f}", flush=True
            )
    return good


def matrices(names: tuple[str, ...]) -> None:
    """Print how long the distances of all pairs take."""
    print("\nThe matrix of DTW alone, CPU seconds")
    print(f"{'data':23}{'dtaidistance':>14}{'ours':>9}{'ratio':>8}{'largest difference':>21}")
    for name in names:
        series, _ = load(name)
        lengths = np.array([len(x) for x in series])
        padded = np.zeros((len(series), 1, lengths.max()))
        for row, x in zip(padded, series, strict=True):
            row[0, : len(x)] = x
        window = int(WINDOW * lengths.max())
        theirs, expected = seconds_of(
            lambda s=series, w=window: dtw.distance_matrix_fast(s, window=w, parallel=False)  # type: ignore[misc]
        )
        ours, found = seconds_of(lambda p=padded, n=lengths: dtw_matrix(p, n, WINDOW))  # type: ignore[misc]
        # Otherwise the bands differ: ours goes by the longer of two series.
        same = lengths.min() == lengths.max()
        away = f"{np.abs(found - expected).max():21.1e}" if same else f"{'other bands':>21}"
        print(f"{name:23}{theirs:14.3f}{ours:9.3f}{theirs / ours:7.1f}x{away}", flush=True)


def main() -> int:
    """Print both tables; 1 when we are worse or not five times as fast somewhere."""
    parser = argparse.ArgumentParser(description="COBRAS for series beside cobras-ts.")
    parser.add_argument("--seeds", type=int, default=10, help="runs per data set (default 10)")
    parser.add_argument(
        "--osuleaf", action="store_true", help="442 series of 427 values more; it takes minutes"
    )
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    packages = ("cobras-clustering", "cobras-ts", "dtaidistance", "kshape", "numpy", "scikit-learn", "numba")
    print(", ".join(f"{name} {version(name)}" for name in packages), f"- Python {platform.python_version()}")
    if version("kshape") != "1.0":
        sys.exit("cobras-ts fits kshape 1.0 only: pip install kshape==1.0")
    names = DATA_SETS + (("OSULeaf",) if options.osuleaf else ())
    good = True
    with (
        threadpool_limits(1),
        patch.object(np, "int", int, create=True),
        patch.object(np, "Inf", np.inf, create=True),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        for distance in ("dtw", "kshape"):
            rng = np.random.default_rng(0)
            space = make_space(rng.normal(size=(40, 20)), distance)
            run_ours(space, rng.integers(0, 2, 40), COBRAS(max_queries=30, random_state=0))  # compile
        print(f"\nMean ARI over {options.seeds} seeds; z = difference / standard error; median CPU seconds")
        print(f"{'':43}{'':6}{'ARI':^42}{'CPU seconds':^26}{'ARI':>11}")
        print(
            f"{'data':23}{'series':>12}{'':8}{'query':>6}{'cobras-ts':>11}{'ours':>8}{'diff':>8}{'SE':>8}",
            end="",
        )
        print(f"{'z':>7}{'cobras-ts':>11}{'ours':>8}{'ratio':>7}{'ADDER':>11}")
        found = {}
        for name in names:
            for distance in ("dtw", "kshape"):
                if (name, distance) == ("PickupGestureWiimoteZ", "kshape"):
                    continue  # cobras-ts needs equal lengths there
                fine, found[name, distance] = beside_peer(name, distance, options.seeds)
                good &= fine
        good &= summary(found)
        matrices(names)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
