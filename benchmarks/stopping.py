"""Is the advice to stop good? Sessions on the tasks of the paper, answered by their classes.

    COBRAS_DATA=... python -m benchmarks.stopping [--tasks iris wine] [--repetitions 2]

For ADDER it prints how the expected adjusted Rand index compares with the real one, how much the answers up to the
250th still add when a stop is advised, and how good the estimates of the number of further answers are. In
comparison: other values of the index at which to stop; 99 % of the items have kept their cluster over the last 20
answers; and the best advice there could be, that of somebody who knows the classes: to stop as soon as at most 0.02
is left to gain.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from cobras import Answer, Session
from cobras.bench.tasks import PAPER, load_task
from cobras.core.progress import ENOUGH, ari_range, is_enough, n_answers_left

N_ANSWERS = 250
LEFT = 0.02  # of the index


class Course(NamedTuple):
    """What a session went through: values after 0, 1, ... answers."""

    ari: list[float]
    expected: tuple[float | None, ...]
    is_stable: list[bool]


def course(task: str, method: str, seed: int) -> Course:
    """Answer truthfully, at most 250 times."""
    data = load_task(task)
    session = Session(data.X, method, random_state=seed)
    ari, stable = [], []
    while True:
        ari.append(float(adjusted_rand_score(data.y, session.labels_)))
        progress = session.progress
        stable.append((progress.stable_share or 0) >= 0.99 and not progress.unsatisfied)
        pair = session.ask()
        if pair is None or session.n_answers == N_ANSWERS:
            return Course(ari, session.expected_ari_, stable)
        session.tell(Answer(int(data.y[pair.i] == data.y[pair.j])), pair)


def first_at(course: Course, enough: float) -> int | None:
    """After how many answers a stop is advised, from this expected index on; None if it never is."""
    return next((q for q in range(len(course.ari)) if is_enough(course.expected[: q + 1], enough)), None)


def print_advice(name: str, courses: list[Course], stops: list[int | None]) -> None:
    """What is still added after a stop was advised; None where it never was."""
    gains = [
        c.ari[-1] - c.ari[q]
        for c, q in zip(courses, stops, strict=True)
        if q is not None and q < len(c.ari) - 1
    ]
    at = [q for q in stops if q is not None]
    # All sessions, also those that go on to their end since nothing is advised.
    ends = [len(c.ari) - 1 for c in courses]
    used = [end if q is None else q for q, end in zip(stops, ends, strict=True)]
    lost = [c.ari[-1] - c.ari[q] for c, q in zip(courses, used, strict=True)]
    print(
        f"{name}: advised in {len(gains)} of {len(courses)} sessions, after {np.median(at):.0f} answers (median); "
        f"still added: {np.mean(gains):.3f} in the mean, {max(gains):.3f} at most; "
        f"in all sessions {100 * (1 - sum(used) / sum(ends)):.0f} % of the answers saved, {np.mean(lost):.3f} lost"
    )


def main() -> None:
    """Run all sessions and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tasks", nargs="*", default=list(PAPER))
    options.add_argument("--repetitions", type=int, default=2)
    given = options.parse_args()
    runs = [(task, seed) for task in given.tasks for seed in range(given.repetitions)]
    courses = {m: [course(task, m, seed) for task, seed in runs] for m in ("adder", "cobras")}

    pairs = [
        (e, a) for c in courses["adder"] for e, a in zip(c.expected, c.ari, strict=True) if e is not None
    ]
    for low, high in ((0, 0.5), (0.5, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 0.97), (0.97, 1.01)):
        some = np.array([pair for pair in pairs if low <= pair[0] < high])
        if len(some):
            within = np.mean([ari_range(e)[0] <= a <= ari_range(e)[1] for e, a in some])
            print(
                f"expected {low:.2f} to {min(high, 1):.2f}: mean {some[:, 0].mean():.3f}, "
                f"real {some[:, 1].mean():.3f}, in the range {100 * within:.0f} % of {len(some)}"
            )
    for method, found in courses.items():
        stable = [next((q for q, yes in enumerate(c.is_stable) if yes), None) for c in found]
        print_advice(f"{method}, 99 % stable", found, stable)
    for enough in sorted({ENOUGH, 0.85, 0.95}):
        stops = [first_at(c, enough) for c in courses["adder"]]
        print_advice(f"adder, expected ARI {enough}", courses["adder"], stops)
    best = [next(q for q, a in enumerate(c.ari) if c.ari[-1] - a <= LEFT) for c in courses["adder"]]
    print_advice(f"adder, at most {LEFT} left, which only the classes tell", courses["adder"], list(best))

    ratios = []
    for c in courses["adder"]:
        stop = first_at(c, ENOUGH)
        for q in range(stop or len(c.ari)):
            left = n_answers_left(c.expected[: q + 1])
            # Where the session ended before, it is not known.
            if left is not None and (stop is not None or len(c.ari) - q > 2 * left):
                ratios.append((stop - q) / left if stop is not None else np.inf)
    if ratios:
        print(
            f"{len(ratios)} estimates of answers left: {100 * np.mean(np.array(ratios) <= 2):.0f} % took at most "
            f"twice as many, the median {np.median(ratios):.2f} times as many"
        )


if __name__ == "__main__":
    main()
