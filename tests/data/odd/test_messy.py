"""Twenty messy files are read right without an option, and again from their recipes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cobras.data import read_dataset, read_recipe
from cobras.data.cache import shared_cache
from cobras.data.recipe import Recipe
from tests.data.odd.messy import MESSY, UNIT, faults, main


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    yield
    shared_cache().close()


@pytest.mark.parametrize("name", MESSY)
def test_a_messy_file_is_read_right(tmp_path: Path, name: str) -> None:
    path = MESSY[name].make(tmp_path)
    dataset = read_dataset(path)
    assert faults(dataset, MESSY[name]) == []
    assert all(note.endswith((".", ")")) for note in dataset.notes)
    stored = json.loads(json.dumps(dataset.recipe.to_json()))
    again = read_recipe(path, Recipe.from_json(stored))
    np.testing.assert_array_equal(again.X, dataset.X)
    assert (again.ids.tolist(), again.column_info) == (dataset.ids.tolist(), dataset.column_info)
    assert again.recipe.to_json() == stored


@pytest.mark.parametrize("name", ["shops.csv", "ledger.csv", "members.csv", "embeddings.npy"])
def test_a_messy_file_larger_than_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("COBRAS_MEMORY", "1")
    path = MESSY[name].make(tmp_path)
    dataset = read_dataset(path)
    assert dataset.large is not None
    assert faults(dataset, MESSY[name]) == []
    np.testing.assert_array_equal(read_recipe(path, dataset.recipe).X, dataset.X)


def test_there_are_twenty_and_the_table_says_that_they_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    assert capsys.readouterr().out.endswith("20 of 20 files are read right.\n")


def test_what_is_said_about_messy_columns(tmp_path: Path) -> None:
    notes = " ".join(read_dataset(MESSY["survey.csv"].make(tmp_path)).notes)
    assert "Took 5 cells of 'income' as missing: '-', '?', 'n/a', 'none' and 1 more." in notes
    notes = " ".join(read_dataset(MESSY["ledger.csv"].make(tmp_path)).notes)
    assert "Read 'balance' (($" in notes
    notes = " ".join(read_dataset(MESSY["members.csv"].make(tmp_path)).notes)
    assert "Took other spellings of a word as the same in 'active'." in notes
    answers = "\n".join(["size,letter", *(f"{k % 7},{('yes', 'no', 'N/A', '-')[k % 4]}" for k in range(40))])
    (tmp_path / "answers.csv").write_text(answers)
    notes = " ".join(read_dataset(tmp_path / "answers.csv").notes)
    assert "of 'letter' as missing" in notes
    assert "spellings" not in notes  # each word has one
    dataset = read_dataset(MESSY["embeddings.npy"].make(tmp_path))
    np.testing.assert_array_equal(dataset.X, UNIT)
    assert dataset.notes[-1] == "Left the columns as they are: all rows have length 1, as embeddings have."


def test_the_column_info_is_complete(tmp_path: Path) -> None:
    dataset = read_dataset(MESSY["survey.csv"].make(tmp_path), drop=["region"])
    income, region = dataset.column_info
    assert (income.use, income.type, income.share_missing) == ("used", "number", 5 / 40)
    assert set(income.missing) == {"unknown", "n/a", "-", "none", "?"}
    assert income.examples[0] == "1234"
    assert (region.use, region.reason, region.examples) == ("ignored", "left out on request", ())
    labelled = read_dataset(tmp_path / "survey.csv", label="region").column_info[1]
    assert (labelled.use, labelled.examples) == ("label", ())
