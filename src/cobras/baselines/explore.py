"""Explore-Consolidate (Basu, Banerjee & Mooney, 2004) and Min-Max (Mallapragada, Jin & Jain, 2008).

Explore visits the instance farthest from all visited ones until every cluster has a neighbourhood. Then
Explore-Consolidate places random instances, and Min-Max the instance that is least similar to all placed ones.
Min-Max's Gaussian kernel falls with the distance, so distances alone decide; its width, which would only make far
instances indistinguishable, is left out.

Both were meant to collect constraints for one clustering at the end. Here the clusterer is run again after each
placed instance, from scratch, so that a person sees a result and a curve can be drawn: each report is what one
would have got by ending there.

Departures: the neighbourhoods are asked in the order of their distance while exploring, too; an instance that
belongs to none of `n_clusters` neighbourhoods founds one more; answers of an unfinished round are not lost.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cobras.baselines.neighbourhoods import (
    Choose,
    ClustererName,
    Clustering,
    ConstrainedClusterer,
    Neighbourhoods,
    count,
    random,
    rounds,
)
from cobras.core.constraints import Constraints
from cobras.core.types import FloatArray, IndexArray
from cobras.methods.protocol import Steps
from cobras.spaces.base import Space, digest


def explore_consolidate(
    space: Space,
    constraints: Constraints,
    seed: int,
    *,
    n_clusters: int | None = None,
    clusterer: ConstrainedClusterer | ClustererName = "mpckmeans",
    infer_last: bool = True,
) -> Steps:
    """Find one member of each cluster, farthest first; then place random instances.

    Parameters
    ----------
    n_clusters : int, optional
        The number of clusters; needed unless the clusterer has it.
    clusterer : "mpckmeans", "cosc" or an object with ``fit(X, must_link=, cannot_link=)``
        What clusters under the constraints, anew after each placed instance.
    infer_last : bool
        Where there are `n_clusters` neighbourhoods, an instance that is in none but the last is in the last,
        and that is not asked. Wrong where there are more clusters than that.
    """
    k = count("explore_consolidate", clusterer, n_clusters)
    farthest = FarthestFirst()

    def choose(
        neighbourhoods: Neighbourhoods, rows: IndexArray, clustering: Clustering
    ) -> tuple[int, Iterable[int]]:
        groups, X = neighbourhoods.groups, clustering.space.X
        if len(groups) < k:
            return farthest(neighbourhoods, rows, clustering)
        x = int(random(seed, digest(rows)).choice(rows))
        centroids = [X[group].mean(axis=0, dtype=np.float64) for group in groups]
        return x, np.argsort(_distances(np.array(centroids), X[x]), kind="stable").tolist()

    return _rounds(space, constraints, seed, choose, clusterer, k, infer_last)


def min_max(
    space: Space,
    constraints: Constraints,
    seed: int,
    *,
    n_clusters: int | None = None,
    clusterer: ConstrainedClusterer | ClustererName = "mpckmeans",
    infer_last: bool = True,
) -> Steps:
    """Place the instance whose largest similarity to all placed ones is smallest.

    Parameters
    ----------
    n_clusters, clusterer, infer_last
        As in `explore_consolidate`.
    """
    k = count("min_max", clusterer, n_clusters)
    return _rounds(space, constraints, seed, FarthestFirst(), clusterer, k, infer_last)


class FarthestFirst:
    """Picks the instance farthest from all visited ones; its neighbourhoods in the order of their nearest members.

    An instance counts as visited once it is in a neighbourhood or the person was unsure about it. One row of
    distances is taken for each visited instance, O(n d).
    """

    def __init__(self) -> None:
        self._visited: set[int] = set()
        self._nearest: FloatArray = np.empty(0)

    def __call__(
        self, neighbourhoods: Neighbourhoods, rows: IndexArray, clustering: Clustering
    ) -> tuple[int, Iterable[int]]:
        """The instance, and the neighbourhoods in the order in which it is asked."""
        X = clustering.space.X
        if not self._visited:
            self._nearest = np.full(len(X), np.inf)
        visited = set(neighbourhoods.train.tolist()) - set(neighbourhoods.candidates().tolist())
        for i in visited - self._visited:
            np.minimum(self._nearest, _distances(X, X[i]), out=self._nearest)
        self._visited |= visited
        x = int(rows[self._nearest[rows].argmax()])
        away = [_distances(X[group], X[x]).min() for group in neighbourhoods.groups]
        return x, np.argsort(away, kind="stable").tolist()


def _rounds(
    space: Space,
    constraints: Constraints,
    seed: int,
    choose: Choose,
    clusterer: ConstrainedClusterer | ClustererName,
    n_clusters: int,
    infer_last: bool,
) -> Steps:
    return rounds(
        space,
        constraints,
        seed,
        choose,
        clusterer=clusterer,
        n_clusters=n_clusters,
        infer_last=infer_last,
        warm=False,
    )


def _distances(rows: FloatArray, point: FloatArray) -> FloatArray:
    """Squared, since only their order matters."""
    away = rows - point
    squared: FloatArray = np.einsum("ij,ij->i", away, away)
    return squared
