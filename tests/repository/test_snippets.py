"""Every block of code in README and documentation runs as it stands; what takes hours or a cluster is parsed."""

from __future__ import annotations

import io
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import typer
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from cobras import Answer, LabelOracle, Session, run
from cobras.bench.experiment import read_experiment
from cobras.cli import app, main
from cobras.web.api.models import Question, Refusal

ROOT = Path(__file__).parents[2]
MADE = {"_build", "tutorials", "paper", "adder", "boards"}  # by `make docs` and by `cobras bench report`
BLOCK = re.compile(r"^( *)```(\S*)\n(.*?)^\1```$", re.M | re.S)
ENDLESS = {"serve", "demo", "bench"}


def blocks(page: str, *languages: str) -> list[str]:
    """Return the blocks of a page in some languages."""
    return [text for _, language, text in BLOCK.findall((ROOT / page).read_text()) if language in languages]


def pages() -> Iterator[str]:
    """Return the pages that people wrote."""
    yield from ("README.md", "CONTRIBUTING.md")
    for path in sorted((ROOT / "docs").rglob("*.md")):
        name = path.relative_to(ROOT / "docs")
        if MADE.isdisjoint(name.parts):
            yield f"docs/{name}"


PAGES = list(pages())


def with_blocks(*languages: str) -> list[str]:
    return [page for page in PAGES if blocks(page, *languages)]


@pytest.mark.parametrize("page", with_blocks("python"))
def test_python_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    namespace["ask_somebody"] = lambda i, j: Answer.of(bool(namespace["y"][i] == namespace["y"][j]))
    for block in blocks(page, "python"):
        exec(compile(block, page, "exec"), namespace)


def test_the_first_example_reaches_the_figure_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    block = blocks("README.md", "python")[0]
    ((expression, figure),) = re.findall(r"^(.+?)  # (\d\.\d+)", block, re.M)
    namespace: dict[str, Any] = {}
    exec(compile(block, "README.md", "exec"), namespace)
    assert f"{eval(expression, namespace):.2f}" == figure


@pytest.mark.parametrize("page", with_blocks("sh", "console"))
def test_shell_commands_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_flowers(tmp_path)
    monkeypatch.chdir(tmp_path)
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.M)
    verbs = typer.main.get_command(app)
    for block in blocks(page, "sh", "console"):
        for line in block.splitlines():
            program, *words = shlex.split(line.removeprefix("$ "), comments=True)
            if program == "make":
                assert set(words) <= {*targets, "help"}
            elif program == "cobras":
                monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"ynq")))
                if words[0] in ENDLESS:
                    parse(verbs, words)
                else:
                    assert main(words) == 0, line
            else:
                assert line == "pip install .", "say here how that is tested"  # test_wheel.py installs it


def write_flowers(folder: Path) -> None:
    """Write flowers.csv and new.csv, of which README speaks."""
    iris = load_iris()
    table = pl.DataFrame(iris.data, schema=["sepal", "width", "petal", "breadth"])
    table = table.with_columns(species=pl.Series(iris.target_names[iris.target]))
    table[:140].write_csv(folder / "flowers.csv")
    table[140:].write_csv(folder / "new.csv")


def parse(command: Any, words: list[str]) -> None:
    """Read the words of a command without running it: unknown options and files that are not there raise."""
    named = [word for word in words if word.endswith((".toml", ".csv"))]
    assert all((ROOT / word).exists() or Path(word).exists() for word in named)
    while hasattr(command, "commands"):
        command, words = command.commands[words[0]], words[1:]
    command.make_context(command.name, words).close()


@pytest.mark.parametrize("page", with_blocks("toml"))
def test_experiments_are_read(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    write_flowers(tmp_path)
    Path("flowers.csv").rename("mine.csv")
    for block in blocks(page, "python"):
        if name := re.match(r"# (\w+\.py)\n", block):
            Path(name[1]).write_text(block)
    for block in blocks(page, "toml"):
        given = tomllib.loads(block)
        parts = [] if "tasks" in given else ['tasks = ["generated-blobs"]']
        parts += ["minutes = 1"] if "person" in block else []
        parts += [block] + ([] if "methods" in given else ["[methods.A]\nuse = 'cobras.COBRAS'"])
        Path("experiment.toml").write_text("\n".join(parts))
        experiment = read_experiment(Path("experiment.toml"))
        assert {contestant.name for contestant in experiment.contestants} >= set(given.get("methods", ()))


def test_the_method_of_the_experiments_page_clusters() -> None:
    (block,) = blocks("docs/results/experiments.md", "python")
    namespace: dict[str, Any] = {}
    exec(compile(block, "mine.py", "exec"), namespace)
    y = np.arange(90) % 2
    X = np.random.default_rng(0).normal(size=(90, 2)) + 9 * y[:, None]
    session = run(Session(X, namespace["first_against_all"], random_state=0), LabelOracle(y))
    assert adjusted_rand_score(y, session.labels_) == 1


def test_answers_of_the_server_have_the_fields_that_the_page_shows() -> None:
    question, refusal = (json.loads(block) for block in blocks("docs/reference/http.md", "json"))
    assert set(question) == set(Question.model_fields)
    assert set(refusal) == set(Refusal.model_fields)


@pytest.mark.parametrize("page", PAGES)
def test_all_code_is_in_blocks_that_are_tested(page: str) -> None:
    text = (ROOT / page).read_text()
    languages = {language for _, language, _ in BLOCK.findall(text)}
    known = {"python", "sh", "console", "toml", "json", "text", "{eval-rst}", "{toctree}"}
    assert languages <= known
    assert not re.search(r"\n\n    \S", BLOCK.sub("", text)), "indented code"
