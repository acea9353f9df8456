"""The end points by which a person acts on what is shown: move items, merge two clusters, split one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fastapi import APIRouter, Response

from cobras.core.progress import shared_items
from cobras.methods.registry import registration
from cobras.session.answers import Preview
from cobras.session.session import Session
from cobras.web.api import bodies, models
from cobras.web.api.models import REFUSALS
from cobras.web.context import Context, Here, MissingError, RefusedError, check_open, reply
from cobras.web.view import View

routes = APIRouter(tags=["changes"], responses=REFUSALS)


@routes.post("/move", response_model=models.Acted)
async def move_items(context: Here, body: bodies.Move) -> Response:
    """Move items to another cluster, or out of theirs; with `dry`, only count what would change."""

    def check(view: View) -> None:
        check_cluster(view, body.to, body.version)
        for row in body.rows:
            if row >= view.n_items:
                raise MissingError(f"There is no row {row}; the last one is {view.n_items - 1}.")

    def words(view: View, n: int) -> str:
        if not n:
            return "Saved: all of them stay where they are."
        n_chosen = len(set(body.rows))
        whose = "its" if n_chosen == 1 else "their"
        where = f"out of {whose} cluster" if body.to is None else f"to cluster {view.ids[body.to]}"
        # Items that are known to be the same go with them, and the method may place others anew.
        more = f" {items(n - n_chosen, 'more ')} changed cluster with that." if n > n_chosen else ""
        return f"Moved {items(n_chosen)} {where}.{more}"

    given = {"rows": body.rows, "to": body.to, "anyway": body.anyway}
    preview = Session.after_move if body.dry else None
    return await act(context, "Moving items", check, words, Session.move, preview, **given)


@routes.post("/merge", response_model=models.Acted)
async def merge_clusters(context: Here, body: bodies.Merge) -> Response:
    """Make one of two clusters; with `dry`, only count what would change."""

    def check(view: View) -> None:
        for number in (body.a, body.b):
            check_cluster(view, number, body.version)

    def words(view: View, n: int) -> str:
        return f"Clusters {view.ids[body.a]} and {view.ids[body.b]} are one now; {items(n)} changed cluster."

    preview = Session.after_merge if body.dry else None
    given = {"a": body.a, "b": body.b, "anyway": body.anyway}
    return await act(context, "Merging clusters", check, words, Session.merge, preview, **given)


@routes.post("/split", response_model=models.Acted)
async def split_cluster(context: Here, body: bodies.Split) -> Response:
    """Ask inside a cluster next."""

    def check(view: View) -> None:
        check_cluster(view, body.cluster, body.version)
        if not can_split(view):
            method = view.parameters["method"]
            raise RefusedError("refused", f"{method} cannot split a cluster on request; move items instead.")

    return await act(
        context,
        "Looking inside the cluster",
        check,
        lambda view, _: f"The next questions are inside cluster {view.ids[body.cluster]}.",
        Session.split,
        cluster=body.cluster,
    )


async def act(
    context: Context,
    what: str,
    check: Callable[[View], None],
    words: Callable[[View, int], str],
    action: Callable[..., None],
    preview: Callable[..., Preview] | None = None,
    **given: Any,
) -> Response:
    """Do it and count what changed or, with a preview, only count."""
    before: list[View] = []
    counts: list[int] = []

    def check_all(view: View) -> None:
        check_open(view)
        check(view)
        before.append(view)

    def do(session: Session) -> str:
        action(session, **given)
        counts.append(n_changed_since(before[0], session))
        return words(before[0], counts[0])

    if preview is not None:
        found = await context.live.read(check_all, partial(preview, **given))
        taken_back = context.taken_back(found.taken_back)
        question = dict(context.question())
        return reply(models.Acted(**question, n_changed=found.n_changed, taken_back=taken_back))
    view = await context.live.change(what, check_all, do)
    return reply(models.Acted(**dict(context.question(view)), n_changed=counts[0]))


def check_cluster(view: View, cluster: int | None, version: int | None) -> None:
    """Refuse a cluster that does not exist, or that may be another one by now."""
    if version is not None and version != view.versions.labels:
        raise RefusedError("stale", "The clusters have changed meanwhile; look again.")
    n_clusters = view.timeline[-1].partition.n_clusters
    if cluster is not None and cluster >= n_clusters:
        raise MissingError(f"There is no cluster {cluster}; there are {n_clusters}, counted from 0.")


def can_split(view: View) -> bool:
    """Whether the method can be asked to split a cluster."""
    return registration(view.parameters.get("method", "cobras")).honours_splits


def n_changed_since(before: View, session: Session) -> int:
    """How many items are in a cluster with another id."""
    old, ids = before.timeline[-1], session.cluster_ids_
    shared = shared_items(old.partition, session.partition)
    return before.n_items - sum(n for (a, b), n in shared.items() if old.ids[a] == ids[b])


def items(n: int, which: str = "") -> str:
    """A number of items in words."""
    return f"{n:,} {which}item{'' if n == 1 else 's'}"
