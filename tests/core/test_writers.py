"""Tables as files: what is written can be read again, and is whole or not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import Answer, InvalidDataError, Pair, Record
from cobras.core.writers import (
    answers_as_rows,
    answers_table,
    labels_table,
    with_clusters,
    write_batches,
    write_frame,
    write_table,
)

READ = {
    ".csv": pl.read_csv,
    ".tsv": lambda path: pl.read_csv(path, separator="\t"),
    ".parquet": pl.read_parquet,
    ".json": pl.read_json,
    ".jsonl": pl.read_ndjson,
}
cells = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5)
tables = st.lists(st.tuples(st.integers(-(2**31), 2**31), cells.map("t{}".format)), min_size=1, max_size=8)


@pytest.mark.parametrize("suffix", READ)
@given(rows=tables)
def test_what_is_written_is_read_again(suffix: str, rows: list[tuple[int, str]], tmp_path_factory) -> None:
    columns = {"x": [x for x, _ in rows], "text": [text for _, text in rows]}
    folder = tmp_path_factory.mktemp("out")
    assert READ[suffix](write_table(columns, folder / f"out{suffix}")).rows() == rows
    if suffix != ".json":
        frame = pl.DataFrame(columns)
        batches = (frame[at : at + 3] for at in range(0, len(rows), 3))
        assert READ[suffix](write_batches(batches, folder / f"parts{suffix}")).rows() == rows
    assert all(path.suffix == suffix for path in folder.iterdir())


def test_so_many_rows_are_not_written_as_one_json(tmp_path: Path) -> None:
    with pytest.raises(InvalidDataError, match="the suffix for so many rows must be one of"):
        write_batches([], tmp_path / "out.json")


def test_answers_are_rows_or_columns() -> None:
    records = [
        Record(0, "answer", Pair(0, 2), Answer.SAME, at=1.5),
        Record(1, "constraint", Pair(2, 1), Answer.DIFFERENT, at=2.5, in_force=False),
    ]
    assert answers_table([]) == {key: [] for key in ("i", "j", "answer", "kind", "in_force", "at")}
    assert answers_table(records)["i"] == [0, 2]
    assert answers_as_rows(records, ids="abc") == [
        {"i": "a", "j": "c", "answer": "same", "kind": "answer", "in_force": True, "at": 1.5},
        {"i": "c", "j": "b", "answer": "different", "kind": "constraint", "in_force": False, "at": 2.5},
    ]


def test_labels_have_ids_and_names_where_there_are_any() -> None:
    labels = np.array([1, 0], np.uint8)
    assert labels_table(range(2), labels).rows(named=True) == [
        {"id": 0, "cluster": 1},
        {"id": 1, "cluster": 0},
    ]
    assert labels_table(["a", "b"], labels, {1: "bikes"}).rows() == [("a", 1, "bikes"), ("b", 0, "")]


def test_no_names_no_column_and_a_taken_name(tmp_path: Path) -> None:
    frame = pl.DataFrame({"cluster": ["old", "old"]})
    out = write_frame(with_clusters(frame, [0, 1], {}), tmp_path / "out.csv")
    assert out.read_text() == "cluster,cluster_2\nold,0\nold,1\n"


def test_a_row_in_no_cluster_has_no_number_and_no_name() -> None:
    labels = pl.Series([None, 1, 0])
    table = with_clusters(pl.DataFrame({"x": [1, 2, 3]}), labels, {1: "bikes"}, (7, 9))
    assert table.rows() == [(1, None, None, None), (2, 9, "bikes", 1), (3, 7, None, 0)]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")
    with pytest.raises(InvalidDataError, match=r"'x' holds lists, which CSV and TSV cannot hold"):
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


def test_labels_of_the_wrong_length() -> None:
    with pytest.raises(InvalidDataError, match="3 labels for a table of 1 rows"):
        with_clusters(pl.DataFrame({"x": [1]}), [0, 0, 1])


TEXTS = [
    "=HYPERLINK(1)",
    "+1-2",
    "-2.5",
    "+3e5",
    "-x",
    "@a",
    "\t=1",
    "'=1",
    "a=1",
    "x",
    None,
    "-.5",
    "--1",
    "-",
    "+",
    "=",
    "= 1",
]
SAFE = [
    "'=HYPERLINK(1)",
    "'+1-2",
    "-2.5",
    "+3e5",
    "'-x",
    "'@a",
    "'\t=1",
    "'=1",
    "a=1",
    "x",
    None,
    "-.5",
    "'--1",
    "-",
    "+",
    "=",
    "'= 1",
]


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
@pytest.mark.parametrize("in_batches", [False, True])
def test_a_spreadsheet_finds_no_formula(tmp_path: Path, suffix: str, in_batches: bool) -> None:
    kinds = pl.Series(TEXTS, dtype=pl.Categorical)
    frame = pl.DataFrame({"=text": TEXTS, "number": range(-6, 11), "kind": kinds})
    for escape, texts, name in ((True, SAFE, "'=text"), (False, TEXTS, "=text")):
        if in_batches:
            file = write_batches([frame, frame], tmp_path / f"t{suffix}", escape=escape)
        else:
            file = write_frame(frame, tmp_path / f"t{suffix}", escape=escape)
        found = pl.read_csv(file, separator="\t" if suffix == ".tsv" else ",")[:17]
        assert found[name].to_list() == found["kind"].to_list() == texts
        assert found["number"].to_list() == list(range(-6, 11))


@pytest.mark.parametrize(
    "text", ["-2,116", "-1.234,50", "-1 234", "-12 %", "-5%", "-€ 5", "-$1,234.50", "+3.5 €"]
)
def test_a_negative_number_stays_as_it_was_written(tmp_path: Path, text: str) -> None:
    file = write_frame(pl.DataFrame({"balance": [text, "-1+cmd()"]}), tmp_path / "t.csv")
    assert pl.read_csv(file)["balance"].to_list() == [text, "'-1+cmd()"]


def test_ids_may_be_numbers_and_texts():
    assert labels_table(["a", 1, None], [0, 0, 1])["id"].to_list() == ["a", "1", None]
