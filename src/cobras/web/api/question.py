"""The state of the session in the words of the contract."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

import numpy as np

from cobras.core.progress import WINDOW, Progress, satisfied
from cobras.core.types import Answer, Pair, Record
from cobras.web.api import models
from cobras.web.cards import Cards
from cobras.web.live import Live
from cobras.web.map import Atlas
from cobras.web.view import View

Word: TypeAlias = Literal["same", "different", "unsure"]
WORD: dict[Answer, Word] = {Answer.SAME: "same", Answer.DIFFERENT: "different", Answer.UNSURE: "unsure"}
NOTHING = Progress(0, 1, None, (), 0, may_stop=False, reason="")
WORDS = "Should these two be in the same cluster?"


class Teller:
    """Says what a view means; `blind` keeps the algorithm's own opinion from the person before the answer."""

    def __init__(self, live: Live, cards: Cards, atlas: Atlas, blind: bool) -> None:
        self.live, self.cards, self.atlas, self.blind = live, cards, atlas, blind

    def question(self, view: View | None = None) -> models.Question:
        """The open question of a view; of the present one, which may be changing, when none is given."""
        computing = self.live.computing if view is None else None
        view = view or self.live.view
        question = models.Question(
            state=view.state if computing is None else "computing",
            run=self.live.run,
            versions=view.versions.model_copy(update={"map": self.live.map_version}),
            words=WORDS,
            progress=progress_model(view),
            computing=computing,
            can_undo=view.can_undo,
            can_redo=view.can_redo,
            saved=computing is None,
            saved_at=view.saved_at,
            message=view.message,
        )
        if question.state == "asking" and view.pair is not None:
            self._show(question, view, view.pair)
        return question

    def _show(self, question: models.Question, view: View, pair: Pair) -> None:
        question.pair = models.PairModel(i=pair.i, j=pair.j)
        question.left, question.right = self.cards.item(pair.i), self.cards.item(pair.j)
        question.columns = self.cards.columns(pair)
        for item in (question.left, question.right):
            if view.sample.place(item.i) is None:
                item.at = self.atlas.place(self.cards.dataset.features(np.array([item.i])))
        if not self.blind:
            for item in (question.left, question.right):
                self.place(item, view)
            question.guess = "same" if view.cluster_of(pair.i) == view.cluster_of(pair.j) else "different"

    def place(self, item: models.Item, view: View) -> models.Item:
        """Add the cluster of an item and its colour."""
        item.cluster = view.cluster_of(item.i)
        item.colour = view.points[-1].colours[item.cluster] if view.points else 0
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
                answer=WORD[record.answer],
                at=record.at,
                in_force=record.in_force,
                satisfied=satisfied(record, view.asked),
                set_aside=record.answer is Answer.UNSURE and record.pair.ordered in view.set_aside,
            )
            for record in chosen
        ]


def progress_model(view: View) -> models.ProgressModel:
    """How far it has come; nothing but one cluster before the session is open."""
    now = view.progress or NOTHING
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
