"""Laws of the journal: whatever a person does, replay, undo and resume show the same as before."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobras import Answer, Constraints, InconsistentAnswersError, StaleQuestionError
from tests.laws.problems import Problem, problems

KINDS = ("tell", "tell", "tell", "name", "mark", "constraint", "undo", "revise", "redo")


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


@given(problem=problems(max_rows=15), data=st.data())
def test_replay_and_resume_equal_live_whatever_the_person_does(problem, data, tmp_path_factory):
    """Answers, constraints, marks, names, undo, redo and revise in any order; then close, open and compare."""
    path = tmp_path_factory.mktemp("session") / "s.cobras"
    with problem.session(path) as session:
        for _ in range(data.draw(st.integers(0, 12))):
            act(session, problem, data)
        live = state(session)
        if session.can_undo:  # both replay all events
            session.undo()
            session.redo()
            assert state(session) == live
    with problem.session(path) as resumed:
        assert state(resumed) == live


@settings(max_examples=25)
@given(problem=problems(max_rows=15), data=st.data())
def test_undo_after_anything_equals_before(problem, data):
    """Names have no undo, and a revision changes an answer in its place."""
    session = problem.session()
    for _ in range(data.draw(st.integers(1, 8))):
        before = state(session)
        if act(session, problem, data, kinds=("tell", "mark", "constraint")) == "nothing":
            continue
        after = state(session)
        session.undo()
        assert state(session) == before
        session.redo()
        assert state(session) == after


def act(session, problem: Problem, data, kinds=KINDS):
    """Do one thing that a person may do, and return its name."""
    n = len(problem.X)
    possible = {
        "mark": problem.method in ("cobras", "cobra", "adder"),
        "constraint": n > 1,
        "undo": session.can_undo,
        "redo": session.can_redo,
        "revise": bool(session.history),
    }
    kind = data.draw(st.sampled_from([kind for kind in kinds if possible.get(kind, True)]))
    cluster = data.draw(st.integers(0, session.partition.n_clusters - 1))
    if kind == "tell":
        if not problem.answer_all(session, 1):
            return "nothing"
    elif kind == "mark":
        before = session.labels_
        session.mark(cluster, pure=data.draw(st.booleans()), complete=data.draw(st.booleans()))
        if problem.options.get("reuse") == "transitive" and not problem.unsure:
            np.testing.assert_array_equal(session.labels_, before)
    elif kind == "name":
        session.name(cluster, data.draw(st.sampled_from(["roses", "lilies", ""])))
    elif kind == "constraint":
        i, j = data.draw(st.lists(st.integers(0, n - 1), min_size=2, max_size=2, unique=True))
        if known(session).relation(i, j) is not None:
            return "nothing"
        session.add_constraint(i, j, problem.y[i] == problem.y[j])
    elif kind == "revise":
        index = data.draw(st.integers(0, len(session.history) - 1))
        with contextlib.suppress(InconsistentAnswersError):
            session.revise(index, data.draw(st.sampled_from(Answer)))
    else:
        getattr(session, kind)()
    return kind


def known(session) -> Constraints:
    """What the answers and constraints in force say."""
    constraints = Constraints()
    for record in session.history:
        if record.in_force:
            constraints.add(*record.pair, record.answer)
    return constraints


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
