"""The tasks of the paper's experiment: 15 UCI tables, faces sorted in four ways, two sets of newsgroups.

The paper counts 20 tasks but lists 21; all that it lists are here. In addition there are *unseen* tasks, tables on
which no method was tried while it was built, tasks of *many* clusters or regions, generated tasks, which need no
file, and tables of the user.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cobras.bench.sources import prepare
from cobras.bench.sources.catalogue import (
    FACES,
    FACES_CHECKSUM,
    TABLES,
    TEXTS,
    UNSEEN,
    VECTORS,
    data_folder,
    find_files,
)
from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray

PAPER: tuple[str, ...] = (*TABLES, *FACES, *TEXTS)
# Groups of tasks that an experiment can name by one word.
MANY = (*VECTORS, *prepare.MANY)
GROUPS: dict[str, tuple[str, ...]] = {"paper": PAPER, "unseen": tuple(UNSEEN), "many": MANY}
ALL = (*PAPER, *UNSEEN, *VECTORS, *prepare.GENERATED)
USER_KEYS = {"path", "label", "name"}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Task:
    """Instances to cluster, and their classes, which answer the questions.

    Examples
    --------
    >>> load_task("generated-grid")
    Task('generated-grid', 400 x 2, 4 classes)
    """

    name: str  # in results and figures
    X: FloatArray  # the instances, prepared; shape (n, d)
    y: npt.NDArray[np.intp]  # the class of each instance: 0, 1, ...
    classes: tuple[str, ...]  # the names of the classes

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.classes)

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"Task({self.name!r}, {n} x {d}, {self.n_classes} classes)"


@dataclass(frozen=True, slots=True)
class Description:
    """A line of the table of tasks; None where a value is not known before the data is there."""

    name: str
    # "folder", "cache", "download" (not here yet), "missing" (must be put in place by hand) or "generated".
    where: str
    # Whether the content is that of the recorded copy, from which the published results come.
    as_recorded: bool | None = None
    # Of the file: rows, empty cells, and rows that were removed.
    n_rows: int | None = None
    n_missing: int | None = None
    n_duplicates: int | None = None
    # After preparation; the smallest and the largest class by their number of instances.
    n_instances: int | None = None
    n_features: int | None = None
    n_classes: int | None = None
    smallest: int | None = None
    largest: int | None = None


def load_task(spec: str | Mapping[str, Any], folder: Path | None = None) -> Task:
    """Load a task by its name, or make one of a table of the user.

    Parameters
    ----------
    spec : str or mapping
        One of `PAPER`, one of the unseen tasks such as "vehicle", a generated task such as "generated-moons", or
        a mapping with the keys `path`, `label` (the column with the classes) and optionally `name`. The table is
        read as by `cobras.read_dataset`; rows whose features equal those of an earlier row are left out.
    folder : path, optional
        Where the files of the tasks lie; by default the environment variable `COBRAS_DATA` says so. A file
        that is not there is looked for in the user's cache, and else downloaded to it.

    Returns
    -------
    Task
        The same on every call and for every copy of the data.

    Raises
    ------
    InvalidDataError
        When there is no such task, or its data cannot be found or downloaded.

    Examples
    --------
    >>> task = load_task("generated-moons")
    >>> task.X.shape, task.n_classes, task.y[:3]
    ((240, 2), 2, array([0, 1, 0]))
    """
    if isinstance(spec, Mapping):
        return _user_task(spec)
    if spec not in ALL:
        raise InvalidDataError(
            f"There is no task {spec!r}; choose one of {', '.join(ALL)}, "
            "or give the path and the label column of a table."
        )
    paths: list[Path] = []
    if spec not in prepare.GENERATED:
        paths, where = find_files(spec, folder)
        if where == "missing":
            from cobras.bench.sources.download import download

            paths = download(spec, data_folder(folder))
    found = _prepare(spec, paths)
    return Task(spec, found.X, found.y, found.classes)


def describe_tasks(folder: Path | None = None, names: Sequence[str] = ALL) -> list[Description]:
    """Describe tasks without downloading anything.

    Examples
    --------
    >>> (moons,) = describe_tasks(names=["generated-moons"])
    >>> moons.where, moons.n_instances, moons.smallest
    ('generated', 240, 120)
    """
    return [_describe(name, folder) for name in names]


def _prepare(name: str, paths: Sequence[Path]) -> prepare.TaskData:
    if name in prepare.GENERATED:
        return prepare.generate(name)
    if name in FACES:
        return prepare.prepare_faces(paths[0], paths[1], FACES[name])
    if name in TEXTS:
        return prepare.prepare_texts(paths[0])
    if name in VECTORS:
        return prepare.prepare_vectors(paths[0])
    # The files of unseen tasks are as they were downloaded, and name their classes as they like.
    return prepare.prepare_table(paths[0], label=None if name in UNSEEN else "target")


def _describe(name: str, folder: Path | None) -> Description:
    if name in prepare.GENERATED:
        return _description(name, "generated", prepare.generate(name))
    paths, where = find_files(name, folder)
    if where != "missing":
        return _description(name, where, _prepare(name, paths), _is_as_recorded(name, paths))
    if name in TABLES:
        table = TABLES[name]
        return Description(
            *(name, "download"),
            n_rows=table.n_rows,
            n_missing=table.n_missing,
            n_features=table.n_features,
            n_classes=len(table.classes),
        )
    return Description(name, "missing" if name in FACES or name in VECTORS else "download")


def _description(
    name: str, where: str, data: prepare.TaskData, as_recorded: bool | None = None
) -> Description:
    sizes = np.bincount(data.y)
    return Description(
        *(name, where, as_recorded, data.n_rows, data.n_missing),
        n_duplicates=data.n_rows - len(data.X),
        n_instances=data.X.shape[0],
        n_features=data.X.shape[1],
        n_classes=len(data.classes),
        smallest=int(sizes.min()),
        largest=int(sizes.max()),
    )


def _is_as_recorded(name: str, paths: Sequence[Path]) -> bool | None:
    if name in VECTORS:
        return None
    if name in FACES:
        features, _ = prepare.read_faces(paths[0], paths[1], FACES[name])
        return prepare.checksum(features.tobytes()) == FACES_CHECKSUM
    if name in UNSEEN:
        return hashlib.sha256(paths[0].read_bytes()).hexdigest() == UNSEEN[name].sha256
    if name in TEXTS:
        return prepare.texts_checksum(prepare.read_texts(paths[0])) == TEXTS[name].checksum
    return prepare.table_checksum(*prepare.read_table(paths[0]), TABLES[name].step) == TABLES[name].checksum


def _user_task(spec: Mapping[str, Any]) -> Task:
    """A task of a table of the user: filled and scaled by its reader, without duplicates."""
    from cobras.data import read_dataset

    strings = all(isinstance(value, (str, Path)) for value in spec.values())
    if not {"path", "label"} <= set(spec) <= USER_KEYS or not strings:
        raise InvalidDataError(
            f"A task of one's own has a path, a label and perhaps a name, each a text; this one is {dict(spec)}."
        )
    path, label = Path(spec["path"]), str(spec["label"])
    dataset = read_dataset(path, label=label)
    column = dataset.frame[label]
    # polars counts NaN, as some programs write an empty cell, as a number.
    n_empty = (column.fill_nan(None) if column.dtype.is_float() else column).null_count()
    if n_empty:
        raise InvalidDataError(
            f"Column {label!r} of {path.name} is empty in {n_empty} rows; every row of a task needs its class."
        )
    kept = prepare.distinct_rows(dataset.X)
    kept = kept[prepare.fixed_order(len(kept))]
    y, classes = prepare.class_codes(column.to_numpy()[kept])
    if not 2 <= len(classes) < len(kept):
        raise InvalidDataError(
            f"Column {label!r} of {path.name} has {len(classes)} classes for {len(kept)} different rows; "
            "a task needs at least two, and fewer than rows."
        )
    return Task(str(spec.get("name", path.stem)), np.ascontiguousarray(dataset.X[kept]), y, classes)
