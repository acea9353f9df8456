from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

COMMAND = [sys.executable, "-c", "import sys; from cobras.cli import main; sys.exit(main())"]
ENVIRONMENT = {**os.environ, "TERM": "xterm", "PYTHONIOENCODING": "utf-8", "COLUMNS": "80", "LINES": "24"}
LIMIT = 300  # seconds that a command may take: long enough for a machine with much other work

# Most commands are forked from a process that has imported what they need: three seconds less for each.
FORKS = multiprocessing.get_context("forkserver")
IMPORTED = (
    "cobras.cli.source",
    "cobras.cli.terminal.loop",
    "cobras.methods.adder",
    "cobras.spaces.kernels.kmeans",
)
FORKS.set_forkserver_preload([*IMPORTED, "cobras.spaces.euclidean", "polars", "sklearn.cluster"])


def run_process(command: list[Any], folder: Path, **options: Any) -> Any:
    """Run a process in a folder to its end, whatever that is."""
    given: dict[str, Any] = {"capture_output": True, "check": False, "timeout": LIMIT, "env": ENVIRONMENT}
    return subprocess.run(command, cwd=folder, **{**given, **options})


@pytest.fixture
def flowers(tmp_path: Path) -> Path:
    """Three groups of twenty rows, with a name, a text and a label."""
    rng = np.random.default_rng(0)
    kind = np.repeat(np.arange(3), 20)
    X = rng.normal(size=(60, 2)) + 8 * kind[:, None]
    path = tmp_path / "flowers.csv"
    pl.DataFrame(
        {
            "id": [f"f{k:02}" for k in range(60)],
            "length": X[:, 0].round(3),
            "width": X[:, 1].round(3),
            "colour": ["red", "blue"] * 30,
            "species": [f"secret-{k}" for k in kind],
        }
    ).write_csv(path)
    return path


@pytest.fixture
def command() -> list[str]:
    return COMMAND


@pytest.fixture
def environment() -> dict[str, str]:
    return ENVIRONMENT


Runner = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def cobras(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Run the command in a process of its own, keys through a pipe."""
    printed = tmp_path_factory.mktemp("printed")

    def run(*arguments: str | Path, keys: str = "") -> subprocess.CompletedProcess[str]:
        given = list(map(str, arguments))
        child = FORKS.Process(target=_run_command, args=(given, tmp_path, ENVIRONMENT, keys, printed))
        child.start()
        child.join(LIMIT)
        child.kill()
        child.join()
        texts = ((printed / name).read_text("utf-8") for name in ("out", "err"))
        return subprocess.CompletedProcess(given, child.exitcode or 0, *texts)

    return run


def _run_command(
    arguments: list[str], folder: Path, environment: dict[str, str], keys: str, printed: Path
) -> None:
    """Be the command: its own working directory, environment and standard streams."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    read, write = os.pipe()
    os.write(write, keys.encode())
    os.close(write)
    new = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, stream in enumerate((read, os.open(printed / "out", new), os.open(printed / "err", new))):
        os.dup2(stream, number)
    sys.stdin = os.fdopen(0, encoding="utf-8")
    sys.stdout, sys.stderr = (os.fdopen(k, "w", encoding="utf-8") for k in (1, 2))
    sys.argv = ["cobras", *arguments]
    from cobras.cli import main

    sys.exit(main())
