"""Everything that one server holds, and how a request is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from cobras.core.exceptions import CobrasError, InconsistentAnswersError
from cobras.core.types import Answer, Pair
from cobras.data import Dataset
from cobras.web.api import models
from cobras.web.api.events import Events
from cobras.web.api.question import Teller
from cobras.web.cards import Cards
from cobras.web.clusters import ClusterPages
from cobras.web.items import ItemTable
from cobras.web.live import Live
from cobras.web.map import Atlas

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


class MissingError(CobrasError, LookupError):
    """A cluster, an answer or a row that does not exist."""


class RefusedError(CobrasError):
    """A change that is not possible now."""

    def __init__(self, error: Literal["stale", "nothing", "refused", "failed"], message: str) -> None:
        super().__init__(message)
        self.error = error


@dataclass
class Room:
    """The parts of one server."""

    dataset: Dataset
    live: Live
    atlas: Atlas
    events: Events
    cards: Cards
    name: str
    session_file: str
    blind: bool = True
    keys: dict[str, list[str]] = field(default_factory=lambda: KEYS)

    def __post_init__(self) -> None:
        self.teller = Teller(self.live, self.cards, self.atlas, self.blind)
        self.pages = ClusterPages(self.cards, self.atlas)
        self.table = ItemTable(self.cards)

    def refusal(self, error: CobrasError) -> models.Refusal:
        """Why nothing was changed, and the state as it is."""
        kind: Literal["stale", "nothing", "contradiction", "refused", "failed"] = "failed"
        chain: list[models.Link] = []
        if isinstance(error, RefusedError):
            kind = error.error
        elif isinstance(error, InconsistentAnswersError):
            kind, chain = "contradiction", self._links(error.chain)
        return models.Refusal(error=kind, message=str(error), question=self.teller.question(), chain=chain)

    def _links(self, chain: Sequence[tuple[Pair, Answer]]) -> list[models.Link]:
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
