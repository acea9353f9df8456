"""The web page as a person feels it: from a key press to the next pair on the screen, in a real browser.

    python -m benchmarks.web [--rows 10000 200000] [--answers 100] [--think 0.3]

A server of its own, Debian's chromium (or the one that COBRAS_CHROMIUM names) driven by playwright, real keys. A
time ends when the frame with the next pair has been drawn. `server` is how long the browser waited for the answer
to the request; `after start` is the time from the printed address to the first pair. All that a person's browser
does meanwhile (map, labels, panels) goes on. Wall time: measure on a machine that does nothing else.
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

from benchmarks.data import IntArray, blobs

SHOWN = '#cards[data-pair*=","]'
WATCH = """() => {
  window.waits = [];
  let pressed = 0;
  addEventListener("keydown", (event) => { pressed = event.timeStamp; }, true);
  new MutationObserver(() => {
    const began = pressed;
    requestAnimationFrame(() => setTimeout(() => window.waits.push(performance.now() - began)));
  }).observe(document.querySelector("#cards"), { attributes: true, attributeFilter: ["data-pair"] });
}"""
SERVED = """() => performance.getEntriesByType("resource").filter((e) => e.name.endsWith("/api/tell"))
  .map((e) => e.responseEnd - e.requestStart)"""


def measure(page: Page, y: IntArray, n_answers: int, think: float) -> tuple[list[float], list[float]]:
    """Milliseconds from key to screen, and those of the requests alone."""
    page.evaluate(WATCH)
    page.evaluate("() => performance.setResourceTimingBufferSize(10000)")
    for _ in range(n_answers):
        shown = page.locator("#cards").get_attribute("data-pair") or ""
        if "," not in shown:
            break
        i, j = map(int, shown.split(","))
        time.sleep(think)
        page.keyboard.press("s" if y[i] == y[j] else "d")
        page.wait_for_function("old => document.querySelector('#cards').dataset.pair !== old", arg=shown)
    page.wait_for_timeout(200)
    waits: list[float] = page.evaluate("() => window.waits")
    served: list[float] = page.evaluate(SERVED)
    return waits, served


def run(browser: Browser, n_rows: int, n_answers: int, think: float) -> None:
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
            waits, served = measure(page, y, n_answers, think)
            page.close()
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=20)
    row = [f"{n_rows:>9,} x {X.shape[1]}", f"{len(waits):>8}"]
    for times in (waits, served):
        row += [f"{value:>8.0f}" for value in np.percentile(times, [50, 95, 100])]
    print(*row, f"{first:>10.2f} s", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 200_000])
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--think", type=float, default=0.3, help="seconds a person looks at a pair")
    given = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the run")
    print(f"{given.think} s of thinking per pair; milliseconds from key to pair, and of the request alone")
    print(f"{'':24}{'key to pair':^27}{'server':^27}{'first pair':>12}")
    titles = [f"{part:>8}" for part in ("p50", "p95", "max") * 2]
    print(f"{'rows':>14} {'answers':>8}", *titles, f"{'after start':>12}")
    path = os.environ.get("COBRAS_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        for n_rows in given.rows:
            run(browser, n_rows, given.answers, given.think)
        browser.close()


if __name__ == "__main__":
    main()
