"""Rows on a cluster of two processes: the same questions and labels as in memory, whoever dies meanwhile."""

import logging
import os
import time

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
from distributed import Client, LocalCluster

from cobras import (
    COBRAS,
    CobrasError,
    DaskSpace,
    DataChangedError,
    InvalidDataError,
    Session,
)
from cobras.spaces.dask import workers
from tests.spaces.dask.clusters import KillAt, blobs, kill_a_worker

pytestmark = pytest.mark.usefixtures("small_partitions")


@pytest.fixture(scope="module")
def cluster():
    quiet = {"distributed.comm.retry.count": 0, "distributed.worker.use-file-locking": False}
    with (
        dask.config.set(quiet),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        yield cluster


@pytest.fixture
def client(cluster):
    with Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture(scope="module")
def expected():
    """The rows, their blobs and a session of forty answers in memory."""
    with dask.config.set(scheduler="threads"):
        X, y = dask.compute(*blobs(300_000, 5, 6, 70_000))
    session = Session(X, random_state=1, method="cobras")
    return X, y, session, answers(session, y, 40)


def answers(session, y, n):
    asked = []
    while len(asked) < n:
        asked.append(session.ask())
        session.tell(y[asked[-1].i] == y[asked[-1].j], asked[-1])
    return asked


def on_workers():
    return blobs(300_000, 5, 6, 70_000)[0]


def test_a_cluster_gives_what_memory_gives(client, expected, tmp_path):
    _, y, here, asked = expected
    there = Session(on_workers(), random_state=1, method="cobras")
    assert answers(there, y, 40) == asked
    assert there.ask() == here.ask()
    np.testing.assert_array_equal(there.labels_, here.labels_)
    there.name(1, "left")
    assert there.names == {1: "left"}
    there.mark(0, pure=True)
    assert there.marks == {0: "pure"}
    for n_parts in (9, len(there.space.table.partitions)):  # what an older export left behind goes away
        (tmp_path / "labels").mkdir(exist_ok=True)
        (tmp_path / "labels" / f"part-{n_parts:05d}.parquet").touch()
    there.export(tmp_path / "labels")
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "labels").iterdir()} == {0o600}
    written = pl.read_parquet(tmp_path / "labels")
    assert written["id"].to_list() == list(range(300_000))
    np.testing.assert_array_equal(written["cluster"].to_numpy(), there.labels_)
    assert written.schema["cluster"] == pl.Int32
    np.testing.assert_array_equal(written["cluster_id"], np.array(there.cluster_ids_)[there.labels_])
    assert set(written.filter(pl.col("cluster") == 1)["cluster_name"]) == {"left"}
    assert set(written.filter(pl.col("cluster") != 1)["cluster_name"]) == {""}


def test_a_worker_dies_during_a_split_and_another_between_answers(client, expected, tmp_path):
    _, y, here, asked = expected
    with Session.open(tmp_path / "s.cobras", on_workers(), random_state=1, method="cobras") as session:
        with KillAt(client, at=2):
            first = answers(session, y, 20)
        kill_a_worker(client)
        assert session.n_answers == 20
        assert first + answers(session, y, 20) == asked
        np.testing.assert_array_equal(session.labels_, here.labels_)
    with Session.open(tmp_path / "s.cobras", expected[0], method="cobras") as session:
        assert session.n_answers == 40


def test_a_session_moves_between_cluster_and_memory(client, expected, tmp_path):
    X, y, _, _ = expected
    path = tmp_path / "s.cobras"
    with Session.open(path, X, random_state=1, n_init=3, method="cobras") as session:
        first = answers(session, y, 5)
    with Session.open(path, on_workers(), method="cobras") as session:
        assert session.parameters["n_init"] == 3
        assert [record.pair for record in session.history] == first
        second = answers(session, y, 5)
    with Session.open(path, X) as session:
        assert [record.pair for record in session.history] == first + second
    with pytest.raises(DataChangedError, match="belongs to another table"):
        Session.open(path, on_workers()[:-1], method="cobras")
    with pytest.raises(DataChangedError, match="belongs to another table"):
        Session.open(path, on_workers() + 1, method="cobras")
    space = DaskSpace(on_workers(), n_init=3, persist=False)
    with Session.open(path, space) as session:
        assert session.n_answers == 10


def test_training_rows_of_a_file_need_memory(client, expected, tmp_path):
    with Session.open(
        tmp_path / "s.cobras", expected[0], train_indices=[1, 2, 3, 4], method="cobras"
    ) as session:
        session.ask()
    with pytest.raises(InvalidDataError, match="With train_indices a table must lie in memory"):
        Session.open(tmp_path / "s.cobras", on_workers(), method="cobras")
    with pytest.raises(DataChangedError, match="other train_indices"):
        Session.open(tmp_path / "s.cobras", DaskSpace(on_workers()), method="cobras")


def test_an_estimator_fits_a_parquet_folder(client, expected, tmp_path):
    X, y, _, _ = expected
    names = [f"x{j}" for j in range(5)]
    for p, rows in enumerate(np.array_split(np.arange(len(X)), 4)):
        pl.DataFrame(X[rows], schema=names).write_parquet(tmp_path / f"{p}.parquet")
    frame = dd.read_parquet(tmp_path)
    there = COBRAS(max_queries=15, random_state=1).fit(frame, oracle=lambda i, j: y[i] == y[j])
    here = COBRAS(max_queries=15, random_state=1).fit(X, y)
    np.testing.assert_array_equal(there.queries_, here.queries_)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    assert list(there.feature_names_in_) == names
    some = pd.DataFrame(X[:50], columns=names)
    np.testing.assert_array_equal(there.predict(some), here.predict(X[:50]))
    by_labels = COBRAS(max_queries=5, random_state=1).fit(on_workers(), y)
    np.testing.assert_array_equal(by_labels.queries_, here.queries_[:5])
    assert by_labels.n_features_in_ == 5


