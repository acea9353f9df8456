"""The application: the page, its modules, the end points under /api, and replies to errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from cobras import __version__
from cobras.core.exceptions import CobrasError, InconsistentAnswersError, InvalidDataError, StaleQuestionError
from cobras.web.api.changes import change_routes
from cobras.web.api.endpoints import read_routes
from cobras.web.api.models import Problem, reply
from cobras.web.context import Context, MissingError, RefusedError

STATIC = Path(__file__).parent / "static"


def make_app(context: Context) -> FastAPI:
    """Return the application around one session."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        context.live.events.start()
        context.map.start()
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
    api = APIRouter(prefix="/api")
    api.include_router(change_routes(context))
    api.include_router(read_routes(context))
    app.include_router(api)

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-store"})

    app.mount("/static", _Modules(directory=STATIC), name="static")
    _add_errors(app, context)
    return app


class _Modules(StaticFiles):
    """The modules of the page."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        response = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        # The browser asks each time whether a module has changed, so that versions are never mixed.
        response.headers["Cache-Control"] = "no-cache"
        return response


def _add_errors(app: FastAPI, context: Context) -> None:
    @app.exception_handler(CobrasError)
    async def handle_refusal(_: Request, error: Exception) -> Response:
        assert isinstance(error, CobrasError)
        if isinstance(error, MissingError):
            return reply(Problem(message=str(error)), 404)
        # 409 carries the state as it is, so that the page can go on; 404 and 422 say only what was wrong.
        if isinstance(error, StaleQuestionError):
            error = RefusedError("stale", str(error))
        elif isinstance(error, InvalidDataError) and not isinstance(error, InconsistentAnswersError):
            return reply(Problem(message=str(error)), 422)
        return reply(context.refusal(error), 409)

    @app.exception_handler(RequestValidationError)
    async def handle_invalid_request(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        problems = [f"{'.'.join(map(str, e['loc'][1:])) or 'body'}: {e['msg']}" for e in error.errors()]
        return reply(Problem(message="; ".join(problems)[:1000]), 422)

    @app.exception_handler(HTTPException)
    async def handle_http_error(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return JSONResponse({"message": error.detail}, error.status_code, error.headers)
