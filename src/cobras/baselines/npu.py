"""NPU: normalised point-based uncertainty (Xiong, Azimi & Fern, TKDE 2014).

Each round picks the instance whose neighbourhood is most uncertain for the number of questions it will cost: a
random forest that tells the current clusters apart says how similar it is to each neighbourhood. Works with any
clusterer that takes must-links and cannot-links.

The paper could not be consulted. As in the public ports, the forest has 50 trees and the first instance is random;
unlike in one of them, the expected number of questions counts the neighbourhoods in the order in which they
are asked, placed instances are never picked again, and answers of an unfinished round are not lost.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cobras.baselines.clusterers import Clusterer, Clustering, state_random
from cobras.baselines.explore import Neighbourhoods, rounds
from cobras.baselines.leaves import SortedColumns, leaves, similarity
from cobras.core.constraints import Constraints
from cobras.core.types import FloatArray, IndexArray
from cobras.methods.protocol import Steps
from cobras.spaces.base import Space, digest


def npu(
    space: Space,
    constraints: Constraints,
    seed: int,
    *,
    clusterer: Clusterer = "mpckmeans",
    n_clusters: int | None = None,
    n_trees: int = 50,
    infer_last: bool = False,
    warm_start: bool = False,
) -> Steps:
    """Place the most informative instance in a neighbourhood, cluster anew, and begin again.

    Parameters
    ----------
    clusterer : "mpckmeans", "cosc" or an object with ``fit(X, must_link=, cannot_link=)``
        What clusters under the constraints. An object is cloned, once for all rounds; a `random_state` of None is
        set from the seed in each.
    n_clusters : int, optional
        The number of clusters; needed where the clusterer is given by its name.
    n_trees : int
        Trees of the forest.
    infer_last : bool
        Where there are `n_clusters` neighbourhoods, an instance that is in none but the last is in the last,
        and that is not asked.
    warm_start : bool
        Let a clusterer whose `fit` takes `init_labels` start from the clustering before. Meant for `COSC`, where it
        is one of several starts; `MPCKMeans` would no longer start from the neighbourhoods.
    """

    def choose(
        neighbourhoods: Neighbourhoods, rows: IndexArray, clustering: Clustering
    ) -> tuple[int, Iterable[int]]:
        groups = neighbourhoods.groups
        state = digest(clustering.state, rows, *(np.array(group) for group in groups))
        rng = state_random(seed, state)
        if len(groups) == 1:
            return int(rng.choice(rows)), [0]
        memo, key = clustering.space.memo, (*clustering.key, "npu", n_trees, state)
        if key not in memo:
            labels = clustering.partition.labels
            if "columns" not in memo:
                memo["columns"] = SortedColumns.of(clustering.space.X)
            found = leaves(memo["columns"], labels, n_trees, int(rng.integers(2**32)))
            p = membership(similarity(found, rows, groups))
            entropy, n_questions = uncertainty(p)
            score = entropy / n_questions
            at = int(rng.choice(np.flatnonzero(score > score.max() - 1e-9)))
            memo[key] = int(rows[at]), np.argsort(-p[at], kind="stable").tolist()
        chosen: tuple[int, list[int]] = memo[key]
        return chosen

    return rounds(
        space, constraints, seed, choose, clusterer, n_clusters, infer_last=infer_last, warm=warm_start
    )


def membership(similarities: FloatArray) -> FloatArray:
    """How likely each row belongs to each neighbourhood; uniform for a row that is similar to none.

    Examples
    --------
    >>> membership(np.array([[0.3, 0.1], [0.0, 0.0]])).round(2).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    total = similarities.sum(axis=1, keepdims=True)
    p: FloatArray = np.where(total > 0, similarities, 1) / np.where(total > 0, total, similarities.shape[1])
    return p


def uncertainty(p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The entropy of each row in bits, and how many questions it will cost: the likeliest is asked first.

    Examples
    --------
    >>> entropy, n_questions = uncertainty(np.array([[0.5, 0.5], [0.1, 0.9]]))
    >>> (entropy / n_questions).round(3).tolist()
    [0.667, 0.426]
    """
    entropy: FloatArray = -(p * np.log2(np.where(p > 0, p, 1))).sum(axis=1)
    n_questions: FloatArray = -np.sort(-p, axis=1) @ np.arange(1, p.shape[1] + 1)
    return entropy, n_questions
