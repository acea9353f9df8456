"""What the data is taken for, and how to change that: the end points of the start screen."""

from __future__ import annotations

from dataclasses import asdict, replace
from importlib.util import find_spec
from typing import Literal, Protocol, get_args

import polars as pl
from fastapi import APIRouter, Response
from fastapi.concurrency import run_in_threadpool

from cobras.core.exceptions import InvalidDataError
from cobras.data import ColumnInfo, Dataset
from cobras.data.guess import Choices, ColumnType
from cobras.data.items.images import has_network
from cobras.data.overview import DROPPED
from cobras.data.resume import recipe_choices
from cobras.data.tables.names import NAMES_ROWS
from cobras.session.session import Session
from cobras.web.api import bodies, listings, models
from cobras.web.api.changes import check_revision
from cobras.web.api.models import REFUSALS
from cobras.web.context import Here, RefusedError, check_open, reply
from cobras.web.view import View

SENTENCES = "sentence_transformers"  # the package that makes sentence embeddings
# How images and texts may be compared, in words.
FEATURES = {
    "efficientnet": "what a network sees in them",
    "shapes": "shapes and colours",
    "pixels": "pixels",
    "lsi": "their words",
    "sentences": "what they mean",
}

routes = APIRouter(tags=["data"], responses=REFUSALS)


class Source(Protocol):
    """Where the data comes from: reads it again by other choices, and carries the session over to it."""

    def read(self, choices: Choices) -> Dataset:
        """The data, read by these choices."""

    def begin_again(self, session: Session, dataset: Dataset) -> tuple[Session, str]:
        """Close a session and return one on the same rows with other features, with all that was done in it.

        Also the name of the file in which the old one is kept; empty where nothing had been done in it. What raises
        leaves the session as it is.
        """


@routes.get("/data", response_model=listings.Data)
def data(context: Here) -> Response:
    """What each column is taken for, by what items are compared, and what can be changed about it."""
    dataset = context.dataset
    comparison = dataset.comparison
    found = listings.Data(
        run=context.live.run,
        columns=[_column(dataset, info) for info in context.column_info],
        by=comparison.by,
        quality=comparison.quality,
        advice=comparison.advice,
        ways=_ways(dataset, context.column_info) if context.source is not None else [],
        choices=_choices(dataset),
        notes=list(dataset.notes),
        can_change=context.source is not None,
    )
    return reply(found)


@routes.post("/data", response_model=models.Question)
async def change_data(context: Here, body: bodies.DataChoices) -> Response:
    """Read the data by other choices, and begin the session anew on them with everything that was said."""
    source = context.source
    if source is None:
        raise RefusedError("refused", "This data can only be read in one way.")

    def check(view: View) -> None:
        check_open(view)
        check_revision(view, body.revision)

    check(context.live.view)
    before = context.dataset
    given = body.model_dump(exclude={"revision"})
    choices = replace(recipe_choices(before.recipe), **given)
    dataset = await run_in_threadpool(source.read, choices)
    _check_same_rows(before, dataset)

    def begin(session: Session, run: str) -> tuple[Session, str]:
        begun, kept = source.begin_again(session, dataset)
        context.renew(dataset, run)
        where = f" The session as it was is kept in {kept}." if kept else ""
        return begun, f"Started again: compared by {dataset.comparison.by}.{where}"

    return reply(context.question(await context.live.restart(check, begin)))


def _check_same_rows(before: Dataset, dataset: Dataset) -> None:
    """Refuse data whose rows are others: answers are about rows."""
    same = len(before) == len(dataset)
    if same and before.large is None and dataset.large is None:
        same = before.frame.equals(dataset.frame)
    if not same:
        raise InvalidDataError(
            "The data would have other rows than the session, because files are left out or were changed; begin "
            "another session with --session."
        )


def _column(dataset: Dataset, info: ColumnInfo) -> listings.DataColumn:
    found = asdict(info)
    is_dropped = info.name in dataset.recipe.drop
    uses: list[Literal["used", "name", "dropped"]] = []
    if info.use != "label":
        may_be_used = info.use != "ignored" or is_dropped or info.reason == NAMES_ROWS
        only_items = dataset.kind != "table" or dataset.recipe.vectors is not None
        if may_be_used and not (only_items and info.use != "used"):
            uses.append("used")
        if info.use == "name" or dataset.recipe.files is None:
            uses.append("name")
        if info.name not in (dataset.recipe.text, dataset.recipe.image):
            uses.append("dropped")
    return listings.DataColumn(
        **{**found, "use": "dropped" if is_dropped else info.use}, uses=uses, types=_types(dataset, info)
    )


def _types(dataset: Dataset, info: ColumnInfo) -> list[ColumnType]:
    """The types that a column could have."""
    compared = dataset.kind == "table" and dataset.recipe.vectors is None
    if not compared or info.use not in ("used", "ignored") or info.reason == DROPPED:
        return []
    dtype = dataset.frame.schema[info.name]
    if dtype == pl.String:
        return list(get_args(ColumnType))
    if dtype.is_numeric() or dtype == pl.Boolean:
        return ["number", "category", "text"]
    if dtype.is_temporal():
        return ["date", "category", "text"]
    return ["category", "text"] if dtype in (pl.Categorical, pl.Enum) else []


def _choices(dataset: Dataset) -> listings.DataChoices:
    recipe = dataset.recipe
    names = listings.DataChoices.model_fields
    found = {name: getattr(recipe, name) for name in names}
    return listings.DataChoices(**{**found, "types": dict(recipe.types), "weights": dict(recipe.weights)})


def _ways(dataset: Dataset, columns: tuple[ColumnInfo, ...]) -> list[listings.Way]:
    """By what the items may be compared: the columns, the texts of a column, or one of several features."""
    recipe = dataset.recipe
    if recipe.vectors is not None or dataset.large is not None:
        return []
    found: list[listings.Way] = []
    now = (recipe.kind, recipe.text, recipe.image, recipe.features)

    def add(words: str, kind: str, text: str | None, image: str | None, features: str | None) -> None:
        is_now = now == (kind, text, image, features)
        found.append(
            listings.Way(words=words, kind=kind, text=text, image=image, features=features, is_now=is_now)
        )

    if recipe.files is None:
        add("the columns", "table", None, None, None)
        for info in columns:
            if info.type == "text" and info.use not in ("label", "name") and info.name not in recipe.drop:
                for features in _available("text"):
                    add(f"the texts in {info.name}: {FEATURES[features]}", "text", info.name, None, features)
    elif recipe.kind == "text":
        for features in _available("text"):
            add(f"the texts: {FEATURES[features]}", "text", None, None, features)
    if recipe.kind == "image":
        for features in _available("image"):
            add(f"the images: {FEATURES[features]}", "image", None, recipe.image, features)
    return found if len(found) > 1 else []


def _available(kind: Literal["image", "text"]) -> list[str]:
    """The features that can be computed on this machine."""
    if kind == "text":
        return ["lsi", "sentences"] if find_spec(SENTENCES) is not None else ["lsi"]
    return ["efficientnet", "shapes", "pixels"] if has_network() else ["shapes", "pixels"]
