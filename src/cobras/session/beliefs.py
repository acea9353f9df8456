"""How sure a session is of its clusters, about its own rows and about new ones.

As sure as its method is. For a method without beliefs, the distances to super-instances stand in. These are the
super-instances of the clustering that is shown, so what was moved or merged by hand counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cobras.core.checks import as_new_rows
from cobras.core.constraints import Constraints, Marked
from cobras.core.exceptions import InvalidDataError
from cobras.core.partition import Partition
from cobras.core.progress import overlap
from cobras.core.threads import one_thread
from cobras.core.types import Answer, FloatArray, LabelArray
from cobras.methods.newcomers import grow_partition
from cobras.methods.protocol import ANSWERED, Growth, Step
from cobras.spaces.base import RemoteSpace, Space, VectorSpace
from cobras.spaces.nearest import LabelledCentroids

if TYPE_CHECKING:
    from cobras.spaces.growth import GrownSpace


class ShownStep(NamedTuple):
    """What a person sees.

    Attributes
    ----------
    step : Step
        The step at which the method waits.
    partition : Partition
        Its clustering, with moves and merges on top.
    moved : frozenset of int
        The rows that were moved by hand.
    """

    step: Step
    partition: Partition
    moved: frozenset[int]

    def is_like(self, other: ShownStep) -> bool:
        """Whether nothing has changed; beliefs may hold arrays, which cannot be compared as a whole."""
        same = self.step is other.step and self.partition is other.partition
        return same and self.moved == other.moved


def settled_rows(constraints: Constraints, labels: LabelArray) -> list[int]:
    """The rows of answers in force with which the clustering agrees, all of them."""
    against = {
        row
        for pair, answer in constraints
        if (answer is Answer.SAME) != (labels[pair[0]] == labels[pair[1]])
        for row in pair
    }
    return [row for row in constraints.rows() if row not in against]


def confidence(shown: ShownStep, space: Space, labels: LabelArray, settled: Sequence[int]) -> FloatArray:
    """How sure it is that every row is in the cluster of its label; `settled` rows are there by the answers."""
    if shown.step.beliefs is not None:
        # Of rows of a cluster that was merged by hand this is less than all: the method knows what was merged, and
        # one that has beliefs will show it.
        found = np.array(shown.step.beliefs.confidence(), np.float32)
        _check_shape("confidence()", found, (space.n,))
    elif isinstance(space, VectorSpace):
        found = LabelledCentroids.of(shown.partition).confidence(space.X, labels)
        # Distances do not know what was answered.
        found[settled] = np.maximum(found[settled], ANSWERED)
    else:
        raise InvalidDataError(
            "How sure it is of a row is known only where all rows are numbers in memory. Without them, labels_ is "
            "all there is."
        )
    found[list(shown.moved)] = 1
    return found


def probabilities(shown: ShownStep, space: Space, X: Any, names: tuple[str, ...] | None) -> FloatArray:
    """The probability of every cluster for new rows."""
    if not isinstance(space, (VectorSpace, RemoteSpace)):
        raise InvalidDataError(
            "New rows can be compared with rows of numbers only, not with series or a space of your own. Cluster "
            "all of them, new ones included."
        )
    centroids = LabelledCentroids.of(shown.partition)
    rows = as_new_rows(X, centroids.centroids.shape[1], names)
    if shown.step.beliefs is None:
        return centroids.probabilities(rows)
    base = shown.step.partition
    found = np.asarray(shown.step.beliefs.predict_proba(rows))
    _check_shape("predict_proba(X)", found, (len(rows), base.n_clusters))
    if shown.partition is base:
        return found
    # Each cluster of the method is shown as the one that most of its rows are in.
    joined = np.zeros((len(rows), shown.partition.n_clusters), found.dtype)
    for number, target in enumerate(overlap(base, shown.partition).argmax(axis=1)):
        joined[:, target] += found[:, number]
    return joined


def growth_of(step: Step, constraints: Constraints, old: Space, space: GrownSpace) -> Growth:
    """What becomes of the clustering of a step; the same objects for the same step."""
    base = step.partition
    marked = constraints.pure | constraints.complete.keys() | constraints.to_split.keys()
    # A mark is where its row is: the super-instance that it names may have been another one.
    cluster = base.clusters_of(row for row, _ in constraints.complete)
    complete = {cluster[row]: number for (row, _), number in constraints.complete.items()}
    # What a method believes is known by its partition, of which it makes one for each state.
    believed = None if step.beliefs is None else base
    key: Any = ("growth", base.groups, believed, frozenset(marked), frozenset(complete))
    if key not in space.memo:
        shown = ShownStep(step, base, frozenset())
        with one_thread():
            likely = probabilities(shown, old, space.rows, None)
        # A method with beliefs is unsure of rows that are far away; without them only distances are compared.
        sees_far = step.beliefs is not None
        keep = {*base.super_instances_of(row for row, _ in marked).values()}
        given = base, space, likely, keep, complete
        space.memo[key] = grow_partition(*given, sees_far=sees_far)
    growth: Growth = space.memo[key]
    for at, number in complete.items():
        for s in growth.partition.clusters[at].super_instances:
            if s in growth.added:
                constraints.complete[s.mark] = number
                constraints.marked[s.mark] = Marked(s, number)
    return growth


def _check_shape(call: str, found: FloatArray, shape: tuple[int, ...]) -> None:
    if found.shape != shape:
        raise InvalidDataError(
            f"The method believes in an array of shape {found.shape}, but {call} must have {shape}."
        )
