"""The steps of MPCKMeans that walk over rows and constraints, compiled with numba.

All distances are plain squared differences between rows in the coordinates of a metric, Z = X L with A = L L', one
Z per metric: equal rows are at distance 0, exactly. Constraints stay components and pairs of components; the pairs
of rows they imply are walked through, never stored, so that memory is linear in the number of rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cobras.clusterers.closure import Closure
from cobras.spaces.compile import kernel
from cobras.types import IndexArray

Array: TypeAlias = Any  # numba infers element types; shapes stand in the docstrings


class Links(NamedTuple):
    """A closure in flat arrays: the rows of component c are ``members[first[c]:first[c + 1]]``, and so on."""

    rows: IndexArray  # those that a constraint touches
    component: IndexArray
    members: IndexArray
    first: IndexArray
    apart: IndexArray
    first_apart: IndexArray

    @classmethod
    def of(cls, closed: Closure) -> Links:
        """Flatten; O(n + c log c)."""
        component = closed.component
        sizes = np.bincount(component)
        both = np.concatenate((closed.apart, closed.apart[:, ::-1]))
        both = both[np.lexsort((both[:, 1], both[:, 0]))]
        degree = np.bincount(both[:, 0], minlength=len(sizes))
        return cls(
            rows=np.flatnonzero(((sizes > 1) | (degree > 0))[component]),
            component=component,
            members=np.argsort(component, kind="stable"),
            first=np.concatenate(([0], np.cumsum(sizes))),
            apart=np.ascontiguousarray(both[:, 1]),
            first_apart=np.concatenate(([0], np.cumsum(degree))),
        )


class Penalty(NamedTuple):
    """The weights of a violated must-link and cannot-link, and whether they are multiplied by a distance."""

    must_link: float
    cannot_link: float
    scaled: bool


@kernel("contract", "reassoc")
def square(x: Array, y: Array) -> float:
    """The squared distance of two rows."""
    total = 0.0
    for m in range(x.shape[0]):
        total += (x[m] - y[m]) ** 2
    return total


@kernel("contract", "reassoc")
def assign(
    Z: Array,
    centers: Array,
    offset: Array,
    reach: Array,
    penalty: Any,
    links: Any,
    order: Array,
    labels: Array,
    near: Array,
) -> int:
    """
    The E-step: each row moves to the cluster where it costs least, given the labels of all others, in place.

    `Z` (g, n, d), `centers` (k, d) and `reach` (k,), the Δ, are in metric coordinates; `offset` (k,) is −log det A;
    label -1 means not assigned yet. Return how many labels changed; `near` gets the distances without penalty.
    """
    n, k, single = Z.shape[1], centers.shape[0], Z.shape[0] == 1
    component, members, first = links.component, links.members, links.first
    cost, distance = np.empty(k), np.empty(k)
    free = np.ones(n, np.bool_)
    free[order] = False
    n_changed = 0
    for t in range(n + order.shape[0]):
        i = t if t < n else order[t - n]
        if t < n and not free[i]:
            continue
        for h in range(k):
            distance[h] = square(Z[0 if single else h, i], centers[h])
            cost[h] = distance[h] + offset[h]
        if t >= n:
            c = component[i]
            for at in range(first[c], first[c + 1]):
                j = members[at]
                if j != i and labels[j] >= 0:
                    _part(Z, i, j, labels[j], penalty, cost)
            for a in range(links.first_apart[c], links.first_apart[c + 1]):
                b = links.apart[a]
                for at in range(first[b], first[b + 1]):
                    h = labels[members[at]]
                    if h >= 0:
                        cost[h] += penalty.cannot_link * (
                            reach[h] - _length(Z, 0 if single else h, i, members[at], penalty)
                        )
        best, now = 0, labels[i]
        for h in range(1, k):
            if cost[h] < cost[best]:
                best = h
        if now >= 0 and cost[now] <= cost[best]:
            best = now
        n_changed += best != now
        labels[i], near[i] = best, distance[best]
    return n_changed


@kernel("contract", "reassoc")
def assign_components(
    Z: Array, centers: Array, offset: Array, reach: Array, penalty: Any, links: Any, labels: Array, near: Array
) -> int:
    """Move whole must-link components where that lowers J, in place: row by row, their links would hold them."""
    k, single, n_moved = centers.shape[0], Z.shape[0] == 1, 0
    for i in links.rows:
        c = links.component[i]
        rows = links.members[links.first[c] : links.first[c + 1]]
        if len(rows) == 1 or rows[0] != i:
            continue
        cost, now = np.zeros(k), 0.0
        for at, x in enumerate(rows):
            for h in range(k):
                part = square(Z[0 if single else h, x], centers[h]) + offset[h]
                cost[h] += part
                now += part if h == labels[x] else 0.0
            for y in rows[:at]:
                if labels[y] != labels[x]:
                    now += 0.5 * penalty.must_link * (
                        _length(Z, 0 if single else labels[x], x, y, penalty)
                        + _length(Z, 0 if single else labels[y], x, y, penalty)
                    )
            for a in range(links.first_apart[c], links.first_apart[c + 1]):
                b = links.apart[a]
                for y in links.members[links.first[b] : links.first[b + 1]]:
                    h = labels[y]
                    part = penalty.cannot_link * (reach[h] - _length(Z, 0 if single else h, x, y, penalty))
                    cost[h] += part
                    now += part if h == labels[x] else 0.0
        best = np.argmin(cost)
        if cost[best] < now - 1e-12 * abs(now):
            for x in rows:
                n_moved += labels[x] != best
                labels[x] = best
                near[x] = square(Z[0 if single else best, x], centers[best])
    return n_moved


@kernel()
def _length(Z: Array, g: int, i: int, j: int, penalty: Any) -> float:
    return square(Z[g, i], Z[g, j]) if penalty.scaled else 1.0


@kernel()
def _part(Z: Array, i: int, j: int, home: int, penalty: Any, cost: Array) -> None:
    """Add what it costs row i to be in another cluster than `home`, that of its must-linked row j."""
    k, single = cost.shape[0], Z.shape[0] == 1
    here = 0.5 * penalty.must_link * _length(Z, 0 if single else home, i, j, penalty)
    there = here
    for h in range(k):
        if h != home:
            if not single:
                there = 0.5 * penalty.must_link * _length(Z, h, i, j, penalty)
            cost[h] += here + there


@kernel()
def violated(links: Any, labels: Array) -> tuple[Array, Array]:
    """The must-linked rows in different clusters and the cannot-linked rows in one, (v, 2) each, in order."""
    found = np.zeros(2, np.int64)
    must, cannot = np.empty((0, 2), np.int64), np.empty((0, 2), np.int64)
    for fill in range(2):
        if fill:
            must, cannot = np.empty((found[0], 2), np.int64), np.empty((found[1], 2), np.int64)
            found[:] = 0
        for i in links.rows:
            c = links.component[i]
            for at in range(links.first[c], links.first[c + 1]):
                j = links.members[at]
                if j > i and labels[j] != labels[i]:
                    if fill:
                        must[found[0]] = i, j
                    found[0] += 1
            for a in range(links.first_apart[c], links.first_apart[c + 1]):
                b = links.apart[a]
                for at in range(links.first[b], links.first[b + 1]):
                    j = links.members[at]
                    if j > i and labels[j] == labels[i]:
                        if fill:
                            cannot[found[1]] = i, j
                        found[1] += 1
    return must, cannot


@kernel()
def price(Z: Array, labels: Array, reach: Array, penalty: Any, must: Array, cannot: Array) -> float:
    """What the violated constraints cost: the last two sums of J."""
    single, total = Z.shape[0] == 1, 0.0
    for i, j in must:
        total += 0.5 * penalty.must_link * _length(Z, 0 if single else labels[i], i, j, penalty)
        total += 0.5 * penalty.must_link * _length(Z, 0 if single else labels[j], i, j, penalty)
    for i, j in cannot:
        h = labels[i]
        total += penalty.cannot_link * (reach[h] - _length(Z, 0 if single else h, i, j, penalty))
    return total


@kernel("contract", "reassoc")
def means(X: Array, labels: Array, centers: Array, counts: Array) -> None:
    """Write the mean and the number of each cluster's rows, in place; an empty one keeps its center."""
    k, d = centers.shape
    sums = np.zeros((k, d))
    counts[:] = 0
    for i in range(X.shape[0]):
        counts[labels[i]] += 1
        for m in range(d):
            sums[labels[i], m] += X[i, m]
    for h in range(k):
        if counts[h]:
            centers[h] = sums[h] / counts[h]


