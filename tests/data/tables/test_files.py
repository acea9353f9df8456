"""Every container gives the same table; what cannot be read is refused in one sentence."""

from __future__ import annotations

import os
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cobras.core.exceptions import CobrasError, InvalidDataError
from cobras.data import read_dataset, read_recipe
from cobras.data.export import export_dataset
from tests.data.conftest import PEOPLE, write


def test_every_container_gives_the_same(people: Path) -> None:
    X = read_dataset(people, label="group").X
    PEOPLE.write_excel(people.with_suffix(".xlsx"))
    PEOPLE.write_ipc(people.with_suffix(".arrow"))
    PEOPLE.write_ipc_stream(people.with_suffix(".feather"))
    PEOPLE.write_parquet(people.with_suffix(".parquet"))
    for suffix in (".xlsx", ".arrow", ".feather", ".parquet"):
        np.testing.assert_array_equal(
            read_dataset(people.with_suffix(suffix), label="group").X, X, err_msg=suffix
        )


def test_archive_of_arrays(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "t.npz", X=np.arange(12.0).reshape(6, 2), y=np.array(list("ababab")), z=np.zeros((2, 2, 2))
    )
    ds = read_dataset(tmp_path / "t.npz", label="y")
    assert ds.columns == ("column_1", "column_2")
    assert ds.labels.tolist() == list("ababab")


def test_own_vectors_and_the_originals_on_the_cards(people: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(8, 5)).astype(np.float32)
    np.save(people.with_suffix(".npy"), vectors)
    ds = read_dataset(people, vectors=people.with_suffix(".npy"), label="group")
    np.testing.assert_array_equal(ds.X, vectors)
    assert ds.X.dtype == np.float32
    assert ds.columns[0] == "vector_1"
    assert ds.show(0).values["story"] == "Once there was a number 0"
    np.testing.assert_array_equal(read_recipe(people, ds.recipe).X, vectors)
    np.save(people.with_suffix(".npy"), vectors[:5])
    with pytest.raises(InvalidDataError, match=r"people.npy holds 5 vectors, but people.csv has 8 items"):
        read_dataset(people, vectors=people.with_suffix(".npy"))
    np.save(people.with_suffix(".npy"), np.where(vectors > 1, np.nan, vectors))
    with pytest.raises(InvalidDataError, match="has a gap or is infinite in row"):
        read_dataset(people, vectors=people.with_suffix(".npy"))


def test_vectors_with_points(tmp_path: Path) -> None:
    """They are numbers as they are, whatever the delimiter is."""
    write(tmp_path, "a;b\n1.234;1\n2.345;2\n950;3\n7.080;4\n", "v.csv")
    items = write(tmp_path, "x;y\n1;5\n2;6\n3;7\n4;9\n")
    ds = read_dataset(items, vectors=tmp_path / "v.csv")
    assert ds.X[:, 0].tolist() == [1.234, 2.345, 950, 7.08]


def test_no_file_a_folder_a_device_and_foreign_suffixes(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_dataset(tmp_path / "nowhere.csv")
    with pytest.raises(InvalidDataError, match="holds no images or texts; give a table"):
        read_dataset(tmp_path)
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InvalidDataError, match="not a regular file"):
        read_dataset(tmp_path / "pipe.csv")
    (tmp_path / "t.docx").write_bytes(b"PK\3\4")
    with pytest.raises(InvalidDataError, match=r"t.docx cannot be read: its suffix must be one of .csv"):
        read_dataset(tmp_path / "t.docx")


