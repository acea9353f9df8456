"""The methods that the COBRAS paper compares with or cites, as estimators."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from cobras.estimators.active import ActiveClusterer


@dataclass(eq=False, repr=False)
class NPU(ActiveClusterer):
    """NPU: place the most informative instance in a neighbourhood, cluster anew, and begin again.

    Parameters
    ----------
    clusterer : estimator or {"mpckmeans", "cosc"}
        What clusters under the constraints: anything with ``fit(X, must_link=, cannot_link=)``.
    n_clusters : int, optional
        The true number of clusters; needed where the clusterer is given by name.
    n_trees, infer_last, warm_start
        See `cobras.baselines.npu.npu`.
    max_queries, random_state
        As in `COBRAS`, and so are the attributes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cobras import MPCKMeans
    >>> X, y = load_iris(return_X_y=True)
    >>> NPU(MPCKMeans(3), max_queries=10, random_state=0).fit(X, y).n_clusters_
    3
    """

    _method = "npu"

    clusterer: Any = "mpckmeans"
    n_clusters: int | None = None
    max_queries: int | None = 100
    _: KW_ONLY
    random_state: Any = None
    n_trees: int = 50
    infer_last: bool = False
    warm_start: bool = False


@dataclass(eq=False, repr=False)
class ExploreConsolidate(ActiveClusterer):
    """Explore-Consolidate: find one member of each cluster, farthest first; then place random instances.

    Parameters
    ----------
    n_clusters : int, optional
        The true number of clusters; needed unless a clusterer that knows it is given.
    clusterer, infer_last
        See `cobras.baselines.explore.explore_consolidate`.
    max_queries, random_state
        As in `COBRAS`, and so are the attributes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ExploreConsolidate(3, max_queries=10, random_state=0).fit(X, y).n_clusters_
    3
    """

    _method = "explore_consolidate"

    n_clusters: int | None = None
    max_queries: int | None = 100
    _: KW_ONLY
    random_state: Any = None
    clusterer: Any = "mpckmeans"
    infer_last: bool = True


class MinMax(ExploreConsolidate):
    """Min-Max: like `ExploreConsolidate`, but place the instance least similar to all placed ones."""

    _method = "min_max"


@dataclass(eq=False, repr=False)
class COBS(ActiveClusterer):
    """COBS, active: ask where a pool of clusterings disagrees, and report the one that fits the answers best.

    Parameters
    ----------
    k_max : int
        The largest number of clusters in the pool.
    n_eps, max_min_points, max_neighbors, n_sigma, min_sigma, max_sigma, n_restarts, noise, deduplicate, max_rows
        The grid of the pool; see `cobras.baselines.cobs.cobs`.
    update_factor, sample_size, update
        How queries are chosen; see there too.
    n_jobs : int, optional
        Processes that build the pool.
    cache_dir : str, optional
        A folder that keeps pools for the same data and parameters.
    max_queries, random_state
        As in `COBRAS`, and so are the attributes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> est = COBS(k_max=4, n_eps=3, max_min_points=3, max_neighbors=5, n_sigma=2, max_queries=10, random_state=0)
    >>> est.fit(X, y).n_queries_
    10
    """

    _method = "cobs"

    max_queries: int | None = 100
    _: KW_ONLY
    random_state: Any = None
    k_max: int = 10
    n_eps: int = 20
    max_min_points: int = 20
    max_neighbors: int = 20
    n_sigma: int = 20
    min_sigma: float = 0.01
    max_sigma: float = 5.0
    n_restarts: int = 10
    noise: str = "singletons"
    deduplicate: bool = True
    max_rows: int = 10_000
    update_factor: float = 1.05
    sample_size: int = 200
    update: str = "both"
    n_jobs: int | None = None
    cache_dir: str | None = None
