"""Recipes: what session files hold of them, those of earlier versions included."""

import json
from typing import Any

import pytest

from cobras.data import load_demo, read_dataset
from cobras.data.recipe import ColumnRecipe, Recipe

GUESSED = {"text": None, "image": None, "vectors": None, "features": None}

# As they stand in session files that were made before there was a class for them.
STORED: list[dict[str, Any]] = [
    {"kind": "bundled", "name": "digits"},
    {
        **GUESSED,
        **{
            "label": "species",
            "id": "name",
            "drop": ["note"],
            "kind": "table",
            "hidden": ["species", "note"],
        },
        "columns": [
            {"name": "length", "as": "number", "fill": 4.4, "low": 1.0, "high": 6.7},
            {"name": "colour", "as": "category", "values": ["blue", "red"]},
            {"name": "day", "as": "date", "format": "%Y-%m-%d", "fill": 0.0, "low": 1.7e9, "high": 1.8e9},
            {"name": "moment", "as": "date", "format": "", "fill": 0.0, "low": 1.7e9, "high": 1.8e9},
        ],
    },
    {
        **GUESSED,
        **{"label": None, "id": "file", "drop": [], "kind": "image", "features": "pixels", "hidden": []},
        "files": ["a/0.png", "b/1.png"],
    },
    {**GUESSED, **{"label": None, "id": "id", "drop": [], "kind": "text", "text": "review", "hidden": []}},
    {**GUESSED, **{"label": None, "id": None, "drop": [], "kind": "series", "features": "dtw", "hidden": []}},
    {
        **GUESSED,
        **{"label": None, "id": None, "drop": [], "kind": "table", "hidden": [], "remote": True},
        "columns": [{"name": "x", "as": "number", "fill": 0.5, "low": 0.0, "high": 1.0}],
    },
]


@pytest.mark.parametrize("stored", STORED, ids=lambda stored: stored["kind"])
def test_a_stored_recipe_is_read_and_stored_alike(stored: dict[str, Any]) -> None:
    assert Recipe.from_json(stored).to_json() == stored


def test_a_remote_date_of_old_is_a_date() -> None:
    stored = {"name": "day", "as": "date", "fill": 0.0, "low": 0.0, "high": 9.0}
    assert ColumnRecipe.from_json(stored) == ColumnRecipe("day", "date", 0.0, 9.0, 0.0, "")


def test_keys_of_a_later_version_are_ignored() -> None:
    assert Recipe.from_json({"kind": "table", "drop": ["a"], "colour": "red"}) == Recipe(drop=("a",))


def test_recipes_are_stored_as_json(tmp_path) -> None:
    (tmp_path / "t.csv").write_text(
        "day,x,c\n2020-01-31,1,a\n2021-01-31,,b\n2022-01-31,3,a\n2022-02-01,4,b\n"
    )
    for recipe in (read_dataset(tmp_path / "t.csv", label="x").recipe, load_demo().recipe):
        assert Recipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe
