"""The workers of a dask cluster, which may be lost, or not be there yet."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import CancelledError, wait
from typing import Any

import dask

from cobras.core.exceptions import CobrasError

ATTEMPTS = 3  # at the same piece of work, each of which may cost the cluster several workers
PATIENCE = 5.0  # seconds without results after which somebody looks whether there are workers at all

log = logging.getLogger("cobras")


class Workers:
    """Where tasks run: the cluster of the client at hand, or else dask's own threads.

    Tasks for a cluster without workers wait for one, as long as it takes; a warning in the log says so.
    """

    def __init__(self) -> None:
        client = getattr(dask.base.get_scheduler(), "__self__", None)  # of a client it is a method
        self._client: Any = client if hasattr(client, "persist") else None
        self._deserted = False
        if self._client is not None:
            self._look_for_workers()

    @property
    def client(self) -> Any:
        """The client of the cluster, or None."""
        if self._client is not None and self._client.status == "closed":
            raise CobrasError(
                "The client of the cluster is closed. No answer is lost: open the session again."
            )
        return self._client

    def keep(self, tasks: Any) -> Any:
        """Start tasks (or an array), and let the results stay where they are made."""
        return dask.persist(*tasks) if self.client is None else self.client.persist(tasks)

    def results(self, tasks: Sequence[Any]) -> Sequence[Any]:
        """The results of tasks; what a lost worker took with it is made again."""
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
                return self._gathered(futures)
            except (KilledWorker, CommClosedError, CancelledError) as lost:
                error = lost
        raise CobrasError(
            f"The workers failed {ATTEMPTS} times at the same piece of work ({type(error).__name__}). No answer is "
            "lost: give the cluster more workers or more memory, and go on or open the session again."
        ) from error

    def _gathered(self, futures: Sequence[Any]) -> Sequence[Any]:
        """The results of futures, when they are there."""
        gathering = self.client.gather(futures, asynchronous=True)
        coming = asyncio.run_coroutine_threadsafe(gathering, self.client.loop.asyncio_loop)
        try:
            while not wait([coming], PATIENCE).done:
                self._look_for_workers()
            found: Sequence[Any] = coming.result()
            self._deserted = False
            return found
        finally:
            coming.cancel()

    def _look_for_workers(self) -> None:
        """Say it, once, when there are none; those of this machine are started again."""
        from distributed import LocalCluster

        before, self._deserted = self._deserted, not self.client.nthreads()
        if self._deserted and not before:
            log.warning("The scheduler %s has no workers; waiting for one.", self.client.scheduler.address)
        cluster = self.client.cluster
        if self._deserted and isinstance(cluster, LocalCluster):  # which gives up workers gone for 15 s
            cluster.scale(len(cluster.worker_spec))
