"""MPCKMeans (Bilenko, Basu & Mooney, ICML 2004): k-means with soft pairwise constraints and a learnt metric.

Departures from the paper, where its description or its code (WekaUT) leaves a choice or has a defect:

- rows are assigned in index order, as in the code; ``order="random"`` is the paper's;
- a diagonal metric takes Δ from the box around all rows, so that no step can increase the objective;
- a cannot-link to a single row is passed on to the other members of a component;
- missing centers are cannot-linked rows, then k-means++ draws; ``init="perturb"`` perturbs the mean, as the code;
- λ, the weight of log det A, is 1: it only rescales the objective;
- the E-step also places whole components anew and keeps what makes the objective lower (`regroup`);
- a cluster that stays empty for one iteration is moved to the row that fits worst.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted, validate_data

from cobras.baselines.clusterers.descent import Descent
from cobras.baselines.clusterers.links import Links, WarmClusterer, centers_of_labels, first_centers
from cobras.baselines.clusterers.metrics import DiagonalMetric, FullMetric, Metric
from cobras.core.checks import as_invalid_data
from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray, LabelArray

Init: TypeAlias = Literal["neighbourhoods", "perturb"]
Order: TypeAlias = Literal["index", "random"]


@dataclass(eq=False, repr=False)
class PCKMeans(WarmClusterer):
    """PCKMeans (Basu, Banerjee & Mooney, 2004): no metric is learnt, and each violated constraint costs its weight.

    `MPCKMeans(learn_metric=False)` differs from it: there the costs depend on distances.

    Parameters
    ----------
    n_clusters, w_must_link, w_cannot_link, init, order, regroup, max_iter, tol, random_state
        As in `MPCKMeans`, and so are the attributes. Weights compare with squared distances: 1 suits columns
        scaled to [0, 1].

    Examples
    --------
    >>> est = PCKMeans(2, w_must_link=20, random_state=0).fit([[0], [1], [5], [6]], must_link=[(1, 2)])
    >>> bool(est.labels_[1] == est.labels_[2])
    True
    """

    n_clusters: int = 3
    _: KW_ONLY
    w_must_link: float = 1.0
    w_cannot_link: float = 1.0
    init: Init = "neighbourhoods"
    order: Order = "index"
    regroup: bool = True
    max_iter: int = 100
    tol: float = 1e-6
    random_state: Any = None

    # Parameters of MPCKMeans, and whether penalties are multiplied by distances.
    metric, per_cluster, learn_metric, _scaled = "diagonal", False, False, False

    def _fit(self, X: FloatArray, links: Links, rng: np.random.Generator, init_labels: Any) -> None:
        for name in ("w_must_link", "w_cannot_link", "tol"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0 <= float(value) < np.inf:
                raise InvalidDataError(f"{name} must be a finite number from 0 on, not {value!r}.")
        # Double precision, and writable: numba would compile anew for read-only arrays.
        X = np.require(X, np.float64, ["C", "W"])
        warm = init_labels is not None
        start = (
            centers_of_labels(X, self.n_clusters, init_labels, rng)
            if warm
            else first_centers(X, self.n_clusters, links, rng, self.init)
        )
        n_metrics = self.n_clusters if self.per_cluster else 1
        metric: Metric = (
            FullMetric(X, n_metrics, len(links.apart) > 0)
            if self.metric == "full"
            else DiagonalMetric(X, n_metrics)
        )
        weights = float(self.w_must_link), float(self.w_cannot_link)
        run = Descent(X, links, metric, start, weights, self._scaled)
        if warm:
            run.update(self.learn_metric)
            run.measure()
        self.n_iter_ = 0
        while True:
            self.n_iter_ += 1
            before = run.path[-1] if run.path else np.inf
            order = rng.permutation(links.rows) if self.order == "random" else links.rows
            moved = run.assign(order, self.regroup)
            run.update(self.learn_metric)
            settled = not moved or abs(before - run.path[-1]) <= self.tol * abs(run.path[-1])
            if (not run.move_empty_clusters() and settled) or self.n_iter_ == self.max_iter:
                break
            run.measure()
        self.labels_ = run.labels
        self.cluster_centers_ = run.centers
        self._metric = metric
        self.metric_ = metric.value if self.per_cluster else metric.value[0]
        self.objective_path_ = np.array(run.path)
        self.objective_ = run.path[-1]
        self.n_violations_ = len(run.must) + len(run.cannot)

    def predict(self, X: Any) -> LabelArray:
        """The nearest center in the learnt metric; with one metric per cluster, −log det A counts as in `fit`."""
        check_is_fitted(self)
        with as_invalid_data():
            X = validate_data(self, X, reset=False, dtype=np.float64)
        rows, centers = self._metric.transform_rows(X), self._metric.transform_centers(self.cluster_centers_)
        # One metric for all clusters, or that of cluster h.
        g = np.arange(len(centers)) % len(rows)
        D = [cdist(rows[g[h]], centers[[h]], "sqeuclidean")[:, 0] for h in range(len(centers))]
        labels: LabelArray = (np.array(D).T - self._metric.log_det[g]).argmin(axis=1).astype(np.int32)
        return labels


@dataclass(eq=False, repr=False)
class MPCKMeans(PCKMeans):
    """K-means that is guided by must-links and cannot-links and learns which columns matter.

    A violated must-link costs the more the farther its rows are from each other, a violated cannot-link the more
    the nearer they are. Constraints imply others (must-link is transitive), and these count as well.

    Parameters
    ----------
    n_clusters : int
        The number of clusters.
    metric : {"diagonal", "full"}
        Learn weights of columns, or a matrix.
    per_cluster : bool
        One metric for each cluster instead of one for all.
    w_must_link, w_cannot_link : float
        The weights of violated constraints, from 0 on.
    init : {"neighbourhoods", "perturb"}
        Where centers come from if there are too few must-link components: cannot-linked rows and k-means++, or
        the perturbed mean of all rows as in the authors' code.
    order : {"index", "random"}
        The order in which rows with constraints choose their cluster.
    regroup : bool
        In each iteration also place all must-link components anew, as wholes, and keep the better result. Row by
        row, as in the paper, a component can hardly leave a cluster, because each row is held by the others.
    max_iter : int
        The most iterations.
    tol : float
        Stop when the objective changes by less than this part of itself.
    learn_metric : bool
        False keeps the Euclidean metric.
    random_state : int, RandomState or Generator, optional
        The seed of k-means++ and of random orders.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The cluster of every row.
    cluster_centers_ : array of shape (n_clusters, d)
        The means of the clusters.
    metric_ : array
        Diagonal: weights (d,), or (n_clusters, d) per cluster. Full: (d, d), or (n_clusters, d, d).
    objective_ : float
        The objective J at the end.
    objective_path_ : array
        J after each step: assignment, centers, metric, assignment, ... With one diagonal metric it never grows.
    n_violations_ : int
        How many pairs of rows contradict the constraints, implied ones included.
    n_iter_ : int
        The number of iterations.

    Examples
    --------
    >>> X = [[0, 0], [0, 9], [1, 0], [1, 9], [4, 0], [4, 9]]
    >>> est = MPCKMeans(2, random_state=0).fit(X, must_link=[(0, 1), (4, 5)], cannot_link=[(1, 5)])
    >>> est.labels_.tolist(), est.n_violations_
    ([0, 0, 0, 0, 1, 1], 0)
    >>> est.predict([[3, 5]]).tolist()
    [1]
    """

    _: KW_ONLY
    metric: Literal["diagonal", "full"] = "diagonal"
    per_cluster: bool = False
    learn_metric: bool = True

    _scaled = True
