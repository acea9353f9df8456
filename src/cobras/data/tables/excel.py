"""Excel files, read in a process of their own: a small one may claim billions of cells, and the reader then aborts.

`python -P -m cobras.data.tables.excel FILE TABLE` writes the first sheet that holds a table as Arrow, and prints
its name and the number of sheets, or what is wrong.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

import polars as pl

from cobras.core.exceptions import InvalidDataError, first_line

LARGEST = 2 << 30  # bytes an Excel file may unpack to, and bytes of memory to read it
RATIO = 1_032  # the most that deflate can compress
COMMAND = (sys.executable, "-P", "-m", "cobras.data.tables.excel")


def read_excel(path: Path) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Read the first sheet of an Excel file that holds a table."""
    check_archive(path)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "table.arrow")
        done = subprocess.run([*COMMAND, str(path.absolute()), str(table)], capture_output=True, check=False)
        if done.returncode or not done.stdout:
            raise InvalidDataError(
                f"{path.name} cannot be read as an Excel file: that takes more than {LARGEST / 2**30:.1f} GiB of "
                "memory, or the file is damaged; save it as CSV or Parquet instead."
            )
        found = json.loads(done.stdout)
        if "error" in found:
            raise InvalidDataError(f"{path.name} {found['error']}.")
        frame = pl.read_ipc(table.read_bytes())
    notes = [f"Read the sheet {found['sheet']!r} of {found['n_sheets']}."] if found["n_sheets"] > 1 else []
    return frame, tuple(notes)


def read_sheet(path: Path) -> tuple[pl.DataFrame, str, int]:
    """Read the first sheet that holds a table in this process; also return its name and the number of sheets."""
    import fastexcel

    book = fastexcel.read_excel(path)
    frame, name = pl.DataFrame(), ""
    for name in book.sheet_names:
        frame = pl.read_excel(path, sheet_name=name, infer_schema_length=None, raise_if_empty=False)
        if frame.width and frame.height:
            break
    unnamed = {old: f"column_{k}" for k, old in enumerate(frame.columns, 1) if not old.strip()}
    return frame.rename(unnamed), name, len(book.sheet_names)


def check_archive(path: Path) -> None:
    """Refuse a zip archive that unpacks to more than memory holds; the sizes that it claims are not trusted."""
    if not zipfile.is_zipfile(path):
        return  # an .xls of old, which is not compressed
    try:
        with zipfile.ZipFile(path) as archive:
            packed = [m for m in archive.infolist() if m.compress_type == zipfile.ZIP_DEFLATED]
            if sum(member.compress_size for member in packed) * RATIO <= LARGEST:
                return
            total = 0
            for member in packed:
                total += _unpacked_size(archive, member, LARGEST - total)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise InvalidDataError(f"{path.name} cannot be read as an Excel file: {error}.") from error
    if total > LARGEST:
        raise InvalidDataError(
            f"{path.name} unpacks to more than {LARGEST / 2**30:.1f} GiB; save it as CSV or Parquet instead."
        )


def _unpacked_size(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limit: int) -> int:
    """The bytes a member unpacks to; counting ends beyond the limit."""
    # zipfile stops at the size that the archive claims, so it is told one that is never reached, and no checksum.
    member.file_size, member.CRC = limit + 1, None  # type: ignore[assignment]
    total = 0
    with archive.open(member) as stream:
        while total <= limit and (chunk := stream.read(1 << 20)):
            total += len(chunk)
    return total


def main(path: str, table: str) -> None:
    """Write the table of an Excel file as Arrow, within the memory that is allowed."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (LARGEST, LARGEST))
    try:
        frame, sheet, n_sheets = read_sheet(Path(path))
        frame.write_ipc(table)
        print(json.dumps({"sheet": sheet, "n_sheets": n_sheets}))
    except ModuleNotFoundError:
        print(json.dumps({"error": "is an Excel file; pip install fastexcel to read it, or save it as CSV"}))
    except BaseException as error:  # a panic of the reader is no Exception
        print(json.dumps({"error": f"cannot be read as an Excel file: {first_line(error)}"}))


if __name__ == "__main__":
    main(*sys.argv[1:])
