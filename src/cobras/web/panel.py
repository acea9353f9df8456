"""What the panel beside the map lists: all clusters, and the table of items."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.distance import cdist

from cobras.core.exceptions import InvalidDataError
from cobras.core.partition import Cluster, SuperInstance
from cobras.core.types import FloatArray, IndexArray
from cobras.data.maps import points
from cobras.web.api import listings
from cobras.web.api.explanations import Profile
from cobras.web.cards import Cards, format_value, truncate
from cobras.web.map import Map
from cobras.web.profiles import Profiles
from cobras.web.view import View

if TYPE_CHECKING:
    import polars as pl

N_MEASURED = 20_000  # members of a cluster that are measured, evenly spaced
N_COMPARED = 64  # super-instances of a cluster that its members are compared with, the largest ones
N_PROFILED = 5  # typical and unusual members in a profile, each
N_COLUMNS = 8  # columns of the table of items
CELL = 200  # characters of a cell of it
N_SEARCHED = 200  # columns in which a search looks
N_CELLS = 20_000_000  # in larger tables a search looks at ids and words, not at numbers


class ClusterList:
    """The clusters of a view: their typical and most unusual members, and a name that their content suggests."""

    def __init__(self, cards: Cards, map: Map) -> None:
        self.cards, self._map = cards, map
        self._profiles = Profiles(cards, map)
        # The page asks again after every answer; most answers leave the clusters as they are.
        self._last: tuple[tuple[int, int], list[listings.Cluster]] = (-1, -1), []

    def describe(self, view: View, n: int) -> list[listings.Cluster]:
        """Return all clusters, with n typical and n unusual members each."""
        key = (view.versions.clusters, n)
        last_key, found = self._last
        if last_key != key:
            found = self._clusters(view, n) if view.timeline else []
            self._last = key, found
        return found

    def _clusters(self, view: View, n: int) -> list[listings.Cluster]:
        names, marks = dict(view.names), dict(view.marks)
        found = []
        for number, cluster in enumerate(view.timeline[-1].partition.clusters):
            typical, unusual = self._members(view, number, cluster, n)
            size = len(cluster)
            found.append(
                listings.Cluster(
                    number=number,
                    id=view.ids[number],
                    colour=view.colours[number],
                    size=size,
                    share=size / view.n_items,
                    name=names.get(number, ""),
                    suggestion=self._profiles.suggestion(view, number),
                    pure=marks.get(number) is not None,
                    complete=marks.get(number) == "complete",
                    to_split=number in view.to_split,
                    n_super_instances=len(cluster.super_instances),
                    representatives=[self.cards.thumbnail(i) for i in typical],
                    unusual=[self.cards.thumbnail(i) for i in unusual],
                )
            )
        return found

    def profile(self, view: View, number: int) -> Profile:
        """What a cluster is like."""
        typical, order = self._order(view, number, view.timeline[-1].partition.clusters[number], N_PROFILED)
        ordered = np.array([*typical, *order[~np.isin(order, typical)]])
        return self._profiles.describe(view, number, ordered, N_PROFILED)

    def _members(self, view: View, number: int, cluster: Cluster, n: int) -> tuple[list[int], list[int]]:
        """The most typical members and the most unusual ones."""
        typical, order = self._order(view, number, cluster, n)
        # Twice as many as needed: in a small cluster the two lists meet.
        return typical, [i for i in order[::-1][: 2 * n].tolist() if i not in typical][:n]

    def _order(self, view: View, number: int, cluster: Cluster, n: int) -> tuple[list[int], IndexArray]:
        """The n most typical members, medoids of the largest super-instances first; and all, the nearest first."""
        largest = sorted(cluster.super_instances, key=len, reverse=True)[:N_COMPARED]
        medoids = [s.representative for s in largest]
        places = self._some(view, number)
        distances = cdist(self._map.rows[places], [self._centre(s) for s in largest]).min(axis=1)
        order = view.sample.numbers()[places[np.argsort(distances, kind="stable")]]
        # Twice as many as needed: some of the nearest are medoids.
        return list(dict.fromkeys(chain(medoids[:n], order[: 2 * n].tolist())))[:n], order

    def _centre(self, s: SuperInstance) -> FloatArray:
        """The centroid, where it is one of points like the rows; else the medoid."""
        if np.shape(s.centroid) == self._map.rows.shape[1:]:
            return s.centroid
        medoid: FloatArray = points(self.cards.dataset.features(np.array([s.representative])))[0]
        return medoid

    def _some(self, view: View, number: int) -> IndexArray:
        """Places of members among the rows shown: all of them, or as many as are measured, evenly spaced."""
        members = np.flatnonzero(view.shown_labels == number)
        return members[:: 1 + len(members) // N_MEASURED]


class ItemTable:
    """Finds items and lists them, a page at a time."""

    def __init__(self, cards: Cards) -> None:
        self.cards = cards
        id_column = cards.dataset.recipe.id
        self._shown = cards.dataset.visible
        self.columns = [name for name in self._shown.columns if name != id_column]
        self._rows_with = lru_cache(maxsize=8)(self._search)

    def page(
        self,
        view: View,
        offset: int,
        limit: int,
        cluster: int | None = None,
        search: str = "",
        rows: Sequence[int] | None = None,
    ) -> listings.Items:
        """Return one page of the items that match everything that is asked for."""
        found = self._find(view, cluster, search.strip().lower(), rows)
        return self._page(view, found, offset, limit)

    def least_sure(
        self,
        view: View,
        sure: FloatArray,
        offset: int,
        limit: int,
        cluster: int | None = None,
        search: str = "",
    ) -> listings.Items:
        """Return one page of the items that are shown or found, or of those of a cluster, the least sure first."""
        found = self._find(view, cluster, search.strip().lower(), None)
        found = found[np.argsort(sure[found], kind="stable")]
        page = self._page(view, found, offset, limit)
        for item in page.items:
            item.confidence = round(float(sure[item.i]), 4)
        return page

    def _page(self, view: View, found: IndexArray, offset: int, limit: int) -> listings.Items:
        listed = found[offset : offset + limit].tolist()
        clusters, names = view.clusters_of(listed), dict(view.names)
        columns = self.columns[:N_COLUMNS]
        items = []
        for i in listed:
            number = clusters[i]
            values = self.cards.dataset.row(i) if columns else {}
            cells = [format_value(values[name]) for name in columns]
            items.append(
                listings.ListedItem(
                    **self.cards.thumbnail(i).model_dump(),
                    cluster=number,
                    cluster_id=view.ids[number],
                    colour=view.colours[number],
                    cluster_name=names.get(number, ""),
                    cells=[None if text is None else truncate(text, CELL) for text in cells],
                )
            )
        return listings.Items(
            version=view.versions.clusters, total=len(found), offset=offset, columns=columns, items=items
        )

    def _find(self, view: View, cluster: int | None, search: str, rows: Sequence[int] | None) -> IndexArray:
        """All that match; a search looks at every row, also at those that the map does not show."""
        if search and self.cards.dataset.large is not None:
            raise InvalidDataError("The table is too large to be searched; draw around a region instead.")
        if rows is not None:
            found: IndexArray = np.array(rows, np.int64)
            if cluster is not None:
                clusters = view.clusters_of(rows)
                found = found[[clusters[i] == cluster for i in rows]]
            return found[np.isin(found, self._rows_with(search))] if search else found
        if search:
            found = self._rows_with(search)
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
        # Not by `select`, which takes a name such as * for a pattern.
        columns = [self._shown.get_column(name) for name in self.columns[:N_SEARCHED]]
        too_large = self._shown.height * len(columns) > N_CELLS
        texts = [
            _as_text(column)
            for column in columns
            if not (column.dtype.is_nested() or column.dtype == pl.Binary)
            if not (too_large and column.dtype.is_numeric())
        ]
        everything = pl.DataFrame([ids.alias("0"), *(t.alias(str(k)) for k, t in enumerate(texts, 1))])
        # One string per row, so that a search is one pass; line breaks keep the cells apart.
        joined: pl.Series = everything.select(
            pl.concat_str(pl.all(), separator="\n", ignore_nulls=True).str.to_lowercase()
        ).to_series()
        return joined

    def _search(self, text: str) -> IndexArray:
        return self._text.str.contains(text, literal=True).arg_true().to_numpy()


def _as_text(column: pl.Series) -> pl.Series:
    """Return a column as strings; durations and the like as Python writes them."""
    import polars as pl

    try:
        return column.cast(pl.String, strict=False)
    except pl.exceptions.PolarsError:
        return pl.Series(column.name, [None if v is None else str(v) for v in column], pl.String)
