"""Excel files: a process of their own reads them, within limits."""

from __future__ import annotations

import datetime as dt
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from cobras.core.exceptions import InvalidDataError
from cobras.data import read_dataset, read_features, read_recipe
from cobras.data.newitems import read_new_items
from cobras.data.recipe import ColumnRecipe, Recipe
from cobras.data.tables import workbook
from cobras.data.tables.excel import OLE, read_excel, read_sheet, with_times_of_day
from cobras.data.tables.header import Extent
from cobras.data.tables.workbook import Workings, read_workings
from tests.data.conftest import write


def with_cell(path: Path, cell: bytes) -> None:
    """Add a cell to the first sheet of a small workbook."""
    pl.DataFrame({"a": [1, 2, 3]}).write_excel(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content.replace(b"</sheetData>", cell + b"</sheetData>"))


def test_a_cell_in_the_last_corner_is_refused(tmp_path: Path) -> None:
    """A dense table of it has 17 billion cells, for which the reader aborts its process."""
    path = tmp_path / "t.xlsx"
    with_cell(path, b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')
    with pytest.raises(
        InvalidDataError, match=r"t.xlsx cannot be read as an Excel file: that takes more than 2"
    ):
        read_excel(path)


def test_nothing_is_imported_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pl.DataFrame({"a": [1, 2, 3], " ": [4, 5, 6]}).write_excel(tmp_path / "t.xlsx")
    (tmp_path / "polars.py").write_text("open('seen', 'w')")
    monkeypatch.chdir(tmp_path)
    frame, notes, extent = read_excel(Path("t.xlsx"))
    assert frame.to_dict(as_series=False) == {"a": [1, 2, 3], "column_2": [4, 5, 6]}
    assert (notes, extent) == ([], Extent("Sheet1", 0))
    assert not (tmp_path / "seen").exists()


def test_the_first_sheet_that_holds_a_table(tmp_path: Path) -> None:
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        book.add_worksheet("empty")
        pl.DataFrame({"x": [1.5, 2]}).write_excel(book, "full")
    note = "Read the sheet 'full' of 2. (--sheet for another: 'empty')"
    assert read_excel(tmp_path / "t.xlsx")[1:] == ([note], Extent("full", 0))
    sheet = read_sheet(tmp_path / "t.xlsx", None, None)
    assert (sheet.frame["x"].to_list(), sheet[1:]) == ([1.5, 2], ("full", ["empty", "full"], 0, 0, {}))


def test_hidden_sheets_and_those_of_charts_come_last(tmp_path: Path) -> None:
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        pl.DataFrame({"x": [1, 2], "y": [3, 4]}).write_excel(book, "old")
        sheet, chart = book.add_chartsheet("chart"), book.add_chart({"type": "line"})
        assert chart is not None
        chart.add_series({"values": "=old!$A$2:$A$3"})
        sheet.set_chart(chart)
        pl.DataFrame({"x": [5, 6], "y": [7, 8]}).write_excel(book, "new")
        old, _, new = book.worksheets()
        new.activate()
        old.hide()
    frame, notes, extent = read_excel(tmp_path / "t.xlsx")
    assert (frame["x"].to_list(), extent.sheet) == ([5, 6], "new")
    assert notes == ["Read the sheet 'new' of 3. (--sheet for another: 'old', 'chart')"]
    assert read_excel(tmp_path / "t.xlsx", Extent("old"))[0]["x"].to_list() == [1, 2]


def test_names_that_come_twice_below_merged_cells(tmp_path: Path) -> None:
    import xlsxwriter

    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.merge_range(0, 1, 0, 2, "2023")
        sheet.merge_range(0, 3, 0, 4, "2024")
        sheet.write_row(1, 0, ["shop", "sales", "staff", "sales", "staff"])
        for k in range(9):
            sheet.write_row(2 + k, 0, [f"s{k}", k % 4, k % 3, k % 5, k % 2])
    ds = read_dataset(path)
    assert (ds.columns, len(ds)) == (("sales", "staff", "sales_1", "staff_1"), 9)
    np.testing.assert_array_equal(read_recipe(path, ds.recipe).X, ds.X)


def write_merged(path: Path, top: int = 0, left: int = 0, title: str = "") -> None:
    """Write a table whose header has two lines: shop and region are merged downwards, years to the right."""
    import xlsxwriter

    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        if title:
            sheet.merge_range(0, left, 1, left + 5, title)
        sheet.merge_range(top, left, top + 1, left, "shop")
        sheet.merge_range(top, left + 1, top, left + 2, "2023")
        sheet.merge_range(top, left + 3, top, left + 4, "2024")
        sheet.merge_range(top, left + 5, top + 1, left + 5, "region")
        sheet.merge_range(top, left + 6, top + 1, left + 6, "growth")
        sheet.write_row(top + 1, left + 1, ["sales", "staff", "sales", "staff"])
        for k in range(9):
            sheet.write_row(top + 2 + k, left, [f"s{k}", k * 1.5, k % 3, k % 5, k % 2, "NS"[k % 2]])
            sheet.write_formula(top + 2 + k, left + 6, "=1+1", None, "")


@pytest.mark.parametrize(("top", "left", "title"), [(0, 0, ""), (3, 2, "Report"), (2, 0, "Report")])
def test_a_header_that_is_merged_downwards(tmp_path: Path, top: int, left: int, title: str) -> None:
    path = tmp_path / "t.xlsx"
    write_merged(path, top, left, title)
    ds = read_dataset(path)
    numbers = ["2023 sales", "2023 staff", "2024 sales", "2024 staff"]
    assert ds.frame.columns == ["shop", *numbers, "region"]
    assert (ds.columns, len(ds)) == ((*numbers, "region=N", "region=S"), 9)
    assert (ds.recipe.header, ds.recipe.sub_header, ds.ids[0]) == (top, 1, "s0")
    assert "Joined 2 lines of names into one header." in ds.notes
    assert f"Found no value for 9 formulas in 'growth': {ADVICE}" in ds.notes
    again = Recipe.from_json(ds.recipe.to_json())
    np.testing.assert_array_equal(read_recipe(path, again).X, ds.X)
    np.testing.assert_array_equal(read_features(path, again), ds.X)


def test_a_recipe_from_before_merged_headers_is_read_as_it_was(tmp_path: Path) -> None:
    write_merged(tmp_path / "t.xlsx")
    old = Recipe(
        "table", sheet="Sheet1", hidden=(), columns=(ColumnRecipe("2023", "category", values=("0",)),)
    )
    frame = read_recipe(tmp_path / "t.xlsx", old).frame
    assert (frame.columns[:2], frame["2023"].to_list()[:2]) == (["shop", "2023"], ["sales", "0"])


def test_groups_of_rows_that_are_merged_are_no_header(tmp_path: Path) -> None:
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["region", "x", "y"])
        for k in range(9):
            sheet.write_row(1 + k, 1, [k * 1.5, k % 4])
        sheet.merge_range(1, 0, 3, 0, "north")
        sheet.merge_range(4, 0, 9, 0, "south")
    frame, notes, extent = read_excel(tmp_path / "t.xlsx")
    assert (frame.columns, frame.height, notes, extent) == (["region", "x", "y"], 9, [], Extent("Sheet1", 0))


