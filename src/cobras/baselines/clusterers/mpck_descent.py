"""The descent of MPCKMeans: assignment, means, metric, and again; each step lowers the objective J, or keeps it."""

from __future__ import annotations

import numpy as np

from cobras.baselines.clusterers.mpck_kernels import (
    Costs,
    Links,
    approach,
    assign,
    means,
    price,
    regroup,
    violated,
)
from cobras.baselines.clusterers.mpck_metrics import Metric
from cobras.core.types import FloatArray, IndexArray, LabelArray

PATIENCE = 3  # how often an empty cluster is moved
NO_PAIRS = np.empty((0, 2), dtype=np.int64)


class Descent:
    """The state of a run and its steps.

    Attributes
    ----------
    path : list of float
        J after each step.
    must, cannot : arrays of shape (v, 2)
        The constraints that the labels violate, after `update`.
    """

    def __init__(
        self,
        X: FloatArray,
        links: Links,
        metric: Metric,
        centers: FloatArray,
        labels: LabelArray,
        weights: tuple[float, float],
        scaled: bool,
    ) -> None:
        self.X, self.links, self.metric, self.weights, self.scaled = X, links, metric, weights, scaled
        self.centers, self.labels, self.near = centers, labels, np.zeros(len(X))
        self.counts, self.waited = np.zeros((2, len(centers)), dtype=np.int64)
        self.must = self.cannot = NO_PAIRS
        self.linked = np.unique(links.component[links.rows])
        self.path: list[float] = []
        self.measure()

    def measure(self) -> None:
        """See rows, centers, Δ and log det A in the metric of this moment."""
        k, metric = len(self.centers), self.metric
        Z = metric.rows(self.X)
        reach = metric.reach(Z) if self.scaled else 2.0  # a violated cannot-link costs 2 - 1 then
        offset = np.full(k, -metric.log_det)
        self.costs = Costs(
            Z, metric.move(self.centers), offset, np.full(k, reach), *self.weights, self.scaled
        )

    def assign(self, order: IndexArray, again: bool) -> bool:
        """The E-step; rows with constraints choose in the given order. Whether any row moved.

        With `again`, components are also placed anew, those that are clearest first.
        """
        before = self.labels.copy()
        J = assign(self.costs, self.links, order, self.labels, self.near)
        if again and len(order):
            cost, lead = approach(self.costs, self.links, self.linked)
            clearest = np.argsort(-lead, kind="stable")
            J = regroup(
                self.costs,
                self.links,
                self.linked[clearest],
                cost[clearest],
                order,
                self.labels,
                self.near,
                J,
            )
        self.path.append(J)
        return not np.array_equal(before, self.labels)

    def update(self, learn: bool) -> None:
        """The M-step: means, and the metric if it is to be learnt."""
        X, labels, centers, metric = self.X, self.labels, self.centers, self.metric
        means(X, labels, centers, self.counts)
        self.must, self.cannot = violated(self.links, labels)
        counts = self.counts if len(metric.value) > 1 else np.array([len(X)])
        if learn:
            sums = metric.sums(X, labels, centers, self.costs, self.must, self.cannot)
            self.path.append(metric.energy(sums, counts))
            metric.learn(sums, counts)
            self.path.append(metric.energy(sums, counts))
        else:
            sums = metric.sums(X, labels, centers, self.costs, NO_PAIRS, NO_PAIRS)
            J = metric.energy(sums, counts) + price(self.costs, labels, self.must, self.cannot)
            self.path.append(J)

    def revive(self) -> bool:
        """Move clusters that stay empty to the rows that fit worst; whether one of them may still fill."""
        hope = False
        for h in np.flatnonzero(self.counts == 0).tolist():
            if 0 < self.waited[h] <= PATIENCE:
                free = np.delete(np.arange(len(self.X)), self.links.rows)
                rows = free if len(free) else self.links.rows
                worst = rows[np.argmax(self.near[rows])]
                self.centers[h], self.near[worst] = self.X[worst], 0
            hope |= bool(self.waited[h] <= PATIENCE)
            self.waited[h] += 1
        return hope
