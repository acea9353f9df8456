"""Where constrained k-means begins: the neighbourhoods that the constraints show, then rows far from all others.

Weighted farthest-first as in the code of MPCKMeans; cannot-linked rows as in PCKMeans
(Basu, Banerjee & Mooney, 2004).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from cobras.baselines.clusterers.mpck_kernels import Array, Links, means, square
from cobras.core.exceptions import InvalidDataError
from cobras.core.types import BoolArray, FloatArray, LabelArray
from cobras.spaces.kernels.compile import kernel


def start(
    X: FloatArray, k: int, links: Links, rng: np.random.Generator, init: str = "neighbourhoods"
) -> tuple[FloatArray, LabelArray]:
    """Centers from neighbourhoods, the largest and then the farthest first; and the labels of their rows, else -1.

    Where there are fewer than `k`, rows follow that are cannot-linked to all before them, then k-means++ draws.
    """
    sizes, degree = np.diff(links.first), np.diff(links.first_apart)
    label = np.full(len(sizes), -1, dtype=np.int32)  # of each component
    centers = np.empty((k, X.shape[1]))
    n_found = 0
    large = np.flatnonzero(sizes > 1)
    if len(large):
        rows = links.members[np.repeat(sizes > 1, sizes)]
        ends = np.cumsum(sizes[large])
        centroids = np.add.reduceat(X[rows], ends - sizes[large]) / sizes[large, np.newaxis]
        picked = _farthest_first(centroids, np.sqrt(sizes[large]), k)
        n_found = len(picked)
        centers[:n_found], label[large[picked]] = centroids[picked], np.arange(n_found)
    if init == "perturb":
        centers[n_found:] = X.mean(axis=0) * (1 + 0.7 * (rng.random((k - n_found, X.shape[1])) - 0.5))
        return centers, label[links.component]

    candidates = (sizes == 1) & (degree > 0)
    for c in np.flatnonzero(label >= 0).tolist():
        candidates &= _apart_from(links, c)
    while n_found < k and candidates.any():
        alone = np.flatnonzero(candidates)
        rows = links.members[links.first[alone]]
        value = degree[alone] if n_found == 0 else cdist(X[rows], centers[:n_found]).min(axis=1)
        best = int(np.argmax(value))
        centers[n_found], label[alone[best]] = X[rows[best]], n_found
        candidates &= _apart_from(links, alone[best])
        n_found += 1
    if n_found < k:
        draw(X, centers, n_found, rng.random((k, 2 + int(np.log(k)))))
    return centers, label[links.component]


def _apart_from(links: Links, c: int) -> BoolArray:
    mask = np.zeros(len(links.first) - 1, dtype=bool)
    mask[links.apart[links.first_apart[c] : links.first_apart[c + 1]]] = True
    return mask


def _farthest_first(points: FloatArray, weights: FloatArray, k: int) -> list[int]:
    """The heaviest, then always the one whose least weighted distance to those before is largest."""
    picked, near = [int(np.argmax(weights))], np.full(len(points), np.inf)
    while len(picked) < min(k, len(points)):
        last = picked[-1]
        step = np.sqrt(np.square(points - points[last]).sum(axis=1)) * weights * weights[last]
        near = np.minimum(near, step)
        near[picked] = -1
        picked.append(int(np.argmax(near)))
    return picked


def warm_start(
    X: FloatArray, k: int, init_labels: Any, rng: np.random.Generator
) -> tuple[FloatArray, LabelArray]:
    """The means of the given clusters; k-means++ draws the center of one without rows."""
    given = np.asarray(init_labels)
    if given.shape != (len(X),) or given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= k:
        raise InvalidDataError(
            f"init_labels must hold {len(X)} whole numbers from 0 to {k - 1}, one for each row."
        )
    labels = given.astype(np.int32)
    centers, counts = np.empty((k, X.shape[1])), np.empty(k, dtype=np.int64)
    means(X, labels, centers, counts)
    full = np.flatnonzero(counts)
    if len(full) < k:
        ordered = np.concatenate((centers[full], centers[counts == 0]))
        draw(X, ordered, len(full), rng.random((k, 2 + int(np.log(k)))))
        centers[counts == 0] = ordered[len(full) :]
    return centers, labels


@kernel()
def draw(X: Array, centers: Array, n_given: int, uniforms: Array) -> None:
    """Greedy k-means++: fill `centers` (k, d) from row `n_given` on, with `uniforms` (k, trials) as the dice."""
    n, (k, n_trials) = X.shape[0], uniforms.shape
    near, trial, best = np.full(n, np.inf), np.empty(n), np.empty(n)
    for h in range(n_given):
        for i in range(n):
            near[i] = min(near[i], square(X, i, centers, h))
    for h in range(n_given, k):
        total = near.sum() if h else 0.0
        least, chosen = np.inf, 0
        for t in range(n_trials if total > 0 else 1):
            row = int(uniforms[h, t] * n)
            if total > 0:
                target = uniforms[h, t] * total
                for i in range(n):
                    if near[i] > 0:
                        row = i
                        target -= near[i]
                        if target < 0:
                            break
            for i in range(n):
                trial[i] = min(near[i], square(X, i, X, row))
            potential = trial.sum()
            if potential < least:
                least, chosen = potential, row
                best, trial = trial, best
        near, best = best, near
        for m in range(X.shape[1]):
            centers[h, m] = X[chosen, m]
