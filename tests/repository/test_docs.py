"""The Python in README and guides runs as it stands, and what the pages point to exists."""

import re
from pathlib import Path
from typing import Any

import pytest

from cobras import Answer
from tests.repository.test_architecture import ALLOWED

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "docs/guides/library.md", "docs/guides/series.md"])
def test_the_code_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)
    assert len(blocks) >= 2
    namespace: dict[str, Any] = {}
    namespace["ask_somebody"] = lambda i, j: Answer.of(bool(namespace["y"][i] == namespace["y"][j]))
    for block in blocks:
        exec(compile(block, page, "exec"), namespace)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/architecture.md"])
def test_files_that_a_page_names_exist(page):
    text = (ROOT / page).read_text()
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    named = re.findall(r"`((?:src|tests|docs|benchmarks|experiments)/[\w./]+|[a-z]+/[\w/]+\.py)`", text)
    assert links or named
    base = ROOT if page != "docs/architecture.md" else ROOT / "src" / "cobras"
    missing = [path for path in links if not (ROOT / page).parent.joinpath(path).exists()]
    missing += [path for path in named if not (ROOT / path).exists() and not (base / path).exists()]
    assert missing == []


def test_the_table_of_layers_is_what_the_tests_allow():
    rows = re.findall(r"^\| `(\w+)` \| (.*)\|$", (ROOT / "docs/architecture.md").read_text(), re.M)
    layers = {name: set(re.findall(r"`(\w+)`", allowed)) for name, allowed in rows if name in ALLOWED}
    folders = {path.name for path in (ROOT / "src" / "cobras").iterdir() if path.is_dir()}
    assert layers == {name: allowed for name, allowed in ALLOWED.items() if name in folders}


def test_no_folder_of_the_documentation_is_crowded():
    for folder in [ROOT / "docs", *(path for path in (ROOT / "docs").iterdir() if path.is_dir())]:
        names = [p.name for p in folder.iterdir() if not p.name.startswith(("_", "."))]
        assert len(names) <= 14, folder
