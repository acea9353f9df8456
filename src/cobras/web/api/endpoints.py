"""The end points that only read."""

from __future__ import annotations

import base64
from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Path, Query, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from cobras import __version__
from cobras.core.types import LabelArray
from cobras.web.api import explanations, listings, models
from cobras.web.api.bodies import LARGEST, MOST_CARDS
from cobras.web.api.changes import can_mark
from cobras.web.api.downloads import (
    FORMATS,
    MEDIA_TYPES,
    answers_file,
    constraints_file,
    labels_file,
)
from cobras.web.api.models import PROBLEMS
from cobras.web.api.moves import can_split
from cobras.web.api.piles import board_model
from cobras.web.api.report import report_file
from cobras.web.cards import Size
from cobras.web.context import QUESTION, Context, Here, MissingError, check_open, progress_model, reply
from cobras.web.live import format_event

Row = Annotated[int, Path(ge=0, le=LARGEST)]
Number = Annotated[int | None, Query(ge=0, le=LARGEST)]

routes = APIRouter(tags=["reads"], responses=PROBLEMS)


@routes.get("/settings", response_model=listings.Settings)
def settings(context: Here) -> Response:
    """What does not change while the server runs."""
    parameters = context.live.view.parameters
    found = listings.Settings(
        name=context.name,
        kind=context.cards.kind,
        n_items=len(context.dataset),
        columns=context.items.columns,
        notes=list(context.dataset.notes),
        session_file=context.session_file,
        method=str(parameters.get("method", "")),
        seed=parameters.get("random_state"),
        version=__version__,
        blind=context.blind,
        boards=context.cards.short,
        words=QUESTION,
        keys=context.keys,
        exports=list(FORMATS),
        can_close=context.close is not None,
    )
    return reply(found)


@routes.get("/board", response_model=models.BoardModel)
async def board(context: Here, n: Annotated[int, Query(ge=1, le=MOST_CARDS)] = 6) -> Response:
    """The board that can be sorted in place of answering the open question, with at most n cards."""
    view, found = await context.live.board(n)
    return reply(await run_in_threadpool(board_model, context, view, found))


@routes.get("/labels", response_model=listings.Labels)
def labels(context: Here, at: Number = None) -> Response:
    """The cluster of every row that the map shows, now or after `at` answers."""
    view = context.live.view
    at = view.n_answers if at is None else at
    if at > view.n_answers:
        raise MissingError(f"There are {view.n_answers} answers, so no clustering after {at}.")
    dtype, data = encode_labels(view.shown_labels if at == view.n_answers else view.labels_at(at))
    ids, colours = (p.ids, p.colours) if view.timeline and (p := view.timeline[at]) else ((0,), (0,))
    found = listings.Labels(
        version=view.versions.labels,
        at=at,
        n_items=view.n_items,
        n_clusters=len(colours),
        dtype=dtype,
        data=data,
        colours=list(colours),
        ids=list(ids),
    )
    return reply(found)


@routes.get("/clusters", response_model=listings.Clusters)
def clusters(context: Here, n: Annotated[int, Query(ge=1, le=24)] = 6) -> Response:
    """All clusters with their typical and most unusual members."""
    view = context.live.view
    found = listings.Clusters(
        version=view.versions.clusters,
        labels=view.versions.labels,
        can_mark=can_mark(view),
        can_split=can_split(view),
        clusters=context.clusters.describe(view, n),
    )
    return reply(found)


@routes.get("/profile/{id}", response_model=explanations.Profile)
def profile(context: Here, id: Row) -> Response:
    """What the cluster with this id is like, compared with all other items."""
    view = context.live.view
    if not view.timeline or id not in view.ids:
        raise MissingError(f"There is no cluster {id}; the ids are {', '.join(map(str, view.ids[:20]))}.")
    return reply(context.clusters.profile(view, view.ids.index(id)))


@routes.get("/history", response_model=listings.HistoryModel)
def history(context: Here) -> Response:
    """All answers and constraints, in order."""
    view = context.live.view
    found = listings.HistoryModel(
        version=view.versions.session,
        records=context.records(view, view.records),
        can_undo=view.can_undo,
        can_redo=view.can_redo,
    )
    return reply(found)


@routes.get("/progress", response_model=listings.ProgressSeries)
def progress(context: Here) -> Response:
    """How far it has come, and how it went."""
    view = context.live.view
    series = listings.Series(
        n_clusters=[point.partition.n_clusters for point in view.timeline],
        stable_share=[point.stable_share for point in view.timeline],
        expected_ari=list(view.expected),
    )
    found = listings.ProgressSeries(
        version=view.versions.session, progress=progress_model(view), series=series
    )
    return reply(found)


