"""Excel files: a process of their own reads them, within limits."""

from __future__ import annotations

import datetime as dt
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cobras.core.exceptions import InvalidDataError
from cobras.data import read_dataset, read_features, read_recipe
from cobras.data.recipe import ColumnRecipe, Recipe
from cobras.data.tables.excel import OLE, read_excel, read_sheet, with_times_of_day
from cobras.data.tables.header import Extent
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
    frame, sheet, sheets, above = read_sheet(tmp_path / "t.xlsx", None, None)
    assert (frame["x"].to_list(), sheet, sheets, above) == ([1.5, 2], "full", ["empty", "full"], 0)


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
    frame, sheet, _, above = read_sheet(report, None, 0)
    assert (frame.columns, sheet, above) == (["Report"], "Cover", 0)
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
