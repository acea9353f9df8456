from __future__ import annotations

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


def run_process(command: list[Any], folder: Path, **options: Any) -> Any:
    """Run a process in a folder to its end, whatever that is."""
    given: dict[str, Any] = {"capture_output": True, "check": False, "timeout": LIMIT, "env": ENVIRONMENT}
    return subprocess.run(command, cwd=folder, **given, **options)


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
def cobras(tmp_path: Path) -> Runner:
    """Run the command in a process of its own, keys through a pipe."""

    def run(*arguments: str | Path, keys: str = "") -> subprocess.CompletedProcess[str]:
        return run_process([*COMMAND, *map(str, arguments)], tmp_path, input=keys, text=True)

    return run
