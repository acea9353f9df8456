"""What is written can be read again, is whole or not there, and never loses a column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cobras.core.exceptions import InvalidDataError
from cobras.data import Picture, export_dataset, load_demo, read_dataset

READ = {".csv": pl.read_csv, ".parquet": pl.read_parquet, ".json": pl.read_json, ".jsonl": pl.read_ndjson}


@pytest.mark.parametrize("suffix", READ)
def test_labels_with_all_columns(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "t.csv").write_text("name,x,kind\nrose,1,a\nlily,2,b\nivy,,a\n")
    ds = read_dataset(tmp_path / "t.csv", label="kind")
    out = export_dataset(ds, np.array([0, 1, 1]), {1: "climbers"}, tmp_path / f"out{suffix}")
    assert READ[suffix](out).rows() == [
        ("rose", 1, "a", 0, None),
        ("lily", 2, "b", 1, "climbers"),
        ("ivy", None, "a", 1, "climbers"),
    ]
    again = read_dataset(out, label="cluster", drop=["kind", "cluster_name"])
    np.testing.assert_array_equal(again.X, ds.X)


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


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_bytes_have_no_json(tmp_path: Path, capfd: pytest.CaptureFixture[str], suffix: str) -> None:
    pl.DataFrame({"b": [b"x", b"y"], "x": [1, 2]}).write_parquet(tmp_path / "t.parquet")
    ds = read_dataset(tmp_path / "t.parquet")
    with pytest.raises(
        InvalidDataError, match=r"Column 'b' holds bytes, which .* cannot hold; write .parquet"
    ):
        export_dataset(ds, [0, 1], None, tmp_path / f"out{suffix}")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("comma", "written"),
    [
        (",", "name;score;sales;cluster\nKöln;7,5;1.234,50 €;0\nBonn;0,25;950,00 €;1\n"),
        (".", "name;score;sales;cluster\nKöln;7.5;1,234.50 €;0\nBonn;0.25;950.00 €;1\n"),
    ],
)
def test_csv_with_semicolons_is_written_as_it_was(tmp_path: Path, comma: str, written: str) -> None:
    """A spreadsheet that wrote it would else put all cells into one column and take 7.5 for the seventh of May."""
    text = "name;score;sales\nKöln;7,5;1.234,50 €\nBonn;0,25;950,00 €\n"
    if comma == ".":
        text = text.translate(str.maketrans(",.", ".,"))
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    ds = read_dataset(tmp_path / "t.csv")
    out = export_dataset(ds, np.array([0, 1]), None, tmp_path / "out.csv")
    assert out.read_bytes() == b"\xef\xbb\xbf" + written.encode()
    np.testing.assert_array_equal(read_dataset(out, drop=["cluster"]).X, ds.X)
    tsv = export_dataset(ds, np.array([0, 1]), None, tmp_path / "out.tsv")
    assert tsv.read_text(encoding="utf-8") == written.replace(";", "\t")
