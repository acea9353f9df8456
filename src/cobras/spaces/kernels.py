"""K-means for the subsets that COBRAS splits again and again, compiled with numba.

Lloyd's algorithm from greedy k-means++ seeds, with the settings of the papers' code (scikit-learn's: ten restarts,
a tolerance relative to the variance). It departs from scikit-learn in ways that save time and not quality:

- every restart runs a few iterations, and only the most promising go on until they converge;
- large sets judge the restarts on a weighted sample, then run once on all rows;
- rows lie in transposed blocks, so that the inner loops run over rows side by side and all distances are sums of
  squared differences: equal rows are at distance 0, exactly.

Everything is serial and a pure function of its arguments, the random numbers included.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cobras.spaces.compile import kernel
from cobras.types import FloatArray, LabelArray

Array: TypeAlias = Any  # numba infers element types; shapes stand in the docstrings

LANES = 32  # a block's width is a multiple: only whole vectors, hence the same rounding for every row
WIDTH = 224  # rows per block at most: a block fits the second-level cache, its distances the first
CHUNK = 32  # columns at a time in a wide block, so that what is reused stays in the first-level cache
PROBES = 3
FINALISTS = 2
SAMPLE = 2048


class KMeansResult(NamedTuple):
    """What `kmeans` found: a label per row, a center per label, and the sum of squared distances to them."""

    labels: LabelArray
    centers: FloatArray
    inertia: float


def kmeans(
    X: FloatArray,
    k: int,
    rng: np.random.Generator,
    *,
    n_init: int = 10,
    max_iter: int = 300,
    tol: float = 1e-4,
) -> KMeansResult:
    """
    Cluster the rows of `X` into at most `k` groups.
    """
    n, d = X.shape
    if n <= k:
        centers, labels = np.unique(X, axis=0, return_inverse=True)
        return KMeansResult(labels.ravel().astype(np.int32), centers, 0.0)
    n_blocks, width = _grid(n)
    blocks, weights, frame, variance = _pack(X, n_blocks, width)
    if not math.isfinite(variance):
        raise ValueError("X contains NaN or infinite values; remove or fill them first.")
    tol *= variance
    rows, mass = blocks, weights
    if n > 2 * SAMPLE:
        rows, mass = _sample(blocks, weights, rng.random(_grid(SAMPLE)))
    uniforms = rng.random((n_init, k, 2 + int(math.log(k))))
    starts, n_found = _seed(rows, mass, uniforms)
    if n_found < k and rows is not blocks:
        rows, mass = blocks, weights
        starts, n_found = _seed(rows, mass, uniforms)
    if n_found < k:
        starts, max_iter = starts[:1, :n_found].copy(), 0
    if len(starts) > 1:
        values = _lloyd(rows, mass, starts, min(PROBES, max_iter), tol)[1]
        order = np.argsort(values)[:FINALISTS]
        if values[order[-1]] == values[order[0]]:
            order = order[:1]
        starts = starts[order]
    labels, values, n_empty = _lloyd(rows, mass, starts, max_iter, tol)
    best = int(np.argmin(values))
    starts = starts[best : best + 1]
    if rows is not blocks:
        labels, values, n_empty = _lloyd(blocks, weights, starts, max_iter, tol)
        best = 0
    centers = starts[0, :, :d]
    labels = labels.ravel()[:n]
    if n_empty:
        used, labels = np.unique(labels, return_inverse=True)
        centers, labels = centers[used], labels.astype(np.int32)
    up, upper = frame[2, 0], frame[3, 0]
    centers = ((centers + frame[1]) / up / upper + frame[0]).astype(X.dtype)
    return KMeansResult(labels, centers, float(values[best] / up / up / upper / upper))


def _grid(n: int) -> tuple[int, int]:
    """Return the number of blocks for n rows and their width, with little padding."""
    n_blocks = -(-n // WIDTH)
    width = -(-n // (n_blocks * LANES)) * LANES
    return n_blocks, 160 if width == 128 else width  # columns a multiple of 1 KiB apart would share cache lines


@kernel("contract", "reassoc")
def _pack(X: Array, n_blocks: int, width: int) -> tuple[Array, Array, Array, float]:
    """
    Copy rows into blocks (n_blocks, d, width), centred, of size about 1, d padded to a multiple of 4.

    Return them with their weights (n_blocks, width), 0 for padding; frame such that
    x = (block + frame[1]) / frame[2] / frame[3] + frame[0]; and the mean of the column variances.
    """
    n, d = X.shape
    blocks = np.zeros((n_blocks, (d + 3) // 4 * 4, width), X.dtype)
    weights = np.empty((n_blocks, width), X.dtype)
    for g in range(n_blocks):
        for b in range(width):
            i = g * width + b
            weights[g, b] = i < n
            i = i if i < n else 0  # padding repeats the first row: it behaves like a row, but weighs nothing
            for j in range(d):
                blocks[g, j, b] = X[i, j]
    frame = np.empty((4, d))
    half = 0.0
    for j in range(d):
        low = high = X[0, j]
        for g in range(n_blocks):
            for b in range(width):
                x = blocks[g, j, b]
                low = x if x < low else low
                high = x if x > high else high
        middle = np.float64(low) / 2 + np.float64(high) / 2
        half = max(half, high - middle, middle - low)
        frame[0, j] = middle
    # Powers of two round nothing; two of them, because 2**1073 is not a float.
    exponent = math.frexp(half)[1]
    up, upper = math.ldexp(1.0, -(exponent // 2)), math.ldexp(1.0, exponent // 2 - exponent)
    variance = 0.0
    for j in range(d):
        middle, total = frame[0, j], 0.0
        for g in range(n_blocks):
            for b in range(width):
                total += (blocks[g, j, b] - middle) * up * upper * weights[g, b]
        mean = total / n
        for g in range(n_blocks):
            for b in range(width):
                x = (blocks[g, j, b] - middle) * up * upper - mean
                blocks[g, j, b] = x
                variance += x * x * weights[g, b]
        frame[1, j], frame[2, j], frame[3, j] = mean, up, upper
    return blocks, weights, frame, variance / n / d


@kernel("contract")
def _squares(x: Array, y: Array, out: Array) -> None:
    """Set out[c, b] = |x[:, b] - y[c]|**2. Two centers and four columns at a time keep the vector units busy."""
    k, d = y.shape
    width = x.shape[1]
    for c in range(k):
        for b in range(width):
            out[c, b] = 0
    for start in range(0, d, CHUNK):
        stop = min(start + CHUNK, d)
        for c in range(0, k - 1, 2):
            for j in range(start, stop, 4):
                p0, p1, p2, p3 = y[c, j], y[c, j + 1], y[c, j + 2], y[c, j + 3]
                q0, q1, q2, q3 = y[c + 1, j], y[c + 1, j + 1], y[c + 1, j + 2], y[c + 1, j + 3]
                for b in range(width):
                    x0, x1, x2, x3 = x[j, b], x[j + 1, b], x[j + 2, b], x[j + 3, b]
                    r0, r1, r2, r3 = x0 - p0, x1 - p1, x2 - p2, x3 - p3
                    s0, s1, s2, s3 = x0 - q0, x1 - q1, x2 - q2, x3 - q3
                    out[c, b] = out[c, b] + r0 * r0 + r1 * r1 + r2 * r2 + r3 * r3
                    out[c + 1, b] = out[c + 1, b] + s0 * s0 + s1 * s1 + s2 * s2 + s3 * s3
        if k % 2:
            c = k - 1
            for j in range(start, stop, 4):
                p0, p1, p2, p3 = y[c, j], y[c, j + 1], y[c, j + 2], y[c, j + 3]
                for b in range(width):
                    r0, r1, r2, r3 = x[j, b] - p0, x[j + 1, b] - p1, x[j + 2, b] - p2, x[j + 3, b] - p3
                    out[c, b] = out[c, b] + r0 * r0 + r1 * r1 + r2 * r2 + r3 * r3


@kernel("contract", "reassoc")
def _add(x: Array, u: Array, v: Array, to_u: Array, to_v: Array) -> None:
    """Add x @ u to to_u and x @ v to to_v, in double precision."""
    for j in range(0, x.shape[0], 4):
        u0 = u1 = u2 = u3 = v0 = v1 = v2 = v3 = 0.0
        for b in range(x.shape[1]):
            x0, x1 = np.float64(x[j, b]), np.float64(x[j + 1, b])
            x2, x3 = np.float64(x[j + 2, b]), np.float64(x[j + 3, b])
            ub, vb = np.float64(u[b]), np.float64(v[b])
            u0, u1, u2, u3 = u0 + ub * x0, u1 + ub * x1, u2 + ub * x2, u3 + ub * x3
            v0, v1, v2, v3 = v0 + vb * x0, v1 + vb * x1, v2 + vb * x2, v3 + vb * x3
        to_u[j] += u0
        to_u[j + 1] += u1
        to_u[j + 2] += u2
        to_u[j + 3] += u3
        to_v[j] += v0
        to_v[j + 1] += v1
        to_v[j + 2] += v2
        to_v[j + 3] += v3


@kernel("contract", "reassoc")
def _dot(x: Array, y: Array) -> float:
    total = 0.0
    for b in range(x.shape[0]):
        total += np.float64(x[b]) * np.float64(y[b])
    return total


@kernel()
def _draw(near: Array, weights: Array, parts: Array, target: float) -> tuple[int, int]:
    """Return the row at which the running sum of weights * near passes target; parts are its sums per block."""
    g = 0
    for h in range(parts.shape[0]):
        if parts[h] > 0:
            g = h
            if target < parts[h]:
                break
            target -= parts[h]
    last = 0
    for b in range(near.shape[1]):
        mass = np.float64(near[g, b]) * weights[g, b]
        if mass > 0:
            last = b
            target -= mass
            if target < 0:
                break
    return g, last


@kernel()
def _seed(blocks: Array, weights: Array, uniforms: Array) -> tuple[Array, int]:
    """Greedy k-means++ for every restart; stop with fewer centers when each row equals one of them."""
    n_blocks, d, width = blocks.shape
    n_init, k, n_trials = uniforms.shape
    starts = np.empty((n_init, k, d))
    near = np.empty((n_trials + 1, n_blocks, width), blocks.dtype)
    parts = np.empty((n_trials + 1, n_blocks))
    trial = np.empty((n_trials, d), blocks.dtype)
    squares = np.empty((n_trials, width), blocks.dtype)
    for r in range(n_init):
        now = n_trials
        for g in range(n_blocks):
            for b in range(width):
                near[now, g, b] = 16 * d  # above any squared distance: the first draw is by weight
            parts[now, g] = _dot(near[now, g], weights[g])
        for c in range(k):
            potential = 0.0
            for g in range(n_blocks):
                potential += parts[now, g]
            if not potential > 0:
                return starts, c
            m = n_trials if c else 1
            for t in range(m):
                at = _draw(near[now], weights, parts[now], uniforms[r, c, t] * potential)
                for j in range(d):
                    trial[t, j] = blocks[at[0], j, at[1]]
            least, best = np.inf, 0
            for g in range(n_blocks):
                _squares(blocks[g], trial[:m], squares)
                for t in range(m):
                    slot = t if t != now else n_trials
                    for b in range(width):
                        near[slot, g, b] = min(squares[t, b], near[now, g, b])
                    parts[slot, g] = _dot(near[slot, g], weights[g])
            for t in range(m):
                slot = t if t != now else n_trials
                potential = 0.0
                for g in range(n_blocks):
                    potential += parts[slot, g]
                if potential < least:
                    least, best = potential, t
            for j in range(d):
                starts[r, c, j] = trial[best, j]
            now = best if best != now else n_trials
    return starts, k


@kernel()
def _step(
    blocks: Array, weights: Array, y: Array, labels: Array, near: Array, sums: Array, counts: Array
) -> tuple[int, float]:
    """Label every row by its nearest center y, move it from sum to sum; return how many moved, and the inertia."""
    n_blocks, d, width = blocks.shape
    k = y.shape[0]
    squares = np.empty((k, width), blocks.dtype)
    moves = np.zeros((k + 1, width), blocks.dtype)
    new = np.empty(width, np.int32)
    ones = np.ones(width, blocks.dtype)
    n_moved, inertia = 0, 0.0
    for g in range(n_blocks):
        _squares(blocks[g], y, squares)
        for b in range(width):
            near[g, b], new[b] = squares[0, b], 0
        for c in range(1, k):
            for b in range(width):
                nearer = squares[c, b] < near[g, b]
                near[g, b] = squares[c, b] if nearer else near[g, b]
                new[b] = c if nearer else new[b]
        inertia += _dot(near[g], weights[g])
        changed = 0
        for b in range(width):
            changed += new[b] != labels[g, b]
        n_moved += changed
        if changed * 10 > width * k:  # measured: adding row by row costs ten times as much per row
            for c in range(k):
                for b in range(width):
                    sign = np.int32(new[b] == c) - np.int32(labels[g, b] == c)
                    moves[c, b] = weights[g, b] * sign
                counts[c] += _dot(moves[c], ones)
            for c in range(0, k, 2):
                _add(blocks[g], moves[c], moves[c + 1], sums[c], sums[c + 1])
        elif changed:
            for b in range(width):
                old, weight = labels[g, b], np.float64(weights[g, b])
                if new[b] != old:
                    counts[new[b]] += weight
                    for j in range(d):
                        sums[new[b], j] += weight * blocks[g, j, b]
                    if old >= 0:
                        counts[old] -= weight
                        for j in range(d):
                            sums[old, j] -= weight * blocks[g, j, b]
        for b in range(width):
            labels[g, b] = new[b]
    return n_moved, inertia


@kernel()
def _lloyd(
    blocks: Array, weights: Array, starts: Array, max_iter: int, tol: float
) -> tuple[Array, Array, int]:
    """Run from each start until no row moves or the centers shift by at most tol; return the best one's labels."""
    n_blocks, d, width = blocks.shape
    n_starts, k, _ = starts.shape
    best = np.empty((n_blocks, width), np.int32)
    labels = np.empty((n_blocks, width), np.int32)
    near = np.empty((n_blocks, width), blocks.dtype)
    y = np.empty((k, d), blocks.dtype)
    sums, counts = np.empty((k + 1, d)), np.empty(k + 1)
    values = np.empty(n_starts)
    least, n_empty = np.inf, 0
    for r in range(n_starts):
        for g in range(n_blocks):
            for b in range(width):
                labels[g, b] = -1
        for c in range(k + 1):
            counts[c] = 0.0
            for j in range(d):
                sums[c, j] = 0.0
        n_iter, n_repairs = 0, 0
        while True:
            for c in range(k):
                for j in range(d):
                    y[c, j] = starts[r, c, j]
            n_moved, inertia = _step(blocks, weights, y, labels, near, sums, counts)
            empty = -1
            for c in range(k):
                if counts[c] < 1e-6:
                    empty = c
            if empty >= 0 and n_repairs < 2 * k:
                most, at = -1.0, (0, 0)
                for g in range(n_blocks):
                    for b in range(width):
                        if near[g, b] > most:
                            most, at = near[g, b], (g, b)
                for j in range(d):
                    starts[r, empty, j] = blocks[at[0], j, at[1]]
                n_repairs += 1
                continue
            if n_moved == 0 or n_iter >= max_iter:
                break
            shift = 0.0
            for c in range(k):
                if counts[c] < 1e-6:
                    continue
                part = 0.0
                for j in range(d):
                    mean = sums[c, j] / counts[c]
                    part += (mean - starts[r, c, j]) ** 2
                    starts[r, c, j] = mean
                shift += part
            n_iter += 1
            if shift <= tol:
                n_iter = max_iter
        values[r] = inertia
        if inertia < least:
            least, n_empty = inertia, empty >= 0
            for g in range(n_blocks):
                for b in range(width):
                    best[g, b] = labels[g, b]
    return best, values, n_empty


