"""From files to instances and classes: the preparation of the paper, and what it leaves open.

Files: a table is a CSV file with a header, the features as raw numbers, empty where missing, and last the column
`target`, or, in files that are kept as they were downloaded, the class under another name; texts are gzipped
JSON lines with the keys id, split, target and text.

Tables: missing cells are filled with the median of their column, instances with the features of another one
are removed, and each feature is scaled to [0, 1]. Faces: deep features as they are. Texts: tf-idf, then latent
semantic indexing to ten dimensions. The order of the instances depends on their content alone, not on the file:
they are sorted, then shuffled, the same way each time. So all copies of a table give the same folds, and no
method gains from classes that lie together. Generated tasks need no file: the same rows on every machine.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError, first_line
from cobras.core.types import FloatArray
from cobras.data.cache import shared_cache
from cobras.data.items.texts import latent_semantic_index

Names = npt.NDArray[np.str_]
Codes = npt.NDArray[np.intp]
RECIPE = 1  # of the cached points of texts; raise it when the same file gives other ones


@dataclass(frozen=True, slots=True)
class TaskData:
    """The instances and classes of a task, and what its file held."""

    X: FloatArray
    y: Codes
    classes: tuple[str, ...]
    n_rows: int  # in the file, duplicates included
    n_missing: int = 0  # cells


def prepare_table(path: Path, label: str | None = "target") -> TaskData:
    """Fill, remove duplicates, scale, shuffle; `label` is that of `read_table`."""
    X, target = read_table(path, label)
    missing = np.isnan(X)
    # Of the known cells of each column; 0 where none is known.
    medians = [np.median(known) if (known := x[~np.isnan(x)]).size else 0.0 for x in X.T]
    X = np.where(missing, medians, X)
    # By the features; of equal ones, the first class in the alphabet comes first and is kept.
    order = np.lexsort((target, *X.T[::-1]))
    kept = order[distinct_rows(X[order])]
    kept = kept[fixed_order(len(kept))]
    y, classes = class_codes(target[kept])
    return TaskData(scale_columns(X[kept]), y, classes, n_rows=len(X), n_missing=int(missing.sum()))


def scale_columns(X: FloatArray) -> FloatArray:
    """Every column brought to [0, 1]; a constant column becomes 0.

    Examples
    --------
    >>> scale_columns(np.array([[1.0, 7.0], [3.0, 7.0], [2.0, 7.0]])).T.tolist()
    [[0.0, 1.0, 0.5], [0.0, 0.0, 0.0]]
    """
    # Not by scikit-learn's minmax_scale: it multiplies by a reciprocal, and published results have these digits.
    low, high = X.min(axis=0), X.max(axis=0)
    return np.asarray((X - low) / np.where(high > low, high - low, 1))


def prepare_faces(features: Path, targets: Path, column: str) -> TaskData:
    """The features of a deep network as they are, and one of the ways to sort the images."""
    X, target = read_faces(features, targets, column)
    order = fixed_order(len(X))
    y, classes = class_codes(target[order])
    return TaskData(X[order], y, classes, n_rows=len(X))


def prepare_vectors(path: Path) -> TaskData:
    """Vectors as they are, such as embeddings of texts, and their classes."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            X, target = file["X"].astype(np.float32), file["y"]
    except (OSError, KeyError, ValueError, EOFError, zlib.error) as error:
        raise InvalidDataError(f"{path} cannot be read: {error}.") from error
    order = fixed_order(len(X))
    y, classes = class_codes(target[order])
    return TaskData(X[order], y, classes, n_rows=len(X))


def prepare_texts(path: Path) -> TaskData:
    """Documents as points in a latent semantic space, from the user's cache if they are there already."""
    documents = read_texts(path)
    # The points depend on all documents together, so one changed byte of the file makes another entry.
    key = f"newsgroups {RECIPE} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    if (kept := shared_cache().get(key)) is not None:
        X: FloatArray = np.load(io.BytesIO(kept), allow_pickle=False)
    else:
        try:
            X = latent_semantic_index(document["text"] for document in documents)
        except ValueError as error:
            raise InvalidDataError(
                f"The {len(documents)} documents in {path} have too few words in common to be compared: {error}."
            ) from error
        buffer = io.BytesIO()
        np.save(buffer, X)
        shared_cache().put({key: buffer.getvalue()})
    order = fixed_order(len(documents))
    y, classes = class_codes(np.array([document["target"] for document in documents])[order])
    return TaskData(X[order], y, classes, n_rows=len(X))


