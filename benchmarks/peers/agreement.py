"""Mean ARI of our COBRAS beside that of the authors' own package, cobras-ts.

    python -m benchmarks.peers.agreement [--seeds 50]

That both ask the same questions when they make the same splits is tested in `tests/methods/test_agreement.py`.
The reference options copy what cobras-ts does; there the difference must stay within three standard errors,
or the exit code is 1. The last columns show, for information, what our default options change.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from benchmarks import FloatArray, load
from benchmarks.peers.peer import REFERENCE, run_cobras_ts
from cobras import COBRAS

DATA_SETS = ("wine", "wdbc", "digits")
QUERIES = (10, 25, 50, 100)
N_INIT = 10


def scores(name: str, seed: int) -> FloatArray:
    """ARI at each of QUERIES (columns) of cobras-ts, our reference options and our default options (rows)."""
    X, y = load(name)
    budget = max(QUERIES)
    with threadpool_limits(1):
        peer = run_cobras_ts(X, y, budget + 1, n_init=N_INIT, seed=seed)
        runs: list[Sequence[npt.NDArray[np.integer[Any]]]] = [peer.labels_per_query]
        for options in (REFERENCE, {}):
            model = COBRAS(max_queries=budget, random_state=seed, n_init=N_INIT, **options).fit(X, y)
            runs.append(model.labels_per_query_)
    # A run that ended by itself keeps its last clustering.
    at = [[run[min(q, len(run) - 1)] for q in QUERIES] for run in runs]
    return np.array([[adjusted_rand_score(y, labels) for labels in row] for row in at], dtype=np.float64)


def compare(ours: FloatArray, peer: FloatArray) -> tuple[float, float, float]:
    """Difference of the means, its standard error (the runs are independent) and their quotient."""
    difference = float(ours.mean() - peer.mean())
    error = float(np.sqrt(ours.var(ddof=1) / len(ours) + peer.var(ddof=1) / len(peer)))
    if abs(difference) < 1e-12:
        return difference, error, 0.0
    return difference, error, difference / error if error else float(np.copysign(np.inf, difference))


def main() -> int:
    """Print the table; 1 when the reference options disagree with cobras-ts anywhere."""
    parser = argparse.ArgumentParser(description="Mean ARI of cobras beside cobras-ts.")
    parser.add_argument("--seeds", type=int, default=50, help="runs per data set (default 50)")
    n_seeds = parser.parse_args().seeds
    print(f"Mean ARI over {n_seeds} seeds, n_init={N_INIT} on both sides; z = difference / standard error")
    print(f"{'':25}{'reference options':^44}{'default options':^26}")
    head = f"{'data':8}{'queries':>7}{'cobras-ts':>10}{'ours':>9}{'diff':>9}{'SE':>9}{'z':>7}{'<=3 SE':>10}"
    print(head + f"{'ours':>9}{'diff':>9}{'z':>7}")
    n_outside = 0
    for name in DATA_SETS:
        results = Parallel(n_jobs=2)(delayed(scores)(name, seed) for seed in range(n_seeds))
        for column, q in enumerate(QUERIES):
            peer, reference, default = np.stack(results)[:, :, column].T
            difference, error, z = compare(reference, peer)
            default_difference, _, default_z = compare(default, peer)
            n_outside += abs(z) > 3
            print(
                f"{name:8}{q:7d}{peer.mean():10.4f}{reference.mean():9.4f}{difference:+9.4f}{error:9.4f}{z:+7.2f}"
                f"{'yes' if abs(z) <= 3 else 'NO':>10}"
                f"{default.mean():9.4f}{default_difference:+9.4f}{default_z:+7.2f}",
                flush=True,
            )
    print(f"{n_outside} of {len(DATA_SETS) * len(QUERIES)} outside three standard errors")
    return int(n_outside > 0)


if __name__ == "__main__":
    sys.exit(main())
