"""The verbs on an object store: a real server that speaks S3, and workers who alone have its keys."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from distributed import Client, LocalCluster

from cobras import Session
from cobras.cli.source import load_for_session
from cobras.core.exceptions import InvalidDataError
from cobras.data.guess import Choices
from cobras.data.tables.large.remote import read_remote
from tests.cli.conftest import Runner
from tests.cli.test_cluster import first_question
from tests.cli.test_serve import Running, start

s3fs = pytest.importorskip("s3fs")
moto_server = pytest.importorskip("moto.server")

__all__ = ["start"]

N = 3_000
KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1"}


@pytest.fixture(scope="module")
def store() -> Iterator[Any]:
    """The file system of a server with a bucket of three files of rows."""
    server = moto_server.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    system = s3fs.S3FileSystem(key="key", secret="secret", endpoint_url=f"http://{host}:{port}")
    system.mkdir("bucket")
    rng = np.random.default_rng(0)
    kind = rng.integers(3, size=N)
    frame = pl.DataFrame(
        {"key": [f"k{i}" for i in range(N)], "x": rng.normal(size=N) + 8 * kind, "kind": kind.astype(str)}
    )
    for k in range(3):
        with system.open(f"bucket/rows/part-{k}.parquet", "wb") as file:
            frame[k * N // 3 : (k + 1) * N // 3].write_parquet(file, row_group_size=400)
    yield system
    server.stop()


@pytest.fixture(scope="module")
def scheduler(store: Any) -> Iterator[str]:
    """A cluster whose worker process has the keys."""
    environment = {**KEYS, "AWS_ENDPOINT_URL": store.endpoint_url}
    with LocalCluster(
        n_workers=1, threads_per_worker=2, dashboard_address="127.0.0.1:0", env=environment
    ) as cluster:
        yield cluster.scheduler_address


def test_run_ask_serve_and_export(
    store: Any, scheduler: str, cobras: Runner, start: Callable[..., Running], tmp_path: Path
) -> None:
    given = ("s3://bucket/rows/*.parquet", "--scheduler", scheduler, "--label", "kind", "--seed", "0")
    ran = cobras("run", *given, "--session", "s.cobras", "--json")
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    assert report["n"] == N
    assert report["ari"][-1] > 0.9
    asked = cobras("ask", *given, keys="ynq")
    assert asked.returncode == 0, asked.stderr
    assert "Saved in rows.cobras: 2 answers" in asked.stdout
    running = start("serve", *given)
    question = first_question(running)
    assert question["progress"]["n_answers"] == 2
    pair = question["pair"]
    assert question["left"]["card"]["fields"][0] == {"name": "key", "value": f"k{pair['i']}"}
    assert running.client.post("/api/tell", json={**pair, "answer": "same"}).status_code == 200
    assert running.end(signal.SIGINT)[0] == 0
    with Client(scheduler):
        dataset = load_for_session(tmp_path / "s.cobras", None, scheduler)
        with Session.open(tmp_path / "s.cobras", dataset.X) as session:
            session.export("s3://bucket/labels/")
            with pytest.raises(InvalidDataError, match="The workers cannot write to s3://gone/labels/: "):
                session.export("s3://gone/labels/")
    labels = pl.concat([pl.read_parquet(store.cat(part)) for part in sorted(store.ls("bucket/labels"))])
    assert labels["id"].to_list() == list(range(N))
    assert labels["cluster"].to_list() == report["labels"]


def test_faults_of_the_store_are_told(scheduler: str, cobras: Runner) -> None:
    given = ("--scheduler", scheduler, "--label", "kind")
    for address, sentence in {
        "s3://gone/*.parquet": "There are no files s3://gone/*.parquet; give the Parquet files of one table.",
        "s3://bucket/gone.parquet": "There is no s3://bucket/gone.parquet; give Parquet files",
    }.items():
        ran = cobras("run", address, *given)
        assert ran.returncode == 2
        assert ran.stderr.startswith(f"error: {sentence}")
        assert len(ran.stderr.splitlines()) == 1


def test_without_keys(store: Any) -> None:
    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            env={"AWS_ENDPOINT_URL": store.endpoint_url, "AWS_EC2_METADATA_DISABLED": "true"},
        ) as cluster,
        Client(cluster),
        pytest.raises(InvalidDataError, match=r"s3://bucket/rows/\*.parquet cannot be read as Parquet: "),
    ):
        read_remote(Path("s3://bucket/rows/*.parquet"), Choices())
