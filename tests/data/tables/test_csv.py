"""Delimiters, encodings, headers and types are found out, in large files as in small ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cobras.core.exceptions import InvalidDataError
from cobras.data import read_dataset, read_features
from cobras.data.resume import read_recipe
from cobras.data.tables.files import read_table
from tests.data.conftest import write


def test_decimal_commas(tmp_path: Path) -> None:
    ds = read_dataset(write(tmp_path, "a;b;c\n1,5;1;x\n2,5;2;y\n3,5;4;z\n"))
    assert ds.frame["a"].to_list() == [1.5, 2.5, 3.5]
    assert "Read decimal commas in 'a'." in ds.notes


THOUSANDS = ["950", "1.234", "12.500", "7.080", "101"]


@pytest.mark.parametrize("n", [1, 100_000])
def test_points_between_thousands(tmp_path: Path, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As fractions, 950 would be the largest of them; in a large file and in a small one."""
    monkeypatch.setattr("cobras.data.tables.files.LARGE", 100_000)
    cells = THOUSANDS * n
    ds = read_dataset(
        write(tmp_path, "a;b\n" + "".join(f"{cell};x{k % 2}\n" for k, cell in enumerate(cells)))
    )
    numbers = np.array([950, 1234, 12500, 7080, 101])
    assert np.allclose(ds.X[:5, 0], (numbers - 101) / (12500 - 101))
    assert "Read 'a' (12.500 = 12500) as numbers." in ds.notes
    if n == 1:
        monkeypatch.setenv("COBRAS_MEMORY", "1")
        assert np.allclose(read_dataset(tmp_path / "t.csv").X[:, 0], ds.X[:, 0])


def test_what_is_read_as_thousands_is_shown(tmp_path: Path) -> None:
    for unit, other in ((" €", 1234), (" EUR", 1234), (" kg", None), (" km", None)):
        rows = [f"{cell}{unit},{k}\n" for k, cell in enumerate(["950", "1.234", "2.500", "7.080"])]
        ds = read_dataset(write(tmp_path, "a,b\n" + "".join(rows)))
        shown = f"1.234{unit}" if other is None else f"1.234{unit} = {other}{unit}"
        assert f"Read 'a' ({shown}) as numbers." in ds.notes


def test_totals_of_thousands_are_left_out(tmp_path: Path) -> None:
    rows = [f"x{k};{cell}\n" for k, cell in enumerate(THOUSANDS)]
    path = write(tmp_path, "shop;sales\n" + "".join(rows) + "Total;21.865\n")
    ds = read_dataset(path)
    assert len(ds) == 5
    np.testing.assert_array_equal(read_features(path, ds.recipe), ds.X)


def test_fractions_beside_whole_numbers_stay_fractions(tmp_path: Path) -> None:
    for cells in (["950", "1.234", "12.5", "7.08"], ["950", "1.234", "12.500", "0.125"], ["1.234"] * 4):
        ds = read_dataset(write(tmp_path, "a;b\n" + "".join(f"{cell};{k}\n" for k, cell in enumerate(cells))))
        assert ds.frame["a"].to_list() == [float(cell) for cell in cells]
    for delimiter in ",\t|":  # nothing hints at thousands
        rows = [f"{cell}{delimiter}{k}\n" for k, cell in enumerate(THOUSANDS)]
        ds = read_dataset(write(tmp_path, f"a{delimiter}b\n" + "".join(rows)))
        assert ds.frame["a"].to_list() == [float(cell) for cell in THOUSANDS]
        with_words = [*THOUSANDS * 5, "unknown"]
        rows = [f"{cell}{delimiter}{k % 3}\n" for k, cell in enumerate(with_words)]
        ds = read_dataset(write(tmp_path, f"a{delimiter}b\n" + "".join(rows)))
        assert (ds.recipe.columns[0].low, ds.recipe.columns[0].high) == (1.234, 950)
    ds = read_dataset(pl.DataFrame({"a": THOUSANDS * 3, "b": range(15)}))
    assert (ds.recipe.columns[0].low, ds.recipe.columns[0].high) == (1.234, 950)


def test_a_session_goes_on_as_thousands_were_read(tmp_path: Path) -> None:
    """Also one of before, to which they were fractions; and where rows are added that hint at fractions."""
    path = write(tmp_path, "a;b\n" + "".join(f"{cell};x{k % 2}\n" for k, cell in enumerate(THOUSANDS)))
    ds = read_dataset(path)
    with path.open("a") as file:
        file.write("4000;x1\n")
    more = read_recipe(path, ds.recipe)
    assert np.array_equal(more.X[:5], ds.X)
    assert more.X[5, 0] == (4000 - 101) / (12500 - 101)
    plain = replace(ds.recipe.columns[0], notation=None, low=1.234, high=950.0, fill=12.5, missing=())
    old = replace(ds.recipe, columns=(plain, *ds.recipe.columns[1:]))
    write(tmp_path, "a;b\n" + "".join(f"{cell};x{k % 2}\n" for k, cell in enumerate([*THOUSANDS, "NA"])))
    before = read_recipe(path, old)
    numbers = np.array([950, 1.234, 12.5, 7.08, 101, 12.5])
    assert np.allclose(before.X[:, 0], (numbers - 1.234) / (950 - 1.234))


