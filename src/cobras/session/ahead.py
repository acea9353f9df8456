"""Thinking ahead: what the next two answers will need is computed while the person looks at the question.

A method draws its random numbers from the place in the split tree, and its splits are memoised by the space. So a
second run of the method on the same space, with answers that nobody has given yet, changes nothing and leaves the
splits behind that the real run would need. An answer that comes meanwhile waits for a split only where it needs it.

The terminal and the web page use the same `Thinker`; the page also its `Worker`, for the session itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent import futures
from concurrent.futures import Future
from contextlib import suppress
from itertools import product
from queue import SimpleQueue
from typing import TypeVar

from cobras.core.board import Board
from cobras.core.exceptions import CobrasError
from cobras.core.types import Answer, Pair
from cobras.session.session import Session

T = TypeVar("T")

DEPTH = 2  # answers
LIKELY = (Answer.SAME, Answer.DIFFERENT)


def branches(session: Session) -> tuple[Callable[[], Pair | None], ...]:
    """Return one function for each likely answer to the open question, then for each two answers, and so on.

    Each may run in another thread, whatever is answered. It returns the question that would come next.

    Examples
    --------
    >>> session = Session([[0.0], [0.1], [5.0], [5.1], [9.0]], "cobras", random_state=0)
    >>> for think in branches(session)[:2]:
    ...     print(think())
    Pair(i=4, j=2)
    Pair(i=4, j=2)
    >>> len(branches(session)), session.n_answers
    (6, 0)
    """
    if session.ask() is None:
        return ()
    return tuple(
        session.question_after(*answers) for n in range(1, DEPTH + 1) for answers in product(LIKELY, repeat=n)
    )


def board_branches(session: Session, board: Board) -> tuple[Callable[[], tuple[int, ...] | None], ...]:
    """Return one function, which gives the rows of the next board if this one is sorted as the clusters are now.

    Examples
    --------
    >>> session = Session([[0.0], [0.1], [5.0], [5.1], [9.0]], "cobras", random_state=0)
    >>> for think in board_branches(session, session.board(2)):
    ...     print(think())
    (4, 2, 0)
    """
    homes = session.clusters_of([*board.cards, *board.piles])
    groups: dict[int, list[int]] = {}
    for pile in board.piles:
        groups.setdefault(homes[pile], [pile])
    for card in board.cards:
        groups.setdefault(homes[card], []).append(card)
    try:
        following = session.board_after(board, groups.values(), len(board.cards))
    except CobrasError:  # what the clusters say may contradict the answers
        return ()

    def rows() -> tuple[int, ...] | None:
        found = following()
        return None if found is None else (*found.cards, *found.piles)

    return (rows,)


class Worker:
    """One daemon thread that does one job after another.

    Examples
    --------
    >>> Worker("adder").submit(lambda: 1 + 1).result()
    2
    """

    # Not a ThreadPoolExecutor: the interpreter waits for its threads, and a split cannot be stopped half-way. After
    # Ctrl-C the program would live on until it is done: 0.3 s for the first one of ten million rows
    # (docs/guides/scale.md), and for ever where workers on other machines no longer reply.
    def __init__(self, name: str) -> None:
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        threading.Thread(target=self._work, name=f"cobras-{name}", daemon=True).start()

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """Do a job after all that were submitted before."""
        future: Future[T] = Future()

        def work() -> None:
            try:
                future.set_result(job())
            except BaseException as error:
                future.set_exception(error)

        self._jobs.put(work)
        return future

    def _work(self) -> None:
        while True:
            self._jobs.get()()


class Thinker:
    """Thinks ahead in a thread of its own, from one question to the next answer.

    Examples
    --------
    >>> session, thinker = Session([[0.0], [0.1], [5.0], [5.1]], "cobras", random_state=0), Thinker()
    >>> shown_next: list[int] = []
    >>> thinker.begin(session, on_rows=shown_next.extend)
    >>> thinker.finish(wait=60), shown_next
    (True, [0, 1, 2, 3])
    """

    def __init__(self) -> None:
        # One thread for all questions: each new one would keep the memory that it used.
        self._worker = Worker("ahead")
        self._answered = threading.Event()
        self._last: Future[None] = self._worker.submit(lambda: None)

    def begin(
        self,
        session: Session,
        on_rows: Callable[[list[int]], None] = lambda rows: None,
        delay: float = 0.0,
        board: Board | None = None,
    ) -> None:
        """Think about the open question, and stop thinking about the one before.

        Parameters
        ----------
        session : Session
        on_rows : callable
            Gets the rows that the next question may show, when these are known; runs in the other thread.
        delay : float
            Seconds to wait before.
        board : Board, optional
            What is looked at in place of the open question.
        """
        self._answered.set()
        self._answered = answered = threading.Event()
        thoughts: tuple[Callable[[], tuple[int, ...] | None], ...]
        thoughts = branches(session) if board is None else board_branches(session, board)
        n_first = len(LIKELY) if board is None else 1

        def think() -> None:
            if answered.wait(delay):
                return
            rows: set[int] = set()
            for number, branch in enumerate(thoughts, 1):
                # An error is not reported here: it comes again if these answers are really given.
                with suppress(Exception):
                    rows.update(branch() or ())
                if answered.is_set():
                    return
                if number == n_first:
                    on_rows(sorted(rows))

        self._last = self._worker.submit(think)

    def end(self, wait: float) -> bool:
        """Stop thinking; False if a split that was begun takes more than `wait` seconds."""
        self._answered.set()
        return self.finish(wait)

    def finish(self, wait: float) -> bool:
        """Let it think to the end; False if that takes more than `wait` seconds."""
        return not futures.wait([self._last], wait).not_done
