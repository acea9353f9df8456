"""A forest of extremely randomised trees: which classes the known rows have that lie in the leaves of a row.

As in Geurts, Ernst and Wehenkel (2006), sqrt(d) random features are tried at each node, each with one random
threshold; the best of these is taken, by Gini impurity, and trees are fully grown. From a few dozen known rows
such trees predict better than those of Breiman's random forest, whose thresholds fit the sample. Each tree is grown
without every fifth known row: these tell how well the forest predicts rows that it does not know.
"""

import numpy as np

from cobras.spaces.kernels.compile import Array, kernel

LEFT_OUT = 5  # a tree is grown without one in this many of the known rows


@kernel()
def next_random(state: Array, below: int) -> int:
    """The next number of a SplitMix64 stream, in [0, below)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return int((z >> np.uint64(32)) * np.uint64(below) >> np.uint64(32))


@kernel()
def draw_feature(features: Array, visited: int, state: Array) -> int:
    """Draw one of the features that were not visited, and put it where it counts as visited."""
    at = visited + next_random(state, len(features) - visited)
    features[visited], features[at] = features[at], features[visited]
    return int(features[visited])


@kernel()
def draw_threshold(low: np.float32, high: np.float32, state: Array) -> np.float32:
    """A random number from the low one on and below the high one."""
    share = np.float32(next_random(state, 1 << 24)) / np.float32(1 << 24)
    threshold = low + share * (high - low)
    return threshold if threshold < high else low


@kernel()
def best_cut(
    columns: Array,
    labels: Array,
    drawn: Array,
    features: Array,
    state: Array,
    counts: Array,
    values: Array,
) -> tuple[int, np.float32]:
    """The feature and threshold with the least Gini impurity: sqrt(d) random ones of each; -1 for a leaf.

    The last two are room to work in; rows that are not drawn are not looked at.
    """
    d, size = len(features), len(drawn)
    best_feature, best_threshold, best = -1, np.float32(0), -1.0
    total, left, classes = counts[0], counts[1], counts[2]
    for s in drawn:
        total[labels[s]] = 0
    n_classes = 0
    for s in drawn:
        c = labels[s]
        if total[c] == 0:
            classes[n_classes] = c
            n_classes += 1
        total[c] += 1
    if n_classes == 1:
        return best_feature, best_threshold
    visited, wanted = 0, max(1, int(np.sqrt(d)))
    while visited < d and (visited < wanted or best_feature < 0):
        f = draw_feature(features, visited, state)
        visited += 1
        low = high = columns[f, drawn[0]]
        for r in range(size):
            value = columns[f, drawn[r]]
            values[r] = value
            low, high = min(low, value), max(high, value)
        if low == high:
            continue
        threshold = draw_threshold(low, high, state)
        for x in range(n_classes):
            left[classes[x]] = 0
        for r in range(size):
            left[labels[drawn[r]]] += values[r] <= threshold
        n_left, squares_left, squares_right = 0, 0, 0
        for x in range(n_classes):
            c = classes[x]
            n_left += left[c]
            squares_left += left[c] * left[c]
            squares_right += (total[c] - left[c]) * (total[c] - left[c])
        gain = squares_left / n_left + squares_right / (size - n_left)
        if gain > best:
            best, best_feature, best_threshold = gain, f, threshold
    return best_feature, best_threshold


@kernel()
def push(stack: Array, at: int, node: int, first: int, last: int) -> None:
    """Write a line of the stack."""
    # One by one: to assign to a part of an array, as in `stack[at] = ...`, takes 3 s to compile.
    stack[at, 0], stack[at, 1], stack[at, 2] = node, first, last


@kernel()
def grow_forest(columns: Array, labels: Array, n_trees: int, seed: int) -> tuple[Array, Array, Array, Array]:
    """Grow trees on m known rows; `columns` is (d, m), float32, and `labels` are their classes 0, 1, ...

    Return whether each row was used for each tree, (n_trees, m); for each node of a tree the feature, or -1 for a
    leaf, and the left child, beside which the right one stands, (n_trees, 2 m, 2); the thresholds; and the leaf of
    each known row, (n_trees, m).
    """
    d, m = columns.shape
    n_classes = labels.max() + 1
    classes = labels.astype(np.uint32)
    counts, values = np.empty((3, n_classes), np.int64), np.empty(m, np.float32)
    state = np.array([seed], np.uint64)
    features, rows = np.arange(d), np.arange(m)
    n_out = (m + LEFT_OUT - 1) // LEFT_OUT if m > 1 else 0
    used = np.ones((n_trees, m), np.bool_)
    nodes = np.full((n_trees, 2 * m, 2), -1, np.int32)
    thresholds = np.zeros((n_trees, 2 * m), np.float32)
    leaves = np.zeros((n_trees, m), np.int32)
    stack = np.empty((m + 1, 3), np.int64)
    for tree in range(n_trees):
        for out in range(n_out):
            used[tree, draw_feature(rows, out, state)] = False
        # Indices without a sign need no check whether they count from the end.
        drawn = np.flatnonzero(used[tree]).astype(np.uint32)
        push(stack, 0, 0, 0, len(drawn))
        depth, n_nodes = 1, 1
        while depth > 0:
            depth -= 1
            node, first, last = stack[depth, 0], stack[depth, 1], stack[depth, 2]
            here = drawn[first:last]
            feature, threshold = best_cut(columns, classes, here, features, state, counts, values)
            if feature < 0:
                for s in here:
                    leaves[tree, s] = node
                continue
            middle, end = first, last - 1
            while middle <= end:
                if columns[feature, drawn[middle]] <= threshold:
                    middle += 1
                else:
                    drawn[middle], drawn[end] = drawn[end], drawn[middle]
                    end -= 1
            nodes[tree, node, 0], nodes[tree, node, 1] = feature, n_nodes
            thresholds[tree, node] = threshold
            push(stack, depth, n_nodes, first, middle)
            push(stack, depth + 1, n_nodes + 1, middle, last)
            n_nodes += 2
            depth += 2
        for s in range(m):
            if not used[tree, s]:
                leaves[tree, s] = find_leaf(columns, s, nodes[tree], thresholds[tree])
    return used, nodes, thresholds, leaves


@kernel()
def find_leaf(columns: Array, row: int, nodes: Array, thresholds: Array) -> int:
    """The number of the leaf that a row falls into."""
    node = 0
    while nodes[node, 0] >= 0:
        node = nodes[node, 1] + (columns[nodes[node, 0], row] > thresholds[node])
    return node


@kernel()
def left_out_weights(used: Array, leaves: Array) -> Array:
    """The weight of each known row at each other one, (m, m), in the trees that were grown without it."""
    n_trees, m = leaves.shape
    weights = np.zeros((m, m))
    for tree in range(n_trees):
        size = np.zeros(leaves[tree].max() + 1)
        for s in range(m):
            size[leaves[tree, s]] += used[tree, s]
        for r in range(m):
            if not used[tree, r]:
                for s in range(m):
                    if used[tree, s] and leaves[tree, s] == leaves[tree, r]:
                        weights[r, s] += 1 / size[leaves[tree, r]]
    for r in range(m):
        sum_of_row = max(1.0, weights[r].sum())
        for s in range(m):
            weights[r, s] /= sum_of_row
    return weights


@kernel()
def forest_shares(
    columns: Array,
    labels: Array,
    n_classes: int,
    used: Array,
    nodes: Array,
    thresholds: Array,
    leaves: Array,
) -> Array:
    """The share of each class in the leaves that every row falls into, (n, n_classes); `columns` is (d, n)."""
    n_trees, m = leaves.shape
    n = columns.shape[1]
    shares = np.zeros((n, n_classes), np.float32)
    rows, others = np.arange(n).astype(np.uint32), np.empty(n, np.uint32)
    stack = np.empty((m + 1, 3), np.int64)
    for tree in range(n_trees):
        # The known rows of each leaf, as chains; the first one alone where all have its class, as nearly always.
        first, last = np.full(2 * m, -1), np.full(2 * m, -1)
        is_mixed, size = np.zeros(2 * m, np.bool_), np.zeros(2 * m, np.int64)
        before = np.full(m, -1)
        for s in np.flatnonzero(used[tree]):
            leaf = leaves[tree, s]
            if first[leaf] < 0:
                first[leaf] = s
            is_mixed[leaf] |= labels[s] != labels[first[leaf]]
        for s in np.flatnonzero(used[tree]):
            leaf = leaves[tree, s]
            if is_mixed[leaf] or first[leaf] == s:
                before[s], last[leaf] = last[leaf], s
                size[leaf] += 1
        # All rows go down a tree together, without a branch at each: a quarter of the time of one after the other.
        push(stack, 0, 0, 0, n)
        depth = 1
        while depth > 0:
            depth -= 1
            node, begin, end = stack[depth, 0], stack[depth, 1], stack[depth, 2]
            if nodes[tree, node, 0] < 0:
                s = last[node]
                while s >= 0:
                    for r in rows[begin:end]:
                        shares[r, labels[s]] += np.float32(1 / size[node])
                    s = before[s]
                continue
            values, threshold = columns[nodes[tree, node, 0]], thresholds[tree, node]
            middle, n_others = begin, 0
            for at in range(begin, end):
                r = rows[at]
                is_other = values[r] > threshold
                rows[middle] = others[n_others] = r
                middle += 1 - is_other
                n_others += is_other
            rows[middle:end] = others[:n_others]
            for side, (low, high) in enumerate(((begin, middle), (middle, end))):
                if low < high:
                    push(stack, depth, nodes[tree, node, 1] + side, low, high)
                    depth += 1
    return shares / np.float32(n_trees)
