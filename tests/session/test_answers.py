"""What a person says: answers, constraints, marks and names, and changing one's mind."""

import numpy as np
import pytest

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
from tests.session import X, answered, y


@pytest.fixture
def session():
    return answered(0)


def test_answers_come_as_answer_bool_none_or_name(session):
    for value in (Answer.SAME, True, np.True_, "same", 1, np.int64(1)):
        session.tell(value, session.ask())
        assert session.undo().answer is Answer.SAME
    session.tell(None, session.ask())
    assert session.undo().answer is Answer.UNSURE


@pytest.mark.parametrize("other", [0.5, float("inf"), "text"])
def test_a_pair_is_named_by_whole_numbers(session, other):
    pair = session.ask()
    for i, j in ((pair.i + 0.5, pair.j), (str(pair.i), str(pair.j)), (other, pair.j)):
        with pytest.raises(InvalidDataError, match="for a pair of rows, as ask"):
            session.tell(True, (i, j))
    assert session.n_answers == 0


@pytest.mark.parametrize("rows", [0, None, 1.5])
def test_rows_that_are_moved_are_a_list(session, rows):
    with pytest.raises(InvalidDataError, match="Rows are given as a list of row numbers, not as"):
        session.move(rows, None)


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
    session = Session([[0.0]], method="cobras")
    assert session.ask() is None
    with pytest.raises(StaleQuestionError, match="no open question"):
        session.tell(True, (0, 0))


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
    session = run(Session(X[:30], random_state=0, method="cobras"), lambda i, j: None)
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


def test_names_stay_with_most_of_what_was_named():
    """ADDER places most rows anew after every answer, but not those that were answered."""
    session = answered(15, method="adder")
    named = dict(enumerate(map(str, range(session.partition.n_clusters))))
    before = session.labels_
    for number, text in named.items():
        session.name(number, text)
    for n in (16, 18, 25):
        run(session, LabelOracle(y), until=lambda s, n=n: s.n_answers >= n)
        assert session.names
        for number, text in session.names.items():
            old = int(text)
            assert np.bincount(session.labels_[before == old]).argmax() == number


def test_a_name_is_one_event(tmp_path):
    """A kill between two events would lose the old name."""
    with Session.open(tmp_path / "s.cobras", X, random_state=0, method="cobras") as session:
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
