"""A session that many callers share: one thread owns it, changes come one after another, everybody may look.

The event loop never waits for the session. A change is done by the owner's thread and is on disk before its caller
hears of it; then a frozen `View` of the session takes the place of the one before, and the listeners are told.
While nothing is asked of it, what the next two answers will need is computed ahead.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
import time
import traceback
from collections.abc import Callable
from concurrent import futures
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, TypeVar

from cobras.core.exceptions import CobrasError, InfeasibleConstraintsError
from cobras.session.ahead import LIKELY, branches
from cobras.session.session import Session
from cobras.web.api.events import Events
from cobras.web.api.models import Computing, Versions
from cobras.web.queue import Lane
from cobras.web.sample import Sample
from cobras.web.timeline import Course
from cobras.web.view import View

T = TypeVar("T")

GRACE = 0.15  # seconds in which most changes are done: who only looks waits so long for "computing"
TICK = 0.25  # seconds between two events about a change that takes long
BREATH = 0.03  # seconds in which an answer goes out before thinking ahead competes for the processor


class Live:
    """One session, owned by one thread.

    Parameters
    ----------
    sample : Sample
        The rows that the page shows.
    begin : callable
        Opens the session and computes the first question; runs in the owner's thread.
    events : Events
        Who is told of changes.

    Attributes
    ----------
    run : str
        Another one at every start.
    view : View
        The session as it is now.
    map_version : int
        Counts the layouts of the map.
    ahead : list of int
        The rows that the next question may show; empty until that is computed.
    opened : Future
        Done when the first question is there, or when the session could not be opened.
    """

    def __init__(self, sample: Sample, begin: Callable[[], Session], events: Events) -> None:
        self.run = secrets.token_hex(8)
        self.events = events
        # Versions of another run are not mistaken for those of this one.
        start = secrets.randbelow(2**30)
        self.view = View(sample, Versions(session=start, labels=start, clusters=start, map=start))
        self.map_version = start
        self.ahead: list[int] = []
        self._course = Course()
        self._owner, self._thinker = Lane("session"), Lane("ahead")
        self._turn = asyncio.Lock()
        self._busy: tuple[str, float] | None = ("Computing the first question", time.monotonic())
        self._session: Session | None = None
        self.opened: Future[None] = self._owner.submit(lambda: self._open(begin))

    # -- looking -------------------------------------------------------------------------------------------------

    @property
    def computing(self) -> Computing | None:
        """What is being computed, if anything is."""
        busy = self._busy
        return None if busy is None else Computing(what=busy[0], seconds=time.monotonic() - busy[1])

    @property
    def state(self) -> dict[str, Any]:
        """What the events say about the session."""
        view = self.view
        versions = view.versions.model_copy(update={"map": self.map_version})
        return {"run": self.run, "state": view.state, "versions": versions.model_dump()}

    async def settled(self, wait: float) -> View:
        """The view when nothing is being computed, or after so many seconds."""
        end = time.monotonic() + wait
        while self._busy is not None and time.monotonic() < end:
            await asyncio.sleep(0.005)
        return self.view

    # -- changing ------------------------------------------------------------------------------------------------

    async def change(
        self, what: str, guard: Callable[[View], None], action: Callable[[Session], tuple[str, T]]
    ) -> tuple[View, T]:
        """Do something to the session when its turn has come, unless the guard raises by then.

        The action returns what to say and what it found. It is carried out even if the caller goes away.
        """
        task = asyncio.ensure_future(self._in_turn(what, guard, action))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(task)

    async def _in_turn(
        self, what: str, guard: Callable[[View], None], action: Callable[[Session], tuple[str, T]]
    ) -> tuple[View, T]:
        async with self._turn:
            await asyncio.wrap_future(self.opened)
            guard(self.view)
            self._busy = (what, time.monotonic())
            try:
                return await asyncio.wrap_future(self._owner.submit(lambda: self._perform(action)))
            finally:
                self._busy = None

    async def report_waiting(self) -> None:
        """Tell the listeners about what takes long, for ever."""
        while True:
            await asyncio.sleep(TICK)
            if (computing := self.computing) is not None and computing.seconds >= TICK:
                self.events.tell("computing", computing.model_dump())

    # -- in the owner's thread -----------------------------------------------------------------------------------

    def _open(self, begin: Callable[[], Session]) -> None:
        try:
            self._session = begin()
            self.view.sample.bind(self._session)
            self._session.ask()
            self._publish("", saved_at=max((r.at for r in self._session.history), default=None))
            self._thinker.submit(_warm_up)
        except BaseException as error:
            self._fail(error)
            raise
        finally:
            self._busy = None

    def _perform(self, action: Callable[[Session], tuple[str, T]]) -> tuple[View, T]:
        assert self._session is not None
        try:
            message, found = action(self._session)
            self._publish(message, saved_at=time.time())
        except BaseException as error:
            refused = isinstance(error, CobrasError) and not isinstance(error, InfeasibleConstraintsError)
            if not refused:  # which has changed nothing; after anything else the method is not to be trusted
                self._fail(error)
            raise
        self.events.from_thread("saved", {"at": self.view.saved_at})
        return self.view, found

    def _publish(self, message: str, saved_at: float | None) -> None:
        session, old = self._session, self.view
        assert session is not None
        pair, progress, records = session.ask(), session.progress, session.history
        points = self._course.follow(session.partitions)
        names, marks = tuple(sorted(session.names.items())), tuple(sorted(session.marks.items()))
        moved = not old.points or points[-1].partition.groups != old.points[-1].partition.groups
        changed = moved or names != old.names or marks != old.marks
        versions = Versions(
            session=old.versions.session + 1,
            labels=old.versions.labels + moved,
            clusters=old.versions.clusters + changed,
            map=old.versions.map,
        )
        self.view = View(
            sample=old.sample,
            versions=versions,
            state="done" if pair is None else "asking",
            message=message,
            pair=pair,
            points=points,
            records=records,
            progress=progress,
            names=names,
            marks=marks,
            set_aside=frozenset(session.set_aside),
            constraints=session.constraints(),
            can_undo=session.can_undo,
            can_redo=session.can_redo,
            parameters=dict(session.parameters),
            saved_at=saved_at,
            asked=session.clusters_of(
                row for shown in (pair, *(r.pair for r in records)) for row in shown or ()
            ),
        )
        self._announce(moved)
        self._think_ahead(session)

    def _fail(self, error: BaseException) -> None:
        if isinstance(error, CobrasError):
            message = str(error)
        else:
            traceback.print_exception(error, file=sys.stderr)
            message = f"{type(error).__name__}: {error} (a defect of cobras; all answers so far are saved)"
        self.view = replace(self.view, state="failed", message=message, pair=None)
        self._announce(moved=False)

    def _announce(self, moved: bool) -> None:
        self.events.from_thread("question", self.state)
        if moved:
            self.events.from_thread("labels", {"version": self.view.versions.labels})

    def _think_ahead(self, session: Session) -> None:
        revision = self.view.versions.session

        def think() -> None:
            time.sleep(BREATH)
            rows: set[int] = set()
            for number, branch in enumerate(thoughts, 1):
                if self.view.versions.session != revision:
                    return
                replay = branch()
                if number <= len(LIKELY):
                    rows.update(replay.step.pair or ())
                if number == len(LIKELY):
                    self.ahead = sorted(rows)
                    self.events.from_thread("ahead", {"ahead": self.ahead})

        thoughts, self.ahead = branches(session), []
        if thoughts:
            self._thinker.submit(think)

    def close(self, wait: float) -> bool:
        """Let go of the session file once nothing is being computed; False if that takes more than `wait` seconds.

        What was answered is on disk in any case.
        """

        def release() -> None:
            if self._session is not None:
                self._session.close()

        done = [self._owner.submit(release), self._thinker.submit(lambda: None)]
        return not futures.wait(done, wait).not_done


def _warm_up() -> None:
    """Import early what comparing clusterings needs: it takes a second that nobody should wait for."""
    import scipy.optimize  # noqa: F401
