"""The compiled description of a split: who is in which part, and who stands for it."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from cobras.spaces.compile import kernel

Array: TypeAlias = Any  # numba infers element types; shapes stand in the docstring


@kernel()
def describe(
    X: Array, members: Array, labels: Array, k: int, train: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """
    Gather the members of each label in order, and find the mean of each group and the row nearest to it.

    Return the members ordered by label, where each group begins, the means (k, d), the nearest training member of
    each group (the nearest member where it has none) and the number of training members. Two passes over the rows.
    """
    n, d = members.shape[0], X.shape[1]
    starts = np.zeros(k + 1, np.int64)
    means = np.zeros((k, d))
    n_train = np.zeros(k, np.int64)
    for m in range(n):
        g, i = labels[m], members[m]
        starts[g + 1] += 1
        n_train[g] += train[i]
        for j in range(d):
            means[g, j] += X[i, j]
    for g in range(k):
        for j in range(d):
            means[g, j] /= starts[g + 1]
        starts[g + 1] += starts[g]
    ordered, at = np.empty_like(members), starts[:-1].copy()
    nearest, least = np.empty(k, members.dtype), np.full(k, np.inf)
    for m in range(n):
        g, i = labels[m], members[m]
        ordered[at[g]] = i
        at[g] += 1
        if train[i] or n_train[g] == 0:
            square = 0.0
            for j in range(d):
                away = X[i, j] - means[g, j]
                square += away * away
            if square < least[g]:
                least[g], nearest[g] = square, i
    return ordered, starts, means, nearest, n_train
