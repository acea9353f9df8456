"""How fast: our COBRAS beside cobras-ts, what an answer or an undo costs once the splits are known, and ADDER.

    python -m benchmarks.speed [--seeds 5] [--quick]
    python -m benchmarks.speed --growth [--spambase]

One process on one core, one thread, runs interleaved, median over the seeds; CPU seconds, because other work on
the machine would count in wall time. All times hold the labels after every answer; ours is compiled before.
Our defaults search and reuse answers otherwise than cobras-ts, and our k-means gives up most of its restarts early
where cobras-ts ends all of them. So ours is timed twice: as it is, and doing what cobras-ts does.

`--growth` shows how the time of every method grows with the rows: overlapping blobs with 20 columns and three
classes, 30 queries from the labels; the last column is the exponent b of time ~ n^b. `--spambase` adds 250 queries
of NPU with COSC on spambase; in the COBRAS paper 40 took 24 hours.
"""

import argparse
import os
import platform
import time
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from benchmarks import HAS_SPAMBASE, FloatArray, IntArray, blobs, load
from benchmarks.peers.peer import REFERENCE, run_cobras_ts
from cobras import COBRA, COBRAS, COBS, COSC, NPU, Answer, ExploreConsolidate, MinMax, MPCKMeans, Session

DATA_SETS = ("iris", "wine", "wdbc", "digits", "blobs-10000", "blobs-100000")
N_QUERIES = 100
N_INIT = 10
# Of the tables by number of rows.
SIZES = (500, 1_000, 2_000, 4_000)
N_GROWTH_QUERIES = 30
ALL_METHODS: dict[str, Any] = {
    "COBRAS": COBRAS(),
    "COBRA-25": COBRA(25),
    "COBS": COBS(n_jobs=1),
    "MPCKMeans-NPU": NPU(MPCKMeans(3)),
    "COSC-NPU": NPU(COSC(3, preset="fast"), warm_start=True),
    "Explore-Consolidate": ExploreConsolidate(3),
    "Min-Max": MinMax(3),
}


def run_ours(X: FloatArray, y: IntArray, seed: int, **options: Any) -> tuple[float, float]:
    """CPU seconds and final ARI of our COBRAS."""
    start = time.process_time()
    model = COBRAS(max_queries=N_QUERIES, random_state=seed, n_init=N_INIT, **options).fit(X, y)
    labels = list(model.labels_per_query_)[-1]
    return time.process_time() - start, float(adjusted_rand_score(y, labels))


def run_peer(X: FloatArray, y: IntArray, seed: int) -> tuple[float, float, float]:
    """CPU seconds, final ARI and CPU seconds of k-means of cobras-ts."""
    run = run_cobras_ts(X, y, N_QUERIES, n_init=N_INIT, seed=seed)
    return run.seconds, float(adjusted_rand_score(y, run.labels_per_query[-1])), run.seconds_kmeans


def beside_peer(names: tuple[str, ...], n_seeds: int) -> None:
    """Print one line per data set: seconds of both, their ratio and the ARI reached."""
    print(f"\nCPU seconds for {N_QUERIES} queries, median of {n_seeds} seeds; n_init={N_INIT} on both sides")
    print(
        "ours: default options; k-means gives up most restarts early and judges them on a sample of the rows"
    )
    print("ours, like: the options of cobras-ts; k-means ends all its restarts on all rows, as there")
    print(f"{'':27}{'cobras-ts':^27}{'ours':^27}{'ours, like':^27}")
    head = [("seconds", "k-means", "ARI"), *[("seconds", "ratio", "ARI")] * 2]
    print(f"{'data':14}{'shape':>13}" + "".join(f"{title:>9}" for group in head for title in group))
    for name in names:
        X, y = load(name)
        runs: list[tuple[float, ...]] = []
        for seed in range(n_seeds):
            ours_like = run_ours(X, y, seed, **REFERENCE)
            runs.append(run_peer(X, y, seed) + run_ours(X, y, seed) + ours_like)
        peer, peer_ari, kmeans, ours, ours_ari, like, like_ari = np.median(runs, axis=0)
        print(f"{name:14}{f'{X.shape[0]} x {X.shape[1]}':>13}{peer:9.3f}{kmeans:9.3f}{peer_ari:9.3f}", end="")
        print(f"{ours:9.3f}{peer / ours:8.1f}x{ours_ari:9.3f}", end="")
        print(f"{like:9.3f}{peer / like:8.1f}x{like_ari:9.3f}", flush=True)


def answer(session: Session, y: IntArray) -> float:
    """Tell the true answer, wait for the next question and return the seconds both took."""
    pair = session.ask()
    assert pair is not None, "the session ran out of questions"
    start = time.process_time()
    session.tell(Answer.SAME if y[pair.i] == y[pair.j] else Answer.DIFFERENT, pair)
    session.ask()
    return time.process_time() - start


def n_super_instances(session: Session) -> int:
    """Super-instances in the clustering reported now."""
    return sum(len(cluster.super_instances) for cluster in session.partition.clusters)


