"""Boards over HTTP: what is sorted there is what the same calls do to a session, and a refusal changes nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobras import Session
from cobras.core.exceptions import InconsistentAnswersError
from cobras.data import read_dataset
from cobras.web.api.piles import component
from tests.web.api.test_changes import refusal
from tests.web.serving import Client, flowers, serving


def open_board(client: Client, **query: Any) -> dict[str, list[int]]:
    found = client.look("board", **query)
    return {
        "cards": [item["i"] for item in found["cards"]],
        "piles": [pile["row"] for pile in found["piles"]],
    }


def truth(board: dict[str, list[int]], labels: Any) -> list[list[int]]:
    """The groups of a person who knows the labels."""
    rows = board["cards"] + board["piles"]
    return [[row for row in rows if labels[row] == label] for label in sorted(set(labels))]


@settings(max_examples=6, deadline=None)
@given(data=st.data(), method=st.sampled_from(["adder", "cobras"]))
def test_sorting_is_what_a_session_does(
    data: st.DataObject, method: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("piles")
    dataset = flowers(folder, n=40)
    twin = Session(dataset.X, method, random_state=0)
    with serving(dataset, folder / "a.cobras", session={"method": method}) as client:
        client.first_question()
        for _ in range(5):
            n = data.draw(st.integers(2, 7))
            shown, board = open_board(client, n=n), twin.board(n)
            assert (tuple(shown["cards"]), tuple(shown["piles"])) == (
                (board.cards, board.piles) if board else ((), ())
            )
            if board is None:
                break
            slots = st.one_of(st.none(), st.integers(0, len(board.piles) + 1))
            chosen = [data.draw(slots) for _ in board.cards]
            groups = [
                [
                    *board.piles[slot : slot + 1],
                    *(c for c, s in zip(board.cards, chosen, strict=True) if s == slot),
                ]
                for slot in range(len(board.piles) + 2)
            ]
            reply = client.attempt("sort", **shown, groups=groups)
            error = refusal(twin.sort, board, groups)
            assert reply.status_code == (200 if error is None else 409), reply.text
            if isinstance(error, InconsistentAnswersError):
                links = [(link["i"], link["j"], link["answer"]) for link in reply.json()["chain"]]
                assert links == [(p.i, p.j, a.name.lower()) for p, a in error.chain]
            pair = twin.ask()
            assert client.look("question")["pair"] == (pair and {"i": pair.i, "j": pair.j})
            assert client.labels().tolist() == twin.labels_.tolist()


def test_what_a_board_shows(tmp_path: Path, file: Path) -> None:
    dataset = flowers(tmp_path, n=60, n_kinds=5)
    with serving(dataset, file) as client:
        client.answer(dataset.labels, 10)
        client.change("name", cluster=0, text="roses")
        for _ in range(3):
            shown = open_board(client)
            client.change("sort", **shown, groups=truth(shown, dataset.labels))
        board, question = client.look("board"), client.look("question")
        assert (board["run"], board["version"]) == (question["run"], question["versions"]["session"])
        assert len(board["cards"]) <= 6
        assert len(board["piles"]) <= 8
        assert sorted(board["columns"]) == ["colour", "length", "width"]
        assert all(item["cluster"] is None and item["colour"] is None for item in board["cards"])
        labels, ids = client.labels(), client.look("labels")["ids"]
        for pile in board["piles"]:
            assert pile["cluster"] == ids[labels[pile["row"]]]
            rows = [member["i"] for member in pile["members"]]
            assert rows[0] == pile["row"]
            assert 1 <= len(rows) <= 4
            assert len({dataset.labels[row] for row in rows}) == 1  # said by the person, who made no error
        assert any(len(pile["members"]) == 4 for pile in board["piles"])
        named = {pile["name"] for pile in board["piles"] if labels[pile["row"]] == 0}
        assert named <= {"roses"}
        assert "secret" not in client.get("/api/board").text


def test_the_members_of_a_pile_are_the_nearest_by_links() -> None:
    linked = {1: [2], 2: [1, 3], 3: [2, 4], 4: [3, 1], 9: [8]}
    assert component(linked, 1, 3) == [1, 2, 3]
    assert component(linked, 7, 4) == [7]


def test_a_stale_board_changes_nothing(tmp_path: Path, file: Path) -> None:
    dataset = flowers(tmp_path)
    with serving(dataset, file) as client:
        question = client.answer(dataset.labels, 2)
        old = open_board(client)
        refused = client.attempt("sort", **old, groups=[], revision=question["versions"]["session"] - 1)
        assert (refused.status_code, refused.json()["error"]) == (409, "stale")
        client.answer(dataset.labels, 1)
        refused = client.attempt("sort", **old, groups=truth(old, dataset.labels))
        assert (refused.status_code, refused.json()["error"]) == (409, "stale")
        assert client.look("question")["progress"]["n_answers"] == 3
        client.change("undo")  # then the board is good again
        assert open_board(client) == old
        client.change("sort", **old, groups=truth(old, dataset.labels))
        assert client.look("question")["message"] == f"Saved: a board of {len(old['cards'])} cards."
        assert client.change("undo")["message"] == f"Taken back: a board of {len(old['cards'])} cards."
        assert open_board(client) == old
        client.change("redo")
    with Session.open(file, dataset.X, method="cobras") as kept:
        assert [record.kind for record in kept.history] == ["answer", "answer", "board"]


def test_of_two_that_sort_one_is_stale(tmp_path: Path, file: Path) -> None:
    dataset = flowers(tmp_path)
    with serving(dataset, file) as client:
        client.first_question()
        for _ in range(4):
            board = open_board(client)
            body = {**board, "groups": truth(board, dataset.labels)}
            with ThreadPoolExecutor(3) as pool:
                replies = [pool.submit(client.attempt, "sort", **body) for _ in range(3)]
            assert sorted(reply.result().status_code for reply in replies) == [200, 409, 409]
        assert client.look("question")["progress"]["n_answers"] == 4


def test_a_contradiction_comes_with_its_chain(tmp_path: Path, file: Path) -> None:
    dataset = flowers(tmp_path, n_kinds=4)
    with serving(dataset, file, session={"method": "cobras"}) as client:
        client.first_question()
        for _ in range(30):
            board = open_board(client)
            assert board["cards"], "no board whose cards are known to differ from a pile"
            history = client.look("history")
            # All in one group: wrong wherever two of the piles are known to be different.
            refused = client.attempt("sort", **board, groups=[board["cards"] + board["piles"]])
            if refused.status_code == 409:
                break
            client.change("undo")
            client.change("sort", **board, groups=truth(board, dataset.labels))
        body = refused.json()
        assert body["error"] == "contradiction"
        assert body["chain"]
        assert all(link["index"] is not None for link in body["chain"])
        assert client.look("history") == history
        assert open_board(client) == board


@pytest.mark.parametrize(
    "wrong",
    [
        {"groups": [[999_999]]},  # not on the board
        {"groups": "twice"},
        {"cards": [3, 3], "groups": []},
        {"cards": [], "groups": []},
        {"cards": list(range(13)), "groups": []},
        {"groups": [[-1]]},
        {"more": 1, "groups": []},
    ],
)
def test_a_malformed_sort(tmp_path: Path, file: Path, wrong: dict[str, Any]) -> None:
    with serving(flowers(tmp_path), file) as client:
        client.first_question()
        board = open_board(client)
        if wrong["groups"] == "twice":
            wrong = {"groups": [board["cards"][:2], board["cards"][1:]]}
        assert client.attempt("sort", **{**board, **wrong}).status_code == 422
        assert client.look("question")["progress"]["n_answers"] == 0


def test_without_a_question_there_is_no_board(tmp_path: Path, file: Path) -> None:
    dataset = flowers(tmp_path, n=8, n_kinds=2)
    with serving(dataset, file) as client:
        client.answer(dataset.labels, 99)
        assert client.look("question")["state"] == "done"
        assert open_board(client) == {"cards": [], "piles": []}


def test_boards_come_by_themselves_for_short_texts(tmp_path: Path, file: Path) -> None:
    for length, expected in ((4, True), (90, False)):
        texts = [" ".join([f"word{k}", f"and{k % 3}", "some", "more"] * length) for k in range(12)]
        pl.DataFrame({"text": texts}).write_csv(tmp_path / "texts.csv")
        data = read_dataset(tmp_path / "texts.csv", text="text")
        with serving(data, tmp_path / f"{length}.cobras") as client:
            assert client.look("settings")["boards"] is expected
    with serving(flowers(tmp_path), file) as client:
        assert client.look("settings")["boards"] is False


def test_the_counts_of_the_page_agree_with_its_history(tmp_path: Path, file: Path) -> None:
    dataset = flowers(tmp_path, n=40)
    with serving(dataset, file) as client:
        client.answer(dataset.labels, 6)
        board = open_board(client)
        question = client.change("sort", **board, groups=[board["cards"][:1]])
        records = client.look("history")["records"]
        assert question["progress"]["n_set_aside"] == sum(r["set_aside"] for r in records) == 1
        assert records[-1]["n_set_aside"] > 1
        unsatisfied = [r["index"] for r in records if not r["satisfied"]]
        assert question["progress"]["unsatisfied"] == unsatisfied
