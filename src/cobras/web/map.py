"""The map while the server runs: principal components at once, t-SNE by a process of its own, gone at the end."""

from __future__ import annotations

import base64
import contextlib
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
from cobras.data.maps import N_DIMENSIONS, Coordinates, components, nearest, pca_map, points
from cobras.web.sample import Sample

PREFIX = "cobras-map-"  # of temporary folders; the number of the process that made one follows


class Atlas:
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
        self._dataset, self._sample = dataset, sample
        self._changed, self._refine = changed, refine
        self._child: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin, in the background."""
        self._thread = threading.Thread(target=self._work, name="cobras-map", daemon=True)
        self._thread.start()

    def encoded(self) -> str:
        """The coordinates as base64 of little-endian float32."""
        return base64.b64encode(self.coordinates.astype("<f4", copy=False).tobytes()).decode()

    @cached_property
    def rows(self) -> FloatArray:
        """The features of the rows that are shown, as points."""
        return points(self._dataset.features(self._sample.rows))

    def place(self, row: FloatArray) -> tuple[float, float]:
        """Where a row that is not shown, one of `features`, would lie: between the shown ones nearest to it."""
        (near,), (weights,) = nearest(points(row), self.rows)
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
        # A map that fails is missed, but no reason to stop asking: what is there stays.
        try:
            self._show("pca", pca_map(self.rows))
            if self._refine:
                self._improve(self.rows)
        finally:
            self.pending = False
            self._changed()

    def _show(self, layout: Literal["pca", "tsne"], coordinates: Coordinates) -> None:
        self.coordinates, self.layout = coordinates, layout
        self._changed()

    def _improve(self, X: FloatArray) -> None:
        sweep()
        prefix = f"{PREFIX}{os.getpid()}-"
        with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
            rows = Path(folder, "rows.npy")
            np.save(rows, components(X, min(N_DIMENSIONS, X.shape[1])))
            command = [sys.executable, "-m", "cobras.data.maps", str(rows), folder]
            with self._lock:
                if self._closed:
                    return
                # It ends when its standard input does: with this program, however that ends. In a session of its
                # own it can take a low priority by itself, and Ctrl-C does not reach it.
                self._child = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            assert self._child.stdout is not None
            with self._child as child:
                for line in child.stdout or ():
                    with contextlib.suppress(OSError, ValueError):
                        self._show("tsne", np.load(line.decode().rstrip("\n")))


def sweep() -> None:
    """Remove what servers that were killed have left behind."""
    if os.name != "posix":
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).partition("-")[0]
        try:
            os.kill(int(owner), 0)  # asks whether there is such a process
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (ValueError, OverflowError, PermissionError):  # of somebody else
            continue
