"""Exit codes, one-line errors and help."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import polars as pl
import pytest

from cobras.cli import main
from tests import started
from tests.cli.conftest import COMMAND, ENVIRONMENT, LIMIT, run_process

Runner = Callable[..., "subprocess.CompletedProcess[str]"]
VERBS = ["serve", "ask", "run", "export", "demo"]


@pytest.mark.parametrize("verb", VERBS)
def test_help_has_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--help"]) == 0
    assert f"Example: cobras {verb}" in capsys.readouterr().out


def test_without_a_verb_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert all(verb in capsys.readouterr().out for verb in ["demo"])
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("cobras 0")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["ask"], "Missing argument 'PATH'. See cobras ask --help."),
        (["ask", "nowhere.csv"], "There is no file nowhere.csv."),
        (
            ["ask", "flowers.csv", "--label", "kind"],
            "flowers.csv has no column 'kind'; its columns are 'id', 'length'",
        ),
        (["ask", "flowers.csv", "--max-queries", "-1"], "--max-queries must be 0 or more, not -1."),
        (["ask", "flowers.csv", "--seed", "x"], "Invalid value for '--seed'"),
        (["ask", "flowers.csv", "--method", "magic"], "There is no method 'magic'."),
        (["ask", "flowers.csv", "--set", "n_super_instances"], "--set takes NAME=VALUE"),
        (["ask", "flowers.csv", "--set", "n_super_instances=3"], "adder has no option n_super_instances"),
        (["ask", "flowers.csv", "--method", "npu"], "n_clusters"),
        (["ask", "flowers.csv", "--session", "text.cobras"], "text.cobras is not a session file"),
        (["ask", "flowers.csv", "--session", "no/folder.cobras"], "is not a folder"),
        (["ask", "none.cobras"], "There is no session file none.cobras."),
        (["ask", "text.cobras", "--label", "a"], "is a session file, which says all about its data"),
        (["run", "flowers.csv"], "Missing option '--label'. See cobras run --help."),
        (["run", "flowers.csv", "--label", "gaps"], "has no column 'gaps'"),
        (["run", "gaps.csv", "--label", "kind"], "Column 'kind' is empty in 1 of"),
        (
            ["run", "flowers.csv", "--label", "species", "--seed", "-1"],
            "--seed must be None or an integer",
        ),
        (["export", "none.cobras"], "There is no session file none.cobras."),
        (["export", "text.cobras"], "text.cobras is not a session file of cobras."),
        (
            ["export", "flowers.csv"],
            "and there are no answers about it yet. Begin with cobras serve flowers.csv.",
        ),
        (["serve", "--no-browser"], "Missing argument 'PATH'"),
        (["serve", "--no-browser", "nowhere.csv"], "There is no file nowhere.csv."),
        (["serve", "--no-browser", "none.cobras"], "There is no session file none.cobras."),
        (["serve", "--no-browser", "flowers.csv", "--method", "magic"], "There is no method 'magic'."),
        (["serve", "--no-browser", "flowers.csv", "--port", "70000"], "Invalid value for '--port'"),
        (["serve", "--no-browser", "flowers.csv", "--host", "203.0.113.7"], "Cannot listen on 203.0.113.7"),
        (["serve", "--no-browser", "flowers.csv", "--host", "no such host"], "Cannot listen on no such host"),
        (
            ["serve", "--no-browser", "flowers.csv", "--keys", "nowhere.json"],
            "--keys takes JSON or a file of it",
        ),
        (["serve", "--no-browser", "flowers.csv", "--session", "no/folder.cobras"], "is not a folder"),
        (["demo", "--no-browser", "--max-queries", "3"], "--max-queries needs --terminal"),
        (["frobnicate"], "No such command 'frobnicate'. See cobras --help."),
        (["exprt"], "No such command 'exprt'. Did you mean 'export'? See cobras --help."),
    ],
)
def test_errors_are_one_line_with_exit_code_2(
    arguments: list[str],
    sentence: str,
    flowers: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(flowers.parent)
    Path("text.cobras").write_text("not a session file, but long enough to look at" * 9)
    Path("gaps.csv").write_text("x,kind\n1,a\n2,\n")
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert sentence in captured.err
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["export", "flowers.csv"], ["predict", "flowers.csv", "flowers.csv"]])
def test_data_in_place_of_its_session(
    arguments: list[str],
    flowers: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(flowers.parent)
    options = ["--label", "species", "--max-queries", "3", "--session", "flowers.cobras"]
    assert main(["run", "flowers.csv", *options]) == 0
    capsys.readouterr()
    assert main(arguments) == 2
    sentence = "error: flowers.csv is not a session file. The answers about it are in flowers.cobras.\n"
    assert capsys.readouterr().err == sentence


def test_debug_shows_where(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "nowhere.csv", "--debug"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_data_that_changed_or_is_gone(
    flowers: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(flowers.parent)
    assert (
        main(["run", "flowers.csv", "--label", "species", "--max-queries", "3", "--session", "s.cobras"]) == 0
    )
    text = flowers.read_text()
    capsys.readouterr()
    for change, sentence in (
        (text.replace("length", "height"), "is not what it was when the session began"),
        (text.replace("f00,", "f00,1"), "or to an earlier state of it: that one has other values"),
        ("\n".join(text.splitlines()[:-1]), "belongs to another table"),
    ):
        flowers.write_text(change)
        assert main(["export", "s.cobras"]) == 2
        captured = capsys.readouterr()
        assert sentence in captured.err
        assert captured.out == ""
    flowers.rename("moved.txt")
    assert main(["export", "s.cobras"]) == 2
    gone = capsys.readouterr().err
    assert "The data of s.cobras is gone: there is no" in gone
    assert "cobras serve PATH --session s.cobras, or --data PATH for export and predict" in gone
    Path("moved.txt").write_text(text)
    assert main(["export", "s.cobras", "--data", "moved.txt", "--out", "out.csv"]) == 0
    more = ["--label", "species", "--max-queries", "5", "--session", "s.cobras"]
    assert main(["run", "moved.txt", *more]) == 0


def test_a_change_that_only_the_full_comparison_finds_ends_the_conversation(
    cobras: Runner, tmp_path: Path
) -> None:
    rows = [f"{k % 7}.5,{k % 11}.5" for k in range(5000)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *rows]))
    assert cobras("ask", "t.csv", keys="y").returncode == 0
    rows[2] = "1.25,3.25"
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *rows]))
    done = cobras("ask", "t.csv", keys="n")
    assert done.returncode == 2
    assert "belongs to another table" in done.stderr
    assert "Saved: " not in done.stdout


def test_session_and_data_may_move_together(
    flowers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = tmp_path / "s.cobras"
    options = ["--label", "species", "--max-queries", "3", "--session", str(session)]
    assert main(["run", str(flowers), *options]) == 0
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for path in (flowers, session):
        shutil.move(path, folder)
    capsys.readouterr()
    assert main(["export", str(folder / "s.cobras")]) == 0
    assert capsys.readouterr().out.startswith("id,length,width,colour,species,cluster_id,cluster\n")


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from cobras.cli import main; main(['--help']);"
        "print([m for m in ('numpy', 'polars', 'sklearn', 'scipy', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.fixture
def poisoned(flowers: Path, tmp_path: Path) -> Iterator[Path]:
    """A script like the command that pip installs; modules that lie beside the data leave a word if they run."""
    script = tmp_path / "bin" / "cobras"
    script.parent.mkdir()
    script.write_text(
        "import sys\nfrom cobras.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
    )
    for name in (
        "numpy",
        "cobras",
        "joblib",
        "pickle",
        "socket",
        "sklearn",
        "distributed",
        "multiprocessing",
    ):
        (tmp_path / f"{name}.py").write_text(f"open('was-run', 'a').write('{name} ')\nraise ImportError\n")
    yield script
    assert not (tmp_path / "was-run").exists(), (tmp_path / "was-run").read_text()


def test_python_m_runs_no_module_beside_the_data(tmp_path: Path) -> None:
    for name in ("random", "typing", "inspect", "lazy_loader", "numpy", "typer"):
        (tmp_path / f"{name}.py").write_text(f"open('was-run', 'a').write('{name} ')\n")
    done = run_process([sys.executable, "-m", "cobras", "--version"], tmp_path, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("cobras 0")
    assert not (tmp_path / "was-run").exists(), (tmp_path / "was-run").read_text()


def test_another_program_that_python_m_runs_keeps_its_folder(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "__init__.py").write_text("import cobras\nimport beside\n")
    (tmp_path / "own" / "__main__.py").write_text("import beside\nprint(beside.word)\n")
    (tmp_path / "beside.py").write_text("word = 'here'\n")
    for arguments in ((), ("cobras",)):
        done = run_process([sys.executable, "-m", "own", *arguments], tmp_path, text=True)
        assert (done.returncode, done.stdout) == (0, "here\n"), done.stderr


def test_the_map_runs_no_module_beside_the_data(poisoned: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(poisoned), "serve", "flowers.csv", "--no-browser"]
    environment = {**ENVIRONMENT, "XDG_STATE_HOME": str(tmp_path / "state")}
    with started(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        base, token = server.stdout.readline().rstrip("\n").split("/?token=")
        with httpx.Client(base_url=base, params={"token": token}, trust_env=False, timeout=LIMIT) as client:
            end = time.monotonic() + LIMIT
            found = {"layout": "none", "pending": True}
            while found["pending"] and found["layout"] != "tsne" and time.monotonic() < end:
                time.sleep(0.1)
                found = client.get("/api/map").json()
    assert (found["layout"], found["problem"]) == ("tsne", "")


EXPERIMENT = """
tasks = ["generated-blobs"]
repetitions = 1
folds = 2
queries = 2
[methods.COBRAS]
use = "cobras.COBRAS"
"""


@pytest.mark.parametrize("workers", ["dask", "joblib"])
def test_workers_run_no_module_beside_the_data(poisoned: Path, tmp_path: Path, workers: str) -> None:
    if workers == "dask":
        pl.read_csv(tmp_path / "flowers.csv").write_parquet(tmp_path / "flowers.parquet")
        arguments = [
            "run",
            "flowers.parquet",
            "--label",
            "species",
            "--scheduler",
            "local",
            "--max-queries",
            "1",
        ]
    else:
        (tmp_path / "small.toml").write_text(EXPERIMENT)
        arguments = ["bench", "run", "small.toml", "--jobs", "2"]
    done = run_process([sys.executable, str(poisoned), *arguments], tmp_path, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs the signals of POSIX")
def test_an_interrupt_waits_for_the_end_of_an_import(tmp_path: Path, flowers: Path) -> None:
    """Within one it could keep a lock that the other thread of `ask` waits for, so that the command hung."""
    (tmp_path / "own.py").write_text(
        "import pathlib, signal, time\n"
        "signal.raise_signal(signal.SIGINT)\n"
        "pathlib.Path('whole').touch()\n"
        "def method(*_):\n"
        "    yield time.sleep(60)\n"
    )
    environment = {**ENVIRONMENT, "PYTHONPATH": str(tmp_path)}
    command = [*COMMAND, "run", flowers, "--label", "species", "--method", "own:method"]
    done = run_process(command, tmp_path, env=environment, text=True)
    assert (tmp_path / "whole").exists()
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
