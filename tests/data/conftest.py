"""Small tables, and a table with columns of many sorts."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

FLOWERS = "name,length,width,kind\nrose,4,1,a\nlily,6,1,b\nivy,,3,a\n"
X_FLOWERS = [[0, 0], [1, 0], [0.5, 1]]
PEOPLE = pl.DataFrame(
    {
        "userId": [f"u{k}" for k in range(8)],
        "age": [20, 30, None, 40, 20, 30, 30, 60],
        "colour": ["red", "blue", "red", None, "blue", "red", "blue", "red"],
        "joined": [
            "01.02.2020",
            "01.03.2020",
            "01.02.2020",
            None,
            "11.12.2020",
            "01.02.2020",
            "02.02.2020",
            "03.02.2020",
        ],
        "country": ["DE"] * 8,
        "height": [1.75] * 8,
        "story": [f"Once there was a number {k}" for k in range(8)],
        "group": list("abababab"),
    }
)


def write(folder: Path, text: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.fixture
def people(tmp_path: Path) -> Path:
    PEOPLE.write_csv(tmp_path / "people.csv")
    return tmp_path / "people.csv"
