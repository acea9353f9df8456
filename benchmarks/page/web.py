"""The web page as a person feels it: from a key press to the next pair on the screen, in a real browser.

    python -m benchmarks.page.web [--rows 10000 200000] [--answers 100] [--think 0.3]
    python -m benchmarks.page.web --demo

A server of its own, Debian's chromium (or the one that COBRAS_CHROMIUM names) driven by playwright, real keys. A
time ends when the frame with the next pair has been drawn. All that a person's browser does meanwhile (map, labels,
panels) goes on. Its parts: `server`, from the request to the answer inside the server; `wire`, the rest of what the
browser waited; `page`, from the key to the request and from the answer to the frame. `disk` is what saving one
answer takes, part of `server`, measured alone. Wall time: measure on a machine that does nothing else.

With --demo: seconds from the address of `cobras demo` to its first question, as after an installation, when nothing
is compiled, and once more.
"""

import argparse
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Frame, Page, sync_playwright

from benchmarks import FloatArray, IntArray, blobs
from cobras.core.types import Event
from cobras.session.journal import Journal

SHOWN = '#cards[data-pair*=","]'
BOARD = "#board[data-board]:not([hidden])"  # what pictures begin with
# For every answer: when the key was pressed, and when the frame with the next pair was drawn.
WATCH = """() => {
  window.waits = [];
  let pressed = 0;
  addEventListener("keydown", (event) => { pressed = event.timeStamp; }, true);
  new MutationObserver(() => {
    const began = pressed;
    requestAnimationFrame(() => setTimeout(() => window.waits.push([began, performance.now()])));
  }).observe(document.querySelector("#cards"), { attributes: true, attributeFilter: ["data-pair"] });
  performance.setResourceTimingBufferSize(10000);
}"""
REQUESTS = """() => performance.getEntriesByType("resource").filter((e) => e.name.endsWith("/api/tell"))
  .map((e) => [e.startTime, e.responseEnd, e.serverTiming[0].duration])"""
PARTS = ("key to pair", "server", "wire", "page")
N_WRITES = 30


def press(page: Page, frame: Frame, y: IntArray, n_answers: int, think: float) -> FloatArray:
    """Answer by key; for each answer, when the key was pressed and when the next pair was drawn."""
    frame.evaluate(WATCH)
    for _ in range(n_answers):
        shown = frame.locator("#cards").get_attribute("data-pair") or ""
        if "," not in shown:
            break
        i, j = map(int, shown.split(","))
        time.sleep(think)
        page.keyboard.press("s" if y[i] == y[j] else "d")
        frame.wait_for_function("old => document.querySelector('#cards').dataset.pair !== old", arg=shown)
    page.wait_for_timeout(300)
    return np.array(frame.evaluate("() => window.waits"))


def answer(page: Page, y: IntArray, n_answers: int, think: float) -> FloatArray:
    """Answer by key; milliseconds of each answer, one column per part."""
    pressed, drawn = press(page, page.main_frame, y, n_answers, think).T
    sent, received, server = np.array(page.evaluate(REQUESTS)).T
    total, waited = drawn - pressed, received - sent
    return np.column_stack([total, server, waited - server, total - waited])


def disk(folder: str) -> FloatArray:
    """Milliseconds until an event is safe, without anything else."""
    took = []
    with Journal(Path(folder, "alone.cobras")) as journal:
        for _ in range(N_WRITES):
            began = time.perf_counter()
            journal.append(Event("answer", {"i": 0, "j": 1, "answer": 1}))
            took.append(1000 * (time.perf_counter() - began))
    return np.array(took)


def start(command: list[str], folder: str, **changes: str) -> tuple[subprocess.Popen[str], str]:
    """Start a server; return it and its address."""
    run = [sys.executable, "-m", "cobras", *command, "--no-browser"]
    server = subprocess.Popen(
        run, cwd=folder, stdout=subprocess.PIPE, text=True, env={**os.environ, **changes}
    )
    assert server.stdout is not None
    return server, server.stdout.readline().strip()


def end(server: subprocess.Popen[str]) -> None:
    """Stop a server as Ctrl-C does."""
    server.send_signal(signal.SIGINT)
    server.communicate(timeout=20)


def first_pair(browser: Browser, address: str) -> tuple[Page, float]:
    """Open the page of a server that has just printed its address, and wait for the first pair; in seconds."""
    up = time.perf_counter()
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(address)
    page.wait_for_selector(f"{SHOWN}, {BOARD}", timeout=900_000)
    return page, time.perf_counter() - up


def demo(browser: Browser) -> None:
    """Print the seconds to the first question of the demo, with nothing compiled and with everything."""
    with tempfile.TemporaryDirectory() as folder:
        home = {"HOME": folder, "XDG_CACHE_HOME": f"{folder}/cache", "NUMBA_CACHE_DIR": f"{folder}/numba"}
        for state in ("nothing is compiled", "all is compiled"):
            began = time.perf_counter()
            server, address = start(["demo", "--session", f"{len(state)}.cobras"], folder, **home)
            until = time.perf_counter() - began
            try:
                page, seconds = first_pair(browser, address)
                page.close()
            finally:
                end(server)
            print(
                f"cobras demo, {state}: address after {until:.1f} s, first question {seconds:.1f} s later",
                flush=True,
            )


def run(browser: Browser, n_rows: int, given: argparse.Namespace) -> None:
    """Print one line about a table of so many rows."""
    X, y = blobs(n_rows)
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "rows.npy"), X.astype(np.float32))
        server, address = start(["serve", "rows.npy", "--seed", "0"], folder)
        try:
            page, first = first_pair(browser, address)
            parts = answer(page, y, given.answers, given.think)
            page.close()
        finally:
            end(server)
        safe = disk(folder)
    row = [f"{n_rows:>9,} x {X.shape[1]}", f"{len(parts):>8}"]
    for times in (*parts.T, safe):
        row += [f"{value:>6.0f}" for value in np.percentile(times, [50, 95])]
    print(*row, f"{parts[:, 0].max():>6.0f}", f"{first:>7.2f} s", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 200_000])
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--think", type=float, default=0.3, help="seconds a person looks at a pair")
    parser.add_argument("--demo", action="store_true", help="only the first question of the demo")
    given = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the run")
    if not given.demo:
        print_titles(given)
    path = os.environ.get("COBRAS_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        sys.exit("Needs chromium: install it, or name it in COBRAS_CHROMIUM.")
    with sync_playwright() as playwright:
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        if given.demo:
            demo(browser)
        for n_rows in () if given.demo else given.rows:
            run(browser, n_rows, given)
        browser.close()


def print_titles(given: argparse.Namespace) -> None:
    """Print what the columns are."""
    print(f"milliseconds, {given.think} s of thinking per pair; first pair: after the address")
    print(f"{'':23}", *(f"{part:^13}" for part in (*PARTS, "disk alone")), f"{'':6} {'first':>9}", sep="")
    titles = [f"{part:>6}" for part in ("p50", "p95") * 5]
    print(f"{'rows':>14} {'answers':>8}", *titles, f"{'max':>6}", f"{'pair':>9}")


if __name__ == "__main__":
    main()
