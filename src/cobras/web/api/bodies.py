"""What callers send: an answer with its pair, and the changes of mind."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from cobras.core.types import Answer

LARGEST = 2**31 - 1  # no table has more rows


def _word(value: Any) -> Any:
    """The name of an answer that is given as its name in any case, as a truth value or as 1, 0 or -1."""
    if value is None:
        return value
    try:
        return Answer.of(value).name.lower()
    except ValueError:
        return value


AnswerWord = Annotated[Literal["same", "different", "unsure"], BeforeValidator(_word)]
KnownWord = Annotated[Literal["same", "different"], BeforeValidator(_word)]
RowNumber = Annotated[int, Field(ge=0, le=LARGEST)]
Version = Annotated[int, Field(ge=0, le=2**53)] | None


class Body(BaseModel):
    """The base of all bodies: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Tell(Body):
    """An answer, with the pair it is about; only the open question can be answered."""

    i: RowNumber
    j: RowNumber
    answer: AnswerWord


class Change(Body):
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


class Mark(Body):
    """A promise about a cluster; both false takes it back.

    With `version`, only if the clusters are still those of that `versions.labels`.
    """

    cluster: RowNumber
    pure: bool = False
    complete: bool = False
    version: Version = None


class Name(Body):
    """A name for a cluster; an empty text removes it. `version` as in `Mark`."""

    cluster: RowNumber
    text: Annotated[str, Field(max_length=200)]
    version: Version = None