def write_formulas(path: Path, *values: Any, names: Sequence[str] = ("shop", "sales", "staff")) -> None:
    """Write a title and a table, whose last column, "double", holds formulas with some values."""
    import xlsxwriter

    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        if names:
            sheet.write_formula(0, 0, "=TODAY()", None, values[0])
        sheet.write_row(2, 0, [*names, "double"])
        for k, value in enumerate(values):
            sheet.write_row(3 + k, 0, [f"s{k}", k * 1.5, k % 3][: len(names)])
            sheet.write_formula(3 + k, len(names), f"=B{4 + k}*2", None, value)


ADVICE = "open t.xlsx in a spreadsheet program, such as Excel or LibreOffice, and save it."


@pytest.mark.parametrize("value", ["", 0])
def test_formulas_that_were_never_calculated_are_told(tmp_path: Path, value: Any) -> None:
    """Openpyxl stores them without a value, xlsxwriter with 0."""
    path = tmp_path / "t.xlsx"
    write_formulas(path, *[value] * 9)
    ds = read_dataset(path)
    assert f"Found no value for 9 formulas in 'double': {ADVICE}" in ds.notes
    assert (ds.columns, ds.frame["double"].null_count()) == (("sales", "staff"), 9)
    write_formulas(path, *[value] * 9, names=["shop"])
    with pytest.raises(InvalidDataError, match=rf"no column of numbers .* Found no value .* {ADVICE}$"):
        read_dataset(path)
    write_formulas(path, *[value] * 9, names=[])
    with pytest.raises(InvalidDataError, match=rf"^t.xlsx has formulas, but .* calculated .*: {ADVICE}$"):
        read_dataset(path)


