"""What the data is taken for, and starting again with other columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cobras import Session
from cobras.cli.source import FileSource
from cobras.data import read_dataset, read_recipe
from cobras.data.recipe import Recipe
from tests.web.serving import Client, flowers, running
from tests.web.serving import WebServer as Server


def shop(folder: Path) -> Path:
    """Items with a name, a number that looks like one, two prices and a text."""
    path = folder / "shop.csv"
    n = 40
    kinds = [k % 2 for k in range(n)]
    pl.DataFrame(
        {
            "item": [f"i{k:02}" for k in range(n)],
            "ticket": [7_000 + 13 * (k * 17 % n) for k in range(n)],
            "price": [100 * kind + k % 7 for k, kind in enumerate(kinds)],
            "size": [k * 7 % 11 for k in range(n)],
            "shop": ["north"] * n,
        }
    ).write_csv(path)
    return path


@pytest.fixture
def client(tmp_path: Path) -> Any:
    path, file = shop(tmp_path), tmp_path / "shop.cobras"
    dataset = read_dataset(path)

    def begin() -> Session:
        session = Session.open(file, dataset.X, method="cobras", random_state=0)
        session.set_note(data=str(path), recipe=dataset.recipe.to_json())
        return session

    server = Server(dataset, begin, file, "shop", refine=False, source=FileSource(path, file))
    with running(server) as client:
        client.first_question()
        yield client


def uses(client: Client) -> dict[str, str]:
    return {column["name"]: column["use"] for column in client.look("data")["columns"]}


def test_each_column_says_what_it_is_taken_for(client: Client) -> None:
    found = client.look("data")
    assert uses(client) == {
        "item": "name", "ticket": "ignored", "price": "used", "size": "used", "shop": "ignored"
    }  # fmt: skip
    columns = {column["name"]: column for column in found["columns"]}
    assert columns["price"]["examples"] == ["0", "101", "2"]
    assert columns["price"]["uses"] == ["used", "name", "dropped"]
    assert columns["shop"]["reason"] == "the same in every row"
    assert "used" not in columns["shop"]["uses"]
    assert (found["by"], found["quality"], found["can_change"]) == ("the columns", "good", True)


def test_options_change_freely_while_nothing_was_said(client: Client, tmp_path: Path) -> None:
    run = client.look("question")["run"]
    choices = client.look("data")["choices"]
    asked = client.change("data", **{**choices, "drop": ["size"], "use": ["ticket"]})
    assert asked["state"] == "asking"
    assert asked["run"] != run
    assert uses(client) == {
        "item": "name", "ticket": "used", "price": "used", "size": "dropped", "shop": "ignored"
    }  # fmt: skip
    assert "size" not in client.look("settings")["columns"]
    assert sorted(path.name for path in tmp_path.glob("*.cobras")) == ["shop.cobras"]
    # The map and the lists are those of the new features.
    assert client.look("map")["layout"] in ("none", "pca")
    assert client.look("clusters")["clusters"]
    # Another column names the items.
    client.change("data", **{**choices, "id": "ticket"})
    assert client.look("items")["items"][0]["id"] == "7000"


def test_answers_are_carried_over_and_the_old_session_is_kept(client: Client, tmp_path: Path) -> None:
    question = client.first_question()
    for _ in range(6):
        i, j = question["pair"]["i"], question["pair"]["j"]
        question = client.change("tell", i=i, j=j, answer="same" if (i - j) % 2 == 0 else "different")
    client.change("name", cluster=0, text="first")
    before = client.look("history")["records"]
    constraints = client.get("/api/export", params={"format": "constraints"}).text
    asked = client.change("data", **{**client.look("data")["choices"], "drop": ["size"]})
    assert "kept in shop-1.cobras" in asked["message"]
    assert asked["progress"]["n_answers"] == 6
    keys = ("kind", "number", "answer", "at", "in_force")
    after = client.look("history")["records"]
    assert [[r[k] for k in keys] for r in after] == [[r[k] for k in keys] for r in before]
    assert sorted(client.get("/api/export", params={"format": "constraints"}).text.splitlines()) == sorted(
        constraints.splitlines()
    )
    assert [c["name"] for c in client.look("clusters")["clusters"] if c["name"]] == ["first"]
    # The last thing that was done is still the first to be taken back.
    assert client.change("undo")["message"] == "Taken back: the name 'first'."
    # A second time, under another name; and an old file is a whole session.
    asked = client.change("data", **client.look("data")["choices"])
    assert "kept in shop-2.cobras" in asked["message"]
    dataset = read_dataset(tmp_path / "shop.csv")
    with Session.open(tmp_path / "shop-1.cobras", dataset.X, method="cobras") as old:
        assert (old.n_answers, old.names) == (6, {0: "first"})
    client.server.stop()
    client.server.live.close(5)
    recipe = read_dataset(tmp_path / "shop.csv", drop=["size"]).recipe
    with Session.open(
        tmp_path / "shop.cobras", read_recipe(tmp_path / "shop.csv", recipe).X, method="cobras"
    ) as new:
        assert new.n_answers == 6
        assert Recipe.from_json(new.get_note("recipe")).drop == ("size",)


def test_types_and_weights_are_changed_and_kept(client: Client, tmp_path: Path) -> None:
    found = client.look("data")
    columns = {column["name"]: column for column in found["columns"]}
    assert columns["price"]["types"] == ["number", "category", "text"]
    assert columns["item"]["types"] == []
    choices = {**found["choices"], "types": {"size": "category"}, "weights": {"price": 2}}
    assert client.change("data", **choices)["state"] == "asking"
    changed = client.look("data")
    assert changed["choices"] == choices
    columns = {column["name"]: column for column in changed["columns"]}
    assert (columns["size"]["type"], columns["price"]["weight"]) == ("category", 2)
    client.server.stop()
    client.server.live.close(5)
    expected = read_dataset(tmp_path / "shop.csv", types={"size": "category"}, weights={"price": 2}).X
    with Session.open(tmp_path / "shop.cobras", expected, method="cobras") as session:
        recipe = Recipe.from_json(session.get_note("recipe"))
    assert (expected == read_recipe(tmp_path / "shop.csv", recipe).X).all()


REFUSED: list[tuple[dict[str, Any], int, str]] = [
    ({"id": "price"}, 422, "cannot name the rows"),
    ({"drop": ["colour"]}, 422, "colour"),
    ({"use": ["item"], "id": "item"}, 422, "cannot be both used"),
    ({"kind": "text", "text": "price"}, 422, "no column of texts"),
    ({"kind": "song"}, 422, "kind"),
    ({"types": {"price": "date"}}, 422, "cannot be read as date"),
    ({"types": {"price": "song"}}, 422, "price"),
    ({"weights": {"price": -1}}, 422, "above 0"),
    ({"weights": {"shop": 2}}, 422, "the same in every row"),
    ({"revision": 0}, 409, "Something else happened meanwhile"),
    ({"drop": ["price", "size", "ticket", "shop", "item"], "id": None}, 422, "column"),
]


def test_what_cannot_be_read_changes_nothing(client: Client, tmp_path: Path) -> None:
    before, choices = client.look("question"), client.look("data")["choices"]
    for changes, status, words in REFUSED:
        answer = client.attempt("data", **{**choices, **changes})
        assert (answer.status_code, words in answer.json()["message"]) == (status, True), answer.text
        assert client.look("question") == before
    assert {path.name.rpartition("-")[0] or path.name for path in tmp_path.iterdir()} == {
        "shop.csv",
        "shop.cobras",
    }


def test_a_changed_file_is_refused(client: Client, tmp_path: Path) -> None:
    choices = client.look("data")["choices"]
    lines = (tmp_path / "shop.csv").read_text().splitlines()
    (tmp_path / "shop.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    answer = client.attempt("data", **choices)
    assert answer.status_code == 422
    assert "other rows" in answer.json()["message"]


def test_without_a_source_nothing_can_be_changed(tmp_path: Path) -> None:
    dataset, file = flowers(tmp_path), tmp_path / "flowers.cobras"
    server = Server(
        dataset, lambda: Session.open(file, dataset.X, method="cobras"), file, "flowers", refine=False
    )
    with running(server) as client:
        client.first_question()
        found = client.look("data")
        assert (found["can_change"], found["ways"]) == (False, [])
        assert {c["name"]: c["examples"] for c in found["columns"]}["species"] == []
        assert client.attempt("data", **found["choices"]).status_code == 409
