"""No table makes an end point fail: every type of polars, every odd name of a column, names that are not UTF-8."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cobras.data import read_dataset
from tests.web.serving import Client, serving

N = 12
READS = ("question", "settings", "labels", "clusters", "history", "progress", "map", "items", "item/3")
NAMES = (
    "*",
    "^.*$",
    "^x",
    "",
    " ",
    "cluster",
    "cluster_name",
    "0",
    "len",
    "a\nb",
    "=1+1",
    "'",
    '"',
    ",",
    "x" * 99,
)


def every_type() -> pl.DataFrame:
    """A column of each type, with a gap, and one of numbers under each odd name."""
    day = datetime(2020, 2, 29, 13, 5)
    integers = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
    columns = [pl.Series(f"{dtype}", range(N), dtype) for dtype in (*integers, pl.Float32, pl.Float64)]
    values = {
        "nan": ([float("nan"), 1e300, 1.0, -0.0] * 3, pl.Float64),
        "decimal": ([Decimal(k) / 4 for k in range(N)], pl.Decimal(10, 2)),
        "flag": ([k % 2 == 0 for k in range(N)], pl.Boolean),
        "text": ([f"=SUM({k})" for k in range(N)], pl.String),
        "category": (["a", "b", "a"] * 4, pl.Categorical),
        "enum": (["a", "b", "a"] * 4, pl.Enum(["a", "b"])),
        "bytes": ([bytes([k, 255]) for k in range(N)], pl.Binary),
        "date": ([date(1, 1, 1), date(9999, 12, 31), date(2020, 1, 1)] * 4, pl.Date),
        "time": ([time(k, 59, 59, 999_999) for k in range(N)], pl.Time),
        "moment": ([day + timedelta(k) for k in range(N)], pl.Datetime("ns")),
        "zone": (
            [(day + timedelta(k)).replace(tzinfo=UTC) for k in range(N)],
            pl.Datetime("us", "Asia/Tokyo"),
        ),
        "duration": ([timedelta(k, 7) for k in range(N)], pl.Duration("us")),
        "null": ([None] * N, pl.Null),
        "list": ([[k] for k in range(N)], pl.List(pl.Int64)),
        "array": ([[k, k] for k in range(N)], pl.Array(pl.Int64, 2)),
        "struct": ([{"a": k} for k in range(N)], pl.Struct({"a": pl.Int64})),
    }
    columns += [pl.Series(name, cells, dtype) for name, (cells, dtype) in values.items()]
    rng = np.random.default_rng(0)
    columns = [column.shift(1) for column in columns]
    return pl.DataFrame([*columns, *(pl.Series(name, rng.random(N)) for name in NAMES)])


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("odd")
    every_type().write_ipc(folder / "odd.arrow")
    dataset = read_dataset(folder / "odd.arrow")
    with serving(dataset, folder / os.fsdecode(b"caf\xe9.cobras")) as found:  # Latin-1
        found.answer(np.arange(N) % 2, 4)
        found.change("name", cluster=0, text="=1 ü \U0001f600")
        yield found


@pytest.mark.parametrize("path", READS)
def test_everything_can_be_read(client: Client, path: str) -> None:
    assert client.look(path)


@pytest.mark.parametrize(
    "text", ["*", "^.*$", "(", "\\", "0", "a", "tokyo", "b'", "7", "é", "\x00", "SUM(3)"]
)
def test_everything_can_be_searched(client: Client, text: str) -> None:
    client.look("items", search=text)


def test_a_search_finds_durations(client: Client) -> None:
    found = client.look("items", search=str(timedelta(7, 7)))["items"]
    assert [item["i"] for item in found] == [8]


@pytest.mark.parametrize("format", ["csv", "parquet", "answers", "constraints", "html"])
def test_everything_can_be_exported_or_is_refused_in_a_sentence(client: Client, format: str) -> None:
    reply = client.get("/api/export", params={"format": format})
    if format == "csv":  # which cannot hold lists
        assert reply.status_code == 422
        assert reply.json()["message"].endswith(".")
    else:
        assert reply.status_code == 200, reply.text


@pytest.mark.parametrize("dropped", [(), ("bytes",)])
def test_a_column_that_csv_cannot_hold_is_named(tmp_path: Path, dropped: tuple[str, ...]) -> None:
    every_type().drop("list", "array", "struct", *dropped).write_parquet(tmp_path / "t.parquet")
    with serving(read_dataset(tmp_path / "t.parquet"), tmp_path / "t.cobras") as client:
        client.first_question()
        reply = client.get("/api/export", params={"format": "csv"})
        if dropped:
            assert reply.status_code == 200, reply.text
            assert "'=SUM(3)" in reply.text
            assert ",=SUM(3)" in client.get("/api/export", params={"format": "csv", "escape": False}).text
        else:
            assert reply.status_code == 422
            assert "'bytes'" in reply.json()["message"]


@pytest.mark.parametrize("text", ['"\\ud800"', '"\\udcff x"'])
def test_half_a_character_is_no_name(client: Client, text: str) -> None:
    body = f'{{"cluster": 0, "text": {text}}}'
    reply = client.post("/api/name", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == 422
    client.look("clusters")
