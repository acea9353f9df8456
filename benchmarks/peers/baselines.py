"""What the COBRAS paper compares with: speed and quality beside a peer, and growth with the rows.

    python -m benchmarks.peers.baselines [mpckmeans] [npu] [cosc] [cobs]

All four by default. One thread and CPU seconds, except for the pool of COBS. Kernels are compiled before the
clock starts.

- mpckmeans, npu: MPCKMeans with the same constraints, and NPU with it, beside active-semi-supervised-clustering,
  which needs minutes. On digits its time comes from one seed, because it searches the farthest pair of rows with a
  loop in Python, and its ARI from runs in which SciPy searches the same pair.
- cosc: one clustering after another as NPU does it, cold (with the graph) and warm (from the clustering before).
- cobs: time and peak memory of the pool, and time per query.

With COBRAS_DATA set to a folder that holds spambase.csv, that set is used as well.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale
from threadpoolctl import threadpool_limits

from benchmarks import HAS_SPAMBASE, FloatArray, IntArray, blobs, load
from cobras import COSC, LabelOracle, MPCKMeans, Session, run
from cobras.baselines import npu as npu_module
from cobras.baselines.leaves import leaves
from cobras.baselines.pool import Grid, Pool, build_pool

PEER = "active-semi-supervised-clustering"
TIME_LIMIT = 300  # seconds for a run of the peer, which may try for ever where a cluster gets empty
MAX_ATTEMPTS = 50  # of the peer, which raises when a cluster gets empty


def peer_module(name: str) -> Any:
    """A module of the peer, whose import calls numpy.seterr("raise")."""
    with np.errstate():
        return import_module(f"active_semi_clustering{name}")


def mean_and_error(values: Any) -> str:
    """The mean and its standard error."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{np.mean(values):.3f} ± {error:.3f}"


# -- MPCKMeans beside the peer -------------------------------------------------------------------------------------


def draw_constraints(y: IntArray, seed: int, n: int = 100) -> tuple[IntArray, IntArray]:
    """Must-links and cannot-links: n different pairs, drawn uniformly."""
    rng = np.random.default_rng(seed)
    chosen: set[tuple[int, int]] = set()
    while len(chosen) < n:
        i, j = rng.choice(len(y), 2, replace=False).tolist()
        chosen.add((min(i, j), max(i, j)))
    pairs = np.array(sorted(chosen))
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return pairs[same], pairs[~same]


def fit_ours(X: FloatArray, y: IntArray, seed: int) -> tuple[float, float]:
    must_link, cannot_link = draw_constraints(y, seed)
    begin = time.process_time()
    model = MPCKMeans(len(set(y)), random_state=seed).fit(X, must_link=must_link, cannot_link=cannot_link)
    return time.process_time() - begin, float(adjusted_rand_score(y, model.labels_))


def fit_peer(X: FloatArray, y: IntArray, seed: int) -> tuple[float, float]:
    """Where a cluster gets empty the peer starts again, and only the time of the run that ended is counted."""
    must_link, cannot_link = (pairs.tolist() for pairs in draw_constraints(y, seed))
    np.random.seed(seed)
    for _ in range(MAX_ATTEMPTS):
        begin = time.process_time()
        try:
            model = peer_module("").MPCKMeans(len(set(y))).fit(X, ml=must_link, cl=cannot_link)
        except peer_module(".exceptions").EmptyClustersException:
            continue
        return time.process_time() - begin, float(adjusted_rand_score(y, model.labels_))
    raise RuntimeError(f"The peer ended in empty clusters {MAX_ATTEMPTS} times.")


@contextmanager
def quick_farthest_pair() -> Iterator[None]:
    """Let the peer find its farthest pair with SciPy."""

    def search(self: Any, X: FloatArray, A: FloatArray) -> tuple[int, int, float]:
        Z = X * np.sqrt(np.diag(A))
        D = cdist(Z, Z, "sqeuclidean")
        i, j = divmod(int(D.argmax()), len(D))
        return max(i, j), min(i, j), float(D[i, j])

    with patch.object(peer_module("").MPCKMeans, "_find_farthest_pairs_of_points", search):
        yield


