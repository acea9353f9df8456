"""Thinking ahead: what either answer will need is computed while the person looks at the question.

A method draws its random numbers from the place in the split tree, and its splits are memoised by the space. So a
second run of the method on the same space, with an answer that nobody has given yet, changes nothing and leaves the
splits behind that the real run would need.
"""

from __future__ import annotations

from collections.abc import Callable

from cobras.replay import Replay
from cobras.session import Session
from cobras.types import Answer


def branches(session: Session) -> tuple[Callable[[], Replay], ...]:
    """One function per likely answer to the open question; each may run in another thread, whatever is answered.

    What it returns holds the question that would come next.

    Examples
    --------
    >>> session = Session([[0.0], [0.1], [5.0], [5.1], [9.0]], random_state=0)
    >>> for think in branches(session):
    ...     print(think().step.pair)
    Pair(i=4, j=2)
    Pair(i=4, j=2)
    >>> session.n_answers
    0
    """
    if session.ask() is None:
        return ()
    return tuple(session.supposing(answer) for answer in (Answer.SAME, Answer.DIFFERENT))
