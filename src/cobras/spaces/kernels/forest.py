"""A random forest as weights: how much each known row counts in the prediction at every row.

The trees are Breiman's: a bootstrap sample, sqrt(d) features at each node, the best split by Gini impurity, fully
grown. A row is predicted by the known rows in its leaf, so the mean over the trees of these shares says all that
the forest says, for whatever the known rows are labelled with. For a known row only the trees count that were grown
without it (out of bag).
"""

import numpy as np

from cobras.spaces.kernels.compile import Array, kernel

FEW = 16  # rows that are sorted by insertion; more are picked from all rows in their order


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
def move_to(side: Array, total: Array, c: int, w: int) -> tuple[int, int]:
    """Move w rows of class c to a side; how much more the squared counts of it, and of the other, are then."""
    more, less = w * (2 * side[c] + w), w * (w - 2 * (total[c] - side[c]))
    side[c] += w
    return more, less


@kernel()
def sort_rows(values: Array, order: Array, drawn: Array, is_drawn: Array, found: Array) -> None:
    """Write the drawn rows to `found`, ascending by value; `order` sorts all rows, `is_drawn` marks the drawn."""
    if len(drawn) > FEW:
        at = 0
        for s in order:
            if is_drawn[s]:
                found[at] = s
                at += 1
        return
    for r in range(len(drawn)):
        s, at = drawn[r], r
        while at > 0 and values[found[at - 1]] > values[s]:
            found[at] = found[at - 1]
            at -= 1
        found[at] = s


@kernel()
def best_cut(
    columns: Array,
    orders: Array,
    labels: Array,
    times: Array,
    drawn: Array,
    features: Array,
    state: Array,
    total: Array,
    left: Array,
    is_drawn: Array,
    rows: Array,
) -> tuple[int, np.float32]:
    """The feature and threshold with the least Gini impurity among sqrt(d) random features; -1 for a leaf.

    The last four are room to work in; classes and rows that are not drawn are not looked at.
    """
    d = len(features)
    best_feature, best_threshold, best = -1, np.float32(0), -1.0
    for s in drawn:
        total[labels[s]] = 0
    size, squares = 0, 0
    for s in drawn:
        w, c = times[s], labels[s]
        squares += w * (2 * total[c] + w)
        total[c] += w
        size += w
    if total[labels[drawn[0]]] == size:
        return best_feature, best_threshold
    for s in drawn:
        is_drawn[s] = True
    visited, wanted = 0, max(1, int(np.sqrt(d)))
    while visited < d and (visited < wanted or best_feature < 0):
        f = draw_feature(features, visited, state)
        visited += 1
        values = columns[f]
        sort_rows(values, orders[f], drawn, is_drawn, rows)
        for s in drawn:
            left[labels[s]] = 0
        n_left, squares_left, squares_right = 0, 0, squares
        for r in range(len(drawn) - 1):
            s = rows[r]
            w, c = times[s], labels[s]
            more, less = move_to(left, total, c, w)
            squares_left, squares_right, n_left = squares_left + more, squares_right + less, n_left + w
            low, high = values[s], values[rows[r + 1]]
            if low < high:
                gain = squares_left / n_left + squares_right / (size - n_left)
                if gain > best:
                    best, best_feature = gain, f
                    best_threshold = np.float32(0.5) * (low + high)
                    if best_threshold >= high:
                        best_threshold = low
    for s in drawn:
        is_drawn[s] = False
    return best_feature, best_threshold


@kernel()
def push(stack: Array, at: int, node: int, first: int, last: int) -> None:
    """Write a line of the stack."""
    # One by one: to assign to a part of an array, as in `stack[at] = ...`, takes 3 s to compile.
    stack[at, 0], stack[at, 1], stack[at, 2] = node, first, last


