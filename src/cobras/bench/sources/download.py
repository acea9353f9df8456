"""Download what is missing: tables from OpenML or GitHub, newsgroups through scikit-learn.

All are checked, then kept. A table of OpenML must have the recorded shape, class sizes, missing cells and content.
OpenML has other names for some classes, which are then recognised by their size. A file from GitHub must have the
recorded bytes. The archive of the newsgroups is checked by scikit-learn, its documents here.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import socket
import tempfile
import urllib.error
import urllib.request
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import numpy as np

from cobras.bench.sources.catalogue import FACES, TABLES, TEXTS, UNSEEN, VECTORS, RecordedTable, files_of
from cobras.bench.sources.prepare import (
    Names,
    replace_file,
    table_checksum,
    texts_checksum,
    write_table,
    write_texts,
)
from cobras.core.exceptions import InvalidDataError, first_line
from cobras.core.types import FloatArray
from cobras.data.cache import cache_folder
from cobras.data.tables.files import DataNotFoundError

TIMEOUT = 30.0  # seconds without an answer from the server

# OpenML has words where the table has codes; "no" is the usual answer there, whichever code it has here.
HEPATITIS = {"male": 2.0, "female": 1.0, "no": 2.0, "yes": 1.0}
HEPATITIS_REVERSED = {"steroid", "liver_big", "histology"}  # columns in which 1 is no and 2 is yes


def download(name: str, folder: Path | None) -> list[Path]:
    """Download the file of a task into the user's cache; an error says which one is missing and where to put it."""
    from rich.console import Console

    files, cache = files_of(name), cache_folder()
    places = f"{cache}" if folder is None else f"{folder} or {cache}"
    if name in FACES or name in VECTORS:
        raise DataNotFoundError(
            f"Task {name} needs {' and '.join(files)}, which cannot be downloaded; put them into {places}."
        )
    try:
        # Shown on a terminal only; how much is still to come is not known.
        with Console(stderr=True).status(f"Downloading {name}"), _time_limit():
            found = _fetch(name)
    except InvalidDataError:
        raise
    except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        reason = getattr(error, "reason", None)
        cause = first_line(reason if isinstance(reason, Exception) else error)
        raise DataNotFoundError(
            f"{files[0]} is missing, and downloading it from {_source(name)} failed ({cause}); "
            f"go online, or put the file into {places}."
        ) from error
    try:
        if isinstance(found, bytes):
            replace_file(cache / files[0], found)
        elif isinstance(found, dict):
            # All sets come in one archive, so the others are kept as well.
            for each, documents in found.items():
                write_texts(cache / files_of(each)[0], documents)
        else:
            write_table(cache / files[0], *found)
    except OSError as error:
        raise InvalidDataError(
            f"The download of {files[0]} cannot be kept in {cache}: {error.strerror}; "
            "set XDG_CACHE_HOME to a folder that can be written."
        ) from error
    return [cache / file for file in files]


Found: TypeAlias = "bytes | tuple[list[str], FloatArray, Names] | dict[str, list[dict[str, str]]]"


def _fetch(name: str) -> Found:
    if name in UNSEEN:
        return fetch_file(name)
    return fetch_table(name) if name in TABLES else fetch_texts()


def _source(name: str) -> str:
    if name in UNSEEN:
        return UNSEEN[name].address
    return f"OpenML, data set {TABLES[name].openml}," if name in TABLES else "the 20 newsgroups archive"


def fetch_file(name: str) -> bytes:
    """Fetch a file from GitHub and check its bytes."""
    recorded = UNSEEN[name]
    with urllib.request.urlopen(recorded.address) as answer:
        content: bytes = answer.read()
    found = hashlib.sha256(content).hexdigest()
    if found != recorded.sha256:
        raise InvalidDataError(
            f"The file at {recorded.address} is not the recorded one: its SHA-256 is {found} instead of "
            f"{recorded.sha256}; put a good {files_of(name)[0]} into {cache_folder()}."
        )
    return content


