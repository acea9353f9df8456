"""The clusters of a view: their typical and most unusual members, and a name that their content suggests."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain

import numpy as np
from scipy.spatial.distance import cdist

from cobras.data.maps import points
from cobras.partition import Cluster, SuperInstance
from cobras.types import FloatArray, IndexArray
from cobras.web import models
from cobras.web.cards import Cards
from cobras.web.view import View

N_LOOKED_AT = 20_000  # members of a cluster that are measured, evenly spaced
N_SPOKESMEN = 64  # super-instances of a cluster that its members are compared with, the largest ones
N_READ = 100  # texts of a cluster that are read for a name
NOTABLE = 0.5  # standard deviations by which a column must stand out to give a name
WORD = re.compile(r"[^\W\d_]{3,}")


class ClusterPages:
    """What the panel of clusters shows."""

    def __init__(self, cards: Cards) -> None:
        self.cards = cards
        self._X = points(cards.dataset.X)
        some = self._X[:: max(1, len(self._X) // N_LOOKED_AT)]
        self._mean, self._spread = some.mean(axis=0, dtype=float), some.std(axis=0, dtype=float)
        self._last: tuple[tuple[int, int], list[models.Cluster]] = (-1, -1), []
        self._share: dict[str, float] | None = None

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
            typical, unusual = self._members(cluster, n)
            size = sum(map(len, cluster.super_instances))
            found.append(
                models.Cluster(
                    number=number,
                    colour=point.colours[number],
                    size=size,
                    share=size / view.n_items,
                    name=names.get(number, ""),
                    suggestion=self._suggestion(cluster),
                    pure=marks.get(number) is not None,
                    complete=marks.get(number) == "complete",
                    n_super_instances=len(cluster.super_instances),
                    representatives=[self.cards.thumbnail(i) for i in typical],
                    unusual=[self.cards.thumbnail(i) for i in unusual],
                )
            )
        return found

    def _members(self, cluster: Cluster, n: int) -> tuple[list[int], list[int]]:
        """The medoids of the largest super-instances, filled up with those next nearest; and the farthest ones."""
        spokesmen = sorted(cluster.super_instances, key=len, reverse=True)[:N_SPOKESMEN]
        medoids = [s.representative for s in spokesmen]
        members = _some(cluster)
        away = cdist(self._X[members], [self._centre(s) for s in spokesmen]).min(axis=1)
        order = members[np.argsort(away, kind="stable")].tolist()
        typical = list(dict.fromkeys(chain(medoids[:n], order[: 2 * n])))[:n]
        taken = set(typical)
        return typical, [i for i in order[::-1][: 2 * n] if i not in taken][:n]

    def _centre(self, s: SuperInstance) -> FloatArray:
        """The centroid, where it is one of points like the rows; else the medoid."""
        return s.centroid if np.shape(s.centroid) == self._X.shape[1:] else self._X[s.representative]

    def _suggestion(self, cluster: Cluster) -> str:
        by = {"table": self._by_columns, "text": self._by_words}.get(self.cards.kind)
        return "" if by is None else by(cluster)

    def _by_columns(self, cluster: Cluster) -> str:
        """The two columns in which it stands out most: "high length, low width"."""
        sizes = np.array([len(s) for s in cluster.super_instances], float)
        mean: FloatArray = sizes @ np.array([s.centroid for s in cluster.super_instances]) / sizes.sum()
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = np.nan_to_num((mean - self._mean) / self._spread, posinf=0, neginf=0)
        columns = self.cards.dataset.columns
        told = [c for c in np.argsort(-np.abs(apart))[:2] if abs(apart[c]) >= NOTABLE and c < len(columns)]
        return ", ".join(f"{'high' if apart[c] > 0 else 'low'} {columns[c]}" for c in told)

    def _by_words(self, cluster: Cluster) -> str:
        """The words that it has more often than the rest: "goal, team, season"."""
        if self._share is None:
            self._share = self._shares(np.arange(len(self.cards.dataset)))
        share, rest = self._shares(_some(cluster)), self._share
        score = {w: p * np.log(p / max(rest.get(w, 0.0), p / 100)) for w, p in share.items() if p >= 0.1}
        return ", ".join(sorted(score, key=lambda word: (-score[word], word))[:3])

    def _shares(self, rows: IndexArray) -> dict[str, float]:
        """In which share of the texts each word occurs."""
        read = rows[:: 1 + len(rows) // N_READ].tolist()
        counts = Counter(
            chain.from_iterable(set(WORD.findall(self.cards.text(i)[:2_000].lower())) for i in read)
        )
        return {word: count / len(read) for word, count in counts.items()}


def _some(cluster: Cluster) -> IndexArray:
    """Members of a cluster: all of them, or as many as are looked at, evenly spaced."""
    members = np.concatenate([s.members for s in cluster.super_instances])
    chosen: IndexArray = members[:: 1 + len(members) // N_LOOKED_AT]
    return chosen
