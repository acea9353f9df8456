"""What the panel beside the map lists: all clusters, and the table of items."""

from __future__ import annotations

import re
from collections import Counter
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
from cobras.web.api import models
from cobras.web.cards import Cards, format_value, truncate
from cobras.web.map import Map
from cobras.web.view import View

if TYPE_CHECKING:
    import polars as pl

N_MEASURED = 20_000  # members of a cluster that are measured, evenly spaced
N_COMPARED = 64  # super-instances of a cluster that its members are compared with, the largest ones
N_READ = 100  # texts of a cluster that are read for a name
NOTABLE = 0.5  # standard deviations by which a column must stand out to give a name
WORD = re.compile(r"[^\W\d_]{3,}")
N_COLUMNS = 8  # columns of the table of items
CELL = 200  # characters of a cell of it
N_SEARCHED = 200  # columns in which a search looks
N_CELLS = 20_000_000  # in larger tables a search looks at ids and words, not at numbers


class ClusterList:
    """The clusters of a view: their typical and most unusual members, and a name that their content suggests."""

    def __init__(self, cards: Cards, map: Map) -> None:
        self.cards, self._map = cards, map
        # The page asks again after every answer; most answers leave the clusters as they are.
        self._last: tuple[tuple[int, int], list[models.Cluster]] = (-1, -1), []
        self._shares_overall: dict[str, float] = {}

    def describe(self, view: View, n: int) -> list[models.Cluster]:
        """Return all clusters, with n typical and n unusual members each."""
        key = (view.versions.clusters, n)
        last_key, found = self._last
        if last_key != key:
            found = self._clusters(view, n) if view.timeline else []
            self._last = key, found
        return found

    def _clusters(self, view: View, n: int) -> list[models.Cluster]:
        names, marks = dict(view.names), dict(view.marks)
        found = []
        for number, cluster in enumerate(view.timeline[-1].partition.clusters):
            typical, unusual = self._members(view, number, cluster, n)
            size = len(cluster)
            found.append(
                models.Cluster(
                    number=number,
                    colour=view.colours[number],
                    size=size,
                    share=size / view.n_items,
                    name=names.get(number, ""),
                    suggestion=self._suggestion(view, number, cluster),
                    pure=marks.get(number) is not None,
                    complete=marks.get(number) == "complete",
                    n_super_instances=len(cluster.super_instances),
                    representatives=[self.cards.thumbnail(i) for i in typical],
                    unusual=[self.cards.thumbnail(i) for i in unusual],
                )
            )
        return found

    def _members(self, view: View, number: int, cluster: Cluster, n: int) -> tuple[list[int], list[int]]:
        """The medoids of the largest super-instances and the members next to them; and the farthest members."""
        largest = sorted(cluster.super_instances, key=len, reverse=True)[:N_COMPARED]
        medoids = [s.representative for s in largest]
        places = self._some(view, number)
        distances = cdist(self._map.rows[places], [self._centre(s) for s in largest]).min(axis=1)
        order = view.sample.numbers()[places[np.argsort(distances, kind="stable")]].tolist()
        # Twice as many as needed: some of the nearest are medoids, and in a small cluster the two lists meet.
        typical = list(dict.fromkeys(chain(medoids[:n], order[: 2 * n])))[:n]
        return typical, [i for i in order[::-1][: 2 * n] if i not in typical][:n]

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

    def _suggestion(self, view: View, number: int, cluster: Cluster) -> str:
        if self.cards.kind == "table":
            return self._notable_columns(cluster)
        return self._frequent_words(view, number) if self.cards.kind == "text" else ""

    @cached_property
    def _mean_and_spread(self) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the columns."""
        some = self._map.rows[:: max(1, len(self._map.rows) // N_MEASURED)]
        return some.mean(axis=0, dtype=float), some.std(axis=0, dtype=float)

    def _notable_columns(self, cluster: Cluster) -> str:
        """The two columns in which a cluster stands out most: "high length, low width"."""
        sizes = np.array([len(s) for s in cluster.super_instances], float)
        mean: FloatArray = sizes @ np.array([s.centroid for s in cluster.super_instances]) / sizes.sum()
        # A constant column has no spread: it never stands out.
        with np.errstate(invalid="ignore", divide="ignore"):
            scores = np.nan_to_num(
                (mean - self._mean_and_spread[0]) / self._mean_and_spread[1], posinf=0, neginf=0
            )
        columns = self.cards.dataset.columns
        notable = [
            c for c in np.argsort(-np.abs(scores))[:2] if abs(scores[c]) >= NOTABLE and c < len(columns)
        ]
        return ", ".join(f"{'high' if scores[c] > 0 else 'low'} {columns[c]}" for c in notable)

    def _frequent_words(self, view: View, number: int) -> str:
        """The words that a cluster has more often than the rest: "goal, team, season"."""
        rows = view.sample.numbers()
        share = self._word_shares(rows[self._some(view, number)])
        # The term of the Kullback-Leibler divergence that a word adds; a word that occurs nowhere else counts as
        # a hundred times rarer there.
        rest = self._shares_overall = self._shares_overall or self._word_shares(rows)
        score = {w: p * np.log(p / max(rest.get(w, 0.0), p / 100)) for w, p in share.items() if p >= 0.1}
        return ", ".join(sorted(score, key=lambda word: (-score[word], word))[:3])

    def _word_shares(self, rows: IndexArray) -> dict[str, float]:
        """In which share of the texts each word occurs."""
        read = rows[:: 1 + len(rows) // N_READ].tolist()
        counts = Counter(
            chain.from_iterable(set(WORD.findall(self.cards.text(i)[:2_000].lower())) for i in read)
        )
        return {word: count / len(read) for word, count in counts.items()}


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
    ) -> models.Items:
        """Return one page of the items that match everything that is asked for."""
        found = self._find(view, cluster, search.strip().lower(), rows)
        listed = found[offset : offset + limit].tolist()
        clusters, names = view.clusters_of(listed), dict(view.names)
        columns = self.columns[:N_COLUMNS]
        items = []
        for i in listed:
            number = clusters[i]
            values = self.cards.dataset.row(i) if columns else {}
            cells = [format_value(values[name]) for name in columns]
            items.append(
                models.ListedItem(
                    **self.cards.thumbnail(i).model_dump(),
                    cluster=number,
                    colour=view.colours[number],
                    cluster_name=names.get(number, ""),
                    cells=[None if text is None else truncate(text, CELL) for text in cells],
                )
            )
        return models.Items(
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
