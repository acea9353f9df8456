"""The map: where the rows that are shown lie on it.

The layout is that of the principal components at once, and that of t-SNE when a process of its own has computed it.
That one is kept in the cache, so that the map is the same after a restart.
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

from cobras.core.types import FloatArray
from cobras.data import Dataset
from cobras.data.cache import shared_cache
from cobras.data.maps import N_DIMENSIONS, Coordinates, nearest, pca_map, points, principal_components
from cobras.web.view import Sample

VERSION = 1  # of the layout: another one when it is computed otherwise
N_HASHED = 10_000  # rows at a time
# -P: modules are never looked for in the working directory, where the data may come with files of a stranger.
COMMAND = (sys.executable, "-P", "-m", "cobras.data.maps")
PREFIX = "cobras-map-"  # of temporary folders; the number of the process that made one follows


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
        self._has_tried = threading.Event()  # set once there is a layout, or none can be had

    def of_other(self, dataset: Dataset) -> Map:
        """A map of the same rows with other features, which is not begun yet."""
        return Map(dataset, self.shown, self._changed, self._refine)

    def start(self) -> None:
        """Begin to compute, in the background, unless that was done before."""
        with self._lock:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._work, name="cobras-map", daemon=True)
                self._thread.start()

    def wait(self) -> None:
        """Begin to compute, and wait for the first layout."""
        self.start()
        self._has_tried.wait()

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
            self._has_tried.set()
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
            self._has_tried.set()
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
        self._has_tried.set()
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
