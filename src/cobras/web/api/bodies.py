"""What callers send to the end points."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from cobras.core.board import MOST_PILES
from cobras.core.types import Answer
from cobras.data.guess import ColumnType
from cobras.web.api.models import Model, Word

LARGEST = 2**31 - 1  # no table has more rows
MOST_MOVED = 5_000  # rows that are moved at once; more would not fit into a body
MOST_CARDS = 12  # on a board
MOST_COLUMNS = 10_000  # that are named in one request


def _answer_word(value: Any) -> Any:
    """Return the name of an answer: given in any case, as a truth value or as 1, 0 or -1."""
    if value is None:
        return value
    try:
        return Answer.of(value).name.lower()
    except ValueError:
        return value


AnswerWord = Annotated[Word, BeforeValidator(_answer_word)]
KnownWord = Annotated[Literal["same", "different"], BeforeValidator(_answer_word)]
RowNumber = Annotated[int, Field(ge=0, le=LARGEST)]
ColumnName = Annotated[str, Field(max_length=1_000)]
Features = Literal["efficientnet", "shapes", "pixels", "lsi", "sentences"]
Version = Annotated[int, Field(ge=0, le=2**53)] | None


class Tell(Model):
    """An answer, with the pair it is about; only the open question can be answered."""

    i: RowNumber
    j: RowNumber
    answer: AnswerWord


class Change(Model):
    """Undo or redo. With `revision`, only if nothing has happened since the caller saw that `versions.session`."""

    revision: Version = None


class Revise(Change):
    """Another answer to an old question, by its index in the history."""

    index: RowNumber
    answer: AnswerWord


class Constraint(Change):
    """What is known about two rows, asked or not; also the answer to a pair that was set aside."""

    i: RowNumber
    j: RowNumber
    answer: KnownWord


class Sort(Change):
    """How a board was sorted: lists of its rows that belong together; a card that is in none is unsure."""

    cards: Annotated[list[RowNumber], Field(min_length=1, max_length=MOST_CARDS)]
    piles: list[RowNumber] = Field(default=[], max_length=MOST_PILES)
    groups: Annotated[
        list[Annotated[list[RowNumber], Field(max_length=MOST_CARDS + MOST_PILES)]],
        Field(max_length=MOST_CARDS + MOST_PILES),
    ]


class DataChoices(Change):
    """How the data is to be read: as the options of `cobras serve`."""

    id: ColumnName | None = None
    drop: list[ColumnName] = Field(default=[], max_length=MOST_COLUMNS)
    use: list[ColumnName] = Field(default=[], max_length=MOST_COLUMNS)
    types: dict[ColumnName, ColumnType] = Field(default={}, max_length=MOST_COLUMNS)
    weights: dict[ColumnName, float] = Field(default={}, max_length=MOST_COLUMNS)
    kind: Literal["table", "text", "image", "series"] | None = None
    text: ColumnName | None = None
    image: ColumnName | None = None
    features: Features | None = None


class Mark(Model):
    """A mark of a cluster; both false removes it.

    With `version`, only if the clusters are still those of that `versions.labels`.
    """

    cluster: RowNumber
    pure: bool = False
    complete: bool = False
    version: Version = None


class Name(Model):
    """A name for a cluster; an empty text removes it. `version` as in `Mark`."""

    cluster: RowNumber
    text: Annotated[str, Field(max_length=200)]
    version: Version = None


class Act(Model):
    """Changes clusters; `version` as in `Mark`.

    With `dry` it is only said what would change. With `anyway` the answers that stand in the way are taken back.
    """

    version: Version = None
    dry: bool = False
    anyway: bool = False


class Move(Act):
    """Rows to be moved to a cluster; to none, if they only do not belong where they are."""

    rows: Annotated[list[RowNumber], Field(min_length=1, max_length=MOST_MOVED)]
    to: RowNumber | None


class Merge(Act):
    """Two clusters that are one."""

    a: RowNumber
    b: RowNumber


class Split(Model):
    """A cluster that is two things: the next questions are asked inside it. `version` as in `Mark`."""

    cluster: RowNumber
    version: Version = None
