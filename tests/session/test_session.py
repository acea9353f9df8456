"""The session: what a person can do, see, and get wrong."""

import copy
import json
import pickle
import threading

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris

from cobras import (
    Answer,
    CobrasError,
    InconsistentAnswersError,
    InvalidDataError,
    LabelOracle,
    Session,
    StaleQuestionError,
    run,
)

X, y = load_iris(return_X_y=True)


@pytest.fixture
def session():
    return Session(X, random_state=0)


def answered(n, **options):
    session = Session(X, random_state=0, **options)
    return run(session, LabelOracle(y), until=lambda s: s.n_answers >= n)


# -- the loop ----------------------------------------------------------------------------------------------------


def test_the_loop_of_the_readme(session):
    while (pair := session.ask()) is not None and session.n_answers < 25:
        session.tell(Answer.SAME if y[pair.i] == y[pair.j] else Answer.DIFFERENT, pair)
    assert session.n_answers == 25
    assert len(session.labels_) == 150


def test_answers_come_as_answer_bool_none_or_name(session):
    for value in (Answer.SAME, True, np.True_, "same", 1, np.int64(1)):
        session.tell(value, session.ask())
        assert session.undo().answer is Answer.SAME
    session.tell(None, session.ask())
    assert session.undo().answer is Answer.UNSURE


def test_a_stale_answer_is_refused(session):
    pair = session.ask()
    session.tell(False, pair)
    new = session.ask()
    with pytest.raises(StaleQuestionError) as caught:
        session.tell(True, pair)
    assert str(caught.value) == (
        f"Answer is for pair ({pair.i}, {pair.j}), but the open question is ({new.i}, {new.j}). Call ask() again."
    )
    assert session.n_answers == 1


def test_an_answer_when_nothing_is_open_is_refused():
    session = Session([[0.0]])
    assert session.ask() is None
    with pytest.raises(StaleQuestionError, match="no open question"):
        session.tell(True, (0, 0))


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
        Session(X, depth=3)


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


# -- unsure ------------------------------------------------------------------------------------------------------


def test_unsure_tries_two_further_pairs_then_goes_on(session):
    asked = []
    for _ in range(3):
        asked.append(session.ask())
        session.skip(session.ask())
    assert len(set(asked)) == 3
    assert session.n_answers == 3
    assert session.set_aside == tuple(p.ordered for p in asked)
    assert len(session.constraints().must_link) == len(session.constraints().cannot_link) == 0


def test_somebody_always_unsure_is_left_in_peace():
    session = run(Session(X[:30], random_state=0), lambda i, j: None)
    assert session.ask() is None
    assert len({p.ordered for p in session.set_aside}) == session.n_answers


def test_a_pair_set_aside_is_settled_by_revising(session):
    pair = session.ask()
    session.skip(pair)
    assert session.progress.n_set_aside == 1
    session.revise(0, Answer.SAME)
    assert session.set_aside == ()
    assert session.progress.n_set_aside == 0
    assert session.constraints().must_link.tolist() == [sorted(pair)]


def test_a_constraint_wakes_a_method_that_had_nothing_left_to_ask():
    X2 = np.array([[0.0], [0.1], [9.0], [9.1]])
    session = run(Session(X2, "cobra", n_super_instances=2, random_state=0), lambda i, j: None)
    assert session.ask() is None
    assert session.partition.n_clusters == 2
    session.add_constraint(*session.set_aside[0], Answer.SAME)
    assert session.partition.n_clusters == 1
    session.undo()
    assert session.partition.n_clusters == 2


# -- changing one's mind -----------------------------------------------------------------------------------------


def test_undo_and_redo_to_any_depth():
    session = answered(40)
    labels = session.labels_.copy()
    for _ in range(40):
        session.undo()
    assert session.n_answers == 0
    with pytest.raises(CobrasError, match="nothing to undo"):
        session.undo()
    for _ in range(40):
        session.redo()
    np.testing.assert_array_equal(session.labels_, labels)
    with pytest.raises(CobrasError, match="nothing to redo"):
        session.redo()


def test_a_new_answer_ends_redo(session):
    session.tell(True, session.ask())
    session.undo()
    session.tell(False, session.ask())
    with pytest.raises(CobrasError, match="nothing to redo"):
        session.redo()


def test_revise_says_which_later_answers_no_longer_apply():
    """CL(0, 2), CL(0, 1), ML(1, 2); then 0 and 1 are the same after all, so 1 and 2 cannot be."""
    session = Session([[0.0], [1.0], [3.0]], "cobra", n_super_instances=3, random_state=0)
    truth = {(0, 1): False, (0, 2): False, (1, 2): True}
    session.add_constraint(0, 2, Answer.DIFFERENT)
    run(session, lambda i, j: truth[tuple(sorted((i, j)))])
    at = {tuple(r.pair.ordered): r.index for r in session.history}
    revision = session.revise(at[0, 1], Answer.SAME)
    assert [tuple(r.pair.ordered) for r in revision.no_longer_apply] == [(1, 2)]
    assert [r.in_force for r in session.history] == [r.index != at[1, 2] for r in session.history]
    assert session.labels_.tolist() == [0, 0, 1]
    assert session.revise(at[0, 1], Answer.DIFFERENT).no_longer_apply == ()
    assert all(r.in_force for r in session.history)