def test_encodings(tmp_path: Path) -> None:
    text = "naïve,größe\ncafé,1\nthé,2\n"
    for encoding in ("utf-8", "utf-8-sig", "latin-1", "utf-16"):
        ds = read_dataset(write(tmp_path, text.encode(encoding)))
        assert ds.columns == ("größe",), encoding
        assert ds.show(0).values["naïve"] == "café", encoding


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_and_blank_lines(tmp_path: Path, newline: str) -> None:
    lines = ["", "a,b", "1,x", "", "2,y", "", ""]
    ds = read_dataset(write(tmp_path, newline.join(lines)))
    assert ds.frame.rows() == [(1, "x"), (2, "y")]


def test_quotes_that_polars_refuses(tmp_path: Path) -> None:
    ds = read_dataset(write(tmp_path, 'a,b\n1,5" pipe\n2,"two\nlines"\n3,\n'))
    assert ds.frame["b"].to_list() == ['5" pipe', "two\nlines", None]


def test_no_header(tmp_path: Path) -> None:
    ds = read_dataset(write(tmp_path, "5.1,3.5,setosa\n4.9,3.0,setosa\n", "iris.data"))
    assert ds.frame.columns == ["column_1", "column_2", "column_3"]
    assert len(ds) == 2


def test_codes_stay_text_and_missing_words_count_in_number_columns_only(tmp_path: Path) -> None:
    ds = read_dataset(write(tmp_path, "zip,country,n,big\n007,NA,1,99999999999999999999\n010,DE,NA,1\n"))
    assert ds.frame.rows() == [("007", "NA", 1, "99999999999999999999"), ("010", "DE", None, "1")]
    assert ds.columns == ("n",)


def test_a_large_file_is_read_as_a_small_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, people: Path
) -> None:
    """Without a copy of its text, and yet with the same types, gaps, codes and refusals."""
    rng = np.random.default_rng(0)
    late = pl.DataFrame(
        {
            "x": rng.normal(size=3000),
            "word at the end": ["0.5"] * 2999 + ["none of these"],
            "gap at the end": ["0.5"] * 2999 + ["NA"],
            "code at the end": ["5"] * 2999 + ["007"],
            "fraction at the end": ["5"] * 2999 + ["0.5"],
            "infinite": ["0.5"] * 2999 + ["-inf"],
            "n": rng.integers(-99, 99, 3000),
            "last": [1, None] * 1500,
        }
    )
    late.write_csv(tmp_path / "late.csv")
    small = {path: read_table(path)[0] for path in (people, tmp_path / "late.csv")}
    for module in ("files", "csv"):
        monkeypatch.setattr(f"cobras.data.tables.{module}.LARGE", 0)
    monkeypatch.setattr("cobras.data.tables.large.plain.SAMPLE", 400)
    for path, frame in small.items():
        large = read_table(path)[0]
        assert large.schema == frame.schema
        assert large.equals(frame)
    assert small[tmp_path / "late.csv"].schema["word at the end"] == pl.String
    with (tmp_path / "late.csv").open("a") as file:
        file.write("1.0,0.5\n")
    with pytest.raises(InvalidDataError, match=r"Line 3002 of late.csv has 2 cells, but the header has 8"):
        read_table(tmp_path / "late.csv")


BAD_CSV = {
    "": "t.csv is empty",
    "\n\n": "t.csv holds no table",
    "a,b\n": "has column names but no rows",
    "a,b\nx,y\n": "no column of numbers to cluster by; its columns are 'a', 'b'",
    "a,b\n1,2\n3\n": "Line 3 of t.csv has 1 cell, but the header has 2",
    "a,b\n1,2\n3,4,5\n": "Line 3 of t.csv has 3 cells, but the header has 2; correct or delete that line.",
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


def test_thousands_of_columns_take_no_query_of_polars_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query takes longer than the few cells of such a column: 20,000 columns took 26 s."""
    n, queries = 300, []
    rows = [",".join(str((i * j) % 97 / (1 + j % 2)) for j in range(n)) for i in range(5)]
    (tmp_path / "t.csv").write_text("\n".join([",".join(f"c{k}" for k in range(n)), *rows]))
    select = pl.DataFrame.select_seq  # by which polars runs most methods of a column
    monkeypatch.setattr(pl.DataFrame, "select_seq", lambda *a, **o: (queries.append(a), select(*a, **o))[1])
    assert len(read_dataset(tmp_path / "t.csv")) == 5
    assert len(queries) < n
