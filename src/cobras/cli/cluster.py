"""The dask cluster that reads and splits the data, where `--scheduler` names one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

LOCAL = "local"
TO_CONNECT = 5  # seconds
DEAF = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"  # a terminal's Ctrl-C is for the client


@contextmanager
def connected(scheduler: str | None) -> Iterator[None]:
    """Be a client of a cluster meanwhile; "local" starts worker processes on this machine."""
    if scheduler is None:
        yield
        return
    import asyncio
    import logging

    from cobras.core.exceptions import InvalidDataError

    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise InvalidDataError(
            "--scheduler needs dask, which is not installed; pip install 'cobras-clustering[dask]'."
        ) from None
    if scheduler == LOCAL:
        patient = {"distributed.deploy.lost-worker-timeout": "1 day"}  # else slow new starts are given up
        with (
            dask.config.set(patient),
            LocalCluster(
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",  # ":0" is for all to see
                silence_logs=logging.CRITICAL,  # what fails on a worker comes home as a sentence
                preload=DEAF,
            ) as cluster,
            Client(cluster),
            quiet_end(),
        ):
            yield
        return
    try:
        asyncio.run(greet(scheduler))
        client = Client(scheduler)
    except (OSError, ValueError, TypeError) as error:
        raise InvalidDataError(
            f"There is no dask scheduler at {scheduler}; give an address such as tcp://host:8786, or {LOCAL}."
        ) from error
    with client, quiet_end():
        if not client.nthreads():  # go on nevertheless: some clusters begin to grow when work is there
            print(
                f"The scheduler {scheduler} has no workers yet; waiting for one.", file=sys.stderr, flush=True
            )
        yield


async def greet(scheduler: str) -> None:
    """See that a scheduler answers; a client would wait for ever where something else listens and says nothing."""
    import asyncio

    from distributed import Security
    from distributed.comm import connect

    async with asyncio.timeout(TO_CONNECT):
        comm = await connect(scheduler, **Security().get_connection_args("client"))
        await comm.close()


@contextmanager
def quiet_end() -> Iterator[None]:
    """After Ctrl-C nobody waits for the tasks of dask any more, which asyncio would report one by one."""
    import logging

    try:
        yield
    except KeyboardInterrupt:
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
        raise
