"""Laws of the journal: whatever a person does, replay, undo and resume show the same as before."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobras import Answer, InconsistentAnswersError, Session, StaleQuestionError
from tests.laws.acting import KINDS, act
from tests.laws.problems import OPTIONS, OWN, problems

EVERYTHING = (*OPTIONS, OWN)


def state(session):
    """All that a person can see of a session."""
    return (
        session.ask(),
        session.labels_.tolist(),
        [p.labels.tolist() for p in session.partitions],
        session.history,
        session.set_aside,
        [a.tolist() for a in session.constraints()],
        session.names,
        session.marks,
        session.to_split,
        session.cluster_ids_,
        [session.cluster_ids_at(n) for n in range(session.n_answers + 1)],
        session.progress,
    )


@given(problems(), st.data())
def test_undo_after_tell_equals_before_and_redo_equals_after(problem, data):
    session = problem.session()
    before = [state(session)]
    for _ in range(data.draw(st.integers(0, 15))):
        problem.answer_all(session, 1)
        before.append(state(session))
        if session.ask() is None:
            break
    while session.n_answers:
        after = before[session.n_answers]
        assert state(session) == after
        session.undo()
        assert state(session) == before[session.n_answers]
        session.redo()
        assert state(session) == after
        session.undo()


@given(problem=problems(max_rows=15, methods=EVERYTHING), data=st.data())
def test_replay_and_resume_equal_live_whatever_the_person_does(problem, data, tmp_path_factory):
    """Answers, boards, moves, merges, splits, names, marks, constraints, appends, undo, redo and revise."""
    path = tmp_path_factory.mktemp("session") / "s.cobras"
    with problem.session(path) as session:
        n_undone = []  # rows, of each action that redo would bring back
        for _ in range(data.draw(st.integers(0, 12))):
            n = session.space.n
            kind = act(session, problem, data)
            if kind == "undo":
                n_undone.append(n - session.space.n)
            elif kind == "redo":
                n_undone.pop()
            elif not session.can_redo:
                n_undone.clear()
        live = state(session)
        if session.can_undo:  # both replay all events
            session.undo()
            session.redo()
            assert state(session) == live
        n, can_redo = session.space.n, session.can_redo
    with problem.session(path, n + sum(n_undone)) as resumed:
        assert state(resumed) == live
        if can_redo:
            resumed.redo()


@given(problem=problems(max_rows=15, methods=EVERYTHING), data=st.data())
def test_undo_after_anything_equals_before(problem, data):
    session = problem.session()
    for _ in range(data.draw(st.integers(1, 8))):
        before = state(session)
        kind = act(session, problem, data, kinds=[k for k in KINDS if k not in ("undo", "redo")])
        if kind == "nothing":
            assert state(session) == before
            continue
        after = state(session)
        assert session.undo().kind == kind
        assert state(session) == before
        assert session.redo().kind == kind
        assert state(session) == after


@given(problems(), st.data())
def test_revise_loses_no_answer(problem, data):
    session = problem.session()
    if not problem.answer_all(session, data.draw(st.integers(1, 20))):
        return
    before = session.history
    index = data.draw(st.integers(0, len(before) - 1))
    answer = data.draw(st.sampled_from(Answer))
    try:
        revision = session.revise(index, answer)
    except InconsistentAnswersError:  # the answers before it imply the opposite
        assert session.history == before
        return
    assert [r.pair for r in session.history] == [r.pair for r in before]
    expected = [answer if r.index == index else r.answer for r in before]
    assert [r.answer for r in session.history] == expected
    assert all(not session.history[r.index].in_force for r in revision.no_longer_apply)
    links = [{tuple(pair) for pair in pairs.tolist()} for pairs in session.constraints()]
    for record in session.history:
        if record.in_force and record.answer is not Answer.UNSURE:
            assert tuple(record.pair.ordered) in links[record.answer is Answer.DIFFERENT]


@given(problems())
def test_a_stale_answer_is_refused_and_changes_nothing(problem):
    session = problem.session()
    if (pair := session.ask()) is None:
        return
    session.tell(problem.answer(*pair), pair)
    before = state(session)
    if session.ask() is None or session.ask().ordered != pair.ordered:
        with pytest.raises(StaleQuestionError):
            session.tell(True, pair)
    assert state(session) == before


@settings(max_examples=12)  # each makes three files
@given(problem=problems(max_rows=12, methods=("cobras", "adder"), spaces=("table",)), data=st.data())
def test_a_session_is_carried_over_to_other_features(problem, data, tmp_path_factory):
    """All that was said stays said, and undo goes on in the same order; on the same features all is the same."""
    folder = tmp_path_factory.mktemp("carried")
    with problem.session(folder / "s.cobras") as session:
        for _ in range(data.draw(st.integers(0, 8))):
            act(session, problem, data)
        before, said = state(session), everything_said(session)
        all_rows = problem.rows(0, session.space.n)
        for name, X in (("same", all_rows), ("other", all_rows[::-1] ** 2)):
            with session.carry_over(folder / name, X) as carried:
                after = state(carried)
                assert everything_said(carried) == said
                assert (after == before) or name == "other"
                if session.can_undo:
                    old, new = ids_by_rows(session), ids_by_rows(carried)
                    assert all(new[rows] == old[rows] for rows in old.keys() & new.keys())
            with Session.open(folder / name, X) as again:
                assert state(again) == after
                assert actions_taken_back(again) == actions_taken_back(session)


def ids_by_rows(session):
    ids = session.cluster_ids_
    clusters = ((ids[k], np.flatnonzero(session.labels_ == k)) for k in range(len(ids)))
    return {frozenset(rows.tolist()): number for number, rows in clusters}


def everything_said(session):
    return session.n_answers, [(record.kind, record.pair, record.said) for record in session.history]


def actions_taken_back(session):
    """What undo takes back, one after another; then all of it is brought back."""
    texts = []
    while session.can_undo:
        texts.append(session.undo().text)
    for _ in texts:
        session.redo()
    return texts
