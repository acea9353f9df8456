"""The descent of MPCKMeans: assignment, means, metric, and again; each step lowers the objective J, or keeps it.

The steps that walk over rows and constraints are compiled with numba. All distances are plain squared differences
between rows in the coordinates of a metric, Z = X L with A = L L', one Z per metric: equal rows are at distance 0,
exactly. Constraints stay components and pairs of components; the pairs of rows they imply are walked through, never
stored, so that memory is linear in the number of rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cobras.baselines.clusterers.links import Links, squared_distance, write_means
from cobras.baselines.clusterers.metrics import Metric, Weights
from cobras.core.types import FloatArray, IndexArray, LabelArray
from cobras.spaces.kernels.compile import Array, kernel

N_MOVES = 3  # how often an empty cluster is moved
NO_PAIRS = np.empty((0, 2), dtype=np.int64)


class Costs(NamedTuple):
    """What it costs to put rows into clusters, in the coordinates of the one metric or of each cluster's own."""

    Z: FloatArray  # the rows, (g, n, d)
    centers: FloatArray  # (k, d)
    offset: FloatArray  # minus log det A, (k,)
    delta: FloatArray  # Δ, (k,): no two rows are farther from each other, squared
    w_must_link: float
    w_cannot_link: float
    scaled: bool  # whether the weights are multiplied by distances


class Descent:
    """The state of a run and its steps."""

    def __init__(
        self,
        X: FloatArray,
        links: Links,
        metric: Metric,
        start: tuple[FloatArray, LabelArray],
        weights: Weights,
        scaled: bool,
    ) -> None:
        self.X, self.links, self.metric, self.weights, self.scaled = X, links, metric, weights, scaled
        self.centers, self.labels = start
        # The squared distance of each row to its center.
        self.near = np.zeros(len(X))
        # The rows of each cluster, and the iterations that it has been empty.
        self.counts, self.n_empty = np.zeros((2, len(self.centers)), dtype=np.int64)
        # The must-links and cannot-links that the labels violate, (v, 2) each, after `update`.
        self.must = self.cannot = NO_PAIRS
        self.linked = np.unique(links.component[links.rows])
        # J after each step.
        self.path: list[float] = []
        self.measure()

    def measure(self) -> None:
        """Compute rows, centers, Δ and log det A in the present metric."""
        k, metric = len(self.centers), self.metric
        Z, centers = metric.transform_rows(self.X), metric.transform_centers(self.centers)
        # Without scaling every distance counts as 1, and a violated cannot-link costs 2 - 1.
        offset, delta = np.full(k, -metric.log_det), np.full(k, metric.delta(Z) if self.scaled else 2.0)
        self.costs = Costs(Z, centers, offset, delta, *self.weights, self.scaled)

    def assign(self, order: IndexArray, again: bool) -> bool:
        """Do the E-step; rows with constraints choose in the given order. Return whether any row moved.

        With `again`, components are also placed anew, those first whose best cluster leads by most.
        """
        costs, links, labels, near = self.costs, self.links, self.labels, self.near
        before = labels.copy()
        J = assign(costs, links, order, labels, near)
        if again and len(order):
            cost, lead = component_costs(costs, links, self.linked)
            clearest = np.argsort(-lead, kind="stable")
            J = regroup(costs, links, self.linked[clearest], cost[clearest], order, labels, near, J)
        self.path.append(J)
        return not np.array_equal(before, labels)

    def update(self, learn: bool) -> None:
        """Do the M-step: means, and the metric if it is to be learnt."""
        X, labels, centers, metric = self.X, self.labels, self.centers, self.metric
        write_means(X, labels, centers, self.counts)
        self.must, self.cannot = violations(self.links, labels)
        counts = self.counts if len(metric.value) > 1 else np.array([len(X)])
        if learn:
            sums = metric.sums(X, labels, centers, self.weights, self.must, self.cannot)
            self.path.append(self._metric_objective(sums, counts))
            metric.learn(sums, counts)
            self.path.append(self._metric_objective(sums, counts))
        else:
            sums = metric.sums(X, labels, centers, self.weights, NO_PAIRS, NO_PAIRS)
            J = self._metric_objective(sums, counts) + penalty(self.costs, labels, self.must, self.cannot)
            self.path.append(J)

    def _metric_objective(self, sums: FloatArray, counts: IndexArray) -> float:
        """J from the sums of `Metric.sums`: linear in the metric but for log det."""
        return float((self.metric.value * sums).sum() - counts @ self.metric.log_det)

    def move_empty_clusters(self) -> bool:
        """Move clusters that stay empty to the rows that fit worst; return whether one of them may still fill."""
        may_fill = False
        for h in np.flatnonzero(self.counts == 0).tolist():
            if 0 < self.n_empty[h] <= N_MOVES:
                free = np.delete(np.arange(len(self.X)), self.links.rows)
                rows = free if len(free) else self.links.rows
                worst = rows[np.argmax(self.near[rows])]
                self.centers[h], self.near[worst] = self.X[worst], 0
            may_fill |= bool(self.n_empty[h] <= N_MOVES)
            self.n_empty[h] += 1
        return may_fill


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
            _write_costs(costs, i, distance, cost)
            labels[i] = _cheapest(cost, labels[i])
            near[i] = distance[labels[i]]
    _assign_linked(costs, links, order, labels, near)
    return _objective(costs, links, labels, near)