@routes.get("/map", response_model=listings.MapModel)
def map_(context: Here) -> Response:
    """Where every row that is shown lies on the map; the first call begins to compute that."""
    context.map.start()
    rows = context.live.view.sample.rows
    found = listings.MapModel(
        version=context.live.map_version,
        layout=context.map.layout,
        pending=context.map.pending,
        problem=context.map.problem,
        n_items=len(context.dataset),
        rows=None if rows is None else base64.b64encode(rows.astype("<u4").tobytes()).decode(),
        data=context.map.encode(),
    )
    return reply(found)


@routes.get("/items", response_model=listings.Items)
def items(
    context: Here,
    offset: Annotated[int, Query(ge=0, le=LARGEST)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cluster: Number = None,
    search: Annotated[str, Query(max_length=200)] = "",
    rows: Annotated[str | None, Query(pattern=r"^\d{1,9}(,\d{1,9}){0,199}$")] = None,
) -> Response:
    """One page of the items that match."""
    chosen = None if rows is None else [check_row(context, int(row)) for row in rows.split(",")]
    return reply(context.items.page(context.live.view, offset, limit, cluster, search, chosen))


@routes.get("/unsure", response_model=listings.Items)
async def unsure(
    context: Here,
    offset: Annotated[int, Query(ge=0, le=LARGEST)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cluster: Number = None,
    search: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """One page of the items that match, those first of whose cluster the session is least sure."""
    view, sure = await context.live.read(check_open, lambda session: (context.live.view, session.confidence_))
    given = view, sure, offset, limit, cluster, search
    return reply(await run_in_threadpool(context.items.least_sure, *given))


@routes.get("/why", response_model=explanations.Why)
async def why(context: Here) -> Response:
    """What the answer to the open question decides."""
    view, words = await context.live.read(check_open, lambda session: (context.live.view, session.reason))
    return reply(explanations.Why(version=view.versions.session, words=words))


@routes.get("/item/{i}", response_model=models.Item)
def item(context: Here, i: Row) -> Response:
    """The card of a row."""
    return reply(context.add_cluster(context.cards.item(check_row(context, i)), context.live.view))


@routes.get("/image/{i}", response_class=Response, responses={200: {"content": {"image/*": {}}}})
def image(
    context: Here, i: Row, size: Size = "large", run: Annotated[str, Query(max_length=32)] = ""
) -> Response:
    """The picture of a row; one that names the present run may be kept by the browser."""
    picture = context.cards.picture(check_row(context, i), size)
    if picture is None:
        raise MissingError(f"Row {i} has no picture.")
    caching = "private, max-age=86400, immutable" if run == context.live.run else "no-store"
    return Response(picture[0], media_type=picture[1], headers={"Cache-Control": caching})


@routes.get(
    "/export",
    response_class=Response,
    responses={200: {"content": {media_type: {} for media_type in MEDIA_TYPES}}},
)
def export(
    context: Here,
    format: Literal["csv", "parquet", "answers", "constraints", "html"] = "csv",
    escape: bool = True,
) -> Response:
    """The result as a file; `escape` keeps spreadsheets from taking a text of a CSV file for a formula."""
    view, stem = context.live.view, context.session_file.rsplit(".", 1)[0]
    match format:
        case "answers":
            file = answers_file(context.dataset, view, stem)
        case "constraints":
            file = constraints_file(context.dataset, view, stem, escape)
        case "html":
            file = report_file(context, view, stem)
        case _:
            file = labels_file(context.dataset, view, stem, format, escape)
    return file.response()


@routes.get(
    "/events", response_class=StreamingResponse, responses={200: {"content": {"text/event-stream": {}}}}
)
async def events(context: Here) -> StreamingResponse:
    """A stream of server-sent events."""
    stream = context.live.events.listen(
        lambda: format_event("hello", {**context.live.state, "ahead": context.live.ahead})
    )
    return StreamingResponse(stream, media_type="text/event-stream")


def check_row(context: Context, i: int) -> int:
    """Return a row, or raise if there is none of this number."""
    if i >= len(context.dataset):
        raise MissingError(f"There is no row {i}; the last one is {len(context.dataset) - 1}.")
    return i


def encode_labels(labels: LabelArray) -> tuple[Literal["uint8", "uint16", "uint32"], str]:
    """Return labels in the smallest type that holds them, as base64."""
    largest = int(labels.max())
    dtype: Literal["uint8", "uint16", "uint32"] = (
        "uint8" if largest < 2**8 else "uint16" if largest < 2**16 else "uint32"
    )
    small = labels.astype(np.dtype(dtype).newbyteorder("<"))
    return dtype, base64.b64encode(small.tobytes()).decode()
