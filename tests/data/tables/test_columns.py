"""Columns of every sort become features, and the notes say so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras.core.exceptions import InvalidDataError
from cobras.data import read_dataset, read_features, read_recipe
from cobras.data.recipe import Recipe
from cobras.data.tables.columns import CATEGORY, feature_matrix, fit_category, word_counts
from cobras.data.tables.dates import mixed_formats
from cobras.data.tables.fit import same_words
from tests.data.conftest import PEOPLE, write


def test_columns_that_count_or_name_the_rows(tmp_path: Path) -> None:
    ds = read_dataset(write(tmp_path, ",x,user_id\n0,1,k9\n1,5,k7\n2,4,k8\n3,4,k3\n4,4,k1\n"))
    assert ds.ids.tolist() == ["k9", "k7", "k8", "k3", "k1"]
    assert ds.columns == ("x",)
    assert ds.notes[1] == "Used 'user_id' as the names of the rows."
    assert ds.notes[2] == "Left out 'column_1': only names or counts the rows."
    assert read_dataset(tmp_path / "t.csv", id="column_1").ids.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (["Shoes", "shoes ", "SHOES", "Books"], [0, 0, 0, 1]),
        (["red  wine", "Red wine", "red\twine"], [0, 0, 0]),
        (["N", "F", "T", "N "], [0, 1, 2, 0]),
        (["on", "1", "yes", "true", "off"], [0, 1, 2, 3, 4]),
        (["a", "A", "Co", "CO", "Cobra", "cobra"], [0, 1, 2, 3, 4, 4]),
        (["unknown", "n/a", "-", None], [0, 1, 2, None]),
        ([*(f"Word {k}" for k in range(2000)), "word 7"], [*range(2000), 7]),
    ],
)
def test_classes_differ_by_more_than_case_and_blanks(words: list[str | None], same: list[int | None]) -> None:
    """Yes and true are one category, but may be two classes."""
    found = same_words(pl.Series(words)).to_list()
    places = {word: k for k, word in enumerate(dict.fromkeys(found)) if word is not None}
    assert [None if word is None else places[word] for word in found] == same
    assert same_words(pl.Series([1, 2])).to_list() == [1, 2]


def test_a_count_that_is_all_there_is_counts_as_a_feature(tmp_path: Path) -> None:
    assert read_dataset(write(tmp_path, "x,name\n1,a\n2,b\n3,c\n4,d\n5,e\n6,f\n")).columns == ("x",)


def test_a_column_that_looks_like_a_name_is_used_on_request(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = "\n".join(f"{k},{7_000 + 13 * (k * 17 % 40)},{k % 3}" for k in range(40))
    path.write_text(f"id,ticket,x\n{rows}\n")
    assert read_dataset(path).columns == ("x",)
    for name in ("id", "ticket"):
        data = read_dataset(path, use=[name])
        assert set(data.columns) == {name, "x"}
        assert np.array_equal(read_recipe(path, Recipe.from_json(data.recipe.to_json())).X, data.X)
    with pytest.raises(InvalidDataError, match="'id' cannot be both used and"):
        read_dataset(path, use=["id"], drop=["id"])


def test_booleans_dates_and_empty_columns(tmp_path: Path) -> None:
    ds = read_dataset(write(tmp_path, "ok,when,none\nTrue,2020-01-01,\nfalse,2020-01-02,\n"))
    np.testing.assert_array_equal(ds.X, [[1, 0], [0, 1]])
    assert ds.columns == ("ok", "when")
    assert ds.show(0).values["when"] == "2020-01-01"
    assert "Left out 'none': empty." in ds.notes
    assert "Used 'when' as dates." in ds.notes


def test_times_of_day_in_text(tmp_path: Path) -> None:
    rows = "".join(f"{k},{k}:30,{'unknown' if k == 3 else f'{k}:05 pm'},{k}:{k % 3}\n" for k in range(1, 12))
    path = write(tmp_path, f"x,opens,closes,score\n{rows}")
    ds = read_dataset(path)
    assert (ds.columns, ds.X[1, 1]) == (("x", "opens", "closes"), 0.1)
    assert "Used 'opens', 'closes' as times of day." in ds.notes
    assert ds.show(1).values["opens"] == "2:30"
    np.testing.assert_array_equal(read_recipe(path, Recipe.from_json(ds.recipe.to_json())).X, ds.X)
    new = path.with_name("new.csv")
    new.write_text("x,opens,closes\n1,12:30,1:05 pm\n")
    np.testing.assert_allclose(read_features(new, ds.recipe), [[0, 1.1, 0]])


def test_times_of_day_among_dates_are_none() -> None:
    dates = [f"2024-05-{k:02d}" for k in range(1, 21)]
    assert mixed_formats(pl.Series([*dates, "12:30"])) == ("%Y-%m-%d", ("12:30",))
    assert mixed_formats(pl.Series(["12:30", "1:05 pm", "7:00:00"])) == ("%H:%M|%H:%M:%S|%I:%M %p", ())


def test_days_and_months_that_could_be_the_other_way_round_are_mentioned(tmp_path: Path) -> None:
    def doubts(*dates: str) -> list[str]:
        lines = "".join(f"{k},{date}\n" for k, date in enumerate(dates))
        notes = read_dataset(write(tmp_path, f"x,joined\n{lines}")).notes
        return [note for note in notes if "order would fit" in note]

    (note,) = doubts("01/02/2024", "03/04/2024", "05/05/2024")
    assert note.startswith("Read 'joined' (01/02/2024) with the day before month;")
    assert doubts("01/02/2024", "31/03/2023", "05/05/2024") == []
    assert doubts("01/31/2024", "03/04/2024", "05/05/2024") == []
    assert doubts("2024-02-01", "2024-03-04") == []
    assert doubts("05/05/2024", "06/06/2024", "07/07/2024") == []  # the same either way
    # The order is that of the cells in doubt; where another cell fixes it, nothing is said.
    (note,) = doubts("01/02/2024", "2024-05-31", "05/06/2024")
    assert "with the day before month" in note
    assert doubts("01/02/2024", "6.5.2024", "05/06/2024") == []


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
    with pytest.raises(InvalidDataError, match="'k' cannot name the rows: 1 of its values occurred before"):
        read_dataset(path, id="k")
    path.write_text("k,x\nu,2\n,3\nv,4\n")
    with pytest.raises(InvalidDataError, match="'k' cannot name the rows: 1 of its cells are empty"):
        read_dataset(path, id="k")


def test_lists_in_cells_are_shown_but_not_used(tmp_path: Path) -> None:
    pl.DataFrame({"x": [1.0, 2.0], "list": [[1], [2, 3]]}).write_parquet(tmp_path / "t.parquet")
    ds = read_dataset(tmp_path / "t.parquet")
    assert ds.columns == ("x",)
    assert "Left out 'list': not numbers, shown but not used." in ds.notes
    assert ds.column_info[1].examples == ("[1]", "[2, 3]")
    assert "not numbers, shown but not used" in ds._repr_html_()


TYPED = {
    "zip": [1067, 1069, 80331, 1067],
    "when": ["01/02/2024", "03/04/2024", "05/06/2024", "07/09/2023"],
    "price": [1.0, 2.5, 3.0, 4.0],
    "code": ["007", "008", "009", "x"],
    "note": ["a b", "c d", "e f", "g h"],
}


@given(
    types=st.fixed_dictionaries(
        {},
        optional={
            "zip": st.sampled_from(["number", "category", "text"]),
            "when": st.sampled_from(["date", "day-first", "month-first", "category", "text"]),
            "price": st.sampled_from(["number", "category"]),
            "code": st.sampled_from(["number", "category", "text"]),
            "note": st.sampled_from(["category", "text"]),
        },
    ),
    weights=st.dictionaries(st.sampled_from(["price"]), st.floats(0.1, 8), max_size=1),
)
def test_types_and_weights_are_kept_by_the_recipe(
    tmp_path_factory: pytest.TempPathFactory, types: dict[str, str], weights: dict[str, float]
) -> None:
    """The recipe gives the same features of the same rows and of new ones; a weight multiplies its features."""
    path = tmp_path_factory.getbasetemp() / "typed.csv"
    if not path.exists():
        pl.DataFrame({name: column * 5 for name, column in TYPED.items()}).write_csv(path)
    plain, data = read_dataset(path, types=types), read_dataset(path, types=types, weights=weights)
    factors = [weights.get(name.partition("=")[0], 1.0) for name in data.columns]
    np.testing.assert_allclose(data.X, plain.X * factors)
    recipe = Recipe.from_json(data.recipe.to_json())
    assert recipe == data.recipe
    np.testing.assert_array_equal(read_recipe(path, recipe).X, data.X)
    np.testing.assert_array_equal(read_features(path, recipe), data.X)
    known = {info.name: info for info in data.column_info}
    for name, type in types.items():
        assert known[name].type == ("date" if type.endswith("-first") else type)
        assert known[name].use == ("ignored" if type == "text" else "used")
    assert known["price"].weight == weights.get("price", 1.0)


def test_the_order_of_day_and_month(tmp_path: Path) -> None:
    path = write(tmp_path, "when,x\n01/02/2024,1\n03/04/2024,2\n05/12/2024,3\n")
    day, month = (read_dataset(path, types={"when": f"{first}-first"}) for first in ("day", "month"))
    np.testing.assert_array_equal(read_dataset(path).X, day.X)
    assert "(--type when=month-first for that)" in " ".join(read_dataset(path).notes)
    assert not any("other order" in note for note in (*day.notes, *month.notes))
    # January 2, March 4 and May 12 of a leap year.
    np.testing.assert_allclose(month.X[:, 0], [0, 62 / 131, 1])


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"types": {"price": "date"}}, "cannot be read as date: it holds '1.0'"),
    ({"types": {"note": "number"}}, "cannot be read as number: it holds 'a b'"),
    ({"types": {"when": "song"}}, "must be one of number, category, text, date, day-first, month-first"),
    ({"types": {"zap": "text"}}, "no column 'zap'"),
    ({"weights": {"zip": 0}}, "above 0"),
    ({"weights": {"zip": float("nan")}}, "above 0"),
    ({"weights": {"note": 2}}, "not compared (text, shown but not used)"),
    ({"weights": {"zip": 2}, "label": "zip"}, "is the label, the id or a dropped column"),
    ({"weights": {"zip": 2}, "kind": "text"}, "for the columns of a table"),
]


@pytest.mark.parametrize(("options", "words"), REFUSED)
def test_types_and_weights_that_make_no_sense(tmp_path: Path, options: Any, words: str) -> None:
    path = tmp_path / "t.csv"
    pl.DataFrame(TYPED).write_csv(path)
    with pytest.raises(InvalidDataError, match=re.escape(words)):
        read_dataset(path, **options)


def test_a_doubled_name_is_numbered_and_the_column_stays_one_of_names(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    names = [f"k{k}" for k in range(38)]
    for doubled, ids in (
        ([*names, "k3", "k3"], ["k3 (2)", "k3 (3)"]),
        ([*names[:-1], "k3 (2)", "k3", "k4"], ["k3 (3)", "k4 (2)"]),
    ):
        pl.DataFrame({"user_id": doubled, "x": [k % 7 for k in range(40)]}).write_csv(path)
        for options in ({}, {"id": "user_id"}):
            data = read_dataset(path, **options)
            assert data.ids.tolist() == [*doubled[:-2], *ids]
            assert data.columns == ("x",)
            assert "Numbered 2 names that 'user_id' holds again, such as 'k3 (2)'." in data.notes
            again = read_recipe(path, Recipe.from_json(data.recipe.to_json()))
            assert again.ids.tolist() == data.ids.tolist()
    for called, n_named in (("Bestell-Nr.", 40), ("order no", 40), ("piano", 0), ("note", 0)):
        pl.DataFrame({called: [*names, "k3", "k3"], "x": [k % 7 for k in range(40)]}).write_csv(path)
        assert sum(str(id).startswith("k") for id in read_dataset(path).ids) == n_named
    many = [f"k{k // 2}" for k in range(40)]
    pl.DataFrame({"user_id": many, "x": [k % 7 for k in range(40)]}).write_csv(path)
    assert read_dataset(path).ids.tolist() == list(range(40))
    with pytest.raises(InvalidDataError, match="cannot name the rows: 20 of its values occurred before"):
        read_dataset(path, id="user_id")
