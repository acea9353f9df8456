"""The tutorials run without a warning, and each checks its own result; `make docs` runs them, too."""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plt.switch_backend("agg")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    before = set(path.parent.iterdir())
    runpy.run_path(str(path))
    assert "answers" in capsys.readouterr().out
    assert len(plt.get_fignums()) >= 1
    plt.close("all")
    assert set(path.parent.iterdir()) == before


def test_a_tutorial_for_each_of_five_people() -> None:
    people = {path.stem.split("_")[0] for path in EXAMPLES}
    assert people >= {"analyst", "engineer", "photographer", "researcher", "support"}
