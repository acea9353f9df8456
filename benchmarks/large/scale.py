"""How long a person waits, from ten thousand to ten million rows.

    python -m benchmarks.large.scale [--rows 10000 100000 1000000] [--method adder] [--quality] [--mapped] [--peer]

Overlapping blobs, float32, 20 columns at every number of rows and 256 columns at a million. A *pass* is the median
time of ``X @ w`` over the same data in the same process. Each line is a process of its own and holds the time to
the first question (from the array to the pair), the 50th and 95th percentile and the longest time from an answer
to the next question over 100 answers given at once, the 95th percentile when each answer comes after a second in
which the next two answers are thought through, the largest memory above the data in bytes per row, and scikit-
learn's ``KMeans(2)`` with one and with ten restarts. At the end the exponent b of time ~ rows^b, and a model of
the cost, checked against the lines it was not made from. This is about COBRAS; with `--method` it is about another
one, and each line says as well how many times as long as with COBRAS its first question takes.

`--quality` compares the mean ARI at 25, 50 and 100 answers with that of the exact algorithm, which makes full
passes and runs ten restarts to the end, and the exact algorithm with itself under another seed: on four blobs with
the largest number of rows and ten seeds, and on eight that overlap more with a twentieth of the rows and 100 seeds.
`--mapped` answers questions about a mapped file in a process whose data may take only seven eighths of its size.
`--peer` adds the CPU seconds of 100 answers with cobras-ts, up to 10^5 rows.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from cobras import Session
from cobras.core.types import FloatArray, IndexArray
from cobras.session.ahead import Thinker
from cobras.spaces.passes.sampling import BLOCK

N_ANSWERS = 100
THINKING = 1.0  # seconds
ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
JUDGED, LOW = (25, 50, 100), 0.5  # answers; an ARI at which a run went astray


def overlapping(
    n: int, d: int, seed: int = 0, k: int = 8, apart: float = 3.6
) -> tuple[FloatArray, IndexArray]:
    """Blobs that overlap, the less the farther apart; made block by block, so that nothing but the data is held."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(k, d)).astype(np.float32) * (apart / d**0.5)
    blob = rng.integers(k, size=n, dtype=np.int8)
    X = np.empty((n, d), np.float32)
    for start in range(0, n, 2**16):
        rows = slice(start, start + 2**16)
        X[rows] = rng.standard_normal(X[rows].shape, dtype=np.float32) + centres[blob[rows]]
    return X, blob


def seconds(work: Callable[[], object], repeats: int) -> float:
    """The median time of some calls."""
    took = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return float(np.median(took))


def answers(session: Session, y: IndexArray, thinking: float) -> FloatArray:
    """The seconds from each answer to the next question."""
    took: list[float] = []
    thinker = Thinker()
    while len(took) < N_ANSWERS and (pair := session.ask()) is not None:
        if thinking:
            thinker.begin(session)
            thinker.finish(thinking)
        start = time.perf_counter()
        session.tell(bool(y[pair.i] == y[pair.j]), pair)
        session.ask()
        took.append(time.perf_counter() - start)
    return np.array(took)


