"""The pool of COBS: clusterings by several algorithms under many settings, made before the first question.

K-means, DBSCAN and spectral clustering on a nearest-neighbour and on a Gaussian graph (Van Craenendonck and
Blockeel, 2017). The paper's grids could not be consulted, so each of their numbers is a field of `Grid`. Runs of
DBSCAN that call more than half of the rows noise are dropped. Where an algorithm leaves a choice, scikit-learn's is
followed: minPts counts the row itself, a border row joins the first cluster that reaches it (clusters in the order
of their first core row), graphs have no loops, and k-means runs on the eigenvectors of the random walk. Three
departures:

- neighbours do not include the row itself, and of a disconnected graph the largest components come first: their
  indicators are eigenvectors, and without them the eigensolver is left with well-posed problems;
- the Gaussian graph is normalised on a logarithmic scale, so that no sigma makes it underflow;
- above `max_rows` rows the pool is made on a sample, and each other row follows the nearest row of the sample.

Two float32 matrices (n, n) are shared by all threads, each of which needs two more; O(n²) time per eps and sigma.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from cobras.baselines.clusterers import state_random
from cobras.baselines.graphs import dbscan, embedding, gaussian_graph, neighbor_graph
from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray, IndexArray
from cobras.spaces.kernels.kmeans import kmeans

# What was done, and the labels unless it failed.
Run: TypeAlias = tuple[str, "IndexArray | None"]
Job: TypeAlias = tuple[Literal["k-means", "DBSCAN", "neighbors", "sigma"], float]

VERSION = 2  # of the cached files; raise it when the same parameters give another pool
FEW_ROWS = 1000  # below, threads would mostly wait for the interpreter lock
MEMORY = 3e9  # bytes that the matrices of all threads together may take, if one thread can do with so little


@dataclass(frozen=True, slots=True)
class Grid:
    """Which clusterings the pool holds; see `cobras.baselines.cobs.cobs` for the parameters."""

    k_max: int = 10
    n_eps: int = 20
    max_min_points: int = 20
    max_neighbors: int = 20
    n_sigma: int = 20
    min_sigma: float = 0.01
    max_sigma: float = 5.0
    n_restarts: int = 10
    noise: Literal["singletons", "one_cluster"] = "singletons"
    deduplicate: bool = True
    max_rows: int = 10_000


class Pool(NamedTuple):
    """Clusterings of the same rows: the rows of `labels`, whose clusters are numbered by their first instance."""

    labels: IndexArray  # (M, n), int16 or int32
    sources: tuple[str, ...]  # the algorithm and setting behind each of them
    n_duplicates: int  # dropped because they were there already
    n_failures: int  # dropped because their algorithm failed, or DBSCAN found mostly noise


class Tables(NamedTuple):
    """What all jobs read: rows, their distances, squared distances with columns in [0, 1], nearest others."""

    X: FloatArray
    distances: FloatArray
    squares: FloatArray
    neighbors: IndexArray


def build_pool(
    X: FloatArray, seed: int, grid: Grid, *, n_jobs: int | None = None, cache_dir: str | None = None
) -> Pool:
    """
    Make all clusterings, or read them from the cache; they are the same whatever `n_jobs`.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> pool = build_pool(X, 0, Grid(k_max=2, n_eps=2, max_min_points=2, max_neighbors=1, n_sigma=1))
    >>> pool.labels.tolist(), pool.sources, pool.n_duplicates
    ([[0, 0, 1, 1], [0, 0, 0, 0]], ('k-means k=2', 'DBSCAN eps=1 min_points=2'), 2)
    """
    path = None if cache_dir is None else _cache_file(Path(cache_dir), X, seed, grid)
    if path is not None and (kept := _read_cache(path, len(X))) is not None:
        return kept
    rows = np.arange(len(X))
    if len(X) > grid.max_rows:
        rows = np.sort(state_random(seed, (0,)).choice(len(X), grid.max_rows, replace=False))
    pool = _collect(_runs(np.ascontiguousarray(X[rows]), seed, grid, n_jobs), len(rows), grid)
    if len(rows) < len(X):
        from sklearn.metrics import pairwise_distances_argmin

        nearest = pairwise_distances_argmin(X, X[rows])
        nearest[rows] = np.arange(len(rows))
        pool = pool._replace(labels=_canonical_labels(pool.labels[:, nearest]))
    if path is not None:
        _write_cache(path, pool)
    return pool


def _runs(X: FloatArray, seed: int, grid: Grid, n_jobs: int | None) -> Iterator[list[Run]]:
    """Run all jobs, on one thread each, and yield their clusterings in the order of the grid."""
    from joblib import Parallel, cpu_count, delayed
    from threadpoolctl import threadpool_limits

    tables = _tables(X, grid)
    jobs: list[Job] = [("k-means", k) for k in range(2, min(grid.k_max, len(X)) + 1)]
    # If all rows are equal, there are no clusters but one.
    if tables.distances.any():
        near = np.min(tables.distances, where=tables.distances > 0, initial=np.inf)
        jobs += [("DBSCAN", eps) for eps in np.linspace(near, tables.distances.max(), grid.n_eps)]
        jobs += [("neighbors", m) for m in range(2, 1 + tables.neighbors.shape[1])]
        jobs += [("sigma", s) for s in np.linspace(grid.min_sigma, grid.max_sigma, grid.n_sigma)]
    n_fitting = max(1, int(MEMORY / (8 * len(X) ** 2)) - 1)
    n_threads = 1 if len(X) < FEW_ROWS else min(n_jobs or cpu_count(), n_fitting)
    tasks = (delayed(_run)(job, tables, grid, state_random(seed, (1, at))) for at, job in enumerate(jobs))
    # Threads, because nearly all of the work is done without the interpreter lock, and processes start slowly.
    with threadpool_limits(1):
        yield from _show_bar(
            Parallel(n_jobs=n_threads, prefer="threads", return_as="generator")(tasks), len(jobs)
        )


def _run(job: Job, tables: Tables, grid: Grid, rng: np.random.Generator) -> list[Run]:
    """The clusterings of one job with their names; None for those of an algorithm that failed."""
    kind, value = job
    n = len(tables.X)
    if kind == "k-means":
        return [(f"k-means k={value}", kmeans(tables.X, int(value), rng, n_init=grid.n_restarts).labels)]
    if kind == "DBSCAN":
        min_points = np.arange(2, grid.max_min_points + 1)
        found = dbscan(tables.distances, np.float32(value), min_points)
        noise = np.arange(n, 2 * n) if grid.noise == "singletons" else np.full(n, n)
        labels = np.where(found < 0, noise, found)
        # Most rows in no cluster are no clustering. The Rand index would even prefer one where classes are many: if
        # nearly all pairs are to be apart, singletons are right about nearly all.
        failed = 2 * np.count_nonzero(found < 0, axis=1) > n
        return [
            (f"DBSCAN eps={value:.3g} min_points={m}", None if f else c)
            for m, c, f in zip(min_points, labels, failed, strict=True)
        ]
    most = min(grid.k_max, n)
    names = [(k, f"spectral {kind}={value:.3g} k={k}") for k in range(2, most + 1)]
    try:
        graph = (
            neighbor_graph(tables.neighbors[:, : int(value)])
            if kind == "neighbors"
            else gaussian_graph(tables.squares, value)
        )
        E = embedding(graph, most, rng)
        return [(name, kmeans(E[:, :k], k, rng, n_init=grid.n_restarts).labels) for k, name in names]
    # ARPACK's errors are RuntimeErrors.
    except (ArithmeticError, RuntimeError, ValueError, np.linalg.LinAlgError):
        return [(name, None) for _, name in names]


def _tables(X: FloatArray, grid: Grid) -> Tables:
    from scipy.spatial.distance import cdist

    n, m = len(X), min(grid.max_neighbors, len(X) - 1)
    Z = X - X.min(axis=0)
    spans = Z.max(axis=0).astype(np.float64)
    scaled = Z / np.where(spans > 0, spans, 1)
    # Whatever the units of X, squares neither overflow nor underflow.
    Z = Z / (spans.max() or 1)
    distances, neighbors = np.empty((n, n), np.float32), np.empty((n, m), np.int32)
    squares = distances if np.array_equal(Z, scaled) else np.empty_like(distances)
    # By blocks: cdist computes in double precision, and only a block of that is held.
    for start in range(0, n, 256):
        rows = slice(start, start + 256)
        distances[rows] = cdist(Z[rows], Z)
        if squares is not distances:
            squares[rows] = cdist(scaled[rows], scaled, "sqeuclidean")
        others = distances[rows].copy()
        others[np.arange(len(others)), np.arange(start, start + len(others))] = np.inf
        nearest = np.sort(np.argpartition(others, max(m - 1, 0), axis=1)[:, :m], axis=1)
        order = np.argsort(np.take_along_axis(others, nearest, axis=1), axis=1, kind="stable")
        neighbors[rows] = np.take_along_axis(nearest, order, axis=1)
    return Tables(X, distances, squares if squares is not distances else np.square(distances), neighbors)


def _canonical_labels(labels: IndexArray) -> IndexArray:
    """Number the clusters of every row of labels by their first instance."""
    found = np.empty(labels.shape, np.int16 if labels.shape[1] <= 2**15 else np.int32)
    for row, given in zip(found, labels, strict=True):
        _, first, inverse = np.unique(given, return_index=True, return_inverse=True)
        row[:] = np.argsort(np.argsort(first))[inverse]
    return found


def _collect(runs: Iterable[list[Run]], n: int, grid: Grid) -> Pool:
    """Drop failures and duplicates; without any clustering, everything is one cluster."""
    kept: dict[bytes | int, tuple[str, IndexArray]] = {}
    n_duplicates = n_failures = 0
    for name, labels in (run for job in runs for run in job):
        if labels is None:
            n_failures += 1
            continue
        labels = _canonical_labels(labels[None])[0]
        key = labels.tobytes() if grid.deduplicate or not labels.any() else len(kept)
        n_duplicates += key in kept
        kept.setdefault(key, (name, labels))
    if not kept:
        kept[0] = ("one cluster", _canonical_labels(np.zeros((1, n), np.int64))[0])
    names, rows = zip(*kept.values(), strict=True)
    return Pool(np.array(rows), names, n_duplicates, n_failures)


def _cache_file(folder: Path, X: FloatArray, seed: int, grid: Grid) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidDataError(
            f"cache_dir {folder} cannot be used: {error.strerror}. Choose another."
        ) from None
    digest = hashlib.sha256(f"{VERSION} {X.shape} {X.dtype.str} {seed} {asdict(grid)}".encode())
    digest.update(np.ascontiguousarray(X).data)
    return folder / f"cobs-{digest.hexdigest()[:32]}.npz"


def _read_cache(path: Path, n: int) -> Pool | None:
    """The pool in the file; None when there is none or it is damaged."""
    try:
        # Opened here, because np.load(path) leaves a damaged file open.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            pool = Pool(file["labels"], tuple(file["sources"].tolist()), *map(int, file["dropped"]))
    except (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile, zlib.error):
        return None
    return pool if pool.labels.shape == (len(pool.sources), n) else None


def _write_cache(path: Path, pool: Pool) -> None:
    """Write the pool to the file; if that fails, as on a full disk, there is no cache."""
    # First to a file beside it, so that another process never reads a half-written one.
    with contextlib.suppress(OSError):
        file = tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False)  # noqa: SIM115
        try:
            with file:
                dropped = np.array([pool.n_duplicates, pool.n_failures])
                np.savez_compressed(file, labels=pool.labels, sources=np.array(pool.sources), dropped=dropped)
            Path(file.name).replace(path)
        finally:
            Path(file.name).unlink(missing_ok=True)


def _show_bar(results: Iterable[list[Run]], total: int) -> Iterator[list[Run]]:
    """Pass the results on, with a progress bar on standard error: on a terminal, after two seconds."""
    start, bar = time.monotonic(), None
    with contextlib.ExitStack() as stack:
        for done, result in enumerate(results, 1):
            yield result
            if bar is None and time.monotonic() - start > 2 and sys.stderr.isatty():
                from rich.console import Console
                from rich.progress import Progress

                bar = stack.enter_context(Progress(console=Console(stderr=True), transient=True))
                task = bar.add_task("Clusterings", total=total)
            if bar is not None:
                bar.update(task, completed=done)
