"""Tables beyond the limit are read piece by piece, and mean the same as those that are loaded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cobras.core.exceptions import InvalidDataError
from cobras.data import read_dataset, read_recipe
from cobras.data.export import export_dataset
from cobras.data.tables.large import outofcore as large
from cobras.data.tables.large.outofcore import LargeTable


@pytest.fixture
def tight(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COBRAS_MEMORY", "10000")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(large, "BATCH", 8 * 1024)  # several batches of 1,024 rows


def mixed(n: int = 5_000) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    whole = rng.integers(-9, 9, n)
    return pl.DataFrame(
        {
            "id": np.arange(n) + 7,
            "x": rng.normal(size=n),
            "gaps": pl.Series(rng.normal(size=n)).set(pl.Series(rng.random(n) < 0.1), None),
            "whole": whole,
            "flag": rng.random(n) < 0.5,
            "day": pl.Series(np.datetime64("2020-01-01") + rng.integers(0, 900, n).astype("m8[D]")),
            "word": np.array(["red", "green", "blue"])[rng.integers(0, 3, n)],
            "same": np.ones(n),
            "class": np.where(whole > 0, "up", "down"),
        }
    )


@pytest.mark.usefixtures("tight")
def test_a_large_array_is_read_as_one_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).normal(size=(4_000, 3)).astype(np.float32)
    np.save(tmp_path / "rows.npy", rows)
    found = read_dataset(tmp_path / "rows.npy")
    monkeypatch.delenv("COBRAS_MEMORY")
    usual = read_dataset(tmp_path / "rows.npy")
    assert isinstance(found.X, np.memmap)
    assert usual.large is None
    np.testing.assert_allclose(found.X, usual.X, atol=1e-6)
    assert found.X.dtype == np.float32
    assert found.columns == usual.columns
    assert found.show(3_999).values == pytest.approx(usual.show(3_999).values)  # type: ignore[union-attr]
    assert list(tmp_path.glob("cache/cobras/*")) == []  # the file has no name


@pytest.mark.usefixtures("tight")
@pytest.mark.parametrize("where", ["one.parquet", "parts", "parts/part-*.parquet", "one.csv"])
def test_a_large_table_is_read_as_in_memory(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = mixed()
    frame.write_parquet(tmp_path / "one.parquet", row_group_size=700)
    frame.write_csv(tmp_path / "one.csv")
    (tmp_path / "parts").mkdir()
    for k in range(5):
        frame.slice(1_000 * k, 1_000).write_parquet(tmp_path / "parts" / f"part-{k}.parquet")
    found = read_dataset(tmp_path / where, label="class")
    monkeypatch.delenv("COBRAS_MEMORY")
    usual = read_dataset(tmp_path / where, label="class")
    assert usual.large is None
    assert isinstance(found.large, LargeTable)
    assert found.columns == usual.columns
    filled = frame["gaps"].is_null().to_numpy()
    np.testing.assert_allclose(found.X[~filled], usual.X[~filled], atol=1e-6)
    np.testing.assert_allclose(found.X[filled], usual.X[filled], atol=1e-3)  # the median is that of a sample
    assert found.row(4_321) == usual.row(4_321)
    assert "class" not in found.row(0)
    assert found.show(77) == usual.show(77)
    codes, n_gaps = found.large.codes("class")
    assert n_gaps == 0
    assert [codes.tolist()[i] for i in range(50)] == [
        int(c != frame["class"][0]) for c in frame["class"][:50]
    ]


@pytest.mark.usefixtures("tight")
def test_the_recipe_gives_the_same_features_again(tmp_path: Path) -> None:
    mixed().write_parquet(tmp_path / "t.parquet", row_group_size=512)
    found = read_dataset(tmp_path / "t.parquet", label="class", drop=["whole"])
    again = read_recipe(tmp_path / "t.parquet", found.recipe)
    np.testing.assert_array_equal(found.X, again.X)
    assert again.columns == found.columns


@pytest.mark.usefixtures("tight")
def test_ranges_come_from_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "N_SAMPLED", 10)
    rows = np.zeros((5_000, 2))
    rows[1_234], rows[4_567, 0] = [-3, 1], 5
    np.save(tmp_path / "rows.npy", rows)
    X = read_dataset(tmp_path / "rows.npy").X
    np.testing.assert_allclose(X[[0, 1_234, 4_567]], [[3 / 8, 0], [0, 1], [1, 0]], atol=1e-6)
    days = [f"{1 + k % 28}/3/2020" for k in range(5_000)]
    days[1_234], days[4_321] = "1/3/2019", "28/3/2021"
    days[2_000:4_200] = [None] * 2_200  # more than a batch
    pl.DataFrame({"day": days}).write_parquet(tmp_path / "days.parquet")
    X = read_dataset(tmp_path / "days.parquet").X
    assert [X[1_234], X[4_321], X.min(), X.max()] == [0, 1, 0, 1]


@pytest.mark.usefixtures("tight")
def test_rows_of_long_texts_come_in_shorter_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "BATCH", 2**20)
    pl.DataFrame({"text": ["a" * 1_000] * 5_000}).write_parquet(tmp_path / "t.parquet")
    table = large.open_large_table(tmp_path / "t.parquet")
    assert table is not None
    assert max(batch.height for _, batch in table.batches()) == 1_048


@pytest.mark.usefixtures("tight")
def test_a_gap_that_no_sample_shows_is_filled_with_the_median(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "N_SAMPLED", 10)
    year = pl.Series([float(2000 + k % 21) for k in range(5_000)])
    frame = pl.DataFrame(
        {
            "null": year.clone().scatter(1_233, None),
            "nan": year.clone().scatter(4_321, np.nan),
            "word": pl.Series(["a"] * 5_000).scatter(77, None),  # which is a difference
            "z": np.arange(5_000) % 7,
        }
    )
    frame.write_parquet(tmp_path / "t.parquet")
    found = read_dataset(tmp_path / "t.parquet")
    assert found.columns == ("null", "nan", "word=a", "z")
    assert 0.2 < found.X[1_233, 0] < 0.8  # the median of ten rows
    assert 0.2 < found.X[4_321, 1] < 0.8
    assert found.X[[76, 77], 2].tolist() == pytest.approx([0.125**0.5, 0])
    assert found.X.min() >= 0
    assert found.X.max() <= 1
    assert any("Filled 2 missing values in 'null', 'nan'" in note for note in found.notes)


@pytest.mark.usefixtures("tight")
def test_parts_whose_types_differ_are_read_as_the_wider_one(tmp_path: Path) -> None:
    """A table cut into files by pandas holds floats where a column has gaps, and integers where it has none."""
    whole = pl.DataFrame({"x": np.arange(3_000) % 11, "z": np.arange(3_000.0) % 13})
    gaps = whole.with_columns(x=pl.col("x").cast(pl.Float64).replace(3.0, None))
    whole.write_parquet(tmp_path / "a.parquet")
    gaps.write_parquet(tmp_path / "b.parquet")
    found = read_dataset(tmp_path)
    assert found.X.shape == (6_000, 2)
    np.testing.assert_allclose(found.X[:3_000, 0], whole["x"].to_numpy() / 10, atol=1e-6)
    assert found.row(3) == {"x": 3.0, "z": 3.0}
    whole.with_columns(x=pl.Series([[1]] * 3_000)).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InvalidDataError, match="have columns of different types"):
        read_dataset(tmp_path)


@pytest.mark.usefixtures("tight")
@pytest.mark.parametrize("name", ["^z.*$", "*", "a b"])
def test_any_name_of_a_column_is_taken_literally(name: str, tmp_path: Path) -> None:
    pl.DataFrame({"z": np.arange(3_000) % 7, name: np.arange(3_000) % 2}).write_parquet(
        tmp_path / "t.parquet"
    )
    found = read_dataset(tmp_path / "t.parquet", label=name)
    assert found.columns == ("z",)
    assert isinstance(found.large, LargeTable)
    assert found.large.codes(name)[0][:4].tolist() == [0, 1, 0, 1]
    assert read_dataset(tmp_path / "t.parquet").columns == ("z", name)


@pytest.mark.usefixtures("tight")
@pytest.mark.parametrize("value", [[1, 2], b"\xff"])
def test_classes_that_are_neither_words_nor_numbers_are_refused(value: object, tmp_path: Path) -> None:
    pl.DataFrame({"z": np.arange(3_000) % 7, "y": [value] * 3_000}).write_parquet(tmp_path / "t.parquet")
    table = read_dataset(tmp_path / "t.parquet", label="y").large
    assert isinstance(table, LargeTable)
    with pytest.raises(InvalidDataError, match=r"'y' of t.parquet holds neither words nor numbers"):
        table.codes("y")


@pytest.mark.usefixtures("tight")
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_the_export_holds_all_columns_in_order(suffix: str, tmp_path: Path) -> None:
    frame = mixed()
    frame.write_parquet(tmp_path / "t.parquet")
    found = read_dataset(tmp_path / "t.parquet")
    labels = np.arange(len(found)) % 3
    out = export_dataset(found, labels, {1: "bikes"}, tmp_path / f"out{suffix}")
    read = {".csv": pl.read_csv, ".parquet": pl.read_parquet, ".jsonl": pl.read_ndjson}[suffix]
    written = read(out)
    assert written.columns == [*frame.columns, "cluster", "cluster_name"]
    assert written["id"].to_list() == frame["id"].to_list()
    assert written["cluster"].to_list() == labels.tolist()
    assert written["cluster_name"][:3].to_list() == [None, "bikes", None]
    with pytest.raises(InvalidDataError, match=r"must be one of .csv, .tsv, .parquet, .jsonl"):
        export_dataset(found, labels, None, tmp_path / "out.json")


@pytest.mark.usefixtures("tight")
def test_what_cannot_be_used_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.zeros((4_000, 3))
    rows[3_210, 1] = np.inf
    np.save(tmp_path / "rows.npy", rows)
    with pytest.raises(InvalidDataError, match=r"'column_2' of rows.npy is infinite in row 3210"):
        read_dataset(tmp_path / "rows.npy")
    with pytest.raises(InvalidDataError, match="can only be read as a table"):
        read_dataset(tmp_path / "rows.npy", kind="image")
    with pytest.raises(InvalidDataError, match="has no column 'w'"):
        read_dataset(tmp_path / "rows.npy", drop=["w"])
    monkeypatch.setenv("COBRAS_MEMORY", "2 GB")
    with pytest.raises(InvalidDataError, match=r"COBRAS_MEMORY must be a number of bytes.* not '2 GB'"):
        read_dataset(tmp_path / "rows.npy")


def test_long_texts_that_parquet_stores_once_are_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COBRAS_MEMORY", "50000000")
    frame = pl.DataFrame({"s": ["x" * 100_000] * 1_000, "x": range(1_000, 3_000, 2)})
    frame.write_parquet(tmp_path / "t.parquet")
    ds = read_dataset(tmp_path / "t.parquet")
    assert ds.large is not None
    assert ds.columns == ("x",)
    assert len(ds.row(999)["s"]) == 100_000


def test_a_cell_of_half_a_gigabyte_is_refused(tmp_path: Path) -> None:
    pl.DataFrame({"s": ["x" * (1 << 29), "y"], "x": [1, 2]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(
        InvalidDataError, match=r"A row of t.parquet takes more than 256 MiB; leave its long cells"
    ):
        read_dataset(tmp_path / "t.parquet")
