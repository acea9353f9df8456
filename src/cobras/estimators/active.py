"""Estimators that ask questions: what they share, and COBRAS, COBRA and ADDER."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import groupby
from typing import Any, Self, overload

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from cobras.core.checks import (
    as_invalid_data,
    as_labels,
    as_said,
    as_seed,
    check_columns,
    check_gaps,
    is_dask,
)
from cobras.core.constraints import Constraints
from cobras.core.exceptions import InvalidDataError, StopAsking, first_line
from cobras.core.notebook import cluster_rows, quantity, show_html
from cobras.core.partition import Partition
from cobras.core.types import Answer, LabelArray, Oracle
from cobras.methods.protocol import Steps
from cobras.methods.registry import prepare
from cobras.session.oracles import LabelOracle
from cobras.spaces.base import OPTIONS, Space, as_rows
from cobras.spaces.nearest import LabelledCentroids


class LabelsPerQuery(Sequence[LabelArray]):
    """The labels before the first answer and after each one, computed when they are read.

    Examples
    --------
    >>> from cobras import COBRAS
    >>> est = COBRAS(random_state=0).fit([[0.0], [1.0], [5.0]], [0, 0, 1])
    >>> [labels.tolist() for labels in est.labels_per_query_]
    [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    """

    def __init__(self, partitions: Sequence[Partition]) -> None:
        self.partitions = tuple(partitions)

    def __len__(self) -> int:
        return len(self.partitions)

    @overload
    def __getitem__(self, q: int) -> LabelArray: ...
    @overload
    def __getitem__(self, q: slice) -> LabelsPerQuery: ...
    def __getitem__(self, q: int | slice) -> LabelArray | LabelsPerQuery:
        return LabelsPerQuery(self.partitions[q]) if isinstance(q, slice) else self.partitions[q].labels

    def __iter__(self) -> Iterator[LabelArray]:
        """All labels in order; those that an answer did not change are computed once."""
        for _, same in groupby(self.partitions, key=id):
            partition, *others = same
            labels = partition.labels
            yield labels
            yield from (labels.copy() for _ in others)


def known_constraints(must_link: Any, cannot_link: Any, n: int) -> Constraints:
    """What is known before the first question; what contradicts itself raises."""
    constraints, said = Constraints(), as_said(must_link, cannot_link, n)
    constraints.check_all(said)
    for pair, answer in said:
        constraints.add(*pair, answer)
        constraints.volunteered.add(pair.ordered)
    return constraints


def answer_questions(
    steps: Steps, constraints: Constraints, oracle: Oracle | None, limit: int | None
) -> tuple[list[Partition], list[tuple[int, int, int]]]:
    """Answer the questions of a method: the clustering before the first answer and after each, and the queries.

    An estimator keeps no journal and takes nothing back, so it runs the method itself; a session on the same seed
    asks the same questions.
    """
    step = next(steps)
    partitions, queries = [step.partition], list[tuple[int, int, int]]()
    while oracle is not None and step.pair is not None and (limit is None or len(queries) < limit):
        i, j = step.pair
        try:
            answer = Answer.of(oracle(i, j))
        except StopAsking:
            break
        constraints.check(i, j, answer)
        step = steps.send(answer)
        partitions.append(step.partition)
        queries.append((i, j, int(answer)))
    return partitions, queries


class ActiveClusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """What all active estimators share: a method, an oracle and a budget."""

    _method: str
    _learns_from_links = False  # whether constraints alone make a clustering
    max_queries: int | None
    random_state: Any

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        oracle: Oracle | None = None,
        train_indices: Any = None,
        must_link: Any = None,
        cannot_link: Any = None,
    ) -> Self:
        """Cluster X by asking at most `max_queries` questions.

        Parameters
        ----------
        X : array-like of shape (n, d), dask array or data frame, or a Space such as a `SeriesSpace`
            Numbers, without missing values; pandas and polars frames are welcome. What dask holds stays where it
            is; only labels come back. A space is made with its own options: those of k-means do not count, and
            there is no `predict`.
        y : array-like of shape (n,), optional
            Labels that answer the questions: same when they are equal.
        oracle : callable, optional
            Answers instead of y: `oracle(i, j)` returns an `Answer`, True, False or None for unsure.
        train_indices : array-like, optional
            Only pairs inside these rows are asked; row numbers or a boolean mask.
        must_link, cannot_link : array-like of shape (m, 2), optional
            Pairs of rows that are known to be the same, or different, before the first question. `ADDER` learns
            from them alone, without `y` and `oracle`: then nothing is asked.
        """
        limit = self.max_queries
        if limit is not None and (
            isinstance(limit, bool) or not isinstance(limit, (int, np.integer)) or limit < 0
        ):
            raise InvalidDataError(
                f"max_queries must be a number from 0 on, or None for no limit, not {limit!r}."
            )
        known = must_link is not None or cannot_link is not None
        asks = y is not None or oracle is not None
        if known and not asks and not self._learns_from_links:
            raise InvalidDataError(
                f"{type(self).__name__} asks about few rows and needs somebody who answers: give y or an oracle "
                "beside must_link and cannot_link, or use ADDER, which learns from these alone."
            )
        if (y is not None and oracle is not None) or not (asks or known):
            links = ", fit(X, must_link=..., cannot_link=...)" if self._learns_from_links else ""
            raise InvalidDataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None, and no oracle is given "
                f"either. Call fit(X, y){links} or fit(X, oracle=...)."
                if y is None
                else "Both y and an oracle are given. Give the one that shall answer."
            )
        if oracle is not None and not callable(oracle):
            raise InvalidDataError(f"An oracle is a function of two row numbers, not {oracle!r}.")
        options = self._options()
        remote = is_dask(X)
        self._has_centroids = remote or not isinstance(X, Space)
        if not self._has_centroids:
            # A space has got its own options when it was made.
            options = {name: value for name, value in options.items() if name not in OPTIONS}
        elif not remote:
            check_columns(X)
            check_gaps(X)
            # Whether all numbers can be used is found by `as_rows`, in one pass over them.
            try:
                X = validate_data(self, X, dtype=(np.float64, np.float32), order="C", ensure_all_finite=False)
            except (ValueError, TypeError, OverflowError) as error:
                if not any(words in str(error) for words in ("could not convert", "could not be promoted")):
                    with as_invalid_data():
                        raise
                raise InvalidDataError(
                    f"The columns of X must be numbers ({first_line(error)[:60]}). "
                    "read_dataset(X).X makes numbers of words and dates."
                ) from None
        found = prepare(as_rows(X), self._method, as_seed(self.random_state), train_indices, options)
        # Only the columns are stored; an empty frame has their names.
        if remote:
            validate_data(self, X._meta if hasattr(X, "columns") else X, skip_check_array=True)
        constraints = known_constraints(must_link, cannot_link, found.space.n)
        if y is not None:
            oracle = LabelOracle(as_labels(y, found.space.n))
        steps = found.start(found.space, constraints)
        partitions, queries = answer_questions(steps, constraints, oracle, limit)
        self.labels_per_query_ = LabelsPerQuery(partitions)
        self.labels_ = partitions[-1].labels
        self.n_clusters_ = partitions[-1].n_clusters
        self.n_queries_ = len(queries)
        # Three columns also where nothing was asked.
        self.queries_ = np.array(queries, dtype=np.int64).reshape(-1, 3)
        # What `predict` compares with.
        parts = LabelledCentroids.of(partitions[-1])
        self.super_instance_centers_, self.super_instance_labels_ = parts.centroids, parts.labels
        return self

    def fit_predict(self, X: Any, y: Any = None, **options: Any) -> LabelArray:
        """Cluster X and return its labels."""
        return self.fit(X, y, **options).labels_

    def predict(self, X: Any) -> LabelArray:
        """The cluster of the nearest super-instance centroid."""
        check_is_fitted(self)
        if not self._has_centroids:
            raise InvalidDataError(
                "After fit on a space there is no predict. Fit all rows, new ones included."
            )
        check_columns(X)
        check_gaps(X)
        with as_invalid_data():
            X = validate_data(self, X, reset=False, dtype=(np.float64, np.float32), ensure_all_finite=False)
        X = as_rows(X)
        return LabelledCentroids(self.super_instance_centers_, self.super_instance_labels_).predict(X)

    def _repr_html_(self) -> str:
        # In place of a property of scikit-learn, whose drawing of the parameters comes first.
        drawing: str = estimator_html_repr(self)
        if not hasattr(self, "labels_"):
            return drawing
        clusters, queries = quantity(self.n_clusters_, "cluster"), quantity(self.n_queries_, "query")
        sizes = np.bincount(self.labels_).tolist()
        heading = f"{clusters} of {quantity(len(self.labels_), 'row')} after {queries}"
        return drawing + show_html(heading, *cluster_rows(sizes))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _options(self) -> dict[str, Any]:
        options = self.get_params(deep=False)
        return {name: value for name, value in options.items() if name not in ("max_queries", "random_state")}

    def __sklearn_tags__(self) -> Any:
        # scikit-learn's checks then call fit with y.
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


# A dataclass writes the `__init__` from which scikit-learn reads the parameters.
@dataclass(eq=False, repr=False, kw_only=True)
class SplittingClusterer(ActiveClusterer):
    """An estimator whose method splits by k-means, with the options of that."""

    n_init: int = 10
    full_restarts: bool = False
    medoid: str = "nearest_to_centroid"


@dataclass(eq=False, repr=False)
class COBRAS(SplittingClusterer):
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

    max_queries: int | None = 100
    _: KW_ONLY
    random_state: Any = None
    branch: str = "random"
    first_iteration: str = "partial"
    reuse: str = "transitive"
    split_fallback: str = "train_only"
    representative: str = "first"
    max_level: int | None = None


@dataclass(eq=False, repr=False)
class COBRA(SplittingClusterer):
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

    n_super_instances: int = 25
    max_queries: int | None = 100
    _: KW_ONLY
    random_state: Any = None
    reuse: str = "transitive"
    representative: str = "first"


@dataclass(eq=False, repr=False)
class ADDER(SplittingClusterer):
    """ADDER: compare a few super-instances, then place the instances around which the prediction is uncertain.

    Parameters
    ----------
    max_queries, random_state
        As in `COBRAS`, and so are the attributes.
    n_parts, stop_belief, exclusion, join, calm, doubt, predictors
        See `cobras.methods.adder.adder`.
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
    _learns_from_links = True

    max_queries: int | None = 100
    _: KW_ONLY
    random_state: Any = None
    n_parts: int = 12
    stop_belief: float = 0.05
    exclusion: float = 0.8
    join: float = 1 / 3
    calm: float = 0.1
    doubt: float = 0.15
    predictors: str = "all"
