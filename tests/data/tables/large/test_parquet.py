"""Delimited text larger than memory reads like text that fits."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras.core.exceptions import InvalidDataError
from cobras.data.cache import cache_folder
from cobras.data.tables.csv import read_delimited
from cobras.data.tables.large import parquet

CELLS = st.one_of(
    st.sampled_from(["", "NA", "007", "true", "False", "-3", "+4", "1e3", "nan", "a word", "0", "?"]),
    st.integers(-99, 99).map(str),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(str),
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def rows_of(path):
    return pl.concat([pl.read_parquet(file) for file in parquet.convert_to_parquet(path)])


@given(st.data())
def test_a_column_has_the_type_that_it_has_in_memory(tmp_path_factory, data):
    n_columns = data.draw(st.integers(1, 3))
    alphabets = [data.draw(st.lists(CELLS, min_size=1, max_size=3)) for _ in range(n_columns)]
    rows = data.draw(st.lists(st.tuples(*map(st.sampled_from, alphabets)), min_size=1, max_size=12))
    lines = [("key", *(f"c{k}" for k in range(n_columns))), *((f"w{i}", *row) for i, row in enumerate(rows))]
    path = tmp_path_factory.mktemp("data") / "t.csv"
    path.write_text("".join(",".join(line) + "\n" for line in lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "BATCH", data.draw(st.integers(1, 40)))
        found = rows_of(path)
    expected = read_delimited(path, header=0)[0]
    assert found.schema == expected.schema
    assert found.equals(expected)


def test_decimal_commas_and_quotes(tmp_path, monkeypatch):
    path = tmp_path / "prices.csv"
    path.write_text('item;price\n"a;b";1,5\n"two\nlines";2\nc;NA\n')
    monkeypatch.setattr(parquet, "BATCH", 2)
    assert rows_of(path).rows() == [("a;b", 1.5), ("two\nlines", 2.0), ("c", None)]


def test_whole_numbers_that_no_integer_holds_stay_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n{'9' * 19},2\n{'9' * 20},4\n")
    assert rows_of(path).rows() == [("9" * 19, 2), ("9" * 20, 4)] == read_delimited(path)[0].rows()


def test_what_was_written_is_used_again_until_the_file_changes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    (first,) = parquet.convert_to_parquet(path)
    stamp = first.stat().st_mtime_ns
    assert parquet.convert_to_parquet(path)[0].stat().st_mtime_ns == stamp
    path.write_text("a,b\n1,2\n3,4\n5,6\n")
    assert rows_of(path).height == 3
    assert not first.exists()
    assert len(list((cache_folder() / "tables").iterdir())) == 1


def test_a_short_row_is_refused_by_its_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3\n")
    with pytest.raises(InvalidDataError, match=r"Line 3 of t.csv has 1 cell, but the header has 2"):
        parquet.convert_to_parquet(path)
    assert not list((cache_folder() / "tables").glob("*"))


@pytest.mark.parametrize("text", [b"\xff\xfea\x00", b"caf\xe9,1\n2,3\n", b"\xef\xbb\xbfa,b\n1,2\n"])
def test_other_text_is_left_to_the_exact_reader(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_bytes(text)
    assert parquet.convert_to_parquet(path) is None


def test_no_room_for_it_is_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(
        InvalidDataError, match=r"t.csv is too large to load, and cannot be kept .* XDG_CACHE_HOME"
    ):
        parquet.convert_to_parquet(path)
