"""The best of several k-means runs on a sample: where the passes over many rows begin.

Overlapping groups have many local optima, which differ little on a few rows and more on many. So every restart runs
on a quarter of the sample until its centers have almost settled, and the best two go on with all of it, for a few
passes: beyond, they hardly get better.
"""

from __future__ import annotations

import math

import numpy as np

from cobras.core.threads import on_all_cores
from cobras.core.types import FloatArray
from cobras.spaces.kernels.kmeans import MAX_ITER, PASSES, TOLERANCE, Uniforms
from cobras.spaces.kernels.lloyd import grid, lloyd, pack, seed, unframe

FINALISTS = 2
ROUGH = 1e-3  # how far the first runs go: a tenth of the precision of the last


def best_centers(sample: FloatArray, k: int, rng: Uniforms, n_init: int) -> FloatArray:
    """The centers of at most k groups; fewer where the sample, in random order, holds fewer different rows."""
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
    centers: FloatArray = unframe(starts[0, :n_found].copy(), inertia, frame, sample)[0]
    return centers.astype(np.float64)