@kernel()
def grow_forest(columns: Array, labels: Array, n_trees: int, seed: int) -> tuple[Array, Array, Array, Array]:
    """Grow trees on m known rows; `columns` is (d, m), float32, and `labels` are their classes 0, 1, ...

    Return how often each row was drawn for each tree, (n_trees, m); for each node of a tree the feature, or -1 for
    a leaf, and the left child, beside which the right one stands, (n_trees, 2 m, 2); the thresholds; and the leaf
    of each known row, (n_trees, m).
    """
    d, m = columns.shape
    n_classes = labels.max() + 1
    classes = labels.astype(np.uint32)
    total, left = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    state = np.array([seed], np.uint64)
    features, is_drawn, rows = np.arange(d), np.zeros(m, np.bool_), np.empty(m, np.uint32)
    orders = np.empty((d, m), np.uint32)
    for f in range(d):
        order = np.argsort(columns[f])
        for r in range(m):
            orders[f, r] = order[r]
    times = np.zeros((n_trees, m), np.int64)
    nodes = np.full((n_trees, 2 * m, 2), -1, np.int32)
    thresholds = np.zeros((n_trees, 2 * m), np.float32)
    leaves = np.zeros((n_trees, m), np.int32)
    stack = np.empty((m + 1, 3), np.int64)
    for tree in range(n_trees):
        for _ in range(m):
            times[tree, next_random(state, m)] += 1
        # Indices without a sign need no check whether they count from the end.
        drawn = np.flatnonzero(times[tree]).astype(np.uint32)
        push(stack, 0, 0, 0, len(drawn))
        depth, n_nodes = 1, 1
        while depth > 0:
            depth -= 1
            node, first, last = stack[depth, 0], stack[depth, 1], stack[depth, 2]
            feature, threshold = best_cut(
                columns,
                orders,
                classes,
                times[tree],
                drawn[first:last],
                features,
                state,
                total,
                left,
                is_drawn,
                rows,
            )
            if feature < 0:
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
    for tree in range(n_trees):
        for s in range(m):
            leaves[tree, s] = find_leaf(columns, s, nodes[tree], thresholds[tree])
    return times, nodes, thresholds, leaves


@kernel()
def find_leaf(columns: Array, row: int, nodes: Array, thresholds: Array) -> int:
    """The number of the leaf that a row falls into."""
    node = 0
    while nodes[node, 0] >= 0:
        node = nodes[node, 1] + (columns[nodes[node, 0], row] > thresholds[node])
    return node


@kernel()
def out_of_bag_weights(times: Array, leaves: Array) -> Array:
    """The weight of each known row at each other one, (m, m), in the trees that were grown without it."""
    n_trees, m = leaves.shape
    weights = np.zeros((m, m))
    for tree in range(n_trees):
        size = np.zeros(leaves[tree].max() + 1)
        for s in range(m):
            size[leaves[tree, s]] += times[tree, s]
        for r in range(m):
            if times[tree, r] == 0:
                for s in range(m):
                    if leaves[tree, s] == leaves[tree, r]:
                        weights[r, s] += times[tree, s] / size[leaves[tree, r]]
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
    times: Array,
    nodes: Array,
    thresholds: Array,
    leaves: Array,
) -> Array:
    """The share of each class in the leaves that every row falls into, (n, n_classes); `columns` is (d, n)."""
    n_trees, m = leaves.shape
    n = columns.shape[1]
    shares = np.zeros((n, n_classes), np.float32)
    for tree in range(n_trees):
        # The known rows of each leaf, as chains.
        last = np.full(2 * m, -1)
        before = np.full(m, -1)
        size = np.zeros(2 * m)
        for s in range(m):
            if times[tree, s] > 0:
                before[s] = last[leaves[tree, s]]
                last[leaves[tree, s]] = s
                size[leaves[tree, s]] += times[tree, s]
        for r in range(n):
            leaf = find_leaf(columns, r, nodes[tree], thresholds[tree])
            s = last[leaf]
            while s >= 0:
                shares[r, labels[s]] += np.float32(times[tree, s] / size[leaf])
                s = before[s]
    return shares / np.float32(n_trees)
