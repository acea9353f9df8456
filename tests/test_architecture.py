"""Who may import whom, what is public, and that all of it is documented."""

import ast
import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cobras

ROOT = Path(cobras.__file__).parent
DOCS = Path(__file__).parents[1] / "docs"

# Each room, and the rooms it may enter. What is not listed is closed.
BASE = {"types", "exceptions"}
ALLOWED = {
    "types": set(),
    "exceptions": {"types"},
    "cores": set(),
    "constraints": BASE,
    "partition": BASE,
    "spaces": BASE | {"cores", "inputs", "partition"},
    "clusterers": BASE | {"constraints", "inputs", "spaces"},
    "methods": BASE | {"clusterers", "constraints", "partition", "spaces"},
    "history": BASE,
    "exports": BASE | {"data", "history"},
    "replay": BASE | {"constraints", "partition", "history", "methods"},
    "progress": BASE | {"history", "partition"},
    "runner": BASE | {"session"},
    "inputs": BASE,
    "storage": BASE,
    "sessionfile": BASE | {"storage"},
    "data": BASE | {"cores"},
    "session": BASE
    | {
        "constraints",
        "exports",
        "history",
        "inputs",
        "methods",
        "partition",
        "progress",
        "replay",
        "sessionfile",
        "spaces",
    },
    "ahead": BASE | {"history", "replay", "session"},
    "oracles": BASE,
    "estimators": BASE | {"inputs", "oracles", "partition", "runner", "session", "spaces"},
    "bench": BASE | {"data", "estimators", "methods", "spaces"},
    "cli": BASE
    | {
        "ahead",
        "bench",
        "data",
        "history",
        "inputs",
        "oracles",
        "progress",
        "runner",
        "session",
        "spaces",
        "storage",
        "web",
    },
    "web": BASE
    | {"ahead", "constraints", "data", "history", "methods", "partition", "progress", "session", "spaces"},
    "__main__": {"cli"},
}

# Records, errors and protocols say all in their attributes.
WITHOUT_EXAMPLE = {
    *("Cluster", "SuperInstance", "Event", "Progress", "Record", "Revision", "Space"),
    *("CobrasError", "DataChangedError", "InconsistentAnswersError", "InvalidDataError"),
    *("InfeasibleConstraintsError", "SessionFileError", "StaleQuestionError", "StopAsking"),
}


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = (
                [f"{node.module}.{alias.name}" for alias in node.names]
                if node.module == "cobras"
                else [node.module]
            )
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("cobras."):
                part = name.split(".")[1]
                found.add(cobras._HOME.get(part, part).split(".")[0])
    return found - {"__version__"}


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_nobody_imports_whom_they_may_not(path):
    room = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if room == "__init__":
        return
    assert imports(path) - {room} <= ALLOWED[room]


def test_every_public_name_can_be_imported_and_is_documented():
    reference = (DOCS / "api.md").read_text()
    for name in cobras.__all__:
        thing = getattr(cobras, name)
        assert inspect.getdoc(thing), f"{name} has no docstring"
        assert re.search(rf"^(\.\. auto\w+:: |)(cobras\.)?{name}$", reference, re.M), (
            f"{name} is not in docs/api.md"
        )
        public = [m for m in vars(thing) if not m.startswith("_")] if inspect.isclass(thing) else []
        for member in public:
            value = inspect.getattr_static(thing, member)
            if inspect.isfunction(value) or isinstance(value, (property, classmethod, staticmethod)):
                assert inspect.getdoc(getattr(thing, member)), f"{name}.{member} has no docstring"


@pytest.mark.parametrize(
    "name", ["Answer", "COBRA", "COBRAS", "Constraints", "EuclideanSpace", "LabelOracle", "Session"]
)
def test_the_main_names_have_examples(name):
    assert doctest.DocTestFinder(recurse=False).find(getattr(cobras, name), name)[0].examples


def test_every_verb_and_option_of_the_shell_is_documented():
    guide = (DOCS / "shell.md").read_text()
    for verb in ("serve", "ask", "run", "export", "demo"):
        text = subprocess.run(
            [sys.executable, "-m", "cobras", verb, "--help"],
            capture_output=True,
            text=True,
            check=True,
            env={"COLUMNS": "200"},
        ).stdout
        assert f"cobras {verb}" in guide
        for option in set(re.findall(r"--[a-z][a-z-]+", text)) - {"--help"}:
            assert option in guide, f"{option} of cobras {verb} is not in docs/shell.md"


def test_the_import_is_light():
    heavy = {"numpy", "numba", "sklearn", "scipy", "polars", "typer"}
    code = f"import sys, cobras; print(*sorted(set(sys.modules) & {heavy}))"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert found == []


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'COBRAZ'"):
        cobras.COBRAZ  # noqa: B018
    assert "COBRAS" in dir(cobras)
