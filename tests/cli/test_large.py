"""The verbs on files beyond the limit: nothing is loaded, everything works."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cobras.cli import main
from cobras.data import read_dataset
from tests.web.serving import serving


@pytest.fixture(params=["rows.npy", "rows.parquet", "parts"])
def data(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COBRAS_MEMORY", "10000")
    for folder in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(folder, str(tmp_path / folder))
    rng = np.random.default_rng(0)
    kind = rng.integers(3, size=900)
    rows = np.column_stack([rng.normal(size=(900, 2)) + 9 * np.c_[kind == 1, kind == 2], kind])
    frame = pl.DataFrame(rows, schema=["column_1", "column_2", "column_3"])
    path = tmp_path / request.param
    if path.suffix == ".npy":
        np.save(path, rows)
    elif path.suffix:
        frame.write_parquet(path)
    else:
        path.mkdir()
        frame.head(400).write_parquet(path / "a.parquet")
        frame.slice(400).write_parquet(path / "b.parquet")
    return path


def test_run_and_export(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "s.cobras")
    assert main(["run", str(data), "--label", "column_3", "--session", file, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["n"] == 900
    assert report["ari"][-1] > 0.9
    assert main(["export", file, "--out", str(tmp_path / "out.csv")]) == 0
    written = pl.read_csv(tmp_path / "out.csv")
    assert written.columns == ["column_1", "column_2", "column_3", "cluster_id", "cluster"]
    assert written["cluster"].to_list() == report["labels"]
    capsys.readouterr()
    assert main(["export", file]) == 0
    assert pl.read_csv(capsys.readouterr().out.encode()).equals(written)
    assert main(["export", file, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ids"] == list(range(900))


def test_serve(data: Path, tmp_path: Path) -> None:
    dataset = read_dataset(data, label="column_3")
    assert dataset.large is not None
    kinds, _ = dataset.large.codes("column_3")
    with serving(dataset, tmp_path / "s.cobras") as client:
        client.answer(kinds, 5)
        question = client.look("question")
        assert [field["name"] for field in question["left"]["card"]["fields"]] == ["column_1", "column_2"]
        listed = client.look("items", offset=890)
        assert [item["i"] for item in listed["items"]] == list(range(890, 900))
        assert len(client.look("clusters")["clusters"]) == question["progress"]["n_clusters"]
        for path, sentence in (("items?search=1", "searched"), ("export?format=csv", "cobras export")):
            refused = client.get(f"/api/{path}")
            assert refused.status_code == 422
            assert sentence in refused.json()["message"]
