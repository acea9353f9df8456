"""Clusterers under must-links and cannot-links; here, how NPU and its kind run one again after each round."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any, Literal, Protocol, TypeAlias, get_args

import numpy as np

from cobras.core.constraints import Constraints
from cobras.core.exceptions import InvalidDataError
from cobras.core.partition import Partition
from cobras.core.types import IndexArray
from cobras.spaces.base import VectorSpace, digest

ClustererName: TypeAlias = Literal["mpckmeans", "cosc"]


class ConstrainedClusterer(Protocol):
    """Anything that clusters under must-links and cannot-links; with `init_labels` in `fit` it can start warm."""

    labels_: Any

    def fit(self, X: Any, *, must_link: Any, cannot_link: Any) -> Any:
        """Cluster X, given pairs of row numbers, and keep the result in `labels_`."""


Clusterer: TypeAlias = ConstrainedClusterer | ClustererName


class Clustering:
    """The results of a constrained clusterer, kept in the memo of the space.

    Attributes
    ----------
    partition : Partition
        The clustering after the last `update`.
    state : bytes
        A fingerprint of all that led to it: the seed and key of whatever is derived from it.
    """

    partition: Partition

    def __init__(
        self, space: VectorSpace, clusterer: Clusterer, n_clusters: int | None, seed: int, *, warm: bool
    ) -> None:
        from sklearn.base import clone

        self.space, self.seed, self.warm = space, seed, warm
        # One clone for all rounds: COSC keeps the graph of the rows on it.
        self.model: Any = clone(find_clusterer(clusterer, n_clusters), safe=False)
        settings = self.model.get_params(deep=False) if hasattr(self.model, "get_params") else {}
        self.draws_seed = settings.get("random_state", 0) is None
        k = settings.get("n_clusters")
        self.n_clusters = int(k) if isinstance(k, (int, np.integer)) else None
        name: object = (clusterer, n_clusters)
        if not isinstance(clusterer, str):
            name = id(clusterer)
            # The memo keeps the object alive, so that no other one gets its id.
            space.memo["clusterer", name] = clusterer
        self.key = ("clustering", name, seed, warm)
        self._given: bytes | None = None
        self.state = b""

    def update(self, constraints: Constraints) -> Partition:
        """Cluster under these constraints, from the clustering before if the clusterer takes `init_labels`."""
        given = digest(*constraints.pairs())
        if given != self._given:
            # A warm result depends on all clusterings before it, a cold one on its constraints alone.
            self.state = digest(self.state, given) if self.warm else given
            key = (*self.key, self.state)
            if key not in self.space.memo:
                self.space.memo[key] = self.space.partition(self._labels(constraints))
            self.partition = self.space.memo[key]
            self._given = given
        return self.partition

    def _labels(self, constraints: Constraints) -> IndexArray:
        if self.space.n == 1:
            return np.zeros(1, dtype=np.int64)
        model = self.model
        if self.draws_seed:
            model.set_params(random_state=int(state_random(self.seed, self.state).integers(2**31)))
        linked = {i for pair, _ in constraints for i in pair}
        # The must-links leave no more clusters than there are components.
        most = self.space.n - len(linked) + len({constraints.component(i) for i in linked})
        if self.n_clusters is not None:
            model.set_params(n_clusters=min(self.n_clusters, most))
        must_link, cannot_link = constraints.pairs()
        links: dict[str, Any] = {"must_link": must_link, "cannot_link": cannot_link}
        warm = self.warm and self._given is not None and self.partition.n_clusters <= most
        if warm and "init_labels" in inspect.signature(model.fit).parameters:
            links["init_labels"] = self.partition.labels
        return np.asarray(model.fit(self.space.X, **links).labels_)


def find_clusterer(clusterer: Clusterer, n_clusters: int | None) -> ConstrainedClusterer:
    """A clusterer by its name, with so many clusters; or as it is."""
    known = isinstance(clusterer, str) and clusterer in get_args(ClustererName)
    if not known and not _takes_links(clusterer):
        raise InvalidDataError(
            f"There is no clusterer {clusterer!r}. Use 'mpckmeans', 'cosc', or an object with "
            "fit(X, must_link=, cannot_link=)."
        )
    if not isinstance(clusterer, str):
        return clusterer
    k = find_n_clusters(f"The clusterer {clusterer!r}", clusterer, n_clusters)
    if clusterer == "cosc":
        from cobras.baselines.clusterers.cosc import COSC

        return COSC(k, preset="fast")
    from cobras.baselines.clusterers.mpckmeans import MPCKMeans

    return MPCKMeans(k)


def _takes_links(clusterer: object) -> bool:
    try:
        inspect.signature(clusterer.fit).bind("X", must_link=(), cannot_link=())  # type: ignore[attr-defined]
    except (AttributeError, TypeError, ValueError):
        return False
    return True


def find_n_clusters(method: str, clusterer: Clusterer, n_clusters: int | None) -> int:
    """The number of clusters, as given or as the clusterer has it; an error that names the method if neither is."""
    k = n_clusters or getattr(clusterer, "n_clusters", None)
    if k is None:
        raise InvalidDataError(
            f"{method} needs the number of clusters. Give n_clusters, or a clusterer that has it."
        )
    return int(k)


def state_random(seed: int, state: Iterable[int]) -> np.random.Generator:
    """Random numbers that belong to a state of the search alone, whatever was drawn before."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(state)))