def answers_with_known_splits(n_wanted: int, n_answers: int) -> None:
    """Time answers at `n_wanted` super-instances: taken back and given again, they need no k-means."""
    X, y = load("digits")
    session = Session(X, method="cobras", random_state=0)
    while n_super_instances(session) < n_wanted:
        answer(session, y)
    first = [answer(session, y) for _ in range(n_answers)]
    for _ in range(n_answers):
        session.undo()
    again = [answer(session, y) for _ in range(n_answers)]
    size = f"{n_super_instances(session)} super-instances, {session.n_answers} answers"
    print(f"\nOne answer on digits at {size}")
    for what, seconds in (("k-means included", first), ("splits memoised", again)):
        print(f"  {what:18}median {np.median(seconds) * 1e3:8.3f} ms, worst {max(seconds) * 1e3:8.3f} ms")


def answers_of_adder(n_answers: int) -> None:
    """Time every answer of ADDER on 2,000 rows, and those of COBRAS."""
    print(f"\nOne answer on blobs 2,000 x 20, of the first {n_answers}; ms: median, 95th percentile")
    for n_clusters in (3, 10, 50):
        X, y = blobs(2_000, n_centres=n_clusters)
        line = f"  {n_clusters:2} clusters"
        for method in ("adder", "cobras"):
            session = Session(X, method, random_state=0)
            took = [1e3 * answer(session, y) for _ in range(n_answers)]
            line += f"  {method} {np.median(took):6.2f} {np.percentile(took, 95):6.2f}"
        print(line, flush=True)


def undo_by_replay(n_answers: int) -> None:
    """Time one undo: all earlier answers replayed in the same process."""
    X, y = load("digits")
    session = Session(X, method="cobras", random_state=0)
    for _ in range(n_answers + 1):
        answer(session, y)
    start = time.process_time()
    session.undo()
    session.ask()
    print(f"\nUndo on digits, replaying {n_answers} answers: {(time.process_time() - start) * 1e3:.1f} ms")


def seconds(model: Any, X: FloatArray, y: IntArray, n_queries: int) -> float:
    """CPU seconds of one fit."""
    start = time.process_time()
    model.set_params(max_queries=n_queries, random_state=0).fit(X, y)
    return time.process_time() - start


def growth_with_rows() -> None:
    """Print a line per method."""
    print(
        f"CPU seconds for {N_GROWTH_QUERIES} queries\n{'':22}"
        + "".join(f"{n:>9,}" for n in SIZES)
        + f"{'exponent':>10}"
    )
    for name, model in ALL_METHODS.items():
        seconds(model, *blobs(60, n_centres=3), 5)  # compile
        took = [seconds(model, *blobs(n, n_centres=3), N_GROWTH_QUERIES) for n in SIZES]
        exponent = np.log(took[-1] / took[0]) / np.log(SIZES[-1] / SIZES[0])
        print(f"{name:22}" + "".join(f"{t:9.2f}" for t in took) + f"{exponent:10.2f}", flush=True)


def to_the_end(name: str, X: FloatArray, y: IntArray, k: int, n_queries: int) -> None:
    """Print what NPU with COSC takes."""
    model = NPU(COSC(k, preset="fast"), warm_start=True)
    took = seconds(model, X, y, n_queries)
    n_rounds = len({id(p) for p in model.labels_per_query_.partitions})
    ari = adjusted_rand_score(y, model.labels_)
    where = f"NPU(COSC) on {name} {X.shape[0]} x {X.shape[1]}"
    cost = f"{n_queries} queries in {took:.0f} CPU seconds, {n_rounds} clusterings"
    print(f"{where}: {cost}, {took / n_rounds:.2f} s for each with its forest; ARI {ari:.3f}", flush=True)


def main() -> None:
    """Print the versions, then the three tables."""
    parser = argparse.ArgumentParser(description="Speed of cobras beside cobras-ts.")
    parser.add_argument("--seeds", type=int, default=5, help="runs per data set (default 5)")
    parser.add_argument("--quick", action="store_true", help="small data sets and 100 super-instances only")
    parser.add_argument(
        "--growth", action="store_true", help="the time of every method by number of rows instead"
    )
    parser.add_argument("--spambase", action="store_true", help="with --growth: 250 queries on spambase, too")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    packages = ("cobras-clustering", "cobras-ts", "numpy", "scikit-learn", "numba")
    print(", ".join(f"{name} {version(name)}" for name in packages), f"- Python {platform.python_version()}")
    print(f"{platform.machine()}, one core, one thread")
    with threadpool_limits(1):
        if options.growth:
            growth_with_rows()
            to_the_end("blobs", *blobs(2_000, n_centres=3), 3, 100)
            if options.spambase and HAS_SPAMBASE:
                to_the_end("spambase", *load("spambase"), 2, 250)
            return
        for name in ("iris", "digits"):  # compile, with and without a sample
            run_ours(*load(name), seed=0)
        beside_peer(DATA_SETS[:4] if options.quick else DATA_SETS, options.seeds)
        answers_with_known_splits(100 if options.quick else 500, 20)
        undo_by_replay(200)
        answers_of_adder(100)


if __name__ == "__main__":
    main()