@kernel("contract", "reassoc")
def spread(
    X: Array, labels: Array, centers: Array, box: Array, penalty: Any, must: Array, cannot: Array
) -> Array:
    """The sums s (k, d) of the M-step: J = Σ a s − Σ n log a, with `box` (d,) the squared ranges of the columns."""
    k, d = centers.shape
    s = np.zeros((k, d))
    for i in range(X.shape[0]):
        h = labels[i]
        for m in range(d):
            s[h, m] += (X[i, m] - centers[h, m]) ** 2
    for i, j in must:
        for m in range(d):
            part = 0.5 * penalty.must_link * (X[i, m] - X[j, m]) ** 2
            s[labels[i], m] += part
            s[labels[j], m] += part
    for i, j in cannot:
        for m in range(d):
            s[labels[i], m] += penalty.cannot_link * max(box[m] - (X[i, m] - X[j, m]) ** 2, 0.0)
    return s


@kernel("contract", "reassoc")
def farthest(Z: Array, radius: Array) -> tuple[int, int]:
    """The pair of rows farthest from each other; rows by decreasing distance from a point, their `radius`."""
    most, pair = -1.0, (0, 0)
    for a in range(1, Z.shape[0]):
        if radius[a] + radius[0] < most:
            break
        for b in range(a):
            if radius[a] + radius[b] < most:  # by the triangle inequality, no later row is farther
                break
            length = np.sqrt(square(Z[a], Z[b]))
            if length > most:
                most, pair = length, (a, b)
    return pair


@kernel()
def draw(X: Array, centers: Array, n_given: int, uniforms: Array) -> None:
    """Greedy k-means++: fill `centers` (k, d) from row `n_given` on, with `uniforms` (k, trials) as the dice."""
    n, (k, n_trials) = X.shape[0], uniforms.shape
    near, trial, best = np.full(n, np.inf), np.empty(n), np.empty(n)
    for h in range(n_given):
        for i in range(n):
            near[i] = min(near[i], square(X[i], centers[h]))
    for h in range(n_given, k):
        total = near.sum() if h else 0.0
        least, chosen = np.inf, 0
        for t in range(n_trials if total > 0 else 1):
            row = int(uniforms[h, t] * n)
            if total > 0:
                target = uniforms[h, t] * total
                for i in range(n):
                    if near[i] > 0:
                        row = i
                        target -= near[i]
                        if target < 0:
                            break
            for i in range(n):
                trial[i] = min(near[i], square(X[i], X[row]))
            potential = trial.sum()
            if potential < least:
                least, chosen = potential, row
                best[:] = trial
        near[:] = best
        centers[h] = X[chosen]
