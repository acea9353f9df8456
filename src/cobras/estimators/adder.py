"""ADDER as an estimator."""

from __future__ import annotations

from typing import Any

from cobras.estimators.active import ActiveClusterer


class ADDER(ActiveClusterer):
    """ADDER: compare a few super-instances, then place the instances around which the prediction is uncertain.

    Parameters
    ----------
    max_queries, random_state
        As in `COBRAS`, and so are the attributes.
    n_parts, stop_belief, join, calm, doubt, predictors
        See `cobras.methods.adder.method.adder`.
    n_init, full_restarts, medoid
        See `cobras.spaces.euclidean.EuclideanSpace`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> est = ADDER(max_queries=30, random_state=0).fit(X, y)
    >>> est.n_queries_, est.n_clusters_, est.predict(X[:2]).shape
    (30, 3, (2,))
    """

    _method = "adder"

    def __init__(
        self,
        max_queries: int | None = 100,
        *,
        random_state: Any = None,
        n_parts: int = 12,
        stop_belief: float = 0.05,
        join: float = 1 / 3,
        calm: float = 0.1,
        doubt: float = 0.15,
        predictors: str = "all",
        n_init: int = 10,
        full_restarts: bool = False,
        medoid: str = "nearest_to_centroid",
    ) -> None:
        self.max_queries = max_queries
        self.random_state = random_state
        self.n_parts = n_parts
        self.stop_belief = stop_belief
        self.join = join
        self.calm = calm
        self.doubt = doubt
        self.predictors = predictors
        self.n_init = n_init
        self.full_restarts = full_restarts
        self.medoid = medoid
