"""The space for what a user hands in: in memory, or where its rows lie already."""

from __future__ import annotations

from typing import Any

import numpy as np

from cobras.core.checks import as_matrix, as_train_mask, check_options, is_dask
from cobras.core.exceptions import InvalidDataError
from cobras.spaces.base import Space

OPTIONS = {"n_init": 10, "full_restarts": False, "medoid": "nearest_to_centroid"}


def as_rows(X: Any) -> Any:
    """A space as it is, a matrix in memory, or the partitions of a dask array or data frame."""
    if is_dask(X):  # before it is asked for an attribute: a task of dask has all of them
        from cobras.spaces.dask.space import as_table

        return as_table(X)
    return X if isinstance(X, Space) else as_matrix(X)


def choose_space(X: Any, train_indices: Any, options: dict[str, Any]) -> tuple[Space, dict[str, Any]]:
    """The space for `as_rows(X)`, and its options."""
    if isinstance(X, Space):
        if train_indices is not None:
            raise InvalidDataError("A space knows which rows may be shown: give them where it is made.")
        return X, getattr(X, "parameters", {})
    from cobras.spaces.euclidean import EuclideanSpace

    chosen = {name: options.get(name, default) for name, default in OPTIONS.items()}
    check_options(EuclideanSpace.__init__, chosen)
    if isinstance(X, np.ndarray):
        return EuclideanSpace(X, as_train_mask(train_indices, len(X)), **chosen), chosen
    if train_indices is not None:
        raise InvalidDataError(
            "With train_indices a table must lie in memory: on a cluster every row may be shown. "
            "Leave them out, or compute() X first."
        )
    from cobras.spaces.dask.space import DaskSpace

    return DaskSpace(X, **chosen), chosen
