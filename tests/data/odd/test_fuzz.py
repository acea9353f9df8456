"""Files that were good and then were damaged: each is read or refused in one sentence, whatever the damage.

A few seconds as a rule; with COBRAS_SOAK=1 some ten minutes. Excel, which takes a process each, is in test_damage.
"""

from __future__ import annotations

import io
import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from cobras.core.exceptions import CobrasError
from cobras.data import read_dataset, read_recipe

N_EXAMPLES = 20_000 if os.environ.get("COBRAS_SOAK") else 40
FRAME = pl.DataFrame(
    {
        "id": ["a", "b", "c", "d", "e", "f"],
        "x": [1.5, None, 3.25, -4.0, 1e300, 0.0],
        "n": [1, 2, 3, 4, 5, 2**60],
        "colour": ["red", "blue", "red", None, "blue", "red"],
        "when": ["2020-01-01", "2021-05-06", "2020-12-31", "2019-02-03", None, "2022-02-02"],
        "ok": [True, False, None, True, True, False],
        "zip": ["007", "010", "123", "", "9", "10"],
    }
)
LONG = "engine,time,volt,amp\na,0,1.5,2\na,1,2.5,\nb,1,4.0,1\nb,0,3.0,1\nb,2,5.0,1\nc,7,1,1\n"
UCR = "1  0.5  0.25  0.125\n2  0.75  1.5  2.5\n1  0.5  0.5  NaN\n2  0.1  0.2  0.3\n"
TS = "@problemName x\n@classLabel true a b\n@data\n1.0,2.0,3.0:a\n2.0,NaN,1.5:b\n0.5,0.7,0.9:a\n"


def picture(format: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise((24, 16), 50).convert("RGB").save(buffer, format, **options)
    return buffer.getvalue()


def content(write: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    getattr(FRAME, write)(buffer, **options)
    return buffer.getvalue()


def arrays() -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, X=np.arange(12.0).reshape(6, 2), y=np.array(list("ababab")))
    return buffer.getvalue()


def array() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(12.0).reshape(6, 2))
    return buffer.getvalue()


GOOD = {
    "t.csv": content("write_csv"),
    "s.csv": content("write_csv", separator=";").replace(b".", b","),
    "u.csv": content("write_csv").decode().encode("utf-16"),
    "t.tsv": content("write_csv", separator="\t"),
    "t.json": content("write_json"),
    "t.jsonl": content("write_ndjson"),
    "t.parquet": content("write_parquet"),
    "t.arrow": content("write_ipc"),
    "t.feather": content("write_ipc_stream"),
    "t.npy": array(),
    "t.npz": arrays(),
    "t.ts": TS.encode(),
    "long.csv": LONG.encode(),
    "ucr.txt": UCR.encode(),
    "x.png": picture("PNG"),
    "x.jpg": picture("JPEG", exif=Image.Exif().tobytes()),
    "x.gif": picture("GIF"),
    "x.webp": picture("WEBP"),
    "x.tiff": picture("TIFF", compression="tiff_lzw"),
    "x.ppm": picture("PPM"),
    "x.txt": b"some words about cats\n" * 5,
}
OPTIONS: list[dict[str, object]] = [
    {},
    {"kind": "table"},
    {"kind": "series"},
    {"kind": "text"},
    {"label": "colour"},
    {"id": "id", "drop": ["x"]},
    {"kind": "series", "id": "engine", "features": "kshape"},
]
CELLS = [
    "",
    "1",
    "-1.5",
    "1,5",
    "1e400",
    "nan",
    "007",
    "true",
    "2020-01-01",
    "1.2.2020",
    "red",
    'ein "Wort"',
    "\u202e",
]
edits = st.lists(
    st.tuples(
        st.sampled_from(["set", "cut", "insert", "repeat", "end"]),
        st.floats(0, 1),
        st.integers(0, 40),
        st.binary(max_size=8)
        | st.sampled_from([b'"', b"\n", b",,,", b"\xff\xff\xff\x7f", b"1e999", b"nan", b"\0"]),
    ),
    max_size=6,
)


def damaged(data: bytes, changes: list[tuple[str, float, int, bytes]]) -> bytes:
    for what, where, length, new in changes:
        at = int(where * len(data))
        match what:
            case "set":
                data = data[:at] + new + data[at + len(new) :]
            case "cut":
                data = data[:at] + data[at + length :]
            case "insert":
                data = data[:at] + new + data[at:]
            case "repeat":
                data = data[:at] + data[at : at + length] * 3 + data[at + length :]
            case "end":
                data = data[:at]
    return data


@pytest.fixture(scope="module", autouse=True)
def own_cache() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", folder)
        yield


@settings(max_examples=N_EXAMPLES)
@given(name=st.sampled_from(sorted(GOOD)), changes=edits, options=st.sampled_from(OPTIONS))
def test_damaged_files(
    name: str, changes: list[tuple[str, float, int, bytes]], options: dict[str, object]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(damaged(GOOD[name], changes))
        if name.startswith("x."):
            Path(folder, "good.png" if name != "x.txt" else "good1.txt").write_bytes(
                GOOD["x.png" if name != "x.txt" else name]
            )
            Path(folder, "good2.txt").write_text("other words about dogs")
            options = {"kind": "text"} if name == "x.txt" else {"features": "pixels"}
            path = Path(folder)
        read_or_refuse(path, options)


@settings(max_examples=N_EXAMPLES)
@given(
    rows=st.lists(st.lists(st.sampled_from(CELLS) | st.text(max_size=5), max_size=5), max_size=8),
    mark=st.sampled_from([",", ";", "\t", "|", " ", ", "]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]),
    name=st.sampled_from(["t.csv", "t.tsv", "t.txt", "t.data", "t.ts", "t.jsonl"]),
    options=st.sampled_from(OPTIONS),
)
def test_any_cells(
    rows: list[list[str]], mark: str, end: str, encoding: str, name: str, options: dict[str, object]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(end.join(mark.join(row) for row in rows).encode(encoding, "replace"))
        read_or_refuse(path, options)


def read_or_refuse(path: Path, options: dict[str, object]) -> None:
    """A data set that holds together, or one sentence; also where nothing fits in memory."""
    for memory in ("1000000000", "1"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COBRAS_MEMORY", memory)
            _read_or_refuse(path, options)


def _read_or_refuse(path: Path, options: dict[str, object]) -> None:
    try:
        dataset = read_dataset(path, **options)  # type: ignore[arg-type]
    except CobrasError as error:
        refusal = str(error)
    else:
        assert np.isfinite(dataset.X).all()
        assert dataset.X.shape == (len(dataset), len(dataset.columns))
        dataset.show(len(dataset) - 1)
        np.testing.assert_array_equal(read_recipe(path, dataset.recipe).X, dataset.X)
        return
    assert refusal.endswith(".")
    assert "\n" not in refusal


def test_no_warning_leaks_from_a_damaged_image() -> None:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        Path(folder, "x.tiff").write_bytes(GOOD["x.tiff"][:-20])
        Path(folder, "y.tiff").write_bytes(GOOD["x.tiff"])
        assert len(read_dataset(folder, features="pixels")) >= 1
