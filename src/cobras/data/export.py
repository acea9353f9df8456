"""What a person takes home: the table as it was, with its clusters."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from cobras.core.writers import with_clusters, write_batches, write_frame

if TYPE_CHECKING:
    import polars as pl

    from cobras.data.dataset import Dataset
    from cobras.data.tables.outofcore import LargeTable


def clusters_in_batches(
    table: LargeTable, labels: npt.NDArray[Any], names: Mapping[int, str] | None = None
) -> Iterator[pl.DataFrame]:
    """A large table with its clusters, piece by piece."""
    for start, batch in table.batches():
        yield with_clusters(batch, labels[start : start + batch.height], names)


def export_dataset(
    dataset: Dataset, labels: npt.NDArray[Any], names: Mapping[int, str] | None, path: str | os.PathLike[str]
) -> Path:
    """Write all original columns of a data set with their clusters, in pieces where it is large."""
    if dataset.large is None:
        return export_labels(dataset.frame, labels, names, path)
    return write_batches(clusters_in_batches(dataset.large, labels, names), path)


def export_labels(
    frame: pl.DataFrame,
    labels: Sequence[int] | npt.NDArray[Any],
    names: Mapping[int, str] | None,
    path: str | os.PathLike[str],
) -> Path:
    """Write all original columns with their clusters as CSV, TSV, Parquet, JSON or JSON Lines, by suffix.

    Examples
    --------
    >>> import tempfile, polars as pl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(export_labels(pl.DataFrame({"x": [1, 2]}), [0, 1], {}, folder + "/out.csv").read_text())
    x,cluster
    1,0
    2,1
    <BLANKLINE>
    """
    return write_frame(with_clusters(frame, labels, names), path)
