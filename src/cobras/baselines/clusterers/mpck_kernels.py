"""The steps of MPCKMeans that walk over rows and constraints, compiled with numba.

All distances are plain squared differences between rows in the coordinates of a metric, Z = X L with A = L L', one
Z per metric: equal rows are at distance 0, exactly. Constraints stay components and pairs of components; the pairs
of rows they imply are walked through, never stored, so that memory is linear in the number of rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cobras.baselines.clusterers.closure import Closure
from cobras.core.types import FloatArray, IndexArray
from cobras.spaces.kernels.compile import kernel

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


class Costs(NamedTuple):
    """What it costs to put rows into clusters, in the coordinates of the one metric or of each cluster's own."""

    Z: FloatArray  # (g, n, d), the rows
    centers: FloatArray  # (k, d)
    offset: FloatArray  # (k,), minus log det A
    reach: FloatArray  # (k,), the Δ: no two rows are farther from each other, squared
    w_must_link: float
    w_cannot_link: float
    scaled: bool  # whether the weights are multiplied by distances


@kernel("contract", "reassoc")
def square(X: Array, i: int, Y: Array, j: int) -> float:
    """The squared distance of two rows; by number, because views would cost more than the sum."""
    total = 0.0
    for m in range(X.shape[1]):
        total += (X[i, m] - Y[j, m]) ** 2
    return total


@kernel()
def assign(costs: Any, links: Any, order: Array, labels: Array, near: Array) -> float:
    """
    The E-step, in place: rows move to the cluster where they cost least, those with constraints in the given order.

    Label -1 means not assigned yet. Return J; `near` gets the distances to the centers.
    """
    n, k = labels.shape[0], costs.centers.shape[0]
    linked = np.zeros(n, np.bool_)
    for i in order:
        linked[i] = True
    distance, cost = np.empty(k), np.empty(k)
    for i in range(n):
        if not linked[i]:
            _approach(costs, i, distance, cost)
            labels[i] = _least(cost, labels[i])
            near[i] = distance[labels[i]]
    _assign_linked(costs, links, order, labels, near)
    return _energy(costs, links, labels, near)


@kernel()
def approach(costs: Any, links: Any, components: Array) -> tuple[Array, Array]:
    """What components cost as wholes in each cluster, (c, k), and how much the best cluster leads, (c,)."""
    c, k = components.shape[0], costs.centers.shape[0]
    distance, part, cost, lead = np.empty(k), np.empty(k), np.zeros((c, k)), np.empty(c)
    for t in range(c):
        for at in range(links.first[components[t]], links.first[components[t] + 1]):
            _approach(costs, links.members[at], distance, part)
            for h in range(k):
                cost[t, h] += part[h]
        best = _least(cost[t], -1)
        lead[t] = np.inf
        for h in range(k):
            if h != best:
                lead[t] = min(lead[t], cost[t, h] - cost[t, best])
    return cost, lead


@kernel()
def regroup(
    costs: Any, links: Any, components: Array, cost: Array, order: Array, labels: Array, near: Array, J: float
) -> float:
    """Label components anew, as wholes one by one and then by rows; undo it unless J gets lower. Return J."""
    trial, trial_near = labels.copy(), near.copy()
    for i in links.rows:
        trial[i] = -1
    for t in range(components.shape[0]):
        rows = links.members[links.first[components[t]] : links.first[components[t] + 1]]
        for j in rows:
            _join(costs, links, j, trial, cost[t])
        best = _least(cost[t], -1)
        for j in rows:
            trial[j] = best
    _assign_linked(costs, links, order, trial, trial_near)
    trial_J = _energy(costs, links, trial, trial_near)
    if not trial_J < J:
        return J
    for i in order:
        labels[i], near[i] = trial[i], trial_near[i]
    return trial_J


@kernel()
def _assign_linked(costs: Any, links: Any, order: Array, labels: Array, near: Array) -> None:
    """One after the other, each given the labels that all others have at that moment."""
    k = costs.centers.shape[0]
    distance, cost = np.empty(k), np.empty(k)
    for i in order:
        _approach(costs, i, distance, cost)
        c = links.component[i]
        for j in links.members[links.first[c] : links.first[c + 1]]:
            if j != i and labels[j] >= 0:
                _part(costs, i, j, labels[j], cost)
        _join(costs, links, i, labels, cost)
        labels[i] = _least(cost, labels[i])
        near[i] = distance[labels[i]]


