"""COBRAS and COBRA as estimators."""

from __future__ import annotations

from typing import Any

from cobras.estimators.active import ActiveClusterer


class COBRAS(ActiveClusterer):
    """COBRAS: split the largest super-instance, merge the parts by queries, and begin again.

    Parameters
    ----------
    max_queries : int, optional
        How many questions may be asked; None asks until nothing is left.
    random_state : int, RandomState or Generator, optional
        The seed of all splits.
    branch, first_iteration, reuse, split_fallback, representative, max_level
        See `cobras.methods.cobras.cobras`.
    n_init, full_restarts, medoid
        See `cobras.spaces.euclidean.EuclideanSpace`.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The cluster of every row.
    n_clusters_ : int
        The number of clusters.
    n_queries_ : int
        The number of questions asked.
    queries_ : array of shape (q, 3)
        One row for each query: i, j and the answer (1 same, 0 different, -1 unsure).
    labels_per_query_ : LabelsPerQuery
        Item q is what a user would get after q answers.
    super_instance_centers_ : array
        The centroids of the super-instances.
    super_instance_labels_ : array
        Their clusters.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> est = COBRAS(max_queries=30, random_state=0).fit(X, y)
    >>> est.n_queries_, est.labels_.shape, est.predict(X[:2]).shape
    (30, (150,), (2,))
    """

    _method = "cobras"

    def __init__(
        self,
        max_queries: int | None = 100,
        *,
        random_state: Any = None,
        branch: str = "random",
        first_iteration: str = "partial",
        reuse: str = "transitive",
        split_fallback: str = "train_only",
        representative: str = "first",
        max_level: int | None = None,
        n_init: int = 10,
        full_restarts: bool = False,
        medoid: str = "nearest_to_centroid",
    ) -> None:
        self.max_queries = max_queries
        self.random_state = random_state
        self.branch = branch
        self.first_iteration = first_iteration
        self.reuse = reuse
        self.split_fallback = split_fallback
        self.representative = representative
        self.max_level = max_level
        self.n_init = n_init
        self.full_restarts = full_restarts
        self.medoid = medoid


class COBRA(ActiveClusterer):
    """COBRA: one over-clustering into super-instances, merged by queries.

    Parameters
    ----------
    n_super_instances : int
        How many super-instances to make; the papers run 10, 25 and 50.
    max_queries, random_state, reuse, representative, n_init, full_restarts, medoid
        As in `COBRAS`, and so are the attributes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> COBRA(n_super_instances=25, max_queries=None, random_state=0).fit(X, y).n_clusters_
    3
    """

    _method = "cobra"

    def __init__(
        self,
        n_super_instances: int = 25,
        max_queries: int | None = 100,
        *,
        random_state: Any = None,
        reuse: str = "transitive",
        representative: str = "first",
        n_init: int = 10,
        full_restarts: bool = False,
        medoid: str = "nearest_to_centroid",
    ) -> None:
        self.n_super_instances = n_super_instances
        self.max_queries = max_queries
        self.random_state = random_state
        self.reuse = reuse
        self.representative = representative
        self.n_init = n_init
        self.full_restarts = full_restarts
        self.medoid = medoid
