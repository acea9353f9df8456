"""The files that tasks are made of: reading, writing and comparing their content.

A table is a CSV file: a header, the features as raw numbers, empty where missing, and last the column `target`.
Texts are gzipped JSON lines with the keys id, split, target and text.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray

Names = npt.NDArray[np.str_]


def read_table(path: Path) -> tuple[FloatArray, Names]:
    """The features of a table, NaN where a cell is empty, and the class of each row."""
    try:
        frame = pl.read_csv(path, schema_overrides={"target": pl.String}, infer_schema_length=None)
        X = frame.drop("target").select(pl.all().cast(pl.Float64)).to_numpy(order="c")
        target = frame["target"]
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise InvalidDataError(
            f"{path} cannot be read as a table of numbers with the column 'target': {reason}."
        ) from error
    if X.size == 0 or target.null_count():
        raise InvalidDataError(f"{path} must hold features, rows, and a target in every row.")
    return X, target.to_numpy().astype(np.str_)


def write_table(path: Path, features: Sequence[str], X: FloatArray, target: Names) -> None:
    """Write a table so that `read_table` reads the same values again."""
    columns = {name: pl.Series(X[:, k]).fill_nan(None) for k, name in enumerate(features)}
    text = pl.DataFrame({**columns, "target": target.tolist()}).write_csv()
    write_whole(path, text.encode())


def read_texts(path: Path) -> list[dict[str, str]]:
    """The documents of a newsgroups file, in the order of their ids."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            found = [json.loads(line) for line in lines]
        documents = [{key: d[key] for key in ("id", "split", "target", "text")} for d in found]
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError) as error:
        raise InvalidDataError(
            f"{path} cannot be read as gzipped JSON lines with id, split, target and text: {error!r}."
        ) from error
    if not documents:
        raise InvalidDataError(f"{path} holds no documents.")
    return sorted(documents, key=_id)


def write_texts(path: Path, documents: Sequence[dict[str, str]]) -> None:
    """Write documents so that `read_texts` reads the same again."""
    lines = "".join(json.dumps(document) + "\n" for document in sorted(documents, key=_id))
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as file:
        file.write(lines.encode())
    write_whole(path, buffer.getvalue())


def _id(document: dict[str, str]) -> str:
    return document["id"]


def read_faces(features: Path, targets: Path, column: str) -> tuple[npt.NDArray[Any], Names]:
    """The feature vectors of the faces and one of the ways to sort them."""
    try:
        with features.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            X, names = np.ascontiguousarray(file["features"]), file["names"]
        table = pl.read_csv(targets, columns=["image", column])
    except (pl.exceptions.PolarsError, OSError, KeyError, ValueError, EOFError, zlib.error) as error:
        raise InvalidDataError(f"{features} or {targets} cannot be read: {error}.") from error
    if names.tolist() != table["image"].to_list() or len(X) != len(names):
        raise InvalidDataError(f"{features} and {targets} must name the same images in the same order.")
    return X, table[column].to_numpy().astype(np.str_)


def write_whole(path: Path, content: bytes) -> None:
    """Write to a file beside it and rename: whoever reads sees all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
        try:
            file.write(content)
            file.close()
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def table_checksum(X: FloatArray, target: Names, step: float) -> str:
    """A checksum of rows that ignores their order and how numbers are printed.

    Parameters
    ----------
    X : array of shape (n, d)
        Raw features, NaN where missing.
    target : array of shape (n,)
        The class of each row.
    step : float
        Features are compared as multiples of it, so that a copy with fewer digits has the same checksum.
    """
    names, codes = np.unique(target, return_inverse=True)
    with np.errstate(over="ignore", invalid="ignore"):  # a damaged file may hold anything
        multiples = np.where(np.isnan(X), np.iinfo(np.int64).min, np.rint(X / step)).astype("<i8")
    rows = np.column_stack((multiples, codes.astype("<i8")))
    rows = rows[np.lexsort(rows.T)]
    return hashlib.sha256(rows.tobytes() + "\n".join(names).encode()).hexdigest()[:16]


def texts_checksum(documents: Sequence[dict[str, str]]) -> str:
    """A checksum of documents that ignores their order and all white space but that between words."""
    words = (f"{d['id']}\t{d['target']}\t{' '.join(d['text'].split())}" for d in sorted(documents, key=_id))
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]


def faces_checksum(features: npt.NDArray[Any]) -> str:
    """A checksum of the feature vectors of the faces."""
    return hashlib.sha256(np.ascontiguousarray(features).tobytes()).hexdigest()[:16]
