"""Whatever is done over HTTP is what the same calls do to a session, and a refusal changes nothing."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobras import Answer, Session
from cobras.core.exceptions import CobrasError, InconsistentAnswersError, InvalidDataError
from tests.web.serving import ANSWERS, Client, decode_labels, flowers, serving

answers = st.sampled_from([1, 0, -1])
some = st.floats(0, 1, exclude_max=True)  # which of those there are at the moment
steps = st.one_of(
    st.tuples(st.just("tell"), answers),
    st.tuples(st.just("tell"), answers),
    st.tuples(st.just("tell"), answers),
    st.tuples(st.just("undo")),
    st.tuples(st.just("redo")),
    st.tuples(st.just("revise"), some, answers),
    st.tuples(st.just("constraint"), some, some, st.sampled_from([1, 0])),
    st.tuples(st.just("revisit"), some, st.sampled_from([1, 0])),
    st.tuples(st.just("mark"), some, st.booleans(), st.booleans()),
    st.tuples(st.just("name"), some, st.sampled_from(["", "bikes", "<b>bold</b>"])),
    st.tuples(st.just("move"), some, some, some),
    st.tuples(st.just("merge"), some, some),
    st.tuples(st.just("split"), some),
    st.tuples(st.just("stale"), answers),
)


def pick(share: float, n: int) -> int:
    return int(share * n)


def do_both(client: Client, session: Session, step: tuple[Any, ...]) -> None:
    """Do a step over HTTP and to the session; where the session refuses, so must the server."""
    kind, *given = step
    pair, n = session.ask(), session.space.n
    n_clusters = int(session.labels_.max()) + 1
    match kind:
        case "tell":
            if pair is None:
                assert client.attempt("tell", i=0, j=1, answer="same").status_code == 409
                return
            reply = client.attempt("tell", i=pair.j, j=pair.i, answer=ANSWERS[given[0]])
            call = (session.tell, Answer(given[0]), pair)
        case "stale":
            wrong = (0, 1) if pair is None or set(pair) != {0, 1} else (0, 2)
            reply = client.attempt("tell", i=wrong[0], j=wrong[1], answer=ANSWERS[given[0]])
            call = (session.tell, Answer(given[0]), wrong)
        case "undo" | "redo":
            reply, call = client.attempt(kind), (getattr(session, kind),)
        case "revise":
            index = pick(given[0], len(session.history) + 1)
            reply = client.attempt("revise", index=index, answer=ANSWERS[given[1]])
            call = (session.revise, index, Answer(given[1]))
        case "constraint":
            i, j = pick(given[0], n), pick(given[1], n)
            reply = client.attempt("constraint", i=i, j=j, answer=ANSWERS[given[2]])
            call = (session.add_constraint, i, j, Answer(given[2]))
        case "revisit":
            if not session.set_aside:
                assert client.attempt("revisit", i=0, j=1, answer="same").status_code == 404
                return
            i, j = session.set_aside[pick(given[0], len(session.set_aside))]
            reply = client.attempt("revisit", i=i, j=j, answer=ANSWERS[given[1]])
            call = (session.add_constraint, i, j, Answer(given[1]))
        case "mark":
            cluster = pick(given[0], n_clusters + 1)
            reply = client.attempt("mark", cluster=cluster, pure=given[1], complete=given[2])
            call = (lambda: session.mark(cluster, pure=given[1], complete=given[2]),)
        case "name":
            cluster = pick(given[0], n_clusters + 1)
            reply = client.attempt("name", cluster=cluster, text=given[1])
            call = (session.name, cluster, given[1])
        case "move":
            rows = [pick(share, n) for share in given[:2]]
            to = pick(given[2], n_clusters + 1)
            body = {"rows": rows, "to": None if to == n_clusters else to}
            reply = act_twice(client, "move", body, lambda: session.after_move(*body.values()))
            call = (session.move, *body.values())
        case "merge":
            body = {key: pick(share, n_clusters + 1) for key, share in zip("ab", given, strict=True)}
            reply = act_twice(client, "merge", body, lambda: session.after_merge(*body.values()))
            call = (session.merge, *body.values())
        case "split":
            cluster = pick(given[0], n_clusters + 1)
            reply, call = client.attempt("split", cluster=cluster), (session.split, cluster)
    error = refusal(*call)
    expected = 200 if error is None else 409
    if isinstance(error, InvalidDataError) and not isinstance(error, InconsistentAnswersError):
        exists = kind == "move" or (kind in ("merge", "split") and max(call[1:]) < n_clusters)
        exists = exists or (kind == "mark" and cluster < n_clusters)
        exists = exists or (kind == "revise" and call[1] < len(session.history))
        expected = 422 if kind == "constraint" or exists else 404
    assert reply.status_code == expected, reply.text
    if isinstance(error, InconsistentAnswersError):
        chain = [(link["i"], link["j"], link["answer"]) for link in reply.json()["chain"]]
        shown = {record["index"]: record["number"] for record in client.look("history")["records"]}
        assert all(link["number"] == shown.get(link["index"]) for link in reply.json()["chain"])
        assert chain == [(p.i, p.j, a.name.lower()) for p, a in error.chain]


def act_twice(client: Client, kind: str, body: dict[str, Any], preview: Any) -> httpx.Response:
    """Ask what it would change, which changes nothing, and do it: the same refusal, or as many items."""
    before = client.look("question", wait=60)
    dry = client.attempt(kind, **body, dry=True)
    assert client.look("question") == before
    reply = client.attempt(kind, **body)
    assert dry.status_code == reply.status_code
    if reply.status_code == 200:
        assert dry.json()["n_changed"] == reply.json()["n_changed"] == preview().n_changed
    return reply


def refusal(action: Any, *arguments: Any) -> CobrasError | None:
    try:
        action(*arguments)
    except CobrasError as error:
        return error
    return None


def agree(client: Client, session: Session) -> None:
    """Compare everything there is to see."""
    question, pair = client.look("question", wait=60), session.ask()
    assert question["pair"] == (None if pair is None else {"i": pair.i, "j": pair.j})
    assert question["state"] == ("done" if pair is None else "asking")
    progress = session.progress
    shown = question["progress"]
    assert shown["n_answers"] == session.n_answers
    assert shown["n_clusters"] == progress.n_clusters
    assert shown["stable_share"] == progress.stable_share
    assert shown["unsatisfied"] == [r.index for r in progress.unsatisfied]
    assert (shown["may_stop"], shown["reason"]) == (progress.may_stop, progress.reason)
    labels = client.look("labels")
    np.testing.assert_array_equal(decode_labels(labels), session.labels_)
    assert labels["ids"] == list(session.cluster_ids_)
    assert len(labels["colours"]) == len(set(labels["colours"])) == progress.n_clusters
    records = client.look("history")["records"]
    assert [(r["answer"], r["kind"], r["in_force"], r["n_pairs"]) for r in records] == [
        (None if r.answer is None else r.answer.name.lower(), r.kind, r.in_force, len(r.said))
        for r in session.history
    ]
    assert [(r["left"]["i"], r["right"]["i"]) for r in records if r["left"]] == [
        tuple(r.pair or r.said[0][0]) for r in session.history if r.pair or r.said
    ]
    assert sum(r["set_aside"] for r in records) >= len(session.set_aside)
    clusters = client.look("clusters")["clusters"]
    assert {c["number"]: c["name"] for c in clusters if c["name"]} == session.names
    assert {
        c["number"]: "complete" if c["complete"] else "pure" for c in clusters if c["pure"]
    } == session.marks
    assert [c["size"] for c in clusters] == np.bincount(session.labels_).tolist()
    assert [c["id"] for c in clusters] == list(session.cluster_ids_)
    assert [c["number"] for c in clusters if c["to_split"]] == list(session.to_split)


@settings(max_examples=max(12, settings().max_examples // 5))
@given(st.lists(steps, max_size=25))
def test_any_sequence_over_http_equals_the_same_on_a_session(tmp_path_factory: Any, todo: list[Any]) -> None:
    folder = tmp_path_factory.mktemp("law")
    dataset = flowers(folder, 30)
    with serving(dataset, folder / "law.cobras") as client:
        session = Session(dataset.X, random_state=0, method="cobras")
        agree(client, session)
        for step in todo:
            do_both(client, session, step)
            agree(client, session)
    with Session.open(folder / "law.cobras", dataset.X, method="cobras") as resumed:  # the file says the same
        assert resumed.ask() == session.ask()
        np.testing.assert_array_equal(resumed.labels_, session.labels_)


def test_every_clustering_of_the_past_can_be_read(tmp_path: Path, file: Path) -> None:
    dataset = flowers(tmp_path)
    session = Session(dataset.X, random_state=0, method="cobras")
    with serving(dataset, file) as client:
        while session.n_answers < 25 and (pair := session.ask()) is not None:
            answer = bool(dataset.labels[pair.i] == dataset.labels[pair.j])
            session.tell(answer, pair)
            client.change("tell", i=pair.i, j=pair.j, answer=answer)
        for q in range(session.n_answers + 1):
            np.testing.assert_array_equal(client.labels(at=q), session.labels_at(q))
        assert client.get("/api/labels", params={"at": session.n_answers + 1}).status_code == 404
        series = client.look("progress")["series"]
    assert series["n_clusters"] == [p.n_clusters for p in session.partitions]
    assert series["stable_share"][:20] == [None] * 20
    assert series["stable_share"][-1] == session.progress.stable_share


@pytest.mark.parametrize("answer", ["same", "SAME", True, 1])
def test_an_answer_may_be_given_in_any_of_its_forms(tmp_path: Path, file: Path, answer: Any) -> None:
    with serving(flowers(tmp_path), file) as client:
        pair = client.look("question", wait=60)["pair"]
        assert client.change("tell", **pair, answer=answer)["message"] == "Saved: same."


@pytest.mark.parametrize("answer", [None, "maybe", 2, [], {}])
def test_nothing_else_is_an_answer(tmp_path: Path, file: Path, answer: Any) -> None:
    with serving(flowers(tmp_path), file) as client:
        before = client.look("question", wait=60)
        assert client.attempt("tell", **before["pair"], answer=answer).status_code == 422
        assert client.look("question") == before


def test_a_repeated_answer_gets_409_and_the_question_that_is_open(tmp_path: Path, file: Path) -> None:
    with serving(flowers(tmp_path), file) as client:
        first = client.look("question", wait=60)["pair"]
        second = client.change("tell", **first, answer="different")
        refused = client.attempt("tell", **first, answer="different")
        assert refused.status_code == 409
        assert refused.json()["error"] == "stale"
        assert refused.json()["question"] == second == client.look("question")


def test_a_change_by_someone_who_has_not_seen_the_last_one_is_refused(tmp_path: Path, file: Path) -> None:
    with serving(flowers(tmp_path), file) as client:
        old = client.look("question", wait=60)
        new = client.change("tell", **old["pair"], answer="different")
        for what, body in (
            ("undo", {}),
            ("revise", {"index": 0, "answer": "same"}),
            ("constraint", {"i": 0, "j": 1, "answer": "same"}),
        ):
            refused = client.attempt(what, **body, revision=old["versions"]["session"])
            assert (refused.status_code, refused.json()["error"]) == (409, "stale")
        for what, body in (
            ("name", {"cluster": 0, "text": "x"}),
            ("mark", {"cluster": 0, "pure": True}),
            ("move", {"rows": [0], "to": None}),
            ("merge", {"a": 0, "b": 1}),
            ("split", {"cluster": 0}),
        ):
            refused = client.attempt(what, **body, version=old["versions"]["labels"] + 99)
            assert (refused.status_code, refused.json()["error"]) == (409, "stale")
        assert client.look("question") == new
        assert client.attempt("undo", revision=new["versions"]["session"]).status_code == 200


def test_two_clients_at_once_lose_and_double_no_answer(tmp_path: Path, file: Path) -> None:
    dataset = flowers(tmp_path, 90)
    accepted: list[tuple[int, int]] = []

    def answer_all(client: Client) -> None:
        with httpx.Client(base_url=client.base_url, headers=client.headers, trust_env=False) as own:
            question = own.get("/api/question").json()
            while question["state"] == "asking" and question["progress"]["n_answers"] < 40:
                pair = question["pair"]
                same = bool(dataset.labels[pair["i"]] == dataset.labels[pair["j"]])
                reply = own.post("/api/tell", json={**pair, "answer": same})
                if reply.status_code == 200:
                    accepted.append((pair["i"], pair["j"]))
                    question = reply.json()
                else:
                    assert reply.status_code == 409
                    question = reply.json()["question"]
                    if question["state"] == "computing":
                        question = own.get("/api/question?wait=60").json()

    with serving(dataset, file) as client:
        client.look("question", wait=60)
        threads = [threading.Thread(target=answer_all, args=(client,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        kept = [(r["left"]["i"], r["right"]["i"]) for r in client.look("history")["records"]]
    assert len(kept) >= 40
    assert len(set(kept)) == len(kept)
    assert sorted(kept) == sorted(accepted)


def test_methods_without_marks_say_so(tmp_path: Path, file: Path) -> None:
    options = {"method": "min_max", "n_clusters": 3}
    with serving(flowers(tmp_path), file, session=options) as client:
        client.first_question()
        assert client.look("clusters")["can_mark"] is False
        refused = client.attempt("mark", cluster=0, pure=True)
        assert (refused.status_code, refused.json()["error"]) == (409, "refused")


def test_a_method_that_cannot_split_on_request_says_so(tmp_path: Path, file: Path) -> None:
    options = {"method": "min_max", "n_clusters": 3}
    with serving(flowers(tmp_path), file, session=options) as client:
        client.first_question()
        assert client.look("clusters")["can_split"] is False
        refused = client.attempt("split", cluster=0)
        assert (refused.status_code, refused.json()["error"]) == (409, "refused")


def test_what_a_person_does_to_clusters_is_undone_and_contradictions_name_the_answers(
    tmp_path: Path, file: Path
) -> None:
    dataset = flowers(tmp_path)
    with serving(dataset, file) as client:
        client.answer(dataset.labels, 8)
        shown, labels = client.look("labels"), client.labels()
        kind_of = {int(labels[i]): dataset.labels[i] for i in range(len(labels))}
        a, b = 0, 1
        assert kind_of[a] != kind_of[b]
        refused = client.attempt("merge", a=a, b=b)
        assert (refused.status_code, refused.json()["error"]) == (409, "contradiction")
        records = client.look("history")["records"]
        for link in refused.json()["chain"]:
            assert records[link["index"]]["answer"] == link["answer"]
        dry = client.change("merge", a=a, b=b, anyway=True, dry=True)
        assert {link["index"] for link in dry["taken_back"]} & {
            link["index"] for link in refused.json()["chain"]
        }
        assert client.look("history")["records"] == records
        done = client.change("merge", a=a, b=b, anyway=True)
        assert done["n_changed"] == dry["n_changed"]
        out = [r["index"] for r in client.look("history")["records"][:-1] if not r["in_force"]]
        assert out == [link["index"] for link in dry["taken_back"]]
        assert client.change("undo")["message"] == "Taken back: a merge, which took back answers."
        assert {**client.look("labels"), "version": 0} == {**shown, "version": 0}
        row = int(np.flatnonzero(labels == a)[-1])
        moved = client.change("move", rows=[row], to=b)
        assert (moved["n_changed"], client.labels()[row]) == (
            1,
            client.labels()[np.flatnonzero(labels == b)[-1]],
        )
        assert moved["message"] == f"Moved 1 item to cluster {shown['ids'][b]}."
        against = {"a": int(client.labels()[row]), "b": int(client.labels()[np.flatnonzero(labels == a)[0]])}
        dry = client.change("merge", **against, anyway=True, dry=True)
        assert {(link["kind"], link["number"] is None) for link in dry["taken_back"]} >= {("move", True)}
        assert client.change("undo")["message"] == "Taken back: the move of 1 item."
        with_it = int(np.flatnonzero(labels == a)[-2])
        client.change("constraint", i=row, j=with_it, answer="same")
        assert client.change("move", rows=[row], to=b)["message"] == (
            f"Moved 1 item to cluster {shown['ids'][b]}. 1 more item changed cluster with that."
        )
        assert client.change("undo")["message"] == "Taken back: the move of 2 items."
        client.change("undo")
        assert {**client.look("labels"), "version": 0} == {**shown, "version": 0}
        inside = client.change("split", cluster=a)
        assert client.look("clusters")["clusters"][a]["to_split"] is True
        assert [labels[inside["pair"][side]] for side in "ij"] == [a, a]
        assert client.change("undo")["message"] == "Taken back: a split."
        for what, body in (
            ("move", {"rows": [len(labels)], "to": 0}),
            ("move", {"rows": [0], "to": 99}),
            ("merge", {"a": 0, "b": 99}),
            ("split", {"cluster": 99}),
        ):
            assert client.attempt(what, **body).status_code == 404


def test_a_session_that_was_left_goes_on(tmp_path: Path, file: Path) -> None:
    dataset = flowers(tmp_path)
    with serving(dataset, file) as client:
        before = client.answer(dataset.labels, 12)
        client.change("name", cluster=0, text="roses")
        labels = client.look("labels")
    with serving(dataset, file) as client:
        after = client.look("question", wait=60)
        assert after["pair"] == before["pair"]
        assert after["run"] != before["run"]
        assert after["saved_at"] is not None
        assert client.look("clusters")["clusters"][0]["name"] == "roses"
        assert {**client.look("labels"), "version": 0} == {**labels, "version": 0}