def distinct_rows(X: FloatArray) -> Codes:
    """The numbers of the rows that differ from all earlier ones, in order.

    Examples
    --------
    >>> distinct_rows(np.array([[1.0, 2.0], [0.0, 2.0], [1.0, 2.0]]))
    array([0, 1])
    """
    # Adding 0.0 turns -0.0 into 0.0, so that the two are equal as bytes as well.
    first: Codes = np.unique(X + 0.0, axis=0, return_index=True)[1]
    return np.sort(first)


def class_codes(target: npt.NDArray[Any]) -> tuple[Codes, tuple[str, ...]]:
    """Class codes 0, 1, ... and the names they stand for, in sorted order.

    Examples
    --------
    >>> class_codes(np.array(["rose", "lily", "rose"]))
    (array([1, 0, 1]), ('lily', 'rose'))
    """
    names, codes = np.unique(target, return_inverse=True)
    return codes.astype(np.intp), tuple(str(name) for name in names)


def fixed_order(n: int) -> Codes:
    """A random order of n rows, always the same."""
    return np.random.default_rng(0).permutation(n)


def read_table(path: Path, label: str | None = "target") -> tuple[FloatArray, Names]:
    """The features of a table, NaN where a cell is empty, and the class of each row.

    The class is in the column `label`, or in the last one if it is None.
    """
    column = "classes in its last column" if label is None else f"the column {label!r}"
    try:
        label = pl.read_csv(path, n_rows=0).columns[-1] if label is None else label
        frame = pl.read_csv(path, schema_overrides={label: pl.String}, infer_schema_length=None)
        X = frame.drop(label).select(pl.all().cast(pl.Float64)).to_numpy(order="c")
        target = frame[label]
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InvalidDataError(
            f"{path} cannot be read as a table of numbers with {column}: {first_line(error)}."
        ) from error
    if X.size == 0 or target.null_count():
        raise InvalidDataError(f"{path} must hold features, rows, and a target in every row.")
    return X, target.to_numpy().astype(np.str_)


def write_table(path: Path, features: Sequence[str], X: FloatArray, target: Names) -> None:
    """Write a table so that `read_table` reads the same values again."""
    columns = {name: pl.Series(X[:, k]).fill_nan(None) for k, name in enumerate(features)}
    replace_file(path, pl.DataFrame({**columns, "target": target.tolist()}).write_csv().encode())


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
    return _by_id(documents)


def write_texts(path: Path, documents: Sequence[dict[str, str]]) -> None:
    """Write documents so that `read_texts` reads the same again."""
    lines = "".join(json.dumps(document) + "\n" for document in _by_id(documents))
    replace_file(path, gzip.compress(lines.encode(), mtime=0))


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


