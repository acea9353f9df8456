"""A table with columns of many sorts."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

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


@pytest.fixture
def people(tmp_path: Path) -> Path:
    PEOPLE.write_csv(tmp_path / "people.csv")
    return tmp_path / "people.csv"