@kernel()
def _sample(blocks: Array, weights: Array, draws: Array) -> tuple[Array, Array]:
    """Draw rows, half of them in proportion to their squared length; weigh them by 1 / probability."""
    n_blocks, d, width = blocks.shape
    squares = np.empty((n_blocks, width), blocks.dtype)
    parts = np.empty(n_blocks)
    zero = np.zeros((1, d), blocks.dtype)
    level, mass = 0.0, 0.0
    for g in range(n_blocks):
        _squares(blocks[g], zero, squares[g : g + 1])
        level += _dot(squares[g], weights[g])
        for b in range(width):
            mass += weights[g, b]
    level /= mass
    whole = 0.0
    for g in range(n_blocks):
        for b in range(width):
            squares[g, b] += level
        parts[g] = _dot(squares[g], weights[g])
        whole += parts[g]
    rows = np.empty((draws.shape[0], d, draws.shape[1]), blocks.dtype)
    heavy = np.empty(draws.shape, blocks.dtype)
    for g in range(draws.shape[0]):
        for b in range(draws.shape[1]):
            at = _draw(squares, weights, parts, draws[g, b] * whole)
            heavy[g, b] = whole / draws.size / squares[at[0], at[1]]
            for j in range(d):
                rows[g, j, b] = blocks[at[0], j, at[1]]
    return rows, heavy
