"""A real browser for tests: Debian's chromium driven by playwright, and a page that must stay free of errors."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# What a page says of a server that was killed; which error it is depends on how much of an answer had come.
LOST = "Failed to load resource: net::ERR_"
PATIENCE = 120_000  # milliseconds: machines may be busy, and kernels that are not compiled may take a minute
expect.set_options(timeout=PATIENCE)
SHOWN = '#cards[data-pair*=","]'  # a pair stands on the page
# Its pictures are there, and so is what comes after the question: the lists of the open panel.
LOADED = """() => [...document.querySelectorAll("#cards img")].every((image) => image.complete)
  && document.querySelector("#cluster-list [data-cluster], #data-columns li")"""
OTHER = """shown => {
  const { pair } = document.querySelector("#cards").dataset;
  return pair && pair !== "computing" && pair !== shown;
}"""


def find_chromium() -> str:
    """The browser; without one a test is skipped, but not where everything must be tested."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("COBRAS_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        what = "Needs chromium: install it (apt-get install chromium) or name it in COBRAS_CHROMIUM."
        if os.environ.get("CI"):
            pytest.fail(what)
        pytest.skip(what)
    return found


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """The browser itself; start it once per file of tests."""
    path = find_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@contextlib.contextmanager
def tab(
    browser: Browser,
    address: str,
    *,
    expected: str = "",
    boards: bool = False,
    first: bool = False,
    **options: Any,
) -> Iterator[Page]:
    """A tab with the page, which in the end must not have complained, but for what `expected` matches.

    It stays with pairs, unless `boards` says that the page may go over to boards. The person has been here before,
    unless it is the `first` time.
    """
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
    if not boards:
        context.add_init_script("localStorage['cobras-mode'] ??= 'pairs'")
    if not first:
        context.add_init_script("localStorage['cobras-welcome'] = 'seen'")
    context.set_default_timeout(PATIENCE)
    with watch_console(context, expected) as page:
        page.goto(address)
        page.wait_for_selector(SHOWN)
        page.wait_for_function(LOADED)
        yield page
    context.close()


@contextlib.contextmanager
def watch_console(context: BrowserContext, expected: str = "") -> Iterator[Page]:
    """A tab of a context; errors on the console, of scripts and of the content policy fail the test."""
    complaints: list[str] = []
    page = context.new_page()
    page.on(
        "console", lambda message: message.type in ("error", "warning") and complaints.append(message.text)
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message) or dialog.dismiss())
    yield page
    left = [text for text in complaints if not (expected and re.search(expected, text))]
    assert not left, left


def open_pair(page: Page) -> tuple[int, int]:
    """The two rows on the screen."""
    i, j = page.locator("#cards").get_attribute("data-pair").split(",")
    return int(i), int(j)


def wait_for_other(page: Page, pair: tuple[int, int]) -> None:
    """Wait until another pair stands on the page, or nothing is left to ask."""
    page.wait_for_function(OTHER, arg=f"{pair[0]},{pair[1]}")


def wait_until(page: Page, holds: Callable[[], bool]) -> None:
    """Wait until something holds; what is drawn, measured or sent takes a moment on a busy machine."""
    end = time.monotonic() + PATIENCE / 1000
    while not holds():
        assert time.monotonic() < end
        page.wait_for_timeout(20)


def press(page: Page, key: str) -> tuple[int, int]:
    """Answer by a key; the pair that was answered."""
    pair = open_pair(page)
    page.keyboard.press(key)
    wait_for_other(page, pair)
    return pair


def answer_by_keys(page: Page, labels: Any, n: int) -> None:
    """Answer so many questions truthfully, by keys."""
    for _ in range(n):
        i, j = open_pair(page)
        press(page, "s" if labels[i] == labels[j] else "d")


def expect_answers(page: Page, n: int) -> None:
    expect(page.locator("#n-answers b")).to_have_text(str(n))


class Command:
    """`cobras serve` in a process of its own, which can be killed and started again."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = str(found.getsockname()[1])
        run = [sys.executable, "-c", "import sys; from cobras.cli import main; sys.exit(main())", "serve"]
        self._command = [*run, *arguments, "--port", port, "--no-browser"]
        self._folder = folder
        self.start()

    def start(self) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(self._command, cwd=self._folder, stdout=pipe, text=True)
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()
        assert self.address.startswith("http://127.0.0.1:"), self.address

    def end(self, how: signal.Signals) -> None:
        self._process.send_signal(how)
        self._process.communicate(timeout=PATIENCE / 1000)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end(signal.SIGTERM)
