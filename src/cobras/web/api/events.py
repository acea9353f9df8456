"""Server-sent events: who listens hears what has changed, and fetches what it wants to know."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

KEEP_ALIVE = 10.0  # seconds between two signs of life
N_WAITING = 200  # events that a listener may be behind before it is dropped, to connect again


class Events:
    """All listeners of one server. Used on the event loop only; `from_thread` is for everyone else."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[str | None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    def bind(self) -> None:
        """Remember the running loop."""
        self._loop = asyncio.get_running_loop()

    def from_thread(self, event: str, data: dict[str, Any]) -> None:
        """Tell all listeners, from any thread; nobody listens before the loop runs or after it has ended."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self.tell, event, data)

    def tell(self, event: str, data: dict[str, Any]) -> None:
        """Tell all listeners."""
        text = written(event, data)
        for queue in self._listeners:
            if queue.qsize() < N_WAITING:
                queue.put_nowait(text)
            else:
                queue.put_nowait(None)

    def close(self) -> None:
        """End all streams, so that the server can end."""
        self._closed = True
        for queue in self._listeners:
            queue.put_nowait(None)

    async def listen(self, first: Callable[[], str]) -> AsyncIterator[str]:
        """A stream that begins with one event of its own, made when nothing can be missed any more."""
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            yield "retry: 500\n" + first()
            while not self._closed:
                try:
                    text = await asyncio.wait_for(queue.get(), KEEP_ALIVE)
                except TimeoutError:
                    text = ": alive\n\n"
                if text is None:
                    return
                yield text
        finally:
            self._listeners.discard(queue)


def written(event: str, data: dict[str, Any]) -> str:
    r"""An event as it goes over the line.

    Examples
    --------
    >>> written("saved", {"at": 1.5})
    'event: saved\ndata: {"at": 1.5}\n\n'
    """
    return f"event: {event}\ndata: {json.dumps(data)}\n\n"
