"""Average linkage under cannot-links: join the likeliest two clusters as long as they are likely enough."""

import numpy as np

from cobras.spaces.kernels.compile import Array, kernel


@kernel()
def likeliest(p: Array) -> int:
    """The number of the largest, the first of equals; `numpy.argmax` takes longer to compile."""
    best = 0
    for c in range(1, len(p)):
        if p[c] > p[best]:
            best = c
    return best


@kernel()
def join_likely(p: Array, size: Array, least: float) -> Array:
    """Return the number of the group of each cluster.

    Parameters
    ----------
    p : (k, k) array of float
        How likely each two are the same; negative where they may not be joined. It is overwritten.
    size : (k,) array of float
        How much each counts in an average. It is overwritten.
    least : float
        Two that are less likely the same are not joined.
    """
    k = len(p)
    # For each cluster the likeliest other one: a join changes one row, so O(k) per join on average.
    group, best = np.empty(k, np.int64), np.empty(k, np.int64)
    for a in range(k):
        p[a, a], group[a] = -1.0, a
        best[a] = likeliest(p[a])
    while True:
        a, most = -1, least
        for c in range(k):
            if group[c] == c and p[c, best[c]] >= most and (a < 0 or p[c, best[c]] > most):
                a, most = c, p[c, best[c]]
        if a < 0:
            break
        b = best[a]
        if b < a:
            a, b = b, a
        for c in range(k):
            if p[a, c] < 0.0 or p[b, c] < 0.0:
                p[a, c] = -1.0
            else:
                p[a, c] = (size[a] * p[a, c] + size[b] * p[b, c]) / (size[a] + size[b])
            p[c, a] = p[a, c]
            p[b, c] = -1.0
            p[c, b] = -1.0
        size[a] += size[b]
        for c in range(k):
            if group[c] == b:
                group[c] = a
        best[a] = likeliest(p[a])
        for c in range(k):
            if group[c] == c and c != a:
                if best[c] == a or best[c] == b:
                    best[c] = likeliest(p[c])
                elif p[c, a] > p[c, best[c]]:
                    best[c] = a
    return group
