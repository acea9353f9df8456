"""The widget: the application of the page in the notebook's own process, without a server and without a port.

The page is in a frame. Its requests come as messages, go to the same end points that a server would call, and the
replies go back as messages; so do the events. All widgets share one thread with an event loop, so that the page
gets replies and progress while an answer is computed.
"""

from __future__ import annotations

import asyncio
import json
import threading
import traceback
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import anywidget
import numpy as np
import polars as pl
import traitlets
from starlette.types import ASGIApp, Message

from cobras.core.exceptions import InvalidDataError
from cobras.data import Dataset, read_dataset
from cobras.data.frames import Numbers
from cobras.session.session import Session
from cobras.spaces.base import Space
from cobras.web.context import Context
from cobras.web.live import format_event
from cobras.web.notebook.document import page_document
from cobras.web.server import make_app

MEMORY = "memory"  # what the page shows in place of the name of a session file
EVENTS = ("question", "map", "computing", "ahead")  # events that the page listens to
KEPT = ("content-type", "content-disposition")  # headers that the page reads


class Widget(anywidget.AnyWidget):  # type: ignore[misc]
    """A session in a notebook; made by `session.widget()`.

    Attributes
    ----------
    labels : array of shape (n,)
        The cluster of every row; observe it to do something after each answer that changes it.
    height : int
        In pixels.
    version : int
        Another one after each change that the page has shown. In marimo, cells that use the widget then run again.
    """

    _esm = Path(__file__).with_name("widget.js").read_text("utf-8")
    labels = traitlets.Any()
    height = traitlets.Int(720).tag(sync=True)
    version = traitlets.Int(0).tag(sync=True)

    def __init__(self, session: Session, context: Context, height: int) -> None:
        self._context = context
        self._app = make_app(context)
        self._labels_version = -1
        try:
            self._home: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:  # not in a notebook
            self._home = None
        super().__init__(height=height, labels=session.labels_)
        self._events = asyncio.run_coroutine_threadsafe(self._send_events(), background_loop())
        self.on_msg(self._receive)

    def close(self) -> None:
        """Take the widget away; the session stays open."""
        self._events.cancel()
        self._context.map.close()
        self._context.live.leave()
        super().close()

    def _receive(self, _: object, message: dict[str, Any], buffers: object) -> None:
        asyncio.run_coroutine_threadsafe(self._reply(message), background_loop())

    # -- in the thread of the event loop -------------------------------------------------------------------------

    async def _reply(self, message: dict[str, Any]) -> None:
        path = str(message["path"])
        if path:
            body = str(message["body"]).encode()
            status, headers, content = await call(self._app, str(message["method"]), f"/{path}", body)
        else:
            status, headers, content = 200, {"content-type": "text/html"}, page_document().encode()
        self._update_labels()
        sender = {"view": message["view"], "number": message["number"]}
        self.send({**sender, "status": status, "headers": headers}, buffers=[content])

    async def _send_events(self) -> None:
        live = self._context.live
        async with self._app.router.lifespan_context(self._app):
            async for text in live.events.listen(lambda: format_event("hello", {**live.state, "ahead": []})):
                lines = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
                if lines.get("event") in EVENTS:
                    self._update_labels()
                    self.send({"event": lines["event"], "data": json.loads(lines["data"])})

    def _update_labels(self) -> None:
        view = self._context.live.view
        if view.versions.labels == self._labels_version or not view.timeline:
            return
        self._labels_version, labels = view.versions.labels, view.timeline[-1].partition.labels
        labels.flags.writeable = False

        def update() -> None:
            if not np.array_equal(self.labels, labels):
                self.labels = labels

        # Observers are called where cells run, so that what they print is shown.
        if self._home is None:
            update()
        else:
            self._home.call_soon_threadsafe(update)


def make_widget(session: Session, items: Any, file: str | None, height: int, show_guess: bool) -> Widget:
    """Return the widget of a session, which is in a file of this name, or in memory."""
    dataset, X = shown_items(session, items), getattr(session.space, "X", None)
    context = Context.open(
        dataset,
        lambda: session,
        MEMORY if file is None else Path(file).stem,
        MEMORY if file is None else file,
        blind=not show_guess,
        features=replace(dataset, X=X) if isinstance(X, np.ndarray) and X.ndim == 2 else None,
    )
    return Widget(session, context, height)


@cache
def background_loop() -> asyncio.AbstractEventLoop:
    """The event loop of all widgets, in a thread of its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="cobras-widgets", daemon=True).start()
    return loop


async def call(app: ASGIApp, method: str, path: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
    """Send a request to an application in this process; status, headers and body of its reply."""
    path, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"notebook"), (b"content-type", b"application/json")],
    }
    requests: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    replies: list[Message] = []

    async def receive() -> Message:
        if not requests:
            await asyncio.Event().wait()  # the page never goes away before the reply
        return requests.pop()

    async def send(message: Message) -> None:
        replies.append(message)

    try:
        await app(scope, receive, send)
    except Exception:  # a defect: the application has replied that there is one, and raises it again
        traceback.print_exc()
    start, *parts = replies
    found = {name.decode().lower(): value.decode("latin-1") for name, value in start["headers"]}
    headers = {name: found[name] for name in KEPT if name in found}
    return int(start["status"]), headers, b"".join(part.get("body", b"") for part in parts)


def shown_items(session: Session, items: Any) -> Dataset:
    """What is shown of each row: the items that are given, or the numbers that are clustered."""
    if isinstance(items, Numbers):
        items = items.given.native
    if items is None:
        items = _numbers(session.space)
    dataset = items if isinstance(items, Dataset) else read_dataset(items)
    if len(dataset) != session.space.n:
        raise InvalidDataError(
            f"The session has {session.space.n} rows, but there are {len(dataset)} items to show. "
            "Give as many in their order: session.widget(items)."
        )
    return dataset


def _numbers(space: Space) -> pl.DataFrame:
    X = getattr(space, "X", None)
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        raise InvalidDataError(
            f"A {type(space).__name__} has no table to show. Give what its rows look like: session.widget(items)."
        )
    return pl.DataFrame({f"x{column}": X[:, column] for column in range(X.shape[1])})
