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
* When the person does something without being asked (a constraint, a mark, a move, a merge, a split), or sorts a
  board in place of answering the pair, the session puts what follows into `constraints` and throws `Reconsider`
  into the method, at the `yield` where it waits. The method looks at the constraints again and yields its next
  step. One that does not catch `Reconsider` is started again by the session, with all constraints.
* It may propose a board with a step; for one that does not, the session makes one from the next questions. It may
  honour `constraints.to_split`. Both are optional, and so is satisfying the constraints that moves and merges make:
  the session shows these in any case (`cobras.core.edits`).
* When rows are added to the data, the session throws `Grown` into it, which brings the space of all rows and a
  clustering of them to go on from. One that does not catch it is started again on that space.
* It may say how sure it is, by `Beliefs`. For one that does not, the session looks at distances to super-instances.
* It may say for how many rows a question is decided, by `Scope`; for one that does not, the session says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Never, Protocol, TypeAlias, runtime_checkable

from cobras.core.board import Board
from cobras.core.constraints import Constraints
from cobras.core.partition import Partition, SuperInstance
from cobras.core.types import Answer, FloatArray, IndexArray, Pair
from cobras.methods.reasons import Scope
from cobras.spaces.base import Space

if TYPE_CHECKING:
    from cobras.spaces.growth import GrownSpace

Branch: TypeAlias = Literal["random", "smallest", "largest"]
FirstIteration: TypeAlias = Literal["partial", "unmerged", "single", "eager"]
Representative: TypeAlias = Literal["first", "closest"]
Reuse: TypeAlias = Literal["transitive", "exact", "reference"]
SplitFallback: TypeAlias = Literal["train_only", "none"]

# After this many pairs of representatives that a person is unsure about, two clusters are not asked about any more.
N_TRIES = 3
ANSWERED = 0.99  # how sure one may be of a row that answers put where it is


class Beliefs(Protocol):
    """How sure a method is of the partition of a step.

    Both functions are called while the method waits at this step, perhaps never and perhaps several times. They
    change nothing, and the same answers give the same numbers.
    """

    def confidence(self) -> FloatArray:
        """Return, for each of the n rows, the probability that it is in the cluster the partition has it in."""

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """Return a row for each new row: a probability for each of `partition.clusters`, in their order; sum 1.

        X is a checked matrix of floats with as many columns as the data.
        """


@runtime_checkable
class Expectation(Beliefs, Protocol):
    """Beliefs that say as well how good the clustering is as a whole.

    A session calls this after every answer, so it must be fast.
    """

    def expected_ari(self) -> float:
        """Return the adjusted Rand index that the partition is expected to have with the true clusters."""


@dataclass(frozen=True, slots=True)
class Step:
    """The next question, and the clustering a person would get by stopping now.

    Attributes
    ----------
    pair : Pair or None
        The two rows to ask about; None when nothing is left worth asking.
    partition : Partition
    board : callable, optional
        Returns the board to be sorted in place of the question, for at most so many cards. It is called at most
        once for each number, while the method waits at this step, and must change nothing.
    beliefs : Beliefs, optional
        How sure the method is of the partition.
    scope : callable, optional
        Returns how many rows each of the two stands for. It is called while the method waits at this step, and
        must change nothing.
    """

    pair: Pair | None
    partition: Partition
    board: Callable[[int], Board] | None = None
    beliefs: Beliefs | None = None
    scope: Callable[[], Scope] | None = None


Steps: TypeAlias = Generator[Step, Answer, Never]
Method: TypeAlias = Callable[..., Steps]


class Reconsider(Exception):  # noqa: N818  (a signal, not an error)
    """The constraints or the marks have changed otherwise than by an answer.

    `partition` is the clustering of the step at which the method waited.
    """

    def __init__(self, partition: Partition | None = None) -> None:
        super().__init__(partition)
        self.partition = partition


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """What becomes of a clustering when rows are added to the data.

    Attributes
    ----------
    partition : Partition
        All rows; the old ones are clustered as before, and each new one is where it most likely belongs.
    replaced : dict of SuperInstance to SuperInstance
        The super-instances that new rows joined, and what they are now.
    added : tuple of SuperInstance
        Those that hold new rows alone.
    pending : tuple of SuperInstance
        Those of them whose place is unsure: they are worth asking about first.
    unsure : array of int
        The new rows whose place is unsure.
    likely : array of shape (n_new, n_clusters)
        How likely each cluster is for each new row.
    """

    partition: Partition
    replaced: Mapping[SuperInstance, SuperInstance]
    added: tuple[SuperInstance, ...]
    pending: tuple[SuperInstance, ...]
    unsure: IndexArray
    likely: FloatArray


class Grown(Exception):  # noqa: N818  (a signal, not an error)
    """Rows were added at the end of the data.

    `partition` is the clustering of the step at which the method waited, `space` has all rows, and `growth` is what
    becomes of the clustering. Not a `Reconsider`: a method that knows only that one would go on with the old rows.
    """

    def __init__(self, partition: Partition, space: GrownSpace, growth: Growth) -> None:
        super().__init__(partition)
        self.partition, self.space, self.growth = partition, space, growth


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
    board: Callable[[int], Board] | None = None,
    beliefs: Beliefs | None = None,
    scope: Callable[[], Scope] | None = None,
) -> Generator[Step, Answer, Answer]:
    """Ask the first of the pairs and, while the person is unsure, the next; what is known is not asked."""
    for i, j in pairs:
        answer = known(i, j)
        if answer is None and not (constraints.set_aside and Pair(i, j).ordered in constraints.set_aside):
            answer = yield Step(Pair(i, j), partition, board, beliefs, scope)
            constraints.add(i, j, answer)
        if answer is not None and answer is not Answer.UNSURE:
            return answer
    return Answer.UNSURE


def scope_of(a: Iterable[SuperInstance], b: Iterable[SuperInstance]) -> Callable[[], Scope]:
    """What is decided by comparing one super-instance of these with one of those."""
    sizes = sum(map(len, a)), sum(map(len, b))
    return lambda: Scope(*sizes)


def representative_pairs(space: Space, a: SuperInstance, b: SuperInstance) -> Iterable[tuple[int, int]]:
    """The medoids of two super-instances, then their next best representatives."""
    yield a.representative, b.representative
    # Only an unsure person needs more than the medoids, and finding them costs a pass over the members.
    of_a, of_b = space.representatives(a, N_TRIES), space.representatives(b, N_TRIES)
    for rank in range(1, max(len(of_a), len(of_b))):
        yield of_a[min(rank, len(of_a) - 1)], of_b[min(rank, len(of_b) - 1)]
