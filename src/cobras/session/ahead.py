"""Thinking ahead: what the next two answers will need is computed while the person looks at the question.

A method draws its random numbers from the place in the split tree, and its splits are memoised by the space. So a
second run of the method on the same space, with answers that nobody has given yet, changes nothing and leaves the
splits behind that the real run would need. An answer that comes meanwhile waits for a split only where it needs it.

What is begun is finished: a thought cannot be stopped half-way. With COBRAS the longest one is "different, then
same", which splits a super-instance into twice as many parts as "same" alone: a number that doubles with every
"different" in a row.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import product
from queue import Queue

from cobras.core.types import Answer
from cobras.session.replay import Replay
from cobras.session.session import Session

DEPTH = 2  # answers
LIKELY = (Answer.SAME, Answer.DIFFERENT)


def branches(session: Session, depth: int = DEPTH) -> tuple[Callable[[], Replay], ...]:
    """One function for each likely answer to the open question, then for each two answers, and so on.

    Each may run in another thread, whatever is answered. What it returns holds the question that would come next.

    Examples
    --------
    >>> session = Session([[0.0], [0.1], [5.0], [5.1], [9.0]], random_state=0)
    >>> for think in branches(session, depth=1):
    ...     print(think().step.pair)
    Pair(i=4, j=2)
    Pair(i=4, j=2)
    >>> len(branches(session)), session.n_answers
    (6, 0)
    """
    if session.ask() is None:
        return ()
    return tuple(
        session.supposing(*answers) for n in range(1, depth + 1) for answers in product(LIKELY, repeat=n)
    )


class Thinker:
    """Thinks ahead in a thread of its own, from one question to the next answer.

    Examples
    --------
    >>> session, thinker = Session([[0.0], [0.1], [5.0], [5.1]], random_state=0), Thinker()
    >>> thinker.begin(session)
    >>> session.tell(Answer.SAME, session.ask())
    >>> thinker.end(wait=10)
    True
    """

    def __init__(self) -> None:
        self._answered = threading.Event()
        self._work: Queue[tuple[threading.Event, tuple[Callable[[], Replay], ...]]] = Queue()
        # One thread for all questions: each new one would keep what memory it used. It dies with the program.
        threading.Thread(target=self._think, name="cobras-ahead", daemon=True).start()

    def begin(self, session: Session) -> None:
        """Think about the open question; thinking about the one before comes to its end."""
        self._answered.set()
        self._answered = threading.Event()
        self._work.put((self._answered, branches(session)))

    def end(self, wait: float) -> bool:
        """Stop thinking; False if a split that was begun takes more than `wait` seconds."""
        self._answered.set()
        return self.finish(wait)

    def finish(self, wait: float) -> bool:
        """Let it think to the end; False if that takes more than `wait` seconds."""
        with self._work.all_tasks_done:
            return self._work.all_tasks_done.wait_for(lambda: not self._work.unfinished_tasks, wait)

    def _think(self) -> None:
        while True:
            think_through(*self._work.get())
            self._work.task_done()


def think_through(answered: threading.Event, thoughts: Iterable[Callable[[], Replay]]) -> None:
    """Think one thought after another until the question is answered."""
    for think in thoughts:
        if not answered.is_set():
            with suppress(Exception):  # whoever gives these answers will hear of it
                think()
