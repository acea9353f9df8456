"""A session that many callers share: one thread owns it, changes come one after another, everybody may read.

The event loop never waits for the session. A change is done by the owner's thread and is on disk before its caller
gets a reply; then a frozen `View` of the session replaces the one before, and all listeners get an event.
While nothing is asked of it, what the next two answers will need is computed ahead.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import sys
import time
import traceback
from collections.abc import AsyncIterator, Callable
from concurrent import futures
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, TypeVar

from cobras.core.board import Board
from cobras.core.exceptions import CobrasError, InfeasibleConstraintsError
from cobras.session.ahead import Thinker, Worker
from cobras.session.session import Session
from cobras.web.api.models import Computing, Versions
from cobras.web.view import Sample, View, update_timeline

Found = TypeVar("Found")
GRACE = 0.15  # seconds in which most changes are done: a caller who only reads waits so long for "computing"
TICK = 0.25  # seconds between two events about a change that takes long
PAUSE = 0.03  # seconds in which an answer goes out before thinking ahead competes for the processor
KEEP_ALIVE = 10.0  # seconds without an event after which a comment is sent, so that no proxy ends the stream
N_WAITING = 200  # events that a listener may be behind before it is dropped, to connect again


class RowsChangedError(CobrasError):
    """Rows were added or taken away while they were shown."""


class Events:
    """Server-sent events to all listeners. Used on the event loop only, but for `send_from_thread`."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[str | None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    def start(self) -> None:
        """Remember the running loop."""
        self._loop = asyncio.get_running_loop()

    def send_from_thread(self, event: str, data: dict[str, Any]) -> None:
        """Send to all listeners, from any thread; there are none before the loop runs or after it has ended."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self.send, event, data)

    def send(self, event: str, data: dict[str, Any]) -> None:
        """Send to all listeners."""
        text = format_event(event, data)
        for queue in self._listeners:
            # None ends a stream; the browser then connects again and fetches the present state.
            queue.put_nowait(text if queue.qsize() < N_WAITING else None)

    def close(self) -> None:
        """End all streams, so that the server can end."""
        self._closed = True
        for queue in self._listeners:
            queue.put_nowait(None)

    async def listen(self, first: Callable[[], str]) -> AsyncIterator[str]:
        """Yield events, beginning with `first`, which is called when nothing can be missed any more."""
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            yield "retry: 500\n" + first()
            while not self._closed:
                try:
                    text = await asyncio.wait_for(queue.get(), KEEP_ALIVE)
                except TimeoutError:
                    text = ": alive\n\n"
                if text is None:
                    return
                yield text
        finally:
            self._listeners.discard(queue)


def format_event(event: str, data: dict[str, Any]) -> str:
    r"""Return an event in the format of `text/event-stream`.

    Examples
    --------
    >>> format_event("saved", {"at": 1.5})
    'event: saved\ndata: {"at": 1.5}\n\n'
    """
    return f"event: {event}\ndata: {json.dumps(data)}\n\n"


class Live:
    """One session, owned by one thread.

    Parameters
    ----------
    sample : Sample
        The rows that the page shows.
    begin : callable
        Opens the session and computes the first question; runs in the owner's thread.

    Attributes
    ----------
    run : str
        Another one at every start.
    events : Events
        Where changes are announced.
    view : View
        The session as it is now.
    map_version : int
        Counts the layouts of the map.
    ahead : list of int
        The rows that the next question may show; empty until that is computed.
    opened : Future
        Done when the first question is there, or when the session could not be opened.
    """

    def __init__(self, sample: Sample, begin: Callable[[], Session]) -> None:
        self.run, self.events = secrets.token_hex(8), Events()
        # Versions start at random, so that those of another run are not mistaken for those of this one.
        start = secrets.randbelow(2**30)
        self.view = View(sample, Versions(session=start, labels=start, clusters=start, map=start))
        self.map_version = start
        self.ahead: list[int] = []
        self.file_loss: str | None = None  # what happened to the session file, known once it is closed
        self._owner, self._thinker = Worker("session"), Thinker()
        self._turn = asyncio.Lock()
        self._busy: tuple[str, float] | None = ("Computing the first question", time.monotonic())
        self._session: Session | None = None
        self._moment: object = None  # what the session was at when the view was made
        self.opened: Future[None] = self._owner.submit(lambda: self._open(begin))

    # -- reading -------------------------------------------------------------------------------------------------

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

    async def wait_until_ready(self, seconds: float) -> None:
        """Wait until nothing is being computed, at most so many seconds."""
        end = time.monotonic() + seconds
        while self._busy is not None and time.monotonic() < end:
            await asyncio.sleep(0.005)

    # -- changing ------------------------------------------------------------------------------------------------

    async def change(
        self, what: str, check: Callable[[View], None], action: Callable[[Session], str]
    ) -> View:
        """Do something to the session when its turn has come, unless `check` raises by then; return the new view.

        The action returns the message for the person. It is carried out even if the caller goes away.
        """
        task = asyncio.ensure_future(self._change_in_turn(what, check, action))
        # Where nobody waits any more, the error has been read, and asyncio does not complain.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(task)

    async def _change_in_turn(
        self, what: str, check: Callable[[View], None], action: Callable[[Session], str]
    ) -> View:
        async with self._turn:
            await asyncio.wrap_future(self.opened)
            await self._catch_up()
            check(self.view)
            self._busy = (what, time.monotonic())
            try:
                return await asyncio.wrap_future(self._owner.submit(lambda: self._perform(action)))
            finally:
                self._busy = None

    async def restart(
        self, check: Callable[[View], None], begin: Callable[[Session, str], tuple[Session, str]]
    ) -> View:
        """Go on with another session on the same rows, unless `check` raises by then; return its first view.

        `begin` gets this session and the name of the new run, and returns the other one and a message for the
        person. What it raises leaves this one as it is.
        """
        async with self._turn:
            await asyncio.wrap_future(self.opened)
            check(self.view)
            self._busy = ("Computing the first question", time.monotonic())
            try:
                return await asyncio.wrap_future(self._owner.submit(lambda: self._restart(begin)))
            finally:
                self._busy = None

    async def read(self, check: Callable[[View], None], action: Callable[[Session], Found]) -> Found:
        """Compute something from the session in turn, unless `check` raises by then; nothing is changed."""
        async with self._turn:
            await asyncio.wrap_future(self.opened)
            check(self.view)
            return await asyncio.wrap_future(self._owner.submit(lambda: action(self._opened_session)))

    async def board(self, n_cards: int) -> tuple[View, Board | None]:
        """The board in place of the open question, when its turn has come, and the view that it belongs to."""
        async with self._turn:
            with contextlib.suppress(Exception):  # the view says that it could not be opened
                await asyncio.wrap_future(self.opened)
            return self.view, await asyncio.wrap_future(self._owner.submit(lambda: self._board(n_cards)))

    async def report_computing(self) -> None:
        """Send events about what takes long, and about what was changed elsewhere, for ever."""
        while True:
            await asyncio.sleep(TICK)
            if (computing := self.computing) is not None and computing.seconds >= TICK:
                self.events.send("computing", computing.model_dump())
            if self._is_behind and not self._turn.locked():
                async with self._turn:
                    await self._catch_up()

    async def _catch_up(self) -> None:
        """Show what was done to the session by others who have it: in a notebook, the person's own cells."""
        if self._is_behind:
            await asyncio.wrap_future(self._owner.submit(self._publish_again))

    @property
    def _is_behind(self) -> bool:
        if self._session is None or self._busy is not None or self.view.state == "failed":
            return False
        moment = self._session.moment
        return moment is not None and moment is not self._moment

    # -- in the owner's thread -----------------------------------------------------------------------------------

    def _open(self, begin: Callable[[], Session]) -> None:
        try:
            self._session = begin()
            self._session.ask()
            self._publish("", saved_at=max((r.at for r in self._session.history), default=None))
            self._owner.submit(_import_early)
        except BaseException as error:
            self._fail(error)
            raise
        finally:
            self._busy = None

    @property
    def session(self) -> Session:
        """The session, for whoever goes on with it when the server has ended; not to be used before."""
        return self._opened_session

    @property
    def _opened_session(self) -> Session:
        assert self._session is not None
        return self._session

    def _perform(self, action: Callable[[Session], str]) -> View:
        try:
            self._publish(action(self._opened_session), saved_at=time.time())
        except BaseException as error:
            # A refusal has changed nothing; after anything else the method cannot be trusted.
            if not isinstance(error, CobrasError) or isinstance(
                error, (InfeasibleConstraintsError, RowsChangedError)
            ):
                self._fail(error)
            raise
        self.events.send_from_thread("saved", {"at": self.view.saved_at})
        return self.view

    def _publish_again(self) -> None:
        try:
            self._publish("", saved_at=time.time())
        except BaseException as error:
            self._fail(error)

    def _restart(self, begin: Callable[[Session, str], tuple[Session, str]]) -> View:
        run, saved_at = secrets.token_hex(8), self.view.saved_at
        self._session, message = begin(self._opened_session, run)
        self.run, self.map_version = run, self.map_version + 1
        self.view = View(self.view.sample, self.view.versions)
        self._publish(message, saved_at)
        return self.view

    def _board(self, n_cards: int) -> Board | None:
        if self._session is None or self.view.state != "asking":
            return None
        board = self._session.board(n_cards)
        if board is not None:  # in place of the pair, the person looks at this
            self._thinker.begin(self._session, self._set_ahead, PAUSE, board)
        return board

    def _publish(self, message: str, saved_at: float | None) -> None:
        session, old = self._opened_session, self.view
        self._moment = session.moment
        if session.space.n != old.sample.n:
            raise RowsChangedError(
                f"The session has {session.space.n} rows by now, not {old.sample.n}. Call session.widget() again."
            )
        pair, records = session.ask(), session.history
        partitions = session.partitions
        # A clustering that is still the same object was not replayed, so that its ids are the same, too.
        known = dict(enumerate(old.timeline))
        ids = [
            known[n].ids if n in known and known[n].partition is partition else session.cluster_ids_at(n)
            for n, partition in enumerate(partitions)
        ]
        timeline = update_timeline(old.timeline, partitions, ids)
        names, marks = tuple(sorted(session.names.items())), tuple(sorted(session.marks.items()))
        to_split = session.to_split
        moved = not old.timeline or timeline[-1].partition.groups != old.timeline[-1].partition.groups
        # After a revision the same clusters may have other ids.
        moved = moved or timeline[-1].ids != old.ids
        changed = moved or (names, marks, to_split) != (old.names, old.marks, old.to_split)
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
            timeline=timeline,
            records=records,
            progress=session.progress,
            names=names,
            marks=marks,
            to_split=to_split,
            set_aside=frozenset(session.set_aside),
            expected=session.expected_ari_,
            constraints=session.constraints(),
            can_undo=session.can_undo,
            can_redo=session.can_redo,
            parameters=dict(session.parameters),
            saved_at=saved_at,
            asked=session.clusters_of(
                row for shown in (pair, *(p for r in records for p, _ in r.said)) for row in shown or ()
            ),
        )
        self._announce(moved)
        self.ahead = []
        self._thinker.begin(session, self._set_ahead, PAUSE)

    def _fail(self, error: BaseException) -> None:
        if isinstance(error, CobrasError):
            message = str(error)
        else:
            traceback.print_exception(error, file=sys.stderr)
            message = f"{type(error).__name__}: {error} (a defect of cobras; all answers so far are saved)"
        self.view = replace(self.view, state="failed", message=message, pair=None)
        self._announce(moved=False)

    def _announce(self, moved: bool) -> None:
        self.events.send_from_thread("question", self.state)
        if moved:
            self.events.send_from_thread("labels", {"version": self.view.versions.labels})

    def _set_ahead(self, rows: list[int]) -> None:
        self.ahead = rows
        self.events.send_from_thread("ahead", {"ahead": rows})

    def leave(self) -> None:
        """Stop thinking ahead; the session stays open for whoever else has it."""
        self._thinker.end(0)

    def close(self, wait: float) -> None:
        """Release the session file once nothing is being computed, or give up after about `wait` seconds.

        What was answered is on disk in any case.
        """
        released = self._owner.submit(self._release)
        self._thinker.end(wait)
        futures.wait([released], wait)

    def _release(self) -> None:
        """Close the session file, and note what happened to it meanwhile."""
        if self._session is not None:
            self.file_loss = self._session.file_loss
            self._session.close()


def _import_early() -> None:
    """Import what comparing clusterings needs: 0.2 s, cold a second, that the first answer need not wait for."""
    import scipy.optimize  # noqa: F401
