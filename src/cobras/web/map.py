"""The map: which rows are on it, and where they lie.

It shows all rows, or of very many a fixed random sample: more points than the screen has room for say no more,
and labels of millions of rows would travel after every answer. The layout is that of the principal components at
once, and that of t-SNE when a process of its own has computed it. That one is kept in the cache, so that the map is
the same after a restart.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from cobras.core.partition import Partition, SuperInstance
from cobras.core.types import FloatArray, IndexArray, LabelArray
from cobras.data import Dataset
from cobras.data.cache import shared_cache
from cobras.data.maps import N_DIMENSIONS, Coordinates, nearest, pca_map, points, principal_components

N_SHOWN = 100_000  # rows on the map
VERSION = 1  # of the layout: another one when it is computed otherwise
N_HASHED = 10_000  # rows at a time
N_REMOTE = 2_000  # the same where the rows lie on other machines
# -P: modules are never looked for in the working directory, where the data may come with files of a stranger.
COMMAND = (sys.executable, "-P", "-m", "cobras.data.maps")
PREFIX = "cobras-map-"  # of temporary folders; the number of the process that made one follows


class Sample:
    """Which of n rows are shown; `rows` holds their numbers, ascending, and is None where it is all of them.

    Examples
    --------
    >>> Sample(1_000).rows is None, len(Sample(1_000_000).rows)
    (True, 100000)
    """

    def __init__(self, n: int, remote: bool = False) -> None:
        self.n = n
        size = N_REMOTE if remote else N_SHOWN
        self.rows: IndexArray | None = None
        if n > size:
            self.rows = np.sort(np.random.default_rng(0).choice(n, size, replace=False, shuffle=False))
        self._is_remote = remote
        self._mask = np.empty(0, bool)
        self._places: dict[int, tuple[SuperInstance, IndexArray]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self.n if self.rows is None else len(self.rows)

    def numbers(self) -> IndexArray:
        """The rows that are shown, by number."""
        return np.arange(self.n) if self.rows is None else self.rows

    def place(self, row: int) -> int | None:
        """The place of a row among those that are shown; None if it is not shown."""
        if self.rows is None:
            return row
        at = int(np.searchsorted(self.rows, row))
        return at if at < len(self.rows) and self.rows[at] == row else None

    def labels(self, partition: Partition) -> LabelArray:
        """The cluster of every row that is shown."""
        if self.rows is None and not self._is_remote:
            labels = partition.labels
            # In clusterings from before rows were added, these are in the first cluster.
            return (
                np.append(labels, np.zeros(self.n - len(labels), np.int32))
                if len(labels) < self.n
                else labels
            )
        if self._is_remote:
            return np.array(list(partition.clusters_of(self.numbers().tolist()).values()), np.int32)
        labels = np.zeros(len(self), np.int32)
        # Places are kept per super-instance, so an answer costs what its new super-instances cost.
        with self._lock:
            for number, cluster in enumerate(partition.clusters):
                for s in cluster.super_instances:
                    labels[self._places_in(s)] = number
        return labels

    def members(self, partition: Partition, number: int) -> IndexArray | None:
        """All rows of a cluster, ascending; None where they are more than are shown, or lie on other machines."""
        cluster = partition.clusters[number]
        return cluster.members if not self._is_remote and len(cluster) <= len(self) else None

    def _places_in(self, s: SuperInstance) -> IndexArray:
        if id(s) not in self._places:
            assert self.rows is not None
            if not len(self._mask):
                self._mask = np.zeros(self.n, bool)
                self._mask[self.rows] = True
            members = s.members
            # The super-instance is kept with its places, so that no other one takes its identity.
            self._places[id(s)] = s, np.searchsorted(self.rows, members[self._mask[members]])
        return self._places[id(s)][1]


class Map:
    """The best layout so far.

    Parameters
    ----------
    dataset, sample
        Whose rows are shown, and which.
    changed : callable
        Called from another thread whenever there is a better layout.
    refine : bool
        Whether to go on with t-SNE after the principal components.
    """

    def __init__(
        self, dataset: Dataset, sample: Sample, changed: Callable[[], None], refine: bool = True
    ) -> None:
        self.layout: Literal["none", "pca", "tsne"] = "none"
        self.coordinates: Coordinates = np.full((len(sample), 2), 0.5, np.float32)
        self.pending = True
        self.problem = ""  # why it is not what it should be, in a sentence
        self._dataset, self.shown = dataset, sample
        self._changed, self._refine = changed, refine
        self._child: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def of_other(self, dataset: Dataset) -> Map:
        """A map of the same rows with other features, which is not begun yet."""
        return Map(dataset, self.shown, self._changed, self._refine)

    def start(self) -> None:
        """Begin to compute, in the background, unless that was done before."""
        with self._lock:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._work, name="cobras-map", daemon=True)
                self._thread.start()

    def encode(self) -> str:
        """The coordinates as base64 of little-endian float32."""
        return base64.b64encode(self.coordinates.astype("<f4", copy=False).tobytes()).decode()

    @cached_property
    def rows(self) -> FloatArray:
        """The features of the rows that are shown, as points."""
        return points(self._dataset.features(self.shown.rows))

    def place(self, row: int) -> tuple[float, float]:
        """Where a row that is not shown would lie: between the shown ones nearest to it."""
        (near,), (weights,) = nearest(points(self._dataset.features(np.array([row]))), self.rows)
        x, y = weights @ self.coordinates[near]
        return float(x), float(y)

    def close(self) -> None:
        """Stop computing."""
        with self._lock:
            self._closed = True
            if self._child is not None:
                self._child.kill()
        if self._thread is not None:
            self._thread.join(timeout=1)

    def _work(self) -> None:
        # Where the map fails, the layout that is there stays: no reason to stop asking.
        try:
            if self._refine and self._load():
                return
            self._set_layout("pca", pca_map(self.rows))
            if self._refine:
                self._compute_tsne(self.rows)
                self._store()
        except Exception as error:
            self.problem = f"The map could not be computed to the end: {error}"[:500]
        finally:
            self.pending = False
            self._changed()

    @cached_property
    def _key(self) -> str:
        """The name in the cache of the layout of these rows."""
        digest = hashlib.sha256(repr((VERSION, self.rows.shape, self.rows.dtype.str)).encode())
        for start in range(0, len(self.rows), N_HASHED):
            digest.update(np.ascontiguousarray(self.rows[start : start + N_HASHED]).tobytes())
        return f"map {digest.hexdigest()}"

    def _load(self) -> bool:
        """Show the layout of an earlier start: a person knows the map by then."""
        known = shared_cache().get(self._key)
        if known is None or len(known) != 8 * len(self.shown):
            return False
        self._set_layout("tsne", np.frombuffer(known, "<f4").reshape(-1, 2))
        return True

    def _store(self) -> None:
        if self.layout == "tsne" and not self._closed:
            shared_cache().put({self._key: self.coordinates.astype("<f4", copy=False).tobytes()})

    def _set_layout(self, layout: Literal["pca", "tsne"], coordinates: Coordinates) -> None:
        self.coordinates, self.layout = coordinates, layout
        self._changed()

    def _compute_tsne(self, X: FloatArray) -> None:
        remove_abandoned_folders()
        prefix = f"{PREFIX}{os.getpid()}-"
        with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
            rows = Path(folder, "rows.npy")
            np.save(rows, principal_components(X, min(N_DIMENSIONS, X.shape[1])))
            errors = Path(folder, "errors.txt")
            with self._lock, errors.open("wb") as stream:
                if self._closed:
                    return
                # It ends when its standard input does: with this program, however that ends. In a session of its
                # own it can take a low priority by itself, and Ctrl-C does not reach it.
                self._child = subprocess.Popen(
                    [*COMMAND, str(rows), folder],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stream,
                    start_new_session=True,
                )
            with self._child as child:
                # Each line names a file with a better layout.
                for line in child.stdout or ():
                    with contextlib.suppress(OSError, ValueError):
                        self._set_layout("tsne", np.load(line.decode().rstrip("\n")))
            if child.returncode and not self._closed:
                said = errors.read_text("utf-8", "replace").strip().splitlines()
                raise RuntimeError(said[-1] if said else f"its process ended with code {child.returncode}")


def remove_abandoned_folders() -> None:
    """Remove the temporary folders of servers that were killed."""
    if os.name != "posix":
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).partition("-")[0]
        try:
            os.kill(int(owner), 0)  # signal 0 only asks whether there is such a process
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (ValueError, OverflowError, PermissionError):  # the folder of another program or user
            continue
