"""Of very many rows the page shows a sample; what it shows of them is what all rows would show."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import Session
from cobras.data import read_dataset
from cobras.web import map as web_map
from cobras.web import view
from cobras.web.view import Sample
from tests.web.serving import decode_labels, flowers, serving


def session_with(n: int, seed: int, answers: list[bool], method: str = "cobras") -> Session:
    session = Session(np.random.default_rng(seed).normal(size=(n, 2)), method, random_state=seed)
    for answer in answers:
        if (pair := session.ask()) is not None:
            session.tell(answer, pair)
    return session


@given(
    seed=st.integers(0, 99),
    answers=st.lists(st.booleans(), max_size=20),
    size=st.integers(1, 49),
    method=st.sampled_from(["cobras", "adder"]),
)
def test_a_sample_has_the_labels_of_its_rows(seed: int, answers: list[bool], size: int, method: str) -> None:
    session = session_with(50, seed, answers, method)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(view, "N_SHOWN", size)
        shown = Sample(50)
    assert shown.rows is not None
    assert len(shown) == len(np.unique(shown.rows)) == size
    for partition in session.partitions:
        np.testing.assert_array_equal(shown.labels(partition), partition.labels[shown.rows])
        assert list(partition.clusters_of(range(0, 50, 7)).values()) == partition.labels[::7].tolist()
        for number, members in enumerate(shown.members(partition, k) for k in range(partition.n_clusters)):
            everyone = np.flatnonzero(partition.labels == number)
            assert (members is None) == (len(everyone) > size)
            if members is not None:
                np.testing.assert_array_equal(members, everyone)
    assert [shown.place(row) for row in shown.rows.tolist()] == list(range(size))
    assert all(shown.place(row) is None for row in range(50) if row not in shown.rows)


def test_folders_of_killed_servers_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    names = [f"cobras-map-{gone.pid}-abc", f"cobras-map-{os.getpid()}-abc", "cobras-map-other"]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "rows.npy").touch()
    web_map.remove_abandoned_folders()
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(names[1:])


def test_the_page_of_a_large_table_shows_a_sample(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "N_SHOWN", 40)
    rng = np.random.default_rng(0)
    kind = np.arange(600) % 3
    np.save(tmp_path / "rows.npy", rng.normal(size=(600, 2)) + 9 * np.array([np.cos(kind), np.sin(kind)]).T)
    dataset = read_dataset(tmp_path / "rows.npy")
    session = Session(dataset.X, random_state=0, method="cobras")
    with serving(dataset, file) as client:
        client.answer(kind, 12)
        for _ in range(12):
            pair = session.ask()
            assert pair is not None
            session.tell(bool(kind[pair.i] == kind[pair.j]), pair)
        # The map is computed when somebody first asks for it.
        while (found := client.look("map"))["layout"] == "none":
            time.sleep(0.05)
        rows = np.frombuffer(base64.b64decode(found["rows"]), "<u4")
        xy = np.frombuffer(base64.b64decode(found["data"]), "<f4").reshape(-1, 2)
        assert found["n_items"] == 600
        assert len(rows) == len(xy) == 40
        np.testing.assert_array_equal(decode_labels(client.look("labels")), session.labels_[rows])
        question = client.look("question")
        for item in (question["left"], question["right"]):
            assert (item["at"] is None) == (item["i"] in rows)
            if item["at"] is not None:  # between the shown rows nearest to it
                away = np.linalg.norm(dataset.X[rows] - dataset.X[item["i"]], axis=1)
                near = xy[np.argsort(away)[:4]]
                assert (near.min(axis=0) - 1e-5 <= item["at"]).all()
                assert (item["at"] <= near.max(axis=0) + 1e-5).all()
        assert not question["progress"]["unsatisfied"]
        records = client.look("history")["records"]
        assert all(record["satisfied"] for record in records)
        listed = client.look("items", limit=200)
        assert [item["i"] for item in listed["items"]] == rows.tolist()
        assert [item["cluster"] for item in listed["items"]] == session.labels_[rows].tolist()
        pages = client.look("clusters")["clusters"]
        assert sum(page["size"] for page in pages) == 600
        for page in pages:
            for item in page["representatives"] + page["unusual"]:
                assert session.labels_[item["i"]] == page["number"]
        other = next(i for i in range(600) if i not in rows)
        assert client.look(f"item/{other}")["cluster"] == session.labels_[other]
        assert b"<svg" in client.get("/api/export", params={"format": "html"}).content


def test_every_row_of_a_large_table_can_be_found(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a search, in whichever cluster; and a cluster of which the sample holds little is listed as it is."""
    monkeypatch.setattr(view, "N_SHOWN", 40)
    kind = np.repeat([0, 1, 2], [400, 190, 10])
    x = np.random.default_rng(0).normal(size=600) + 20 * kind
    pl.DataFrame({"id": [f"k{i:03}" for i in range(600)], "x": x}).write_csv(tmp_path / "t.csv")
    dataset = read_dataset(tmp_path / "t.csv")
    with serving(dataset, file) as client:
        client.answer(kind, 30)
        answers = pl.read_csv(client.get("/api/export", params={"format": "csv"}).content)
        labels = answers["cluster"].to_numpy()
        shown = [item["i"] for item in client.look("items", limit=200)["items"]]
        assert len(shown) == 40
        found = client.look("items", search="K1", limit=200)["items"]
        assert [item["i"] for item in found] == list(range(100, 200))
        assert [item["cluster"] for item in found] == labels[100:200].tolist()
        sizes = np.bincount(labels)
        assert sizes.min() <= 40 < sizes.max()
        for number, size in enumerate(sizes):
            inside = [item["i"] for item in client.look("items", cluster=number, limit=200)["items"]]
            everyone = np.flatnonzero(labels == number)
            assert inside == [i for i in everyone if size <= 40 or i in shown]
            matches = client.look("items", cluster=number, search="k", limit=200)
            assert matches["total"] == size
        assert client.look("items", cluster=99, search="k")["total"] == 0
        assert [i["i"] for i in client.look("items", cluster=labels[7], rows="7,599,7")["items"]] == [7, 7]


def test_why_the_process_of_the_map_failed_is_said(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import sys; print('a line before'); sys.exit('No room for the map.')"
    monkeypatch.setattr(web_map, "COMMAND", (sys.executable, "-c", code))
    with serving(flowers(tmp_path), file, refine=True) as client:
        end = time.monotonic() + 300
        while (found := client.look("map"))["pending"] and time.monotonic() < end:
            time.sleep(0.05)
    assert found["layout"] == "pca"
    assert found["problem"] == "The map could not be computed to the end: No room for the map."
