"""The widget without a notebook: real messages through a comm of the test's own, which is what a kernel brings."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import comm
import httpx
import numpy as np
import polars as pl
import pytest
from comm.base_comm import BaseComm

from cobras import Answer, CobrasError, InvalidDataError, Session, SessionFileError
from cobras.data import load_demo
from cobras.web.notebook.document import page_document, page_modules
from cobras.web.notebook.widget import Widget, background_loop, call
from tests.web.serving import flowers

X = np.concatenate([np.random.default_rng(0).normal(at, 0.3, (12, 2)) for at in (0, 3, 6)])
PATIENCE = 60  # seconds


class Notebook:
    """What a notebook is to a widget: it sends messages and keeps those that come."""

    def __init__(self) -> None:
        self.messages: list[tuple[Any, Any]] = []
        self.n_sent = 0

    def create_comm(self, *args: Any, **options: Any) -> BaseComm:
        """A comm that keeps what a widget sends."""
        messages = self.messages

        class Comm(BaseComm):
            def publish_msg(self, msg_type: str, **given: Any) -> None:
                data = given.get("data") or {}
                if data.get("method") == "custom":
                    messages.append((data["content"], given.get("buffers")))

        return Comm(*args, **options)

    def request(self, widget: Widget, path: str, body: Any = None) -> tuple[int, Any]:
        """Send a request as the page does; the status and the body of the reply."""
        self.n_sent += 1
        method, text = ("GET", "") if body is None else ("POST", json.dumps(body))
        content = {"view": "v", "number": self.n_sent, "method": method, "path": path, "body": text}
        message = {"content": {"data": {"method": "custom", "content": content}}, "buffers": []}
        widget.comm.handle_msg(message)
        return self.wait_for(lambda: self._reply(self.n_sent))

    def _reply(self, number: int) -> tuple[int, Any] | None:
        for content, buffers in list(self.messages):
            if content.get("number") == number:
                assert content["view"] == "v"
                return content["status"], json.loads(buffers[0])
        return None

    def events(self, name: str) -> list[Any]:
        return [content["data"] for content, _ in list(self.messages) if content.get("event") == name]

    def wait_for(self, found: Callable[[], Any]) -> Any:
        end = time.monotonic() + PATIENCE
        while not (value := found()):
            assert time.monotonic() < end
            time.sleep(0.005)
        return value


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Notebook]:
    found = Notebook()
    monkeypatch.setattr(comm, "create_comm", found.create_comm)
    yield found
    Widget.close_all()


def answer(notebook: Notebook, widget: Widget, pair: dict[str, int]) -> dict[str, Any]:
    """Answer truthfully; the next question."""
    word = "same" if pair["i"] // 12 == pair["j"] // 12 else "different"
    status, question = notebook.request(widget, "api/tell", {**pair, "answer": word})
    assert status == 200
    return question


def test_answers_reach_the_session_and_the_trait(notebook: Notebook) -> None:
    session = Session(X, random_state=0)
    widget, seen = session.widget(), []
    widget.observe(lambda change: seen.append(change["new"]), "labels")
    _, question = notebook.request(widget, "api/question")
    for n in range(1, 9):
        question = answer(notebook, widget, question["pair"])
        assert session.n_answers == question["progress"]["n_answers"] == n
        assert np.array_equal(widget.labels, session.labels_)
        assert tuple(question["pair"].values()) == session.ask()
    steps = [session.labels_at(n) for n in range(9)]
    changes = [after for before, after in itertools.pairwise(steps) if not np.array_equal(before, after)]
    assert np.array_equal(seen, changes)
    assert len(np.unique(widget.labels)) == session.partition.n_clusters > 1
    assert notebook.request(widget, "api/undo", {})[1]["progress"]["n_answers"] == session.n_answers == 7
    assert np.array_equal(widget.labels, session.labels_)


def test_replies_are_those_of_a_client_over_http(notebook: Notebook, tmp_path: Path) -> None:
    widget = Session(load_demo(), "cobras", random_state=0).widget()
    notebook.request(widget, "api/question")
    paths = [
        "settings",
        "labels",
        "labels?at=3",
        "clusters?n=3",
        "history",
        "items?search=1&limit=2",
        "item/4",
    ]
    paths += ["image/3?size=small", "export?format=csv", "export?format=none", "nothing", "profile/0", "why"]

    async def compare() -> None:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(widget._app), base_url="http://notebook"
        ) as client:
            for path in paths:
                expected = await client.get(f"/api/{path}")
                status, headers, body = await call(widget._app, "GET", f"/api/{path}", b"")
                assert (status, body) == (expected.status_code, expected.content), path
                assert headers.items() <= expected.headers.items()

    asyncio.run_coroutine_threadsafe(compare(), background_loop()).result(PATIENCE)


def test_what_a_cell_does_to_the_session_is_shown(notebook: Notebook) -> None:
    session = Session(X, random_state=0)
    widget = session.widget()
    _, question = notebook.request(widget, "api/question")
    session.tell(True, session.ask())
    # The page has not heard of it: its answer is refused, and the reply shows what is open.
    status, refusal = notebook.request(widget, "api/tell", {**question["pair"], "answer": "same"})
    assert (status, refusal["error"]) == (409, "stale")
    assert tuple(refusal["question"]["pair"].values()) == session.ask()
    n_before = len(notebook.events("question"))
    session.undo()
    notebook.wait_for(lambda: len(notebook.events("question")) > n_before)
    assert notebook.request(widget, "api/question")[1]["progress"]["n_answers"] == 0
    session.append(X[:3] + 0.01)
    notebook.wait_for(lambda: notebook.events("question")[-1]["state"] == "failed")
    message = notebook.request(widget, "api/question")[1]["message"]
    assert message == "The session has 39 rows by now, not 36. Call session.widget() again."
    assert notebook.request(session.widget(), "api/question")[1]["progress"]["n_items"] == 39


def test_a_cell_may_be_run_again(notebook: Notebook, tmp_path: Path) -> None:
    file = tmp_path / "points.cobras"
    first = Session.open(file, X, random_state=0)
    with pytest.raises(SessionFileError, match="already open"):
        Session.open(file, X)
    old = first.widget()
    question = answer(notebook, old, notebook.request(old, "api/question")[1]["pair"])
    second = Session.open(file, X)
    widget = second.widget()
    assert notebook.request(widget, "api/question")[1]["pair"] == question["pair"]
    status, refusal = notebook.request(old, "api/tell", {**question["pair"], "answer": "same"})
    assert (status, refusal["message"]) == (409, "points.cobras is closed. Open it again.")
    answer(notebook, widget, question["pair"])
    second.close()
    with Session.open(file, X) as third:
        assert third.n_answers == 2


def test_what_is_shown(notebook: Notebook, tmp_path: Path) -> None:
    words = pl.DataFrame(
        {"text": [f"A sentence about the thing number {k}, which is long." for k in range(36)]}
    )
    widget = Session(X, random_state=0).widget(words, height=500, show_guess=True)
    assert widget.height == 500
    question = notebook.request(widget, "api/question")[1]
    assert question["left"]["card"]["kind"] == "text"
    assert question["guess"] in ("same", "different")
    table = Session(flowers(tmp_path), random_state=0).widget()
    assert notebook.request(table, "api/settings")[1]["columns"] == ["length", "width", "colour"]
    numbers = Session(pl.DataFrame(X, schema=["a", "b"]), random_state=0).widget()
    assert notebook.request(numbers, "api/settings")[1]["columns"] == ["a", "b"]
    with pytest.raises(InvalidDataError, match="The session has 36 rows, but there are 35 items to show"):
        Session(X, random_state=0).widget(words[:-1])


@pytest.mark.parametrize("columns", [["x"], ["x", "colour"]])
def test_rows_that_were_appended_are_shown_and_those_taken_back_are_not(
    notebook: Notebook, tmp_path: Path, columns: list[str]
) -> None:
    frame = pl.DataFrame({"x": [0.0, 0.2, 5.0, 5.1, 0.3], "colour": ["red", "blue", "red", "blue", "red"]})
    first, more, path = frame.head(3)[columns], frame[columns].tail(2), tmp_path / "s.cobras"
    with Session.open(path, first, "cobras", 0) as session:
        session.append(more)
        assert notebook_columns(notebook, session) == columns
    with Session.open(path, frame[columns]) as session:
        session.undo()
        assert notebook_columns(notebook, session) == columns
    with Session.open(path, frame[columns]) as session:
        assert session.space.n == 3
        assert notebook_columns(notebook, session) == columns


def notebook_columns(notebook: Notebook, session: Session) -> list[str]:
    widget = session.widget()
    assert len(widget.labels) == session.space.n
    return notebook.request(widget, "api/settings")[1]["columns"]


def test_without_anywidget_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "cobras.web.notebook.widget")
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(CobrasError, match=r"needs anywidget.*pip install 'cobras-clustering\[notebook\]'"):
        Session(X, random_state=0).widget()


def test_the_document_needs_no_other_file() -> None:
    text = page_document()
    assert "static/" not in text
    assert all(
        re.match(r"data:|#", found)
        for found in re.findall(r' (?:src|href)="([^"]*)"', text.split("<script>")[0])
    )
    modules = page_modules()
    for module in modules.values():
        names = re.findall(r'^(?:import|\}).*?"([^"]+)";$', module, re.M)
        assert set(names) <= set(modules)
    n_imports = sum(len(re.findall(r"^import ", module, re.M)) for module in modules.values())
    assert n_imports == sum(len(re.findall(r'"cobras/[^"]+";$', module, re.M)) for module in modules.values())


def test_a_session_in_a_notebook_can_be_undone_by_hand(notebook: Notebook) -> None:
    session = Session(X, random_state=0)
    widget = session.widget()
    pair = session.ask()
    session.tell(Answer.SAME, pair)
    widget.close()
    session.undo()
    assert session.ask() == pair
