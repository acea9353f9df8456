"""What tells a cluster apart: laws of the comparison, names a person would say, and the end point."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from cobras.cli.terminal import UNICODE
from cobras.cli.terminal.pairs import compare
from cobras.core.types import Pair
from cobras.data import Dataset, read_dataset
from cobras.data.recipe import ColumnRecipe
from cobras.web.cards import Cards
from cobras.web.profiles.curves import mean_curves
from cobras.web.profiles.distributions import (
    ColumnClasses,
    TableColumns,
    _numbers,
    column_model,
    difference,
)
from cobras.web.profiles.suggestions import column_name, phrase
from cobras.web.profiles.vocabulary import Vocabulary
from tests.web.serving import serving

NUMBER = ColumnRecipe("income", "number")
values = st.lists(st.one_of(st.integers(0, 15).map(float), st.just(float("nan"))), min_size=4, max_size=60)


@given(values, st.data())
def test_numbers_are_compared_as_kolmogorov_and_smirnov_do_and_gaps_do_not_count(
    column: list[float], data: st.DataObject
) -> None:
    x = np.array(column)
    chosen = data.draw(st.lists(st.booleans(), min_size=len(x), max_size=len(x)))
    places = np.flatnonzero(chosen)
    read = _numbers(NUMBER, x)
    found = difference(read, places)
    inside, outside = x[places], np.delete(x, places)
    inside, outside = inside[np.isfinite(inside)], outside[np.isfinite(outside)]
    if not len(inside) or not len(outside):
        assert found.score == 0
        return
    # With at most 16 different values the classes lose nothing; few rows get a deduction.
    expected = ks_2samp(inside, outside).statistic - 0.5 / np.sqrt(len(inside))
    if read.n_classes == len(np.unique(x[np.isfinite(x)])):
        assert found.score == pytest.approx(max(0, expected))
    else:
        assert found.score <= max(0, expected) + 1e-9
    model = column_model(read, places)
    assert sum(model.inside) == pytest.approx(1, abs=0.02)
    assert sum(model.outside) == pytest.approx(1, abs=0.02)
    assert model.missing == pytest.approx(np.isnan(x[places]).mean())
    # More gaps elsewhere change no score.
    more = np.concatenate([x, np.full(7, np.nan)])
    assert difference(_numbers(NUMBER, more), places).score == found.score


def words(kind: str, classes: list[int], names: tuple[str, ...]) -> ColumnClasses:
    return ColumnClasses(ColumnRecipe(kind, "category", values=names), np.array(classes), len(names) + 1)


def test_a_phrase_is_what_a_person_would_say() -> None:
    first = np.arange(50)

    def said(column: ColumnClasses) -> str:
        return phrase(column, difference(column, first))

    rising = _numbers(ColumnRecipe("yearly_income", "number"), np.arange(100.0))
    falling = _numbers(ColumnRecipe("joined", "date"), -np.arange(100.0))
    inner = _numbers(NUMBER, np.r_[np.full(50, 5.0), np.zeros(25), np.full(25, 9.0)])
    assert [said(rising), said(falling), said(inner)] == ["low yearly income", "late joined", "medium income"]
    here, there = [0] * 50, [1] * 50
    assert said(words("segment_true", here + there, ("business", "private"))) == "business"
    assert said(words("class", here + there, ("A", "B"))) == "class A"
    assert said(words("has_pool", here + there, ("no", "yes"))) == "no pool"
    assert said(words("has_pool", there + here, ("no", "yes"))) == "has pool"
    assert said(words("colour", [0, 1] * 50, ("red", "blue"))) == ""
    assert said(words("colour", [2] * 50 + here, ("red", "blue"))) == ""  # rare words have no name
    both = [(column, difference(column, first)) for column in (rising, falling, inner)]
    assert column_name(both) == "low yearly income, late joined"


@given(
    st.lists(st.sampled_from(["refund", "refunds", "card", "not", "yet", "lamp"]), min_size=1, max_size=40)
)
def test_telling_words_are_no_stop_words_and_more_frequent_inside(drawn: list[str]) -> None:
    texts = [" ".join(drawn[k::4]) for k in range(4)] + ["the lamp is not here yet"] * 4
    found = Vocabulary(texts.__getitem__).telling_words(range(4), range(4, 8), 5)
    said = [word.value for word in found]
    assert not {"not", "yet", "the"} & set(said)
    assert not {"refund", "refunds"} <= set(said)
    for word in found:
        assert word.inside == sum(word.value in text.split() for text in texts[:4]) / 4
        assert word.inside >= 1.5 * word.outside


def test_a_mean_curve_lies_in_its_band_and_gaps_are_left_out() -> None:
    rng = np.random.default_rng(0)
    series = rng.normal(size=(40, 2, 30)) + np.arange(30)
    series[:, 1, :5] = np.nan
    series[3, :, 20:] = np.nan  # a shorter one
    curves = mean_curves(series.__getitem__, range(20), range(20, 40))
    assert len(curves) == 2
    assert [v is None for v in curves[1].mean][:20] == [True] * 20 or curves[1].mean[0] is None
    for curve in curves:
        known = [k for k, v in enumerate(curve.mean) if v is not None]
        assert all(curve.low[k] <= curve.mean[k] <= curve.high[k] for k in known)
    assert mean_curves(series.__getitem__, range(40), [])[0].rest == [None]


@pytest.fixture
def customers(tmp_path: Path) -> Dataset:
    """Business people with a high income, of which some is not known, and others."""
    rng, n = np.random.default_rng(0), 80
    is_business = np.arange(n) % 2 == 0
    income = np.where(is_business, 90_000, 30_000) + rng.normal(size=n).round(2) * 5_000
    path = tmp_path / "customers.csv"
    pl.DataFrame(
        {
            "customer": [f"C{k:03}" for k in range(n)],
            "income": [f"€ {v:,.0f}" if k % 10 else "n/a" for k, v in enumerate(income)],
            "size": rng.normal(size=n).round(3),
            "segment": np.where(is_business, "business", "private"),
        }
    ).write_csv(path)
    return read_dataset(path)


def test_a_profile_names_what_tells_the_cluster_apart(customers: Dataset, file: Path) -> None:
    is_business = np.arange(80) % 2 == 0
    with serving(customers, file, session={"method": "cobras"}) as client:
        client.answer(is_business, 30)
        clusters = {c["suggestion"]: c for c in client.look("clusters")["clusters"]}
        assert set(clusters) == {"business, high income", "private, low income"}
        rich = clusters["business, high income"]
        found = client.look(f"profile/{rich['id']}")
        assert found["size"] == found["n_inside"] == 40
        assert [column["name"] for column in found["columns"]][:2] == ["segment", "income"]
        income = found["columns"][1]
        assert (income["missing"], income["missing_outside"]) == (0.2, 0.0)
        assert 85_000 < float(income["middle"].replace("\u202f", "")) < 95_000
        assert found["headers"] == ["segment", "income", "size"]
        assert {member["cells"][0] for member in found["typical"] + found["unusual"]} == {"business"}
        assert not {m["i"] for m in found["typical"]} & {m["i"] for m in found["unusual"]}
        assert client.get("/api/profile/99").status_code == 404


def test_a_missing_value_is_no_difference(customers: Dataset) -> None:
    columns: list[Any] = Cards(customers, "").columns(Pair(0, 1)) or []
    assert [column.name for column in columns][-1] == "income"
    assert (columns[-1].missing, columns[-1].difference, columns[-1].left) == (True, 0.0, "n/a")
    assert not any(column.missing for column in columns[:-1])


def test_spellings_that_are_read_as_the_same_are_no_difference(tmp_path: Path) -> None:
    plans, active = ["Gold", "GOLD ", "Free"] * 9, ["yes", "Y", "no"] * 9
    frame = pl.DataFrame({"size": range(0, 54, 2), "plan": plans, "active": active})
    frame.with_columns(pl.col("size") % 14).write_csv(tmp_path / "plans.csv")
    dataset = read_dataset(tmp_path / "plans.csv")
    for pair, expected in ((Pair(0, 1), {0.0}), (Pair(0, 2), {1.0})):
        on_page: list[Any] = Cards(dataset, "").columns(pair) or []
        in_terminal = compare(dataset, pair, *map(dataset.show, pair), UNICODE)
        assert {column.difference for column in on_page if column.name != "size"} == expected
        assert {line.difference for line in in_terminal if line.column != "size"} == expected


def test_a_table_larger_than_memory_is_described_by_its_features(customers: Dataset) -> None:
    whole = TableColumns(customers, np.arange(80), customers.X)
    of_features = TableColumns(customers, np.arange(80), customers.X)
    read = of_features._from_features(0, customers.recipe.columns[0])
    filled = np.where(np.arange(80) % 10 == 0, np.nan, read.values)
    np.testing.assert_allclose(filled, whole._read(0).values)
    codes = of_features._from_features(2, customers.recipe.columns[2]).classes
    np.testing.assert_array_equal(codes, whole._read(2).classes)


@pytest.mark.parametrize("method", ["cobras", "adder"])
def test_why_a_pair_is_asked_and_which_items_are_least_sure(
    customers: Dataset, file: Path, method: str
) -> None:
    with serving(customers, file, session={"method": method}) as client:
        client.answer(np.arange(80) % 2 == 0, 12)
        why = client.look("why")
        question = client.look("question")
        assert why["version"] == question["versions"]["session"]
        assert why["words"].startswith(("These two decide whether", "An earlier answer"))
        page = client.look("unsure", limit=20)
        assert page["total"] == 80
        sure = [item["confidence"] for item in page["items"]]
        assert sure == sorted(sure)
        some = client.look("unsure", cluster=1)
        assert {item["cluster"] for item in some["items"]} == {1}
        found, matching = (client.look(name, search="1", limit=80)["items"] for name in ("unsure", "items"))
        assert 0 < len(found) < 80
        assert {item["i"] for item in found} == {item["i"] for item in matching}
        assert [item["confidence"] for item in found] == sorted(item["confidence"] for item in found)
        assert client.look("items")["items"][0]["confidence"] is None
        series, progress = client.look("progress")["series"], question["progress"]
        assert len(series["expected_ari"]) == 13
        assert series["expected_ari"][-1] == progress["expected_ari"]
        assert (progress["expected_ari"] is None) is (method == "cobras")


def test_a_line_about_a_row_begins_with_words_where_numbers_are_text(tmp_path: Path) -> None:
    regions = ["north", "south", "east"] * 4
    lines = [
        f"{k:02}.07.2022;{1000 + k:_},50 €;{region}".replace("_", ".") for k, region in enumerate(regions, 1)
    ]
    file = tmp_path / "sales.csv"
    file.write_text("\n".join(["since;sales;region", *lines]), encoding="utf-8")
    cards = Cards(read_dataset(file), "")
    assert cards.thumbnail(0).text == "north, 01.07.2022, 1.001,50 €"


def test_days_in_a_data_frame_are_shown_without_midnight() -> None:
    days = [datetime(2022, 7, k) for k in range(1, 13)]
    dataset = read_dataset(pl.DataFrame({"since": days, "until": [day.replace(hour=9) for day in days]}))
    columns = Cards(dataset, "").columns(Pair(0, 1))
    assert columns is not None
    assert {c.name: c.left for c in columns} == {"since": "2022-07-01", "until": "2022-07-01 09:00:00"}
    assert dataset.column_info[0].examples[0] == "2022-07-01"
