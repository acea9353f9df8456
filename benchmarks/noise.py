"""ADDER and COBRAS with a person who errs: mean ARI after 100 answers, with 0, 5 and 10 % of them wrong.

Run as ``python -m benchmarks.noise``. When ADDER asks again was chosen on these sets with seeds 0 to 9; these are
left out.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import FloatArray, IntArray, load
from cobras import ADDER, COBRAS, NoisyOracle

SEEDS = range(10, 30)
RATES = (0.0, 0.05, 0.1)
N_QUERIES = 100


def score(estimator: type, X: FloatArray, y: IntArray, rate: float, seed: int) -> float:
    """ARI on all rows."""
    oracle = NoisyOracle(y, rate, random_state=seed)
    fitted = estimator(max_queries=N_QUERIES, random_state=seed).fit(X, oracle=oracle)
    return float(adjusted_rand_score(y, fitted.labels_))


def main() -> None:
    """Print one row per data set and method, and the mean loss with its standard error over seeds."""
    print(f"{'data':<8} {'method':<8} " + " ".join(f"{rate:>6.0%}" for rate in RATES))
    lost: dict[str, list[FloatArray]] = {"COBRAS": [], "ADDER": []}
    for name in ("iris", "wine", "wdbc", "digits"):
        X, y = load(name)
        for estimator in (COBRAS, ADDER):
            scores = np.array([[score(estimator, X, y, rate, seed) for rate in RATES] for seed in SEEDS])
            lost[estimator.__name__].append(scores[:, :1] - scores)
            print(f"{name:<8} {estimator.__name__:<8} " + " ".join(f"{s:>6.3f}" for s in scores.mean(axis=0)))
    for method, losses in lost.items():
        per_seed = np.mean(losses, axis=0)
        errors = per_seed.std(axis=0, ddof=1) / np.sqrt(len(SEEDS))
        five, ten = (
            f"{m:.3f} ± {e:.3f}" for m, e in list(zip(per_seed.mean(axis=0), errors, strict=True))[1:]
        )
        print(f"{method} loses {five} with 5 % and {ten} with 10 % of the answers wrong.")


if __name__ == "__main__":
    main()
