"""Everything that can go wrong, in one sentence each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cobras.core.types import Answer, Pair


class CobrasError(Exception):
    """The base of every error that cobras raises on purpose."""


class InvalidDataError(CobrasError, ValueError):
    """The data, or an argument about it, cannot be used."""


class StaleQuestionError(CobrasError, ValueError):
    """An answer names a question that is not open any more."""


class InconsistentAnswersError(CobrasError, ValueError):
    """An answer contradicts earlier ones.

    Attributes
    ----------
    pair : Pair
        The pair that was answered.
    chain : tuple of (Pair, Answer)
        The earlier answers, or the others that were given with it, that imply the opposite.
    """

    def __init__(
        self,
        pair: Pair,
        answer: Answer,
        chain: Sequence[tuple[Pair, Answer]],
        *,
        at_once: bool = False,
        names: Sequence[object] | None = None,
    ) -> None:
        self.pair, self.answer, self.chain, self._at_once = pair, answer, tuple(chain), at_once
        if names is None:
            names = range(1 + max(row for two in (pair, *(step for step, _ in chain)) for row in two))
        steps = ", ".join(
            f"{names[i]!r} and {names[j]!r} are {known.name.lower()}" for (i, j), known in self.chain
        )
        i, j = (repr(names[row]) for row in pair)
        super().__init__(
            f"The links contradict each other: {steps}, but {i} and {j} are {answer.name.lower()}. "
            "Leave one of them out."
            if at_once
            else f"Answer {answer.name} for pair ({i}, {j}) contradicts earlier answers: {steps}. "
            "Revise one of them, or answer otherwise."
        )

    def with_names(self, names: Sequence[object]) -> InconsistentAnswersError:
        """The same error, with the names of the rows in place of their numbers."""
        return InconsistentAnswersError(
            self.pair, self.answer, self.chain, at_once=self._at_once, names=names
        )


class InfeasibleConstraintsError(CobrasError, ValueError):
    """No assignment to clusters was found that satisfies all constraints."""


class SessionFileError(CobrasError, OSError):
    """A session file cannot be opened: foreign, damaged, newer than this version, or in use."""


class DataChangedError(CobrasError, ValueError):
    """A session is opened on other data, or with other parameters, than it was made with."""


class DataGrownError(DataChangedError):
    """The data begins with the rows of the session, and goes on.

    Attributes
    ----------
    n_before, n_rows : int
        How many rows the session has, and how many there are.
    """

    def __init__(self, name: str, n_before: int, n_rows: int) -> None:
        self.n_before, self.n_rows = n_before, n_rows
        super().__init__(
            f"{name} has the first {n_before} of these {n_rows} rows. Take the others in by --grow, or by "
            "grow=True in Python, or use another file."
        )


class DataWarning(UserWarning):
    """Cells of new rows do not fit the column of the session, and say nothing of their rows."""


class StopAsking(Exception):  # noqa: N818 - not an error, like StopIteration
    """An oracle raises it to end a run: nobody is left who could answer, and what was answered stays."""


def first_line(error: BaseException) -> str:
    r"""The first line of what an error says, without a full stop; its name if it says nothing.

    Examples
    --------
    >>> first_line(ValueError("There is no such file.\nTry another.")), first_line(KeyError())
    ('There is no such file', 'KeyError')
    """
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".:")
