"""The result as files to download: tables, answers and constraints; the report is made in `report`."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from fastapi import Response

from cobras.core.exceptions import InvalidDataError
from cobras.core.writers import answers_as_rows, csv_frame, with_clusters, write_frame
from cobras.data import Dataset
from cobras.web.view import View

CSV, PARQUET = "text/csv; charset=utf-8", "application/vnd.apache.parquet"
MEDIA_TYPES = ("text/csv", PARQUET, "application/json", "text/html")
FORMATS = ("csv", "parquet", "answers", "constraints", "html")


class File(NamedTuple):
    """The name of a file, what it is, and what it holds."""

    name: str
    media_type: str
    content: bytes

    def response(self) -> Response:
        """Return it as a file to be saved, not shown."""
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(self.name, errors='replace')}"
        }
        return Response(self.content, media_type=self.media_type, headers=headers)


def labels_file(dataset: Dataset, view: View, stem: str, suffix: str, escape: bool) -> File:
    """Return all original columns, with the cluster and its name, as CSV or Parquet."""
    if dataset.large is not None:
        raise InvalidDataError("The table is too large to be sent to a page; use cobras export.")
    frame = with_clusters(dataset.frame, view.labels, dict(view.names), view.ids)
    with tempfile.TemporaryDirectory() as folder:
        content = write_frame(
            frame, Path(folder, f"clusters.{suffix}"), escape=escape, style=dataset.csv_style
        ).read_bytes()
    return File(f"{stem}-clusters.{suffix}", CSV if suffix == "csv" else PARQUET, content)


def answers_file(dataset: Dataset, view: View, stem: str) -> File:
    """Return all answers and constraints with the person's own ids, as JSON."""
    text = json.dumps(answers_as_rows(view.records, dataset.names), indent=1, default=str)
    return File(f"{stem}-answers.json", "application/json", text.encode())


def constraints_file(dataset: Dataset, view: View, stem: str, escape: bool) -> File:
    """Return must-links and cannot-links with the person's own ids, as CSV; unsure answers are neither."""
    import polars as pl

    ids, kinds = dataset.names, ("must_link", "cannot_link")
    pairs_of = zip(kinds, view.constraints or (), strict=False)
    rows = [(str(ids[i]), str(ids[j]), kind) for kind, pairs in pairs_of for i, j in pairs.tolist()]
    frame = pl.DataFrame(rows, dict.fromkeys(("i", "j", "constraint"), pl.String), orient="row")
    return File(f"{stem}-constraints.csv", CSV, csv_frame(frame, escape=escape).write_csv().encode())
