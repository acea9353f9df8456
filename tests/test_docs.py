"""The Python in README and guide runs as it stands."""

import re
from pathlib import Path
from typing import Any

import pytest

from cobras import Answer

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("page", ["README.md", "docs/guides/library.md", "docs/guides/series.md"])
def test_the_code_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)
    assert len(blocks) >= 2
    namespace: dict[str, Any] = {}
    namespace["ask_somebody"] = lambda i, j: Answer.of(bool(namespace["y"][i] == namespace["y"][j]))
    for block in blocks:
        exec(compile(block, page, "exec"), namespace)