def test_file_that_may_not_be_read() -> None:
    with tempfile.TemporaryDirectory() as folder:  # not tmp_path, which only its owner may enter
        Path(folder).chmod(0o755)
        path = Path(folder, "t.csv")
        path.write_text("a\n1\n")
        path.chmod(0)
        user = os.geteuid()
        try:
            if user == 0:
                os.seteuid(65534)  # root may read everything
            with pytest.raises(InvalidDataError, match="Permission denied"):
                read_dataset(path)
        finally:
            os.seteuid(user)


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (np.zeros(3), r"must be 2-dimensional \(rows, columns\), but its shape is \(3,\)"),
        (np.zeros((0, 3)), "has column names but no rows"),
        (np.zeros((3, 0)), "holds no table"),
        (np.zeros((2, 2), complex), "must hold a NumPy array of numbers"),
        (np.array([["a"]]), "must hold a NumPy array of numbers"),
        (np.array([[None]]), "is not a NumPy array of numbers"),
        (np.array([[1.0, np.inf]]), "'column_2' of t.npy is infinite in row 0"),
        (np.array([[np.nan, np.nan]]), "t.npy has no value in any cell"),
    ],
)
def test_bad_arrays(tmp_path: Path, array: np.ndarray, sentence: str) -> None:
    np.save(tmp_path / "t.npy", array)
    with pytest.raises(InvalidDataError, match=sentence):
        read_dataset(tmp_path / "t.npy")


def test_row_that_does_not_exist(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n5\n7\n")
    with pytest.raises(InvalidDataError, match="Row 2 does not exist; the rows are 0 to 1"):
        read_dataset(tmp_path / "t.csv").show(2)


def refusal(path: Path) -> str | None:
    try:
        read_dataset(path)
    except CobrasError as error:
        return str(error)
    return None


@given(
    junk=st.binary(max_size=300),
    suffix=st.sampled_from(
        [".csv", ".tsv", ".parquet", ".jsonl", ".json", ".npy", ".npz", ".xlsx", ".xls", ".arrow"]
    ),
)
@example(junk=b"\x93NUMPY\x01\x00v\x00{", suffix=".npy")
@example(junk=b"PK\x03\x04", suffix=".npy")
@example(junk=b"PK\x03\x04", suffix=".xlsx")
@example(junk=b"ARROW1\0\0" * 9, suffix=".arrow")
@example(junk=b"PAR1" * 9, suffix=".parquet")
@example(junk=b'{"a": ' * 3000, suffix=".jsonl")
@example(junk=b'a,"' + b"x" * 200_000, suffix=".csv")
def test_junk_is_read_or_refused_in_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, junk: bytes, suffix: str
) -> None:
    path = tmp_path_factory.mktemp("junk") / f"t{suffix}"
    path.write_bytes(junk)
    sentence = refusal(path)
    assert sentence is None or (sentence.endswith(".") and "\n" not in sentence)


def moments(dtype: pl.DataType, *ticks: int) -> pl.Series:
    return pl.Series("when", ticks, dtype=pl.Int32 if dtype == pl.Date else pl.Int64).cast(dtype)


@pytest.mark.parametrize(
    "column",
    [
        moments(pl.Date(), 2**31 - 1, 0, 3_000, -(2**31)),
        moments(pl.Datetime("ms"), 2**63 - 1, 0, 3_000, -(2**63)),
        moments(pl.Datetime("us", "Asia/Tokyo"), 253_402_300_799_000_000, 0, 3_000, -(2**63)),
        moments(pl.Duration("ms"), 2**63 - 1, 0, 3_000, -(2**63)),
    ],
    ids=lambda column: str(column.dtype),
)
@pytest.mark.parametrize("memory", ["1000000000", "1"])
def test_times_that_python_cannot_hold_are_left_empty(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    column: pl.Series,
    memory: str,
) -> None:
    monkeypatch.setenv("COBRAS_MEMORY", memory)
    pl.DataFrame([column, pl.Series("x", [1, 2, 5, 7])]).write_parquet(tmp_path / "t.parquet")
    ds = read_dataset(tmp_path / "t.parquet")
    assert [ds.row(i)["when"] is None for i in range(4)] == [True, False, False, True]
    assert ds.columns == ("when", "x")
    assert np.isfinite(ds.X).all()
    if memory != "1":
        assert "Left times in 'when' empty: they lie beyond the years 1 to 9999." in ds.notes
    for suffix in (".json", ".jsonl", ".parquet")[memory == "1" :]:
        export_dataset(ds, np.zeros(4, int), None, tmp_path / f"out{suffix}")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_times_of_any_unit_are_kept(
    tmp_path: Path, unit: Literal["ms", "us", "ns"], zone: str | None
) -> None:
    """Those of pandas before its third version are nanoseconds."""
    days = [datetime(1700, 1, 1), datetime(1970, 1, 1), datetime(2024, 5, 6), datetime(2262, 1, 1)]
    column = pl.Series("when", days).cast(pl.Datetime(unit)).dt.replace_time_zone(zone)
    frame = pl.DataFrame([column, pl.Series("x", [1, 2, 5, 7])])
    frame.write_parquet(tmp_path / "t.parquet")
    for data in (tmp_path / "t.parquet", frame, frame.to_pandas()):
        ds = read_dataset(data)
        assert [ds.row(i)["when"].replace(tzinfo=None) for i in range(4)] == days
        assert ds.columns == ("when", "x")