def test_formulas_that_were_calculated(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_formulas(path, *[0.0] * 8, 7)  # one of them shows that the others are 0
    assert read_excel(path)[1] == ["Left out 2 lines above the header."]
    ds = read_dataset(path)
    with_cell(path, b'<row r="5"><c r="A5" t="str"><f>IF(A4&gt;1,A4,"")</f><v></v></c></row>')
    assert read_excel(path)[1] == []  # an empty text is a value
    with_cell(path, b'<row r="5"><c r="A5"><f>A4*2</f></c></row>')
    assert read_excel(path)[1] == [f"Found no value for 1 formula in 'a': {ADVICE}"]
    write_formulas(path, *[""] * 8, 7)
    notes: list[str] = []
    assert len(list(read_new_items(path, ds, notes))) == 1
    assert f"Found no value for 8 formulas in 'double': {ADVICE}" in notes


def test_a_sheet_is_looked_at_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_merged(tmp_path / "merged.xlsx", 3, 2)
    write_formulas(tmp_path / "t.xlsx", *[""] * 80)
    names = "merged.xlsx", "t.xlsx"
    found = [read_workings(tmp_path / name, "Sheet1") for name in names]
    assert [(len(f.merges), f.formulas.total()) for f in found] == [(5, 9), (0, 81)]
    monkeypatch.setattr(workbook, "LONGEST", 256)
    for size in (1, 100, 256, 1_000):
        monkeypatch.setattr(workbook, "CHUNK", size)
        assert [read_workings(tmp_path / name, "Sheet1") for name in names] == found
    (tmp_path / "t.ods").write_text("no archive")
    assert (
        read_workings(tmp_path / "t.ods", "Sheet1")
        == read_workings(tmp_path / "t.xlsx", "Sheet2")
        == Workings()
    )


@pytest.mark.parametrize("counts_from_1904", [False, True])
def test_times_of_day(tmp_path: Path, counts_from_1904: bool) -> None:
    import xlsxwriter

    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(path, {"date_1904": counts_from_1904}) as book:
        sheet, clock = book.add_worksheet(), book.add_format({"num_format": "hh:mm"})
        day = book.add_format({"num_format": "dd/mm/yyyy"})
        sheet.write_row(0, 0, ["shop", "opens", "closes", "since", "staff"])
        for k in range(12):
            sheet.write_row(1 + k, 0, [f"s{k}", None, "open" if k == 3 else None, None, k % 5])
            sheet.write_datetime(1 + k, 1, dt.time(k, 30), clock)
            if k != 3:
                sheet.write_datetime(1 + k, 2, dt.time(12 + k, 0, 1), clock)
            sheet.write_datetime(1 + k, 3, dt.datetime(2020, 1, 1 + k), day)
    ds = read_dataset(path)
    assert ds.row(2) == {
        "shop": "s2",
        "opens": dt.time(2, 30),
        "closes": "14:00:01",
        "since": dt.date(2020, 1, 3),
        "staff": 2,
    }
    assert (ds.columns, ds.X[2, 0]) == (("opens", "closes", "since", "staff"), 2 / 11)
    assert "Took 1 cell of 'closes' as missing: 'open'." in ds.notes
    assert "Used 'opens', 'closes' as times of day." in ds.notes
    np.testing.assert_array_equal(read_recipe(path, ds.recipe).X, ds.X)
    np.testing.assert_array_equal(read_features(path, ds.recipe), ds.X)


def test_a_recipe_from_before_times_of_day_is_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    pl.DataFrame({"opens": [dt.time(k, 30) for k in range(6)], "x": range(6)}).write_excel(path)
    old = Recipe("table", hidden=(), columns=(ColumnRecipe("opens", "date", format=""),))
    assert read_recipe(path, old).frame["opens"][2] == dt.datetime(1899, 12, 31, 2, 30)
    assert read_recipe(path, replace(old, times=True)).frame["opens"][2] == dt.time(2, 30)
    assert read_features(path, old)[0, 0] < -2e9 < 0 < read_features(path, replace(old, times=True))[0, 0]


def test_a_date_of_1904_is_one() -> None:
    frame = pl.DataFrame({"born": [dt.date(1904, 1, 1)] * 2, "at": [dt.date(1899, 12, 31)] * 2})
    assert with_times_of_day(frame).row(0) == (dt.date(1904, 1, 1), dt.time())


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A workbook as people send it: a cover, a title, a column without a name, an older sheet."""
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "report.xlsx") as book:
        cover = book.add_worksheet("Cover")
        cover.write(0, 0, "Report")
        cover.write(2, 0, "internal")
        data = book.add_worksheet("Data")
        data.write(2, 1, "Sales")
        data.write_row(5, 1, ["shop", "north", "south", None])
        for k in range(12):
            data.write_row(6 + k, 1, [f"s{k}", 1.5 * k if k != 5 else "unknown", k * k, k % 5])
        book.add_worksheet("Old").write_column(0, 0, ["x", 1, 2, 4])
    return tmp_path / "report.xlsx"


def test_titles_above_the_header_and_the_choice_of_a_sheet(report: Path) -> None:
    ds = read_dataset(report)
    assert (ds.recipe.sheet, ds.recipe.header, ds.columns) == ("Data", 5, ("north", "south", "column_4"))
    assert ds.ids[:2].tolist() == ["s0", "s1"]
    assert "Read the sheet 'Data' of 3. (--sheet for another: 'Cover', 'Old')" in ds.notes
    assert "Took 1 cell of 'north' as missing: 'unknown'." in ds.notes
    np.testing.assert_array_equal(read_recipe(report, ds.recipe).X, ds.X)
    old = read_dataset(report, sheet="Old")
    assert (old.columns, len(old), read_recipe(report, old.recipe).columns) == (("x",), 3, ("x",))
    with pytest.raises(InvalidDataError, match="has no sheet 'New'; its sheets are 'Cover', 'Data', 'Old'"):
        read_dataset(report, sheet="New")


def test_a_recipe_from_before_sheets_is_read_as_it_was(report: Path) -> None:
    """Such a recipe names neither a sheet nor titles, and columns without a name have that of the reader."""
    sheet = read_sheet(report, None, 0)
    assert (sheet.frame.columns, sheet.name, sheet.above) == (["Report"], "Cover", 0)
    stored = {
        "kind": "table",
        "hidden": [],
        "columns": [{"name": "Report", "as": "category", "values": ["internal"]}],
    }
    assert read_recipe(report, Recipe.from_json(stored)).X.shape == (1, 1)


def test_a_sheet_of_another_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidDataError, match=r"t.csv has no sheets, but 'Data' is asked for; leave it out"):
        read_dataset(write(tmp_path, "a\n1\n2\n"), sheet="Data")


def test_the_reader_says_what_is_wrong(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.xls").write_bytes(OLE + b"nonsense")
    with pytest.raises(InvalidDataError, match=r"^t.xls cannot be read as an Excel file: .*\.$"):
        read_excel(tmp_path / "t.xls")
    (tmp_path / "t.xlsx").write_bytes(OLE + b"nonsense")
    with pytest.raises(
        InvalidDataError, match=r"^t.xlsx cannot be read: it has a password, or is an old .xls"
    ):
        read_excel(tmp_path / "t.xlsx")
    for name in ("t.xls", "t.xlsx"):  # as some programs write tables
        (tmp_path / name).write_text("a,b\n1,2\n")
        with pytest.raises(InvalidDataError, match=rf"^{name} is no Excel file, .* name it .csv or .tsv.$"):
            read_excel(tmp_path / name)
    assert capfd.readouterr() == ("", "")
