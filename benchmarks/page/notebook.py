"""The widget as a person feels it, in a real JupyterLab and a real marimo: from a key press to the next pair.

    python -m benchmarks.page.notebook [--rows 10000] [--answers 100] [--think 0.3]

`key to pair` ends when the frame with the next pair has been drawn. `method` is what the session itself needs for
the same answer, measured alone in this process, with the same thinking ahead. `beyond` is the rest: messages,
kernel, disk and page; the aim is 150 ms at the 95th percentile. Wall time: measure on a machine that does nothing
else.
"""

import argparse
import os
import platform
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser
from tests.web.notebook import hosts
from tests.web.page.browser import PATIENCE, chromium

from benchmarks import FloatArray, IntArray, blobs
from benchmarks.page.web import press
from cobras import Session
from cobras.session.ahead import Thinker

OPEN = """
import numpy as np
from cobras import Session
session = Session.open("rows.cobras", np.load("rows.npy"), random_state=0)
"""
SHOW = "session.widget()"
HOSTS = {"JupyterLab": hosts.jupyterlab, "marimo": hosts.marimo}


def waits(browser: Browser, host: str, X: FloatArray, y: IntArray, given: argparse.Namespace) -> FloatArray:
    """Milliseconds from each key press to the next pair."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        np.save(folder / "rows.npy", X)
        with HOSTS[host](folder, OPEN, SHOW) as address:
            hosts.wait_for_server(address)
            context = browser.new_context(viewport={"width": 1440, "height": 1000})
            context.add_init_script("localStorage['cobras-mode'] = 'pairs'")
            context.set_default_timeout(PATIENCE)
            page = context.new_page()
            page.goto(address)
            if host == "JupyterLab":
                hosts.run_all(page)
            frame = hosts.widget_of(page)
            frame.locator("#words").click()  # keys go to the frame from now on
            pressed, drawn = press(page, frame, y, given.answers, given.think).T
            context.close()
    found: FloatArray = drawn - pressed
    return found


def method_times(X: FloatArray, y: IntArray, n_answers: int) -> FloatArray:
    """Milliseconds that the session needs for each answer, after thinking ahead."""
    session, thinker = Session(X, random_state=0), Thinker()
    took: list[float] = []
    while len(took) < n_answers and (pair := session.ask()) is not None:
        thinker.begin(session)
        thinker.finish(wait=60)
        began = time.perf_counter()
        session.tell(bool(y[pair.i] == y[pair.j]), pair)
        session.ask()
        took.append(1000 * (time.perf_counter() - began))
    return np.array(took)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000])
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--think", type=float, default=0.3, help="seconds a person looks at a pair")
    given = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the run")
    print(f"milliseconds, {given.think} s of thinking per pair")
    print(f"{'':32}{'key to pair':^20}{'method':^13}{'beyond':^19}")
    titles = [f"{part:>6}" for part in ("p50", "p95", "max", "p50", "p95", "p50", "p95", "max")]
    print(f"{'':10} {'rows':>12} {'answers':>8}", *titles)
    with chromium() as browser:
        for n_rows in given.rows:
            X, y = blobs(n_rows)
            own = method_times(X, y, given.answers)
            for host in HOSTS:
                found = waits(browser, host, X, y, given)
                n = min(len(found), len(own))
                beyond = found[:n] - own[:n]
                values = [*np.percentile(found, [50, 95, 100]), *np.percentile(own, [50, 95])]
                values += [*np.percentile(beyond, [50, 95, 100])]
                row = [f"{host:10} {n_rows:>7,} x {X.shape[1]}", f"{n:>8}"]
                print(*row, *(f"{value:>6.0f}" for value in values), flush=True)


if __name__ == "__main__":
    main()