@pytest.mark.parametrize("zone", ["+05:30", "Nowhere/Land"])
def test_a_zone_that_is_not_known_is_read_as_utc(tmp_path: Path, zone: str) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    when = pa.array([0, 10**6, 10**9], pa.timestamp("us", tz=zone))
    parquet.write_table(pa.table({"when": when, "x": [1, 2, 3]}), tmp_path / "t.parquet")
    assert str(read_dataset(tmp_path / "t.parquet").row(1)["when"]) == "1970-01-01 00:00:01+00:00"


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_impossible_dates_in_lists_are_left_out(tmp_path: Path, name: str) -> None:
    days = pl.Series("d", [2**31 - 1, 0, 5], pl.Int32).cast(pl.Date)
    lists = pl.DataFrame({"x": [1, 2, 4], "days": days}).group_by("x", maintain_order=True).all()
    frame = lists.with_columns(
        pl.DataFrame({"day": days}).to_struct("records"), days[1:2].extend_constant(None, 2)
    )
    frame.write_parquet(tmp_path / name) if name == "t.parquet" else frame.write_ipc(tmp_path / name)
    dataset = read_dataset(tmp_path / name)
    assert dataset.row(1) == {"x": 2, "days": None, "records": None, "d": None}
    assert "Left times in 'days', 'records' empty: they lie beyond the years 1 to 9999." in dataset.notes


def test_names_that_are_not_utf_8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, folder = tmp_path / os.fsdecode(b"t\xe9.csv"), tmp_path / os.fsdecode(b"d\xe9")
    path.write_text("a,b\n1,2\n3,4\n")
    assert len(read_dataset(path)) == 2
    folder.mkdir()
    pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "plain.parquet")
    (tmp_path / "plain.parquet").rename(folder / "t.parquet")
    pattern = folder / "*.parquet"
    monkeypatch.setenv("COBRAS_MEMORY", "1")
    for refused in (path, path.with_suffix(".parquet"), path.with_suffix(".arrow"), folder, pattern):
        with pytest.raises(InvalidDataError, match=r"\\udce9.* has a name that is not UTF-8; rename it\.$"):
            read_dataset(refused)


@pytest.mark.parametrize("memory", ["1000000000", "1"])
def test_a_line_of_many_megabytes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: str
) -> None:
    monkeypatch.setenv("COBRAS_MEMORY", memory)
    long = "x" * (1 << 26)
    for name, text in (("t.csv", f"s,x\n{long},1\n"), ("t.jsonl", f'{{"s": "{long}"}}\n')):
        (tmp_path / name).write_text(text)
        with pytest.raises(
            InvalidDataError, match=f"{name} has a line of more than 32 MiB; a row must be shorter"
        ):
            read_dataset(tmp_path / name)
