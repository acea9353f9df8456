"""Answers on the way out, and the refusals that the OpenAPI document lists."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import Response
from pydantic import BaseModel

from cobras.web.api import models
from cobras.web.api.exports import File

PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": models.Problem, "description": "The body is not JSON."},
    401: {"model": models.Problem, "description": "The token is missing or wrong."},
    403: {"model": models.Problem, "description": "Another host or origin."},
    404: {"model": models.Problem, "description": "There is no such thing."},
    413: {"model": models.Problem, "description": "The body is too long."},
    422: {"model": models.Problem, "description": "The request is malformed."},
}
REFUSALS = PROBLEMS | {409: {"model": models.Refusal, "description": "Nothing was changed."}}


def reply(model: BaseModel, status: int = 200) -> Response:
    """A model as JSON, without checking it a second time."""
    return Response(model.model_dump_json(), status, media_type="application/json")


def download(file: File) -> Response:
    """A file to be saved, not shown."""
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name)}"}
    return Response(file.content, media_type=file.media_type, headers=headers)
