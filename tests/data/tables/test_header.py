"""Totals and notes below a table are left out, and nothing that may be an item is; headers of several lines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras.core.exceptions import InvalidDataError
from cobras.data import read_dataset, read_features, read_recipe
from cobras.data.tables.header import Merge, header_names, merged_header
from tests.data.conftest import write

CELLS = st.none() | st.sampled_from(["", "a", "b", "2023", "7", "1.5"])
MERGES = st.builds(
    lambda top, left, down, right: Merge(top, left, top + down, left + right),
    st.integers(0, 8),
    st.integers(0, 6),
    st.integers(0, 9),
    st.integers(0, 3),
)


@given(
    st.integers(1, 6).flatmap(
        lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=9)
    ),
    st.lists(MERGES, max_size=6),
    st.integers(0, 3),
)
def test_a_merged_header_lies_within_the_rows(
    rows: list[list[str | None]], merges: list[Merge], left: int
) -> None:
    found = merged_header(rows, merges, left)
    if found is not None:
        top, below = found
        assert any(merge.top == top and merge.bottom == top + below for merge in merges)
        assert top + below + 2 < len(rows)
        names = header_names(rows, merges, left, top, top + below)
        assert len(names) == len(rows[0])
        assert not {"7", "1.5", ""} & {part for parts in names for part in parts}


SHOPS = "shop;sales;staff\na;1.100,50;2\nb;990,00;5\nc;20,25;3\nd;450,00;1\n"


@pytest.mark.parametrize("total", ["Gesamt;2.560,75;11", "Gesamt;2.560,75;", "GRAND TOTAL;;11\n;;"])
def test_a_row_of_totals_is_left_out(tmp_path: Path, total: str) -> None:
    """As an item it would be far from all others, and let their differences vanish."""
    path = write(tmp_path, f"{SHOPS}{total}\n")
    ds = read_dataset(path)
    assert ds.frame["shop"].to_list() == ["a", "b", "c", "d"]
    word = total.partition(";")[0]
    assert f"Left out the last row, {word!r}: totals." in ds.notes
    np.testing.assert_array_equal(ds.X, read_dataset(write(tmp_path, SHOPS, "plain.csv")).X)
    np.testing.assert_array_equal(read_features(path, ds.recipe), ds.X)
    total = total.replace("2.560,75", "2.590,75").replace("11", "15")
    write(tmp_path, f"{SHOPS}e;30,00;4\n{total}\n")
    more = read_recipe(path, ds.recipe)
    assert more.frame["shop"].to_list() == ["a", "b", "c", "d", "e"]
    np.testing.assert_array_equal(more.X[:4], ds.X)
    old = replace(ds.recipe, totals=False)  # as sessions of before have it
    assert read_recipe(path, old).frame["shop"][5] == word


@pytest.mark.parametrize(
    "last",
    [
        "Total;700,00;4",
        "Gesamtschule;2.560,75;11",
        "e;2.560,75;11",
        "Total;0,00;0",
        "Total Wine Ltd;2.560,75;11",
        "Total;9,00;11",  # one of two columns fits by chance
        "Total;;",
        "Total;;4",
    ],
)
def test_what_may_be_a_shop_is_no_row_of_totals(tmp_path: Path, last: str) -> None:
    assert len(read_dataset(write(tmp_path, f"{SHOPS}{last}\n"))) == 5


@pytest.mark.parametrize(
    ("text", "n_rows"),
    [
        (
            "brand,diesel,lpg,h2,shop\nAral,1,0,0,1\nBP,1,0,1,1\nEsso,1,1,0,1\nShell,1,0,0,1\nTotal,1,1,0,1\n",
            5,
        ),
        ("op,x,y\nmean,1,2\nmin,0,0\nmax,1,5\nsum,2,9\n", 4),
        ("brand,a,b,c\nAral,1,0,0\nBP,0,1,0\nEsso,0,0,1\nTotal,1,1,1\n", 4),  # sums of a single number each
        ("shop,a,b,mean\nx,1,2,5\ny,2,3,6\nz,3,9,7\nTotal,6,14,6\n", 3),  # one of three is no sum
        ("shop,a,b,c,d\nx,1,2,5,1\ny,2,3,6,2\nz,3,9,7,3\nTotal,6,14,6,2\n", 4),  # two of four are none
        ("shop,a,none\nx,1,0\ny,2,0\nz,3,0\nTotal,6,0\n", 3),
        ("shop,a,b\nTotal,6,14\nx,1,2\ny,2,3\nz,3,9\n", 4),
        ("shop,a,b\nx,1,2\nTotal,3,5\ny,2,3\nz,3,9\n", 4),
    ],
)
def test_totals_are_sums_in_all_columns_but_one(tmp_path: Path, text: str, n_rows: int) -> None:
    """A single column fits by chance: of flags, or of few small numbers."""
    assert len(read_dataset(write(tmp_path, text))) == n_rows


@pytest.mark.parametrize(
    ("below", "n_rows"),
    [
        ("Source: office", 0),  # no row: it has one cell
        ("Source: office; as of May\n* preliminary;;", 0),
        ("Note 1: office;;\n** preliminary;;", 2),
        (";;\n1) without the cellar;;", 1),
        ("Gesamt;2.560,75;11\n;;\nQuelle: Amt;;", 2),
        ("Gesamt;;11\nQuelle: Amt;;", 2),
    ],
)
def test_notes_below_a_table_are_left_out(tmp_path: Path, below: str, n_rows: int) -> None:
    path = write(tmp_path, f"{SHOPS}{below}\n")
    ds = read_dataset(path)
    assert ds.frame["shop"].to_list() == ["a", "b", "c", "d"]
    assert sum(note.startswith("Left out the last") for note in ds.notes) == 1 + ("Gesamt" in below)
    np.testing.assert_array_equal(ds.X, read_dataset(write(tmp_path, SHOPS, "plain.csv")).X)
    np.testing.assert_array_equal(read_features(path, ds.recipe), ds.X)
    old = replace(ds.recipe, totals=False)  # as sessions of before have it
    assert len(read_recipe(path, old)) == 4 + n_rows


def test_a_row_of_totals_that_is_half_empty_stands_above_notes(tmp_path: Path) -> None:
    rows = "name,a,b,c\nx,1,2,3\ny,2,3,4\nz,3,9,5\nw,3,9,5\nTotal,,,17\nSource: office,,,\n"
    ds = read_dataset(write(tmp_path, rows))
    assert ds.frame["name"].to_list() == ["x", "y", "z", "w"]
    assert sum(note.startswith("Left out the last") for note in ds.notes) == 2


def test_a_fraction_in_the_row_of_totals_makes_no_fractions_of_counts(tmp_path: Path) -> None:
    rows = "shop,staff,rent\na,6,1.5\nb,7,2\nc,,3\nd,8,4\nTotal,21.00,10.5\n"
    frame = read_dataset(write(tmp_path, rows)).frame
    assert frame["staff"].to_list() == [6, 7, None, 8]
    assert (frame["staff"].dtype, frame["rent"].dtype) == (pl.Int64, pl.Float64)


def test_notes_in_an_excel_file_are_left_out(tmp_path: Path) -> None:
    numbers = [1, 9, 2, 4, 16, None]
    cells = {"shop": [*"abcd", "Total", "Source: office"], "sales": numbers, "staff": numbers}
    pl.DataFrame(cells, strict=False).write_excel(tmp_path / "shops.xlsx")
    assert read_dataset(tmp_path / "shops.xlsx").frame["shop"].to_list() == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    "last",
    [
        "e;;",
        "Notebooks;;",
        "New shop;;",
        "Source: office;;2",
        "Note 10;;",
        "Legend of the Fall;;",
        "Updated later;;",
        "*** great ***;;",
        "*Star;;",
        "Shops that closed are not listed.;;",
    ],
)
def test_what_may_be_a_shop_is_no_note(tmp_path: Path, last: str) -> None:
    assert read_dataset(write(tmp_path, f"{SHOPS}{last}\n")).frame["shop"][4] == last.partition(";")[0]


def test_where_others_begin_as_a_note_does_it_is_none(tmp_path: Path) -> None:
    path = write(tmp_path, "dish,price,fat\n1) soup,4,2\n2) rice,5,1\n3) fish,9,3\n4) cake,,\n")
    assert len(read_dataset(path)) == 4


REVIEWS = "".join(
    f'"the thing number {k} is quite good, and works since then",{k % 3},{k % 4}\n' for k in range(9)
)
LAST = [
    "Note: it broke",
    "Note that it broke",
    "Updated my review later",
    "*** great ***",
    "* works",
    "This one has no label yet and is a little longer than all of the others here.",
]


@pytest.mark.parametrize("last", LAST)
def test_no_text_is_left_out_as_a_note(tmp_path: Path, last: str) -> None:
    path = write(tmp_path, f"text,stars,votes\n{REVIEWS}{last},,\n")
    assert len(read_dataset(path)) == len(read_dataset(path, kind="table")) == 10
    labels = "".join(f"{line.rpartition(',')[0]}\n" for line in REVIEWS.splitlines())
    assert len(read_dataset(write(tmp_path, f"text,label\n{labels}{last},\n"))) == 10
    # Short ones beside numbers are names, unless it is said that they are texts.
    path = write(tmp_path, f"text,stars,votes\ngood one,1,2\nbad one,3,4\nso so,5,6\n{last},,\n")
    assert len(read_dataset(path, kind="text")) == len(read_dataset(path, text="text")) == 4


@pytest.mark.parametrize(
    ("text", "line", "n_cells"),
    [
        (f"{SHOPS}Source: office\ne;1,00;2\n", 6, 1),
        (f"{SHOPS}a b c\ne;1,00;2\n", 6, 1),
        (f"{SHOPS}Note 8;700\n", 6, 2),
        (f"text,stars,votes\n{REVIEWS}Note: it broke\n", 11, 1),
        ("shop,city,sales\na,x,1\nb,y,2\nc,z,3\nd,x,4\nSource: office\n", 6, 1),
    ],
)
def test_a_short_line_is_refused_unless_it_is_a_note(
    tmp_path: Path, text: str, line: int, n_cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = (
        rf"Line {line} of t\.csv has {n_cells} cells?, but the header has 3; correct or delete that line"
    )
    for size in (1 << 24, 10):
        monkeypatch.setattr("cobras.data.tables.files.LARGE", size)
        with pytest.raises(InvalidDataError, match=sentence):
            read_dataset(write(tmp_path, text))


def test_a_short_note_is_no_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below few rows as below many, in a large file as in a small one; one larger than memory is refused."""
    path = write(tmp_path, "name,a,b\nx,1,2\ny,2,3\nSource: office\n")
    for size in (1 << 24, 10):
        monkeypatch.setattr("cobras.data.tables.files.LARGE", size)
        ds = read_dataset(path)
        assert ds.frame["name"].to_list() == ["x", "y"]
        assert "Left out the last row, 'Source: office': a note below the table." in ds.notes
        np.testing.assert_array_equal(read_recipe(path, ds.recipe).X, ds.X)
    assert len(read_dataset(path, kind="series")) == 2
    monkeypatch.setenv("COBRAS_MEMORY", "1")
    with pytest.raises(InvalidDataError, match=r"Line 4 of t\.csv has 1 cell, but the header has 3"):
        read_dataset(path)
