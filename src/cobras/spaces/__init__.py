"""How data is cut: spaces split super-instances, name representatives and measure distances.

This file chooses the space for the data of a user: in memory, or where its rows lie already.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cobras.core.checks import as_matrix, as_train_mask, check_options, is_dask
from cobras.core.exceptions import InvalidDataError
from cobras.spaces.base import Space

# The options of k-means, which a method takes beside its own and hands on to the space.
OPTIONS = {"n_init": 10, "full_restarts": False, "medoid": "nearest_to_centroid"}


def as_rows(X: Any) -> Any:
    """Return a space as it is, a matrix in memory, or the partitions of a dask array or data frame."""
    # First of all, because a task of dask has every attribute one asks for, those of a space too.
    if is_dask(X):
        from cobras.spaces.dask.space import as_table

        return as_table(X)
    return X if isinstance(X, Space) else as_matrix(X)


def choose_space(X: Any, train_indices: Any, options: dict[str, Any]) -> tuple[Space, dict[str, Any]]:
    """Return the space for `as_rows(X)`, and its options."""
    if isinstance(X, Space):
        if train_indices is not None:
            raise InvalidDataError("A space knows which rows may be shown: give them where it is made.")
        return X, getattr(X, "parameters", {})
    # Imported here, because numba takes longer to import than all the rest.
    from cobras.spaces.euclidean import EuclideanSpace

    own = {name: options.get(name, default) for name, default in OPTIONS.items()}
    check_options(EuclideanSpace.__init__, own)
    if isinstance(X, np.ndarray):
        return EuclideanSpace(X, as_train_mask(train_indices, len(X)), **own), own
    if train_indices is not None:
        raise InvalidDataError(
            "With train_indices a table must lie in memory: on a cluster every row may be shown. "
            "Leave them out, or compute() X first."
        )
    from cobras.spaces.dask.space import DaskSpace

    return DaskSpace(X, **own), own
