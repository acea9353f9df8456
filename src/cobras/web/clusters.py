"""The clusters of a view: their typical and most unusual members, and a name that their content suggests."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from itertools import chain

import numpy as np
from scipy.spatial.distance import cdist

from cobras.core.partition import Cluster, SuperInstance
from cobras.core.types import FloatArray, IndexArray
from cobras.data.maps import points
from cobras.web.api import models
from cobras.web.cards import Cards
from cobras.web.map import Atlas
from cobras.web.view import View

N_LOOKED_AT = 20_000  # members of a cluster that are measured, evenly spaced
N_SPOKESMEN = 64  # super-instances of a cluster that its members are compared with, the largest ones
N_READ = 100  # texts of a cluster that are read for a name
NOTABLE = 0.5  # standard deviations by which a column must stand out to give a name
WORD = re.compile(r"[^\W\d_]{3,}")


class ClusterPages:
    """What the panel of clusters shows."""

    def __init__(self, cards: Cards, atlas: Atlas) -> None:
        self.cards, self._atlas = cards, atlas
        self._last: tuple[tuple[int, int], list[models.Cluster]] = (-1, -1), []
        self._share: dict[str, float] | None = None

    @cached_property
    def _usual(self) -> tuple[FloatArray, FloatArray]:
        """Mean and spread of the columns."""
        some = self._atlas.rows[:: max(1, len(self._atlas.rows) // N_LOOKED_AT)]
        return some.mean(axis=0, dtype=float), some.std(axis=0, dtype=float)

    def pages(self, view: View, n: int) -> list[models.Cluster]:
        """All clusters, with n typical and n unusual members each."""
        key = (view.versions.clusters, n)
        kept, found = self._last
        if kept != key:
            found = self._pages(view, n) if view.points else []
            self._last = key, found
        return found

    def _pages(self, view: View, n: int) -> list[models.Cluster]:
        names, marks = dict(view.names), dict(view.marks)
        point = view.points[-1]
        found = []
        for number, cluster in enumerate(point.partition.clusters):
            typical, unusual = self._members(view, number, cluster, n)
            size = sum(map(len, cluster.super_instances))
            found.append(
                models.Cluster(
                    number=number,
                    colour=point.colours[number],
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
        """The medoids of the largest super-instances, filled up with those next nearest; and the farthest ones."""
        spokesmen = sorted(cluster.super_instances, key=len, reverse=True)[:N_SPOKESMEN]
        medoids = [s.representative for s in spokesmen]
        places = self._some(view, number)
        away = cdist(self._atlas.rows[places], [self._centre(s) for s in spokesmen]).min(axis=1)
        order = view.sample.numbers()[places[np.argsort(away, kind="stable")]].tolist()
        typical = list(dict.fromkeys(chain(medoids[:n], order[: 2 * n])))[:n]
        taken = set(typical)
        return typical, [i for i in order[::-1][: 2 * n] if i not in taken][:n]

    def _centre(self, s: SuperInstance) -> FloatArray:
        """The centroid, where it is one of points like the rows; else the medoid."""
        if np.shape(s.centroid) == self._atlas.rows.shape[1:]:
            return s.centroid
        alone: FloatArray = points(self.cards.dataset.features(np.array([s.representative])))[0]
        return alone

    def _suggestion(self, view: View, number: int, cluster: Cluster) -> str:
        if self.cards.kind == "table":
            return self._by_columns(cluster)
        return self._by_words(view, number) if self.cards.kind == "text" else ""

    def _some(self, view: View, number: int) -> IndexArray:
        """Places of members among the rows shown: all of them, or as many as are looked at, evenly spaced."""
        members = np.flatnonzero(view.shown == number)
        return members[:: 1 + len(members) // N_LOOKED_AT]

    def _by_columns(self, cluster: Cluster) -> str:
        """The two columns in which it stands out most: "high length, low width"."""
        sizes = np.array([len(s) for s in cluster.super_instances], float)
        mean: FloatArray = sizes @ np.array([s.centroid for s in cluster.super_instances]) / sizes.sum()
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = np.nan_to_num((mean - self._usual[0]) / self._usual[1], posinf=0, neginf=0)
        columns = self.cards.dataset.columns
        told = [c for c in np.argsort(-np.abs(apart))[:2] if abs(apart[c]) >= NOTABLE and c < len(columns)]
        return ", ".join(f"{'high' if apart[c] > 0 else 'low'} {columns[c]}" for c in told)

    def _by_words(self, view: View, number: int) -> str:
        """The words that it has more often than the rest: "goal, team, season"."""
        if self._share is None:
            self._share = self._shares(view.sample.numbers())
        share, rest = self._shares(view.sample.numbers()[self._some(view, number)]), self._share
        score = {w: p * np.log(p / max(rest.get(w, 0.0), p / 100)) for w, p in share.items() if p >= 0.1}
        return ", ".join(sorted(score, key=lambda word: (-score[word], word))[:3])

    def _shares(self, rows: IndexArray) -> dict[str, float]:
        """In which share of the texts each word occurs."""
        read = rows[:: 1 + len(rows) // N_READ].tolist()
        counts = Counter(
            chain.from_iterable(set(WORD.findall(self.cards.text(i)[:2_000].lower())) for i in read)
        )
        return {word: count / len(read) for word, count in counts.items()}
