"""Who may import whom, what is public, and that all of it is documented."""

import ast
import doctest
import inspect
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import cobras

ROOT = Path(cobras.__file__).parent
REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"

# Each folder, and the folders it may import from. What is not listed is closed.
ALLOWED = {
    "core": set(),
    "spaces": {"core"},
    "methods": {"core", "spaces"},
    "baselines": {"core", "spaces", "methods"},
    "session": {"core", "spaces", "methods"},
    "estimators": {"core", "spaces", "methods", "session", "baselines"},
    "data": {"core"},
    "bench": {"core", "spaces", "methods", "session", "estimators", "baselines", "data"},
    "web": {"core", "spaces", "methods", "session", "data"},
    "cli": {"core", "spaces", "methods", "session", "data", "bench", "web"},
    "__main__": {"cli"},
}


def imports(path: Path) -> set[str]:
    """The folders of cobras that a file imports from, inside functions as well."""
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
                public = getattr(cobras, part).__module__ if part in cobras.__all__ else name
                found.add(public.split(".")[1])
    return found - {"__version__"}


FILES = sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.name == "__main__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_folder_imports_only_from_those_below_it(path):
    folder = path.relative_to(ROOT).parts[0].removesuffix(".py")
    assert imports(path) - {folder} <= ALLOWED[folder]


def test_every_folder_is_in_the_list():
    folders = {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in FILES}
    assert folders == set(ALLOWED)


@pytest.mark.parametrize("folder", ["core", "spaces", "methods", "session"])
def test_every_module_has_its_tests(folder):
    modules = [path for path in (ROOT / folder).rglob("*.py") if path.name != "__init__.py"]
    homes = {path: REPOSITORY / "tests" / path.relative_to(ROOT).parent for path in modules}
    missing = [path for path, home in homes.items() if not any(home.rglob(f"test_{path.name}"))]
    assert [str(path.relative_to(ROOT)) for path in missing] == []


def test_a_file_name_says_one_thing():
    """Few names occur twice; that of a command may be the name of what it calls."""
    counts = Counter(path.name for path in FILES if path.parent != ROOT / "cli")
    assert len([name for name, count in counts.items() if count > 1 and name != "__init__.py"]) <= 5


def test_no_folder_has_more_than_fourteen_entries():
    trees = (
        ROOT,
        *(REPOSITORY / name for name in ("tests", "benchmarks", "docs", "examples", "experiments")),
    )
    folders = [folder for tree in trees for folder in (tree, *tree.rglob("*")) if folder.is_dir()]
    made = {"__pycache__", "fixtures", "_build", "tutorials", ".ruff_cache"}  # by tests or `make docs`
    kept = [folder for folder in folders if not made.intersection(folder.relative_to(REPOSITORY).parts)]
    entries = {str(folder): sum(path.name not in made for path in folder.iterdir()) for folder in kept}
    assert {name: n for name, n in entries.items() if n > 14} == {}


def test_the_public_names_are_those_of_the_stub():
    stub = ast.parse((ROOT / "__init__.pyi").read_text())
    names = [alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    everything: dict[str, object] = {}
    exec("from cobras import *", everything)
    assert sorted(cobras.__all__) == sorted(names) == sorted(everything.keys() - {"__builtins__"})
    assert set(names) <= set(dir(cobras))


def test_every_public_name_can_be_imported_and_is_documented():
    reference = (DOCS / "reference" / "api.md").read_text()
    for name in cobras.__all__:
        thing = getattr(cobras, name)
        assert inspect.getdoc(thing), f"{name} has no docstring"
        assert re.search(rf"^(\.\. auto\w+:: |)(cobras\.)?{name}$", reference, re.M), (
            f"{name} is not in docs/reference/api.md"
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
    guide = (DOCS / "reference" / "shell.md").read_text()
    for verb in ("serve", "ask", "run", "export", "predict", "demo"):
        text = subprocess.run(
            [sys.executable, "-m", "cobras", verb, "--help"],
            capture_output=True,
            text=True,
            check=True,
            env={"COLUMNS": "200"},
        ).stdout
        assert f"cobras {verb}" in guide
        for option in set(re.findall(r"--[a-z][a-z-]+", text)) - {"--help"}:
            assert option in guide, f"{option} of cobras {verb} is not in docs/reference/shell.md"


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("import cobras", {"numpy", "numba", "sklearn", "scipy", "polars", "narwhals", "typer"}),
        # To import scikit-learn takes longer than all else until the first question.
        ("from cobras import Session; Session([[i, -i] for i in range(50)]).ask()", {"sklearn", "pandas"}),
    ],
)
def test_imports_are_light(code, heavy):
    found = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print(*sorted(set(sys.modules) & {heavy}))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert found == []


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'COBRAZ'"):
        cobras.COBRAZ  # noqa: B018
    assert "COBRAS" in dir(cobras)
