"""The compiled parts of k-means: rows in blocks, seeds, Lloyd's iterations.

Rows lie in transposed blocks, so that the inner loops run over rows side by side and all distances are sums of
squared differences: equal rows are at distance 0, exactly. Everything is serial and a pure function of its
arguments, the random numbers included.
"""

from __future__ import annotations

import math

import numpy as np

from cobras.spaces.kernels.compile import Array, kernel

LANES = 32  # a block's width is a multiple: only whole vectors, hence the same rounding for every row
WIDTH = 224  # rows per block at most: a block of usual data fits the second-level cache
CHUNK = 32  # columns at a time in a wide block, so that what is reused stays in the first-level cache
EMPTY = 1e-9  # a group that weighs less has no rows: a row weighs 1, in a sample of m rows at least 1 / m


def grid(n: int) -> tuple[int, int]:
    """Return the number of blocks for n rows and their width, with little padding."""
    n_blocks = -(-n // WIDTH)
    width = -(-n // (n_blocks * LANES)) * LANES
    # At a width of 128 columns would lie a multiple of 512 bytes apart and crowd the same cache lines.
    return n_blocks, 160 if width == 128 else width


@kernel("contract", "reassoc")
def pack(X: Array, n_blocks: int, width: int) -> tuple[Array, Array, Array, float]:
    """
    Copy rows into blocks (n_blocks, d, width), centred, of size about 1, d padded to a multiple of 4.

    Return them with their weights (n_blocks, width), 0 for padding; frame such that
    x = (block + frame[1]) / frame[2] + frame[0]; and the mean of the column variances.
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
    frame = np.empty((3, d))
    half = 0.0
    for j in range(d):
        low = high = X[0, j]
        for g in range(n_blocks):
            for b in range(width):
                x = blocks[g, j, b]
                low = x if x < low else low
                high = x if x > high else high
        middle = np.float64(low) / 2 + np.float64(high) / 2
        half = max(half, max(high - middle, middle - low))
        frame[0, j] = middle
    # A power of two rounds nothing. Where 2**1000 does not lift the data to size 1, their squares do not vanish.
    scale = math.ldexp(1.0, min(-math.frexp(half)[1], 1000))
    variance = 0.0
    for j in range(d):
        middle, total = frame[0, j], 0.0
        for g in range(n_blocks):
            for b in range(width):
                total += (blocks[g, j, b] - middle) * scale * weights[g, b]
        mean = total / n
        for g in range(n_blocks):
            for b in range(width):
                x = (blocks[g, j, b] - middle) * scale - mean
                blocks[g, j, b] = x
                variance += x * x * weights[g, b]
        frame[1, j], frame[2, j] = mean, scale
    return blocks, weights, frame, variance / n / d


@kernel("contract")
def set_squared_distances(x: Array, y: Array, out: Array) -> None:
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


@kernel()
def label_rows(x: Array, centers: Array, squares: Array, near: Array, labels: Array) -> None:
    """Set the nearest center of every row x[:, b], the first among equals, and the squared distance to it."""
    width = x.shape[1]
    set_squared_distances(x, centers, squares)
    for b in range(width):
        near[b], labels[b] = squares[0, b], 0
    for c in range(1, centers.shape[0]):
        for b in range(width):  # without branches, so that it runs in vectors
            nearer = squares[c, b] < near[b]
            near[b] = squares[c, b] if nearer else near[b]
            labels[b] = c if nearer else labels[b]


@kernel("contract", "reassoc")
def add_products(x: Array, u: Array, v: Array, to_u: Array, to_v: Array) -> None:
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
def dot(x: Array, y: Array) -> float:
    """Return the sum of x * y, in double precision."""
    total = 0.0
    for b in range(x.shape[0]):
        total += np.float64(x[b]) * np.float64(y[b])
    return total


@kernel()
def draw_row(near: Array, weights: Array, parts: Array, target: float) -> tuple[int, int]:
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
def seed(blocks: Array, weights: Array, uniforms: Array) -> tuple[Array, int]:
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
            parts[now, g] = dot(near[now, g], weights[g])
        for c in range(k):
            potential = 0.0
            for g in range(n_blocks):
                potential += parts[now, g]
            if not potential > 0:
                return starts, c
            m = n_trials if c else 1
            for t in range(m):
                at = draw_row(near[now], weights, parts[now], uniforms[r, c, t] * potential)
                for j in range(d):
                    trial[t, j] = blocks[at[0], j, at[1]]
            least, best = np.inf, 0
            for g in range(n_blocks):
                set_squared_distances(blocks[g], trial[:m], squares)
                for t in range(m):
                    slot = t if t != now else n_trials
                    for b in range(width):
                        near[slot, g, b] = min(squares[t, b], near[now, g, b])
                    parts[slot, g] = dot(near[slot, g], weights[g])
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
def move_rows(x: Array, weight: Array, old: Array, new: Array, sums: Array, counts: Array) -> int:
    """Move rows whose label changed (old -1: had none) from one center's sum to another's; return how many."""
    d, width = x.shape
    k = counts.shape[0]
    n_moved = 0
    for b in range(width):
        n_moved += new[b] != old[b]
    if n_moved == 0:
        return 0
    if n_moved * 10 > width * k:  # measured: ten times as much per row when rows are added one by one
        moves, ones = np.zeros((k + 1, width), x.dtype), np.ones(width, x.dtype)
        for c in range(k):
            for b in range(width):
                moves[c, b] = weight[b] * (np.int32(new[b] == c) - np.int32(old[b] == c))
            counts[c] += dot(moves[c], ones)
        for c in range(0, k, 2):
            add_products(x, moves[c], moves[c + 1], sums[c], sums[c + 1])
        return n_moved
    for b in range(width):
        source, target, mass = old[b], new[b], np.float64(weight[b])
        if source != target:
            counts[target] += mass
            for j in range(d):
                sums[target, j] += mass * x[j, b]
            if source >= 0:
                counts[source] -= mass
                for j in range(d):
                    sums[source, j] -= mass * x[j, b]
    return n_moved


@kernel()
def step(
    blocks: Array, weights: Array, centers: Array, labels: Array, near: Array, sums: Array, counts: Array
) -> tuple[int, float]:
    """Label all rows by their nearest center; return how many changed, and the inertia. O(n d k)."""
    n_blocks, d, width = blocks.shape
    k = counts.shape[0]
    y = np.empty((k, d), blocks.dtype)
    for c in range(k):
        for j in range(d):
            y[c, j] = centers[c, j]
    squares, new = np.empty((k, width), blocks.dtype), np.empty(width, np.int32)
    n_changed, inertia = 0, 0.0
    for g in range(n_blocks):
        label_rows(blocks[g], y, squares, near[g], new)
        inertia += dot(near[g], weights[g])
        n_changed += move_rows(blocks[g], weights[g], labels[g], new, sums, counts)
        for b in range(width):
            labels[g, b] = new[b]
    return n_changed, inertia


@kernel()
def relocate(blocks: Array, near: Array, centers: Array, counts: Array) -> bool:
    """Move a center without rows, if there is one, to the row farthest from its center."""
    for c in range(counts.shape[0]):
        if counts[c] < EMPTY:
            at, most = (0, 0), near[0, 0]
            for g in range(near.shape[0]):
                for b in range(near.shape[1]):
                    if near[g, b] > most:
                        at, most = (g, b), near[g, b]
            for j in range(centers.shape[1]):
                centers[c, j] = blocks[at[0], j, at[1]]
            return True
    return False


@kernel()
def lloyd(
    blocks: Array, weights: Array, starts: Array, max_iter: int, tol: float
) -> tuple[Array, Array, bool]:
    """
    Run from each of starts (n_starts, k, d), in place, until no row moves or the centers shift by at most tol.

    Return the labels of the best, the inertia of each, and whether the best has empty groups.
    """
    n_blocks, d, width = blocks.shape
    n_starts, k, _ = starts.shape
    best, labels = np.empty((n_blocks, width), np.int32), np.empty((n_blocks, width), np.int32)
    near, values = np.empty((n_blocks, width), blocks.dtype), np.empty(n_starts)
    least, any_empty = np.inf, False
    for r in range(n_starts):
        centers = starts[r]
        sums, counts = np.zeros((k + 1, d)), np.zeros(k)
        for g in range(n_blocks):
            for b in range(width):
                labels[g, b] = -1
        n_iter, n_repairs, empty = 0, 0, False
        while True:
            n_changed, values[r] = step(blocks, weights, centers, labels, near, sums, counts)
            empty = relocate(blocks, near, centers, counts)
            if empty and n_repairs < 2 * k:
                n_repairs += 1
                continue
            if n_changed == 0 or n_iter >= max_iter:
                break
            shift = 0.0
            for c in range(k):
                for j in range(d):
                    mean = sums[c, j] / counts[c] if counts[c] > EMPTY else centers[c, j]
                    shift += (mean - centers[c, j]) ** 2
                    centers[c, j] = mean
            n_iter = n_iter + 1 if shift > tol else max_iter
        if values[r] < least or r == 0:
            least, any_empty = values[r], empty
            best, labels = labels, best
    return best, values, any_empty


@kernel()
def draw_sample(blocks: Array, weights: Array, draws: Array) -> tuple[Array, Array]:
    """
    Draw rows, half of them in proportion to their squared length, weighted by 1 / (their number * probability).

    So the inertia of any centers is unbiased, and far rows, which matter most, are seldom missed
    (Bachem, Lucic and Krause, "Scalable k-means clustering via lightweight coresets", KDD 2018).
    """
    n_blocks, d, width = blocks.shape
    squares = np.empty((n_blocks, width), blocks.dtype)
    parts = np.empty(n_blocks)
    zero = np.zeros((1, d), blocks.dtype)
    level, mass = 0.0, 0.0
    for g in range(n_blocks):
        set_squared_distances(blocks[g], zero, squares[g : g + 1])
        level += dot(squares[g], weights[g])
        for b in range(width):
            mass += weights[g, b]
    level /= mass
    whole = 0.0
    for g in range(n_blocks):
        for b in range(width):
            squares[g, b] += level
        parts[g] = dot(squares[g], weights[g])
        whole += parts[g]
    rows = np.empty((draws.shape[0], d, draws.shape[1]), blocks.dtype)
    heavy = np.empty(draws.shape, blocks.dtype)
    for g in range(draws.shape[0]):
        for b in range(draws.shape[1]):
            at = draw_row(squares, weights, parts, draws[g, b] * whole)
            heavy[g, b] = whole / draws.size / squares[at[0], at[1]]
            for j in range(d):
                rows[g, j, b] = blocks[at[0], j, at[1]]
    return rows, heavy


@kernel()
def unpack_centers(centers: Array, inertia: float, frame: Array, X: Array) -> tuple[Array, float]:
    """Undo the centring and scaling of `pack`, in the precision of X."""
    k, d = centers.shape[0], X.shape[1]
    largest = np.finfo(X.dtype).max / 2
    found = np.empty((k, d), X.dtype)
    for c in range(k):
        for j in range(d):
            middle, mean, scale = frame[0, j], frame[1, j], frame[2, j]
            if scale < 1e-30:  # halves, because rounding may step over the largest number
                half = (centers[c, j] + mean) / 2 / scale + middle / 2
                found[c, j] = 2 * min(max(half, -largest), largest)
            else:
                found[c, j] = (centers[c, j] + mean) / scale + middle
    return found, inertia / frame[2, 0] / frame[2, 0]
