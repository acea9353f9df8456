"""Labels and answers as files; the suffix says the format."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import LabelArray, Record, columns


def write_labels(
    path: str | os.PathLike[str], labels: LabelArray, names: Mapping[int, str], ids: Sequence[Any] | None
) -> None:
    """Write id, cluster and, where any has a name, cluster_name of every row."""
    from cobras.core.writers import write_table

    table: dict[str, Any] = {"id": range(len(labels)) if ids is None else ids, "cluster": labels}
    if names:
        table["cluster_name"] = [names.get(label, "") for label in labels.tolist()]
    write_table(table, path)


def write_answers(path: str | os.PathLike[str], history: Sequence[Record], ids: Sequence[Any] | None) -> None:
    """Write all answers and constraints."""
    from cobras.core.writers import write_table

    write_table(columns(history, ids), path)


def is_folder(path: str | os.PathLike[str], ids: Sequence[Any] | None) -> bool:
    """Whether each worker writes a file of its own: to a name without suffix, or with a slash at its end."""
    folder = os.fspath(path)
    if not folder.endswith("/") and PurePath(folder).suffix:
        return False
    if ids is not None:
        raise InvalidDataError("Workers know rows by their numbers alone. Leave ids out, or name a file.")
    return True
