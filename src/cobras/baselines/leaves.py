"""The random forest of NPU: two rows are similar when many trees put them into the same leaf.

Only the leaf of every row is needed, never a prediction, so nothing else is kept: all rows are sorted into the
leaves while a tree grows. The trees are those of scikit-learn's forest (bootstrap sample, sqrt(d) features at each
node, best Gini split halfway between two values, grown until pure), and a test compares the similarities.

NPU grows a forest in every round, on the same rows with other labels. Hence the order of the rows in each column is
computed once: large nodes pick their rows out of it, and only small ones sort.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cobras.core.types import FloatArray, IndexArray
from cobras.spaces.kernels.compile import Array, kernel
from cobras.spaces.kernels.forest import draw_feature, next_random

SMALL = 32  # a node with less than one in so many rows sorts them: m log m steps instead of n


class SortedColumns(NamedTuple):
    """The columns of a table, arrays (d, n), and how their rows are ordered.

    Examples
    --------
    >>> columns = SortedColumns.of(np.array([[3.0], [1.0], [2.0]]))
    >>> columns.order.tolist(), columns.place.tolist()
    ([[1, 2, 0]], [[2, 0, 1]])
    """

    value: FloatArray  # from 0 to 1, in single precision
    order: IndexArray  # the rows by ascending value, equal ones by their number
    place: IndexArray  # where each row stands in it
    lowest: IndexArray  # how many rows have the least value, 0; in sparse columns most (d,)

    @classmethod
    def of(cls, X: FloatArray) -> SortedColumns:
        """Sort the columns of X; O(d n log n)."""
        low = X.min(axis=0)
        span = X.max(axis=0) - low
        # Trees only see the order of values. Scaled to [0, 1], no value overflows or is lost in single precision.
        scaled = ((X - low) / np.where(span > 0, span, 1)).astype(np.float32)
        value = np.ascontiguousarray(scaled.T)
        order = np.argsort(value, axis=1, kind="stable").astype(np.int32)
        place = np.empty_like(order)
        np.put_along_axis(place, order, np.arange(len(X), dtype=np.int32)[np.newaxis], axis=1)
        return cls(value, order, place, np.count_nonzero(value == 0, axis=1))


# By hand: for 50 trees and the labels of k-means, scikit-learn's RandomForestClassifier with `apply` takes 40 times
# as long on wine (178 rows), 20 on ecoli (336), 5 on faces (624 rows, 1,280 columns) and 3 on spambase (4,207).
def leaves(columns: SortedColumns, labels: IndexArray, n_trees: int, seed: int) -> IndexArray:
    """The leaf of every row in every tree, (n, n_trees); no two trees share a leaf number.

    The trees learn `labels`, numbered from 0 on.

    Examples
    --------
    >>> columns = SortedColumns.of(np.array([[0.0], [0.1], [5.0], [5.1]]))
    >>> found = leaves(columns, np.array([0, 0, 1, 1]), n_trees=20, seed=0)
    >>> means = similarity(found, rows=np.array([0, 3]), groups=[[1], [2]])
    >>> (means.argmax(axis=1)).tolist()
    [0, 1]
    """
    found: IndexArray = _leaves(columns, labels.astype(np.int32), n_trees, seed)
    return found


def similarity(found: IndexArray, rows: IndexArray, groups: Sequence[Sequence[int]]) -> FloatArray:
    """The mean similarity of each row to the members of each group, in O(n_trees) for each.

    The mean over a group of the leaf indicators says how much of the group each leaf holds; a row adds up what its
    own leaves hold. No matrix of all pairs is made.
    """
    n_leaves, n_trees = int(found.max()) + 1, found.shape[1]
    own = found[rows]
    means = np.empty((len(rows), len(groups)))
    for j, group in enumerate(groups):
        share = np.bincount(found[np.asarray(group)].ravel(), minlength=n_leaves) / (len(group) * n_trees)
        means[:, j] = share[own].sum(axis=1)
    return means


@kernel()
def move_to(side: Array, total: Array, c: int, w: int) -> tuple[int, int]:
    """Move w rows of class c to a side; how much more the squared counts of it, and of the other, are then."""
    more, less = w * (2 * side[c] + w), w * (w - 2 * (total[c] - side[c]))
    side[c] += w
    return more, less


@kernel()
def _leaves(columns: Any, labels: Array, n_trees: int, seed: int) -> Array:
    """The leaf of every row, (n, n_trees), in trees on bootstrap samples; also of rows that were not drawn."""
    d, n = columns.value.shape
    found = np.empty((n, n_trees), np.int32)
    n_classes = labels.max() + 1
    total, right = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    state = np.array([seed], np.uint64)
    features = np.arange(d)
    # How often each row was drawn, and the same but 0 outside of the present node; places and rows of a node.
    times, here = np.empty(n, np.int32), np.zeros(n, np.int32)
    rows, places, drawn = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n + 1, np.int32)
    stack = np.empty((n + 1, 2), np.int64)
    n_leaves = 0
    for tree in range(n_trees):
        times[:] = 0
        for i in range(n):
            rows[i] = i
            times[next_random(state, n)] += 1
        stack[0, 0], stack[0, 1] = 0, n
        depth = 1
        while depth > 0:
            depth -= 1
            start, stop = stack[depth, 0], stack[depth, 1]
            feature, threshold = _best_split(
                columns, labels, times, here, rows[start:stop], features, state, places, drawn, total, right
            )
            if feature < 0:
                for at in range(start, stop):
                    found[rows[at], tree] = n_leaves
                n_leaves += 1
                continue
            low, high = start, stop - 1
            while low <= high:
                if columns.value[feature, rows[low]] <= threshold:
                    low += 1
                else:
                    rows[low], rows[high] = rows[high], rows[low]
                    high -= 1
            stack[depth, 0], stack[depth, 1] = start, low
            stack[depth + 1, 0], stack[depth + 1, 1] = low, stop
            depth += 2
    return found


@kernel()
def _best_split(
    columns: Any,
    labels: Array,
    times: Array,
    here: Array,
    rows: Array,
    features: Array,
    state: Array,
    places: Array,
    drawn: Array,
    total: Array,
    right: Array,
) -> tuple[int, float]:
    """The feature and threshold with the least Gini impurity among sqrt(d) random features; -1 for a leaf."""
    (d, n), n_drawn = columns.value.shape, 0
    total[:] = 0
    for i in rows:
        total[labels[i]] += times[i]
        n_drawn += times[i] > 0
    size = total.sum()
    best_feature, best_threshold, best = -1, 0.0, -1.0
    if total.max() == size:
        return best_feature, best_threshold
    sort = n_drawn * SMALL < n
    if not sort:
        for i in rows:
            here[i] = times[i]
    visited, wanted = 0, max(1, int(np.sqrt(d)))
    while visited < d and (visited < wanted or best_feature < 0):
        f = draw_feature(features, visited, state)
        visited += 1
        value, order, place, lowest = columns.value[f], columns.order[f], columns.place[f], columns.lowest[f]
        m = 0
        if sort:
            for i in rows:
                places[m] = place[i]
                m += times[i] > 0 and place[i] >= lowest
            places[:m].sort()
            for r in range(m):
                drawn[r] = order[places[r]]
        else:
            for i in order[lowest:]:
                drawn[m] = i
                m += here[i] > 0
        # From the highest value down to the least, 0, whose rows are what is left.
        right[:] = 0
        n_right, squares_left, squares_right = 0, 0, 0
        for count in total:
            squares_left += count * count
        most, middle = -1.0, 0.0
        for r in range(m - 1, -1, -1):
            i = drawn[r]
            w, c = times[i], labels[i]
            more, less = move_to(right, total, c, w)
            squares_right, squares_left, n_right = squares_right + more, squares_left + less, n_right + w
            below = value[drawn[r - 1]] if r > 0 else np.float32(0.0)
            if below < value[i] and n_right < size:
                gain = squares_left / (size - n_right) + squares_right / n_right
                if gain >= most:
                    most, middle = gain, 0.5 * (np.float64(below) + np.float64(value[i]))
        if most > best:
            best, best_feature, best_threshold = most, f, middle
    if not sort:
        for i in rows:
            here[i] = 0
    return best_feature, best_threshold
