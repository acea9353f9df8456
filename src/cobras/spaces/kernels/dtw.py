"""Dynamic time warping between all pairs of series, inside a band around the diagonal.

One series is compared with 32 others at a time, side by side in single precision. That takes a sixth to a twentieth
of the time that dtaidistance 2.5 takes for the same matrix (`python -m benchmarks.series`), which is why it is by
hand. The distance is dtaidistance's: the root of the summed squared differences along the best path, over all
channels together, and the band is as wide as its `window`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from cobras.core.types import FloatArray, IndexArray
from cobras.spaces.kernels.compile import Array, kernel

LANES = 32  # series side by side; with 16 it takes three times as long


def dtw_matrix(
    series: FloatArray,
    lengths: IndexArray,
    window: float,
    n_jobs: int = 1,
    progress: Callable[[float], None] | None = None,
) -> FloatArray:
    """
    The distances between all pairs of series, of shape (n, n) and in single precision.

    Parameters
    ----------
    series : array of shape (n, channels, length)
        Finite numbers; what follows the end of a shorter series is not read.
    window : float
        Two moments that meet lie less than `window` times the length of the longest series apart, and by as much
        more as one of the two series is longer than the other.

    `n_jobs` and `progress` are those of `SeriesSpace`.

    Examples
    --------
    >>> series = np.array([[[0.0, 0, 1, 0, 0]], [[0.0, 1, 0, 0, 0]], [[0.0, 0, 2, 0, 0]]])
    >>> dtw_matrix(series, np.array([5, 5, 5]), window=0.4)
    array([[0., 0., 1.],
           [0., 0., 1.],
           [1., 1., 0.]], dtype=float32)
    """
    n, _, longest = series.shape
    order = np.argsort(-lengths, kind="stable")
    middle = series.mean(axis=(0, 2), keepdims=True)
    scale = float(np.abs(series - middle).max()) or 1.0  # squares neither over- nor underflow
    rows = np.empty((-(-n // LANES) * LANES, longest, series.shape[1]), np.float32)
    rows[:n] = ((series[order] - middle) / scale).transpose(0, 2, 1)
    rows[n:] = rows[n - 1]
    ends = np.append(lengths[order], np.full(len(rows) - n, lengths.min())).astype(np.int64)
    rows = rows.reshape(len(rows), -1)
    blocks = np.ascontiguousarray(rows.reshape(-1, LANES, rows.shape[1]).transpose(0, 2, 1))
    found = np.zeros((n, n), np.float32)
    width = max(1, int(window * lengths.max()))
    work = partial(_fill, rows, blocks, ends, order, longest, width, found)
    starts = range(0, n, LANES)
    # The first rows are compared with all others, the last with none.
    with ThreadPoolExecutor(n_jobs) as pool:
        each = map(work, starts) if n_jobs == 1 else pool.map(work, starts)
        for start, _ in zip(starts, each, strict=True):
            if progress is not None:
                progress(1 - (max(0, n - start - LANES) / n) ** 2)
    found *= scale
    return found


@kernel("contract", "reassoc", "nnan", "nsz")
def _fill(
    rows: Array,
    blocks: Array,
    ends: Array,
    order: Array,
    longest: int,
    width: int,
    found: Array,
    start: int,
) -> None:
    """Compare one block of rows, longest first, with themselves and all after them, and write what was found."""
    n = len(order)
    before = np.empty((longest + 1, LANES), np.float32)
    now = np.empty((longest + 1, LANES), np.float32)
    for a in range(start, min(n, start + LANES)):
        for block in range(a // LANES, len(blocks)):
            first = block * LANES
            costs = _warp(rows[a], ends[a], blocks[block], ends[first : first + LANES], width, before, now)
            for lane in range(LANES):
                b = first + lane
                if a < b < n:
                    distance = np.sqrt(costs[ends[b], lane])
                    found[order[a], order[b]] = found[order[b], order[a]] = distance


@kernel("contract", "reassoc", "nnan", "nsz")
def _warp(x: Array, end: int, others: Array, ends: Array, width: int, before: Array, now: Array) -> Array:
    """
    Warp x onto LANES others at once; others that are longer than x get no meaningful result.

    Return the last row of costs: at [j, lane] that of warping x onto the first j moments of another. What lies
    behind the end of another series costs something, but no path leads back from there.
    """
    n_channels = len(x) // (len(before) - 1)
    shortest, longest = min(end, ends.min()), min(end, ends.max())
    before[: longest + 1] = np.inf
    before[0] = 0
    for i in range(end):
        low = max(0, i - (end - shortest) - width + 1)
        high = min(longest, i + width)
        # Where there is one channel and all are inside their bands, the loop is a simple one, and fast.
        simple = min(high, max(low, i - (end - longest) - width + 1)) if n_channels == 1 else high
        now[low] = np.inf
        for j in range(low, simple):
            for lane in range(LANES):
                inside = j > i - (end - min(end, ends[lane])) - width
                least = min(min(before[j, lane], before[j + 1, lane]), now[j, lane])
                now[j + 1, lane] = least if inside else np.inf
            for channel in range(n_channels):
                for lane in range(LANES):
                    away = x[i * n_channels + channel] - others[j * n_channels + channel, lane]
                    now[j + 1, lane] += away * away
        moment = x[i]
        for j in range(simple, high):
            for lane in range(LANES):
                away = moment - others[j, lane]
                least = min(min(before[j, lane], before[j + 1, lane]), now[j, lane])
                now[j + 1, lane] = away * away + least
        if high < longest:
            now[high + 1] = np.inf
        before, now = now, before
    return before
