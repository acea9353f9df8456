"""The examples run, and each checks its own result."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-W", "error", str(path)]
    # What it prints on standard error is captured by pytest, and shown if it fails.
    assert "answers" in subprocess.check_output(
        command, cwd=tmp_path, env=environment, text=True, timeout=120
    )


def test_one_example_for_each_kind() -> None:
    assert {path.stem for path in EXAMPLES} >= {
        f"cluster_{kind}" for kind in ("a_table", "images", "texts", "series")
    }
