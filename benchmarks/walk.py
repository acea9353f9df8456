"""How many files of the package one reads to follow a call from beginning to end.

    python -m benchmarks.walk [--files]

Counted are the files in which a function runs: during `COBRAS().fit`, while `read_dataset` reads a plain CSV file,
and from the command `cobras serve` to the first question on a page, with ADDER, the default, and with COBRAS. Each
call is made once before, so that imports do not count, and `serve` with a session file of its own. Nor does the
thread that thinks ahead: when it begins, the question is there. `--files` names the files.
"""

import argparse
import contextlib
import io
import os
import re
import signal
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from sklearn.datasets import load_iris

import cobras
from cobras import COBRAS, read_dataset
from cobras.cli import main as command

PACKAGE = Path(cobras.__file__).parent
LIMITS = {"COBRAS().fit": 16, "read_dataset": 7, "serve": 40, "serve, COBRAS": 40}


@contextlib.contextmanager
def watch(found: set[str]) -> Iterator[None]:
    """Collect the files in which functions run, in all threads but the one that thinks ahead."""

    def note(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if threading.current_thread().name == "cobras-ahead":
            return
        if event == "call" and not code.co_name.startswith("<") and code.co_filename.startswith(str(PACKAGE)):
            found.add(str(Path(code.co_filename).relative_to(PACKAGE)))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def wait_until_idle() -> None:
    """Wait for thinking ahead, and compiling: a server that is ended while it computes ends this program."""
    used = -1.0
    while time.process_time() - used > 0.1:
        used = time.process_time()
        time.sleep(2)


def serve(table: Path, session: Path, method: str, at_question: Callable[[], None]) -> None:
    """Start the server, fetch the first question as a page does, and stop it as Ctrl-C does."""
    output = io.StringIO()

    def visit() -> None:
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        while (address := re.search(r"http://\S+", output.getvalue())) is None:
            time.sleep(0.02)
        page = address.group()
        opener.open(page, timeout=60).read()
        question = f"{page.partition('?')[0].rstrip('/')}/api/question"
        while b'"pair"' not in opener.open(question, timeout=60).read():
            time.sleep(0.02)
        at_question()
        wait_until_idle()
        os.kill(os.getpid(), signal.SIGINT)

    visitor = threading.Thread(target=visit)
    visitor.start()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
        options = ["--session", str(session), "--method", method, "--port", "0", "--no-browser"]
        command(["serve", str(table), *options])
    visitor.join()


def files_of(call: Callable[[int, Callable[[], None]], Any]) -> set[str]:
    """Return the files on the way of a call; it gets the number of the try, and what to call where the way ends."""
    call(0, lambda: None)
    found: set[str] = set()
    until_end: list[set[str]] = []
    with watch(found):
        call(1, lambda: until_end.append(set(found)))
    return until_end[0] if until_end else found


def main() -> int:
    """Print a line per call; 1 if one touches more files than it should."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--files", action="store_true", help="name the files")
    options = parser.parse_args()
    iris = load_iris(as_frame=True)
    too_long = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "flowers.csv"
        iris.frame.to_csv(table, index=False)
        calls: dict[str, Callable[[int, Callable[[], None]], Any]] = {
            "COBRAS().fit": lambda k, _: COBRAS(max_queries=50, random_state=k).fit(iris.data, iris.target),
            "read_dataset": lambda k, _: read_dataset(table),
            "serve": lambda k, end: serve(table, folder / f"{k}.cobras", "adder", end),
            "serve, COBRAS": lambda k, end: serve(table, folder / f"{k}-cobras.cobras", "cobras", end),
        }
        for call, work in calls.items():
            found = files_of(work)
            too_long += len(found) > LIMITS[call]
            print(f"{call:14} {len(found):3} files (at most {LIMITS[call]})", flush=True)
            if options.files:
                print(*(f"    {file}" for file in sorted(found)), sep="\n")
    return too_long > 0


if __name__ == "__main__":
    sys.exit(main())
