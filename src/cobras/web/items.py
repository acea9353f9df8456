"""The table of all items: a page of it, filtered by cluster, by rows or by what their cells contain."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from cobras.exceptions import InvalidDataError
from cobras.types import IndexArray
from cobras.web import models
from cobras.web.cards import Cards, cut, words
from cobras.web.view import View

if TYPE_CHECKING:
    import polars as pl

N_COLUMNS = 8  # columns of the table of items
N_SEARCHED = 200  # columns that a search looks into


class ItemTable:
    """Finds items and lists them."""

    def __init__(self, cards: Cards) -> None:
        self.cards = cards
        hidden = cards.dataset.recipe.get("id")
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
        found: IndexArray
        if rows is not None:
            found = np.array([i for i in rows if cluster is None or view.cluster_of(i) == cluster], np.int64)
        else:
            found = view.sample.numbers()
            found = found if cluster is None else found[view.shown == cluster]
        if search.strip() and self.cards.dataset.large is not None:
            raise InvalidDataError("The table is too large to be searched; draw around a region instead.")
        if search.strip():
            found = found[np.isin(found, self._containing(search.strip().lower()))]
        names = dict(view.names)
        colours = view.points[-1].colours if view.points else (0,)
        shown = self.columns[:N_COLUMNS]
        items = []
        for i in found[offset : offset + limit].tolist():
            number = view.cluster_of(i)
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

    @cached_property
    def _text(self) -> pl.Series:
        """Everything that may be searched of each row, in one lower-case string."""
        import polars as pl

        ids = pl.Series("", [str(name) for name in self.cards.dataset.ids.tolist()])
        frame = self._shown.select(self.columns[:N_SEARCHED])
        texts = [
            column.cast(pl.String, strict=False)
            for column in frame
            if not column.dtype.is_nested() and column.dtype != pl.Binary
        ]
        everything = pl.DataFrame([ids.alias("0"), *(t.alias(str(k)) for k, t in enumerate(texts, 1))])
        joined: pl.Series = everything.select(
            pl.concat_str(pl.all(), separator="\n", ignore_nulls=True).str.to_lowercase()
        ).to_series()
        return joined

    def _look_for(self, search: str) -> IndexArray:
        return self._text.str.contains(search, literal=True).arg_true().to_numpy()
