"""The end points that change the session: each one gives the question as it then is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from fastapi import APIRouter, Response

from cobras.core.board import Board
from cobras.core.types import Answer, Pair, Record
from cobras.methods.registry import registration
from cobras.session.replay import Revision
from cobras.session.session import Session
from cobras.web.api import bodies, models
from cobras.web.api.models import REFUSALS
from cobras.web.api.moves import check_cluster
from cobras.web.context import Context, Here, MissingError, RefusedError, check_open, reply
from cobras.web.view import View

ANY = bodies.Change()  # whatever happened meanwhile
# What is said while an undo or redo goes on, and after it.
STEPS = {"undo": ("Taking back", "Taken back"), "redo": ("Bringing back", "Brought back")}

GROWN = "Rows were added here; undo goes no further back on the page."

routes = APIRouter(tags=["changes"], responses=REFUSALS)


async def change(
    context: Context,
    what: str,
    action: Callable[[Session], str],
    check: Callable[[View], None] = lambda view: None,
) -> View:
    """Do something to the session, unless it is not open or `check` raises; return what is shown then."""

    def check_all(view: View) -> None:
        check_open(view)
        check(view)

    return await context.live.change(what, check_all, action)


@routes.post("/tell", response_model=models.Question)
async def tell(context: Here, body: bodies.Tell) -> Response:
    """Answer the open question; the answer is on disk when this returns."""

    def action(session: Session) -> str:
        session.tell(Answer.of(body.answer), Pair(body.i, body.j))
        return f"Saved: {body.answer}."

    return reply(context.question(await change(context, "Computing the next question", action)))


@routes.post("/sort", response_model=models.Question)
async def sort(context: Here, body: bodies.Sort) -> Response:
    """Sort a board in place of answering the open question; it is on disk when this returns."""
    board = Board(tuple(body.cards), tuple(body.piles))

    def action(session: Session) -> str:
        session.sort(board, body.groups)
        return f"Saved: a board of {len(board.cards)} {'card' if len(board.cards) == 1 else 'cards'}."

    def check(view: View) -> None:
        check_revision(view, body.revision)

    return reply(context.question(await change(context, "Computing the next board", action, check)))


async def step(context: Context, word: Literal["undo", "redo"], revision: int | None) -> Response:
    """Undo or redo, if there is something to."""

    def check(view: View) -> None:
        check_revision(view, revision)
        if not (view.can_undo if word == "undo" else view.can_redo):
            stopped = word == "undo" and view.records
            raise RefusedError("nothing", GROWN if stopped else f"There is nothing to {word}.")

    def action(session: Session) -> str:
        action = session.undo() if word == "undo" else session.redo()
        return f"{after}: {action.text}."

    during, after = STEPS[word]
    return reply(context.question(await change(context, during, action, check)))


@routes.post("/undo", response_model=models.Question)
async def undo(context: Here, body: bodies.Change = ANY) -> Response:
    """Take back the last thing that was done."""
    return await step(context, "undo", body.revision)


@routes.post("/redo", response_model=models.Question)
async def redo(context: Here, body: bodies.Change = ANY) -> Response:
    """Bring back what was undone last."""
    return await step(context, "redo", body.revision)


@routes.post("/revise", response_model=models.Revised)
async def revise(context: Here, body: bodies.Revise) -> Response:
    """Change an old answer, and say what that did to later ones."""
    revisions: list[Revision] = []

    def check(view: View) -> None:
        check_revision(view, body.revision)
        if body.index >= len(view.records):
            raise MissingError(f"There is no answer {body.index}; the history holds {len(view.records)}.")

    def action(session: Session) -> str:
        revisions.append(session.revise(body.index, Answer.of(body.answer)))
        return revision_message(session.history, body, revisions[0])

    view = await change(context, "Replaying all answers", action, check)
    found = models.Revised(
        **dict(context.question(view)),
        no_longer_apply=context.records(view, revisions[0].no_longer_apply),
        no_longer_asked=context.records(view, revisions[0].no_longer_asked),
    )
    return reply(found)


async def add_constraint(
    context: Context, body: bodies.Constraint, check: Callable[[View], None]
) -> Response:
    """Add what a person says of two rows."""

    def check_all(view: View) -> None:
        check_revision(view, body.revision)
        check(view)

    def action(session: Session) -> str:
        session.add_constraint(body.i, body.j, Answer.of(body.answer))
        return f"Saved: {body.answer}."

    return reply(context.question(await change(context, "Taking in a constraint", action, check_all)))


@routes.post("/constraint", response_model=models.Question)
async def constraint(context: Here, body: bodies.Constraint) -> Response:
    """Say what is known about any two rows."""

    def check(view: View) -> None:
        for row in (body.i, body.j):
            if row >= view.n_items:
                raise MissingError(f"There is no row {row}; the last one is {view.n_items - 1}.")

    return await add_constraint(context, body, check)


@routes.post("/revisit", response_model=models.Question)
async def revisit(context: Here, body: bodies.Constraint) -> Response:
    """Settle a pair that was set aside."""

    def check(view: View) -> None:
        if Pair(body.i, body.j).ordered not in view.set_aside:
            raise MissingError(f"The pair ({body.i}, {body.j}) is not set aside.")

    return await add_constraint(context, body, check)


@routes.post("/mark", response_model=models.Question)
async def mark(context: Here, body: bodies.Mark) -> Response:
    """Mark a cluster as pure or complete, or remove the mark."""

    def check(view: View) -> None:
        check_cluster(view, body.cluster, body.version)
        if not can_mark(view):
            raise RefusedError("refused", f"{view.parameters['method']} knows no marks.")

    def action(session: Session) -> str:
        session.mark(body.cluster, pure=body.pure, complete=body.complete)
        state = "complete" if body.complete else "pure" if body.pure else "open again"
        return f"Cluster {context.live.view.ids[body.cluster]} is {state}."

    return reply(context.question(await change(context, "Marking the cluster", action, check)))


@routes.post("/name", response_model=models.Question)
async def name(context: Here, body: bodies.Name) -> Response:
    """Name a cluster."""

    def action(session: Session) -> str:
        session.name(body.cluster, body.text)
        return f"Cluster {context.live.view.ids[body.cluster]} is called {body.text.strip() or 'nothing'}."

    def check(view: View) -> None:
        check_cluster(view, body.cluster, body.version)

    return reply(context.question(await change(context, "Naming", action, check)))


@routes.post("/close", response_model=models.Question)
async def close(context: Here) -> Response:
    """End the server, where Python waits for that."""
    if context.close is None:
        raise RefusedError("refused", "This server is ended by Ctrl-C, where it was started.")
    context.close()
    return reply(context.question())


def check_revision(view: View, revision: int | None) -> None:
    """Refuse a change by a caller who has not seen what happened since."""
    if revision is not None and revision != view.versions.session:
        raise RefusedError("stale", "Something else happened meanwhile; look again.")


def can_mark(view: View) -> bool:
    """Whether the method honours marks."""
    return registration(view.parameters.get("method", "cobras")).honours_marks


def revision_message(history: Sequence[Record], body: bodies.Revise, revision: Revision) -> str:
    """Say what a revision did, in one or two sentences; answers have the numbers that the history shows."""
    kind = history[body.index].kind
    number = sum(record.kind in ("answer", "board") for record in history[: body.index + 1])
    text = f"{f'Answer {number}' if kind == 'answer' else f'The {kind}'} is now {body.answer}."
    if kind not in ("answer", "constraint"):
        text = f"The {kind} is taken back."
    lost, unasked = len(revision.no_longer_apply), len(revision.no_longer_asked)
    if lost:
        text += f" {lost} later {'answer no longer applies' if lost == 1 else 'answers no longer apply'}."
    if unasked:
        still = "answer still counts" if unasked == 1 else "answers still count"
        text += f" {unasked} later {still}, though nothing is asked about them any more."
    return text