def test_new_rows_are_compared_with_super_instances_on_workers(client, expected):
    X, y, _, _ = expected
    there, here = (Session(data, random_state=1, method="cobras") for data in (on_workers(), X))
    for session in (there, here):
        answers(session, y, 8)
    np.testing.assert_allclose(there.predict_proba(X[:50]), here.predict_proba(X[:50]), atol=1e-5)
    with pytest.raises(InvalidDataError, match="held by dask"):
        there.predict(on_workers())
    with pytest.raises(InvalidDataError, match="all rows are numbers in memory"):
        there.confidence_  # noqa: B018


def test_a_session_goes_on_after_a_failure(client, expected, monkeypatch):
    _, y, _, asked = expected
    session = Session(on_workers(), random_state=1, method="cobras")
    answers(session, y, 2)
    with monkeypatch.context() as broken:
        broken.setattr(workers.Workers, "results", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            answers(session, y, 40)
    done = session.n_answers
    assert [record.pair for record in session.history] == asked[:done]
    assert asked[:done] + answers(session, y, 40 - done) == asked


def test_a_closed_client_is_told(cluster):
    with Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        session = Session(on_workers(), random_state=1, method="cobras")
        session.ask()
    with pytest.raises(CobrasError, match=r"The client of the cluster is closed\."):
        session.space.rows([3])


def test_work_that_kills_every_worker_ends_in_a_sentence(client, cluster, monkeypatch):
    monkeypatch.setattr(workers, "ATTEMPTS", 2)
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    with pytest.raises(
        CobrasError, match=r"2 times at the same piece of work \(KilledWorker\). No answer is lost"
    ):
        workers.Workers().results([dask.delayed(os._exit)(1)])


def test_a_cluster_without_workers_says_so_and_those_of_this_machine_come_back(caplog, monkeypatch):
    def sentences():
        return [record.getMessage() for record in caplog.records if record.name == "cobras"]

    monkeypatch.setattr(workers, "PATIENCE", 0.2)
    settings = {"distributed.deploy.lost-worker-timeout": "0ms"}  # dask gives up whoever dies
    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=1, **options) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(1, timeout=60)
        mine = workers.Workers()
        (kept,) = mine.keep([dask.delayed(np.arange, pure=False)(4)])
        assert mine.results([kept.sum()]) == [6]
        assert not sentences()
        kill_a_worker(client)
        while cluster.workers:
            time.sleep(0.01)
        assert mine.results([kept.sum()]) == [6]
        said = f"The scheduler {cluster.scheduler_address} has no workers; waiting for one."
        assert sentences() == [said]
        kill_a_worker(client)
        while cluster.workers:
            time.sleep(0.01)
        workers.Workers()  # of a new session, which says it and starts a worker
        assert set(sentences()) == {said}
        assert mine.results([kept.sum()]) == [6]  # says it again if that worker is not there yet
        assert set(sentences()) == {said}


def test_labels_that_cannot_be_written_are_told(tmp_path):
    (tmp_path / "taken").touch()
    with dask.config.set(scheduler="synchronous"):
        session = Session(da.zeros((20, 2), chunks=5), method="cobras")
        with pytest.raises(InvalidDataError, match=r"The workers cannot write to .*taken"):
            session.export(f"{tmp_path}/taken/")
        with pytest.raises(
            InvalidDataError, match="cannot write to unheard://b/: Protocol not known: unheard"
        ):
            session.export("unheard://b/")


def test_members_and_labels_are_found_from_the_splits_above():
    first, second = np.array([0, 1, 1, 0, 1], np.uint8), np.array([1, 0, 1], np.uint8)
    members = workers.members_of_part([first, second], [1, 1])
    assert members.tolist() == [1, 4]
    leaves = [(((0, 0),), 2), (((0, 1), (1, 0)), 1), (((0, 1), (1, 1)), 0)]
    labels = workers.label_rows(5, [first, second], leaves, np.array([3]), np.array([7], np.uint8))
    assert labels.tolist() == [2, 0, 1, 7, 0]


def test_a_task_numbers_its_rows_as_the_whole_table_does():
    rows = np.array([[0.0], [4.0], [5.0], [9.0]])
    labels, found = workers.assign_rows(
        rows, np.array([1, 2, 3]), 100, 2, np.array([[4.0], [9.0]]), True, True
    )
    assert labels.tolist() == [0, 0, 1]
    _, counts, candidates, farthest, reach, near = found
    assert counts[:, :, 2].tolist() == [[101, -1], [102, 103]]
    assert candidates.tolist() == [[101, -1], [102, 103]]
    assert farthest.tolist() == [101, 102]
    assert reach.tolist() == [0, 1]
    assert near.ravel().tolist() == [4, 5, 9]
    found, away = workers.nearest_rows(rows, None, 100, 2, np.array([5.5]), 2)
    assert (found.tolist(), away.tolist()) == ([102, 101], [0.25, 2.25])
    assert workers.take_rows(rows, np.array([1, 3]), 100, 2, np.array([1])).tolist() == [[9.0]]
    assert workers.take_all(rows, np.array([1, 3]), 100, 2)[0].tolist() == [101, 103]
    rows[2] = np.nan
    assert "row 102, column 0" in workers.assign_rows(rows, None, 100, 2, np.array([[4.0]]), True, True)[1]
