"""Every kind of data from the files on disk to the export, through the command."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pexpect
import polars as pl
import pytest
from PIL import Image

from cobras.cli.options import session_file

Runner = Callable[..., "subprocess.CompletedProcess[str]"]


def table(folder: Path) -> tuple[str, list[str]]:
    rng = np.random.default_rng(0)
    colour = np.array(["red", "blue"])[np.arange(30) % 2]
    frame = pl.DataFrame(
        {"id": [f"k{i}" for i in range(30)], "x": rng.normal(size=30), "colour": colour, "kind": colour}
    )
    frame.write_excel(folder / "t.xlsx")
    return "t.xlsx", ["--label", "kind"]


def images(folder: Path) -> tuple[str, list[str]]:
    for k in range(16):
        place = folder / "my photos" / ("dark" if k % 2 else "light")
        place.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (40, 30), (30 + k, 0, 0) if k % 2 else (200 + k, 255, 255)).save(place / f"p{k}.png")
    return "my photos", ["--label", "folder", "--features", "pixels"]


def texts(folder: Path) -> tuple[str, list[str]]:
    words = ("rose tulip soil spade", "anchor tide rope sail")
    for k in range(16):
        place = folder / "letters" / ("sea" if k % 2 else "garden")
        place.mkdir(parents=True, exist_ok=True)
        (place / f"letter{k}.txt").write_text(f"{words[k % 2]} number {k}")
    return "letters", ["--label", "folder"]


def series(folder: Path) -> tuple[str, list[str]]:
    t, lines = np.linspace(0, 6, 40), ["@problemName waves", "@classLabel true slow fast", "@data"]
    for k in range(16):
        values = np.sin((1 + 2 * (k % 2)) * t + k / 50)
        lines.append(",".join(f"{v:.4f}" for v in values) + ":" + ("fast" if k % 2 else "slow"))
    (folder / "waves.ts").write_text("\n".join(lines))
    return "waves.ts", ["--label", "class"]


MAKERS = {"table": table, "image": images, "text": texts, "series": series}


@pytest.fixture
def own_cache(tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(environment, "XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("kind", MAKERS)
def test_from_files_to_export(cobras: Runner, tmp_path: Path, kind: str) -> None:
    path, options = MAKERS[kind](tmp_path)
    done = cobras("run", path, *options, "--max-queries", "15", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["ari"][-1] > 0.9
    asked = cobras("ask", path, *options, "--seed", "1", keys="y n n")
    assert asked.returncode == 0, asked.stderr
    for word in (
        "secret",
        *({"dark", "light"} if kind == "image" else ()),
        *({"sea", "garden"} if kind == "text" else ()),
    ):
        assert word not in asked.stdout
    again = cobras("ask", path, keys="n")
    assert "Resumed: 3 answers" in again.stdout
    file = session_file(Path(path), None)
    exported = cobras("export", file, "--out", "out.csv", "--answers", "answers.json")
    assert exported.returncode == 0, exported.stderr
    out = pl.read_csv(tmp_path / "out.csv")
    assert out.columns[-1] == "cluster"
    assert out.height == report["n"]
    first = {"table": "k0", "image": "dark/p1.png", "text": "garden/letter0.txt", "series": 0}[kind]
    assert out[0, 0] == first


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("kind", MAKERS)
def test_through_a_terminal(
    tmp_path: Path, command: list[str], environment: dict[str, str], kind: str
) -> None:
    path, options = MAKERS[kind](tmp_path)
    child = pexpect.spawn(
        command[0], [*command[1:], "ask", path, *options], cwd=tmp_path, env=environment, dimensions=(30, 100),
        encoding="utf-8", timeout=60,
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
    child.close()
    assert child.exitstatus == 0


@pytest.mark.usefixtures("own_cache")
def test_options_that_contradict_the_session(cobras: Runner, tmp_path: Path) -> None:
    path, options = texts(tmp_path)
    assert cobras("ask", path, *options, keys="n").returncode == 0
    done = cobras("ask", path, "--kind", "image")
    assert done.returncode == 2
    assert done.stderr == (
        "error: letters.cobras was made with --kind text. "
        "Leave --kind out, or begin another session with --session.\n"
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
