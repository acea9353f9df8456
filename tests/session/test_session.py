"""The session: what a person can do, see, and get wrong."""

import copy
import json
import os
import pickle
import threading

import numpy as np
import polars as pl
import pytest

from cobras import (
    Answer,
    CobrasError,
    InvalidDataError,
    Session,
    serve,
)
from tests.session import X, answered, y


@pytest.fixture
def session():
    return answered(0)


# -- the loop ----------------------------------------------------------------------------------------------------


def test_the_loop_of_the_readme(session):
    while (pair := session.ask()) is not None and session.n_answers < 25:
        session.tell(Answer.SAME if y[pair.i] == y[pair.j] else Answer.DIFFERENT, pair)
    assert session.n_answers == 25
    assert len(session.labels_) == 150


def test_a_method_of_ones_own():
    from cobras.methods.cobra import cobra

    def three(space, constraints, seed, *, k: int = 3):
        return cobra(space, constraints, seed, n_super_instances=k)

    assert Session(X, three, random_state=0).partition.n_clusters == 3
    assert (
        Session(X, "cobras.methods.cobra:cobra", n_super_instances=4, random_state=0).partition.n_clusters
        == 4
    )
    with pytest.raises(InvalidDataError, match="There is no method 'kmeans'"):
        Session(X, "kmeans")
    with pytest.raises(InvalidDataError, match="cobras has no option depth"):
        Session(X, depth=3, method="cobras")


def test_a_partial_function_is_a_method():
    from functools import partial

    from cobras.methods.cobra import cobra

    assert Session(X, partial(cobra, n_super_instances=7), random_state=0).partition.n_clusters == 7


def test_a_session_file_takes_a_clusterer_by_name_and_free_options_as_they_come(tmp_path):
    from cobras import MPCKMeans

    with pytest.raises(InvalidDataError, match="stores names and numbers, but clusterer is MPCKMeans"):
        Session.open(tmp_path / "s.cobras", X, "npu", clusterer=MPCKMeans(3))
    with Session.open(tmp_path / "s.cobras", X, "npu", n_clusters=3) as s:
        s.tell(True, s.ask())
    with Session.open(tmp_path / "s.cobras", X) as s:
        assert s.n_answers == 1
    grid = {"k_max": 3, "n_eps": 2, "max_min_points": 2, "max_neighbors": 2, "n_sigma": 2}
    for n_jobs in (1, 2):
        with Session.open(tmp_path / "pool.cobras", X, "cobs", **grid, n_jobs=n_jobs) as s:
            assert s.ask() is not None


# -- looking -----------------------------------------------------------------------------------------------------


def test_labels_of_past_answers_share_their_arrays():
    session = answered(120)
    arrays = {
        id(s.members): len(s) for p in session.partitions for c in p.clusters for s in c.super_instances
    }
    assert sum(arrays.values()) < 15 * len(X)  # 121 arrays of labels would be eight times as much
    assert session.labels_at(0).max() == 0
    np.testing.assert_array_equal(session.labels_at(120), session.labels_)
    with pytest.raises(InvalidDataError, match="There are 120 answers"):
        session.labels_at(121)


def test_export(tmp_path):
    session = answered(30)
    session.name(0, "setosa")
    ids = [f"flower {i}" for i in range(150)]
    for suffix, read in ((".csv", pl.read_csv), (".parquet", pl.read_parquet), (".json", pl.read_json)):
        path = tmp_path / f"labels{suffix}"
        session.export(path, ids=ids)
        table = read(path)
        assert table.columns == ["id", "cluster_id", "cluster_name", "cluster"]
        assert table["id"].to_list() == ids
        assert table["cluster"].to_list() == session.labels_.tolist()
        assert table["cluster_id"].to_list() == [session.cluster_ids_[label] for label in session.labels_]
    session.export_answers(tmp_path / "answers.json")
    answers = json.loads((tmp_path / "answers.json").read_text())
    assert [a["answer"] for a in answers] == [r.answer.name.lower() for r in session.history]
    with pytest.raises(InvalidDataError):
        session.export(tmp_path / "labels.docx")


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX permissions")
def test_what_is_exported_is_private_and_escaped(tmp_path):
    session = Session([[0.0], [0.1], [5.0]], random_state=0, method="cobras")
    ids = ["=1+1", "b", "c"]
    session.tell(True, session.ask())
    for name in ("a.csv", "a.parquet"):
        session.export(tmp_path / name, ids=ids)
        session.export_answers(tmp_path / f"answers-{name}", ids=ids)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    assert pl.read_csv(tmp_path / "a.csv")["id"].to_list() == ["'=1+1", "b", "c"]
    (tmp_path / "a.csv").chmod(0o644)  # as somebody wants it
    session.export(tmp_path / "a.csv", ids=ids, escape=False)
    session.export_answers(tmp_path / "b.csv", ids=ids, escape=False)
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o644
    assert pl.read_csv(tmp_path / "a.csv")["id"].to_list() == ids
    assert not any("'" in (tmp_path / name).read_text() for name in ("a.csv", "b.csv"))


