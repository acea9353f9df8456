"""From files to instances and classes: the preparation of the paper, and what it leaves open.

Tables: missing cells are filled with the median of their column, instances with the features of another one
are removed, and each feature is scaled to [0, 1]. Faces: deep features as they are. Texts: tf-idf, then latent
semantic indexing to ten dimensions. The order of the instances depends on their content alone, not on the file:
they are sorted, then shuffled, the same way each time. So all copies of a table give the same folds, and no
method gains from classes that lie together.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cobras.bench.sources.content import read_faces, read_table, read_texts, write_whole
from cobras.bench.sources.registry import cache_folder
from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray
from cobras.data.dataset import scaled

RECIPE = 1  # of the cached arrays; raise it when the same file gives other ones
N_TOPICS = 10


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a file became, and what was done to it on the way."""

    X: FloatArray
    y: npt.NDArray[np.intp]
    classes: tuple[str, ...]
    n_rows: int  # in the file
    n_missing: int = 0  # cells


def prepare_table(path: Path) -> Prepared:
    """Fill, remove duplicates, scale, shuffle."""
    X, target = read_table(path)
    missing = np.isnan(X)
    X = np.where(missing, _medians(X), X)
    # By the features; of equal ones, the first class in the alphabet comes first and is kept.
    order = np.lexsort((target, *X.T[::-1]))
    kept = order[distinct(X[order])]
    kept = kept[shuffled(len(kept))]
    y, classes = encoded(target[kept])
    return Prepared(scaled(X[kept]), y, classes, n_rows=len(X), n_missing=int(missing.sum()))


def _medians(X: FloatArray) -> FloatArray:
    """The median of each column, of its known cells; 0 where none is known."""
    return np.array([np.median(known) if (known := x[~np.isnan(x)]).size else 0.0 for x in X.T])


def distinct(X: FloatArray) -> npt.NDArray[np.intp]:
    """The rows that differ from all earlier ones, in order.

    Examples
    --------
    >>> distinct(np.array([[1.0, 2.0], [0.0, 2.0], [1.0, 2.0]]))
    array([0, 1])
    """
    first: npt.NDArray[np.intp] = np.unique(X + 0.0, axis=0, return_index=True)[1]  # -0.0 equals 0.0
    return np.sort(first)


def encoded(target: npt.NDArray[Any]) -> tuple[npt.NDArray[np.intp], tuple[str, ...]]:
    """Class codes 0, 1, ... and the names they stand for, in sorted order.

    Examples
    --------
    >>> encoded(np.array(["rose", "lily", "rose"]))
    (array([1, 0, 1]), ('lily', 'rose'))
    """
    names, codes = np.unique(target, return_inverse=True)
    return codes.astype(np.intp), tuple(str(name) for name in names)


def shuffled(n: int) -> npt.NDArray[np.intp]:
    """An order without meaning, always the same."""
    return np.random.default_rng(0).permutation(n)


def prepare_faces(features: Path, targets: Path, column: str) -> Prepared:
    """The features of a deep network as they are, and one of the ways to sort the images."""
    X, target = read_faces(features, targets, column)
    order = shuffled(len(X))
    y, classes = encoded(target[order])
    return Prepared(X[order], y, classes, n_rows=len(X))


def prepare_texts(path: Path) -> Prepared:
    """Documents as points in a latent semantic space, from the user's cache if they are there already."""
    digest = hashlib.sha256(f"{RECIPE} {N_TOPICS}".encode() + path.read_bytes()).hexdigest()[:32]
    cached = cache_folder() / "prepared" / f"{path.name.partition('.')[0]}-{digest}.npz"
    prepared = _load(cached)
    if prepared is None:
        documents = read_texts(path)
        order = shuffled(len(documents))
        y, classes = encoded(np.array([document["target"] for document in documents])[order])
        try:
            X = latent_semantic_index([document["text"] for document in documents])[order]
        except ValueError as error:
            raise InvalidDataError(
                f"The {len(documents)} documents in {path} have too few words in common to be compared: {error}."
            ) from error
        prepared = Prepared(X, y, classes, n_rows=len(X))
        with contextlib.suppress(OSError):  # without the cache it takes seconds more, that is all
            _save(cached, prepared)
    return prepared


def latent_semantic_index(texts: Sequence[str]) -> FloatArray:
    """The ten leading directions of the tf-idf weights, each row brought to length 1.

    Weights: 1 + log(count) times the smoothed inverse document frequency, rows of length 1; English stop words and
    words of a single document are left out.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    weights = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2).fit_transform(texts)
    topics = TruncatedSVD(N_TOPICS, algorithm="arpack", random_state=0).fit_transform(weights)
    X: FloatArray = np.ascontiguousarray(normalize(topics))
    return X


def _save(path: Path, prepared: Prepared) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, X=prepared.X, y=prepared.y, classes=np.array(prepared.classes))
    write_whole(path, buffer.getvalue())


def _load(path: Path) -> Prepared | None:
    """The arrays in the file; None when there is none or it is damaged."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            X, y, classes = file["X"], file["y"].astype(np.intp), tuple(file["classes"].tolist())
    except (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile, zlib.error):
        return None
    return Prepared(X, y, classes, n_rows=len(X))
