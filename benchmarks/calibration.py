"""Is a row that is said to be 80 % sure right in 80 % of the cases? Sessions of ADDER on the tasks of the paper.

    COBRAS_DATA=... python -m benchmarks.calibration [--tasks iris wine] [--seed 0]

A row is right if its class is the one that most rows of its cluster have. Rows that take part in an answer are left
out: their place is known. After 25, 50, 100 and 200 answers, all tasks counting the same, it prints for each tenth
of `confidence_` how sure these rows were said to be and how many were right, and the calibration error: the mean
difference of the two over the tenths, weighted by their rows.
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt

from benchmarks import IntArray
from cobras import Answer, Session
from cobras.bench.tasks import PAPER, load_task
from cobras.core.types import FloatArray

AFTER = (25, 50, 100, 200)
N_BINS = 10


def are_right(labels: IntArray, y: IntArray) -> npt.NDArray[np.bool_]:
    """Whether each row has the class that most rows of its cluster have."""
    counts = np.zeros((labels.max() + 1, y.max() + 1), dtype=int)
    np.add.at(counts, (labels, y), 1)
    found: npt.NDArray[np.bool_] = counts.argmax(axis=1)[labels] == y
    return found


def rows_of(task: str, seed: int) -> dict[int, FloatArray]:
    """After so many answers: of each row that was not asked about how sure it is, whether right, and its weight."""
    data = load_task(task)
    y = np.unique(data.y, return_inverse=True)[1]
    session = Session(data.X, "adder", random_state=seed)
    found = {}
    for n_answers in AFTER:
        while session.n_answers < n_answers and (pair := session.ask()) is not None:
            session.tell(Answer(int(y[pair.i] == y[pair.j])), pair)
        open_rows = np.ones(len(y), dtype=bool)
        open_rows[[row for record in session.history for row in record.pair or ()]] = False
        right = are_right(session.labels_.astype(np.int64), y)
        rows = np.column_stack([session.confidence_, right, np.full(len(y), 1 / max(open_rows.sum(), 1))])
        found[n_answers] = rows[open_rows]
    return found


def print_table(title: str, rows: FloatArray) -> None:
    """A line for each tenth, and the calibration error."""
    sure, right, weight = rows.T
    weight = weight / weight.sum()
    tenth = np.minimum((sure * N_BINS).astype(int), N_BINS - 1)
    error = 0.0
    print(title)
    for at in np.unique(tenth):
        w = weight * (tenth == at)
        said, was = (w @ sure) / w.sum(), (w @ right) / w.sum()
        error += w.sum() * abs(said - was)
        print(f"  {said:.2f} sure, {was:.2f} right, {100 * w.sum():5.1f} % of the rows")
    print(f"  calibration error {error:.3f}")


def main() -> None:
    """Run all sessions and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", nargs="*", default=list(PAPER))
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    found = [rows_of(task, given.seed) for task in given.tasks]
    for n_answers in AFTER:
        rows = np.concatenate([rows[n_answers] for rows in found])
        print_table(f"after {n_answers} answers, {len(found)} tasks", rows)
    print_table("all together", np.concatenate([rows[n] for rows in found for n in AFTER]))


if __name__ == "__main__":
    main()
