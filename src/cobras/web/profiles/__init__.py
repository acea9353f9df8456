"""What a cluster is like, compared with all other items, and what it may be called."""

from __future__ import annotations

from functools import cached_property
from zlib import crc32

import numpy as np

from cobras.core.types import FloatArray, IndexArray
from cobras.data import Series
from cobras.data.tables.columns import value_line
from cobras.web.api.explanations import Member, Profile
from cobras.web.cards import Cards, format_value, truncate
from cobras.web.map import Map
from cobras.web.profiles.curves import mean_curves
from cobras.web.profiles.distributions import TableColumns, column_model
from cobras.web.profiles.suggestions import column_name
from cobras.web.profiles.vocabulary import Vocabulary
from cobras.web.view import View

N_COLUMNS = 6  # columns that are drawn
TELLING = 0.1  # difference of shares from which on one is drawn
N_WORDS, N_NAMING = 12, 3  # words that are listed, and those that make a name
N_PICTURES = 12
N_HEADERS = 8  # columns of the table of members
CELL = 160  # characters of a cell of it
N_NAMES = 1_000  # suggestions that are kept: most answers leave most clusters as they are


class Profiles:
    """The profiles of the clusters of a view, and the names that their content suggests."""

    def __init__(self, cards: Cards, map: Map) -> None:
        self._cards, self._map = cards, map
        self._vocabulary = Vocabulary(cards.text)
        self._names: dict[tuple[int, int], str] = {}

    def describe(self, view: View, number: int, ordered: IndexArray, n: int) -> Profile:
        """The profile of a cluster; `ordered` are rows of it, the most typical first, n of each end are shown."""
        places = np.flatnonzero(view.shown_labels == number)
        inside, outside = self._sides(view, places)
        kind = self._cards.kind
        found = Profile(
            version=view.versions.clusters,
            id=view.ids[number],
            number=number,
            size=len(view.timeline[-1].partition.clusters[number]),
            n_inside=len(inside),
            n_outside=len(outside),
            suggestion=self.suggestion(view, number),
        )
        typical = ordered[:n].tolist()
        unusual = [row for row in ordered[::-1][:n].tolist() if row not in typical]
        if kind == "table":
            differences = self._columns.differences(places, N_COLUMNS)
            told = [column for column, difference in differences if difference.score >= TELLING]
            found.columns = [column_model(column, places) for column in told]
            found.headers = self._headers([column.recipe.name for column in told])
        elif kind == "text":
            found.words = self._vocabulary.telling_words(inside, outside, N_WORDS)
            found.headers = ["text"]
        elif kind == "series":
            found.curves = mean_curves(self._channels, inside, outside)
        if kind in ("image", "series"):
            chosen = np.unique(np.linspace(0, len(ordered) - 1, N_PICTURES).round().astype(int))
            found.pictures = [self._cards.thumbnail(int(row)) for row in ordered[chosen]]
        else:
            found.typical = [self._member(row, found.headers) for row in typical]
            found.unusual = [self._member(row, found.headers) for row in unusual]
        return found

    def suggestion(self, view: View, number: int) -> str:
        """What the content of a cluster would be called; empty where it cannot be said in a few words."""
        if self._cards.kind not in ("table", "text") or not view.timeline or len(view.ids) < 2:
            return ""
        places = np.flatnonzero(view.shown_labels == number)
        # The rest is what is not in it, so the rows of a cluster say it all.
        key = len(places), crc32(places.tobytes())
        if key not in self._names:
            if len(self._names) >= N_NAMES:
                self._names.clear()
            self._names[key] = self._suggest(view, places)
        return self._names[key]

    def _suggest(self, view: View, places: IndexArray) -> str:
        if not len(places):
            return ""
        if self._cards.kind == "table":
            return column_name(self._columns.differences(places, N_COLUMNS))
        words = self._vocabulary.telling_words(*self._sides(view, places), N_NAMING)
        return value_line(word.value for word in words)

    @cached_property
    def _columns(self) -> TableColumns:
        return TableColumns(self._cards.dataset, self._map.shown.numbers(), self._map.rows)

    def _sides(self, view: View, places: IndexArray) -> tuple[list[int], list[int]]:
        """The rows of a cluster and all others, of those that the page shows."""
        numbers = view.sample.numbers()
        is_inside = np.zeros(len(numbers), bool)
        is_inside[places] = True
        return numbers[is_inside].tolist(), numbers[~is_inside].tolist()

    def _headers(self, first: list[str]) -> list[str]:
        name, shown = self._cards.dataset.recipe.id, self._cards.dataset.visible.columns
        rest = [column for column in shown if column != name and column not in first]
        return [column for column in first if column in shown] + rest[: max(0, N_HEADERS - len(first))]

    def _member(self, row: int, headers: list[str]) -> Member:
        if self._cards.kind == "text":
            cells: list[str | None] = [" ".join(self._cards.text(row)[: 4 * CELL].split())]
        else:
            values = self._cards.dataset.row(row)
            cells = [format_value(values[name]) for name in headers]
        short = [None if text is None else truncate(text, CELL) for text in cells]
        return Member(**self._cards.thumbnail(row).model_dump(), cells=short)

    def _channels(self, row: int) -> FloatArray:
        card = self._cards.dataset.show(row)
        return card.channels if isinstance(card, Series) else np.empty((0, 0))
