"""Everything that one server holds, the state of the session in the words of the contract, and refusals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from cobras.core.exceptions import CobrasError, InconsistentAnswersError
from cobras.core.progress import WINDOW, Progress, is_satisfied
from cobras.core.types import Answer, Pair, Record
from cobras.data import Dataset
from cobras.web.api import models
from cobras.web.cards import Cards
from cobras.web.live import Live
from cobras.web.map import Map
from cobras.web.panel import ClusterList, ItemTable
from cobras.web.view import View

KEYS = {
    "same": ["s", "y", "ArrowRight"],
    "different": ["d", "n", "ArrowLeft"],
    "unsure": [" ", "u"],
    "undo": ["z", "Backspace"],
    "redo": ["Z"],
    "history": ["h"],
    "map": ["m"],
    "help": ["?"],
}
QUESTION = "Should these two be in the same cluster?"
WORDS: dict[Answer, models.Word] = {
    Answer.SAME: "same",
    Answer.DIFFERENT: "different",
    Answer.UNSURE: "unsure",
}
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
    map: Map
    cards: Cards
    name: str
    session_file: str
    blind: bool
    keys: dict[str, list[str]]

    # Both are made when a panel is opened: the first question does not wait for them.
    @cached_property
    def clusters(self) -> ClusterList:
        """The clusters with their members."""
        return ClusterList(self.cards, self.map)

    @cached_property
    def items(self) -> ItemTable:
        """All rows as a table."""
        return ItemTable(self.cards)

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
                item.at = self.map.place(self.dataset.features(np.array([item.i])))
        if not self.blind:
            for item in (question.left, question.right):
                self.add_cluster(item, view)
            question.guess = "same" if view.cluster_of(pair.i) == view.cluster_of(pair.j) else "different"

    def add_cluster(self, item: models.Item, view: View) -> models.Item:
        """Add the cluster of an item and its colour."""
        item.cluster = view.cluster_of(item.i)
        item.colour = view.colours[item.cluster]
        return item

    def records(self, view: View, chosen: Iterable[Record]) -> list[models.Record]:
        """Answers and constraints as the history shows them."""
        numbers, count = {}, 0
        for record in view.records:
            count += record.kind == "answer"
            numbers[record.index] = count if record.kind == "answer" else None
        return [
            models.Record(
                index=record.index,
                kind="answer" if record.kind == "answer" else "constraint",
                number=numbers[record.index],
                left=self.cards.thumbnail(record.pair.i),
                right=self.cards.thumbnail(record.pair.j),
                answer=WORDS[record.answer],
                at=record.at,
                in_force=record.in_force,
                satisfied=is_satisfied(record, view.asked),
                set_aside=record.answer is Answer.UNSURE and record.pair.ordered in view.set_aside,
            )
            for record in chosen
        ]

    def refusal(self, error: CobrasError) -> models.Refusal:
        """Why nothing was changed, and the state as it is."""
        kind: Literal["stale", "nothing", "contradiction", "refused", "failed"] = "failed"
        chain: list[models.Link] = []
        if isinstance(error, RefusedError):
            kind = error.error
        elif isinstance(error, InconsistentAnswersError):
            kind, chain = "contradiction", self._links(error.chain)
        return models.Refusal(error=kind, message=str(error), question=self.question(), chain=chain)

    def _links(self, chain: Sequence[tuple[Pair, Answer]]) -> list[models.Link]:
        """The answers that imply the opposite, each with its place in the history."""
        places = {record.pair.ordered: record.index for record in self.live.view.records if record.in_force}
        return [
            models.Link(
                i=pair.i,
                j=pair.j,
                answer="same" if answer is Answer.SAME else "different",
                index=places.get(pair.ordered),
            )
            for pair, answer in chain
        ]


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
    )
