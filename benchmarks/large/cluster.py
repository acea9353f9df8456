"""How long a person waits when the rows lie on a cluster, and what is sent.

    python -m benchmarks.large.cluster [--rows 5000000] [--workers 2] [--answers 30]

Overlapping blobs, float32, 20 columns, made on the workers: processes of this machine, one thread each. Prints the
time to the first question (from the array to the pair), the times from an answer to the next question, what is sent
to the client, and by how much the client, with the scheduler inside, grows at most after its imports; more than
300 MB make the exit code 1. Then the same rows are clustered in memory: the questions and labels must be the same,
or the exit code is 1 as well.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Sequence
from typing import Any

import dask.array as da
import numpy as np
import psutil
from dask.sizeof import sizeof
from distributed import Client, LocalCluster, wait

from cobras import Pair, Session
from cobras.core.types import FloatArray, IndexArray
from cobras.spaces.dask.workers import Workers

COLUMNS, BLOBS, CLASSES = 20, 15, 5
PARTITION = 2**19  # rows
LIMIT = 300  # megabytes by which the client may grow


def overlapping_blobs(n: int, seed: int = 0) -> tuple[Any, Any]:
    """Fifteen blobs in five classes that overlap, and the class of each row; nothing is made yet."""
    rng = da.random.default_rng(seed)
    centres = np.random.default_rng(seed).normal(size=(BLOBS, COLUMNS)).astype(np.float32)
    centres *= 2.7 / COLUMNS**0.5
    blob = rng.integers(BLOBS, size=n, chunks=PARTITION, dtype=np.int8)
    noise = rng.standard_normal(size=(n, COLUMNS), chunks=(PARTITION, COLUMNS)).astype(np.float32)
    middle = blob.map_blocks(
        lambda part: centres[part], dtype=np.float32, new_axis=1, chunks=(blob.chunks[0], (COLUMNS,))
    )
    return noise + middle, blob % CLASSES


class TransferCounter:
    """Replaces `Workers.results` and counts the bytes it brings."""

    def __init__(self) -> None:
        self.transfers: list[tuple[str, int]] = []
        self._results = Workers.results

    def __call__(self, workers: Workers, tasks: Sequence[Any]) -> Sequence[Any]:
        found = self._results(workers, tasks)
        kind = "pass" if tasks[0].key.startswith(("assign_rows", "getitem")) else "rows"
        self.transfers.append((kind, sum(sizeof(each) for each in found)))
        return found


def run_session(X: Any, y: IndexArray, n: int) -> tuple[list[Pair], list[float], Session]:
    """The questions of a session, the time until each, and the session."""
    asked: list[Pair] = []
    took, start = [], time.perf_counter()
    session = Session(X, random_state=0)
    while (pair := session.ask()) is not None:
        took.append(time.perf_counter() - start)
        asked.append(pair)
        if len(asked) > n:
            break
        start = time.perf_counter()
        session.tell(bool(y[pair.i] == y[pair.j]), pair)
    return asked, took, session


def report(where: str, took: list[float]) -> None:
    """Print the times of one session."""
    later: FloatArray = np.array(took[1:])
    print(
        f"{where:12} first question {took[0]:6.2f} s, then median {np.median(later):6.3f} s, 95th percentile "
        f"{np.quantile(later, 0.95):5.2f} s, longest {later.max():5.2f} s",
        flush=True,
    )


def main() -> int:
    """Print the figures; 1 when the client grows too much or memory gives another result."""
    parser = argparse.ArgumentParser(description="A session on a cluster of processes.")
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--answers", type=int, default=30)
    options = parser.parse_args()
    imported = psutil.Process().memory_info().rss / 2**20
    with (
        LocalCluster(
            n_workers=options.workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as cluster,
        Client(cluster),
    ):
        start = time.perf_counter()
        X, classes = overlapping_blobs(options.rows)
        X, y = X.persist(), classes.compute()
        wait(X)
        made = f"made by {options.workers} workers in {time.perf_counter() - start:.1f} s"
        print(f"{options.rows:,} rows x {COLUMNS} columns, {X.nbytes / 2**20:,.0f} MB, {made}", flush=True)
        counter = TransferCounter()
        setattr(Workers, "results", lambda workers, tasks: counter(workers, tasks))  # noqa: B010
        there, took, session = run_session(X, y, options.answers)
        report("on workers", took)
        for kind in ("pass", "rows"):
            sizes = [size for what, size in counter.transfers if what == kind]
            most, together = max(sizes) / 1e3, sum(sizes) / 1e6
            print(f"{kind:12} {len(sizes)} transfers, {most:,.0f} kB at most, {together:,.1f} MB in all")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # kilobytes on Linux
        print(
            f"client       {imported:.0f} MB after imports, at most {peak - imported:.0f} MB more", flush=True
        )
        start = time.perf_counter()
        labels = session.labels_
        print(f"labels       here after {time.perf_counter() - start:.1f} s")
        gathered = X.compute()
    here, took, session = run_session(gathered, y, options.answers)
    report("in memory", took)
    same = here == there and bool((session.labels_ == labels).all())
    print(f"questions and labels {'are the same' if same else 'DIFFER'}")
    return int(not same or peak - imported > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