def peak(reset: bool = False) -> int:
    """The largest resident memory, in bytes, since the last reset."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def first_question(X: FloatArray, method: str) -> tuple[Session, float]:
    """A session that has just asked its first question, and the seconds until then."""
    start = time.perf_counter()
    session = Session(X, method, random_state=0)
    session.ask()
    return session, time.perf_counter() - start


def measure(n: int, d: int, method: str) -> dict[str, Any]:
    """One line of the table."""
    for small in (1_000, 40_000):  # compile what rows at once and rows in passes need
        X, y = overlapping(small, d)
        for name in {"cobras", method}:
            answers(Session(X, name, random_state=0), y, 0)
    X, y = overlapping(n, d)
    w = np.ones(d, np.float32)
    one_pass = seconds(lambda: X @ w, 20)
    before = peak(reset=True)
    session, first = first_question(X, method)
    found: dict[str, Any] = {"rows": n, "columns": d, "pass": one_pass, "first": first}
    at_once = answers(session, y, 0)
    found["bytes_per_row"] = (peak() - before) / n
    found |= dict(zip(("p50", "p95", "max"), np.percentile(at_once, [50, 95, 100]).tolist(), strict=True))
    found["all"] = found["first"] + at_once.sum()
    del session
    if method != "cobras":
        ratios = [first_question(X, method)[1] / first_question(X, "cobras")[1] for _ in range(5)]
        found["times_cobras"] = float(np.median(ratios))
    thoughtful = answers(Session(X, method, random_state=0), y, THINKING)
    found["p95_thinking"] = float(np.percentile(thoughtful, 95))
    found["bytes_per_row_thinking"] = (peak() - before) / n
    for n_init in (1, 10):
        found[f"kmeans_{n_init}"] = seconds(partial(KMeans(2, n_init=n_init, random_state=0).fit, X), 1)
    return found


def scores(X: FloatArray, y: IndexArray, seed: int, exact: bool) -> list[float]:
    """The ARI at some numbers of answers."""
    some = np.random.default_rng(0).integers(len(X), size=100_000)
    session = Session(X, "cobras", random_state=seed, full_restarts=exact)
    found: list[float] = []
    for n_answers in range(1, max(JUDGED) + 1):
        if (pair := session.ask()) is not None:
            session.tell(bool(y[pair.i] == y[pair.j]), pair)
        if n_answers in JUDGED:
            found.append(adjusted_rand_score(y[some], session.labels_[some]))
    return found


def quality(n: int, k: int, apart: float, n_seeds: int) -> None:
    """Print the mean ARI beside that of the exact algorithm."""
    found: dict[str, list[list[float]]] = {"exact": [], "in passes": [], "exact, another seed": []}
    for seed in range(n_seeds):
        X, y = overlapping(n, 20, seed, k, apart)
        for name, curves in found.items():
            another = seed + 1000 if name.endswith("seed") else seed
            curves.append(scores(X, y, another, exact=name != "in passes"))
    title = f"{k} blobs, {n:,} rows, {n_seeds} seeds"
    print(f"{title:<36}" + "".join(f"{a:>16}" for a in JUDGED))
    exact_ones = np.array(found["exact"])
    for name, curves in found.items():
        n_low = sum(curve[1] < LOW for curve in curves)
        means = "".join(f"{m:>16.3f}" for m in np.mean(curves, axis=0))
        print(f"{name:<36}{means}   {n_low} below {LOW} at {JUDGED[1]}")
    for name in ("in passes", "exact, another seed"):
        less = np.array(found[name]) - exact_ones
        error = less.std(axis=0, ddof=1) / n_seeds**0.5
        cells = "".join(f"{m:>+9.3f} ± {e:.3f}" for m, e in zip(less.mean(axis=0), error, strict=True))
        print(f"{name + ', less exact':<36}" + cells, flush=True)


def run_mapped(n: int) -> None:
    """Run 100 answers on a mapped file, in a process that may not hold so much data."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "X.npy")
        X, y = overlapping(n, 20)
        np.save(path, X)
        np.save(Path(folder, "y.npy"), y)
        limit = 7 * X.nbytes // 8
        child = [sys.executable, "-m", "benchmarks.large.scale", "--within", str(limit), str(path)]
        print(f"{X.nbytes / 1e6:,.0f} MB mapped, at most {limit / 1e6:,.0f} MB of data: ", end="", flush=True)
        del X
        print(subprocess.run(child, check=True, capture_output=True, text=True).stdout, end="")


def within(limit: int, path: Path) -> None:
    """What the process does that may not hold so much data."""
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    X, y = np.load(path, mmap_mode="r"), np.load(path.with_name("y.npy"))
    try:
        np.array(X)
        refused = False
    except MemoryError:
        refused = True
    session = Session(X, "cobras", random_state=0)
    took = answers(session, y, 0)
    score = adjusted_rand_score(y[:100_000], session.labels_[:100_000])
    print(f"a copy is refused: {refused}; {len(took)} answers in {took.sum():.2f} s, ARI {score:.3f}")


def peers(rows: list[int]) -> None:
    """Print the CPU seconds of 100 answers beside those of cobras-ts."""
    from benchmarks.peers.peer import run_cobras_ts

    for n in rows:
        X, y = overlapping(n, 20)
        answers(Session(X, "cobras", random_state=0), y, 0)
        start = time.process_time()
        answers(Session(X, "cobras", random_state=0), y, 0)
        ours = time.process_time() - start
        theirs = run_cobras_ts(X.astype(np.float64), y.astype(np.int64), N_ANSWERS, n_init=10, seed=0).seconds
        print(
            f"{n:>10,} rows: cobras {ours:.2f} CPU s, cobras-ts {theirs:.1f}, {theirs / ours:.0f} times as many"
        )


