"""Pairs, answers, events, records, and short names for types of arrays."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from cobras.core.exceptions import InvalidDataError

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
IndexArray: TypeAlias = npt.NDArray[np.integer[Any]]
LabelArray: TypeAlias = npt.NDArray[np.int32]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
ClusterNumbers: TypeAlias = Sequence[int] | npt.NDArray[Any]  # one for each row
ClusterNames: TypeAlias = Mapping[int, str] | None  # by cluster number
StableIds: TypeAlias = Sequence[int] | None  # by cluster number


class Answer(IntEnum):
    """What a person says about a pair.

    Examples
    --------
    >>> Answer.of(True), Answer.of(None), Answer.of("different")
    (<Answer.SAME: 1>, <Answer.UNSURE: -1>, <Answer.DIFFERENT: 0>)
    """

    UNSURE = -1
    DIFFERENT = 0
    SAME = 1

    @classmethod
    def of(cls, value: object) -> Answer:
        """Read an answer given as `Answer`, bool, None (unsure), its name or its number (1, 0, -1)."""
        if isinstance(value, cls):
            return value
        if value is None:
            return cls.UNSURE
        if isinstance(value, str) and value.upper() in cls.__members__:
            return cls[value.upper()]
        if isinstance(value, (bool, int, np.bool_, np.integer)) and int(value) in (-1, 0, 1):
            return cls(int(value))
        raise InvalidDataError(
            "An answer must be Answer.SAME, DIFFERENT or UNSURE, its name or its number, or True, False or None, "
            f"not {value!r}."
        )


class Pair(NamedTuple):
    """Two instances shown together, by row number.

    Examples
    --------
    >>> pair = Pair(90, 4)
    >>> pair.i, pair.j, pair.ordered
    (90, 4, Pair(i=4, j=90))
    """

    i: int
    j: int

    @property
    def ordered(self) -> Pair:
        """The same pair with the smaller row first."""
        return self if self.i <= self.j else Pair(self.j, self.i)


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a session's journal.

    `kind` is answer, board, constraint, known, mark, name, move, merge, split, append, undo, redo, revise, rebase
    or ids; `body` holds JSON values.
    """

    kind: str
    body: dict[str, Any] = field(default_factory=dict)
    at: float = field(default_factory=time.time, compare=False)


Said: TypeAlias = tuple[tuple[Pair, Answer], ...]


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a person did: what `Session.undo` took back, or `Session.redo` brought back.

    Attributes
    ----------
    kind : {"answer", "board", "constraint", "known", "mark", "name", "move", "merge", "split", "append", "revise"}
    text : str
        What it was, in a few words: "same", "a mark", "the move of 3 items".
    pair, answer
        What was said about which pair; None for what is not about one pair.
    at : float
        When, in seconds since 1970.
    """

    kind: str
    text: str
    pair: Pair | None = None
    answer: Answer | None = None
    at: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Record:
    """An answer, a board, volunteered constraints, a move or a merge, as a person sees it in the history.

    Attributes
    ----------
    index : int
        Its place in the history, which `Session.revise` takes.
    kind : {"answer", "board", "constraint", "known", "move", "merge"}
    pair, answer
        What was said about which pair. A board, many constraints at once ("known"), a move or a merge has no pair,
        and its answer is None, or UNSURE
        after it was revised to that: then it says nothing.
    at : float
        When, in seconds since 1970.
    in_force : bool
        False when some of it contradicts an answer that was revised, or one to a second question about the same; it
        is kept, but that part has no effect.
    said : tuple of (Pair, Answer)
        All pairs that it is about; for an answer or a constraint, its pair.
    void : tuple of Pair
        Those that have no effect.
    groups : tuple of tuples of int
        How a board was sorted, or which rows were known to belong together.
    """

    index: int
    kind: str
    pair: Pair | None
    answer: Answer | None
    at: float
    in_force: bool = True
    said: Said = ()
    void: tuple[Pair, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        if self.pair is not None and self.answer is not None and not self.said:
            object.__setattr__(self, "said", ((self.pair, self.answer),))


Oracle: TypeAlias = Callable[[int, int], "Answer | bool | None"]
