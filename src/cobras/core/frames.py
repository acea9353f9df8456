"""Data that is more than numbers: data sets, and the data frames of pandas, polars and others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from cobras.core.checks import is_dask
from cobras.core.exceptions import InvalidDataError
from cobras.core.types import BoolArray, ClusterNames, ClusterNumbers, FloatArray, StableIds

# The reader of data frames is named here and imported when needed, as methods are: sessions do not know files.
READER = "cobras.data.frames"


class Table(Protocol):
    """Columns of any kind."""

    def with_clusters(self, labels: ClusterNumbers, names: ClusterNames = None, ids: StableIds = None) -> Any:
        """The columns as they were given, with clusters in further ones."""


class NewRows(NamedTuple):
    """Rows that come later.

    Attributes
    ----------
    X : array-like
        Their features.
    unknown : array of bool or None
        Which have no value to compare by; None where all have one.
    notes : sequence of str
        What was taken as missing.
    """

    X: Any
    unknown: BoolArray | None = None
    notes: Sequence[str] = ()


@runtime_checkable
class Items(Table, Protocol):
    """Data that knows its columns, such as a `Dataset`: what a session needs to know of it.

    Attributes
    ----------
    X : array of shape (n, d)
        The features.
    series : array or None
        Time series, where these are compared by `distance`, which is None for everything else.
    """

    @property
    def X(self) -> FloatArray:  # noqa: N802
        """The features."""

    @property
    def series(self) -> FloatArray | None:
        """Time series as they are."""

    @property
    def distance(self) -> Any:
        """How series are compared."""

    def stored_recipe(self) -> dict[str, Any] | None:
        """How it was read, to be kept in a session file; None if the features are the data."""

    def new_rows(self, data: Any) -> NewRows:
        """Other items, given as a data frame; an array is taken as it is."""

    def check_together(self, data: Any, X: FloatArray) -> None:
        """Refuse a data frame whose rows, in one with the data, would not have these features."""

    def with_rows(self, n: int, frames: Sequence[Any]) -> Table:
        """The first rows of the data as it was given, followed by the rows of more frames."""

    def items_with_rows(self, n: int, frames: Sequence[Any]) -> Items:
        """The same as items, read as these were."""

    def names_with_rows(self, n: int, frames: Sequence[Any]) -> Sequence[Any] | None:
        """The names of the same rows; None where they are only counted."""


def is_frame(data: Any) -> bool:
    """Whether data is a frame that narwhals knows; those of dask are not meant.

    Examples
    --------
    >>> import polars as pl
    >>> is_frame(pl.DataFrame({"x": [1]})), is_frame([[1]])
    (True, False)
    """
    if isinstance(data, (np.ndarray, Sequence)) or is_dask(data):
        return False  # without the import
    import narwhals

    if narwhals.dependencies.is_into_dataframe(data):
        return True
    return isinstance(narwhals.from_native(data, pass_through=True), narwhals.LazyFrame)


def as_items(data: Any, recipe: Mapping[str, Any] | None = None) -> Items | None:
    """A data set, or a data frame that is read as one, by a stored recipe where there is one; None for the rest."""
    if is_dask(data):
        return None
    if isinstance(data, Items):
        return data
    if not is_frame(data):
        return None
    items: Items = import_module(READER).items_of_frame(data, recipe)
    return items


def check_same_order(X: Any, y: Any) -> None:
    """Refuse labels in pandas that name the rows of X in another order: labels are taken by their position.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"x": [1.0, 2.0]}, index=["a", "b"])
    >>> check_same_order(rows, pd.Series([7, 8], index=["b", "a"]))
    Traceback (most recent call last):
        ...
    cobras.core.exceptions.InvalidDataError: y has the index of X in another order, ... Give y.loc[X.index].
    """
    import narwhals

    if not (narwhals.dependencies.is_pandas_dataframe(X) and narwhals.dependencies.is_pandas_series(y)):
        return
    if len(X) == len(y) and not X.index.equals(y.index) and X.index.is_unique and X.index.isin(y.index).all():
        raise InvalidDataError(
            "y has the index of X in another order, and labels are taken by their position. Give y.loc[X.index]."
        )
