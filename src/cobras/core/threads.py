"""Work on all cores: kernels and polars release the interpreter lock, so threads are enough."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

R = TypeVar("R")


def in_turn(work: Callable[[Any], R], tasks: Iterable[Any]) -> Sequence[R]:
    """The results in the order of the tasks, on this thread."""
    return list(map(work, tasks))


def on_all_cores(work: Callable[[Any], R], tasks: Iterable[Any]) -> Sequence[R]:
    """The results in the order of the tasks."""
    return list(_pool().map(work, tasks))


# One pool for the whole program, which is never closed: its threads are idle between calls.
@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count())


if hasattr(os, "register_at_fork"):
    # A forked process has none of the threads, and would wait for them for ever.
    os.register_at_fork(after_in_child=_pool.cache_clear)
