"""A real JupyterLab and a real marimo: twenty answers, an undo, a new kernel, and nothing lost."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Frame, Page, Request, expect

from cobras import Answer, Session
from tests.web.notebook import hosts
from tests.web.notebook.hosts import run_all, wait_for_server, widget_of
from tests.web.page.browser import PATIENCE, chromium, expect_answers, open_pair, wait_for_other

LABELS = "labels.json"
# Made in the notebook and here: three groups of rows, one after another.
DATA = "np.concatenate([np.random.default_rng(0).normal(at, 0.8, (20, 3)) for at in (0, 3, 6)])"
X = eval(DATA, {"np": np})
OPEN = f"""
import json
from pathlib import Path

import numpy as np

from cobras import Session

session = Session.open("points.cobras", {DATA}, random_state=0)
"""
# What the trait says is written to a file, from the notebook's own process.
SHOW = f"""
widget = session.widget()
write = lambda change: Path("{LABELS}").write_text(json.dumps(change["new"].tolist()))
_ = widget.observe(write, "labels")
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


# Both servers start at once, since that takes long.
@pytest.fixture(scope="module", autouse=True)
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    folder = tmp_path_factory.mktemp("lab")
    with hosts.jupyterlab(folder, OPEN, SHOW + "widget") as address:
        yield folder, address


@pytest.fixture(scope="module", autouse=True)
def marimo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    folder = tmp_path_factory.mktemp("marimo")
    show = SHOW + "shown = mo.ui.anywidget(widget)\nshown"
    use = 'f"{session.n_answers} answers {shown.height}"'
    with hosts.marimo(folder, "import marimo as mo", OPEN, show, use) as address:
        yield folder, address


@contextlib.contextmanager
def notebook(browser: Browser, address: str) -> Iterator[Page]:
    """A tab with a notebook, in which the widget complains of nothing and asks nobody but its kernel."""
    wait_for_server(address)
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    context.add_init_script(
        "localStorage['cobras-mode'] ??= 'pairs'; localStorage['cobras-welcome'] = 'seen'"
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    complaints: list[str] = []
    fetched: list[str] = []

    def note_request(request: Request) -> None:
        # A page that is being loaded has no frame yet.
        with contextlib.suppress(Exception):
            if request.frame.name == "" and request.frame.url.startswith("about:srcdoc"):
                fetched.append(request.url)

    page.on("request", note_request)
    page.on(
        "console",
        lambda message: (
            message.type in ("error", "warning")
            and message.location["url"].startswith(("blob:", "about:"))
            and complaints.append(message.text)
        ),
    )
    page.goto(address)
    yield page
    context.close()
    assert complaints == []
    assert [url for url in fetched if not url.startswith(("blob:", "data:", "about:"))] == []


def answer(frame: Frame, n: int) -> list[tuple[tuple[int, int], Answer]]:
    """Answer truthfully; what was asked and said."""
    said = []
    for _ in range(n):
        i, j = open_pair(frame)
        word = "same" if i // 20 == j // 20 else "different"
        frame.locator(f"#{word}").click()
        wait_for_other(frame, (i, j))
        said.append(((i, j), Answer.SAME if word == "same" else Answer.DIFFERENT))
    return said


def answer_and_undo(frame: Frame) -> list[tuple[tuple[int, int], Answer]]:
    """Twenty answers and one undo; what is still said."""
    *said, (last, _) = answer(frame, 20)
    expect_answers(frame, 20)
    frame.locator("#undo").click()
    expect_answers(frame, 19)
    frame.wait_for_selector(f'#cards[data-pair="{last[0]},{last[1]}"]')
    expect(frame.locator("#cluster-list > li")).to_have_count(
        int(frame.locator("#n-clusters b").inner_text())
    )
    return said


def go_on(frame: Frame, said: list[tuple[tuple[int, int], Answer]], asked: tuple[int, int]) -> None:
    """After the restart, the same question is open and all that was said is there."""
    expect_answers(frame, len(said))
    assert open_pair(frame) == asked
    said += answer(frame, 1)
    expect_answers(frame, len(said))


def expect_nothing_lost(folder: Path, said: list[tuple[tuple[int, int], Answer]]) -> None:
    """All answers are in the session file, and the trait had the labels of the last one."""
    # A copy: the kernel still has the file, and every answer is in it.
    copy = shutil.copy(folder / "points.cobras", folder / "copy.cobras")
    with Session.open(copy, X) as session:
        assert [(record.pair, record.answer) for record in session.history] == said
        labels = json.dumps(session.labels_.tolist())
    end = time.monotonic() + PATIENCE / 1000
    while (folder / LABELS).read_text() != labels:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_jupyterlab(browser: Browser, lab: tuple[Path, str]) -> None:
    folder, address = lab
    with notebook(browser, address) as page:
        run_all(page)
        frame = widget_of(page)
        said, asked = answer_and_undo(frame), open_pair(frame)
        run_all(page, "restart-run-all")
        page.locator(".jp-Dialog .jp-mod-accept").click()
        expect(page.locator(".jp-OutputArea-output")).to_have_count(0)
        go_on(widget_of(page), said, asked)
        page.get_by_text("| Idle").wait_for()
        expect_nothing_lost(folder, said)


def test_marimo(browser: Browser, marimo: tuple[Path, str]) -> None:
    folder, address = marimo
    with notebook(browser, address) as page:
        frame = widget_of(page)
        said, asked = answer_and_undo(frame), open_pair(frame)
        # A cell that uses the widget runs again after each answer.
        page.get_by_text("19 answers").wait_for()
        page.get_by_test_id("notebook-menu-dropdown").click()
        page.get_by_text("Restart kernel").click()
        page.get_by_role("button", name="Confirm Restart").click()
        page.get_by_text("19 answers").wait_for(state="detached")
        go_on(widget_of(page), said, asked)
        page.get_by_text("20 answers").wait_for()
        expect_nothing_lost(folder, said)
