"""DBSCAN for one eps and many minPts at once, equal to scikit-learn's run by run."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from cobras.spaces.kernels.compile import kernel

Array: TypeAlias = Any  # numba infers element types


@kernel()
def dbscan(distances: Array, eps: Array, min_points: Array) -> Array:
    """
    Cluster once for every number of points, ascending; a label is the first core row of its cluster, noise is -1.

    A row that is core stays core when fewer points are needed, so components only grow: every row joins them
    once, O(n²) for all runs together, and border rows look for the core rows near them.
    """
    n = len(distances)
    labels = np.full((len(min_points), n), -1, np.int32)
    counts, parent = np.zeros(n, np.int64), np.arange(n)
    before: Array = n + 1
    for i in range(n):
        for j in range(n):
            counts[i] += distances[i, j] <= eps
    for run in range(len(min_points) - 1, -1, -1):
        core: Array = np.flatnonzero(counts >= min_points[run])
        border: Array = np.flatnonzero(counts < min_points[run])
        for i in core[counts[core] < before]:
            for j in core:
                if distances[i, j] <= eps:
                    a, b = parent[i], j
                    while parent[a] != a:
                        a = parent[a]
                    while parent[b] != b:
                        parent[b] = parent[parent[b]]
                        b = parent[b]
                    parent[max(a, b)] = min(a, b)
                    parent[i] = min(a, b)
        before = min_points[run]
        for i in core:  # ascending, and a parent comes before its children
            parent[i] = parent[parent[i]]
            labels[run, i] = parent[i]
        for i in border:
            first: Array = n
            for j in core:
                if distances[i, j] <= eps:
                    first = min(first, parent[j])
            if first < n:
                labels[run, i] = first
    return labels
