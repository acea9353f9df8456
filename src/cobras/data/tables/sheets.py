"""Files that may unpack to far more than their size: Excel, Parquet, Arrow and NumPy, checked before reading."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError

LARGEST = 2 << 30  # bytes an Excel file may unpack to
RATIO = 1_032  # the most that deflate can compress


def memory() -> int:
    """The bytes of memory this machine has."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 16 << 30


def check_size(name: str, n_bytes: int) -> None:
    """Refuse what cannot fit, before it is unpacked."""
    if n_bytes > memory() // 2:
        raise InvalidDataError(
            f"{name} unpacks to {n_bytes / 2**30:,.0f} GiB or more, beyond half of this machine's memory; "
            "give a smaller file."
        )


def read_parquet(name: str, files: list[Path]) -> pl.DataFrame:
    """Parquet files whose rows fit into memory."""
    return _collected(name, pl.scan_parquet(files, glob=False))


def read_arrow(path: Path) -> pl.DataFrame:
    """An Arrow (Feather) file, with or without index."""
    with path.open("rb") as file:
        is_stream = file.read(6) != b"ARROW1"
    if is_stream:
        return pl.read_ipc_stream(path)
    return _collected(path.name, pl.scan_ipc(path))


def _collected(name: str, lazy: pl.LazyFrame) -> pl.DataFrame:
    height = int(lazy.select(pl.len()).collect().item())
    check_size(name, height * max(1, len(lazy.collect_schema())))  # a byte per cell at the least
    return lazy.collect()


def read_excel(path: Path) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The first sheet of an Excel file that holds a table."""
    try:
        import fastexcel
    except ModuleNotFoundError:
        raise InvalidDataError(
            f"{path.name} is an Excel file; pip install fastexcel to read it, or save it as CSV."
        ) from None
    _check_archive(path)
    try:
        book = fastexcel.read_excel(path)
        frames = []
        for name in book.sheet_names:
            frame = pl.read_excel(path, sheet_name=name, infer_schema_length=None, raise_if_empty=False)
            frames.append((name, frame))
            if frame.width and frame.height:
                break
    except fastexcel.FastExcelError as error:
        reason = (str(error).splitlines() or [""])[0].rstrip(".:")
        raise InvalidDataError(f"{path.name} cannot be read as an Excel file: {reason}.") from error
    name, frame = frames[-1] if frames else ("", pl.DataFrame())
    notes = [f"Read the sheet {name!r} of {len(book.sheet_names)}."] if len(book.sheet_names) > 1 else []
    frame = frame.rename({old: f"column_{k}" for k, old in enumerate(frame.columns, 1) if not old.strip()})
    return frame, tuple(notes)


def _check_archive(path: Path) -> None:
    """Refuse a zip archive that unpacks to more than memory holds; its own word for the sizes is not taken."""
    if not zipfile.is_zipfile(path):
        return  # an .xls of old, which is not compressed
    try:
        with zipfile.ZipFile(path) as archive, path.open("rb") as file:
            packed = [m for m in archive.infolist() if m.compress_type == zipfile.ZIP_DEFLATED]
            if sum(member.compress_size for member in packed) * RATIO <= LARGEST:
                return
            total = 0
            for member in packed:
                total += _unpacked(file, member, LARGEST - total)
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, NotImplementedError) as error:
        raise InvalidDataError(f"{path.name} cannot be read as an Excel file: {error}.") from error
    if total > LARGEST:
        raise InvalidDataError(
            f"{path.name} unpacks to more than {LARGEST / 2**30:.1f} GiB; save it as CSV or Parquet instead."
        )


def _unpacked(file: BinaryIO, member: zipfile.ZipInfo, limit: int) -> int:
    """The bytes a member unpacks to; counting ends beyond the limit."""
    file.seek(member.header_offset + 26)
    name, extra = struct.unpack("<HH", file.read(4))
    file.seek(name + extra, 1)
    unpack, total, left = zlib.decompressobj(-zlib.MAX_WBITS), 0, member.compress_size
    while left > 0 and total <= limit and (chunk := file.read(min(left, 1 << 16))):
        left -= len(chunk)
        while chunk and total <= limit:
            total += len(unpack.decompress(chunk, 1 << 20))
            chunk = unpack.unconsumed_tail
    return total


def read_npy(path: Path) -> npt.NDArray[Any]:
    """An array, mapped from the file: a header that promises more than the file holds is refused."""
    array: npt.NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
    return array


def read_npz(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The arrays of an archive by name."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if not member.filename.endswith(".npy"):
                continue
            with archive.open(member) as file:
                shape, dtype = _header(file)
            n_bytes = int(np.prod(shape, dtype=object)) * dtype.itemsize
            check_size(path.name, n_bytes)
            if n_bytes > member.file_size:
                raise ValueError(f"{member.filename} is shorter than its header says")
            if dtype.hasobject:
                raise ValueError("Object arrays cannot be loaded")
            with archive.open(member) as file:
                arrays[member.filename.removesuffix(".npy")] = np.lib.format.read_array(
                    file, allow_pickle=False
                )
    return arrays


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    return shape, dtype
