"""What is known: the answers and marks as links, groups of instances, and predictions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

import numpy as np

from cobras.core.constraints import Constraints
from cobras.core.partition import Child, Partition, Split, SuperInstance
from cobras.core.threads import one_thread
from cobras.core.types import Answer, BoolArray, FloatArray, IndexArray
from cobras.methods.adder.geometry.points import Parts, Points
from cobras.methods.adder.marks import Marks
from cobras.methods.adder.mixture import Prediction, predict, row_shares
from cobras.methods.adder.predictors import KnownPoints
from cobras.methods.adder.similarity import OPEN, Similarity
from cobras.spaces.base import EmbeddedSpace, VectorSpace, digest
from cobras.spaces.kernels.linkage import join_likely

T = TypeVar("T")

FEW = 10  # answers on which nothing is decided, unless clusters seem to be many
MOST_PARTS = 768  # of the first split; with twice as many, and as many clusters, an answer takes 0.6 s
_measuring = threading.Lock()
NEW = 0.3, 1.0  # new clusters among so many instances, before any is seen


class Inference(NamedTuple):
    """That an instance is in the cluster of another one, and how many instances its answers tied it to then."""

    cluster: int
    n_linked: int


class Options(NamedTuple):
    """The options of `adder` that change what is predicted."""

    n_parts: int
    join: float
    calm: float
    doubt: float
    predictors: tuple[str, ...]


class Knowledge:
    """The points and what is known about them. Every result is a function of the constraints, and memoised.

    The instances that something is known about are called seeds. The points are shared by all runs on a space, in
    whatever thread.
    """

    def __init__(
        self,
        space: VectorSpace | EmbeddedSpace,
        constraints: Constraints,
        seed: int,
        options: Options,
        parts: Parts | None = None,
    ) -> None:
        self.constraints = constraints
        self._memo = space.memo
        self._options = options
        self._seed = seed
        key = ("adder", seed, options.n_parts, parts)
        # Two threads may want them: whoever thinks ahead, and a person who answers before it is through.
        with _measuring:
            if key not in space.memo:
                space.memo[key] = Points(space, seed, options.n_parts, parts)
        self.points: Points = space.memo[key]
        self._start: tuple[object, ...] = (self.points, options)
        self.first_parts: Sequence[SuperInstance] = self.points.first_parts
        # After rows were added: these rows, how many were placed, and what is believed until the next answer.
        self._new: Sequence[int] = ()
        self._n_placed = 0
        self._held: tuple[object, Prediction] | None = None
        self.tried: set[int] = set()  # instances that were compared with all clusters that were likely
        # Instances that are taken to be in the cluster of another one, since they differ from the other clusters.
        self.inferred: dict[int, Inference] = {}
        self._marks = Marks(constraints, self.points)
        self._last: dict[str, tuple[object, Any]] = {}
        self._version: tuple[object, tuple[object, ...]] | None = None

    @property
    def is_held(self) -> bool:
        """Whether rows were added and nothing was answered since."""
        return self._held is not None and self._held[0] == self._key()

    def is_too_coarse(self, share: float = 0.5) -> bool:
        """Whether more than this share of the first parts are clusters of their own, and may be split further."""
        known = self._prediction().known
        medoids = self.points.of([part.representative for part in self.first_parts])
        n_clusters = len(np.unique(known.clusters[np.isin(known.points, medoids)]))
        twice = 2 * len(self.first_parts)
        return n_clusters > share * len(self.first_parts) and twice <= min(self.points.n, MOST_PARTS)

    def split_finer(self) -> bool:
        """Split everything into twice as many first parts, if they are too coarse."""
        finer = self.points.split(2 * len(self.first_parts)) if self.is_too_coarse() else []
        # Fewer than twice as many where rows are equal, or where a part would hold no row that may be shown.
        if len(finer) <= len(self.first_parts):
            return False
        self.first_parts = finer
        return True

    def relation(self, i: int, j: int) -> Answer | None:
        """What the answers and marks imply, with what was inferred."""
        return self.links.relation(i, j)

    @property
    def links(self) -> Constraints:
        """The answers, marks and inferences as links; only answers are among the constraints."""
        if not self._marks and not self.inferred:
            return self.constraints

        def make() -> Constraints:
            links = self._marks.links(self.seeds())
            for i, j in self.inferences().items():
                if links.relation(i, j) is None:
                    links.add(i, j, Answer.SAME)
            return links

        return self._latest(make, "links")

    def infer(self, instance: int, cluster: int) -> None:
        """Take an instance to be in the cluster of another one, until an answer ties it to any."""
        self.inferred[instance] = Inference(cluster, len(self.constraints.members(instance)))

    def inferences(self) -> dict[int, int]:
        """What was inferred and still holds: answers since then have tied the instance to nothing else."""
        make = lambda: {  # noqa: E731
            i: found.cluster
            for i, found in self.inferred.items()
            if len(self.constraints.members(i)) == found.n_linked
        }
        return self._latest(make, "inferences")

    def seeds(self) -> list[int]:
        """The instances that something is known about, and the representatives of the first parts."""
        make = lambda: sorted(self.answered_instances() | {p.representative for p in self.first_parts})  # noqa: E731
        return self._latest(make, "seeds")

    def open_seeds(self) -> list[int]:
        """The seeds that questions may be about: not those in complete clusters."""
        seeds, in_complete = self.seeds(), self._in_complete()
        return [i for i, out in zip(seeds, in_complete[self.points.of(seeds)], strict=True) if not out]

    def answered_instances(self) -> set[int]:
        """The instances that take part in an answer that is in force."""
        return set(self.constraints.rows())

    def settled_instances(self) -> list[int]:
        """Those of them that the answers put where they are: their place is not just inferred."""
        return sorted(self.answered_instances() - self.inferences().keys())

    def chance_of_new_cluster(self) -> float:
        """How likely the next instance is in none of the known clusters."""
        # As Good and Turing: the share of the instances so far that were the only ones of their clusters.
        known = self._known()
        n_answered = np.bincount(known.clusters, known.is_answered)
        return float((np.count_nonzero(n_answered == 1) + NEW[0]) / (n_answered.sum() + NEW[1]))

    def _in_complete(self) -> BoolArray:
        return self._marks.inside(complete_only=True)

    def _apart(self) -> BoolArray:
        """Which two components are different, or the same."""

        def make() -> BoolArray:
            links, roots = self.links, self._roots()
            apart = np.eye(len(roots), dtype=bool)
            number = {root: x for x, root in enumerate(roots)}
            for x, root in enumerate(roots):
                apart[x, [number[other] for other in links.apart_from(root)]] = True
            return apart

        return self._latest(make, "apart")

    def _known(self) -> KnownPoints:
        """All seeds with their must-link components as clusters."""
        return self._latest(lambda: self._known_points(self.seeds()), "known")

    def _known_points(self, seeds: list[int]) -> KnownPoints:
        """These instances with their must-link components as clusters."""
        roots = list(map(self.links.component, seeds))
        number = {root: x for x, root in enumerate(dict.fromkeys(roots))}
        answered = self.answered_instances()
        return KnownPoints(
            self.points.of(seeds),
            np.array([number[root] for root in roots]),
            np.array([i in answered for i in seeds]),
        )

    def _prediction(self) -> Prediction:
        """All seeds with their clusters, and how likely each cluster is for every point."""

        def make() -> Prediction:
            known = self._groups()
            found = predict(self.points, known, self._options.predictors)
            p, complete = found.p, np.unique(known.clusters[self._in_complete()[known.points]])
            if len(complete):
                # A last column is for the points that could only be in complete clusters.
                nowhere = np.full((len(p), 1), float(len(complete) == p.shape[1]))
                p[:, complete] = 0
                p = row_shares(np.hstack([p, nowhere]))
            return found._replace(p=p)

        if self._held is not None and self.is_held:
            return self._held[1]
        return self._latest(make, "prediction")

    def _roots(self) -> list[int]:
        """The must-link components of the seeds, by root, in the order of their numbers in `_known`."""
        make = lambda: list(dict.fromkeys(map(self.links.component, self.seeds())))  # noqa: E731
        return self._latest(make, "roots")

    def _similarity(self) -> Similarity:
        return self._latest(lambda: Similarity(self.points, self.constraints), "similarity")

    def _similarities(self) -> FloatArray:
        """How likely each two seeds are in the same cluster, by their similarity."""
        at = self.points.of(self.seeds())
        return self._latest(lambda: self._similarity().probabilities(at), "similarities")

    def _component_similarities(self) -> tuple[list[int], FloatArray]:
        """The must-link components, by root, and how likely each two are the same cluster."""

        def make() -> tuple[list[int], FloatArray]:
            known = self._known()
            roots = self._roots()
            sums = sums_between(self._similarities(), known.clusters, len(roots))
            size = np.bincount(known.clusters)
            return roots, sums / (size[:, None] * size)

        return self._latest(make, "components")

    def _chances(self) -> FloatArray:
        """How likely each two components are the same, also where similarity speaks against it."""
        p = self._component_similarities()[1]
        far_same = self._similarity().far_same if len(self.constraints) >= FEW else 0.0
        return np.where(p < OPEN, far_same, np.where(p > 1 - OPEN, 1.0, p))

    def _groups(self) -> KnownPoints:
        """All seeds, with components joined that are probably one cluster."""
        known = self._known()
        _, p = self._component_similarities()
        apart = self._apart().copy()
        complete = known.clusters[self._in_complete()[known.points]]
        apart[complete], apart[:, complete] = True, True
        size = np.bincount(known.clusters).astype(np.float64)
        group = join_likely(np.where(apart, -1.0, p), size, self._options.join)
        number = np.unique(group, return_inverse=True)[1]
        return known._replace(clusters=number[known.clusters])

    def _key(self) -> tuple[object, ...]:
        """What every result depends on: the answers in force, the marks, what was inferred, and the first parts."""
        inferred = tuple(self.inferred.items())
        version = (self.constraints.n_changes, len(self.first_parts), self._marks.key, inferred)
        if self._version is None or self._version[0] != version:
            said = [(*pair, answer) for pair, answer in self.constraints]
            codes = np.array(sorted(said), dtype=np.int64)
            self._version = version, (*self._start, digest(codes), *version[1:])
        return self._version[1]

    def _memoise(self, make: Callable[[], T], *what: object) -> T:
        """What was made before under the same conditions, in whatever run on this space, or is made now."""
        key = (*self._key(), *what)
        if key not in self._memo:
            with one_thread():
                self._memo[key] = make()
        found: T = self._memo[key]
        return found

    def _latest(self, make: Callable[[], T], what: str) -> T:
        """The same, but only the last result is kept, where all would take much memory."""
        key = self._key()
        if what not in self._last or self._last[what][0] != key:
            with one_thread():
                self._last[what] = key, make()
        found: T = self._last[what][1]
        return found


def with_nodes(partition: Partition) -> Partition:
    """A clustering in which every super-instance is a node that can be split."""
    return Partition(tuple(tuple(map(as_node, group)) for group in partition.groups))


def sums_between(values: FloatArray | BoolArray, groups: IndexArray, n_groups: int) -> FloatArray:
    """The sums of a square table over the rows of each group and the columns of each group.

    Examples
    --------
    >>> sums_between(np.arange(9.0).reshape(3, 3), np.array([2, 0, 2]), 3)
    array([[ 4.,  0.,  8.],
           [ 0.,  0.,  0.],
           [ 8.,  0., 16.]])
    """
    # Rows and columns of a group stand side by side, which is many times as fast as products with its members.
    order = np.argsort(groups, kind="stable")
    used, starts = np.unique(groups[order], return_index=True)
    rows = np.add.reduceat(values[order][:, order], starts, 0, dtype=np.float64)
    sums = np.zeros((n_groups, n_groups))
    sums[np.ix_(used, used)] = np.add.reduceat(rows, starts, 1)
    return sums


def as_node(s: SuperInstance) -> SuperInstance:
    """A super-instance with a place in the split tree, if it has none: its random numbers depend on its members."""
    return s if s.path else replace(s, path=(Child(Split(0, draw=crc32(s.members.tobytes())), 0),))
