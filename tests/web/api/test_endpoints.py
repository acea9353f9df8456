"""What can be looked at: labels, clusters, items, cards, pictures, files."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics.cluster import contingency_matrix

from cobras import Session
from cobras.core.progress import kept_share
from cobras.data import Dataset, Series, Text, load_demo, read_dataset
from cobras.data.recipe import Recipe
from tests.web.serving import Client, decode_labels, flowers, serving

NASTY = "<script>alert(1)</script>"
N_ANSWERS = 15


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return flowers(tmp_path_factory.mktemp("looks"))


@pytest.fixture(scope="module")
def client(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with serving(dataset, tmp_path_factory.mktemp("looks") / "looks.cobras") as found:
        found.answer(dataset.labels, N_ANSWERS)
        found.change("name", cluster=1, text="lilies")
        yield found


@pytest.fixture(scope="module")
def session(dataset: Dataset) -> Session:
    found = Session(dataset.X, random_state=0, method="cobras")
    for _ in range(N_ANSWERS):
        if (pair := found.ask()) is not None:
            found.tell(bool(dataset.labels[pair.i] == dataset.labels[pair.j]), pair)
    return found


def test_the_label_is_never_shown(client: Client) -> None:
    looks = ["question", "settings", "labels", "clusters", "history", "progress", "map", "items", "item/3"]
    for look in [*looks, "items?search=secret", "export?format=html", "export?format=answers"]:
        text = client.get(f"/api/{look}").text
        assert "secret" not in text, look
        assert "species" not in text, look
    assert client.look("items", search="secret")["total"] == 0


def test_clusters_show_typical_and_unusual_members_of_their_own(client: Client, session: Session) -> None:
    clusters = client.look("clusters", n=4)["clusters"]
    assert [c["name"] for c in clusters if c["name"]] == ["lilies"]
    for cluster in clusters:
        members = np.flatnonzero(session.labels_ == cluster["number"]).tolist()
        typical = [item["i"] for item in cluster["representatives"]]
        unusual = [item["i"] for item in cluster["unusual"]]
        assert cluster["size"] == len(members)
        assert set(typical + unusual) <= set(members)
        assert len(typical) == min(4, len(members))
        assert not set(typical) & set(unusual)
        medoids = session.partition.clusters[cluster["number"]].representatives
        assert typical[0] in medoids


def test_the_most_unusual_member_lies_farthest_from_all_centroids(
    client: Client, session: Session, dataset: Dataset
) -> None:
    for cluster in client.look("clusters", n=1)["clusters"]:
        parts = session.partition.clusters[cluster["number"]].super_instances
        members = np.concatenate([s.members for s in parts])
        away = np.array([min(np.linalg.norm(dataset.X[i] - s.centroid) for s in parts) for i in members])
        for item in cluster["unusual"]:
            assert away[members == item["i"]][0] == pytest.approx(away.max())


def test_items_can_be_filtered_searched_and_paged(client: Client, session: Session, dataset: Dataset) -> None:
    everything = client.look("items", limit=200)
    assert everything["total"] == len(dataset) == len(everything["items"])
    assert [item["cluster"] for item in everything["items"]] == session.labels_.tolist()
    assert everything["columns"] == ["length", "width", "colour"]
    pages = [client.look("items", offset=k, limit=7)["items"] for k in range(0, len(dataset), 7)]
    assert list(chain(*pages)) == everything["items"]
    for number in range(int(session.labels_.max()) + 1):
        inside = client.look("items", cluster=number, limit=200)["items"]
        assert [item["i"] for item in inside] == np.flatnonzero(session.labels_ == number).tolist()
    assert client.look("items", search="F01")["total"] == 10
    assert client.look("items", search="BLUE", cluster=0)["total"] == sum(
        item["cluster"] == 0 and item["cells"][2] == "blue" for item in everything["items"]
    )
    assert client.look("items", search="(", limit=1)["total"] == 0
    assert [item["i"] for item in client.look("items", rows="5,3,9")["items"]] == [5, 3, 9]
    assert [item["i"] for item in client.look("items", rows="5,4", search="red")["items"]] == [4]
    assert client.look("items", cluster=99)["total"] == 0


@pytest.mark.parametrize(("n_cells", "looks_at_numbers"), [(180, True), (179, False)])
def test_a_search_of_a_very_large_table_looks_at_names_and_words(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_cells: int, looks_at_numbers: bool
) -> None:
    monkeypatch.setattr("cobras.web.panel.N_CELLS", n_cells)
    with serving(dataset, tmp_path / "search.cobras") as client:
        assert client.look("items", search="F01")["total"] == 10
        assert client.look("items", search="blue")["total"] > 0
        assert (client.look("items", search=".")["total"] > 0) == looks_at_numbers


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("items?limit=0", 422),
        ("items?limit=201", 422),
        ("items?offset=-1", 422),
        ("items?rows=1,", 422),
        ("items?rows=" + ",".join(["1"] * 201), 422),
        ("items?rows=60", 404),
        ("item/60", 404),
        ("item/-1", 422),
        ("item/x", 422),
        ("image/3", 404),
        ("image/60", 404),
        ("labels?at=-1", 422),
        ("labels?at=9999", 404),
        ("clusters?n=0", 422),
        ("clusters?n=25", 422),
        ("question?wait=-1", 422),
        ("question?wait=nan", 422),
        ("export?format=exe", 422),
        ("nothing", 404),
    ],
)
def test_what_does_not_exist_is_refused_in_one_sentence(client: Client, path: str, status: int) -> None:
    reply = client.get(f"/api/{path}")
    assert reply.status_code == status
    assert list(reply.json()) == ["message"]


def test_a_card_holds_the_row_and_the_columns_that_differ_most_come_first(
    client: Client, dataset: Dataset
) -> None:
    item = client.look("item/7")
    assert item["id"] == "f007"
    assert [field["name"] for field in item["card"]["fields"]] == ["length", "width", "colour"]
    question = client.look("question")
    if question["state"] == "asking":
        differences = [column["difference"] for column in question["columns"]]
        assert differences == sorted(differences, reverse=True)
        i, j = question["pair"].values()
        apart = dict(zip(dataset.columns, np.abs(dataset.X[i] - dataset.X[j]), strict=True))
        for column in question["columns"]:
            if column["measured"]:
                assert column["difference"] == pytest.approx(apart[column["name"]])


def test_the_page_is_blind_unless_told_otherwise(tmp_path: Path, dataset: Dataset) -> None:
    with serving(dataset, tmp_path / "blind.cobras") as client:
        question = client.answer(dataset.labels, 3)
        assert question["guess"] is question["left"]["cluster"] is question["right"]["colour"] is None
        assert client.look("settings")["blind"] is True
    with serving(dataset, tmp_path / "blind.cobras", blind=False) as client:
        question = client.look("question", wait=60)
        labels = client.labels()
        i, j = question["pair"].values()
        assert question["left"]["cluster"] == labels[i]
        assert question["guess"] == ("same" if labels[i] == labels[j] else "different")


def test_colours_stay_with_clusters(client: Client) -> None:
    before = client.look("labels", at=0)
    for at in range(1, client.look("progress")["progress"]["n_answers"] + 1):
        now = client.look("labels", at=at)
        a, b = (
            np.array(before["colours"])[decode_labels(before)],
            np.array(now["colours"])[decode_labels(now)],
        )
        # No other assignment of colours would let more items keep theirs; there are fewer than ten clusters.
        shared = contingency_matrix(decode_labels(before), decode_labels(now))
        assert (a == b).mean() == pytest.approx(kept_share(shared))
        before = now


def test_html_in_cells_is_text(tmp_path: Path, file: Path) -> None:
    table = tmp_path / "nasty.csv"
    names = [f"{NASTY}{k}" for k in range(30)]
    pl.DataFrame({"id": names, "<b>x": np.arange(30.0) % 7, "note": [NASTY] * 30}).write_csv(table)
    dataset = read_dataset(table, id="id")
    with serving(dataset, file) as client:
        client.look("question", wait=60)
        client.change("name", cluster=0, text=NASTY)
        client.change("tell", **client.look("question")["pair"], answer="different")
        for look in ("question", "items", "item/3", "history", "clusters", "settings"):
            reply = client.get(f"/api/{look}")
            assert reply.headers["content-type"] == "application/json"
            json.loads(reply.text)
        assert client.look("item/3")["id"] == f"{NASTY}3"
        report = client.get("/api/export", params={"format": "html"})
        assert report.headers["content-disposition"].startswith("attachment")
        assert "<script" not in report.text
        assert "<b>x" not in report.text
        assert "&lt;script&gt;" in report.text


def test_the_exports_equal_those_of_a_session(client: Client, session: Session, dataset: Dataset) -> None:
    names = {1: "lilies"}
    table = pl.read_csv(client.get("/api/export?format=csv").content)
    assert client.get("/api/export").content == client.get("/api/export?format=csv").content
    assert table.columns == [*dataset.frame.columns, "cluster_id", "cluster_name", "cluster"]
    assert table["cluster_id"].to_list() == [session.cluster_ids_[c] for c in session.labels_.tolist()]
    assert table["cluster"].to_list() == session.labels_.tolist()
    assert table["cluster_name"].to_list() == [names.get(c) for c in session.labels_.tolist()]
    parquet = pl.read_parquet(io.BytesIO(client.get("/api/export?format=parquet").content))
    assert parquet["species"].to_list() == dataset.labels.tolist()
    assert parquet["cluster"].to_list() == session.labels_.tolist()
    answers = client.get("/api/export?format=answers").json()
    assert [(a["i"], a["j"], a["answer"]) for a in answers] == [
        (dataset.ids[r.pair.i], dataset.ids[r.pair.j], r.answer.name.lower()) for r in session.history
    ]
    pairs = session.constraints()
    constraints = pl.read_csv(client.get("/api/export?format=constraints").content)
    expected = [(dataset.ids[i], dataset.ids[j], "must_link") for i, j in pairs.must_link]
    expected += [(dataset.ids[i], dataset.ids[j], "cannot_link") for i, j in pairs.cannot_link]
    assert constraints.rows() == expected


def test_the_document_names_the_content_types_of_exports(client: Client) -> None:
    document = client.look("openapi.json")["paths"]["/api/export"]["get"]
    (choice,) = (p["schema"] for p in document["parameters"] if p["name"] == "format")
    found = {
        client.get(f"/api/export?format={name}").headers["content-type"].split(";")[0]
        for name in choice["enum"]
    }
    assert found == set(document["responses"]["200"]["content"])


def test_the_report_needs_nothing_else(client: Client, session: Session) -> None:
    page = client.get("/api/export?format=html").text
    assert "http" not in page
    assert not re.search(r"<(button|input|select|script|a|link)\b", page)
    assert page.count("<section ") == int(session.labels_.max()) + 1
    assert page.count("M") >= len(session.labels_)
    ids = session.cluster_ids_
    assert f"<span class=id>{ids[1]}</span><bdi>lilies</bdi>" in page  # what the page calls it
    names = re.findall(r"<text [^>]*>(\d+) ?([^<]*)</text>", page)
    assert sorted(int(number) for number, _ in names) == sorted(ids)
    assert (str(ids[1]), "lilies") in names
    assert "<figcaption><b><bdi>length</bdi></b>" in page  # a profile
    assert page.count("<th class=group") >= len(ids)  # members as a table


def test_the_report_has_the_map_although_no_page_asked_for_it(dataset: Dataset, file: Path) -> None:
    with serving(dataset, file) as client:
        client.first_question()
        page = client.get("/api/export?format=html").text
    assert len(set(re.findall(r"M([\d.]+ [\d.]+)h0", page))) > len(dataset) / 2


def test_pictures_are_pictures(tmp_path: Path, file: Path) -> None:
    with serving(load_demo(), file) as client:
        question = client.look("question", wait=60)
        assert client.look("settings")["kind"] == question["left"]["card"]["kind"] == "image"
        reply = client.get("/" + question["left"]["card"]["src"])
        assert reply.headers["content-type"] == "image/png"
        assert reply.content.startswith(b"\x89PNG")
        assert "max-age" in reply.headers["cache-control"]
        assert client.get(f"/api/image/3?run={'0' * 16}").headers["cache-control"] == "no-store"


def with_cards(dataset: Dataset, card: object) -> Dataset:
    from dataclasses import replace

    return replace(dataset, card=lambda i: card, recipe=Recipe())  # hides all columns


def test_texts_and_series_have_cards_of_their_own(dataset: Dataset, tmp_path: Path) -> None:
    text = Text("word " * 10_000, {"year": 1913})
    with serving(with_cards(dataset, text), tmp_path / "t.cobras") as client:
        item = client.look("item/0")
        assert client.look("settings")["kind"] == item["card"]["kind"] == "text"
        assert item["card"]["cut"] is True
        assert len(item["card"]["text"]) == 20_000
        assert len(item["text"]) <= 80
        assert client.look("question", wait=60)["columns"][0]["name"] == "year"
    wave = np.sin(np.arange(5_000) / 100)
    wave[7] = np.nan
    with serving(with_cards(dataset, Series(np.array([wave, -wave]))), tmp_path / "s.cobras") as client:
        item = client.look("item/0")
        assert client.look("settings")["kind"] == item["card"]["kind"] == "series"
        assert [len(channel) for channel in item["card"]["channels"]] == [1_000, 1_000]
        assert item["card"]["length"] == 5_000
        assert len(item["line"]) == 64
        assert all(v is None or 0 <= v <= 1 for v in item["line"])


def test_a_table_with_a_column_of_texts_is_shown_as_texts(tmp_path: Path, file: Path) -> None:
    table = tmp_path / "stories.csv"
    words = [("goal team season match " * 6, "court law judge trial " * 6)[k % 2] for k in range(40)]
    pl.DataFrame({"story": words, "x": [k % 2 + k / 1000 for k in range(40)]}).write_csv(table)
    dataset = read_dataset(table)
    with serving(dataset, file) as client:
        client.answer(np.arange(40) % 2, 10)
        assert client.look("settings")["kind"] == "text"
        item = client.look("item/0")
        assert item["card"]["text"] == words[0]
        assert [field["name"] for field in item["card"]["fields"]] == ["x"]
        suggestions = [c["suggestion"] for c in client.look("clusters")["clusters"]]
        assert any("goal" in s and "court" not in s for s in suggestions)


def test_a_file_with_semicolons_is_downloaded_with_semicolons(tmp_path: Path) -> None:
    table = tmp_path / "umsatz.csv"
    table.write_text("x;y\n" + "".join(f"{k},5;{k % 3}\n" for k in range(12)))
    with serving(read_dataset(table), tmp_path / "umsatz.cobras") as client:
        content = client.get("/api/export?format=csv").content
    assert content.startswith(b"\xef\xbb\xbfx;y;cluster_id;cluster\n0,5;0;0;0\n")