# -- arguments that are none -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda s: s.add_constraint(1.5, 2, True), "A row is given by a whole number, not by 1.5"),
        (lambda s: s.add_constraint(1, "2", True), "A row is given by a whole number, not by '2'"),
        (lambda s: s.add_constraint(True, 2, True), "A row is given by a whole number, not by True"),
        (lambda s: s.name(0, None), "The name of a cluster is a text of whole characters, not None"),
        (lambda s: s.name(0, "\ud800"), "The name of a cluster is a text of whole characters"),
        (lambda s: s.name("a", "b"), "A cluster is given by its number, not by 'a'"),
        (lambda s: s.mark("a"), "A cluster is given by its number, not by 'a'"),
        (lambda s: s.mark(None, pure=True), "A cluster is given by its number, not by None"),
        (lambda s: s.revise("a", True), "An answer is given by a whole number, not by 'a'"),
        (lambda s: s.labels_at("x"), "A clustering is given by a whole number, not by 'x'"),
        (lambda s: s.labels_at(1.0), "A clustering is given by a whole number, not by 1.0"),
        (lambda s: s.tell(True, None), "An answer is for a pair of rows, as ask.. returns it, not for None"),
        (lambda s: s.tell(True, (1, 2, 3)), "An answer is for a pair of rows"),
        (lambda s: s.tell(True, ("a", "b")), "An answer is for a pair of rows"),
        (lambda s: Session(X, ["cobras"]), "There is no method"),
        (lambda s: Session(X, "os"), "There is no method 'os'"),
        (lambda s: Session(X, "os:sep"), "There is no method 'os:sep'"),
        (lambda s: Session(X, lambda space, constraints, seed: 5).ask(), "but it returned 5"),
        (lambda s: Session(X, lambda space: None), "<lambda> is no method: it must take a space"),
        (lambda s: Session(X, dict), "dict is no method: it must take a space"),
        (lambda s: Session(X, ends_at_once).ask(), "The method has ended"),
        (
            lambda s: Session(X, yields_a_pair).ask(),
            r"yields Step\(pair, partition\), but it yielded \(0, 1\)",
        ),
        (lambda s: Session.open(3, X), "A session file is given by its path, a text or a Path, not by 3"),
        (lambda s: Session.open(b"a.cobras", X), "A session file is given by its path"),
        (lambda s: Session.open("", X), "A session file is given by its path"),
        (lambda s: Session.from_labels(X, [1] * len(X), path=3), "A session file is given by its path"),
        (lambda s: s.export(None), "A file is given by its path, a text or a Path, not by None"),
        (lambda s: s.export_answers([]), "A file is given by its path"),
        (lambda s: serve(X, 3), "A session file is given by its path"),
        (
            lambda s: s.widget(height="high"),
            "The height of a widget is given by a whole number, not by 'high'",
        ),
        (lambda s: s.widget(height=0), "A widget is one pixel high or more, not 0"),
        (copy.copy, "neither copied nor pickled"),
        (copy.deepcopy, "neither copied nor pickled"),
        (pickle.dumps, "neither copied nor pickled"),
    ],
)
def test_a_wrong_argument_gets_a_sentence(session, call, sentence):
    session.tell(True, session.ask())
    with pytest.raises(CobrasError, match=sentence) as caught:
        call(session)
    assert "\n" not in str(caught.value)
    assert len(session.history) == 1


def ends_at_once(space, constraints, seed):
    return
    yield


def yields_a_pair(space, constraints, seed):
    yield (0, 1)


# -- threads -----------------------------------------------------------------------------------------------------


def test_threads_take_turns(tmp_path):
    errors = []
    with Session.open(tmp_path / "s.cobras", X, random_state=0, method="cobras") as session:

        def work(number):
            for n in range(30):
                try:
                    match (number + n) % 5:
                        case 0:
                            session.undo()
                        case 1:
                            session.name(0, f"{number} {n}")
                        case 2:
                            assert len(session.labels_) == 150
                            assert session.progress.n_answers >= 0
                            assert len(session.partitions) > 0
                            session.question_after(Answer.SAME)()
                        case _:
                            pair = session.ask()
                            session.tell(y[pair.i] == y[pair.j], pair)
                except CobrasError:  # another thread was first
                    pass
                except Exception as error:
                    errors.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        expected = session.history, session.names, session.ask(), session.labels_.tolist()
    with Session.open(tmp_path / "s.cobras", X) as session:
        assert (session.history, session.names, session.ask(), session.labels_.tolist()) == expected
