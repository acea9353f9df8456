"""How a method speaks: it yields a `Step` and receives an `Answer`.

A method never ends by itself. A step without a pair says that nothing is left worth asking; `Reconsider`, thrown
into the method when the person volunteers a constraint or marks a cluster, may wake it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Literal, Never, TypeAlias

from cobras.core.constraints import Constraints
from cobras.core.partition import Partition, SuperInstance
from cobras.core.types import Answer, Pair
from cobras.spaces.base import Space

Reuse: TypeAlias = Literal["transitive", "exact", "reference"]
Representative: TypeAlias = Literal["first", "closest"]


@dataclass(frozen=True, slots=True)
class Step:
    """The next question, and the clustering a person would get by stopping now."""

    pair: Pair | None
    partition: Partition


Steps: TypeAlias = Generator[Step, Answer, Never]
Method: TypeAlias = Callable[..., Steps]

N_TRIES = 3  # pairs of representatives shown before an unsure person is left in peace


class Reconsider(Exception):  # noqa: N818  (a signal, not an error)
    """The constraints or the marks have changed otherwise than by an answer."""


def ask(
    constraints: Constraints,
    pairs: Iterable[tuple[int, int]],
    partition: Partition,
    known: Callable[[int, int], Answer | None],
) -> Generator[Step, Answer, Answer]:
    """Ask the first of the pairs and, while the person is unsure, the next; what is known costs no query."""
    for i, j in pairs:
        answer = known(i, j)
        if answer is None and Pair(i, j).ordered not in constraints.set_aside:
            answer = yield Step(Pair(i, j), partition)
            constraints.add(i, j, answer)
        if answer is not None and answer is not Answer.UNSURE:
            return answer
    return Answer.UNSURE


def tries(space: Space, a: SuperInstance, b: SuperInstance) -> Iterable[tuple[int, int]]:
    """The medoids of two super-instances, then their next best representatives."""
    yield a.representative, b.representative
    near, far = space.representatives(a, N_TRIES), space.representatives(b, N_TRIES)
    for rank in range(1, max(len(near), len(far))):
        yield near[min(rank, len(near) - 1)], far[min(rank, len(far) - 1)]