@kernel()
def component_costs(costs: Any, links: Any, components: Array) -> tuple[Array, Array]:
    """What components cost as wholes in each cluster, (c, k), and how much the best cluster leads, (c,)."""
    c, k = components.shape[0], costs.centers.shape[0]
    distance, part, cost, lead = np.empty(k), np.empty(k), np.zeros((c, k)), np.empty(c)
    for t in range(c):
        for at in range(links.first[components[t]], links.first[components[t] + 1]):
            _write_costs(costs, links.members[at], distance, part)
            for h in range(k):
                cost[t, h] += part[h]
        best = _cheapest(cost[t], -1)
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
            _add_cannot_links(costs, links, j, trial, cost[t])
        best = _cheapest(cost[t], -1)
        for j in rows:
            trial[j] = best
    _assign_linked(costs, links, order, trial, trial_near)
    trial_J = _objective(costs, links, trial, trial_near)
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
        _write_costs(costs, i, distance, cost)
        c = links.component[i]
        for j in links.members[links.first[c] : links.first[c + 1]]:
            if j != i and labels[j] >= 0:
                _add_must_link(costs, i, j, labels[j], cost)
        _add_cannot_links(costs, links, i, labels, cost)
        labels[i] = _cheapest(cost, labels[i])
        near[i] = distance[labels[i]]


@kernel()
def _write_costs(costs: Any, i: int, distance: Array, cost: Array) -> None:
    """Write the distances of row i to the centers, and its costs before any constraint."""
    Z, centers = costs.Z, costs.centers
    single = Z.shape[0] == 1
    for h in range(centers.shape[0]):
        distance[h] = squared_distance(Z[0 if single else h], i, centers, h)
        cost[h] = distance[h] + costs.offset[h]


@kernel()
def _add_must_link(costs: Any, i: int, j: int, home: int, cost: Array) -> None:
    """Add what it costs row i to be in another cluster than `home`, that of its must-linked row j."""
    here = 0.5 * costs.w_must_link * _length(costs, home, i, j)
    there = here
    for h in range(cost.shape[0]):
        if h != home:
            if costs.Z.shape[0] > 1:
                there = 0.5 * costs.w_must_link * _length(costs, h, i, j)
            cost[h] += here + there


@kernel()
def _add_cannot_links(costs: Any, links: Any, i: int, labels: Array, cost: Array) -> None:
    """Add what it costs row i to be in the clusters of its cannot-linked rows."""
    c = links.component[i]
    for b in links.apart[links.first_apart[c] : links.first_apart[c + 1]]:
        for j in links.members[links.first[b] : links.first[b + 1]]:
            h = labels[j]
            if h >= 0:
                cost[h] += costs.w_cannot_link * (costs.delta[h] - _length(costs, h, i, j))


@kernel()
def _length(costs: Any, h: int, i: int, j: int) -> float:
    """The squared distance of two rows in the metric of cluster h; 1 if costs are not scaled."""
    g = 0 if costs.Z.shape[0] == 1 else h
    return squared_distance(costs.Z[g], i, costs.Z[g], j) if costs.scaled else 1.0


@kernel()
def _cheapest(cost: Array, now: int) -> int:
    """The cheapest cluster: the present one if it is among them, else the first."""
    best = 0
    for h in range(1, cost.shape[0]):
        if cost[h] < cost[best]:
            best = h
    return now if now >= 0 and cost[now] <= cost[best] else best


@kernel()
def _objective(costs: Any, links: Any, labels: Array, near: Array) -> float:
    J = penalty(costs, labels, *violations(links, labels))
    for i in range(labels.shape[0]):
        J += near[i] + costs.offset[labels[i]]
    return J


@kernel()
def penalty(costs: Any, labels: Array, must: Array, cannot: Array) -> float:
    """What the violated constraints cost: the last two sums of J."""
    total = 0.0
    for i, j in must:
        total += 0.5 * costs.w_must_link * (_length(costs, labels[i], i, j) + _length(costs, labels[j], i, j))
    for i, j in cannot:
        total += costs.w_cannot_link * (costs.delta[labels[i]] - _length(costs, labels[i], i, j))
    return total


@kernel()
def violations(links: Any, labels: Array) -> tuple[Array, Array]:
    """The must-linked rows in different clusters and the cannot-linked rows in one, (v, 2) each, in order."""
    found = np.zeros(2, np.int64)
    must, cannot = np.empty((0, 2), np.int64), np.empty((0, 2), np.int64)
    # The first pass counts, the second fills.
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
