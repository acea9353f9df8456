"""Everything that one server holds, and the open question in the words of the contract.

What every end point needs is here: the parts of the server, replies and refusals.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, Self

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic_core import PydanticSerializationError

from cobras.core.exceptions import CobrasError, InconsistentAnswersError
from cobras.core.progress import WINDOW, Progress, is_satisfied, pairs_set_aside
from cobras.core.types import Answer, Pair, Record
from cobras.data import ColumnInfo, Dataset
from cobras.web.api import models
from cobras.web.cards import Cards
from cobras.web.live import GRACE, Live
from cobras.web.map import Map
from cobras.web.panel import ClusterList, ItemTable
from cobras.web.view import Sample, View

if TYPE_CHECKING:
    from cobras.session.session import Session
    from cobras.web.api.columns import Source

KEYS = {
    "same": ["s", "y", "ArrowRight"],
    "different": ["d", "n", "ArrowLeft"],
    "unsure": [" ", "u"],
    "undo": ["z", "Backspace"],
    "redo": ["Z"],
    "history": ["h"],
    "map": ["m"],
    "profile": ["p"],
    "why": ["w"],
    "board": ["b"],
    "new_pile": ["n"],
    "join": ["j"],
    "finish": ["Enter"],
    "help": ["?"],
}
QUESTION = "Should these two be in the same cluster?"
WORDS: dict[Answer, models.Word] = {
    Answer.SAME: "same",
    Answer.DIFFERENT: "different",
    Answer.UNSURE: "unsure",
}
routes = APIRouter(tags=["changes"], responses=models.REFUSALS)
NOT_OPEN = Progress(0, 1, None, (), 0, may_stop=False, reason="")


class MissingError(CobrasError, LookupError):
    """A cluster, an answer or a row that does not exist."""


class RefusedError(CobrasError):
    """A change that is not possible now."""

    def __init__(self, error: Literal["stale", "nothing", "refused", "failed"], message: str) -> None:
        super().__init__(message)
        self.error = error


@dataclass
class Context:
    """The parts of one server; `blind` hides the present clusters of a pair until it is answered."""

    dataset: Dataset
    live: Live
    cards: Cards
    name: str
    session_file: str
    blind: bool
    keys: dict[str, list[str]]
    source: Source | None = None
    close: Callable[[], None] | None = None  # ends the server, where a page may do that
    refine: bool = True  # whether t-SNE makes the map better
    features: Dataset | None = None  # what the map is made of, where that is not `dataset`
    _map: Map | None = field(default=None, init=False)
    _turn: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    # These are made when the map or a panel is opened: the first question does not wait for them.
    @property
    def map(self) -> Map:
        """Where the rows lie."""
        with self._turn:  # two requests at once must not compute two maps
            if self._map is None:
                sample = self.live.view.sample
                self._map = Map(self.features or self.dataset, sample, self._announce_map, self.refine)
            return self._map

    def _announce_map(self) -> None:
        live, map = self.live, self.map
        live.map_version += 1
        state = {"version": live.map_version, "layout": map.layout, "pending": map.pending}
        live.events.send_from_thread("map", state)

    @cached_property
    def clusters(self) -> ClusterList:
        """The clusters with their members."""
        return ClusterList(self.cards, self.map)

    @cached_property
    def items(self) -> ItemTable:
        """All rows as a table."""
        return ItemTable(self.cards)

    @cached_property
    def column_info(self) -> tuple[ColumnInfo, ...]:
        """What each column is taken for; none of bundled data, which has no columns that a person knows."""
        return () if self.dataset.recipe.kind == "bundled" else self.dataset.column_info

    @classmethod
    def open(
        cls,
        dataset: Dataset,
        begin: Callable[[], Session],
        name: str,
        session_file: str,
        *,
        blind: bool = True,
        keys: dict[str, list[str]] | None = None,
        refine: bool = True,
        features: Dataset | None = None,
    ) -> Self:
        """Begin a session and all that shows it; the map is that of `features`, if they are others."""
        live = Live(Sample(len(dataset), remote=dataset.is_remote), begin)
        shown = dataset, live, Cards(dataset, live.run), name, session_file, blind, {**KEYS, **(keys or {})}
        return cls(*shown, refine=refine, features=features)

    def renew(self, dataset: Dataset, run: str) -> None:
        """Show the same rows with other features from now on."""
        self.map.close()
        self._map = self.map.of_other(dataset)
        self.dataset, self.cards = dataset, Cards(dataset, run)
        for made in ("clusters", "items", "column_info"):
            self.__dict__.pop(made, None)

    def question(self, view: View | None = None) -> models.Question:
        """The open question of a view; of the present one, which may be changing, when none is given."""
        computing = self.live.computing if view is None else None
        view = view or self.live.view
        question = models.Question(
            state=view.state if computing is None else "computing",
            run=self.live.run,
            versions=view.versions.model_copy(update={"map": self.live.map_version}),
            words=QUESTION,
            progress=progress_model(view),
            computing=computing,
            can_undo=view.can_undo,
            can_redo=view.can_redo,
            saved=computing is None,
            saved_at=view.saved_at,
            message=view.message,
        )
        if question.state == "asking" and view.pair is not None:
            self._add_pair(question, view, view.pair)
        return question

    def _add_pair(self, question: models.Question, view: View, pair: Pair) -> None:
        question.pair = models.PairModel(i=pair.i, j=pair.j)
        question.left, question.right = self.cards.item(pair.i), self.cards.item(pair.j)
        question.columns = self.cards.columns(pair)
        for item in (question.left, question.right):
            if view.sample.place(item.i) is None:
                item.at = self.map.place(item.i)
        if not self.blind:
            for item in (question.left, question.right):
                self.add_cluster(item, view)
            question.guess = "same" if view.cluster_of(pair.i) == view.cluster_of(pair.j) else "different"

    def add_cluster(self, item: models.Item, view: View) -> models.Item:
        """Add the cluster of an item and its colour."""
        item.cluster = view.cluster_of(item.i)
        item.cluster_id, item.colour = view.ids[item.cluster], view.colours[item.cluster]
        return item

    def records(self, view: View, chosen: Iterable[Record]) -> list[models.Record]:
        """Everything that was said, as the history shows it."""
        numbers = self._numbers(view)
        return [self._record(view, record, numbers[record.index]) for record in chosen]

    def _numbers(self, view: View) -> dict[int, int | None]:
        """The number of each record, by its index: answers and boards are counted from 1."""
        numbers: dict[int, int | None] = {}
        count = 0
        for record in view.records:
            count += record.kind in ("answer", "board")
            numbers[record.index] = count if record.kind in ("answer", "board") else None
        return numbers

    def _record(self, view: View, record: Record, number: int | None) -> models.Record:
        pair = record.pair or (record.said[0][0] if record.said else None)
        aside = pairs_set_aside(record, view.set_aside)
        left, right = (None, None) if pair is None else map(self.cards.thumbnail, pair)
        return models.Record(
            index=record.index,
            kind=record.kind,  # type: ignore[arg-type]
            number=number,
            left=left,
            right=right,
            n_pairs=len(record.said),
            answer=None if record.answer is None else WORDS[record.answer],
            at=record.at,
            in_force=record.in_force,
            satisfied=is_satisfied(record, view.asked),
            set_aside=bool(aside),
            n_set_aside=len(aside),
            n_void=len(record.void),
        )

    def refusal(self, error: CobrasError) -> models.Refusal:
        """Why nothing was changed, and the state as it is."""
        kind: Literal["stale", "nothing", "contradiction", "refused", "failed"] = "failed"
        chain: list[models.Link] = []
        if isinstance(error, RefusedError):
            kind = error.error
        elif isinstance(error, InconsistentAnswersError):
            kind, chain = "contradiction", self._links(error.chain)
        return models.Refusal(error=kind, message=str(error), question=self.question(), chain=chain)

    def taken_back(self, records: Sequence[Record]) -> list[models.TakenBack]:
        """Records as they are named on the page."""
        numbers = self._numbers(self.live.view)
        return [models.TakenBack(index=r.index, number=numbers.get(r.index), kind=r.kind) for r in records]

    def _links(self, chain: Sequence[tuple[Pair, Answer]]) -> list[models.Link]:
        """The answers that imply the opposite, each with its place in the history."""
        places = {
            pair.ordered: record.index
            for record in self.live.view.records
            for pair, _ in record.said
            if pair not in record.void
        }
        numbers = self._numbers(self.live.view)
        return [
            models.Link(
                i=pair.i,
                j=pair.j,
                answer="same" if answer is Answer.SAME else "different",
                index=places.get(pair.ordered),
                number=numbers.get(places.get(pair.ordered, -1)),
            )
            for pair, answer in chain
        ]


async def context_of(request: Request) -> Context:
    """The parts of the server that a request came to."""
    context: Context = request.app.state.context
    return context


Here = Annotated[Context, Depends(context_of)]


def check_open(view: View) -> None:
    """Refuse a change to a session that has failed."""
    if view.state == "failed":
        raise RefusedError("failed", view.message)


def progress_model(view: View) -> models.ProgressModel:
    """How far the session has come; one cluster and no answers before it is open."""
    now = view.progress or NOT_OPEN
    return models.ProgressModel(
        n_answers=now.n_answers,
        n_items=view.n_items,
        n_clusters=now.n_clusters,
        stable_share=now.stable_share,
        window=WINDOW,
        unsatisfied=[record.index for record in now.unsatisfied],
        n_set_aside=now.n_set_aside,
        may_stop=now.may_stop,
        reason=now.reason,
        expected_ari=now.expected_ari,
        ari_range=now.ari_range,
        n_left=now.n_left,
    )


def reply(model: models.Model, status: int = 200) -> Response:
    """Return a model as JSON, without checking it a second time as FastAPI does with what an end point returns."""
    try:
        content = model.model_dump_json().encode()
    except PydanticSerializationError:  # the name of a file that is not UTF-8
        content = json.dumps(model.model_dump(), ensure_ascii=False).encode(errors="replace")
    return Response(content, status, media_type="application/json")


@routes.get("/question", response_model=models.Question)
async def question(context: Here, wait: Annotated[float, Query(ge=0, le=60)] = 0) -> Response:
    """The open question. Waits at most `wait` seconds while one is being computed."""
    await context.live.wait_until_ready(max(wait, GRACE))
    return reply(context.question())
