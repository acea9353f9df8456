"""ADDER and COBRAS with a person who errs: mean ARI over the 21 tasks of the paper.

    python -m benchmarks.noise --data DIR [--seeds 1]

The person is exact, careful (3 % of the answers wrong), wrong in 10 %, or one of a crowd (26 to 30 %, see
`HumanOracle`). ADDER runs also without asking any answer again (doubt=1000). Leads are over COBRAS, with their
standard error over the tasks.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from cobras import ADDER, COBRAS, HumanOracle, NoisyOracle
from cobras.bench.tasks import PAPER, load_task

QUERIES = (25, 50, 100, 200)
PEOPLE: dict[str, Callable[[Any, int], Any]] = {
    "exact": lambda y, seed: HumanOracle(y, "exact", random_state=seed),
    "careful": lambda y, seed: HumanOracle(y, "careful", random_state=seed),
    "10 % wrong": lambda y, seed: NoisyOracle(y, 0.1, random_state=seed),
    "crowd": lambda y, seed: HumanOracle(y, "crowd", random_state=seed),
}
METHODS: dict[str, Callable[[int], Any]] = {
    "COBRAS": lambda seed: COBRAS(max_queries=max(QUERIES), random_state=seed),
    "ADDER": lambda seed: ADDER(max_queries=max(QUERIES), random_state=seed),
    "no doubt": lambda seed: ADDER(max_queries=max(QUERIES), random_state=seed, doubt=1000),
}


def scores(method: str, person: str, X: Any, y: Any, seed: int) -> list[float]:
    """ARI on all rows after each of `QUERIES`; the last clustering counts where nothing is left to ask."""
    found = METHODS[method](seed).fit(X, oracle=PEOPLE[person](y, seed)).labels_per_query_
    return [float(adjusted_rand_score(y, found[min(q, len(found) - 1)])) for q in QUERIES]


def main() -> None:
    """Print one line per person and method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, help="where the data sets lie; else COBRAS_DATA or the cache")
    parser.add_argument("--seeds", type=int, default=1, help="runs per task (default 1)")
    options = parser.parse_args()
    tasks = [load_task(name, options.data) for name in PAPER]
    print(f"{'person':<12}{'method':<10}" + "".join(f"{q:>8}" for q in QUERIES) + "   lead over COBRAS")
    for person in PEOPLE:
        means = {}
        for method in METHODS:
            runs = [
                [scores(method, person, task.X, task.y, seed) for seed in range(options.seeds)]
                for task in tasks
            ]
            means[method] = np.mean(runs, axis=1)
            lead = means[method] - means["COBRAS"]
            error = lead.std(axis=0, ddof=1) / np.sqrt(len(tasks))
            print(
                f"{person:<12}{method:<10}" + "".join(f"{m:8.3f}" for m in means[method].mean(axis=0)), end=""
            )
            print(
                "".join(f"  {m:+.3f} ± {e:.3f}" for m, e in zip(lead.mean(axis=0), error, strict=True)),
                flush=True,
            )


if __name__ == "__main__":
    main()
