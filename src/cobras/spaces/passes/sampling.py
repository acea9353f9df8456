"""K-means on more rows than one would like to read often.

The seeds, the restarts and all iterations see a sample of rows; then one pass over all rows labels them. A pass
goes through fixed blocks of rows and adds up their sums in the order of the blocks, so that the result is the same
for any number of threads, and for rows that lie in memory, in a mapped file or on other machines: whatever can do
the passes is a `Region`.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple, Protocol

import numpy as np

from cobras.core.types import FloatArray, IndexArray
from cobras.spaces.base import nearest_trained, squared_distances
from cobras.spaces.kernels.kmeans import RandomSource, best_centers

BLOCK = 2**16  # row numbers per block
LARGE, AT_ONCE = 2**14, 2**21  # more rows, or numbers in them, are read in passes; fewer are gathered at once
SAMPLE = 2**12  # rows that the seeds and restarts see, at least
NUMBERS = 2**20  # numbers in the sample, 4 MB of float32


class Sums(NamedTuple):
    """What one pass finds, for each block and center.

    Attributes
    ----------
    sums : (n_blocks, k, d) of the members, relative to the origin of the pass
    counts : (n_blocks, k, 3): members, those that may be shown, the first member (-1 without any)
    candidates : (n_blocks, k): the member that may be shown nearest to its center (-1 without any)
    farthest, reach : (n_blocks,): the member farthest from its nearest center (-1 without any); how far, squared;
        only where asked for
    """

    sums: FloatArray
    counts: IndexArray
    candidates: IndexArray
    farthest: IndexArray
    reach: FloatArray


class Region(Protocol):
    """Many rows, which can be read in passes."""

    n_columns: int

    def __len__(self) -> int: ...

    def rows(self, positions: IndexArray) -> FloatArray:
        """Return some of the rows, by their position in the region, ascending."""

    def at(self, members: IndexArray) -> FloatArray:
        """Return the rows of these members."""

    def assign(self, centers: FloatArray, *, find_farthest: bool = False) -> tuple[Any, Sums]:
        """Return the number of the center nearest to every row, and the sums of the blocks."""

    def nearest(self, point: FloatArray, count: int) -> tuple[IndexArray, FloatArray]:
        """Return at least the `count` members nearest to a point that may be shown, and the squared distances."""


class Groups(NamedTuple):
    """A region in groups: its labels, and for every group what a super-instance needs to know."""

    labels: Any
    sizes: IndexArray
    n_train: IndexArray
    firsts: IndexArray
    means: FloatArray
    medoids: IndexArray


def find_groups(region: Region, k: int, rng: RandomSource, n_init: int) -> Groups:
    """Split a region into at most k groups; at least two where any two rows differ."""
    return groups_around(region, best_centers(draw_rows(region, k, rng), k, rng, n_init), k)


def draw_rows(region: Region, k: int, rng: RandomSource) -> FloatArray:
    """Return rows enough to find k groups: at least `SAMPLE`, of many one in 32, but at most `NUMBERS` numbers."""
    n = len(region)
    size = max(SAMPLE, 64 * k, min(n // 32, NUMBERS // region.n_columns))
    # Read in ascending order, as disks and caches like it; shuffled, because a part of the sample is used alone.
    rows = region.rows(np.unique((rng.random((min(n, size),)) * n).astype(np.int64)))
    shuffled: FloatArray = rows[np.argsort(rng.random((len(rows),)), kind="stable")]
    return shuffled


def groups_around(region: Region, centers: FloatArray, k: int = 1) -> Groups:
    """Label all rows by their nearest center, drop centers without rows, and describe the groups.

    Where there are fewer than k centers, the row farthest from all of them becomes one, too, until no row is left.

    The medoid is the best of the candidates of all blocks: of the rows that are nearest to the center of the last
    pass, the one that is nearest to the mean of the members.
    """
    labels, found = region.assign(centers, find_farthest=len(centers) < k)
    # A sample may hold fewer than k different rows. Each center that is added takes a pass.
    while len(centers) < k and found.reach.max() > 0:
        farthest = found.farthest[[found.reach.argmax()]]
        centers = np.vstack([centers, region.at(farthest)])
        labels, found = region.assign(centers, find_farthest=len(centers) < k)
    sizes, n_train = found.counts[:, :, :2].sum(axis=0).T
    if not sizes.all():
        return groups_around(region, centers[sizes > 0])
    first = np.where(found.counts[:, :, 2] < 0, np.iinfo(np.int64).max, found.counts[:, :, 2]).min(axis=0)
    means = group_means(centers, found)
    return Groups(labels, sizes, n_train, first, means, nearest_candidates(region, found.candidates, means))


def join_untrained(region: Region, found: Groups) -> Groups:
    """Let every group without training member join the one whose medoid is nearest to its mean.

    The labels must be in memory. On other machines every row may be shown, and there is nothing to join.
    """
    if found.n_train.all():
        return found
    good, means = np.flatnonzero(found.n_train), found.means
    rows = np.zeros_like(means)
    rows[good] = region.at(found.medoids[good])
    joins = nearest_trained(rows, means, found.n_train)
    # (group that stays, group that joins it): 1 or 0, so that products add up sizes and means.
    joined = (joins == good[:, None]).astype(np.int64)
    sizes = joined @ found.sizes
    return Groups(
        np.searchsorted(good, joins).astype(found.labels.dtype)[found.labels],
        sizes,
        found.n_train[good],
        np.array([found.firsts[g.astype(bool)].min() for g in joined]),
        joined @ (means * found.sizes[:, None]) / sizes[:, None],
        found.medoids[good],
    )


def nearest_candidates(region: Region, candidates: IndexArray, points: FloatArray) -> IndexArray:
    """Return for each point the nearest of its candidates (n_blocks, k), the first among equals; -1 without any."""
    block, point = np.nonzero(candidates >= 0)
    members = candidates[block, point]
    # The rows for all points at once: on a cluster every call takes milliseconds.
    rows = region.at(members)
    best = np.full(len(points), -1, np.int64)
    for c in np.unique(point):
        mine = point == c
        best[c] = members[mine][squared_distances(rows[mine], points[c]).argmin()]
    return best


def group_means(centers: FloatArray, found: Sums) -> FloatArray:
    """Return the mean of the members of each center; a center without any stays."""
    sizes = found.counts[:, :, 0].sum(axis=0)[:, None]
    # Block after block: numpy's own sum may take another order, and round in another way.
    total = reduce(np.add, found.sums)
    return np.where(sizes > 0, origin_of(centers) + total / np.maximum(sizes, 1), centers)


def origin_of(centers: FloatArray) -> FloatArray:
    """Return the point to which all numbers of a pass are relative: the middle of its centers."""
    # Rounded to single precision, so that it is the same number for rows of either precision.
    middle: FloatArray = centers.mean(axis=0, dtype=np.float32).astype(np.float64)
    return middle


def relative_centers(centers: FloatArray, dtype: Any) -> tuple[FloatArray, FloatArray]:
    """Return the centers relative to their origin, padded to a multiple of four columns, and the origin."""
    origin = origin_of(centers)
    wide = np.zeros((len(centers), -(-centers.shape[1] // 4) * 4), dtype)
    wide[:, : centers.shape[1]] = centers - origin
    return wide, origin.astype(dtype)
