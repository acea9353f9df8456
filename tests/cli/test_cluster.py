"""The verbs on Parquet files that a dask cluster reads: a real scheduler and worker processes."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from distributed import LocalCluster

from cobras.cli import main
from cobras.core.exceptions import InvalidDataError
from cobras.data.guess import Choices
from cobras.data.tables.large.outofcore import LargeTable
from cobras.data.tables.large.remote import read_remote
from tests import started
from tests.cli.conftest import COMMAND, LIMIT, Runner
from tests.cli.test_serve import Running, start

__all__ = ["start"]

N = 3_000


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    with LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def address(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    kind = rng.integers(3, size=N)
    frame = pl.DataFrame(
        {
            "key": [f"k{i}" for i in range(N)],
            "x": rng.normal(size=N) + 8 * kind,
            "y": pl.Series(rng.normal(size=N)).set(pl.Series(rng.random(N) < 0.1), None),
            "whole": rng.integers(-5, 5, N),
            "day": pl.Series(np.datetime64("2020-01-01") + rng.integers(0, 99, N).astype("m8[D]")),
            "flag": rng.random(N) < 0.5,
            "same": np.ones(N),
            "kind": [f"secret-{k}" for k in kind],
        }
    )
    (tmp_path / "parts").mkdir()
    for k in range(3):
        frame.slice(k * N // 3, N // 3).write_parquet(tmp_path / "parts" / f"part-{k}.parquet")
    return f"file://{tmp_path}/parts/*.parquet"


def first_question(running: Running) -> dict[str, Any]:
    """The question, once the session is open."""
    question: dict[str, Any] = {"pair": None}
    while question["pair"] is None:
        question = running.client.get("/api/question").json()
    return question


def test_run_and_export_by_the_workers(scheduler: str, address: str, cobras: Runner, tmp_path: Path) -> None:
    given = ("--scheduler", scheduler)
    columns = ("--label", "kind", "--drop", "flag", "--drop", "day", "--drop", "whole")
    ran = cobras("run", address, *given, *columns, "--session", "s.cobras", "--json")
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    assert report["n"] == N
    assert report["ari"][-1] > 0.9
    refused = cobras("export", "s.cobras", "--out", "labels")
    assert refused.returncode == 2
    assert "add --scheduler" in refused.stderr
    for wrong in (
        ("--out", "s3://bucket/labels"),
        ("--out", "s3://bucket/x.csv", *given),
        ("--answers", "s3://b/a", *given),
    ):
        refused = cobras("export", "s.cobras", *wrong)
        assert refused.returncode == 2
        assert "is not a file of this machine; only --out may be an address, of a folder" in refused.stderr
    assert "leave it out" in cobras("export", "s.cobras", "--out", "labels", "--json", *given).stderr
    written = cobras("export", "s.cobras", "--out", "labels", "--answers", "answers.csv", *given)
    assert written.returncode == 0, written.stderr
    assert written.stderr.splitlines()[-2:] == ["Wrote labels.", "Wrote answers.csv."]
    assert len(pl.read_csv(tmp_path / "answers.csv")) == report["n_queries"]
    labels = pl.read_parquet(tmp_path / "labels" / "*.parquet")
    assert labels["id"].to_list() == list(range(N))
    assert labels["cluster"].to_list() == report["labels"]
    assert cobras("export", "s.cobras", "--out", "t.csv", *given).returncode == 0
    table = pl.read_csv(tmp_path / "t.csv")
    assert table["key"].to_list() == [f"k{i}" for i in range(N)]
    assert table["cluster"].to_list() == report["labels"]


def test_ask_and_serve_the_same_session(
    scheduler: str, address: str, cobras: Runner, start: Callable[..., Running], tmp_path: Path
) -> None:
    given = ("--scheduler", scheduler, "--label", "kind", "--seed", "0")
    asked = cobras("ask", address, *given, keys="ynq")
    assert asked.returncode == 0, asked.stderr
    assert "secret" not in asked.stdout
    assert "Saved in parts.cobras: 2 answers" in asked.stdout
    running = start("serve", address, *given)
    question = first_question(running)
    assert question["progress"]["n_answers"] == 2
    pair = question["pair"]
    assert question["left"]["card"]["fields"][0] == {"name": "key", "value": f"k{pair['i']}"}
    told = running.client.post("/api/tell", json={**pair, "answer": "same"})
    assert told.status_code == 200, told.text
    assert running.client.get("/api/labels").json()["n_items"] == N
    assert running.client.get("/api/clusters").status_code == 200
    code, *_ = running.end(signal.SIGINT)
    assert code == 0
    assert (tmp_path / "parts.cobras").exists()


def test_the_features_are_those_of_a_table_in_memory(address: str) -> None:
    import dask

    with dask.config.set(scheduler="synchronous"):
        found = read_remote(Path(address), Choices(label="kind"))
        assert isinstance(found.large, LargeTable)
        assert found.is_remote
        X = found.features(None)
        frame = pl.concat([batch for _, batch in found.large.batches()])
        assert found.columns == ("x", "y", "whole", "day", "flag")
        assert X.shape == (N, 5)
        np.testing.assert_allclose(X.min(axis=0), 0, atol=1e-6)
        np.testing.assert_allclose(X.max(axis=0), 1, atol=1e-6)
        days = (frame["day"].cast(pl.Datetime("us")).to_physical() / 86_400e6).to_numpy()
        np.testing.assert_allclose(X[:, 3], (days - days.min()) / (days.max() - days.min()), atol=1e-5)
        assert found.row(2_345)["key"] == "k2345"
        again = read_remote(Path(address), Choices(label="kind"), found.recipe)
        np.testing.assert_array_equal(again.features(np.array([7, 2_999])), X[[7, 2_999]])
        assert len(np.unique(found.large.codes("kind")[0])) == 3
        assert any("Left out 'key'" in note for note in found.notes)
        assert any("Left out 'same'" in note for note in found.notes)


def test_what_is_missing_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "s3://bucket/*.parquet", "--label", "y"]) == 2
    assert "add --scheduler tcp://host:8786" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["run", "s3://bucket/*.parquet", "--label", "y", "--scheduler", "local"]) == 2
    assert "cobras-clustering[dask]" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(InvalidDataError, match=r"pip install 'cobras-clustering\[dask\]'"):
        read_remote(Path("s3://bucket/*.parquet"), Choices())


def test_no_scheduler_at_the_address(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["run", "file:///no/*.parquet", "--label", "y", "--scheduler", "nonsense://"]) == 2
    assert "There is no dask scheduler at nonsense://" in capsys.readouterr().err


@pytest.mark.parametrize("listening", [False, True])
def test_nobody_or_something_else_listens(listening: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        if listening:
            server.listen()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        assert main(["run", "file:///no/*.parquet", "--label", "y", "--scheduler", address]) == 2
    assert f"There is no dask scheduler at {address}; give an address" in capsys.readouterr().err


def test_a_scheduler_without_workers(address: str, tmp_path: Path) -> None:
    arguments = ["run", address, "--label", "kind", "--scheduler"]
    with LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as cluster:
        scheduler = cluster.scheduler_address
        command = [*COMMAND, *arguments, scheduler, "--max-queries", "5"]
        with started(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as waiting:
            assert waiting.stderr is not None
            said = f"The scheduler {scheduler} has no workers yet; waiting for one.\n"
            assert waiting.stderr.readline() == said
            time.sleep(1)
            waiting.send_signal(signal.SIGINT)
            assert waiting.wait(timeout=LIMIT) == 130
            assert waiting.stderr.read() == ""
        with started(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=tmp_path
        ) as waiting:
            assert waiting.stderr is not None
            assert waiting.stderr.readline() == said
            cluster.scale(1)
            assert waiting.wait(timeout=LIMIT) == 0
