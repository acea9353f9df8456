"""From a data set and a session file to a running server: the page, its modules and the end points under /api."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hashlib
import os
import secrets
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import FrameType

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from cobras import __version__
from cobras.core.exceptions import CobrasError, InconsistentAnswersError, InvalidDataError, StaleQuestionError
from cobras.data import Dataset
from cobras.session.session import Session
from cobras.web.api import changes, columns, endpoints, models, moves
from cobras.web.api.columns import Source
from cobras.web.context import Context, MissingError, RefusedError, progress_model, reply, routes
from cobras.web.guard import Connection, Guard, is_loopback
from cobras.web.live import Events

STATIC = Path(__file__).parent / "static"
SWITCH = 0.001  # seconds after which a thread that computes lets another one have its turn
SOON = 1.5  # seconds in which most sessions are open; errors until then end the program before the page opens


class WebServer:
    """One session on one port.

    Parameters
    ----------
    dataset : Dataset
    begin : callable
        Opens the session; runs in the thread that will own it.
    file : Path
        The session file.
    name : str
        What the data is called on the page.
    host : str
        The address to listen on.
    port : int, optional
        The port; by default one that is free, the same again for the same session file where possible.
    blind : bool
        Whether the page hides the present clusters of a pair until it is answered.
    keys : dict, optional
        Keys that differ from the usual ones, by action.
    refine : bool
        Whether the map is refined by t-SNE.
    source : Source, optional
        Where the data comes from, if it may be read in another way.
    can_close : bool
        Whether a page may end the server.

    Raises
    ------
    CobrasError
        In one sentence, when the port is in use or the session cannot be opened.
    """

    def __init__(
        self,
        dataset: Dataset,
        begin: Callable[[], Session],
        file: Path,
        name: str,
        *,
        host: str = "127.0.0.1",
        port: int | None = None,
        blind: bool = True,
        keys: dict[str, list[str]] | None = None,
        refine: bool = True,
        source: Source | None = None,
        can_close: bool = False,
    ) -> None:
        self.host, self.token = host, secrets.token_urlsafe(24)
        self._socket = listen(host, port, file)
        self.port = int(self._socket.getsockname()[1])
        self._context = Context.open(dataset, begin, name, file.name, blind=blind, keys=keys, refine=refine)
        self._context.source = source
        self._context.close = self.stop if can_close else None
        self.live = self._context.live
        app = Guard(make_app(self._context), host=host, port=self.port, token=self.token, session=file)
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=2,
            http=Connection,
        )
        self._server = _Uvicorn(config, self.live.events)

    @property
    def address(self) -> str:
        """Where the page is, with its token."""
        host = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)
        host = f"[{host}]" if ":" in host and not host.startswith("[") else host
        return f"http://{host}:{self.port}/?token={self.token}"

    @property
    def is_private(self) -> bool:
        """Whether only programs on this machine reach it."""
        return is_loopback(self.host)

    @property
    def counts(self) -> tuple[int, int] | None:
        """How many answers were given, and how many clusters there are; None if the session was never open."""
        if not self.live.view.timeline:
            return None
        progress = progress_model(self.live.view)
        return progress.n_answers, progress.n_clusters

    def run(self, ready: Callable[[], None]) -> None:
        """Serve until a signal ends it; `ready` is called when the address can be opened."""
        # By default the event loop waits up to 5 ms for each thread that computes.
        sys.setswitchinterval(SWITCH)
        try:
            with contextlib.suppress(TimeoutError):
                self.live.opened.result(timeout=SOON)
            self.live.opened.add_done_callback(self._end_if_failed)
            asyncio.run(self._serve(ready))
            if self.live.opened.done():
                self.live.opened.result()
        finally:
            self.close()

    async def _serve(self, ready: Callable[[], None]) -> None:
        async def when_started() -> None:
            while not self._server.started:
                await asyncio.sleep(0.005)
            ready()

        waiting = asyncio.create_task(when_started())
        await self._server.serve(sockets=[self._socket])
        waiting.cancel()

    def _end_if_failed(self, opened: object) -> None:
        if self.live.opened.exception() is not None:
            self._server.stop()

    def stop(self) -> None:
        """End `run`, from any thread."""
        self._server.stop()

    def close(self) -> None:
        """Release the port, the map and the session file, unless that has to wait for a long computation."""
        self._socket.close()
        self._context.map.close()
        self.live.close(wait=2)


class _Uvicorn(uvicorn.Server):
    """Uvicorn, but a signal that ends it is not raised again: Ctrl-C is how a server is meant to end."""

    def __init__(self, config: uvicorn.Config, events: Events) -> None:
        super().__init__(config)
        self._events = events

    def stop(self) -> None:
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Uvicorn waits for open streams, and these never end by themselves.
        self._events.close()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        signals = [s for s in signal.Signals if s.name in ("SIGINT", "SIGTERM", "SIGHUP")]
        try:
            before = {number: signal.signal(number, self.handle_exit) for number in signals}
        except ValueError:  # only the main thread may handle signals
            before = {}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def make_app(context: Context) -> FastAPI:
    """Return the application around one session."""

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        context.live.events.start()
        reporting = asyncio.create_task(context.live.report_computing())
        yield
        reporting.cancel()

    app = FastAPI(
        title="cobras",
        version=__version__,
        summary="Cluster data by answering same-or-different questions.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # the interactive pages come from a CDN
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.context = context
    for some in (routes, changes.routes, moves.routes, endpoints.routes, columns.routes):
        app.include_router(some, prefix="/api")

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-store"})

    app.mount("/static", _Modules(directory=STATIC), name="static")
    add_errors(app, context)
    return app


def add_errors(app: FastAPI, context: Context) -> None:
    """Let the application reply to every error in one sentence."""

    @app.exception_handler(CobrasError)
    async def handle_refusal(_: Request, error: Exception) -> Response:
        assert isinstance(error, CobrasError)
        if isinstance(error, MissingError):
            return reply(models.Problem(message=str(error)), 404)
        # 409 carries the state as it is, so that the page can go on; 404 and 422 say only what was wrong.
        if isinstance(error, StaleQuestionError):
            error = RefusedError("stale", str(error))
        elif isinstance(error, InvalidDataError) and not isinstance(error, InconsistentAnswersError):
            return reply(models.Problem(message=str(error)), 422)
        return reply(context.refusal(error), 409)

    @app.exception_handler(RequestValidationError)
    async def handle_invalid_request(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        problems = [f"{'.'.join(map(str, e['loc'][1:])) or 'body'}: {e['msg']}" for e in error.errors()]
        return reply(models.Problem(message="; ".join(problems)[:1000]), 422)

    @app.exception_handler(HTTPException)
    async def handle_http_error(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return JSONResponse({"message": error.detail}, error.status_code, error.headers)


class _Modules(StaticFiles):
    """The modules of the page."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        response = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        # The browser asks each time whether a module has changed, so that versions are never mixed.
        response.headers["Cache-Control"] = "no-cache"
        return response


