"""The description of a split: who is in which part, and who stands for it."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from cobras.core.types import FloatArray, IndexArray
from cobras.spaces.kernels.compile import kernel

Array: TypeAlias = Any  # numba infers element types; shapes stand in the docstring


@kernel()
def describe(rows: Array, labels: Array, k: int, shown: Array) -> tuple[Array, Array, Array, Array, Array]:
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


def homes(medoids: FloatArray, means: FloatArray, n_train: IndexArray) -> IndexArray:
    """For every group itself or, if it has no training member, the one whose medoid is nearest to its mean."""
    good = np.flatnonzero(n_train)
    home = np.arange(len(means))
    for g in np.flatnonzero(n_train == 0):
        home[g] = good[squared_distances(medoids[good], means[g]).argmin()]
    return home


def squared_distances(rows: FloatArray, point: FloatArray) -> FloatArray:
    """The squared distance of every row to a point."""
    away = rows - point
    squared: FloatArray = np.einsum("ij,ij->i", away, away)
    return squared
