"""COBS, the active variant: constraint-based selection (Van Craenendonck and Blockeel, Machine Learning 2017).

Many clusterings are made without supervision (see `pool`); the answers select the one that satisfies
most of them, so the result is never better than the best of the pool. The question is the pair about which the
pool, weighted by the answers so far, disagrees most, among a sample of the pairs that are still unknown.

The paper and its code could not be consulted: sizes of grids, update of weights and size of the sample are
parameters. Ties of the score are broken by an order of the pool drawn from the seed, since the order in which it
was made would favour k-means with two clusters. Everything is a function of the constraints and the seed: scores
and weights depend on the answers, random numbers on how many answers there are. Marks do not change anything.
"""

from __future__ import annotations

from dataclasses import fields
from itertools import islice
from typing import Literal

import numpy as np

from cobras.baselines.clusterers import state_random
from cobras.baselines.pool import Grid, Pool, build_pool
from cobras.core.constraints import Constraints
from cobras.core.exceptions import InvalidDataError
from cobras.core.partition import Partition
from cobras.core.types import Answer, BoolArray, FloatArray, IndexArray
from cobras.methods.protocol import Reconsider, Step, Steps, ask
from cobras.spaces.base import Space, VectorSpace

Update = Literal["both", "penalise"]

FEW_ROWS = 200  # up to so many training rows, unknown pairs are drawn from a list of all pairs of components
N_ROUNDS = 10  # above, so many times the sample are drawn first from all pairs, known ones included


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
    count_entailed: bool = False,
    n_jobs: int | None = None,
    cache_dir: str | None = None,
) -> Steps:
    """Make a pool of clusterings, then ask where they disagree and report the one that satisfies most answers.

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
        What becomes of the noise of DBSCAN: a cluster for each row, or one for all.
    deduplicate : bool
        Keep equal clusterings once. The one with a single cluster is never kept twice.
    max_rows : int
        With more rows, the pool is made on a sample of so many.
    update_factor : float
        An answer multiplies the weight of clusterings that agree with it by this factor and divides the others.
    sample_size : int
        How many unknown pairs compete for a question; all of them when fewer are left.
    update : {"both", "penalise"}
        Multiply and divide, or divide only: "both" is "penalise" with the square of the factor.
    count_entailed : bool
        Whether pairs that the answers imply count for the score, besides those answered.
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
    return select(space, constraints, seed, pool.labels, factor, sample_size, count_entailed)


def select(
    space: VectorSpace,
    constraints: Constraints,
    seed: int,
    labels: IndexArray,
    factor: float,
    sample_size: int,
    count_entailed: bool = False,
) -> Steps:
    """Ask about the clusterings in the rows of `labels`, and report the one that satisfies most answers.

    `factor` is the ratio of the weights of two clusterings, one of which satisfies one answer more.
    """
    shown = np.arange(space.n) if space.train is None else np.flatnonzero(space.train)
    by_row = np.ascontiguousarray(labels.T)
    # The pool draws from states that begin with 0 and 1.
    order = state_random(seed, (2, 0)).permutation(len(labels))
    satisfied: IndexArray = np.zeros(len(labels), np.int64)
    n_read = 0
    while True:
        # Answers are never taken out of the store, so the scores only add what is new.
        new = list(islice(constraints, n_read, None))
        n_read += len(new)
        satisfied += n_satisfied(
            by_row, np.array([p for p, _ in new]), np.array([a is Answer.SAME for _, a in new])
        )
        score = n_satisfied(by_row, *entailed_pairs(constraints)) if count_entailed else satisfied
        partition = _partition(space, labels[order[score[order].argmax()]])
        rng = state_random(seed, (2, 1, len(constraints), len(constraints.set_aside)))
        pairs = unknown_pairs(constraints, shown, space.n, sample_size, rng)
        try:
            if len(pairs) == 0:
                yield Step(None, partition)
            else:
                most_disputed = vote_margins(by_row, pairs, clustering_weights(satisfied, factor)).argmin()
                i, j = pairs[most_disputed].tolist()
                yield from ask(constraints, [(i, j)], partition, constraints.relation)
        except Reconsider:
            continue


def n_satisfied(by_row: IndexArray, pairs: IndexArray, same: BoolArray) -> IndexArray:
    """For every clustering, a column of `by_row`, the number of constraints that it satisfies."""
    total = np.zeros(by_row.shape[1], np.int64)
    # In blocks, so that memory does not grow with the number of pairs.
    for start in range(0, len(pairs), 4096):
        i, j = pairs[start : start + 4096].T
        total += ((by_row[i] == by_row[j]) == same[start : start + 4096, None]).sum(axis=0)
    return total


def clustering_weights(satisfied: IndexArray, factor: float) -> FloatArray:
    """The weight of every clustering: a function of the number of answers it satisfies, 1 for the best."""
    behind = (satisfied.max() - satisfied).astype(np.float64)
    weights: FloatArray = np.maximum(np.exp(-np.log(factor) * behind), np.finfo(np.float64).tiny)
    return weights


def vote_margins(by_row: IndexArray, pairs: IndexArray, weights: FloatArray) -> FloatArray:
    """For every pair, the margin of the weighted vote of the clusterings; 0 where they are split."""
    together = by_row[pairs[:, 0]] == by_row[pairs[:, 1]]
    votes: FloatArray = np.abs(np.where(together, weights, -weights).sum(axis=1))
    return votes


def entailed_pairs(constraints: Constraints) -> tuple[IndexArray, BoolArray]:
    """All pairs whose relation the answers imply, and whether they belong together."""
    rows = np.array(sorted({row for pair, _ in constraints for row in pair}), np.int64)
    roots, home = np.unique([constraints.component(row) for row in rows.tolist()], return_inverse=True)
    apart = _apart(constraints, roots)[np.ix_(home, home)]
    together = home[:, None] == home
    i, j = np.nonzero(np.triu(apart | together, 1))
    return np.column_stack([rows[i], rows[j]]), together[i, j]


def unknown_pairs(
    constraints: Constraints, shown: IndexArray, n: int, size: int, rng: np.random.Generator
) -> IndexArray:
    """Distinct random pairs of shown rows, neither known nor set aside; fewer than `size` only if these are all."""
    home = np.arange(n)
    for row in {row for pair, _ in constraints for row in pair}:
        home[row] = constraints.component(row)
    aside = [i * n + j for i, j in constraints.set_aside]
    if len(shown) > FEW_ROWS:
        roots = {constraints.component(row) for pair, _ in constraints for row in pair}
        apart = [a * n + b for a in roots for b in constraints.apart_from(a)]
        pairs: IndexArray = np.sort(shown[rng.integers(len(shown), size=(N_ROUNDS * size, 2))], axis=1)
        i, j = pairs.T
        known = (home[i] == home[j]) | np.isin(home[i] * n + home[j], apart) | np.isin(i * n + j, aside)
        pairs = pairs[~known]
        first = np.unique(pairs @ [n, 1], return_index=True)[1]
        if len(first) >= size:
            return pairs[np.sort(first)[:size]]
    pairs = _draw_from_all(constraints, shown, home[shown], size + len(aside), rng)
    return pairs[~np.isin(pairs @ [n, 1], aside)][:size]


def _draw_from_all(
    constraints: Constraints, shown: IndexArray, home: IndexArray, size: int, rng: np.random.Generator
) -> IndexArray:
    """Random pairs of rows in unrelated components, all of them equally likely."""
    # Pairs are numbered by pair of components, then by rows, and never listed: O(c²) for c components.
    roots, place, sizes = np.unique(home, return_inverse=True, return_counts=True)
    a, b = np.nonzero(np.triu(~_apart(constraints, roots), 1))
    ends = np.cumsum(sizes[a] * sizes[b])
    total = int(ends[-1]) if len(ends) else 0
    numbers = rng.choice(total, min(total, size), replace=False)
    at = np.searchsorted(ends, numbers, side="right")
    a, b, numbers = a[at], b[at], ends[at] - 1 - numbers
    members, starts = shown[np.argsort(place, kind="stable")], np.cumsum(sizes) - sizes
    i, j = members[starts[a] + numbers // sizes[b]], members[starts[b] + numbers % sizes[b]]
    return np.column_stack([np.minimum(i, j), np.maximum(i, j)])


def _apart(constraints: Constraints, roots: IndexArray) -> BoolArray:
    """Which of these components, given by their roots, a cannot-link holds apart; a boolean matrix."""
    place = {root: at for at, root in enumerate(roots.tolist())}
    apart = np.zeros((len(roots), len(roots)), bool)
    for root, at in place.items():
        for other in constraints.apart_from(root):
            if other in place:
                apart[at, place[other]] = True
    return apart


def _partition(space: VectorSpace, labels: IndexArray) -> Partition:
    """The clustering with these labels, made once: a replay needs the same ones again."""
    key = ("cobs partition", labels.tobytes())
    if key not in space.memo:
        space.memo[key] = space.partition(labels)
    found: Partition = space.memo[key]
    return found