def model(table: list[dict[str, Any]]) -> None:
    """Print what a + b * numbers, from two of the measurements, says about the others and about larger data."""
    at = {(found["rows"], found["columns"]): found["first"] for found in table}
    small, large = (100_000, 20), (1_000_000, 20)
    if not {small, large} <= at.keys():
        return
    each = (at[large] - at[small]) / (math.prod(large) - math.prod(small))
    fixed = max(0.0, at[small] - each * math.prod(small))
    print(f"\nfirst question = {1000 * fixed:.0f} ms + {1e9 * each:.2f} ns for each number")
    for shape, took in at.items():
        if shape not in (small, large):
            said = fixed + each * math.prod(shape)
            print(f"{shape[0]:>15,} x {shape[1]:<4} model {said:8.3f} s, measured {took:8.3f} s")
    n_cores = os.cpu_count() or 1
    print(f"{'':22}{'float32':>10}{'core seconds to the first question':>36}{'to the client per pass':>24}")
    for power in range(4, 11):
        n = 10**power
        moved = -(-n // BLOCK) * 2 * (20 + 4) * 8  # two centers: sums, counts and a candidate of every block
        work = n_cores * (fixed + each * 20 * n)
        print(f"{n:>15,} x 20  {n * 80 / 1e9:>8.3f} GB{work:>36.2f}{moved / 1e6:>21.3f} MB")


def line(found: dict[str, Any]) -> str:
    """One line of the table; times in passes."""
    one = found["pass"]
    kmeans = "".join(f"{found[key] / one:>9.0f}" for key in ("kmeans_1", "kmeans_10"))
    return (
        f"{found['rows']:>11,} x {found['columns']:<4}{1000 * one:>8.2f}{found['first']:>9.3f}"
        + "".join(f"{found[key] / one:>8.2f}" for key in ("first", "p50", "p95", "max", "p95_thinking"))
        + f"{found['bytes_per_row']:>8.1f}{found['bytes_per_row_thinking']:>9.1f}{kmeans}"
        + (f"{found['times_cobras']:>9.1f}" if "times_cobras" in found else "")
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--method", default="cobras")
    parser.add_argument("--quality", action="store_true")
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--mapped", action="store_true")
    parser.add_argument("--within", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--one", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one[0], options.one[1], options.method)))
        return
    if options.within:
        within(int(options.within[0]), Path(options.within[1]))
        return
    if options.mapped:
        run_mapped(max(options.rows))
        return
    if options.quality:
        quality(max(options.rows), 4, 4.2, 10)
        quality(max(options.rows) // 20, 8, 3.6, 100)
        return
    if options.peer:
        peers([n for n in options.rows if n <= 100_000])
        return
    print(
        f"{'':18}{'pass ms':>8}{'first s':>9}{'passes':>8}{'p50':>8}{'p95':>8}{'max':>8}{'p95 1s':>8}"
        f"{'B/row':>8}{'B/row 1s':>9}{'KMeans':>9}{'x 10':>9}{'x COBRAS' if options.method != 'cobras' else '':>9}"
    )
    table = []
    for n, d in [*((n, 20) for n in options.rows), *((n, 256) for n in options.rows if n == 1_000_000)]:
        child = [sys.executable, "-m", "benchmarks.large.scale", "--method", options.method]
        child += ["--one", str(n), str(d)]
        found = json.loads(subprocess.run(child, check=True, capture_output=True, text=True).stdout)
        print(line(found), flush=True)
        table.append(found)
    narrow = [found for found in table if found["columns"] == 20]
    if len(narrow) > 1:
        grown = np.log(narrow[-1]["rows"] / narrow[0]["rows"])
        for key, name in (("first", "time to the first question"), ("all", "time of 100 answers")):
            print(f"{name} ~ rows^{np.log(narrow[-1][key] / narrow[0][key]) / grown:.2f}")
    model(table)


if __name__ == "__main__":
    main()
