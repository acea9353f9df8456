"""The web page as a person feels it: from a key press to the next pair on the screen, in a real browser.

    python -m benchmarks.web [--rows 10000 200000] [--answers 100] [--think 0.3]

A server of its own, Debian's chromium (or the one that COBRAS_CHROMIUM names) driven by playwright, real keys. A
time ends when the frame with the next pair has been drawn. All that a person's browser does meanwhile (map, labels,
panels) goes on. Its parts: `server`, from the request to the answer inside the server; `wire`, the rest of what the
browser waited; `page`, from the key to the request and from the answer to the frame. `disk` is what saving one
answer takes, part of `server`, measured alone. Wall time: measure on a machine that does nothing else.
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
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import FloatArray, IntArray, blobs
from cobras.core.types import Event
from cobras.session.journal import Journal

SHOWN = '#cards[data-pair*=","]'
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


def answer(page: Page, y: IntArray, n_answers: int, think: float) -> FloatArray:
    """Answer by key; milliseconds of each answer, one column per part."""
    page.evaluate(WATCH)
    for _ in range(n_answers):
        shown = page.locator("#cards").get_attribute("data-pair") or ""
        if "," not in shown:
            break
        i, j = map(int, shown.split(","))
        time.sleep(think)
        page.keyboard.press("s" if y[i] == y[j] else "d")
        page.wait_for_function("old => document.querySelector('#cards').dataset.pair !== old", arg=shown)
    page.wait_for_timeout(300)
    pressed, drawn = np.array(page.evaluate("() => window.waits")).T
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


def run(browser: Browser, n_rows: int, given: argparse.Namespace) -> None:
    """Print one line about a table of so many rows."""
    X, y = blobs(n_rows)
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "rows.npy"), X.astype(np.float32))
        command = [sys.executable, "-m", "cobras", "serve", "rows.npy", "--no-browser", "--seed", "0"]
        server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            up = time.perf_counter()
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(address)
            page.wait_for_selector(SHOWN, timeout=60_000)
            first = time.perf_counter() - up
            parts = answer(page, y, given.answers, given.think)
            page.close()
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=20)
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
    given = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the run")
    print(f"milliseconds, {given.think} s of thinking per pair; first pair: after the address")
    print(f"{'':23}", *(f"{part:^13}" for part in (*PARTS, "disk alone")), f"{'':6} {'first':>9}", sep="")
    titles = [f"{part:>6}" for part in ("p50", "p95") * 5]
    print(f"{'rows':>14} {'answers':>8}", *titles, f"{'max':>6}", f"{'pair':>9}")
    path = os.environ.get("COBRAS_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        sys.exit("Needs chromium: install it, or name it in COBRAS_CHROMIUM.")
    with sync_playwright() as playwright:
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        for n_rows in given.rows:
            run(browser, n_rows, given)
        browser.close()


if __name__ == "__main__":
    main()