def test_revise_against_earlier_answers_is_refused_and_changes_nothing():
    session = Session([[0.0], [1.0], [3.0]], "cobra", n_super_instances=3, random_state=0)
    session.add_constraint(0, 1, Answer.SAME)
    session.add_constraint(1, 2, Answer.SAME)
    session.add_constraint(0, 2, Answer.SAME)
    with pytest.raises(InconsistentAnswersError, match="0 and 1 are same, 1 and 2 are same"):
        session.revise(2, Answer.DIFFERENT)
    assert session.history[2].answer is Answer.SAME


@pytest.mark.parametrize("index", [-1, 5])
def test_revise_names_the_range(index):
    with pytest.raises(InvalidDataError, match=f"There is no answer {index}; the history holds 5"):
        answered(5).revise(index, True)


# -- constraints, marks, names -----------------------------------------------------------------------------------


def test_a_volunteered_constraint_is_never_asked_and_never_counted(session):
    pair = session.ask()
    session.add_constraint(*pair, False)
    assert session.n_answers == 0
    assert session.ask() != pair
    assert session.history[0].kind == "constraint"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((0, 150, True), "no row 150"),
        ((-1, 1, True), "no row -1"),
        ((3, 3, True), "two different rows"),
        ((1, 2, None), "SAME or"),
    ],
)
def test_bad_constraints(session, arguments, sentence):
    with pytest.raises(InvalidDataError, match=sentence):
        session.add_constraint(*arguments)
    assert session.history == ()


def test_a_contradicting_constraint_is_refused_with_its_chain():
    session = answered(30)
    ml = session.constraints().must_link[0]
    with pytest.raises(InconsistentAnswersError, match="contradicts earlier answers"):
        session.add_constraint(*ml, Answer.DIFFERENT)
    assert len(session.history) == 30


def test_a_pure_cluster_is_not_split_and_a_complete_one_not_asked_about():
    session = answered(12)
    assert session.partition.n_clusters >= 2
    kept = {tuple(s.members) for s in session.partition.clusters[0].super_instances}
    session.mark(cluster=0, complete=True)
    assert session.marks == {0: "complete"}
    inside = set(np.concatenate([np.array(m) for m in kept]).tolist())
    for _ in range(40):
        if (pair := session.ask()) is None:
            break
        assert not inside & set(pair)
        session.tell(y[pair.i] == y[pair.j], pair)
    assert {tuple(s.members) for c in session.partition.clusters for s in c.super_instances} >= kept


@pytest.mark.parametrize("method", ["cobras", "cobra", "adder"])
def test_a_mark_changes_no_label(method):
    for n in range(2, 14):
        session = run(
            Session(X, method, random_state=1), LabelOracle(y), until=lambda s, n=n: s.n_answers >= n
        )
        before = session.labels_
        for cluster in range(session.partition.n_clusters):
            session.mark(cluster, complete=True)
            np.testing.assert_array_equal(session.labels_, before)
            session.undo()
            session.mark(cluster, pure=True)
            np.testing.assert_array_equal(session.labels_, before)


def test_pure_marks_end_the_questions_inside():
    session = answered(12)
    for cluster in range(session.partition.n_clusters):
        session.mark(cluster, pure=True)
    assert session.ask() is None
    assert session.progress.reason == "Nothing is left worth asking."
    session.mark(0)
    session.undo()
    session.undo()
    assert session.ask() is not None


def test_names_follow_their_representative():
    session = answered(20)
    session.name(cluster=1, text="bikes")
    session.name(cluster=1, text=" boats ")
    assert session.names == {1: "boats"}
    run(session, LabelOracle(y), until=lambda s: s.n_answers >= 60)
    assert list(session.names.values()) == ["boats"]
    session.name(next(iter(session.names)), "")
    assert session.names == {}
    with pytest.raises(InvalidDataError, match="There is no cluster 99"):
        session.name(99, "x")


def test_a_name_is_one_event(tmp_path):
    """A kill between two events would lose the old name."""
    with Session.open(tmp_path / "s.cobras", X, random_state=0) as session:
        run(session, LabelOracle(y), until=lambda s: s.n_answers >= 20)
        for n, text in enumerate(["a", "b", "", "c"], 1):
            session.name(1, text)
            assert len(session._file.events()) == 20 + n
            assert session.names == ({1: text} if text else {})
    with Session.open(tmp_path / "s.cobras", X) as session:
        assert session.names == {1: "c"}


def test_the_old_name_goes_where_two_named_clusters_have_become_one():
    session = Session([[0.0], [1.0], [3.0]], "cobra", n_super_instances=3, random_state=0)
    for cluster in range(3):
        session.name(cluster, f"name {cluster}")
    run(session, lambda i, j: True)
    assert session.partition.n_clusters == 1
    session.name(0, "all")
    assert session.names == {0: "all"}
    assert list(session._history.names.values()) == ["all"]


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
        assert table.columns == ["id", "cluster", "cluster_name"]
        assert table["id"].to_list() == ids
        assert table["cluster"].to_list() == session.labels_.tolist()
    session.export_answers(tmp_path / "answers.json")
    answers = json.loads((tmp_path / "answers.json").read_text())
    assert [a["answer"] for a in answers] == [r.answer.name.lower() for r in session.history]
    with pytest.raises(InvalidDataError):
        session.export(tmp_path / "labels.docx")


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
        (lambda s: Session(X, None), "There is no method None"),
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
    with Session.open(tmp_path / "s.cobras", X, random_state=0) as session:

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
