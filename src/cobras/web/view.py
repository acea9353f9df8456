"""What the session looks like at one moment: frozen, so that any thread may look while the session goes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from cobras.core.constraints import ConstraintPairs
from cobras.core.progress import Progress
from cobras.core.types import IndexArray, LabelArray, Pair, Record
from cobras.web.api.models import Versions
from cobras.web.sample import Sample
from cobras.web.timeline import Point

State: TypeAlias = Literal["asking", "computing", "done", "failed"]


@dataclass(frozen=True)
class View:
    """A session between two changes."""

    sample: Sample
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
    asked: Mapping[int, int] = field(default_factory=dict)

    @property
    def n_items(self) -> int:
        """How many rows there are."""
        return self.sample.n

    @cached_property
    def labels(self) -> LabelArray:
        """The cluster of every row."""
        return self.points[-1].partition.labels if self.points else np.zeros(self.n_items, np.int32)

    @cached_property
    def shown(self) -> LabelArray:
        """The cluster of every row that the page shows."""
        return self.labels_at(len(self.points) - 1)

    def cluster_of(self, row: int) -> int:
        """The cluster of one row."""
        return self.clusters_of([row])[row]

    def clusters_of(self, rows: Iterable[int]) -> dict[int, int]:
        """The clusters of some rows."""
        found = {row: self._known(row) for row in rows}
        unknown = [row for row, number in found.items() if number is None]
        if unknown:
            found.update(self.points[-1].partition.clusters_of(unknown))
        return {row: number or 0 for row, number in found.items()}

    def _known(self, row: int) -> int | None:
        """The cluster of a row that is shown or was asked about."""
        if row in self.asked or not self.points:
            return self.asked.get(row, 0)
        place = self.sample.place(row)
        return None if place is None else int(self.shown[place])

    def members(self, number: int) -> IndexArray:
        """The rows of a cluster, ascending: all of them, or of very many those that the page shows."""
        everyone = None
        if self.points and number < self.points[-1].partition.n_clusters:
            everyone = self.sample.members(self.points[-1].partition, number)
        return self.sample.numbers()[self.shown == number] if everyone is None else everyone

    @property
    def n_answers(self) -> int:
        """How many questions were answered."""
        return max(0, len(self.points) - 1)

    def labels_at(self, n_answers: int) -> LabelArray:
        """The clusters of the rows that the page shows after so many answers; one before anything is known."""
        if not self.points:
            return np.zeros(len(self.sample), np.int32)
        return self.sample.labels(self.points[n_answers].partition)
