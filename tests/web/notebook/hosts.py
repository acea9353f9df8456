"""A real JupyterLab and a real marimo, each in a process of its own, with one notebook."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

from playwright.sync_api import Frame, Page

from tests.web.page.browser import PATIENCE, SHOWN

TOKEN = "for-this-run-only"
FRAME = "iframe[title=cobras]"


@contextlib.contextmanager
def jupyterlab(folder: Path, *cells: str) -> Iterator[str]:
    """A JupyterLab with a notebook of these cells; its address."""
    code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    text = {"cells": [{**code, "source": cell} for cell in cells], "metadata": kernel}
    (folder / "points.ipynb").write_text(json.dumps({**text, "nbformat": 4, "nbformat_minor": 4}))
    options = ["--no-browser", f"--IdentityProvider.token={TOKEN}", "--allow-root", "--expose-app-in-browser"]
    with _program(folder, ["jupyterlab", *options]) as address:
        yield f"{address}/lab/tree/points.ipynb?token={TOKEN}"


@contextlib.contextmanager
def marimo(folder: Path, *cells: str) -> Iterator[str]:
    """A marimo with a notebook of these cells, which run when it is opened; its address."""
    # marimo finds the names that cells share by itself.
    code = "".join(f"@app.cell\ndef _():\n{_indent(cell)}\n    return\n\n" for cell in cells)
    (folder / "points.py").write_text(f"import marimo\napp = marimo.App()\n\n{code}")
    (folder / "pyproject.toml").write_text("[tool.marimo.runtime]\nauto_instantiate = true\n")
    options = ["points.py", "--headless", f"--token-password={TOKEN}", "--skip-update-check"]
    with _program(folder, ["marimo", "edit", *options]) as address:
        yield f"{address}/?access_token={TOKEN}"


def run_all(page: Page, command: str = "run-all-cells") -> None:
    """Run all cells of a notebook in JupyterLab, once its kernel is there."""
    page.get_by_text("| Idle").wait_for()
    page.evaluate(f"() => void window.jupyterapp.commands.execute('notebook:{command}')")


def widget_of(page: Page) -> Frame:
    """The frame of the widget, once it asks."""
    page.frame_locator(FRAME).locator(SHOWN).wait_for()
    frame = page.locator(FRAME).element_handle().content_frame()
    assert frame is not None
    return frame


def wait_for_server(address: str) -> None:
    """Wait until a server answers."""
    for _ in range(PATIENCE // 200):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(address, timeout=10).close()
            return
        time.sleep(0.2)
    raise AssertionError(f"{address} does not answer")


@contextlib.contextmanager
def _program(folder: Path, arguments: Sequence[str]) -> Iterator[str]:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    # None of the settings of the person who runs this.
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "XDG_CONFIG_HOME")
    env = {**os.environ, **dict.fromkeys(names, str(folder / "settings"))}
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    with (folder / "server.log").open("wb") as log:
        command = [sys.executable, "-m", *arguments, f"--port={port}"]
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()  # not killed: it ends its kernels
        process.wait(PATIENCE / 1000)


def _indent(code: str) -> str:
    return "\n".join(f"    {line}" for line in code.strip().splitlines())
