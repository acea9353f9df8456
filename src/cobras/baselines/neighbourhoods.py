"""What NPU, Explore-Consolidate and Min-Max share: neighbourhoods, and rounds that each place one instance.

A *neighbourhood* is a set of training instances known to belong together, and known to be apart from every other
neighbourhood. A round picks an instance outside of all of them, asks it against one member of each until its place
is known, and clusters anew with all constraints. The three methods differ in which instance they pick and in which
order they ask, and in nothing else.

Neighbourhoods are read from the constraints at the start of each round, whoever gave them: what a person
volunteers, or answered before a change of mind, places instances without a question. An instance about which the
person is unsure is left alone until something settles the doubt.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable
from typing import Any, Literal, Protocol, TypeAlias, get_args

import numpy as np

from cobras.core.constraints import Constraints
from cobras.core.exceptions import InvalidDataError
from cobras.core.partition import Partition
from cobras.core.types import Answer, IndexArray, Pair
from cobras.methods.protocol import N_TRIES, Reconsider, Step, Steps, ask
from cobras.spaces.base import Space, VectorSpace, digest

ClustererName: TypeAlias = Literal["mpckmeans", "cosc"]


class ConstrainedClusterer(Protocol):
    """Anything that clusters under must-links and cannot-links; with `init_labels` in `fit` it can start warm."""

    labels_: Any

    def fit(self, X: Any, *, must_link: Any, cannot_link: Any) -> Any:
        """Cluster X, given pairs of row numbers, and keep the result in `labels_`."""


Choose: TypeAlias = Callable[["Neighbourhoods", IndexArray, "Clustering"], tuple[int, Iterable[int]]]


class Neighbourhoods:
    """Sets of training instances known to belong together, each known to be apart from the others.

    Attributes
    ----------
    groups : list of list of int
        The members of each neighbourhood in the order in which they joined.
    known : Constraints
        The answers, and what `place` inferred from the number of clusters as far as no answer contradicts it.
    """

    def __init__(self, train: IndexArray, first: int, constraints: Constraints) -> None:
        self.train, self.constraints = train, constraints
        self.groups = [[first]]
        self.known = constraints
        self._inferred: list[Pair] = []
        self._may_be_shown = set(train.tolist())

    def refresh(self) -> None:
        """Read the neighbourhoods from the constraints; an instance apart from all of them founds a new one."""
        self._infer_again()
        relation, component = self.known.relation, self.known.component
        groups: list[list[int]] = []
        for old in self.groups:
            if all(relation(old[0], group[0]) is Answer.DIFFERENT for group in groups):
                groups.append([i for i in old if relation(old[0], i) is Answer.SAME])
        home = {component(group[0]): group for group in groups}
        placed = {i for group in groups for i in group}
        for i in sorted({i for pair, _ in self.known for i in pair} & self._may_be_shown - placed):
            if component(i) in home:
                home[component(i)].append(i)
            elif all(relation(i, group[0]) is Answer.DIFFERENT for group in groups):
                groups.append(home.setdefault(component(i), [i]))
        self.groups = groups

    def _infer_again(self) -> None:
        """Drop what was inferred and turned out to be wrong, because there are more clusters than was said."""
        self.known = self.constraints
        if not self._inferred:
            return
        self.known = Constraints()
        for (i, j), answer in self.constraints:
            self.known.add(i, j, answer)
        inferred, self._inferred = self._inferred, []
        for i, j in inferred:
            if self.known.relation(i, j) is not Answer.DIFFERENT:
                self.known.add(i, j, Answer.SAME)
                self._inferred.append(Pair(i, j))

    def candidates(self) -> IndexArray:
        """Training instances outside of all neighbourhoods whose place the person has not been unsure about."""
        out = {i for group in self.groups for i in group}
        doubts = [(x, v) for pair in self.constraints.set_aside for x, v in (pair, pair[::-1]) if v in out]
        out.update(x for x, v in doubts if self.known.relation(x, v) is None)
        return self.train[~np.isin(self.train, list(out))]

    def place(
        self, x: int, order: Iterable[int], report: Partition, n_clusters: int | None
    ) -> Generator[Step, Answer, None]:
        """Ask x against the neighbourhoods, in this order, until one takes it.

        Where there can be only as many neighbourhoods as there are, `n_clusters`, the last one is not asked.
        """
        unsure = False
        left = len(self.groups)
        for j in order:
            group = self.groups[j]
            left -= 1
            if not left and not unsure and len(self.groups) == n_clusters:
                self._inferred.append(Pair(x, group[0]))
                return
            pairs = [(x, member) for member in group[:N_TRIES]]
            answer = yield from ask(self.constraints, pairs, report, self.known.relation)
            if answer is Answer.SAME:
                return
            unsure |= answer is Answer.UNSURE


class Clustering:
    """A constrained clusterer at work, whose results are kept in the memo of the space.

    Attributes
    ----------
    partition : Partition
        The clustering after the last `update`.
    state : bytes
        A fingerprint of all that led to it: the seed and key of whatever is derived from it.
    """

    partition: Partition

    def __init__(
        self,
        space: VectorSpace,
        clusterer: ConstrainedClusterer | ClustererName,
        n_clusters: int | None,
        seed: int,
        *,
        warm: bool,
    ) -> None:
        self.space, self.seed, self.warm = space, seed, warm
        self.model = find_clusterer(clusterer, n_clusters)
        name: object = (clusterer, n_clusters)
        if not isinstance(clusterer, str):
            name = id(clusterer)
            space.memo["clusterer", name] = clusterer  # as long as it lives, its id is its own
        self.key = ("clustering", name, seed, warm)
        self._given: bytes | None = None
        self.state = b""

    def update(self, constraints: Constraints) -> Partition:
        """The clustering under these constraints, from the one before if the clusterer takes `init_labels`."""
        given = digest(*constraints.pairs())
        if given != self._given:
            self.state = digest(self.state, given) if self.warm else given
            key = (*self.key, self.state)
            if key not in self.space.memo:
                self.space.memo[key] = self.space.partition(self._labels(constraints))
            self.partition = self.space.memo[key]
            self._given = given
        return self.partition

    def _labels(self, constraints: Constraints) -> IndexArray:
        from sklearn.base import clone

        if self.space.n == 1:
            return np.zeros(1, dtype=np.int64)
        model = clone(self.model, safe=False)
        settings = model.get_params(deep=False) if hasattr(model, "get_params") else {}
        if settings.get("random_state", 0) is None:
            model.set_params(random_state=int(random(self.seed, self.state).integers(2**31)))
        linked = {i for pair, _ in constraints for i in pair}
        most = self.space.n - len(linked) + len({constraints.component(i) for i in linked})
        if isinstance(k := settings.get("n_clusters"), (int, np.integer)) and k > most:
            model.set_params(n_clusters=most)  # the must-links leave no more
        must_link, cannot_link = constraints.pairs()
        links: dict[str, Any] = {"must_link": must_link, "cannot_link": cannot_link}
        warm = self.warm and self._given is not None and self.partition.n_clusters <= most
        if warm and "init_labels" in inspect.signature(model.fit).parameters:
            links["init_labels"] = self.partition.labels
        return np.asarray(model.fit(self.space.X, **links).labels_)


def rounds(
    space: Space,
    constraints: Constraints,
    seed: int,
    choose: Choose,
    *,
    clusterer: ConstrainedClusterer | ClustererName,
    n_clusters: int | None,
    infer_last: bool,
    warm: bool,
) -> Steps:
    """Place one instance after another, as `choose` picks them, and cluster anew after each.

    Inside a round the clustering before it is reported; with the last answer of a round the new one.
    """
    if not isinstance(space, VectorSpace):
        raise InvalidDataError("This method hands all rows to a clusterer, so it needs a table of numbers.")
    train: IndexArray = np.arange(space.n) if space.train is None else np.flatnonzero(space.train)
    first = int(random(seed, b"first").choice(train))
    neighbourhoods = Neighbourhoods(train, first, constraints)
    clustering = Clustering(space, clusterer, n_clusters, seed, warm=warm)
    limit = (n_clusters or getattr(clusterer, "n_clusters", None)) if infer_last else None
    while True:
        try:
            neighbourhoods.refresh()
            report = clustering.update(neighbourhoods.known)
            rows = neighbourhoods.candidates()
            if len(rows) == 0:
                yield Step(None, report)
                continue
            x, order = choose(neighbourhoods, rows, clustering)
            yield from neighbourhoods.place(x, order, report, limit)
        except Reconsider:
            continue


def count(method: str, clusterer: ConstrainedClusterer | ClustererName, n_clusters: int | None) -> int:
    """How many clusters there are: as given, or as the clusterer says."""
    k = n_clusters or getattr(clusterer, "n_clusters", None)
    if k is None:
        raise InvalidDataError(
            f"{method} needs the number of clusters. Give n_clusters, or a clusterer that has it."
        )
    return int(k)


def find_clusterer(
    clusterer: ConstrainedClusterer | ClustererName, n_clusters: int | None
) -> ConstrainedClusterer:
    """A clusterer by its name, with so many clusters; or as it is."""
    if not isinstance(clusterer, str):
        return clusterer
    if clusterer not in get_args(ClustererName):
        raise InvalidDataError(
            f"There is no clusterer {clusterer!r}. Use 'mpckmeans', 'cosc', or an object with "
            "fit(X, must_link=, cannot_link=)."
        )
    k = count(f"The clusterer {clusterer!r}", clusterer, n_clusters)
    if clusterer == "cosc":
        from cobras.baselines.clusterers.cosc import COSC

        return COSC(k, preset="fast")
    from cobras.baselines.clusterers.mpckmeans import MPCKMeans

    return MPCKMeans(k)


def random(seed: int, state: bytes) -> np.random.Generator:
    """Random numbers that belong to a state of the search alone, whatever was drawn before."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(state)))
