"""Work on all cores, for which threads are enough: kernels and polars release the interpreter lock. Or on one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

R = TypeVar("R")


def on_one_core(work: Callable[[Any], R], tasks: Iterable[Any]) -> Sequence[R]:
    """The results in the order of the tasks, on this thread."""
    return list(map(work, tasks))


def on_all_cores(work: Callable[[Any], R], tasks: Iterable[Any]) -> Sequence[R]:
    """The results in the order of the tasks."""
    return list(_pool().map(work, tasks))


# One pool for the whole program, which is never closed: its threads are idle between calls.
@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count())


_blas = threading.Lock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS and OpenMP use one thread meanwhile: for small work a second one is in the way, and changes results.

    While one of two cores was busy, an answer to ADDER took four to six times as long without this.
    """
    # The setting belongs to the program. Whoever comes while another thread, or an outer call, has made it leaves
    # it alone: so it is taken back by the one that made it, and to what it was.
    if not _blas.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1):
            yield
    finally:
        _blas.release()


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


if hasattr(os, "register_at_fork"):
    # A forked process has none of the threads, and would wait for them for ever.
    os.register_at_fork(after_in_child=_pool.cache_clear)