def listen(host: str, port: int | None, file: Path) -> socket.socket:
    """Return a socket on the port, or on one that is free: if possible always the same one for a session file."""
    # Ports from 49152 on are free for everybody. A page that is open finds the server again after a restart.
    usual = 49152 + int(hashlib.sha256(os.fsencode(file.absolute())).hexdigest(), 16) % 16000
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in (usual, 0) if port is None else (port,):
        # Named as TCP, because asyncio sets TCP_NODELAY only on such a socket.
        found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind((host, candidate))
            found.listen(128)
        except OSError as error:
            found.close()
            if candidate != usual or port is not None:
                raise _cannot_listen(host, candidate, error) from error
        except OverflowError as error:
            found.close()
            raise InvalidDataError(f"A port is a number from 0 to 65535, not {port}.") from error
        else:
            return found
    raise AssertionError("the last candidate is bound or refused")


def _cannot_listen(host: str, port: int, error: OSError) -> InvalidDataError:
    if error.errno == errno.EADDRINUSE:
        return InvalidDataError(f"Port {port} is in use. Leave --port out, or choose another.")
    if error.errno == errno.EACCES:
        return InvalidDataError(f"You may not use port {port}. Choose one above 1023.")
    return InvalidDataError(f"Cannot listen on {host}: {error.strerror or error}.")
