"""Thinking ahead: what either answer will need is computed while the person looks at the question.

A method draws its random numbers from the place in the split tree, and its splits are memoised by the space. So a
second run of the method on the same space, with an answer that nobody has given yet, changes nothing and leaves the
splits behind that the real run would need. Its own outcome is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from cobras.history import Entry
from cobras.replay import Replay
from cobras.session import Session
from cobras.types import Answer


def branches(session: Session) -> tuple[Callable[[], object], ...]:
    """One function per likely answer to the open question; each may run in another thread, whatever is answered.

    Examples
    --------
    >>> session = Session([[0.0], [0.1], [5.0], [5.1], [9.0]], random_state=0)
    >>> for think in branches(session):
    ...     _ = think()
    >>> session.n_answers
    0
    """
    pair = session.ask()
    if pair is None:
        return ()
    history = session._history
    found = []
    for answer in (Answer.SAME, Answer.DIFFERENT):
        entries = [*history.entries, Entry("answer", pair, answer)]
        found.append(partial(Replay, session._start, replace(history, entries=entries)))
    return tuple(found)
