"""The end points that ask and change: every one gives the question as it then is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import APIRouter, Query, Response

from cobras.core.exceptions import StaleQuestionError
from cobras.core.types import Answer, Pair
from cobras.methods.registry import registration
from cobras.session.history import Entry, Revision
from cobras.session.session import Session
from cobras.web.api import bodies, models
from cobras.web.api.reply import REFUSALS, reply
from cobras.web.context import MissingError, RefusedError, Room
from cobras.web.live import GRACE
from cobras.web.view import View

T = TypeVar("T")
ANY = bodies.Change()  # whatever happened meanwhile


def change_routes(room: Room) -> APIRouter:
    """Question, tell, undo, redo, revise, constraint, revisit, mark, name."""
    api, live, teller = APIRouter(tags=["changes"], responses=REFUSALS), room.live, room.teller

    async def change(
        what: str, guard: Callable[[View], None], action: Callable[[Session], tuple[str, T]]
    ) -> tuple[View, T]:
        def usable(view: View) -> None:
            if view.state == "failed":
                raise RefusedError("failed", view.message)
            guard(view)

        return await live.change(what, usable, action)

    @api.get("/question", response_model=models.Question)
    async def question(wait: Annotated[float, Query(ge=0, le=60)] = 0) -> Response:
        """The open question. Waits at most `wait` seconds while one is being computed."""
        await live.settled(max(wait, GRACE))
        return reply(teller.question())

    @api.post("/tell", response_model=models.Question)
    async def tell(body: bodies.Tell) -> Response:
        """Answer the open question; the answer is on disk when this returns."""
        pair = Pair(body.i, body.j)

        def guard(view: View) -> None:
            if view.pair is None:
                raise StaleQuestionError(f"Answer is for pair {tuple(pair)}, but there is no open question.")
            if pair.ordered != view.pair.ordered:
                raise StaleQuestionError(
                    f"Answer is for pair {tuple(pair)}, but the open question is {tuple(view.pair)}."
                )

        def action(session: Session) -> tuple[str, None]:
            session.tell(Answer.of(body.answer), pair)
            return f"Saved: {body.answer}.", None

        view, _ = await change("Computing the next question", guard, action)
        return reply(teller.question(view))

    @api.post("/undo", response_model=models.Question)
    async def undo(body: bodies.Change = ANY) -> Response:
        """Take back the last answer, constraint or mark."""

        def guard(view: View) -> None:
            unchanged(view, body.revision)
            if not view.can_undo:
                raise RefusedError("nothing", "There is nothing to undo.")

        view, _ = await change(
            "Taking back", guard, lambda session: (f"Taken back: {said(session.undo())}.", None)
        )
        return reply(teller.question(view))

    @api.post("/redo", response_model=models.Question)
    async def redo(body: bodies.Change = ANY) -> Response:
        """Bring back what was undone last."""

        def guard(view: View) -> None:
            unchanged(view, body.revision)
            if not view.can_redo:
                raise RefusedError("nothing", "There is nothing to redo.")

        view, _ = await change(
            "Bringing back", guard, lambda session: (f"Brought back: {said(session.redo())}.", None)
        )
        return reply(teller.question(view))

    @api.post("/revise", response_model=models.Revised)
    async def revise(body: bodies.Revise) -> Response:
        """Change an old answer, and say what that did to later ones."""

        def guard(view: View) -> None:
            unchanged(view, body.revision)
            if body.index >= len(view.records):
                raise MissingError(f"There is no answer {body.index}; the history holds {len(view.records)}.")

        def action(session: Session) -> tuple[str, Revision]:
            revision = session.revise(body.index, Answer.of(body.answer))
            return effects(body, revision), revision

        view, revision = await change("Replaying all answers", guard, action)
        found = models.Revised(
            **dict(teller.question(view)),
            no_longer_apply=teller.records(view, revision.no_longer_apply),
            no_longer_asked=teller.records(view, revision.no_longer_asked),
        )
        return reply(found)

    async def volunteer(body: bodies.Constraint, guard: Callable[[View], None]) -> Response:
        def action(session: Session) -> tuple[str, None]:
            session.add_constraint(body.i, body.j, Answer.of(body.answer))
            return f"Saved: {body.answer}.", None

        view, _ = await change("Taking in a constraint", guard, action)
        return reply(teller.question(view))

    @api.post("/constraint", response_model=models.Question)
    async def constraint(body: bodies.Constraint) -> Response:
        """Say what is known about any two rows."""

        def guard(view: View) -> None:
            unchanged(view, body.revision)
            for row in (body.i, body.j):
                if row >= view.n_items:
                    raise MissingError(f"There is no row {row}; the last one is {view.n_items - 1}.")

        return await volunteer(body, guard)

    @api.post("/revisit", response_model=models.Question)
    async def revisit(body: bodies.Constraint) -> Response:
        """Settle a pair that was set aside."""

        def guard(view: View) -> None:
            unchanged(view, body.revision)
            if Pair(body.i, body.j).ordered not in view.set_aside:
                raise MissingError(f"The pair ({body.i}, {body.j}) is not set aside.")

        return await volunteer(body, guard)

    @api.post("/mark", response_model=models.Question)
    async def mark(body: bodies.Mark) -> Response:
        """Promise that a cluster is pure or complete, or take that back."""

        def guard(view: View) -> None:
            known_cluster(view, body.cluster, body.version)
            if not can_mark(view):
                raise RefusedError("refused", f"{view.parameters['method']} knows no marks.")

        def action(session: Session) -> tuple[str, None]:
            session.mark(body.cluster, pure=body.pure, complete=body.complete)
            promise = "complete" if body.complete else "pure" if body.pure else "open again"
            return f"Cluster {body.cluster} is {promise}.", None

        view, _ = await change("Taking in a promise", guard, action)
        return reply(teller.question(view))

    @api.post("/name", response_model=models.Question)
    async def name(body: bodies.Name) -> Response:
        """Name a cluster."""

        def action(session: Session) -> tuple[str, None]:
            session.name(body.cluster, body.text)
            return f"Cluster {body.cluster} is called {body.text.strip() or 'nothing'}.", None

        view, _ = await change("Naming", lambda view: known_cluster(view, body.cluster, body.version), action)
        return reply(teller.question(view))

    return api


def unchanged(view: View, revision: int | None) -> None:
    """Refuse a change by a caller who has not seen what happened since."""
    if revision is not None and revision != view.versions.session:
        raise RefusedError("stale", "Something else happened meanwhile; look again.")


def known_cluster(view: View, cluster: int, version: int | None) -> None:
    """Refuse a cluster that does not exist, or that may be another one by now."""
    if version is not None and version != view.versions.labels:
        raise RefusedError("stale", "The clusters have changed meanwhile; look again.")
    n_clusters = view.points[-1].partition.n_clusters
    if cluster >= n_clusters:
        raise MissingError(f"There is no cluster {cluster}; there are {n_clusters}, counted from 0.")


def can_mark(view: View) -> bool:
    """Whether the method honours marks; one of the user's own is trusted to."""
    return registration(view.parameters.get("method", "cobras")).honours_marks


def said(entry: Entry) -> str:
    """What an entry of the history said."""
    return "a mark" if entry.answer is None else entry.answer.name.lower()


def effects(body: bodies.Revise, revision: Revision) -> str:
    """What a revision did, in one or two sentences."""
    text = f"Answer {body.index + 1} is now {body.answer}."
    lost, unasked = len(revision.no_longer_apply), len(revision.no_longer_asked)
    if lost:
        text += f" {lost} later {'answer no longer applies' if lost == 1 else 'answers no longer apply'}."
    if unasked:
        text += f" {unasked} later {'answer is' if unasked == 1 else 'answers are'} kept as constraints."
    return text
