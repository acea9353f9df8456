"""What is written can be read again, is whole or not there, and never loses a column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cobras.core.exceptions import InvalidDataError
from cobras.data import Picture, export_labels, load_demo, read_dataset, write_table

READ = {".csv": pl.read_csv, ".parquet": pl.read_parquet, ".json": pl.read_json, ".jsonl": pl.read_ndjson}


@pytest.mark.parametrize("suffix", READ)
def test_labels_with_all_columns(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "t.csv").write_text("name,x,kind\nrose,1,a\nlily,2,b\nivy,,a\n")
    ds = read_dataset(tmp_path / "t.csv", label="kind")
    out = export_labels(ds.frame, np.array([0, 1, 1]), {1: "climbers"}, tmp_path / f"out{suffix}")
    assert READ[suffix](out).rows() == [
        ("rose", 1, "a", 0, None),
        ("lily", 2, "b", 1, "climbers"),
        ("ivy", None, "a", 1, "climbers"),
    ]
    again = read_dataset(out, label="cluster", drop=["kind", "cluster_name"])
    np.testing.assert_array_equal(again.X, ds.X)


def test_no_names_no_column_and_a_taken_name(tmp_path: Path) -> None:
    frame = pl.DataFrame({"cluster": ["old", "old"]})
    out = export_labels(frame, [0, 1], {}, tmp_path / "out.csv")
    assert out.read_text() == "cluster,cluster_2\nold,0\nold,1\n"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")
    with pytest.raises(InvalidDataError, match=r"'x' holds lists, which .csv cannot hold"):
        write_table({"x": [[1], [2]]}, target)
    with pytest.raises(InvalidDataError, match="equally long"):
        write_table({"x": [1], "y": [1, 2]}, target)
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
    assert target.read_text() == "old"


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    for name, sentence in {
        "out.xlsx": "the suffix must be one of .csv, .tsv, .parquet, .json, .jsonl, not '.xlsx'",
        "out": "the suffix must be one of",
        "nowhere/out.csv": "No such file or directory",
    }.items():
        with pytest.raises(InvalidDataError, match=sentence):
            write_table({"x": [1]}, tmp_path / name)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidDataError, match="is a folder"):
        write_table({"x": [1]}, tmp_path / "folder.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_table({"x": [1]}, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").stat().st_mode == (tmp_path / "usual").stat().st_mode
    (tmp_path / "out.csv").chmod(0o600)
    write_table({"x": [2]}, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").stat().st_mode & 0o777 == 0o600


def test_labels_of_the_wrong_length(tmp_path: Path) -> None:
    with pytest.raises(InvalidDataError, match="3 labels for a table of 1 rows"):
        export_labels(pl.DataFrame({"x": [1]}), [0, 0, 1], {}, tmp_path / "out.csv")


def test_demo_shows_pictures_and_not_the_digit() -> None:
    ds = load_demo()
    card = ds.show(3)
    assert isinstance(card, Picture)
    np.testing.assert_array_equal(card.pixels.ravel(), ds.X[3])
    assert ds.X.min() == 0.0
    assert ds.X.max() == 1.0
    assert "digit" not in ds.columns
    assert ds.labels is not None
    assert len(ds.labels) == len(ds.frame) == len(ds)
