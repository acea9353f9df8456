"""Pairs of rows for COBS: those whose relation the answers imply, and a sample of the others."""

from __future__ import annotations

import numpy as np

from cobras.core.constraints import Constraints
from cobras.core.types import BoolArray, IndexArray

FEW_ROWS = 200  # up to so many training rows, unknown pairs are drawn from a list of all pairs of components
N_ROUNDS = 10  # above, so many times the sample are drawn first from all pairs, known ones included


def entailed_pairs(constraints: Constraints) -> tuple[IndexArray, BoolArray]:
    """All pairs whose relation the answers imply, and whether they belong together."""
    rows = np.array(sorted({row for pair, _ in constraints for row in pair}), np.int64)
    roots, home = np.unique([constraints.component(row) for row in rows.tolist()], return_inverse=True)
    apart = _apart(constraints, roots)[np.ix_(home, home)]
    together = home[:, None] == home
    i, j = np.nonzero(np.triu(apart | together, 1))
    return np.column_stack([rows[i], rows[j]]), together[i, j]


def unknown_pairs(
    constraints: Constraints, shown: IndexArray, n: int, size: int, rng: np.random.Generator
) -> IndexArray:
    """Distinct random pairs of shown rows, neither known nor set aside; fewer than `size` only if these are all."""
    home = np.arange(n)
    for row in {row for pair, _ in constraints for row in pair}:
        home[row] = constraints.component(row)
    aside = [i * n + j for i, j in constraints.set_aside]
    if len(shown) > FEW_ROWS:
        roots = {constraints.component(row) for pair, _ in constraints for row in pair}
        apart = [a * n + b for a in roots for b in constraints.apart_from(a)]
        pairs: IndexArray = np.sort(shown[rng.integers(len(shown), size=(N_ROUNDS * size, 2))], axis=1)
        i, j = pairs.T
        known = (home[i] == home[j]) | np.isin(home[i] * n + home[j], apart) | np.isin(i * n + j, aside)
        pairs = pairs[~known]
        first = np.unique(pairs @ [n, 1], return_index=True)[1]
        if len(first) >= size:
            return pairs[np.sort(first)[:size]]
    pairs = _draw_from_all(constraints, shown, home[shown], size + len(aside), rng)
    return pairs[~np.isin(pairs @ [n, 1], aside)][:size]


def _draw_from_all(
    constraints: Constraints, shown: IndexArray, home: IndexArray, size: int, rng: np.random.Generator
) -> IndexArray:
    """Random pairs of rows in unrelated components, all of them equally likely."""
    # Pairs are numbered by pair of components, then by rows, and never listed: O(c²) for c components.
    roots, place, sizes = np.unique(home, return_inverse=True, return_counts=True)
    a, b = np.nonzero(np.triu(~_apart(constraints, roots), 1))
    ends = np.cumsum(sizes[a] * sizes[b])
    total = int(ends[-1]) if len(ends) else 0
    numbers = rng.choice(total, min(total, size), replace=False)
    at = np.searchsorted(ends, numbers, side="right")
    a, b, numbers = a[at], b[at], ends[at] - 1 - numbers
    members, starts = shown[np.argsort(place, kind="stable")], np.cumsum(sizes) - sizes
    i, j = members[starts[a] + numbers // sizes[b]], members[starts[b] + numbers % sizes[b]]
    return np.column_stack([np.minimum(i, j), np.maximum(i, j)])


def _apart(constraints: Constraints, roots: IndexArray) -> BoolArray:
    """Which of these components, given by their roots, a cannot-link holds apart; a boolean matrix."""
    place = {root: at for at, root in enumerate(roots.tolist())}
    apart = np.zeros((len(roots), len(roots)), bool)
    for root, at in place.items():
        for other in constraints.apart_from(root):
            if other in place:
                apart[at, place[other]] = True
    return apart
