"""MPCKMeans beside the package active-semi-supervised-clustering: seconds and ARI, with the same constraints.

    python -m benchmarks.mpckmeans [--seeds 20] [--peer-seeds-digits 1]

One process, one thread, CPU seconds; per seed 100 pairs are drawn at random and answered by the labels. The
peer needs minutes for digits because it searches the farthest pair of rows with a loop in Python. So there its
time comes from a few seeds only, and its ARI from runs in which SciPy searches the same pair. It raises when a
cluster gets empty; then it starts again from other random numbers, and only the time of the run that ended is
counted.
"""

import argparse
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale
from threadpoolctl import threadpool_limits

from cobras.baselines.clusterers.mpckmeans import MPCKMeans

with np.errstate():  # the peer calls numpy.seterr("raise") when it is imported
    EmptyClustersException: Any = import_module("active_semi_clustering.exceptions").EmptyClustersException
    Peer: Any = import_module("active_semi_clustering").MPCKMeans

N_CONSTRAINTS = 100
MAX_ATTEMPTS = 50
Table = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def draw_constraints(y: Ints, seed: int) -> tuple[Ints, Ints]:
    """Must-links and cannot-links: N_CONSTRAINTS different pairs, drawn uniformly."""
    rng = np.random.default_rng(seed)
    chosen: set[tuple[int, int]] = set()
    while len(chosen) < N_CONSTRAINTS:
        i, j = rng.choice(len(y), 2, replace=False).tolist()
        chosen.add((min(i, j), max(i, j)))
    pairs = np.array(sorted(chosen))
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return pairs[same], pairs[~same]


def run_ours(X: Table, y: Ints, seed: int) -> tuple[float, float]:
    must_link, cannot_link = draw_constraints(y, seed)
    begin = time.process_time()
    model = MPCKMeans(len(set(y)), random_state=seed).fit(X, must_link=must_link, cannot_link=cannot_link)
    return time.process_time() - begin, float(adjusted_rand_score(y, model.labels_))


def run_peer(X: Table, y: Ints, seed: int) -> tuple[float, float]:
    must_link, cannot_link = (pairs.tolist() for pairs in draw_constraints(y, seed))
    np.random.seed(seed)
    for _ in range(MAX_ATTEMPTS):
        begin = time.process_time()
        try:
            model = Peer(len(set(y))).fit(X, ml=must_link, cl=cannot_link)
        except EmptyClustersException:
            continue
        return time.process_time() - begin, float(adjusted_rand_score(y, model.labels_))
    raise RuntimeError(f"The peer ended in empty clusters {MAX_ATTEMPTS} times.")


@contextmanager
def quick_farthest_pair() -> Iterator[None]:
    """Let the peer find its farthest pair with SciPy."""

    def search(self: Any, X: Table, A: Table) -> tuple[int, int, float]:
        Z = X * np.sqrt(np.diag(A))
        D = cdist(Z, Z, "sqeuclidean")
        i, j = divmod(int(D.argmax()), len(D))
        return max(i, j), min(i, j), float(D[i, j])

    with patch.object(Peer, "_find_farthest_pairs_of_points", search):
        yield


def mean_and_error(values: Table) -> str:
    return f"{values.mean():.3f} ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}"


def compare(name: str, X: Table, y: Ints, n_seeds: int, n_timed: int) -> None:
    """Print one line; the peer's time is that of `n_timed` seeds."""
    run_ours(X, y, 0)  # compiled, or read from the cache
    ours = np.array([run_ours(X, y, seed) for seed in range(n_seeds)])
    slow = np.array([run_peer(X, y, seed) for seed in range(n_timed)])
    peer_ari = slow[:, 1]
    if n_timed < n_seeds:
        with quick_farthest_pair():
            peer_ari = np.array([run_peer(X, y, seed)[1] for seed in range(n_seeds)])
    seconds, peer_seconds = np.median(ours[:, 0]), np.median(slow[:, 0])
    print(
        f"{name:7} {f'{X.shape[0]} x {X.shape[1]}':>10} {seconds:10.5f} {peer_seconds:10.3f} ({n_timed:2} seeds)"
        f"{peer_seconds / seconds:9.0f}x   {mean_and_error(ours[:, 1]):>15} {mean_and_error(peer_ari):>15}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="MPCKMeans beside active-semi-supervised-clustering.")
    parser.add_argument("--seeds", type=int, default=20, help="runs per data set (default 20)")
    parser.add_argument(
        "--peer-seeds-digits",
        type=int,
        default=1,
        help="seeds on which the unchanged peer is timed on digits (default 1: minutes)",
    )
    options = parser.parse_args()
    packages = ("cobras-clustering", "active-semi-supervised-clustering", "numpy", "numba", "scikit-learn")
    print(f"Python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in packages))
    print(
        f"{N_CONSTRAINTS} constraints, columns scaled to [0, 1]; median CPU seconds; mean ARI ± standard error"
    )
    print(
        f"{'data':7} {'shape':>10} {'ours':>10} {'peer':>10} {'':10}{'ratio':>10}   "
        f"{'ARI ours':>15} {'ARI peer':>15}"
    )
    with threadpool_limits(1), np.errstate(all="warn"):
        for name, loader, n_timed in (
            ("wine", load_wine, options.seeds),
            ("digits", load_digits, options.peer_seeds_digits),
        ):
            X, y = loader(return_X_y=True)
            compare(name, minmax_scale(X.astype(np.float64)), y.astype(np.int64), options.seeds, n_timed)


if __name__ == "__main__":
    main()
