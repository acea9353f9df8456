"""Numbers, dates and words as people write them: what is written comes back, and codes stay codes."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import read_features
from cobras.data import read_dataset, read_recipe
from cobras.data.recipe import ColumnRecipe, Notation, Recipe
from cobras.data.tables.columns import feature_matrix, isolate, name_list
from cobras.data.tables.dates import FORMATS, date_format, mixed_formats, seconds
from cobras.data.tables.header import lines_above
from cobras.data.tables.notation import MISSING, STYLES, number_notation, parse_numbers
from tests.data.conftest import write

UNITS = ["", "$", "€", "CHF ", " kg", "%", " °C", " rooms"]
hundredths = st.integers(-(10**11), 10**11)


def spell(cents: int, decimal: str, group: str, unit: str, brackets: bool) -> str:
    number = f"{abs(cents) / 100:,.2f}".replace(",", "~").replace(".", decimal).replace("~", group)
    shown = f"{unit}{number}" if unit in ("$", "CHF ") else f"{number}{unit}"
    if cents >= 0:
        return shown
    return f"({shown})" if brackets else f"-{shown}"


@given(
    st.lists(hundredths, min_size=2, max_size=30, unique=True),
    st.sampled_from(STYLES),
    st.sampled_from(UNITS),
    st.booleans(),
    st.lists(st.sampled_from(sorted(MISSING - {""})), max_size=5),
)
def test_what_is_written_is_read(
    numbers: list[int], style: tuple[str, str], unit: str, brackets: bool, words: list[str]
) -> None:
    column = pl.Series([*(spell(x, *style, unit, brackets) for x in numbers), *words, None])
    found = number_notation(column)
    assert found is not None
    notation, missing = found
    assert set(missing) == set(words)
    read = parse_numbers(column, notation).to_list()
    assert read[len(numbers) :] == [None] * (len(words) + 1)
    np.testing.assert_allclose(read[: len(numbers)], np.array(numbers) / 100)
    assert Notation.from_json(notation.to_json()) == notation


@given(st.lists(st.text(max_size=12) | st.none(), max_size=20))
def test_any_words_are_numbers_or_not(words: list[str | None]) -> None:
    column = pl.Series(words, dtype=pl.String)
    found = number_notation(column)
    if found is not None:
        numbers = parse_numbers(column, found[0])
        gaps = [word for word, x in zip(words, numbers, strict=True) if x is None and word is not None]
        assert set(gaps) == set(found[1])
        assert numbers.drop_nulls().is_finite().all()
    mixed = mixed_formats(column)
    assert mixed is None or seconds(column, mixed[0]).count() > 0


@pytest.mark.parametrize(
    "cells",
    [
        ["007", "008", "120"],
        ["99999999999999999999", "1"],
        ["10-20", "20-30"],
        ["192.168.1.1", "10.0.0.1"],
        ["$5", "€7"],
        ["5 m", "7"],  # metres, or millions
        ["5 kg", "7 cm"],
        ["12/2020", "1/2021"],
        ["red", "blue", "7"],
        ["-", "?"],
        ["5", "unknown"],  # a single number
    ],
)
def test_what_is_no_number_stays_text(cells: list[str]) -> None:
    assert number_notation(pl.Series(cells)) is None


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,234", "2,500", "999"], [1234, 2500, 999]),
        (["0,125", "1,500"], [0.125, 1.5]),
        (["12,34,567", "1,000"], [1234567, 1000]),
        (["1.234 €", "950 €", "7.080 €", "-12.500 €"], [1234, 950, 7080, -12500]),
        (["1.234 kg", "950 kg", "7.5 kg"], [1.234, 950, 7.5]),
        (["CHF 1.234", "CHF 950", "CHF 7.080", "CHF 2.500"], [1234, 950, 7080, 2500]),
        (["1.234 kg", "2.500 kg", "1.750 kg", "950 g"], [1234, 2500, 1750, 950]),
        (["1.234 MB", "2.500 MB", "1.750 MB", "950 KB"], [1234e3, 2500e3, 1750e3, 950e3]),
        (["1.609 km", "3.218 km", "8.045 km", "160 m"], [1609e3, 3218e3, 8045e3, 160e3]),
        (["$1.609", "$3.218", "$8.045", "$160"], [1.609, 3.218, 8.045, 160]),
        (["£1.609", "£3.218", "£8.045", "£160"], [1.609, 3.218, 8.045, 160]),
        (["1.609 l", "3.218 l", "8.045 l", "160 l"], [1.609, 3.218, 8.045, 160]),
        (["1.609", "3.218", "8.045", "160"], [1.609, 3.218, 8.045, 160]),
        (["1.2k", "800", "3M"], [1200, 800, 3_000_000]),
        (["180 cm", "1.75 m"], [1800, 1750]),
        (["90 min", "2 h"], [5400, 7200]),
        (["USD 5", "$7", "US$ 9"], [5, 7, 9]),
        (["1,234-", "5"], [-1234, 5]),
        (["−5", "+7"], [-5, 7]),
        (["١٢٣", "٤٥٦"], [123, 456]),
        (["3 rooms", "1 room"], [3, 1]),
    ],
)
def test_numbers_in_many_spellings(cells: list[str], numbers: list[float]) -> None:
    found = number_notation(pl.Series(cells))
    assert found is not None
    assert parse_numbers(pl.Series(cells), found[0]).to_list() == numbers


def test_words_must_be_rare_unless_they_stand_for_a_gap() -> None:
    numbers = [str(k) for k in range(40)]
    for odd, is_number in ((1, True), (4, True), (5, False)):
        assert (number_notation(pl.Series([*numbers, *"abcdefgh"[:odd]])) is not None) is is_number
    assert number_notation(pl.Series(["1", "2", *["unknown"] * 50])) is not None
    assert number_notation(pl.Series([*numbers, *["late"] * 10])) is None


days = st.dates(date(1970, 1, 1), date(2060, 1, 1))


@given(
    st.lists(st.tuples(days, st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%b %d, %Y", "%d-%b-%y"])), min_size=1)
)
def test_dates_in_several_formats(pairs: list[tuple[date, str]]) -> None:
    pairs = [(day, way) for day, way in pairs if way != "%d-%b-%y" or 1970 <= day.year < 2060]
    cells = pl.Series([day.strftime(way) for day, way in pairs])
    format = date_format(cells) or (mixed_formats(cells) or ("",))[0]
    assert set(format.split("|")) <= set(FORMATS)
    found = pl.from_epoch(seconds(cells, format).cast(pl.Int64)).dt.date().to_list()
    assert found == [day for day, _ in pairs]


@given(
    st.sampled_from(FORMATS),
    st.datetimes(datetime(1970, 1, 1), datetime(2060, 1, 1)),
    st.sampled_from(["", " "]),
)
def test_every_format_is_found(format: str, moment: datetime, blank: str) -> None:
    cell = pl.Series([moment]).dt.strftime(format.replace("%#z", "+05:30"))[0]
    found = date_format(pl.Series([f"{blank}{cell}{blank}"]))
    assert found is not None
    # Another format that fits as well may come first, such as day before month; it holds the same parts.
    assert pl.Series([cell]).str.contains(r"\d{4}")[0] == ("%Y" in found)


def test_new_rows_are_read_as_the_old_ones_were_written(tmp_path: Path) -> None:
    old = write(tmp_path, 'x;c\n"1.000";a\n"2.000,5";b\n"12.000";a\nunknown;b\n', "old.csv")
    recipe = read_dataset(old).recipe
    new = write(tmp_path, "x;c\n1.000;a\n12.000;A\n-;b\n", "new.csv")
    X = read_features(new, recipe)
    np.testing.assert_allclose(X[:, 0], [0, 1, (2000.5 - 1000) / 11000])


def test_a_stored_recipe_is_never_read_in_a_new_way(tmp_path: Path) -> None:
    """Columns that are numbers, names or yes and no by now were words in sessions of an earlier version."""
    rows = "".join(f'T{k},"${k % 3},000",{"yY"[k % 2]}\n' for k in range(9))
    path = write(tmp_path, f"ticket,price,member\n{rows}")
    stored = {
        **{"kind": "table", "label": None, "id": None, "drop": [], "hidden": [], "features": None},
        "columns": [
            {"name": "price", "as": "category", "values": ["$0,000", "$1,000", "$2,000"]},
            {"name": "member", "as": "category", "values": ["Y", "y"]},
        ],
    }
    ds = read_recipe(path, Recipe.from_json(stored))
    assert ds.columns == ("price=$0,000", "price=$1,000", "price=$2,000", "member=Y", "member=y")
    assert ((ds.X > 0).sum(axis=1) == 2).all()
    assert ds.ids.tolist() == list(range(9))
    assert [column.use for column in ds.column_info] == ["ignored", "used", "used"]


def test_titles_of_an_earlier_session_are_rows(tmp_path: Path) -> None:
    path = write(tmp_path, "Report,\nx,y\n1,2\n3,4\n5,7\n")
    assert read_dataset(path).columns == ("x", "y")
    stored = {
        "kind": "table",
        "hidden": [],
        "columns": [{"name": "Report", "as": "category", "values": ["1", "x"]}],
    }
    assert read_recipe(path, Recipe.from_json(stored)).X.shape == (4, 2)


def test_spellings_of_a_word(tmp_path: Path) -> None:
    words = ["Berlin", "berlin ", "PARIS", "Paris", "Paris", "Berlin", "Berlin", None]
    rows = "".join(f"{word or ''},{k * k}\n" for k, word in enumerate(words))
    ds = read_dataset(write(tmp_path, f"city,x\n{rows}"))
    assert ds.columns == ("city=Berlin", "city=Paris", "x")
    assert (ds.X[:, :2] > 0).tolist() == [[w == "B", w == "P"] for w in "BBPPPBB-"]
    symbols = "".join(f"{word},{k * k}\n" for k, word in enumerate(["Co", "CO", "Co", "CO"]))
    assert read_dataset(write(tmp_path, f"gas,x\n{symbols}")).columns == ("gas=CO", "gas=Co", "x")


@pytest.mark.parametrize(
    ("words", "values", "missing"),
    [
        (["web", "N/A", "app", "n/a", "-", "?", "null"], ("app", "web"), ("-", "?", "N/A", "n/a", "null")),
        (["none", "unknown", "app", "web"], ("app", "none", "unknown", "web"), ()),
        (["+", "-", "?"], ("+", "-", "?"), ()),
        (["DE", "NA", "FR"], ("DE", "FR", "NA"), ()),
        (["Europe", "NA", "Asia"], ("Asia", "Europe"), ("NA",)),
        (["x", "N/A"], ("x",), ("N/A",)),
    ],
)
def test_words_for_a_gap_are_no_category(
    tmp_path: Path, words: list[str], values: tuple[str, ...], missing: tuple[str, ...]
) -> None:
    rows = "".join(f"{word},{k * k}\n" for k, word in enumerate(words * 4))
    ds = read_dataset(write(tmp_path, f"word,x\n{rows}"))
    column = ds.recipe.columns[0]
    assert (column.values, column.missing) == (values, missing)
    assert [bool(row.any()) for row in ds.X[: len(words), :-1]] == [word not in missing for word in words]
    assert any(note.startswith(f"Took {4 * len(missing)} cells of 'word'") for note in ds.notes) == bool(
        missing
    )
    assert ds.column_info[0].share_missing == len(missing) / len(words)
    new = write(tmp_path, "word,x\nN/A,3\n", "new.csv")
    np.testing.assert_array_equal(read_features(new, ds.recipe)[:, :-1], 0)


@given(st.lists(st.sampled_from(["Yes", "y", "NO", "n", "?", "true"]), min_size=3, max_size=30))
def test_yes_and_no(words: list[str]) -> None:
    recipe = ColumnRecipe(
        "w", "category", values=("NO", "Yes"), same=(("y", "Yes"), ("true", "Yes"), ("n", "NO"), ("no", "NO"))
    )
    X = feature_matrix(pl.DataFrame({"w": words}), [recipe])
    expected = [[word.lower() in ("no", "n"), word.lower() in ("yes", "y", "true")] for word in words]
    assert (X > 0).tolist() == expected
    assert ColumnRecipe.from_json(recipe.to_json()) == recipe


@pytest.mark.parametrize(
    ("rows", "above"),
    [
        ([["Report"], ["a", "b"], ["1", "x"], ["2", "y"]], 1),
        (
            [
                ["Report", "", ""],
                ["as of", "2024", ""],
                ["a", "2019", "2020"],
                ["x", "1", "2"],
                ["y", "3", "4"],
            ],
            2,
        ),
        ([["a", "b"], ["1", "2"], ["3", "4"]], 0),
        ([["a", ""], ["1", "2"], ["3", "4"]], 0),
        ([["Labels", ""], ["", ""], ["id", "label"], ["x", "a"], ["y", "b"]], 2),
        ([["Labels", ""], ["id", "label"], ["x", "a"], ["y", "b"]], 0),
        ([["A", "", "B", ""], ["m", "n", "m", "n"], ["1", "2", "3", "4"], ["5", "6", "7", "8"]], 1),
        ([["A", "", "B", ""], ["m", "n", "m", "n"], ["1", "x", "y", "z"], ["5", "v", "w", "u"]], 0),
        ([["name"], ["Doe", "John"], ["Roe", "Jane"], ["Poe", "Jim"]], 0),
        ([["a", "b", "c"], ["1", "", ""], ["2", "3", "4"]], 0),
        ([], 0),
        ([[]], 0),
    ],
)
def test_lines_above_the_header(rows: list[list[str]], above: int) -> None:
    assert lines_above(rows) == above


@pytest.mark.parametrize(
    ("name", "values", "is_name"),
    [
        ("ticket", [48211 + 7 * k for k in range(30)], True),  # called so
        ("t", [(k * 7) % 31 + 500 for k in range(31)], True),  # without gaps, in any order
        ("t", [48211 + k * k for k in range(30)], True),  # growing, as many digits each
        ("year", [1990 + k for k in range(30)], False),
        ("population", [(k * 7919 + 13) % 90001 for k in range(30)], False),
        ("ticket", [k % 9 for k in range(30)], False),
        ("sensor", [f"A{k}" for k in range(30)], True),
        ("price", [f"${k}.50" for k in range(30)], False),
        ("when", [f"2020-01-{k + 1:02}" for k in range(30)], False),
    ],
)
def test_names_of_rows_by_what_they_are(
    tmp_path: Path, name: str, values: list[object], is_name: bool
) -> None:
    x = [k * k % 17 for k in range(len(values))]
    pl.DataFrame({"x": x, name: values}, strict=False).write_csv(tmp_path / "t.csv")
    ds = read_dataset(tmp_path / "t.csv")
    assert (ds.recipe.id == name) is is_name
    assert (name in ds.columns) is not is_name


def test_arabic_names_do_not_turn_what_follows(tmp_path: Path) -> None:
    assert name_list(["عمر", "x"]) == f"{isolate(repr('عمر'))}, 'x'"
    ds = read_dataset(
        write(tmp_path, "عمر,x\n١٠,1\n٢٥,2\nغير معروف,4\n" + "".join(f"{k},3\n" for k in range(30, 45)))
    )
    assert ds.columns == ("عمر", "x")
    assert any("Took 1 cell of \u2068'عمر'\u2069 as missing" in note for note in ds.notes)
