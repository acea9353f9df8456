"""Tables that cannot be used: one clear sentence each, never a traceback from below."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cobras.core.exceptions import CobrasError, InvalidDataError
from cobras.data import read_dataset

BAD_CSV = {
    "": "t.csv is empty",
    "\n\n": "t.csv holds no table",
    "a,b\n": "has column names but no rows",
    "a,b\nx,y\n": "no column of numbers to cluster by; its columns are 'a', 'b'",
    "a,b\n1,2\n3\n": "Line 3 of t.csv has 1 cells, but the header has 2",
    "a,b\n1,2\n3,4,5\n": "Line 3 of t.csv has 3 cells, but the header has 2",
    "a,b,a\n1,2,3\n": "2 columns called 'a'; give each column its own name",
    "a,b\n1,inf\n2,3\n": "Column 'b' of t.csv is infinite in row 0, counted from 0",
    "a,b\n1,2\n2,1e999\n": "Column 'b' of t.csv is infinite in row 1",
    "a\n\n\n": "has column names but no rows",
}


@pytest.mark.parametrize(("text", "sentence"), BAD_CSV.items())
def test_bad_csv(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InvalidDataError, match=sentence.replace("[", r"\[")) as caught:
        read_dataset(path)
    assert "\n" not in str(caught.value)


def test_column_that_does_not_exist(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    for given_name in ({"label": "kind"}, {"id": "kind"}, {"drop": ["kind"]}):
        with pytest.raises(InvalidDataError, match="has no column 'kind'; its columns are 'a', 'b'"):
            read_dataset(path, **given_name)  # type: ignore[arg-type]
    with pytest.raises(InvalidDataError, match="both the label and"):
        read_dataset(path, label="a", id="a")
    with pytest.raises(InvalidDataError, match="no column of numbers"):
        read_dataset(path, label="a", drop=["b"])


def test_ids_that_do_not_name(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("k,x\nu,2\nu,3\nv,4\n")
    with pytest.raises(InvalidDataError, match="'k' cannot name the rows: 'u' occurs more than once"):
        read_dataset(path, id="k")
    path.write_text("k,x\nu,2\n,3\nv,4\n")
    with pytest.raises(InvalidDataError, match="'k' cannot name the rows: 1 of its cells are empty"):
        read_dataset(path, id="k")


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
        (np.array([[np.nan, np.nan]]), "no column of numbers"),
    ],
)
def test_bad_arrays(tmp_path: Path, array: np.ndarray, sentence: str) -> None:
    np.save(tmp_path / "t.npy", array)
    with pytest.raises(InvalidDataError, match=sentence):
        read_dataset(tmp_path / "t.npy")


def test_lists_in_cells_are_shown_but_not_used(tmp_path: Path) -> None:
    pl.DataFrame({"x": [1.0, 2.0], "list": [[1], [2, 3]]}).write_parquet(tmp_path / "t.parquet")
    ds = read_dataset(tmp_path / "t.parquet")
    assert ds.columns == ("x",)
    assert "Left out 'list': not numbers, shown but not used." in ds.notes


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
