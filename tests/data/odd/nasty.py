"""A corpus of nasty files: what people have on their disks, and what nobody should have."""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

Maker = Callable[[Path], Path]
ROWS = "a,b\n1,2\n3,4\n5,9\n"


def plain(name: str, content: str | bytes) -> Maker:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def picture(
    size: tuple[int, int] = (40, 30), mode: str = "RGB", format: str = "PNG", **options: object
) -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise(size, 60).convert(mode).save(buffer, format, **options)
    return buffer.getvalue()


def pictures(**files: bytes) -> Maker:
    """A folder with two good images and the given files."""

    def make(folder: Path) -> Path:
        target = folder / "photos"
        target.mkdir()
        for name, content in {"good1.png": picture(), "good2.jpg": picture(format="JPEG"), **files}.items():
            (target / name).write_bytes(content)
        return target

    return make


def texts(**files: bytes) -> Maker:
    def make(folder: Path) -> Path:
        target = folder / "texts"
        target.mkdir()
        good = {f"good{k}.txt": f"words about cats and dogs number {k}".encode() for k in range(4)}
        for name, content in {**good, **files}.items():
            (target / name).write_bytes(content)
        return target

    return make


def png_of(width: int, height: int, body: bytes = b"") -> bytes:
    """A PNG that promises a size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(body)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + data


def excel_bomb(folder: Path) -> Path:
    """A sheet of a few kilobytes that unpacks to 200 MiB, and lies about it."""
    path = folder / "bomb.xlsx"
    pl.DataFrame({"a": [1, 2, 3]}).write_excel(path)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    zeros, parts = bytes(1 << 20), []
    for _ in range(200):
        parts.append(packer.compress(zeros))
    body = b"".join([*parts, packer.flush()])
    name = b"xl/worksheets/sheet1.xml"
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 0, 0, len(body), 100, len(name), 0) + name
    central = (
        struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 8, 0, 0, 0, len(body), 100, len(name), *[0] * 6)
        + name
    )
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(central), len(local) + len(body), 0)
    path.write_bytes(local + body + central + end)
    return path


def npz_bomb(folder: Path) -> Path:
    path = folder / "bomb.npz"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**7, 10**5)}
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", header.getvalue() + bytes(1000))
    return path


def npy_liar(folder: Path) -> Path:
    path = folder / "liar.npy"
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**3)}
        )
    return path


def parquet_bomb(folder: Path) -> Path:
    """Billions of rows in a few kilobytes: run-length coding."""
    path = folder / "bomb.parquet"
    pl.DataFrame({f"c{k}": pl.Series([None] * 1000, dtype=pl.Int8) for k in range(3)}).write_parquet(path)
    return path


def frame_file(name: str, frame: Callable[[], pl.DataFrame]) -> Maker:
    def make(folder: Path) -> Path:
        path = folder / name
        writers = {
            ".parquet": "write_parquet",
            ".xlsx": "write_excel",
            ".arrow": "write_ipc",
            ".jsonl": "write_ndjson",
        }
        getattr(frame(), writers[path.suffix])(path)
        return path

    return make


def linked_out(folder: Path) -> Path:
    target = pictures()(folder)
    (folder / "secret.png").write_bytes(picture())
    (target / "link.png").symlink_to(folder / "secret.png")
    (target / "loop").symlink_to(target)
    (target / "self.png").symlink_to(target / "self.png")
    (target / "dangling.png").symlink_to(folder / "gone.png")
    return target


def with_pipe(folder: Path) -> Path:
    target = pictures()(folder)
    os.mkfifo(target / "pipe.png")
    return target


def truncated_excel(folder: Path) -> Path:
    path = folder / "cut.xlsx"
    pl.DataFrame({"a": [1, 2, 3]}).write_excel(path)
    path.write_bytes(path.read_bytes()[:-200])
    return path


def table_of_images(names: list[str]) -> Maker:
    def make(folder: Path) -> Path:
        (folder / "one.png").write_bytes(picture())
        (folder / "two.png").write_bytes(picture())
        path = folder / "t.csv"
        path.write_text("file,n\n" + "".join(f"{name},{k}\n" for k, name in enumerate(names)))
        return path

    return make


def numpy_file(name: str, **arrays: np.ndarray) -> Maker:
    def make(folder: Path) -> Path:
        np.savez(folder / name, **arrays)
        return folder / name

    return make


CUT_JPEG = picture((400, 300), format="JPEG")
READ, REFUSED = True, False  # what must come of it; None for either, in a clear sentence

CORPUS: dict[str, tuple[Maker, bool | None]] = {
    "utf-16": (plain("t.csv", ROWS.encode("utf-16")), READ),
    "utf-16 without mark": (plain("t.csv", ROWS.encode("utf-16-le")), REFUSED),
    "utf-8 with mark": (plain("t.csv", ROWS.encode("utf-8-sig")), READ),
    "latin-1": (plain("t.csv", "größe,b\n1,é\n2,ü\n".encode("latin-1")), READ),
    "half utf-8": (plain("t.csv", b"a,b\n1,caf\xc3\xa9\n2,caf\xe9\n"), READ),
    "control characters": (plain("t.csv", b"a,b\n1,\x1b[31mred\n2,\x07bell\n"), READ),
    "null characters": (plain("t.csv", b"a,b\n1,\x00\n2,3\n"), REFUSED),
    "an image called csv": (plain("t.csv", picture()), REFUSED),
    "ragged, short": (plain("t.csv", "a,b\n1,2\n3\n"), REFUSED),
    "ragged, long": (plain("t.csv", "a,b\n1,2\n3,4,5\n"), REFUSED),
    "duplicate headers": (plain("t.csv", "a,a\n1,2\n3,4\n"), REFUSED),
    "empty headers": (plain("t.csv", ",,\n1,2,3\n4,5,7\n"), READ),
    "header only": (plain("t.csv", "a,b\n"), REFUSED),
    "empty": (plain("t.csv", ""), REFUSED),
    "blank lines": (plain("t.csv", "\n\n\n"), REFUSED),
    "an empty column": (plain("t.csv", "a,b\n1,\n2,\n"), READ),
    "all empty": (plain("t.csv", "a,b\n,\n,\n"), REFUSED),
    "one column": (plain("t.csv", "a\n1\n2\n7\n"), READ),
    "one row": (plain("t.csv", "a,b\n1,2\n"), READ),
    "one cell": (plain("t.csv", "x"), REFUSED),
    "5,000 columns": (
        plain(
            "t.csv",
            ",".join(f"c{k}" for k in range(5000))
            + "\n"
            + "\n".join(",".join("190" * 1 if j % 3 else str(i) for j in range(5000)) for i in range(3)),
        ),
        READ,
    ),
    "mixed types": (plain("t.csv", "a,b\n1,x\ntwo,y\n3.5,z\n,\n"), REFUSED),
    "mixed json": (plain("t.jsonl", '{"a": 1}\n{"a": "x"}\n{"a": [1]}\n'), None),
    "dates as text": (plain("t.csv", "when,x\n31.12.2020,1\n01.02.2021,5\n05.06.2021,2\n"), READ),
    "dates of all sorts": (plain("t.csv", "when,x\n31.12.2020,1\n2021-02-01,5\nyesterday,2\n"), READ),
    "impossible dates": (plain("t.csv", "when,x\n2020-02-30,1\n2021-13-01,5\n"), READ),
    "times with zones": (plain("t.csv", "when\n2020-01-01T00:00:00+02:00\n2021-01-01T00:00:00Z\n"), None),
    "huge integers": (plain("t.csv", f"a,b\n{10**30},1\n{10**40},2\n"), READ),
    "unsigned integers": (plain("t.csv", f"a,b\n{2**63},1\n{2**64 - 1},2\n"), READ),
    "huge numbers": (plain("t.csv", "a\n1e308\n-1e308\n0\n"), READ),
    "infinite": (plain("t.csv", "a\ninf\n1\n"), REFUSED),
    "NaN strings": (plain("t.csv", "a,b\nNaN,1\nnan,2\nN/A,3\nNULL,4\n1.5,5\n"), READ),
    "only NaN": (plain("t.csv", "a\nnan\nNaN\n"), REFUSED),
    "denormal": (plain("t.csv", "a\n5e-324\n0\n1e-320\n"), READ),
    "codes": (plain("t.csv", "zip,x\n007,1\n010,2\n"), READ),
    "decimal commas": (plain("t.csv", "a;b\n1,5;2\n2,5;3\n"), READ),
    "thousands": (plain("t.csv", 'a,b\n"1,000",1\n"2,500",2\n'), READ),
    "open quote": (plain("t.csv", 'a,b\n1,"x\n2,y\n'), None),
    "stray quotes": (plain("t.csv", 'a,b\n1,5" pipe\n2,x"y"z\n'), READ),
    "a field of a megabyte": (plain("t.csv", f'a,b\n1,"{"x" * 1_000_000}"\n2,y\n3,z\n'), None),
    "a header of a megabyte": (plain("t.csv", f"{'x' * 1_000_000},b\n1,2\n2,5\n"), None),
    "old Mac line ends": (plain("t.csv", "a,b\r1,2\r3,4\r"), READ),
    "mixed line ends": (plain("t.csv", "a,b\r\n1,2\n3,4\r\n"), None),
    "names as patterns": (plain("t.csv", "*,^a$,\\d+\n1,2,3\n4,5,7\n"), READ),
    "a formula": (plain("t.csv", "a,b\n=cmd|' /C calc'!A0,1\n@SUM(1),2\n"), READ),
    "emoji and spaces in the name": (plain("my data 🐍 é.csv", ROWS), READ),
    "upper-case suffix": (plain("T.CSV", ROWS), READ),
    "a foreign suffix": (plain("t.pdf", ROWS), REFUSED),
    "no suffix": (plain("table", ROWS), REFUSED),
    "truncated parquet": (plain("t.parquet", b"PAR1" + bytes(100)), REFUSED),
    "csv called parquet": (plain("t.parquet", ROWS), REFUSED),
    "csv called xlsx": (plain("t.xlsx", ROWS), REFUSED),
    "truncated xlsx": (truncated_excel, REFUSED),
    "xlsx bomb": (excel_bomb, REFUSED),
    "nothing but nulls": (parquet_bomb, REFUSED),
    "lists in cells": (
        frame_file("t.parquet", lambda: pl.DataFrame({"a": [[1], [2, 3]], "x": [1, 2]})),
        READ,
    ),
    "structs in cells": (frame_file("t.arrow", lambda: pl.DataFrame({"a": [{"b": 1}, {"b": 2}]})), REFUSED),
    "bytes in cells": (frame_file("t.parquet", lambda: pl.DataFrame({"a": [b"x", b"y"], "x": [1, 2]})), READ),
    "an Excel table": (
        frame_file("t.xlsx", lambda: pl.DataFrame({"a": [1, None, 3], "b": ["x", "y", "x"]})),
        READ,
    ),
    "truncated arrow": (plain("t.arrow", b"ARROW1\0\0" + bytes(50)), REFUSED),
    "deep json": (plain("t.json", "[" * 10_000), REFUSED),
    "json that is no table": (plain("t.json", json.dumps({"a": 1, "b": {"c": [1]}})), None),
    "truncated json": (plain("t.jsonl", '{"a": 1}\n{"a": '), REFUSED),
    "pickled array": (
        plain(
            "t.npy",
            b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
            + b" " * 60
            + b"\n\x80\x04.",
        ),
        REFUSED,
    ),
    "array that lies": (npy_liar, REFUSED),
    "archive that lies": (npz_bomb, REFUSED),
    "archive with labels": (numpy_file("t.npz", X=np.eye(4), y=np.array(["a", "b", "a", "b"])), READ),
    "archive with two tables": (numpy_file("t.npz", X=np.eye(4), Z=np.eye(4)), REFUSED),
    "archive of pixels": (numpy_file("t.npz", X=np.zeros((3, 4, 4))), REFUSED),
    "truncated images": (
        pictures(**{"cut.jpg": CUT_JPEG[:2000], "cut.png": picture()[:60], "zero.gif": b""}),
        READ,
    ),
    "texts called images": (pictures(**{"a.png": b"hello", "b.webp": b"RIFF....WEBP"}), READ),
    "only broken images": (pictures(**{"good1.png": b"x", "good2.jpg": b"y"}), REFUSED),
    "a pixel bomb": (pictures(**{"bomb.png": png_of(60_000, 60_000, bytes(1000))}), READ),
    "a larger pixel bomb": (pictures(**{"bomb.png": png_of(2**31 - 1, 2**31 - 1)}), READ),
    "no pixels": (pictures(**{"none.png": png_of(0, 0)}), READ),
    "one pixel": (pictures(**{"dot.png": picture((1, 1)), "line.png": picture((3000, 1))}), READ),
    "every mode": (
        pictures(
            **{f"{m}.png": picture(mode=m) for m in ("1", "L", "LA", "P", "RGBA", "I;16")}
            | {"c.tif": picture(mode="CMYK", format="TIFF"), "f.tiff": picture(mode="F", format="TIFF")}
        ),
        READ,
    ),
    "every format": (
        pictures(
            **{f"x.{f}": picture(mode="L", format=f) for f in ("gif", "webp", "tiff", "bmp")}
            | {"x.pgm": picture(mode="L", format="PPM")}
        ),
        READ,
    ),
    "links": (linked_out, READ),
    "a pipe among images": (with_pipe, READ),
    "emoji among images": (pictures(**{"été 🐍 ' .png": picture(), "a\nb.png": picture()}), READ),
    "an SVG and a PDF": (pictures(**{"a.svg": b"<svg/>", "b.pdf": b"%PDF"}), READ),
    "hidden files": (pictures(**{".DS_Store": b"x", "._good1.png": b"x"}), READ),
    "binary and empty texts": (texts(**{"b.txt": bytes(range(256)), "e.txt": b"", "s.txt": b"  \n"}), READ),
    "texts in three encodings": (
        texts(
            **{"l.txt": "größe der katzen".encode("latin-1"), "u.txt": "katzen über dogs".encode("utf-16")}
        ),
        READ,
    ),
    "texts without words": (plain("t.csv", "text\n!!!\n???\n...\n!!!\n"), READ),
    "an empty folder": (lambda folder: folder, REFUSED),
    "images that do not exist": (table_of_images(["gone.png", "one.png", "two.png"]), READ),
    "images outside": (
        table_of_images(["/etc/hostname.png", "../../x.png", "one.png", "two.png", "\\0.png"]),
        None,
    ),
}
