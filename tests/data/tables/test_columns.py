"""Columns of every sort become features, and the notes say so."""

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
from tests.data.conftest import PEOPLE, write


def test_columns_that_count_or_name_the_rows(tmp_path: Path) -> None:
    ds = read_dataset(write(tmp_path, ",x,user_id\n0,1,k9\n1,5,k7\n2,4,k8\n3,4,k3\n4,4,k1\n"))
    assert ds.ids.tolist() == ["k9", "k7", "k8", "k3", "k1"]
    assert ds.columns == ("x",)
    assert ds.notes[1] == "Used 'user_id' as the names of the rows."
    assert ds.notes[2] == "Left out 'column_1': only names or counts the rows."
    assert read_dataset(tmp_path / "t.csv", id="column_1").ids.tolist() == [0, 1, 2, 3, 4]


def test_a_count_that_is_all_there_is_counts_as_a_feature(tmp_path: Path) -> None:
    assert read_dataset(write(tmp_path, "x,name\n1,a\n2,b\n3,c\n4,d\n5,e\n6,f\n")).columns == ("x",)


def test_booleans_dates_and_empty_columns(tmp_path: Path) -> None:
    ds = read_dataset(write(tmp_path, "ok,when,none\nTrue,2020-01-01,\nfalse,2020-01-02,\n"))
    np.testing.assert_array_equal(ds.X, [[1, 0], [0, 1]])
    assert ds.columns == ("ok", "when")
    assert ds.show(0).values["when"] == "2020-01-01"
    assert "Left out 'none': empty." in ds.notes
    assert "Used 'when' as dates." in ds.notes


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


def test_column_that_does_not_exist(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    for given_name in ({"label": "kind"}, {"id": "kind"}, {"drop": ["kind"]}):
        with pytest.raises(InvalidDataError, match="has no column 'kind'; its columns are 'a', 'b'"):
            read_dataset(path, **given_name)  # type: ignore[arg-type]
    with pytest.raises(InvalidDataError, match="both the label and"):
        read_dataset(path, label="a", id="a")
    with pytest.raises(InvalidDataError, match="no column of numbers"):
        read_dataset(path, label="a", drop=["b"])


def test_ids_that_do_not_name(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("k,x\nu,2\nu,3\nv,4\n")
    with pytest.raises(InvalidDataError, match="'k' cannot name the rows: 'u' occurs more than once"):
        read_dataset(path, id="k")
    path.write_text("k,x\nu,2\n,3\nv,4\n")
    with pytest.raises(InvalidDataError, match="'k' cannot name the rows: 1 of its cells are empty"):
        read_dataset(path, id="k")


def test_lists_in_cells_are_shown_but_not_used(tmp_path: Path) -> None:
    pl.DataFrame({"x": [1.0, 2.0], "list": [[1], [2, 3]]}).write_parquet(tmp_path / "t.parquet")
    ds = read_dataset(tmp_path / "t.parquet")
    assert ds.columns == ("x",)
    assert "Left out 'list': not numbers, shown but not used." in ds.notes
