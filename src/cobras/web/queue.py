"""A thread that does one thing after another, and does not keep the program alive."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")


class Lane:
    """Like an executor with one thread; but the program may end while it is at work.

    Examples
    --------
    >>> Lane("adder").submit(lambda: 1 + 1).result()
    2
    """

    def __init__(self, name: str) -> None:
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        threading.Thread(target=self._work, name=f"cobras-{name}", daemon=True).start()

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """Do something after all that was submitted before."""
        future: Future[T] = Future()

        def work() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(job())
                except BaseException as error:
                    future.set_exception(error)

        self._jobs.put(work)
        return future

    def _work(self) -> None:
        while True:
            self._jobs.get()()
