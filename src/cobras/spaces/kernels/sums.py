"""Sums of rows by group, and where rows or columns are lowest: one pass over the rows."""

import numpy as np

from cobras.spaces.kernels.compile import Array, kernel


@kernel()
def sums_by_group(rows: Array, places: Array, groups: Array, weights: Array, n_groups: int) -> Array:
    """Return the weighted sums of some rows in each group, (n_groups, d), added in the order of `places`.

    Parameters
    ----------
    rows : (n, d) array of float32
    places : (m,) array of int64
        Which rows are added.
    groups : (m,) array of int64
        The group of each of them.
    weights : (m,) array of float32
    n_groups : int
    """
    sums = np.zeros((n_groups, rows.shape[1]), np.float32)
    for x in range(len(places)):
        # Views without a second index: the compiler then adds several columns at a time.
        row, total, weight = rows[places[x]], sums[groups[x]], weights[x]
        for j in range(len(row)):
            total[j] += weight * row[j]
    return sums


@kernel()
def lowest_rows(rows: Array, places: Array) -> Array:
    """Return which of the rows at `places` is lowest in each column, by its number among them: the first of equals.

    The types are those of `sums_by_group`; there is at least one place.
    """
    d = rows.shape[1]
    best, found = np.empty(d, np.float32), np.empty(d, np.int64)
    for j in range(d):
        best[j], found[j] = rows[places[0], j], 0
    for x in range(1, len(places)):
        row = rows[places[x]]
        for j in range(d):
            is_lower = row[j] < best[j]
            found[j] = x if is_lower else found[j]
            best[j] = row[j] if is_lower else best[j]
    return found


@kernel()
def lowest_columns(rows: Array, k: int) -> Array:
    """Return the columns of the k lowest values in each row, lowest first: (n, k); of equals the first ones.

    There are at least k columns of float32 or float64, and no value is NaN.
    """
    n, d = rows.shape
    best, found = np.empty(k, rows.dtype), np.empty((n, k), np.int64)
    for i in range(n):
        row, lowest = rows[i], found[i]
        best[:] = np.inf
        lowest[:] = 0
        for j in range(d):
            # Nearly all values end here, so that sorting k of them costs next to nothing.
            if row[j] < best[k - 1]:
                x = k - 1
                while x > 0 and row[j] < best[x - 1]:
                    best[x], lowest[x] = best[x - 1], lowest[x - 1]
                    x -= 1
                best[x], lowest[x] = row[j], j
    return found