@kernel()
def _approach(costs: Any, i: int, distance: Array, cost: Array) -> None:
    """The distances of row i to the centers, and its costs before any constraint."""
    Z, centers = costs.Z, costs.centers
    single = Z.shape[0] == 1
    for h in range(centers.shape[0]):
        distance[h] = square(Z[0 if single else h], i, centers, h)
        cost[h] = distance[h] + costs.offset[h]


@kernel()
def _part(costs: Any, i: int, j: int, home: int, cost: Array) -> None:
    """Add what it costs row i to be in another cluster than `home`, that of its must-linked row j."""
    here = 0.5 * costs.w_must_link * _length(costs, home, i, j)
    there = here
    for h in range(cost.shape[0]):
        if h != home:
            if costs.Z.shape[0] > 1:
                there = 0.5 * costs.w_must_link * _length(costs, h, i, j)
            cost[h] += here + there


@kernel()
def _join(costs: Any, links: Any, i: int, labels: Array, cost: Array) -> None:
    """Add what it costs row i to be in the clusters of its cannot-linked rows."""
    c = links.component[i]
    for b in links.apart[links.first_apart[c] : links.first_apart[c + 1]]:
        for j in links.members[links.first[b] : links.first[b + 1]]:
            h = labels[j]
            if h >= 0:
                cost[h] += costs.w_cannot_link * (costs.reach[h] - _length(costs, h, i, j))


@kernel()
def _length(costs: Any, h: int, i: int, j: int) -> float:
    """The squared distance of two rows in the metric of cluster h."""
    g = 0 if costs.Z.shape[0] == 1 else h
    return square(costs.Z[g], i, costs.Z[g], j) if costs.scaled else 1.0


@kernel()
def _least(cost: Array, now: int) -> int:
    """The cheapest cluster: the present one if it is among them, else the first."""
    best = 0
    for h in range(1, cost.shape[0]):
        if cost[h] < cost[best]:
            best = h
    return now if now >= 0 and cost[now] <= cost[best] else best


@kernel()
def _energy(costs: Any, links: Any, labels: Array, near: Array) -> float:
    J = price(costs, labels, *violated(links, labels))
    for i in range(labels.shape[0]):
        J += near[i] + costs.offset[labels[i]]
    return J


@kernel()
def price(costs: Any, labels: Array, must: Array, cannot: Array) -> float:
    """What the violated constraints cost: the last two sums of J."""
    total = 0.0
    for i, j in must:
        total += 0.5 * costs.w_must_link * (_length(costs, labels[i], i, j) + _length(costs, labels[j], i, j))
    for i, j in cannot:
        total += costs.w_cannot_link * (costs.reach[labels[i]] - _length(costs, labels[i], i, j))
    return total


@kernel()
def violated(links: Any, labels: Array) -> tuple[Array, Array]:
    """The must-linked rows in different clusters and the cannot-linked rows in one, (v, 2) each, in order."""
    found = np.zeros(2, np.int64)
    must, cannot = np.empty((0, 2), np.int64), np.empty((0, 2), np.int64)
    for fill in range(2):
        if fill:
            must, cannot = np.empty((found[0], 2), np.int64), np.empty((found[1], 2), np.int64)
            found[0] = found[1] = 0
        for i in links.rows:
            c = links.component[i]
            for j in links.members[links.first[c] : links.first[c + 1]]:
                if j > i and labels[j] != labels[i]:
                    if fill:
                        must[found[0], 0], must[found[0], 1] = i, j
                    found[0] += 1
            for b in links.apart[links.first_apart[c] : links.first_apart[c + 1]]:
                for j in links.members[links.first[b] : links.first[b + 1]]:
                    if j > i and labels[j] == labels[i]:
                        if fill:
                            cannot[found[1], 0], cannot[found[1], 1] = i, j
                        found[1] += 1
    return must, cannot


@kernel("contract", "reassoc")
def means(X: Array, labels: Array, centers: Array, counts: Array) -> None:
    """Write the mean and the number of each cluster's rows, in place; an empty one keeps its center."""
    k, d = centers.shape
    sums = np.zeros((k, d))
    for h in range(k):
        counts[h] = 0
    for i in range(X.shape[0]):
        counts[labels[i]] += 1
        for m in range(d):
            sums[labels[i], m] += X[i, m]
    for h in range(k):
        for m in range(d if counts[h] else 0):
            centers[h, m] = sums[h, m] / counts[h]
