"""The table of all items: a page of it, filtered by cluster, by rows or by what their cells contain."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import IndexArray
from cobras.web.api import models
from cobras.web.cards import Cards, cut, words
from cobras.web.view import View

if TYPE_CHECKING:
    import polars as pl

N_COLUMNS = 8  # columns of the table of items
N_SEARCHED = 200  # columns that a search looks into
N_CELLS = 20_000_000  # of larger tables it looks into ids and words, not into numbers


class ItemTable:
    """Finds items and lists them."""

    def __init__(self, cards: Cards) -> None:
        self.cards = cards
        hidden = cards.dataset.recipe.id
        self._shown = cards.dataset.shown
        self.columns = [name for name in self._shown.columns if name != hidden]
        self._containing = lru_cache(maxsize=8)(self._look_for)

    def page(
        self,
        view: View,
        offset: int,
        limit: int,
        cluster: int | None = None,
        search: str = "",
        rows: Sequence[int] | None = None,
    ) -> models.Items:
        """One page of the items that match everything that is asked for."""
        found = self._matching(view, cluster, search.strip().lower(), rows)
        listed = found[offset : offset + limit].tolist()
        clusters = view.clusters_of(listed)
        names = dict(view.names)
        colours = view.points[-1].colours if view.points else (0,)
        shown = self.columns[:N_COLUMNS]
        items = []
        for i in listed:
            number = clusters[i]
            values = self.cards.dataset.row(i) if shown else {}
            items.append(
                models.ListedItem(
                    **self.cards.thumbnail(i).model_dump(),
                    cluster=number,
                    colour=colours[number],
                    cluster_name=names.get(number, ""),
                    cells=[
                        None if (text := words(values[name])) is None else cut(text, 200) for name in shown
                    ],
                )
            )
        return models.Items(
            version=view.versions.clusters, total=len(found), offset=offset, columns=shown, items=items
        )

    def _matching(
        self, view: View, cluster: int | None, search: str, rows: Sequence[int] | None
    ) -> IndexArray:
        """All that match; a search looks at every row, also at those that the map does not show."""
        if search and self.cards.dataset.large is not None:
            raise InvalidDataError("The table is too large to be searched; draw around a region instead.")
        if rows is not None:
            found: IndexArray = np.array(rows, np.int64)
            if cluster is not None:
                clusters = view.clusters_of(rows)
                found = found[[clusters[i] == cluster for i in rows]]
            return found[np.isin(found, self._containing(search))] if search else found
        if search:
            found = self._containing(search)
            return found if cluster is None else found[view.labels[found] == cluster]
        return view.sample.numbers() if cluster is None else view.members(cluster)

    @cached_property
    def _text(self) -> pl.Series:
        """Everything that may be searched of each row, in one lower-case string."""
        import polars as pl

        names = self.cards.dataset.ids
        ids = (
            pl.Series(names).cast(pl.String)
            if names.dtype.kind in "iu"
            else pl.Series(map(str, names.tolist()))
        )
        frame = self._shown.select(self.columns[:N_SEARCHED])
        too_large = frame.height * frame.width > N_CELLS
        texts = [
            column.cast(pl.String, strict=False)
            for column in frame
            if not (column.dtype.is_nested() or column.dtype == pl.Binary)
            if not (too_large and column.dtype.is_numeric())
        ]
        everything = pl.DataFrame([ids.alias("0"), *(t.alias(str(k)) for k, t in enumerate(texts, 1))])
        joined: pl.Series = everything.select(
            pl.concat_str(pl.all(), separator="\n", ignore_nulls=True).str.to_lowercase()
        ).to_series()
        return joined

    def _look_for(self, search: str) -> IndexArray:
        return self._text.str.contains(search, literal=True).arg_true().to_numpy()
