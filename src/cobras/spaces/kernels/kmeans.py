"""K-means for the subsets that COBRAS splits again and again.

Lloyd's algorithm from greedy k-means++ seeds, with the settings of the papers' code (scikit-learn's: ten restarts,
a tolerance relative to the variance). It departs from scikit-learn in ways that save time and not quality:

- every restart runs a few iterations, and only the most promising go on until they converge;
- larger sets judge the restarts on a weighted sample (a lightweight coreset), then run once on all rows.

`best_centers` is what remains of it where rows are read in passes: the best of several runs on a sample.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np

from cobras.core.threads import on_all_cores
from cobras.core.types import FloatArray, LabelArray
from cobras.spaces.kernels.compile import Array, kernel
from cobras.spaces.kernels.lloyd import draw_sample, grid, lloyd, pack, seed, unpack_centers

# By hand: scikit-learn takes 33 to 70 times as long for noise of 50 to 10,000 x 20 and k = 2 on one thread.
# Every restart runs PROBES iterations, on a sample if there are rows enough, and the best FINALISTS go on. The
# inertia is on average 1.003 times that of scikit-learn's ten full restarts, over 400 problems as in the tests
# (blobs, noise, heavy tails, anisotropic, repeated rows, real sets; n 10..3000, d 1..64, k 2..32).
PROBES, FINALISTS = 2, 2
# With 256 rows the inertia is as good, but on digits the ARI of COBRAS at 50 queries falls from .64 to .58.
SAMPLE = 1024  # rows at least
# After the sample, further passes over all rows gain .2 % at 100,000 x 20 and k = 32, and take ten times as long.
PASSES = 20
MAX_ITER, TOLERANCE = 300, 1e-4  # scikit-learn's
ROUGH = 1e-3  # the tolerance of the first runs of `best_centers`: ten times that of the last


class RandomSource(Protocol):
    """A source of numbers from 0 to 1."""

    def random(self, size: tuple[int, ...], /) -> FloatArray:
        """New numbers, exclusive of 1."""


class KMeansResult(NamedTuple):
    """What `kmeans` found: a label per row, a center per label, and the sum of squared distances to them."""

    labels: LabelArray
    centers: FloatArray
    inertia: float


def kmeans(
    X: FloatArray,
    k: int,
    rng: RandomSource,
    *,
    n_init: int = 10,
    max_iter: int = MAX_ITER,
    tol: float = TOLERANCE,
    full_restarts: bool = False,
) -> KMeansResult:
    """
    Cluster the rows of `X` into `k` groups, or fewer if `X` has fewer distinct rows.

    Rows are told apart at the precision of `X` relative to its range: rows that differ by less than rounding after
    centring count as equal, unless there are at most `k` rows. Two distinct rows anywhere always give two groups.

    `n_init` seedings compete; with `full_restarts` all run to their end on all rows, as in scikit-learn.

    Parameters
    ----------
    X : ndarray of shape (n, d), float32 or float64
        The rows, finite; not modified. Computed in its own precision, sums in double precision.
    rng : numpy.random.Generator, or anything with `random(size)`
        All randomness: the same state gives the same result.
    tol : float, default=1e-4
        Stop when the squared shift of the centers is at most `tol` times the mean variance of the columns.

    Returns
    -------
    KMeansResult
        Up to rounding, ``labels[i]`` is the center nearest to row i, the first one among equals, and `inertia`
        is the sum of these squared distances (it under- or overflows where squares of `X` do). Equal rows
        share a label and every label occurs. With ``tol=0`` the centers are the means of their groups (unless
        `max_iter` ended the run); if `tol` did, they are those of the iteration before it, as in scikit-learn.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> labels, centers, inertia = kmeans(X, 2, np.random.default_rng(0))
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3]), sorted(centers.ravel().tolist()), inertia
    (True, [0.5, 10.5], 1.0)
    """
    n = len(X)
    X = np.ascontiguousarray(X, np.float32 if X.dtype == np.float32 else np.float64)
    if n < 1 or k < 1 or n_init < 1:
        raise ValueError(
            f"kmeans needs a row, a group and a restart, not {n} rows, k={k} and n_init={n_init}."
        )
    blocks, weights, frame, variance = pack(X, *grid(n))
    if not math.isfinite(variance):
        raise ValueError("X holds NaN or infinite values. Fill or drop them first.")
    if n <= k:
        distinct, inverse = np.unique(X, axis=0, return_inverse=True)
        return KMeansResult(inverse.ravel().astype(np.int32), distinct, 0.0)
    tol *= variance
    rows, mass = blocks, weights
    size = max(SAMPLE, 64 * k, min(n // 8, 2048))
    if n > 1.5 * size and not full_restarts:
        rows, mass = draw_sample(blocks, weights, rng.random(grid(size)))
    uniforms = rng.random((n_init, k, 2 + int(math.log(k))))
    starts, n_found = seed(rows, mass, uniforms)
    if n_found < k and rows is not blocks:  # the sample may lack rare rows
        rows, mass = blocks, weights
        starts, n_found = seed(rows, mass, uniforms)
    if n_found < k:  # one center per distinct row: nothing to improve
        starts, max_iter = starts[:1, :n_found].copy(), 0
    elif n_init > FINALISTS and not full_restarts:
        _, inertias, _ = lloyd(rows, mass, starts, min(PROBES, max_iter), tol)
        starts = starts[inertias.argsort()[:FINALISTS]]
    labels, inertias, any_empty = lloyd(rows, mass, starts, max_iter, tol)
    best = int(inertias.argmin())
    if rows is not blocks:
        starts, best = starts[best : best + 1], 0
        labels, inertias, any_empty = lloyd(blocks, weights, starts, min(max_iter, PASSES), tol)
    centers, inertia = unpack_centers(starts[best], inertias[best], frame, X)
    labels = labels.reshape(-1)[:n]
    if any_empty:  # rare: too many repairs were needed
        used, labels = np.unique(labels, return_inverse=True)
        centers, labels = centers[used], labels.astype(np.int32)
    return KMeansResult(labels, centers, inertia)


def best_centers(sample: FloatArray, k: int, rng: RandomSource, n_init: int) -> FloatArray:
    """
    Return the centers of at most k groups; fewer where the sample, in random order, holds fewer different rows.

    Overlapping groups have many local optima, which differ little on a few rows and more on many. So every restart
    runs on a quarter of the sample until its centers have almost settled, and the best two go on with all of it.
    """
    rows, mass, frame, variance = pack(sample, *grid(len(sample)))
    few = max(1, len(rows) // 4)
    uniforms = rng.random((n_init, k, 2 + int(math.log(k))))
    starts, n_found = seed(rows[:few], mass[:few], uniforms)
    if n_found < k:
        starts, n_found = seed(rows, mass, uniforms)
    inertia = np.inf
    if n_found == k:

        def run(start: FloatArray, n_blocks: int, passes: int, tol: float) -> float:
            return float(lloyd(rows[:n_blocks], mass[:n_blocks], start[None], passes, tol * variance)[1][0])

        first = np.array(on_all_cores(lambda start: run(start, few, MAX_ITER, ROUGH), starts))
        starts = starts[first.argsort(kind="stable")[:FINALISTS]]
        final = np.array(on_all_cores(lambda start: run(start, len(rows), PASSES, TOLERANCE), starts))
        starts, inertia = starts[final.argmin() :], float(final.min())
    centers: FloatArray = unpack_centers(starts[0, :n_found].copy(), inertia, frame, sample)[0]
    return centers.astype(np.float64)


@kernel()
def describe_groups(
    rows: Array, labels: Array, k: int, shown: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """
    Gather the rows of each label in order, and find the mean of each group and the row nearest to it.

    Return the positions of the rows ordered by label, where each group begins, the means (k, d), the nearest row of
    each group that may be shown (the nearest row where none may) and how many may be shown; all may where `shown`
    is empty. Two passes over the rows.
    """
    n, d = rows.shape
    all_shown = shown.shape[0] == 0
    starts = np.zeros(k + 1, np.int64)
    means = np.zeros((k, d))
    n_train = np.zeros(k, np.int64)
    for m in range(n):
        g = labels[m]
        starts[g + 1] += 1
        n_train[g] += all_shown or shown[m]
        for j in range(d):
            means[g, j] += rows[m, j]
    for g in range(k):
        for j in range(d):
            means[g, j] /= starts[g + 1]
        starts[g + 1] += starts[g]
    ordered, at = np.empty(n, np.int32), starts[:-1].copy()
    nearest, least = np.empty(k, np.int64), np.full(k, np.inf)
    for m in range(n):
        g = labels[m]
        ordered[at[g]] = m
        at[g] += 1
        if n_train[g] == 0 or all_shown or shown[m]:
            square = 0.0
            for j in range(d):
                away = rows[m, j] - means[g, j]
                square += away * away
            if square < least[g]:
                least[g], nearest[g] = square, m
    return ordered, starts, means, nearest, n_train
