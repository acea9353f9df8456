"""What a method is: a generator that yields a `Step` and receives an `Answer`.

    def my_method(space, constraints, seed, *, my_option=3):
        ...
        answer = yield Step(Pair(i, j), partition)
        constraints.add(i, j, answer)

What sessions, and the laws in the tests, rely on:

* Its keyword-only arguments are its options. They have defaults, and values that fit into JSON.
* It adds every answer to the constraints before it yields the next step; `ask` does so.
* It draws all randomness from `seed` and depends on nothing but its arguments and the answers: undo and resume are
  replay, and a replay must ask the same questions.
* It knows no budget and counts nothing. Whoever runs it stops by closing it, at any step.
* It does not return. When nothing is left worth asking, it yields a step without a pair.
* When the person adds a constraint or a mark without being asked, the session puts it into `constraints` and throws
  `Reconsider` into the method, at the `yield` where it waits. The method looks at the constraints again and yields
  its next step. One that does not catch `Reconsider` is started again by the session, with all constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Literal, Never, TypeAlias

from cobras.core.constraints import Constraints
from cobras.core.partition import Partition, SuperInstance
from cobras.core.types import Answer, Pair
from cobras.spaces.base import Space

Branch: TypeAlias = Literal["random", "smallest", "largest"]
FirstIteration: TypeAlias = Literal["partial", "unmerged", "single", "eager"]
Representative: TypeAlias = Literal["first", "closest"]
Reuse: TypeAlias = Literal["transitive", "exact", "reference"]
SplitFallback: TypeAlias = Literal["train_only", "none"]

# After this many pairs of representatives that a person is unsure about, two clusters are not asked about any more.
N_TRIES = 3


@dataclass(frozen=True, slots=True)
class Step:
    """The next question, and the clustering a person would get by stopping now."""

    pair: Pair | None
    partition: Partition


Steps: TypeAlias = Generator[Step, Answer, Never]
Method: TypeAlias = Callable[..., Steps]


class Reconsider(Exception):  # noqa: N818  (a signal, not an error)
    """The constraints or the marks have changed otherwise than by an answer."""


@dataclass(frozen=True, slots=True)
class Variant:
    """What the papers on COBRA and COBRAS leave open, or the authors' code does otherwise; see `cobras`."""

    branch: Branch = "random"
    first_iteration: FirstIteration = "partial"
    reuse: Reuse = "transitive"
    split_fallback: SplitFallback = "train_only"
    representative: Representative = "first"
    max_level: int | None = None


def ask(
    constraints: Constraints,
    pairs: Iterable[tuple[int, int]],
    partition: Partition,
    known: Callable[[int, int], Answer | None],
) -> Generator[Step, Answer, Answer]:
    """Ask the first of the pairs and, while the person is unsure, the next; what is known is not asked."""
    for i, j in pairs:
        answer = known(i, j)
        if answer is None and Pair(i, j).ordered not in constraints.set_aside:
            answer = yield Step(Pair(i, j), partition)
            constraints.add(i, j, answer)
        if answer is not None and answer is not Answer.UNSURE:
            return answer
    return Answer.UNSURE


def representative_pairs(space: Space, a: SuperInstance, b: SuperInstance) -> Iterable[tuple[int, int]]:
    """The medoids of two super-instances, then their next best representatives."""
    yield a.representative, b.representative
    # Only an unsure person needs more than the medoids, and finding them costs a pass over the members.
    of_a, of_b = space.representatives(a, N_TRIES), space.representatives(b, N_TRIES)
    for rank in range(1, max(len(of_a), len(of_b))):
        yield of_a[min(rank, len(of_a) - 1)], of_b[min(rank, len(of_b) - 1)]
