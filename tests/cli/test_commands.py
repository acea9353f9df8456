"""Whole commands in processes of their own, through pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cobras.cli import main, source
from cobras.data import read_dataset
from cobras.data.cache import cache_folder
from cobras.session.journal import Journal
from tests import started
from tests.cli.conftest import COMMAND, run_process

Runner = Callable[..., "subprocess.CompletedProcess[str]"]


def test_ask_resume_and_export_without_the_first_options(
    cobras: Runner, flowers: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(flowers.parent)
    # As long as nothing was said, options may be changed.
    assert cobras("ask", "flowers.csv", "--label", "colour", keys="q").returncode == 0
    begun = cobras("ask", "flowers.csv", "--label", "species", "--drop", "width", "--seed", "3", keys="y n u")
    assert begun.returncode == 0, begun.stderr
    assert begun.stderr == ""
    assert "Used 'colour' as categories." in begun.stdout
    assert "Answers are saved in flowers.cobras." in begun.stdout
    pl.read_csv(flowers).write_parquet("flowers.parquet")
    own = " ".join(cobras("ask", "flowers.parquet", keys="q").stdout.split())  # lines are folded
    assert "saved in flowers.parquet.cobras, since flowers.cobras is about another file." in own
    resumed = cobras("ask", "flowers.csv", keys="zn\nn\n")
    assert "Resumed: 3 answers in flowers.cobras." in resumed.stdout
    assert resumed.stdout.splitlines()[-1].startswith("Saved in flowers.cobras: 4 answers, ")
    assert "width" not in begun.stdout + resumed.stdout
    assert "secret" not in begun.stdout + resumed.stdout
    assert main(["ask", "flowers.csv", "--label", "colour"]) == 2
    assert capsys.readouterr().err == (
        "error: flowers.cobras was made with --label species. "
        "Give the same, or begin another session with --session.\n"
    )
    other = ["--label", "species", "--drop", "colour", "--session", "flowers.cobras"]
    assert main(["run", "flowers.csv", *other]) == 2
    assert capsys.readouterr().err.startswith("error: flowers.cobras was made with --drop width. Give the")
    exported = cobras("export", "flowers.cobras", "--out", "out.parquet", "--answers", "answers.csv")
    assert (exported.returncode, exported.stdout) == (0, "")
    out = pl.read_parquet(flowers.with_name("out.parquet"))
    assert out.drop("cluster", "cluster_id").equals(pl.read_csv(flowers))
    answers = pl.read_csv(flowers.with_name("answers.csv"))
    assert answers["answer"].to_list() == ["same", "different", "different", "different"]
    assert set(answers["i"]) <= set(out["id"])
    assert main(["export", "flowers.cobras", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["labels"] == out["cluster"].to_list()
    assert [report["cluster_ids"][number] for number in report["labels"]] == out["cluster_id"].to_list()
    assert report["n_answers"] == 4
    assert report["ids"][0] == "f00"


def test_run_json_is_json_only(cobras: Runner, flowers: Path) -> None:
    done = cobras("run", "flowers.csv", "--label", "species", "--max-queries", "10", "--json")
    assert done.returncode == 0
    report = json.loads(done.stdout)
    assert set(report) == {"method", "seed", "n", "n_queries", "n_clusters", "ari", "seconds", "labels"}
    assert report["method"] == "adder"
    assert len(report["ari"]) == report["n_queries"] + 1 <= 11
    assert report["ari"][-1] == 1.0
    assert report["n_clusters"] == 3
    assert len(np.unique(report["labels"])) == 3
    assert [path.name for path in flowers.parent.iterdir()] == ["flowers.csv"]


def test_run_table(cobras: Runner, flowers: Path) -> None:
    done = cobras(
        "run", "flowers.csv", "--label", "species", "--method", "cobra", "--set", "n_super_instances=5"
    )
    assert done.returncode == 0
    head, first, *_, last = done.stdout.splitlines()
    assert head.split() == ["queries", "ARI"]
    assert first.split()[0] == "0"
    assert last.startswith("cobra, seed 0: 3 clusters of 60 rows after ")
    assert "secret" not in done.stdout


def test_a_reader_that_leaves_is_no_error(
    flowers: Path, command: list[str], environment: dict[str, str]
) -> None:
    with started(
        [*command, "ask", str(flowers), "--label", "species"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(b"y" * 50)
        process.stdin.close()
        assert process.stderr.read() == b""


def test_demo_without_a_terminal(cobras: Runner, flowers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(flowers.parent)
    done = cobras("demo", "--terminal", keys="n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("Saved in digits.cobras: 1 answer, ")
    assert main(["export", "digits.cobras", "--out", "digits.csv"]) == 0
    assert pl.read_csv(flowers.with_name("digits.csv")).columns == ["id", "digit", "cluster_id", "cluster"]


def test_export_does_not_overwrite_what_it_is_made_from(cobras: Runner, flowers: Path) -> None:
    cobras("ask", "flowers.csv", keys="y n")
    before = flowers.read_bytes()
    for option in ("--out", "--answers"):
        done = cobras("export", "flowers.cobras", option, "flowers.csv")
        assert done.returncode == 2
        assert "flowers.csv is what the clusters are made from" in done.stderr
    assert flowers.read_bytes() == before


@pytest.mark.parametrize(("given", "used"), [({}, "adder"), ({"method": "cobra"}, "cobra")])
def test_the_method_without_a_word(given: dict[str, str], used: str, flowers: Path) -> None:
    dataset = read_dataset(flowers, label="species")
    assert source.open_session(dataset, None, **given).parameters["method"] == used


def test_a_method_of_somebody_else_runs_only_when_it_is_named(
    flowers: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = flowers.with_name("elsewhere.py")
    home.write_text("from cobras.methods.cobra import cobra as ask\nprint('imported')\n")
    monkeypatch.syspath_prepend(flowers.parent)
    file = str(flowers.with_suffix(".cobras"))
    named = ["--method", "elsewhere:ask"]
    assert main(["run", str(flowers), "--label", "species", *named, "--session", file]) == 0
    capsys.readouterr()
    for verb in (["export"], ["ask"], ["serve", "--no-browser"]):
        monkeypatch.delitem(sys.modules, "elsewhere", raising=False)
        assert main([*verb, file]) == 2
        captured = capsys.readouterr()
        assert "imported" not in captured.out
        assert "code outside cobras" in captured.err
    assert main(["export", file, *named, "--out", str(flowers.with_name("out.csv"))]) == 0
    assert "imported" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX permissions")
def test_what_is_made_from_private_data_is_private(flowers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(flowers.parent)
    monkeypatch.setenv("XDG_CACHE_HOME", str(flowers.parent))
    (flowers.parent / "cobras").mkdir(0o755)  # as versions before made it
    before = os.umask(0o022)
    try:
        for mode, expected in ((0o600, 0o600), (0o640, 0o640), (0o644, 0o644)):
            flowers.chmod(mode)
            assert (
                main(["run", "flowers.csv", "--label", "species", "--max-queries", "2", "--session", "s"])
                == 0
            )
            assert main(["export", "s", "--out", "out.csv", "--answers", "answers.json"]) == 0
            assert [Path(name).stat().st_mode & 0o777 for name in ("out.csv", "answers.json")] == [
                expected
            ] * 2
            assert Path("s").stat().st_mode & 0o777 == 0o600
            for name in ("s", "out.csv", "answers.json"):
                Path(name).unlink()
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    assert cache_folder().stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("column", ["id", "number"])
def test_a_resume_never_changes_the_recipe(
    cobras: Runner, flowers: Path, monkeypatch: pytest.MonkeyPatch, column: str
) -> None:
    """A table that gained a column that counts or names its rows is read as before, and so is the first one."""
    monkeypatch.chdir(flowers.parent)
    first = pl.read_csv(flowers).select("length", "width")
    first.write_csv(flowers)
    assert cobras("ask", "flowers.csv", "--seed", "0", keys="yn").returncode == 0
    with Journal("flowers.cobras") as journal:
        recipe = journal.get_meta("note:recipe")
    names = pl.Series(column, [f"f{k}" for k in range(60)] if column == "id" else range(1, 61))
    first.insert_column(0, names).write_csv(flowers)
    resumed = cobras("ask", "flowers.csv", keys="n")
    assert (resumed.returncode, resumed.stderr) == (0, "")
    with Journal("flowers.cobras") as journal:
        assert journal.get_meta("note:recipe") == recipe
    first.select("length", "width").write_csv(flowers)
    again = cobras("export", "flowers.cobras", "--out", "out.csv")
    assert again.returncode == 0, again.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_the_name_of_a_file_need_not_be_utf_8(flowers: Path, tmp_path: Path) -> None:
    flowers.rename(tmp_path / os.fsdecode(b"caf\xe9.csv"))  # Latin-1
    for arguments in ((b"ask", b"caf\xe9.csv"), (b"export", b"caf\xe9.cobras", b"--out", b"\xe9.csv")):
        done = run_process([*COMMAND, *arguments], tmp_path, input=b"y")
        assert done.returncode == 0, done.stderr
    assert done.stderr == b"Wrote \xe9.csv.\n"


def test_run_on_a_session_that_others_made(
    flowers: Path, cobras: Runner, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A column that was left out may answer, since nothing was found out by it; all advice can be followed."""
    monkeypatch.chdir(flowers.parent)
    run = ["run", "flowers.csv", "--label", "species", "--max-queries", "3", "--session"]
    assert cobras("ask", "flowers.csv", "--session", "with.cobras", keys="y n q").returncode == 0
    assert main([*run, "with.cobras"]) == 2
    assert capsys.readouterr().err == (
        "error: with.cobras was made without --label. Begin another session with --session.\n"
    )
    assert (
        cobras("ask", "flowers.csv", "--drop", "species", "--session", "out.cobras", keys="y n q").returncode
        == 0
    )
    assert main([*run, "out.cobras", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_queries"] == 3
    assert main(["run", "out.cobras", "--label", "species"]) == 2
    assert (
        capsys.readouterr().err == "error: out.cobras is a session file; cobras run takes the data itself.\n"
    )
