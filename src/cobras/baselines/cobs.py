"""COBS, the active variant: constraint-based selection (Van Craenendonck and Blockeel, Machine Learning 2017).

Many clusterings are made without supervision (see `pool`), and the one that satisfies most constraints is selected,
so the result is never better than the best of the pool. The number of satisfied constraints stands for the Rand
index, the share of all pairs on which a clustering and the target agree. It does so for random pairs only: among
the pairs about which the pool disagrees most, the count favours whoever happens to be right about those. So the
question is drawn at random, disputed pairs more often, and an answer counts by the inverse of its pair's chance.

The chance of a pair is in proportion to the root of p (1 - p), where p is the share of the pool, weighted by the
answers so far, that puts it together. These chances give the least variance for the difference between two
clusterings drawn from the weighted pool, which disagree about the pair with probability 2p (1 - p).

What the answers imply is known and counts as it is; the estimate stands for the other pairs only. So when all pairs
are known, the result has the highest Rand index of the pool.

Not in the sources that could be consulted: grids, weights of clusterings, their update, the chances, the size of
the sample, and ties. Ties of the score are broken by an order drawn from the seed, since the order in which the
pool was made would favour k-means with two clusters; clusterings that leave most rows alone come last. Everything
is a function of the constraints, in their order, and the seed. Marks do not change anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from itertools import islice
from typing import Literal

import numpy as np

from cobras.baselines.clusterers import state_random
from cobras.baselines.known_pairs import entailed_pairs, unknown_pairs
from cobras.baselines.pool import Grid, Pool, build_pool
from cobras.core.constraints import Constraints
from cobras.core.exceptions import InvalidDataError
from cobras.core.partition import Partition
from cobras.core.types import Answer, BoolArray, FloatArray, IndexArray
from cobras.methods.protocol import Reconsider, Step, Steps, ask
from cobras.spaces.base import Space, VectorSpace

Update = Literal["both", "penalise"]

EVEN = 0.1  # this share of the chances is the same for all pairs, so that no answer counts more than 10 times


def cobs(
    space: Space,
    constraints: Constraints,
    seed: int,
    *,
    k_max: int = 10,
    n_eps: int = 20,
    max_min_points: int = 20,
    max_neighbors: int = 20,
    n_sigma: int = 20,
    min_sigma: float = 0.01,
    max_sigma: float = 5.0,
    n_restarts: int = 10,
    noise: Literal["singletons", "one_cluster"] = "singletons",
    deduplicate: bool = True,
    max_rows: int = 10_000,
    update_factor: float = 1.05,
    sample_size: int = 200,
    update: Update = "both",
    n_jobs: int | None = None,
    cache_dir: str | None = None,
) -> Steps:
    """Make a pool of clusterings, ask where they disagree, and report the one that agrees best with the answers.

    Parameters
    ----------
    k_max : int
        K-means and spectral clustering make 2 to k_max clusters; raise it if more are plausible. 1 leaves both out.
    n_eps, max_min_points : int
        DBSCAN runs with so many eps, evenly spaced from the smallest to the largest distance of two rows, and with
        2 to max_min_points points that make a row core; 1 leaves it out.
    max_neighbors : int
        Spectral clustering runs on the graphs of 2 to max_neighbors nearest neighbours; 1 leaves them out.
    n_sigma, min_sigma, max_sigma : int, float, float
        It also runs on the graphs exp(-d² / 2 sigma²), where d is the distance of rows with columns scaled to
        [0, 1], for so many evenly spaced sigma.
    n_restarts : int
        Restarts of every k-means.
    noise : {"singletons", "one_cluster"}
        What becomes of the noise of DBSCAN: a cluster for each row, or one for all. A run that calls more than half
        of the rows noise is dropped.
    deduplicate : bool
        Keep equal clusterings once. The one with a single cluster is never kept twice.
    max_rows : int
        With more rows, the pool is made on a sample of so many.
    update_factor : float
        An answer multiplies the weight of clusterings that agree with it by this factor and divides the others; one
        that counts twice does so twice.
    sample_size : int
        From how many unknown pairs a question is drawn; all of them when fewer are left.
    update : {"both", "penalise"}
        Multiply and divide, or divide only: "both" is "penalise" with the square of the factor.
    n_jobs : int, optional
        Threads that make the pool, which does not depend on them; as many as there are cores by default.
    cache_dir : str, optional
        A folder that keeps pools for the next session on the same data, with the same seed and the same grid.
    """
    # All arguments by name; those of the grid are picked from them below.
    given = locals()
    if not isinstance(space, VectorSpace):
        raise InvalidDataError("COBS clusters rows of numbers, which this space does not have. Use a table.")
    if not update_factor > 1:
        raise InvalidDataError(f"update_factor must be greater than 1, not {update_factor!r}.")
    if not 0 < min_sigma <= max_sigma < np.inf:
        raise InvalidDataError(
            f"min_sigma and max_sigma must be positive and in order, not {min_sigma!r} and {max_sigma!r}."
        )
    grid = Grid(**{field.name: given[field.name] for field in fields(Grid)})
    key = ("cobs", seed, grid)
    if key not in space.memo:
        space.memo[key] = build_pool(space.X, seed, grid, n_jobs=n_jobs, cache_dir=cache_dir)
    pool: Pool = space.memo[key]
    # To multiply one weight and divide the other changes their ratio by the square.
    factor = update_factor ** (2 if update == "both" else 1)
    return select(space, constraints, seed, pool.labels, factor, sample_size)


def select(
    space: VectorSpace,
    constraints: Constraints,
    seed: int,
    labels: IndexArray,
    factor: float,
    sample_size: int,
) -> Steps:
    """Ask about the clusterings in the rows of `labels`, and report the one with the highest estimated Rand index.

    `factor` is the ratio of the weights of two clusterings, one of which satisfies one answer more.
    """
    shown = np.arange(space.n) if space.train is None else np.flatnonzero(space.train)
    tally = Tally(labels, len(shown) * (len(shown) - 1) // 2)
    # The pool draws from states that begin with 0 and 1.
    order = state_random(seed, (2, 0)).permutation(len(labels))
    order = order[np.argsort(mostly_alone(labels)[order], kind="stable")]
    counts: dict[tuple[int, int], float] = {}  # how much the answers to drawn questions count; others count 1
    while True:
        tally.read(constraints, counts)
        partition = _partition(space, labels[order[tally.agreements()[order].argmax()]])
        rng = state_random(seed, (2, 1, len(constraints), len(constraints.set_aside)))
        pairs = unknown_pairs(constraints, shown, space.n, sample_size, rng)
        try:
            if len(pairs) == 0:
                yield Step(None, partition)
            else:
                chances = question_chances(
                    tally.by_row, pairs, clustering_weights(tally.n_satisfied(), factor)
                )
                drawn = rng.choice(len(pairs), p=chances)
                i, j = pairs[drawn].tolist()
                yield from ask(constraints, [(i, j)], partition, constraints.relation)
                counts[i, j] = 1 / (len(pairs) * chances[drawn])
        except Reconsider:
            continue


class Tally:
    """How well the clusterings of a pool agree with the constraints; it reads each constraint once.

    Attributes
    ----------
    by_row : ndarray of shape (n, M)
        The label of every row in each clustering.
    n_pairs : int
        How many pairs can be asked about, known or not.
    """

    def __init__(self, labels: IndexArray, n_pairs: int) -> None:
        self.by_row: IndexArray = np.ascontiguousarray(labels.T)
        self.n_pairs = n_pairs
        self._known: IndexArray = np.zeros(0, np.int64)  # the numbers of the pairs that the constraints imply
        self._agree_known: FloatArray = np.zeros(len(labels))  # on how many of these each clustering is right
        self._agree: FloatArray = np.zeros(len(labels))  # the sum over answers of how much each counts
        self._total, self._n_read = 0.0, 0

    def read(self, constraints: Constraints, counts: Mapping[tuple[int, int], float]) -> None:
        """Read what is new in the constraints, which only grow; an answer counts 1 unless `counts` has its pair."""
        new = list(islice(constraints, self._n_read, None))
        if not new:
            return
        self._n_read += len(new)
        for pair, answer in new:
            count = counts.get(pair, 1.0)
            self._agree += count * self._right(np.array([pair]), np.array([answer is Answer.SAME]))
            self._total += count
        pairs, same = entailed_pairs(constraints)
        known = pairs[:, 0] * len(self.by_row) + pairs[:, 1]
        unseen = ~np.isin(known, self._known, assume_unique=True)
        self._agree_known += self._right(pairs[unseen], same[unseen])
        self._known = known

    def agreements(self) -> FloatArray:
        """For every clustering, an estimate of the number of all pairs on which it agrees with the target."""
        n_unknown = max(self.n_pairs - len(self._known), 0)
        found: FloatArray = self._agree_known + n_unknown * (self._agree / max(self._n_read, 1))
        return found

    def n_satisfied(self) -> FloatArray:
        """For every clustering, how many answers it satisfies, if their counts are scaled to 1 on average."""
        found: FloatArray = self._agree * (self._n_read / max(self._total, 1e-9))
        return found

    def _right(self, pairs: IndexArray, same: BoolArray) -> IndexArray:
        total = np.zeros(self.by_row.shape[1], np.int64)
        # In blocks, so that memory does not grow with the number of pairs.
        for start in range(0, len(pairs), 4096):
            i, j = pairs[start : start + 4096].T
            total += ((self.by_row[i] == self.by_row[j]) == same[start : start + 4096, None]).sum(axis=0)
        return total


def mostly_alone(labels: IndexArray) -> BoolArray:
    """Which of the clusterings leave more than half of the rows in clusters of their own."""
    return np.array([2 * np.count_nonzero(np.bincount(c) == 1) > len(c) for c in labels])


def clustering_weights(n_satisfied: FloatArray, factor: float) -> FloatArray:
    """The weight of every clustering: a function of the number of answers it satisfies, 1 for the best."""
    behind = n_satisfied.max() - n_satisfied
    weights: FloatArray = np.maximum(np.exp(-np.log(factor) * behind), np.finfo(np.float64).tiny)
    return weights


def question_chances(by_row: IndexArray, pairs: IndexArray, weights: FloatArray) -> FloatArray:
    """For every pair, the chance that it is asked; the more, the closer the weighted vote of the clusterings."""
    together = by_row[pairs[:, 0]] == by_row[pairs[:, 1]]
    # Both sums, so that the product is exactly 0 where all agree.
    doubt = np.sqrt(np.where(together, weights, 0).sum(axis=1) * np.where(together, 0, weights).sum(axis=1))
    if not doubt.any():
        return np.full(len(pairs), 1 / len(pairs))
    chances: FloatArray = EVEN / len(pairs) + (1 - EVEN) * doubt / doubt.sum()
    return chances


def _partition(space: VectorSpace, labels: IndexArray) -> Partition:
    """The clustering with these labels, made once: a replay needs the same ones again."""
    key = ("cobs partition", labels.tobytes())
    if key not in space.memo:
        space.memo[key] = space.partition(labels)
    found: Partition = space.memo[key]
    return found
