"""Rows of numbers on a dask cluster, split by k-means.

The rows stay on the workers; centroids, counts, representatives and a sample are sent to the client. The rows of a
super-instance of up to `LARGE` rows are fetched once; it and its parts are split here. Questions and labels are
those that the same rows give in memory (on processors of the same kind, which round the same way).
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np

from cobras.core.checks import flaw
from cobras.core.exceptions import InvalidDataError
from cobras.core.partition import Members, NodePath, Partition, SuperInstance
from cobras.core.types import ClusterNames, FloatArray, IndexArray, StableIds
from cobras.spaces.base import Among
from cobras.spaces.dask.table import RemotePart, RemoteRegion, RemoteTable, label_tasks
from cobras.spaces.dask.workers import Workers, remove_old_parts, write_labels
from cobras.spaces.euclidean import Medoid, RowSpace
from cobras.spaces.passes import sampling

LEAST = 2**24  # bytes of a partition: a scheduler takes milliseconds for a task, however short it is
KEPT = 2**27  # bytes of rows that are kept here, in any case those that were needed last


class DaskSpace(RowSpace):
    """Rows that lie on the workers of a dask cluster; all of them may be shown.

    Parameters
    ----------
    X : dask array of shape (n, d), or dask data frame of numbers
        float32 stays float32. Partitions begin at the nearest multiples of 65,536 rows, small ones are joined.
    n_init : int
        Restarts of k-means.
    full_restarts, medoid
        As in `EuclideanSpace`, only with their defaults.
    persist : bool
        Keep the rows in the memory of the workers, which spill to disk what does not fit; otherwise every pass
        reads them again. Without a distributed client they are always read again.

    Examples
    --------
    >>> space = DaskSpace(da.from_array(np.array([[0.0], [1.0], [10.0], [11.0]]), chunks=2))
    >>> sorted(part.members.tolist() for part in space.split(space.root(seed=0), 2))
    [[0, 1], [2, 3]]
    """

    def __init__(
        self,
        X: Any,
        *,
        n_init: int = 10,
        full_restarts: bool = False,
        medoid: Medoid = "nearest_to_centroid",
        persist: bool = True,
    ) -> None:
        self.table = X if isinstance(X, RemoteTable) else as_table(X, persist=persist)
        if full_restarts or medoid != "nearest_to_centroid":
            raise InvalidDataError(
                "full_restarts and medoid are for tables in memory. Leave them out, or compute() X first."
            )
        super().__init__(self.table.shape, None, n_init, full_restarts, medoid)
        self.parameters = {"n_init": n_init, "full_restarts": full_restarts, "medoid": medoid}
        self._fetched: OrderedDict[tuple[int, NodePath], tuple[IndexArray, FloatArray]] = OrderedDict()
        self._sources: dict[tuple[int, NodePath], SuperInstance] = {}

    def rows(self, instances: IndexArray) -> FloatArray:
        """Return the rows of some instances, from where they lie."""
        return self.table[np.asarray(instances)]

    def export_labels(
        self,
        folder: str | os.PathLike[str],
        partition: Partition,
        names: ClusterNames = None,
        ids: StableIds = None,
    ) -> None:
        """Let each worker write the labels of its rows as Parquet into a folder, local to all or any of fsspec's.

        The files part-00000.parquet, ... hold the number of the row as `id`, its `cluster` and, where given, its
        `cluster_id` and `cluster_name`.
        """
        place = os.fspath(folder)
        place = place if "://" in place else str(Path(place).absolute())
        write, remove = dask.delayed(write_labels, pure=False), dask.delayed(remove_old_parts, pure=False)
        self.table.workers.results(
            [
                write(labels, int(start), place, p, dict(names or {}), ids)
                for p, (labels, start) in enumerate(
                    zip(label_tasks(self.table, partition), self.table.starts[:-1], strict=True)
                )
            ]
        )
        self.table.workers.results([remove(place, len(self.table.partitions))])

    # -- what `RowSpace` needs -------------------------------------------------------------------------------------

    def _region(self, s: SuperInstance, among: Among = "all") -> sampling.Region:
        return RemoteRegion(self.table, s.holding if isinstance(s.holding, RemotePart) else None)

    def _members_of_parts(self, s: SuperInstance, groups: sampling.Groups) -> Sequence[Members]:
        above = s.holding if isinstance(s.holding, RemotePart) else None
        return [
            RemotePart(self.table, above, groups.labels, g, first)
            for g, first in enumerate(groups.firsts.tolist())
        ]

    def _make_root(self, seed: int) -> SuperInstance:
        # NaN is found and named in the first pass; the rough mean before it may already stumble over one.
        with np.errstate(all="ignore"):
            return super()._make_root(seed)

    def _rows(self, s: SuperInstance) -> FloatArray:
        if isinstance(s.holding, np.ndarray):
            # It was split here, so the rows of one of its ancestors were fetched.
            above = ((s.seed, s.path[:end]) for end in range(len(s.path) + 1))
            ancestor = next(node for node in above if node in self._sources)
            members, rows = self._fetch(self._sources[ancestor])
            return rows[np.searchsorted(members, s.holding)]
        return self._fetch(s)[1]

    def _fetch(self, s: SuperInstance) -> tuple[IndexArray, FloatArray]:
        """Return all members of a super-instance and their rows, fetched if they are not kept here."""
        node = (s.seed, s.path)
        with self._lock:
            self._sources[node] = s
            if node in self._fetched:
                self._fetched.move_to_end(node)
                return self._fetched[node]
        part = s.holding if isinstance(s.holding, RemotePart) else None
        found = members, rows = RemoteRegion(self.table, part).all_rows()
        if not self.table.checked and (sentence := flaw(rows)):
            raise InvalidDataError(sentence)
        if part is not None:
            part.fetched = members
        with self._lock:
            self._fetched[node] = found
            while sum(rows.nbytes for _, rows in self._fetched.values()) > KEPT and len(self._fetched) > 1:
                self._fetched.popitem(last=False)
        return found


def as_table(X: Any, *, persist: bool = True) -> RemoteTable:
    """Return the partitions of an array or a data frame, moved to the borders of blocks and kept on the workers."""
    X = _as_floats(_as_array(X) if isinstance(X, dd.DataFrame | dd.Series) else X)
    workers = Workers()
    persist = persist and workers.client is not None
    if np.isnan(X.shape).any():
        X = workers.keep(X) if persist else X.copy()  # the rows are read to be counted
        X.compute_chunk_sizes()
    if X.ndim != 2 or 0 in X.shape:
        raise InvalidDataError(f"X must be a table with rows and columns, but its shape is {X.shape}.")
    n, d = X.shape
    block, borders = sampling.BLOCK, [0]
    least = max(block, LEAST // (X.dtype.itemsize * d))
    for end in (np.cumsum(X.chunks[0]) + block // 2) // block * block:
        if end - borders[-1] >= least and end < n:
            borders.append(int(end))
    borders.append(n)
    X = X.rechunk((tuple(np.diff(borders).tolist()), (d,)), method="tasks")
    X = X.map_blocks(np.ascontiguousarray, dtype=X.dtype)
    return RemoteTable(X if persist else dask.optimize(X)[0], workers, block, persist=persist)


def _as_floats(X: Any) -> Any:
    if not isinstance(X, da.Array) or not isinstance(X._meta, np.ndarray):
        raise InvalidDataError(
            f"X is a {type(X).__name__} of dask, but only arrays of numpy arrays and data frames can be clustered."
        )
    if X.dtype.kind not in "fiub":
        raise InvalidDataError(
            f"X holds values of type {X.dtype}, but only numbers can be clustered. Convert it with astype."
        )
    return X.astype(np.float32 if X.dtype in (np.float16, np.float32) else np.float64)


def _as_array(frame: Any) -> Any:
    """Return a data frame as an array, of the type that it would have in memory."""
    from pandas.api.types import is_numeric_dtype

    if frame.ndim != 2:
        raise InvalidDataError(
            f"X must be a table with rows and columns, but it is a {type(frame).__name__}."
        )
    for name, dtype in frame.dtypes.items():
        if not is_numeric_dtype(dtype):
            raise InvalidDataError(
                f"Column {name!r} of X holds {dtype}, but only numbers can be clustered. Drop or encode it."
            )
    plain = [dtype if isinstance(dtype, np.dtype) else np.float64 for dtype in frame.dtypes]
    return frame.astype(np.result_type(np.bool_, *plain)).to_dask_array()
