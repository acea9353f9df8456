"""Columns of every sort become features, and the tool says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras.core.exceptions import InvalidDataError
from cobras.data import read_dataset, read_features, read_recipe
from cobras.data.tables.columns import CATEGORY, feature_matrix, fit_category, word_counts
from cobras.data.tables.csv import read_delimited

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


def test_numbers_dates_categories_and_what_is_left_out(people: Path) -> None:
    ds = read_dataset(people, label="group")
    assert ds.columns == ("age", "colour=blue", "colour=red", "joined")
    assert ds.kind == "table"
    assert ds.ids.tolist() == PEOPLE["userId"].to_list()
    assert ds.notes == (
        "Read as a table of 8 x 7. (--kind text, image or series if it is not)",
        "Used 'userId' as the names of the rows.",
        "Left out 'story': text, shown but not used.",
        "Left out 'country', 'height': the same in every row.",
        "Filled 2 missing values in 'age', 'joined' with the median.",
        "Used 'joined' as dates.",
        "Used 'colour' as categories.",
        "Scaled 2 columns to [0, 1].",
    )
    np.testing.assert_allclose(ds.X[:, 0], [0, 0.25, 0.25, 0.5, 0, 0.25, 0.25, 1])
    np.testing.assert_allclose(ds.X[[0, 1, 3], 1:3], CATEGORY * np.array([[0, 1], [1, 0], [0, 0]]))
    assert ds.X[4, 3] == 1.0
    assert "group" not in ds.visible.columns
    assert ds.show(3).values["joined"] is None  # cards and exports show what the file says
    assert ds.frame["joined"].to_list() == PEOPLE["joined"].to_list()


def test_every_container_gives_the_same(people: Path) -> None:
    X = read_dataset(people, label="group").X
    PEOPLE.write_excel(people.with_suffix(".xlsx"))
    PEOPLE.write_ipc(people.with_suffix(".arrow"))
    PEOPLE.write_ipc_stream(people.with_suffix(".feather"))
    PEOPLE.write_parquet(people.with_suffix(".parquet"))
    for suffix in (".xlsx", ".arrow", ".feather", ".parquet"):
        np.testing.assert_array_equal(
            read_dataset(people.with_suffix(suffix), label="group").X, X, err_msg=suffix
        )


def test_archive_of_arrays(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "t.npz", X=np.arange(12.0).reshape(6, 2), y=np.array(list("ababab")), z=np.zeros((2, 2, 2))
    )
    ds = read_dataset(tmp_path / "t.npz", label="y")
    assert ds.columns == ("column_1", "column_2")
    assert ds.labels.tolist() == list("ababab")


def test_recipe_gives_new_rows_the_same_scale(people: Path) -> None:
    ds = read_dataset(people, label="group")
    new = people.with_name("new.csv")
    new.write_text("age,colour,joined\n100,green,01.02.2020\n,red,\n")
    X = read_features(new, ds.recipe)
    np.testing.assert_allclose(X[:, 0], [2.0, 0.25])
    np.testing.assert_allclose(X[:, 1:3], [[0, 0], [0, CATEGORY]])
    assert X[0, 3] == 0
    np.testing.assert_array_equal(read_recipe(people, ds.recipe).X, ds.X)
    new.write_text("age,colour\n1,red\n")
    with pytest.raises(InvalidDataError, match="no column 'joined'"):
        read_features(new, ds.recipe)


def test_own_vectors_and_the_originals_on_the_cards(people: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(8, 5)).astype(np.float32)
    np.save(people.with_suffix(".npy"), vectors)
    ds = read_dataset(people, vectors=people.with_suffix(".npy"), label="group")
    np.testing.assert_array_equal(ds.X, vectors)
    assert ds.X.dtype == np.float32
    assert ds.columns[0] == "vector_1"
    assert ds.show(0).values["story"] == "Once there was a number 0"
    np.testing.assert_array_equal(read_recipe(people, ds.recipe).X, vectors)
    np.save(people.with_suffix(".npy"), vectors[:5])
    with pytest.raises(InvalidDataError, match=r"people.npy holds 5 vectors, but people.csv has 8 items"):
        read_dataset(people, vectors=people.with_suffix(".npy"))
    np.save(people.with_suffix(".npy"), np.where(vectors > 1, np.nan, vectors))
    with pytest.raises(InvalidDataError, match="has a gap or is infinite in row"):
        read_dataset(people, vectors=people.with_suffix(".npy"))


def test_wrong_choices(people: Path) -> None:
    for options, sentence in (
        ({"kind": "tables"}, "kind must be one of table, text, image, series, not 'tables'"),
        ({"features": "magic"}, "features must be one of"),
        ({"text": "story", "image": "story"}, "either a column of texts or one of images"),
        ({"text": "story", "kind": "table"}, "goes with kind text, not table"),
        ({"text": "age"}, "no column of texts called 'age'"),
        ({"text": "nowhere"}, "has no column 'nowhere'"),
        ({"text": "story", "label": "story"}, "both what is compared and the label"),
        ({"kind": "image"}, "No column of people.csv names image files"),
        ({"features": "pixels"}, "are for the kind image, but the data is of kind table"),
    ):
        with pytest.raises(InvalidDataError, match=sentence):
            read_dataset(people, **options)


def test_a_large_file_is_read_as_a_small_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, people: Path
) -> None:
    """Without a copy of its text, and yet with the same types, gaps, codes and refusals."""
    rng = np.random.default_rng(0)
    late = pl.DataFrame(
        {
            "x": rng.normal(size=3000),
            "word at the end": ["0.5"] * 2999 + ["none of these"],
            "gap at the end": ["0.5"] * 2999 + ["NA"],
            "code at the end": ["5"] * 2999 + ["007"],
            "fraction at the end": ["5"] * 2999 + ["0.5"],
            "infinite": ["0.5"] * 2999 + ["-inf"],
            "n": rng.integers(-99, 99, 3000),
            "last": [1, None] * 1500,
        }
    )
    late.write_csv(tmp_path / "late.csv")
    small = {path: read_delimited(path)[0] for path in (people, tmp_path / "late.csv")}
    monkeypatch.setattr("cobras.data.tables.csv.LARGE", 0)
    monkeypatch.setattr("cobras.data.tables.csv.SAMPLE", 400)
    for path, frame in small.items():
        large = read_delimited(path)[0]
        assert large.schema == frame.schema
        assert large.equals(frame)
    assert small[tmp_path / "late.csv"].schema["word at the end"] == pl.String
    with (tmp_path / "late.csv").open("a") as file:
        file.write("1.0,0.5\n")
    with pytest.raises(InvalidDataError, match=r"Line 3002 of late.csv has 2 cells, but the header has 8"):
        read_delimited(tmp_path / "late.csv")


@given(
    words=st.lists(st.none() | st.sampled_from("abcdefg") | st.text(max_size=3), min_size=1, max_size=40),
    at_most=st.integers(1, 6),
)
def test_categories_are_one_hot(words: list[str | None], at_most: int) -> None:
    frame = pl.DataFrame({"w": pl.Series(words, dtype=pl.String)})
    recipe = fit_category("w", word_counts(frame["w"]), at_most)
    X = feature_matrix(frame, [recipe])
    counts = {word: words.count(word) for word in words if word is not None}
    assert len(recipe.values) == min(at_most, len(counts))
    assert all(counts[a] >= counts[b] for a in recipe.values for b in counts if b not in recipe.values)
    for row, word in zip(X, words, strict=True):
        expected = [CATEGORY if word == value else 0.0 for value in recipe.values]
        np.testing.assert_array_equal(row, expected)
