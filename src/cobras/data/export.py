"""The table of a data set as it was, with its clusters, as a file or piece by piece."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from cobras.core.writers import with_clusters, write_batches, write_frame

if TYPE_CHECKING:
    import polars as pl

    from cobras.data.dataset import Dataset
from cobras.core.types import ClusterNames, StableIds


def frames_with_clusters(
    dataset: Dataset,
    labels: npt.NDArray[Any],
    names: ClusterNames = None,
    cluster_ids: StableIds = None,
) -> Iterator[pl.DataFrame]:
    """All original columns of a data set with their clusters: one table, or pieces of it where it is large."""
    if dataset.large is None:
        yield with_clusters(dataset.frame, labels, names, cluster_ids)
        return
    for start, batch in dataset.large.batches():
        yield with_clusters(batch, labels[start : start + batch.height], names, cluster_ids)


def export_dataset(
    dataset: Dataset,
    labels: npt.NDArray[Any],
    names: ClusterNames,
    path: str | os.PathLike[str],
    *,
    escape: bool = True,
    cluster_ids: StableIds = None,
) -> Path:
    """Write all original columns with their clusters as CSV, TSV, Parquet, JSON or JSON Lines, by suffix.

    With `cluster_ids`, one for each cluster number, there is a column of these, too: they stay with their clusters.

    In CSV and TSV, a text that a spreadsheet would take for a formula gets an apostrophe, unless `escape` is false.
    CSV has semicolons and decimal commas where the file that was read has them.

    Examples
    --------
    >>> import tempfile
    >>> from cobras.data import load_demo
    >>> digits = load_demo()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(export_dataset(digits, digits.labels, {0: "zero"}, folder + "/out.csv").read_text()[:43])
    id,digit,cluster,cluster_name
    0,0,0,zero
    1,
    """
    frames = frames_with_clusters(dataset, labels, names, cluster_ids)
    # JSON is one list, which cannot be written in pieces; a large table is refused it.
    if dataset.large is None:
        return write_frame(next(frames), path, escape=escape, style=dataset.csv_style)
    return write_batches(frames, path, escape=escape, style=dataset.csv_style)
