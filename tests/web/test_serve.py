"""`cobras.serve`: the page from Python, and the session that comes back."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import httpx

from tests import started

PROGRAM = """
import pandas as pd, cobras
frame = pd.DataFrame({"size": [0.0, 0.1, 0.2, 5.0, 5.1, 5.2], "colour": list("aaabbb")}, index=list("uvwxyz"))
for file in (None, "answers.cobras"):
    session = cobras.serve(frame, file, browser=False, random_state=0)
    found = session.to_frame()
    print("result", session.n_answers, *found.index, type(found).__name__, session.ask() is None, flush=True)
    session.close()
"""


def next_line(process: subprocess.Popen[str], start: str) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(start):
            return line.strip()
    raise AssertionError(f"no line begins with {start!r}")


def test_it_returns_the_session_when_it_is_closed(tmp_path: Path) -> None:
    """On the page, or by Ctrl-C; without a file and with one."""
    command = [sys.executable, "-c", PROGRAM]
    with started(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        for by_page, n_answers in ((True, 1), (False, 1)):
            address = httpx.URL(next_line(process, "http://"))
            headers = {"Authorization": f"Bearer {address.params['token']}"}
            with httpx.Client(base_url=address.copy_with(query=None), headers=headers, timeout=300) as client:
                assert client.get("/api/settings").json()["can_close"]
                pair = client.get("/api/question?wait=60").json()["pair"]
                client.post("/api/tell", json={**pair, "answer": "different"}).raise_for_status()
                if by_page:
                    client.post("/api/close").raise_for_status()
            if not by_page:
                process.send_signal(signal.SIGINT)
            words = next_line(process, "result").split()
            assert words[1:9] == [str(n_answers), *"uvwxyz", "DataFrame"]
        assert process.wait(300) == 0
    assert (tmp_path / "answers.cobras").is_file()
