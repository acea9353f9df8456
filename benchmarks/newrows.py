"""New rows: cluster half of the rows, predict the other half, and compare with sessions on all rows.

Run as ``python -m benchmarks.newrows``, with COBRAS_DATA as the folder of the tasks. All sessions get as many
answers. The second one has all rows, but is asked about the first half only, as the first one; so the difference
is what prediction loses. The third one is asked about any row: of the small tasks that is most of the other half.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from cobras import LabelOracle, Session, run
from cobras.bench.tasks import PAPER, Task, load_task

N_ANSWERS = 100
SEED = 0
METHODS = {"ADDER": "adder", "COBRAS": "cobras"}


def cluster(X: Any, y: Any, method: str, train: Any = None) -> Session:
    """A session after so many answers."""
    session = Session(X, method, SEED, train_indices=train)
    run(session, LabelOracle(y), until=lambda s: s.n_answers >= N_ANSWERS)
    return session


def scores(task: Task, method: str) -> list[float]:
    """ARI on the other half, then on all rows: of the round trip, and of both sessions on all rows."""
    X, y = task.X, task.y
    order = np.random.default_rng(SEED).permutation(len(X))
    old, new = np.sort(order[: len(X) // 2]), np.sort(order[len(X) // 2 :])
    half = cluster(X[old], y[old], method)
    trip = np.empty(len(X), np.int64)
    trip[old], trip[new] = half.labels_, half.predict(X[new])
    found = trip, cluster(X, y, method, old).labels_, cluster(X, y, method).labels_
    return [
        float(adjusted_rand_score(y[rows], labels[rows])) for rows in (new, slice(None)) for labels in found
    ]


def main() -> None:
    """Print one row per task and method, and the means."""
    ways = "predicted", "asked in the first half", "asked anywhere"
    head = ("task", "method", *(f"{rows}: {way}" for rows in ("other half", "all rows") for way in ways))
    print(f"| {' | '.join(head)} |\n|---|---|{'--:|' * 6}")
    found: dict[str, list[list[float]]] = {name: [] for name in METHODS}
    for name in PAPER:
        task = load_task(name)
        for shown, method in METHODS.items():
            found[shown].append(scores(task, method))
            print_line(name, shown, found[shown][-1])
    for shown, rows in found.items():
        print_line(f"mean of {len(rows)}", shown, np.mean(rows, axis=0).tolist())


def print_line(name: str, method: str, values: list[float]) -> None:
    """Print a row of the table."""
    print(f"| {name} | {method} | {' | '.join(f'{value:.3f}' for value in values)} |", flush=True)


if __name__ == "__main__":
    main()
