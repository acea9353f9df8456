"""What a person takes home, as files in memory."""

from __future__ import annotations

import io
import json
from typing import NamedTuple

from cobras.core.exceptions import InvalidDataError
from cobras.core.writers import answers_as_rows, with_clusters
from cobras.data import Dataset
from cobras.web.view import View

FORMATS = ("csv", "parquet", "answers", "constraints", "html")


class File(NamedTuple):
    """The name of a file, what it is, and what it holds."""

    name: str
    media_type: str
    content: bytes


def labels_file(dataset: Dataset, view: View, stem: str, suffix: str) -> File:
    """All original columns, with the cluster and its name, as CSV or Parquet."""
    if dataset.large is not None:
        raise InvalidDataError(
            "The table is too large to be sent to a page; end the server and use cobras export."
        )
    frame = with_clusters(dataset.frame, view.labels, dict(view.names))
    buffer = io.BytesIO()
    if suffix == "parquet":
        frame.write_parquet(buffer, compression="zstd")
        return File(f"{stem}-clusters.parquet", "application/vnd.apache.parquet", buffer.getvalue())
    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    if nested:
        raise InvalidDataError(
            f"Column {nested[0]!r} holds lists, which CSV cannot hold; take Parquet instead."
        )
    frame.write_csv(buffer)
    return File(f"{stem}-clusters.csv", "text/csv; charset=utf-8", buffer.getvalue())


def answers_file(dataset: Dataset, view: View, stem: str) -> File:
    """All answers and constraints with the person's own ids, as JSON."""
    text = json.dumps(answers_as_rows(view.records, dataset.names), indent=1, default=str)
    return File(f"{stem}-answers.json", "application/json", text.encode())


def constraints_file(dataset: Dataset, view: View, stem: str) -> File:
    """Must-links and cannot-links with the person's own ids, as CSV; unsure answers are neither."""
    import polars as pl

    ids = dataset.names
    columns: dict[str, list[str]] = {"i": [], "j": [], "constraint": []}
    if view.constraints is not None:
        for kind, pairs in zip(("must_link", "cannot_link"), view.constraints, strict=True):
            for i, j in pairs.tolist():
                for name, value in zip(columns, (str(ids[i]), str(ids[j]), kind), strict=True):
                    columns[name].append(value)
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    return File(f"{stem}-constraints.csv", "text/csv; charset=utf-8", frame.write_csv().encode())
