"""The peer: the public package cobras-ts 0.1.3, run unchanged but for what a 2018 package needs today.

Three things are set for a run and restored afterwards: `numpy.int`, which it reads in every split; a k-means with
an explicit number of restarts (it calls `KMeans(k)`: ten when it was published, one today); and NumPy's global
seed, from which it draws. Its own queriers import tornado, so the oracle is ours.

The same `n_init` is not the same work: by default our k-means stops most restarts after a few iterations, and
compares them on a sample of large sets. `REFERENCE` makes it run all of them to the end, as scikit-learn does.
"""

import time
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from cobras_ts import cobras_kmeans
from sklearn.cluster import KMeans

from benchmarks import FloatArray, IntArray

# What cobras-ts does, in our words.
REFERENCE: dict[str, Any] = {
    "branch": "smallest",
    "first_iteration": "unmerged",
    "reuse": "reference",
    "split_fallback": "none",
    "full_restarts": True,
}


@dataclass(frozen=True, slots=True)
class PeerRun:
    """One run: index q of `labels_per_query` is what the peer reports after q answers; CPU seconds."""

    labels_per_query: list[IntArray]
    pairs: list[tuple[int, int]]
    seconds: float
    seconds_kmeans: float


class _Oracle:
    """What cobras-ts expects of a querier."""

    def __init__(self, y: IntArray) -> None:
        self.y = y
        self.pairs: list[tuple[int, int]] = []

    def query_points(self, i: int, j: int) -> bool:
        self.pairs.append((i, j))
        return bool(self.y[i] == self.y[j])

    def continue_cluster_process(self) -> bool:
        return True

    def update_clustering(self, clustering: object) -> None:
        pass


class _TimedKMeans:
    """The two members of KMeans that cobras-ts uses."""

    def __init__(self, k: int, *, n_init: int, random_state: int | None, clock: list[float]) -> None:
        self.model, self.clock = KMeans(k, n_init=n_init, random_state=random_state), clock

    def fit(self, X: FloatArray) -> None:
        start = time.process_time()
        self.labels_ = self.model.fit(X).labels_
        self.clock.append(time.process_time() - start)


def run_cobras_ts(
    X: FloatArray, y: IntArray, n_queries: int, *, n_init: int, seed: int, kmeans_seed: int | None = None
) -> PeerRun:
    """Run cobras-ts's k-means variant with all instances training and `y` answering.

    With `kmeans_seed` every split uses this one seed, so that another program can make the same splits.

    The clustering it reports at its very last query depends on the budget: a must-link that completes a merge
    there is not counted as complete. For the report that a longer run gives at q, ask for q + 1 queries.
    """
    clock: list[float] = []
    oracle = _Oracle(y)
    timed = partial(_TimedKMeans, n_init=n_init, random_state=kmeans_seed, clock=clock)
    state = np.random.get_state()
    with (
        patch.object(np, "int", int, create=True),
        patch.object(cobras_kmeans, "KMeans", timed),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        np.random.seed(seed)
        try:
            start = time.process_time()
            model = cobras_kmeans.COBRAS_kmeans(X, oracle, n_queries)
            reports = model.cluster()[1]
            seconds = time.process_time() - start
        finally:
            np.random.set_state(state)
    labels = [np.zeros(len(X), dtype=np.int64), *(np.asarray(report, dtype=np.int64) for report in reports)]
    return PeerRun(labels, oracle.pairs, seconds, sum(clock))
