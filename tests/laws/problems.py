"""Small random clustering problems: data, labels, training rows, a method with options and a seed."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import strategies as st

from cobras import Answer, InconsistentAnswersError, Pair, Partition, SeriesSpace, Session, Step
from cobras.spaces.passes import sampling

COBRAS_OPTIONS = {
    "branch": ["random", "smallest", "largest"],
    "first_iteration": ["partial", "unmerged", "single", "eager"],
    "reuse": ["transitive", "exact", "reference"],
    "split_fallback": ["train_only", "none"],
    "representative": ["first", "closest"],
    "max_level": [None, 1, 3],
    "medoid": ["nearest_to_centroid", "train_centroid", "pam"],
}
SMALL_POOL = {
    "k_max": [3],
    "n_eps": [3],
    "max_min_points": [3],
    "max_neighbors": [3],
    "n_sigma": [2],
    "n_restarts": [2],
    "n_jobs": [1],
}
OPTIONS: dict[str, dict[str, list[Any]]] = {
    "cobras": COBRAS_OPTIONS,
    "cobra": {key: COBRAS_OPTIONS[key] for key in ("reuse", "representative", "medoid")},
    "cobs": {"noise": ["singletons", "one_cluster"], "update": ["both", "penalise"], **SMALL_POOL},
    "npu": {"infer_last": [False, True], "warm_start": [False, True], "n_trees": [5]},
    "explore_consolidate": {"infer_last": [False, True]},
    "min_max": {"infer_last": [False, True]},
    "adder": {
        "n_parts": [1, 3, 12],
        "stop_belief": [0.0, 0.05, 0.5],
        "join": [0.33, 1.0],
        "doubt": [0.0, 0.15],
        "predictors": ["near", "near nearest means linear"],
    },
}


# A method of a user's own that catches no `Reconsider`, so that the session starts it again.
OWN = "tests.laws.problems:all_pairs"

# Methods that honour marks, split on request, and need no rows of numbers.
WITH_A_PERSON = ("cobras", "cobra", "adder", OWN)
REMOTE = ("cobras", "cobra")  # work on data of other machines
DOUBTING = ("adder",)  # take answers that contradict each other, and find out which are wrong
BELIEVING = ("adder",)  # say how sure they are of each row


def all_pairs(space, constraints, seed, *, n_parts: int = 5):
    """Compare each two of a few super-instances, also where the answer is implied."""
    parts = space.split(space.root(seed), n_parts)
    group = list(range(len(parts)))

    def partition():
        return Partition.of(
            tuple(p for p, g in zip(parts, group, strict=True) if g == number)
            for number in sorted(set(group))
        )

    for a in range(len(parts)):
        for b in range(a):
            pair = Pair(parts[a].representative, parts[b].representative)
            answer = yield Step(pair, partition())
            constraints.add(*pair, answer)
            if answer is Answer.SAME:
                group = [group[a] if g == group[b] else g for g in group]
    while True:
        yield Step(None, partition())


# "passes" is a table of which only few rows may be held at once; "dtw" and "kshape" suit methods that need no rows.
SPACES = ("table", "passes", "dtw", "kshape")


@contextmanager
def in_passes(at_once=3, block=7):
    """Spaces made in here read more than a few rows in passes, and blocks are short."""
    # These two are not public: nobody chooses them, and without them only large tables are read in passes.
    with mock.patch.object(sampling, "LARGE", at_once), mock.patch.object(sampling, "BLOCK", block):
        yield


@dataclass
class Problem:
    X: np.ndarray
    y: np.ndarray
    train: np.ndarray | None
    method: str
    seed: int
    options: dict[str, Any] = field(default_factory=dict)
    unsure: int = 0  # one answer in so many is unsure; 0 for none
    space: str = "table"
    more: tuple[np.ndarray, np.ndarray] | None = None  # rows that may be appended, and their labels
    moved: dict[int, set[int]] = field(default_factory=dict)  # rows, by the place of the move in the history

    @property
    def labels(self) -> np.ndarray:
        return self.y if self.more is None else np.concatenate([self.y, self.more[1]])

    def rows(self, start: int, stop: int) -> np.ndarray:
        """Rows by number, out of the first ones and those that may be appended."""
        return (self.X if self.more is None else np.concatenate([self.X, self.more[0]]))[start:stop]

    def session(self, path=None, n: int | None = None) -> Session:
        """A session on the first rows, or on the n rows that it has by now."""
        X, given = self.X if n is None else self.rows(0, n), {"random_state": self.seed, **self.options}
        if self.space in ("table", "passes"):
            given["train_indices"] = None if n is not None else self.train
        else:
            X = SeriesSpace(X, self.train, distance=self.space, normalise=False)
        with in_passes() if self.space == "passes" else nullcontext():
            if path is None:
                return Session(X, self.method, **given)
            return Session.open(path, X, self.method, **given)

    def answer(self, i: int, j: int) -> Answer:
        if self.unsure and (7 * min(i, j) + 13 * max(i, j)) % self.unsure == 0:
            return Answer.UNSURE
        return Answer.SAME if self.labels[i] == self.labels[j] else Answer.DIFFERENT

    def answer_all(self, session: Session, n: int | None = None) -> list:
        """Answer up to n questions; return the pairs asked."""
        asked = []
        while (n is None or len(asked) < n) and (pair := session.ask()) is not None:
            try:
                session.tell(self.answer(*pair), pair)
            except InconsistentAnswersError:  # after a wrong revision, where known pairs are asked again
                session.skip(pair)
            asked.append(pair)
            assert len(asked) < 5000, "the method does not come to an end"
        return asked


@st.composite
def problems(
    draw,
    *,
    transitive=False,
    distinct=False,
    unsure=True,
    methods=tuple(OPTIONS),
    spaces=SPACES,
    max_rows=30,
):
    n = draw(st.integers(1, max_rows))
    d = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["grid", "uniform", "blobs"]))
    n_classes = draw(st.integers(1, 5))
    n_more = 12
    y = rng.integers(n_classes, size=n + n_more)
    X = {
        "grid": lambda: rng.integers(0, 3, size=(n + n_more, d)).astype(float),  # many duplicates
        "uniform": lambda: rng.random((n + n_more, d)),
        "blobs": lambda: rng.normal(size=(n + n_more, d)) + 4 * y[:, None],
    }[kind]()
    if distinct:
        X = X + np.arange(n + n_more)[:, None] * 1e-3
    X = X.astype(draw(st.sampled_from([np.float64, np.float32])))
    (X, more), (y, more_y) = np.split(X, [n]), np.split(y, [n])
    train = None
    if draw(st.booleans()):
        train = rng.random(n) < 0.6
        train[rng.integers(n)] = True
    method = draw(st.sampled_from(methods))
    options = {key: draw(st.sampled_from(values)) for key, values in OPTIONS.get(method, {}).items()}
    possible = [s for s in spaces if method in (REMOTE if s == "dask" else WITH_A_PERSON)]
    space = "table" if method == OWN or not possible else draw(st.sampled_from(possible))
    if space in ("dtw", "kshape"):  # rows are series
        options.pop("medoid", None)
        if distinct:  # in shape, too
            X = rng.normal(size=(n, 8))
    if transitive and "reuse" in options:
        options["reuse"] = "transitive"
    if method == "cobra":
        options["n_super_instances"] = draw(st.integers(1, max_rows + 5))
    if method in ("npu", "explore_consolidate", "min_max"):
        options["n_clusters"] = draw(st.integers(1, n))
    return Problem(
        X,
        y,
        train,
        method,
        draw(st.integers(0, 1000)),
        options,
        draw(st.sampled_from([0, 3, 7])) if unsure else 0,
        space,
        (more, more_y) if space in ("table", "passes") else None,
    )