def mpckmeans(n_seeds: int = 20) -> None:
    """Print a line per data set."""
    packages = ("cobras-clustering", PEER, "numpy", "numba", "scikit-learn")
    print(f"Python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in packages))
    print(
        "MPCKMeans, 100 constraints, columns scaled to [0, 1]; median CPU seconds; mean ARI ± standard error"
    )
    print(
        f"{'data':7} {'shape':>10} {'ours':>10} {'peer':>10} {'':10}{'ratio':>10}   "
        f"{'ARI ours':>15} {'ARI peer':>15}"
    )
    for name, loader, n_timed in (("wine", load_wine, n_seeds), ("digits", load_digits, 1)):
        X, y = loader(return_X_y=True)
        X, y = minmax_scale(X.astype(np.float64)), y.astype(np.int64)
        fit_ours(X, y, 0)
        ours = np.array([fit_ours(X, y, seed) for seed in range(n_seeds)])
        slow = np.array([fit_peer(X, y, seed) for seed in range(n_timed)])
        peer_ari = slow[:, 1]
        if n_timed < n_seeds:
            with quick_farthest_pair():
                peer_ari = np.array([fit_peer(X, y, seed)[1] for seed in range(n_seeds)])
        seconds, peer_seconds = np.median(ours[:, 0]), np.median(slow[:, 0])
        print(
            f"{name:7} {f'{X.shape[0]} x {X.shape[1]}':>10} {seconds:10.5f} {peer_seconds:10.3f}"
            f" ({n_timed:2} seeds){peer_seconds / seconds:9.0f}x   {mean_and_error(ours[:, 1]):>15}"
            f" {mean_and_error(peer_ari):>15}",
            flush=True,
        )


# -- NPU with MPCKMeans beside the peer ----------------------------------------------------------------------------


def wine() -> tuple[Any, Any]:
    X, y = load_wine(return_X_y=True)
    return minmax_scale(X), y


def npu_of_peer(seed: int) -> dict[str, float]:
    """CPU seconds and ARI of the peer after 50 queries, in this process."""
    active = peer_module(".active.pairwise_constraints")
    model = peer_module(".semi_supervised.pairwise_constraints").MPCKMeans(n_clusters=3)
    np.seterr(all="warn", under="ignore")
    X, y = wine()
    np.random.seed(seed)
    start = time.process_time()
    active.NPU(model).fit(X, oracle=active.ExampleOracle(y, max_queries_cnt=50))
    return {"seconds": time.process_time() - start, "ari": adjusted_rand_score(y, model.labels_)}


def npu_of_ours(seed: int) -> dict[str, float]:
    """CPU seconds, those of the forest, and ARI of our NPU."""
    X, y = wine()
    clock = [0.0]

    def timed(*args: Any) -> Any:
        start = time.process_time()
        found = leaves(*args)
        clock[0] += time.process_time() - start
        return found

    with patch.object(npu_module, "leaves", timed):
        start = time.process_time()
        session = Session(X, "npu", seed, n_clusters=3)
        run(session, LabelOracle(y), until=lambda s: s.n_answers >= 50)
        labels = session.labels_
        seconds = time.process_time() - start
    return {"seconds": seconds, "forest": clock[0], "ari": adjusted_rand_score(y, labels)}


def npu(n_seeds: int = 5) -> None:
    """Print a line for the peer and one for us."""
    npu_of_ours(0)
    ours = [npu_of_ours(seed) for seed in range(n_seeds)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    peers: list[dict[str, float]] = []
    for seed in range(n_seeds):
        try:
            peers.append(in_process("--peer", str(seed), env={**os.environ, **threads}, timeout=TIME_LIMIT))
        except subprocess.TimeoutExpired:
            print(f"seed {seed} of the peer took more than {TIME_LIMIT} s and is left out")
    print(f"\nNPU with MPCKMeans on wine (178 x 13), 50 queries, {n_seeds} seeds; {PEER} {version(PEER)}")
    print(f"{'':36}{'seconds':>16}{'ratio':>8}{'forest':>8}{'ARI':>17}")
    slow = np.mean([r["seconds"] for r in peers]) if peers else np.nan
    for name, found in (("ours", ours), (PEER, peers)):
        if found:
            seconds = [r["seconds"] for r in found]
            share = f"{sum(r['forest'] for r in found) / sum(seconds):.0%}" if found is ours else ""
            ratio = f"{slow / np.mean(seconds):.1f}x"
            ari = mean_and_error([r["ari"] for r in found])
            print(f"{name:36}{mean_and_error(seconds):>16}{ratio:>8}{share:>8}{ari:>17}")


# -- COSC ----------------------------------------------------------------------------------------------------------


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


def fit_cosc(model: COSC, X: FloatArray, **given: Any) -> float:
    """CPU seconds of one fit."""
    start = time.process_time()
    model.fit(X, **given)
    return time.process_time() - start


def recluster(name: str, X: FloatArray, y: IntArray, k: int) -> None:
    """Print a line per number of rows asked: seconds cold and warm, and the clustering reached."""
    for n_asked in (10, 50, 100, 200):
        model = COSC(k, preset="fast", random_state=0)
        cold = fit_cosc(model, X, **neighbourhoods(y, n_asked - 1))
        warm = fit_cosc(model, X, **neighbourhoods(y, n_asked), init_labels=model.labels_)
        print(
            f"{name:12}{f'{X.shape[0]} x {X.shape[1]}':>12}{k:>4}{n_asked:>8}{cold:>8.2f}{warm:>8.2f}"
            f"{250 * warm / 60:>12.1f}{model.cut_:>10.4f}{model.n_violations_:>6}"
            f"{adjusted_rand_score(y, model.labels_):>8.3f}",
            flush=True,
        )


def cosc() -> None:
    """Print the time of one clustering, and how it grows when the rows double."""
    for k in (2, 3):
        COSC(k, preset="fast").fit(*blobs(60, n_centres=k)[:1], cannot_link=[(0, 1)])
    print("\nCOSC, one clustering after another, preset fast; cold includes the graph")
    print(f"{'data':12}{'shape':>12}{'K':>4}{'asked':>8}{'cold':>8}{'warm':>8}{'250 in min':>12}", end="")
    print(f"{'cut':>10}{'viol':>6}{'ARI':>8}")
    X, y = make_blobs(2000, 20, centers=3, cluster_std=8.0, random_state=0)[:2]
    recluster("blobs", X, y, 3)
    if HAS_SPAMBASE:
        recluster("spambase", *load("spambase"), 2)
    print("\nGrowth: overlapping blobs, 20 columns, 100 rows asked, warm")
    print(f"{'rows':>6}{'K=2':>8}{'ratio':>8}{'K=3':>8}{'ratio':>8}")
    before = [np.nan, np.nan]
    for n in (500, 1000, 2000, 4000):
        now = []
        for k in (2, 3):
            X, y = blobs(n, n_centres=k)
            model = COSC(k, preset="fast", random_state=0)
            fit_cosc(model, X, **neighbourhoods(y, 99))
            now.append(fit_cosc(model, X, **neighbourhoods(y, 100), init_labels=model.labels_))
        cells = "".join(f"{t:>8.2f}{t / b:>8.1f}" for t, b in zip(now, before, strict=True))
        print(f"{n:>6}{cells}", flush=True)
        before = now


# -- COBS ----------------------------------------------------------------------------------------------------------


def peak_megabytes() -> float:
    """The peak of this process plus, should joblib have been told to use processes, the largest child's."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(resource.getrusage(kind).ru_maxrss for kind in kinds) / 1024  # kilobytes on Linux


def pool_of(name: str) -> dict[str, Any]:
    """Time and memory of the pool on a data set, and milliseconds per query."""
    X, y = load(name)
    build_pool(X[:150], 0, Grid(k_max=3, n_eps=2, max_min_points=3, max_neighbors=3, n_sigma=2))
    before = peak_megabytes()
    session = Session(X, "cobs", 0)
    start, cpu = time.perf_counter(), time.process_time()
    session.ask()
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = peak_megabytes()
    start = time.perf_counter()
    run(session, LabelOracle(y), until=lambda s: s.n_answers >= 100)
    per_query = (time.perf_counter() - start) / max(1, session.n_answers)
    (pool,) = (value for value in session.space.memo.values() if isinstance(value, Pool))  # type: ignore[attr-defined]
    found = {
        "n": len(X),
        "seconds": seconds,
        "cpu": cpu,
        "before": before,
        "peak": peak,
        "ms": 1e3 * per_query,
    }
    return {
        **found,
        "kept": len(pool.labels),
        "duplicates": pool.n_duplicates,
        "failures": pool.n_failures,
    }


def cobs(sizes: tuple[int, ...] = (500, 1_000, 2_000, 4_000)) -> None:
    """Print a line per size, each of a process of its own, so that its peak memory is its own."""
    print(f"\nCOBS, default grid of 740 clusterings; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(
        f"{'data':12} {'rows':>6} {'pool s':>7} {'CPU s':>6} {'peak MB':>8} {'of them pool':>13} {'ms/query':>9} "
        f"{'kept':>5} {'twice':>6} {'failed':>7}"
    )
    names = [f"blobs-{n}" for n in sizes]
    found = {}
    for name in names + ["spambase"] * HAS_SPAMBASE:
        r = found[name] = in_process("--pool", name)
        print(
            f"{name:12} {r['n']:6d} {r['seconds']:7.2f} {r['cpu']:6.2f} {r['peak']:8.0f} "
            f"{r['peak'] - r['before']:13.0f} {r['ms']:9.2f} "
            f"{r['kept']:5d} {r['duplicates']:6d} {r['failures']:7d}",
            flush=True,
        )
    rows = np.log([found[name]["n"] for name in names])
    for key, what in (("seconds", "pool time"), ("cpu", "its CPU time"), ("ms", "time per query")):
        slope = np.polyfit(rows, np.log([found[name][key] for name in names]), 1)[0]
        print(f"{what} grows as n^{slope:.2f} from {sizes[0]:,} to {sizes[-1]:,} rows")


def in_process(*arguments: str, **options: Any) -> Any:
    """What this module prints as JSON, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.peers.baselines", *arguments]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, **options).stdout)


def main() -> None:
    tables = {"mpckmeans": mpckmeans, "npu": npu, "cosc": cosc, "cobs": cobs}
    parser = argparse.ArgumentParser(description="The baselines of the COBRAS paper.")
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(tables)}; all by default")
    parser.add_argument("--peer", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--pool", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peer is not None:
        print(json.dumps(npu_of_peer(given.peer)))
    elif given.pool is not None:
        print(json.dumps(pool_of(given.pool)))
    else:
        with threadpool_limits(1), np.errstate(all="warn"):
            for name in given.tables or tables:
                tables[name]()


if __name__ == "__main__":
    main()
