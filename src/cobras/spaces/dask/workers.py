"""The workers of a dask cluster, which may be lost or not be there yet, and what they do with a partition.

Most of the tasks get the rows of the partition, the members among them by their place in it (None for all), the
number of its first row in the whole table, and how many row numbers make a block. Kernels run on the thread of the
task: the cluster knows how many tasks a worker can run side by side.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, wait
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeAlias

import dask
import numpy as np

from cobras.core.checks import flaw
from cobras.core.exceptions import CobrasError, InvalidDataError, first_line
from cobras.core.threads import on_one_core
from cobras.core.types import FloatArray, IndexArray, LabelArray, StableIds
from cobras.core.writers import labels_table
from cobras.spaces.base import index_type
from cobras.spaces.passes.memory import MemoryRegion

Chain: TypeAlias = tuple[tuple[int, int], ...]  # (which split, which part of it), from the first split on

ATTEMPTS = 3  # at the same piece of work, each of which may cost the cluster several workers
PATIENCE = 5.0  # seconds without results after which one looks whether there are workers at all
STORES = ("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl")  # without folders; no bucket is made here

log = logging.getLogger("cobras")


class Workers:
    """Where tasks run: the cluster of the client at hand, or else dask's own threads.

    Tasks for a cluster without workers wait for one, as long as it takes; a warning in the log says so.
    """

    def __init__(self) -> None:
        # The scheduler of a client is one of its methods; dask has no public way to ask for the client itself.
        client = getattr(dask.base.get_scheduler(), "__self__", None)
        self._client: Any = client if hasattr(client, "persist") else None
        self._has_no_workers = False
        if self._client is not None:
            self._check_for_workers()

    @property
    def client(self) -> Any:
        """Return the client of the cluster, or None."""
        if self._client is not None and self._client.status == "closed":
            raise CobrasError(
                "The client of the cluster is closed. No answer is lost: open the session again."
            )
        return self._client

    def keep(self, tasks: Any) -> Any:
        """Start tasks (or an array), and let the results stay where they are made."""
        return dask.persist(*tasks) if self.client is None else self.client.persist(tasks)

    def results(self, tasks: Sequence[Any]) -> Sequence[Any]:
        """Return the results of tasks; those that were lost with a worker are made again."""
        if self.client is None:
            results: Sequence[Any] = dask.compute(*tasks)
            return results
        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        error: Exception | None = None
        futures: list[Any] = []
        for _ in range(ATTEMPTS):
            try:
                if failed := [future for future in futures if future.status == "error"]:
                    self.client.retry(failed)
                else:
                    futures = self.client.compute(list(tasks))
                return self._gather(futures)
            except (KilledWorker, CommClosedError, CancelledError) as lost:
                error = lost
        raise CobrasError(
            f"The workers failed {ATTEMPTS} times at the same piece of work ({type(error).__name__}). No answer is "
            "lost: give the cluster more workers or more memory, and go on or open the session again."
        ) from error

    def _gather(self, futures: Sequence[Any]) -> Sequence[Any]:
        """Wait for futures and return their results."""
        # Not `client.gather` itself, which would wait without a word when the last worker is gone.
        gathering = self.client.gather(futures, asynchronous=True)
        coming = asyncio.run_coroutine_threadsafe(gathering, self.client.loop.asyncio_loop)
        try:
            while not wait([coming], PATIENCE).done:
                self._check_for_workers()
            found: Sequence[Any] = coming.result()
            self._has_no_workers = False
            return found
        finally:
            coming.cancel()

    def _check_for_workers(self) -> None:
        """Warn, once, when there are none; those of this machine are started again."""
        from distributed import LocalCluster, Status

        before, self._has_no_workers = self._has_no_workers, not self.client.nthreads()
        if self._has_no_workers and not before:
            log.warning("The scheduler %s has no workers; waiting for one.", self.client.scheduler.address)
        cluster = self.client.cluster
        # A local cluster gives up workers that have been gone for 15 seconds, and takes those that failed to start,
        # say because the name was not free yet, for workers for ever: they get another name.
        if self._has_no_workers and isinstance(cluster, LocalCluster):
            there, ended = dict(cluster.workers), (Status.failed, Status.closed)
            dead = [name for name in cluster.worker_spec if name in there and there[name].status in ended]
            cluster.scale(len(cluster.worker_spec) + len(dead))
            for name in dead:
                del cluster.worker_spec[name]
            cluster.scale(len(cluster.worker_spec))


# -- tasks: what a worker does with one partition ------------------------------------------------------------------


def members_of_part(labels: Sequence[LabelArray], numbers: Sequence[int]) -> IndexArray:
    """Return the members of a part, from the labels of the splits above it and its number in each."""
    members: IndexArray | None = None
    for each, number in zip(labels, numbers, strict=True):
        mine = np.flatnonzero(each == number)
        members = mine.astype(index_type(len(each))) if members is None else members[mine]
    assert members is not None
    return members


def assign_rows(
    rows: FloatArray,
    members: IndexArray | None,
    start: int,
    block: int,
    centers: FloatArray,
    find_farthest: bool,
    check: bool,
) -> Any:
    """Return the labels of a pass, and its sums with the rows of its candidates.

    If the rows are checked and something is wrong with them, a sentence in place of the sums.
    """
    if check and (sentence := flaw(rows, start)):
        return None, sentence
    region = MemoryRegion(rows, members, None, block, on_one_core)
    labels, found = region.assign(centers, find_farthest=find_farthest)
    near = rows[found.candidates[found.candidates >= 0]]
    # From places in the partition to numbers in the whole table; -1 stays, for none.
    for numbers in (found.counts[:, :, 2], found.candidates, found.farthest):
        numbers[numbers >= 0] += start
    return labels, (*found, near)


def nearest_rows(
    rows: FloatArray, members: IndexArray | None, start: int, block: int, point: FloatArray, count: int
) -> tuple[IndexArray, FloatArray]:
    """Return the members nearest to a point, by number in the whole table, and the squared distances."""
    found, away = MemoryRegion(rows, members, None, block, on_one_core).nearest(point, count)
    best = np.argsort(away, kind="stable")[:count]
    return start + found[best].astype(np.int64), away[best]


def take_rows(
    rows: FloatArray, members: IndexArray | None, start: int, block: int, positions: IndexArray
) -> FloatArray:
    """Return some of the rows, by their position among the members."""
    return MemoryRegion(rows, members, None, block, on_one_core).rows(positions)


def take_all(
    rows: FloatArray, members: IndexArray | None, start: int, block: int
) -> tuple[IndexArray, FloatArray]:
    """Return all members, by number in the whole table, and their rows."""
    if members is None:
        return np.arange(start, start + len(rows)), rows
    return start + members.astype(np.int64), rows[members]


def label_rows(
    n: int,
    splits: Sequence[LabelArray],
    leaves: Sequence[tuple[Chain, int]],
    members: IndexArray,
    clusters: LabelArray,
) -> LabelArray:
    """Return the cluster of every row: of parts by their place in the splits, of further members one by one."""

    @cache
    def part(chain: Chain) -> IndexArray:
        *above, (split, number) = chain
        mine: IndexArray = np.flatnonzero(splits[split] == number).astype(index_type(n))
        return part(tuple(above))[mine] if above else mine

    labels = np.zeros(n, clusters.dtype)
    for chain, cluster in leaves:
        labels[part(chain) if chain else slice(None)] = cluster
    labels[members] = clusters
    return labels


def write_labels(
    labels: LabelArray, start: int, folder: str, part: int, names: Mapping[int, str], ids: StableIds
) -> None:
    """Write number, cluster, its id and its name of every row as Parquet, to any address that fsspec knows."""
    import fsspec

    numbers = np.arange(start, start + len(labels))
    path = f"{folder.rstrip('/')}/part-{part:05d}.parquet"
    has_folders = folder.split(":", 1)[0] not in STORES
    is_new = "://" not in folder and not os.path.exists(path)  # noqa: PTH110 (an address is no path)
    with _one_sentence(folder), fsspec.open(path, "wb", auto_mkdir=has_folders) as file:
        if is_new:
            os.chmod(path, 0o600)  # noqa: PTH101 (private, like all that a session exports)
        labels_table(numbers, labels, names, ids).write_parquet(file)


def remove_old_parts(folder: str, n_parts: int) -> None:
    """Remove the parts beyond these from a folder: they are of an export with more of them."""
    import fsspec

    mine = {f"part-{p:05d}.parquet" for p in range(n_parts)}
    with _one_sentence(folder):
        system, path = fsspec.core.url_to_fs(folder)
        for old in system.glob(f"{path.rstrip('/')}/part-*.parquet"):
            if old.rsplit("/", 1)[-1] not in mine:
                system.rm(old)


@contextmanager
def _one_sentence(folder: str) -> Iterator[None]:
    """Raise one sentence in place of whatever a file system may say; the reader may lack the error's package."""
    try:
        yield
    except Exception as error:
        raise InvalidDataError(f"The workers cannot write to {folder}: {first_line(error)}.") from None
