"""Excel files: a process of their own reads them, within limits."""

from __future__ import annotations

import zipfile
from pathlib import Path

import polars as pl
import pytest

from cobras.core.exceptions import InvalidDataError
from cobras.data.tables.excel import read_excel, read_sheet


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
    frame, notes = read_excel(Path("t.xlsx"))
    assert frame.to_dict(as_series=False) == {"a": [1, 2, 3], "column_2": [4, 5, 6]}
    assert notes == ()
    assert not (tmp_path / "seen").exists()


def test_the_first_sheet_that_holds_a_table(tmp_path: Path) -> None:
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        book.add_worksheet("empty")
        pl.DataFrame({"x": [1.5, 2]}).write_excel(book, "full")
    assert read_excel(tmp_path / "t.xlsx")[1] == ("Read the sheet 'full' of 2.",)
    frame, sheet, n_sheets = read_sheet(tmp_path / "t.xlsx")
    assert (frame["x"].to_list(), sheet, n_sheets) == ([1.5, 2], "full", 2)


def test_the_reader_says_what_is_wrong(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.xls").write_bytes(b"nonsense")
    with pytest.raises(InvalidDataError, match=r"^t.xls cannot be read as an Excel file: .*\.$"):
        read_excel(tmp_path / "t.xls")
    assert capfd.readouterr() == ("", "")
