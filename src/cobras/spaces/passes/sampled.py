"""K-means on more rows than one would like to read often.

The seeds, the restarts and all iterations see a sample of rows; then one pass over all rows labels them. A pass
goes through fixed blocks of rows on all cores and adds up their sums in the order of the blocks, so that the
result is the same for any number of threads, and for rows that lie in memory, in a mapped file or on other
machines: whatever can do the passes is a `Region`.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple, Protocol

import numpy as np

from cobras.core.types import FloatArray, IndexArray
from cobras.spaces.kernels.kmeans import Uniforms
from cobras.spaces.kernels.restarts import best_centers
from cobras.spaces.parts import homes, squared_distances

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
    """

    sums: FloatArray
    counts: IndexArray
    candidates: IndexArray


class Region(Protocol):
    """Many rows, which can be read in passes."""

    n_columns: int

    def __len__(self) -> int: ...

    def rows(self, positions: IndexArray) -> FloatArray:
        """Some of the rows, by their position in the region, ascending."""

    def assign(self, centers: FloatArray, *, keep: bool) -> tuple[Any, Sums]:
        """The label of every row, where they are to be kept, and what the blocks add up to."""

    def farthest(self, centers: FloatArray) -> tuple[FloatArray, float]:
        """The row farthest from its nearest center, and the squared distance."""

    def at(self, members: IndexArray) -> FloatArray:
        """The rows of these members."""

    def relabelled(self, labels: Any, new: IndexArray) -> Any:
        """Labels with another number for each."""

    def nearest(self, point: FloatArray, count: int) -> tuple[IndexArray, FloatArray]:
        """At least the `count` members nearest to a point that may be shown, and the squared distances."""

    def shown_only(self) -> Region:
        """The part of the region that may be shown."""


class Cut(NamedTuple):
    """A region cut into groups: its labels, and for every group what a super-instance needs to know."""

    labels: Any
    sizes: IndexArray
    n_train: IndexArray
    firsts: IndexArray
    means: FloatArray
    medoids: IndexArray


def cut(region: Region, k: int, rng: Uniforms, n_init: int) -> Cut:
    """Split a region into at most k groups; at least two where any two rows differ."""
    centers = best_centers(sampled(region, k, rng), k, rng, n_init)
    while len(centers) < k:  # the sample holds few different rows
        row, away = region.farthest(centers)
        if not away > 0:
            return described(region, centers)
        centers = np.vstack([centers, row])
    return described(region, centers)


def sampled(region: Region, k: int, rng: Uniforms) -> FloatArray:
    """Rows enough to find k groups, in any order: at least `SAMPLE`, of many one in 32, but at most `NUMBERS`."""
    n = len(region)
    size = max(SAMPLE, 64 * k, min(n // 32, NUMBERS // region.n_columns))
    rows = region.rows(np.unique((rng.random((min(n, size),)) * n).astype(np.int64)))
    shuffled: FloatArray = rows[np.argsort(rng.random((len(rows),)), kind="stable")]
    return shuffled


def described(region: Region, centers: FloatArray) -> Cut:
    """Label all rows by their nearest center, drop centers without rows, and describe the groups.

    The medoid is the best of the candidates of all blocks: of the rows that are nearest to the center of the last
    pass, the one that is nearest to the mean of the members.
    """
    labels, found = region.assign(centers, keep=True)
    sizes, n_train = found.counts[:, :, :2].sum(axis=0).T
    if not sizes.all():
        return described(region, centers[sizes > 0])
    first = np.where(found.counts[:, :, 2] < 0, np.iinfo(np.int64).max, found.counts[:, :, 2]).min(axis=0)
    centroids = means(centers, found)
    return Cut(labels, sizes, n_train, first, centroids, nearest(region, found.candidates, centroids))


def housed(region: Region, found: Cut) -> Cut:
    """Let every group without training member join the one whose medoid is nearest to its mean."""
    if found.n_train.all():
        return found
    good, means = np.flatnonzero(found.n_train), found.means
    rows = np.zeros_like(means)
    rows[good] = region.at(found.medoids[good])
    home = homes(rows, means, found.n_train)
    joined = np.arange(len(home)) == home[:, None]  # (group, home)
    joined = joined[:, good].T.astype(np.int64)
    sizes = joined @ found.sizes
    return Cut(
        region.relabelled(found.labels, np.searchsorted(good, home)),
        sizes,
        found.n_train[good],
        np.array([found.firsts[g.astype(bool)].min() for g in joined]),
        joined @ (means * found.sizes[:, None]) / sizes[:, None],
        found.medoids[good],
    )


def nearest_members(region: Region, point: FloatArray, count: int) -> IndexArray:
    """The members that may be shown nearest to a point, nearest first."""
    found, away = region.nearest(point, count)
    return found[np.argsort(away, kind="stable")[:count]]


def nearest(region: Region, candidates: IndexArray, points: FloatArray) -> IndexArray:
    """Of the candidates (n_blocks, k) for each point the nearest, the first among equals; -1 if there is none."""
    block, point = np.nonzero(candidates >= 0)
    chosen = candidates[block, point]
    rows = region.at(chosen)  # of all points at once: on a cluster every call is a journey
    best = np.full(len(points), -1, np.int64)
    for c in np.unique(point):
        mine = point == c
        best[c] = chosen[mine][squared_distances(rows[mine], points[c]).argmin()]
    return best


def means(centers: FloatArray, found: Sums) -> FloatArray:
    """The mean of the members of each center; a center without any stays."""
    sizes = found.counts[:, :, 0].sum(axis=0)[:, None]
    total = reduce(np.add, found.sums)  # block after block: numpy's own sum may take another order
    return np.where(sizes > 0, origin_of(centers) + total / np.maximum(sizes, 1), centers)


def origin_of(centers: FloatArray) -> FloatArray:
    """The point to which all numbers of a pass are relative: the middle of its centers."""
    middle: FloatArray = centers.mean(axis=0, dtype=np.float32).astype(np.float64)
    return middle


def framed(centers: FloatArray, dtype: Any) -> tuple[FloatArray, FloatArray]:
    """The centers relative to their origin, padded to a multiple of four columns, and the origin."""
    origin = origin_of(centers)
    wide = np.zeros((len(centers), -(-centers.shape[1] // 4) * 4), dtype)
    wide[:, : centers.shape[1]] = centers - origin
    return wide, origin.astype(dtype)
