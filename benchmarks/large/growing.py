"""A collection that grows: what an append costs beside a new session, and what appends in batches cost in quality.

    python -m benchmarks.large.growing [--tasks]

1 % more rows on 1,000,000 x 20 after 20 answers, the processor time of `append` to the next question over that
of a new session on all rows, to its first question and to where the old one was, after 20 answers (medians of
five runs). With `--tasks`, the mean ARI after 100 answers on the tasks of the paper that are at hand
(COBRAS_DATA names their folder): the rows in ten batches, shuffled, with ten answers after each, beside all
rows at once.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import IntArray, blobs
from cobras import LabelOracle, Session, run
from cobras.bench.tasks import PAPER, load_task
from cobras.core.exceptions import CobrasError
from cobras.core.types import FloatArray

N_ANSWERS = 100
N_BATCHES = 10
N_RUNS = 5  # whose median is shown: now and then Python's garbage is collected within one
METHODS = ("cobras", "adder")


def answer(session: Session, y: IntArray, n_answers: int) -> None:
    """Answer from the classes until so many answers have been given."""
    run(session, LabelOracle(y), until=lambda s: s.n_answers >= n_answers)


def print_speed(n: int, methods: list[str]) -> None:
    """Print one line for each method: medians of some runs."""
    X, y = blobs(n + n // 100)
    X = X.astype(np.float32)
    print(f"{'method':<8} {'first s':>8} {'20 answers s':>13} {'append s':>9} {'ratios':>12}")
    for method in methods:
        small = Session(X[:30_000], method, random_state=0)  # loads the kernels
        answer(small, y, 5)
        small.append(X[30_000:30_300])
        first, new, grown = np.median([seconds(X, y, n, method) for _ in range(N_RUNS)], axis=0)
        ratios = f"{grown / first:.3f} {grown / new:.3f}"
        print(f"{method:<8} {first:>8.3f} {new:>13.3f} {grown:>9.3f} {ratios:>12}", flush=True)


def seconds(X: FloatArray, y: IntArray, n: int, method: str) -> tuple[float, float, float]:
    """A new session on all rows to its first question and to 20 answers, and the append of the last ones."""
    begin = time.process_time()
    fresh = Session(X, method, random_state=0)
    fresh.ask()
    first = time.process_time() - begin
    answer(fresh, y, 20)
    new = time.process_time() - begin
    session = Session(X[:n], method, random_state=0)
    answer(session, y, 20)
    begin = time.process_time()
    session.append(X[n:])
    session.ask()
    return first, new, time.process_time() - begin


def score_at_once(X: FloatArray, y: IntArray, method: str, seed: int) -> float:
    """ARI after all answers on all rows."""
    session = Session(X, method, random_state=seed)
    answer(session, y, N_ANSWERS)
    return float(adjusted_rand_score(y, session.labels_))


def score_in_batches(X: FloatArray, y: IntArray, method: str, seed: int) -> float:
    """ARI after as many answers, where a tenth of the rows is there first and a tenth is added at a time."""
    bounds = np.linspace(0, len(X), N_BATCHES + 1).astype(int)[1:]
    session = Session(X[: bounds[0]], method, random_state=seed)
    for batch, stop in enumerate(bounds, 1):
        if batch > 1:
            ids, labels = session.cluster_ids_, session.labels_
            session.append(X[session.space.n : stop])
            assert session.cluster_ids_ == ids
            assert (session.labels_[: len(labels)] == labels).all()
        answer(session, y, N_ANSWERS * batch // N_BATCHES)
    return float(adjusted_rand_score(y, session.labels_))


def print_quality(methods: list[str], seeds: int) -> None:
    """Print one line for each task, and the mean differences."""
    print(f"{'task':<28} {'method':<8} {'at once':>8} {'batches':>8}")
    differences: dict[str, list[float]] = {method: [] for method in methods}
    for name in PAPER:
        try:
            task = load_task(name)
        except CobrasError as error:
            print(f"{name:<28} {error}")
            continue
        order = np.random.default_rng(0).permutation(len(task.X))
        X, y = np.ascontiguousarray(task.X[order]), task.y[order]
        for method in methods:
            one = np.mean([score_at_once(X, y, method, seed) for seed in range(seeds)])
            ten = np.mean([score_in_batches(X, y, method, seed) for seed in range(seeds)])
            differences[method].append(float(ten - one))
            print(f"{name:<28} {method:<8} {one:>8.3f} {ten:>8.3f}", flush=True)
    for method, found in differences.items():
        print(f"{method}: {np.mean(found):+.3f} on average over {len(found)} tasks.")


def main() -> None:
    """Print what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", action="store_true", help="ten batches against all at once")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    given = parser.parse_args()
    if given.tasks:
        print_quality(given.methods, given.seeds)
    else:
        print_speed(given.rows, given.methods)


if __name__ == "__main__":
    main()
