"""What the session looks like at one moment: frozen, so that any thread may look while the session goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from cobras.constraints import ConstraintPairs
from cobras.history import Record
from cobras.progress import Progress
from cobras.types import LabelArray, Pair
from cobras.web.course import Point
from cobras.web.models import Versions

State: TypeAlias = Literal["asking", "computing", "done", "failed"]


@dataclass(frozen=True)
class View:
    """A session between two changes."""

    n_items: int
    versions: Versions
    state: State = "computing"
    message: str = ""
    pair: Pair | None = None
    points: tuple[Point, ...] = ()
    records: tuple[Record, ...] = ()
    progress: Progress | None = None
    names: tuple[tuple[int, str], ...] = ()
    marks: tuple[tuple[int, str], ...] = ()
    set_aside: frozenset[Pair] = frozenset()
    constraints: ConstraintPairs | None = None
    can_undo: bool = False
    can_redo: bool = False
    saved_at: float | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def labels(self) -> LabelArray:
        """The cluster of every row."""
        return self.labels_at(len(self.points) - 1)

    @property
    def n_answers(self) -> int:
        """How many questions were answered."""
        return max(0, len(self.points) - 1)

    def labels_at(self, n_answers: int) -> LabelArray:
        """The cluster of every row after so many answers; one cluster before anything is known."""
        if not self.points:
            return np.zeros(self.n_items, np.int32)
        return self.points[n_answers].partition.labels