def fetch_table(name: str) -> tuple[list[str], FloatArray, Names]:
    """Fetch a table from OpenML and check it: the names of the features, their values, the classes."""
    from sklearn.datasets import fetch_openml

    with tempfile.TemporaryDirectory() as home:
        bunch = fetch_openml(
            data_id=TABLES[name].openml, as_frame=False, parser="liac-arff", data_home=home, n_retries=1
        )
    # Categories come as positions in a list of words, which are turned back into the numbers of the UCI file.
    X, features = np.array(bunch.data, dtype=np.float64), list(bunch.feature_names)
    for k, feature in enumerate(features):
        if words := (bunch.categories or {}).get(feature):
            known = ~np.isnan(X[:, k])
            values = np.array([_number(feature, word) for word in words])
            X[known, k] = values[X[known, k].astype(np.intp)]
    target = np.array([str(word).strip("'\" ") for word in bunch.target], dtype=np.str_)
    if name == "optdigits389":
        kept = np.isin(target, ("3", "8", "9"))
        X, target = X[kept], target[kept]
    if name == "column_2C":
        X = np.round(X, 2)  # as in the file of UCI; there are copies with more digits
    return features, X, check_table(name, X, target)


def _number(feature: str, word: str) -> float:
    if word in HEPATITIS:
        code = HEPATITIS[word]
        return 3.0 - code if feature.lower() in HEPATITIS_REVERSED else code
    return float(word)


def check_table(name: str, X: FloatArray, target: Names) -> Names:
    """Check that a table is the recorded one, and return its classes by their recorded names."""
    recorded = TABLES[name]
    target = _recorded_names(target, recorded)
    found = {
        "shape": (X.shape, (recorded.n_rows, recorded.n_features)),
        "class sizes": (
            dict(sorted(Counter(target.tolist()).items())),
            dict(sorted(recorded.classes.items())),
        ),
        "number of missing cells": (int(np.isnan(X).sum()), recorded.n_missing),
        "content": (table_checksum(X, target, recorded.step), recorded.checksum),
    }
    for what, (is_now, should_be) in found.items():
        if is_now != should_be:
            raise InvalidDataError(
                f"OpenML's copy of {name}, data set {recorded.openml}, is not the recorded one: its {what} is "
                f"{is_now} instead of {should_be}; put a good {files_of(name)[0]} into {cache_folder()}."
            )
    return target


def _recorded_names(target: Names, recorded: RecordedTable) -> Names:
    """Classes by their recorded names: as they are, or else by their sizes where all of these differ."""
    sizes = Counter(target.tolist())
    by_size = {size: name for name, size in recorded.classes.items()}
    if set(sizes) == set(recorded.classes) or sorted(sizes.values()) != sorted(by_size):
        return target
    return np.array([by_size[sizes[name]] for name in target.tolist()], dtype=np.str_)


def fetch_texts() -> dict[str, list[dict[str, str]]]:
    """Fetch the documents of all sets of newsgroups, which come in one archive, and check them."""
    from sklearn.datasets import fetch_20newsgroups

    groups = [group for texts in TEXTS.values() for group in texts.classes]
    with tempfile.TemporaryDirectory() as home:
        bunch = fetch_20newsgroups(
            subset="all", categories=groups, shuffle=False, data_home=home, n_retries=1
        )
    documents = []
    for filename, text in zip(bunch.filenames, bunch.data, strict=True):
        split, group, number = Path(filename).parts[-3:]
        row = {"id": f"{group}/{number}", "split": split.rpartition("-")[2], "target": group, "text": text}
        documents.append(row)
    found = {
        name: [document for document in documents if document["target"] in texts.classes]
        for name, texts in TEXTS.items()
    }
    for name, texts in TEXTS.items():
        if texts_checksum(found[name]) != texts.checksum:
            raise InvalidDataError(
                f"The documents of {name} that scikit-learn fetched are not the recorded ones; "
                f"put a good {files_of(name)[0]} into {cache_folder()}."
            )
    return found


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    """Give up on a server that sends nothing, and hide scikit-learn's warnings on retries."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(TIMEOUT)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        socket.setdefaulttimeout(before)
