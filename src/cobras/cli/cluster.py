"""The dask cluster that reads and splits the data, where `--scheduler` names one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

LOCAL = "local"


@contextmanager
def connected(scheduler: str | None) -> Iterator[None]:
    """Be a client of a cluster meanwhile; "local" starts worker processes on this machine."""
    if scheduler is None:
        yield
        return
    from cobras.exceptions import InvalidDataError

    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise InvalidDataError(
            "--scheduler needs dask, which is not installed; pip install 'cobras-clustering[dask]'."
        ) from None
    if scheduler == LOCAL:
        with LocalCluster(threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
            yield
        return
    try:
        client = Client(scheduler, timeout=10)
    except (OSError, ValueError, TypeError) as error:
        raise InvalidDataError(
            f"There is no dask scheduler at {scheduler}; give an address such as tcp://host:8786, or {LOCAL}."
        ) from error
    with client:
        yield