def _by_id(documents: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    return sorted(documents, key=lambda document: document["id"])


def replace_file(path: Path, content: bytes) -> None:
    """Write beside the file and rename: another process reads all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def table_checksum(X: FloatArray, target: Names, step: float) -> str:
    """A checksum of raw features and classes that ignores the order of the rows and how numbers are printed."""
    # Features are compared as multiples of the step, so that a copy with fewer digits has the same checksum.
    names, codes = np.unique(target, return_inverse=True)
    with np.errstate(over="ignore", invalid="ignore"):  # a damaged file may hold anything
        multiples = np.where(np.isnan(X), np.iinfo(np.int64).min, np.rint(X / step)).astype("<i8")
    rows = np.column_stack((multiples, codes.astype("<i8")))
    rows = rows[np.lexsort(rows.T)]
    return checksum(rows.tobytes() + "\n".join(names).encode())


def texts_checksum(documents: Sequence[dict[str, str]]) -> str:
    """A checksum of documents that ignores their order and all white space but that between words."""
    words = (f"{d['id']}\t{d['target']}\t{' '.join(d['text'].split())}" for d in _by_id(documents))
    return checksum("\n".join(words).encode())


def checksum(content: bytes) -> str:
    """Sixteen hexadecimal digits that tell this content from another."""
    # 64 bits tell a changed file from a good one; it is no protection against forgery.
    return hashlib.sha256(content).hexdigest()[:16]


Labelled = tuple[FloatArray, Codes]


def blobs() -> Labelled:
    """Five round clusters in five dimensions, of 20 to 100 rows, some of which touch."""
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(5), (100, 80, 60, 40, 20))
    centres = rng.normal(scale=3.0, size=(5, 5))
    return centres[y] + rng.normal(size=(len(y), 5)), y


def moons() -> Labelled:
    """Two interleaved half circles: no cluster is the region around one centre."""
    rng = np.random.default_rng(2)
    y = np.repeat(np.arange(2), 120)
    angle = rng.uniform(0, np.pi, size=len(y))
    arc = np.column_stack((np.cos(angle), np.sin(angle)))
    arc[y == 1] = (1.0, 0.4) - arc[y == 1]
    return arc + rng.normal(scale=0.12, size=arc.shape), y


def grid() -> Labelled:
    """Sixteen blobs on a grid; each of the four clusters is four blobs that do not touch, so answers are needed."""
    rng = np.random.default_rng(3)
    blob = np.repeat(np.arange(16), 25)
    row, column = np.divmod(blob, 4)
    X = np.column_stack((column, row)) + rng.normal(scale=0.12, size=(len(blob), 2))
    return X, (column + 2 * row) % 4


def lines() -> Labelled:
    """Three long, parallel, noisy lines in twenty dimensions, most of them irrelevant."""
    rng = np.random.default_rng(4)
    y = np.repeat(np.arange(3), (90, 70, 50))
    X = rng.normal(scale=0.3, size=(len(y), 20))
    X[:, 0] += rng.uniform(-4, 4, size=len(y))
    X[:, 1] += 1.5 * y
    return X, y


def many(n_clusters: int) -> Labelled:
    """Clusters of very different sizes and widths in twenty dimensions, about four thousand rows at most."""
    rng = np.random.default_rng(n_clusters)
    mean_size = min(4000 / n_clusters, 50)
    sizes = np.maximum(5, rng.gamma(2, mean_size / 2, n_clusters)).astype(np.intp)
    y = np.repeat(np.arange(n_clusters), sizes)
    centres = rng.normal(size=(n_clusters, 20))
    width = 0.55 * rng.uniform(0.6, 1.6, n_clusters)
    return centres[y] + width[y, None] * rng.normal(size=(len(y), 20)), y


def records() -> Labelled:
    """Records of 300 persons, one to four of each, which differ by slips: clusters of a few rows."""
    rng = np.random.default_rng(5)
    y = np.repeat(np.arange(300), rng.integers(1, 5, 300))
    return rng.normal(size=(300, 12))[y] + 0.3 * rng.normal(size=(len(y), 12)), y


def regions(n_clusters: int, n_regions: int) -> Labelled:
    """Round regions in five dimensions; those of one cluster lie anywhere, as kinds of goods of one department."""
    rng = np.random.default_rng(n_regions)
    region = np.repeat(np.arange(n_regions), rng.integers(15, 40, n_regions))
    X = 3 * rng.normal(size=(n_regions, 5))[region] + 0.5 * rng.normal(size=(len(region), 5))
    return X, region % n_clusters


GENERATED: dict[str, Callable[[], Labelled]] = {
    f"generated-{make.__name__}": make for make in (blobs, moons, grid, lines)
}
# Hundreds of clusters, or clusters of many regions.
MANY: dict[str, Callable[[], Labelled]] = {
    **{f"generated-many{k}": partial(many, k) for k in (20, 60, 200)},
    "generated-records": records,
    **{f"generated-regions{n}": partial(regions, k, n) for k, n in ((3, 24), (8, 40))},
}
GENERATED |= MANY


def generate(name: str) -> TaskData:
    """The rows, scaled to [0, 1], and the classes of a generated task.

    Examples
    --------
    >>> task = generate("generated-grid")
    >>> task.X.shape, np.bincount(task.y)
    ((400, 2), array([100, 100, 100, 100]))
    """
    X, y = GENERATED[name]()
    order = fixed_order(len(X))
    classes = tuple(str(code) for code in range(int(y.max()) + 1))
    return TaskData(scale_columns(X[order]), y[order].astype(np.intp), classes, n_rows=len(X))
