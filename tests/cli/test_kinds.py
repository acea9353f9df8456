"""Every kind of data from the files on disk to the export, through the command."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pexpect
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from cobras.cli.options import session_file
from cobras.cli.source import open_for
from cobras.data import read_dataset
from cobras.session.journal import Journal
from tests.cli.conftest import LIMIT
from tests.data.kinds import KINDS, series, texts

Runner = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def own_cache(tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(environment, "XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("kind", KINDS)
def test_from_files_to_export(cobras: Runner, tmp_path: Path, kind: str) -> None:
    files = KINDS[kind](tmp_path)
    done = cobras("run", files.path, *files.options, "--max-queries", "15", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["ari"][-1] > 0.9
    asked = cobras("ask", files.path, *files.options, "--seed", "1", keys="y n n")
    assert asked.returncode == 0, asked.stderr
    assert not [word for word in files.secrets if word in asked.stdout]
    again = cobras("ask", files.path, keys="n")
    assert "Resumed: 3 answers" in again.stdout
    file = session_file(Path(files.path), None)
    exported = cobras("export", file, "--out", "out.csv", "--answers", "answers.json")
    assert exported.returncode == 0, exported.stderr
    out = pl.read_csv(tmp_path / "out.csv")
    assert out.columns == [*files.exported.columns, "cluster_id", "cluster"]
    assert_frame_equal(out.drop("cluster", "cluster_id"), files.exported)
    answers = json.loads((tmp_path / "answers.json").read_text())
    assert len(answers) == 4


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("kind", KINDS)
def test_through_a_terminal(
    tmp_path: Path, command: list[str], environment: dict[str, str], kind: str
) -> None:
    files = KINDS[kind](tmp_path)
    child = pexpect.spawn(
        command[0], [*command[1:], "ask", files.path, *files.options], cwd=tmp_path, env=environment,
        dimensions=(30, 100), encoding="utf-8", timeout=LIMIT,
    )  # fmt: skip
    child.expect("same cluster")
    child.expect(r"\[q\]|quit")
    child.send("n")
    child.expect("Saved: different")
    child.send("z")
    child.expect("Taken back")
    child.send("q")
    child.expect("To export: cobras export")
    child.expect(pexpect.EOF)
    child.wait()  # the end of its words is not yet its end, and closing would hang up
    child.close()
    assert child.exitstatus == 0


@pytest.mark.parametrize("features", ["dtw", "kshape", "points"])
def test_ways_to_compare_series(cobras: Runner, tmp_path: Path, features: str) -> None:
    """Each way is kept in the session; a method that needs rows is told of the way that has them."""
    files = series(tmp_path)
    given = [files.path, *files.options, "--features", features, "--method"]
    assert cobras("ask", *given, "cobras", keys="nq").returncode == 0
    with Journal(tmp_path / "engines.cobras") as journal:
        assert journal.get_meta("note:recipe")["features"] == features
        parameters = journal.get_meta("parameters")
    assert parameters.get("distance", "points") == features
    assert parameters["branch"] == ("random" if features == "points" else "smallest")
    assert "Resumed: 1 answer" in cobras("ask", files.path, keys="q").stdout
    other = cobras("ask", *given, "min_max", "--set", "n_clusters=2", "--session", "other.cobras", keys="q")
    if features == "points":
        assert other.returncode == 0, other.stderr
    else:
        assert other.stderr == "error: min_max clusters rows of numbers, not series; add --features points.\n"


@pytest.mark.usefixtures("own_cache")
def test_options_that_contradict_the_session(cobras: Runner, tmp_path: Path) -> None:
    files = texts(tmp_path)
    path = files.path
    assert cobras("ask", path, *files.options, keys="n").returncode == 0
    done = cobras("ask", path, "--kind", "image")
    assert done.returncode == 2
    assert done.stderr == (
        "error: letters.cobras was made with --kind text. "
        "Give the same, or begin another session with --session.\n"
    )
    (tmp_path / "letters" / "new.txt").write_text("a new letter")
    done = cobras("ask", path)
    assert done.returncode == 2
    assert "letters is not what it was when the session began: 'new.txt' came." in done.stderr
    assert len(done.stderr.splitlines()) == 1
    done = cobras("ask", "letters.cobras", "--kind", "text")
    assert done.stderr == (
        "error: letters.cobras is a session file, which says all about its data; add no options for it.\n"
    )


def test_where_sessions_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "photos.2024"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert session_file(folder, None) == tmp_path / "photos.2024.cobras"
    assert session_file(Path(), None) == tmp_path / "photos.2024.cobras"
    assert session_file(Path("t.csv"), None) == Path("t.cobras")
    assert session_file(Path("t.csv"), Path("other.cobras")) == Path("other.cobras")
    assert session_file(Path("s.cobras"), None) == Path("s.cobras")
    assert session_file(Path("../*.parquet"), None) == tmp_path.parent / f"{tmp_path.name}.cobras"
    assert session_file(tmp_path / "t-*.parquet", None) == tmp_path.parent / f"{tmp_path.name}.cobras"
    assert session_file(Path("s3://bucket/a/t-*.parquet"), None) == Path("a.cobras")


def test_tables_that_differ_by_their_suffix_have_sessions_of_their_own(tmp_path: Path) -> None:
    rows = pl.DataFrame({"x": [1, 2, 9, 8], "y": [1, 4, 7, 2]})
    csv, parquet, folder = tmp_path / "t.csv", tmp_path / "t.parquet", tmp_path / "t"
    rows.write_csv(csv)
    rows.select("y").write_parquet(parquet)
    folder.mkdir()
    usual = tmp_path / "t.cobras"
    assert session_file(parquet, None) == session_file(csv, None) == session_file(folder, None) == usual
    dataset = read_dataset(csv)
    open_for(csv, dataset, usual).close()
    assert session_file(csv, None) == usual
    assert session_file(parquet, None) == tmp_path / "t.parquet.cobras"
    assert session_file(folder, None) == tmp_path / "t-folder.cobras"
    csv.unlink()  # its place may have been taken by the other one
    assert session_file(parquet, None) == usual
    (tmp_path / "t.parquet.cobras").touch()
    assert session_file(parquet, None) == tmp_path / "t.parquet.cobras"
