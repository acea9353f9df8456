"""Thinking ahead changes nothing, and leaves nothing for the next two answers to split."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import Answer, Session
from cobras.core.partition import Partition
from cobras.core.types import Pair
from cobras.methods.protocol import Step
from cobras.session.ahead import Thinker, branches
from cobras.spaces.euclidean import EuclideanSpace

answers = st.lists(st.sampled_from([True, False, None, "undo", "revise", "mark", "constraint"]), max_size=25)


def do(session: Session, step: object) -> None:
    pair = session.ask()
    if step == "undo" and session.n_answers:
        session.undo()
    elif step == "revise" and session.history:
        record = session.history[len(session.history) // 2]
        session.revise(record.index, None)
    elif step == "mark":
        session.mark(0, pure=True)
    elif step == "constraint" and session.set_aside:
        session.add_constraint(*session.set_aside[0], False)
    elif (step is None or isinstance(step, bool)) and pair is not None:
        session.tell(step, pair)


@given(seed=st.integers(0, 50), steps=answers)
def test_a_session_that_thinks_ahead_is_one_that_does_not(seed: int, steps: list[object]) -> None:
    X = np.random.default_rng(seed).normal(size=(50, 2))
    plain, ahead = (
        Session(X, random_state=seed, method="cobras"),
        Session(X, random_state=seed, method="cobras"),
    )
    for step in steps:
        for think in branches(ahead):
            think()
        do(plain, step)
        do(ahead, step)
        assert plain.ask() == ahead.ask()
        np.testing.assert_array_equal(plain.labels_, ahead.labels_)
        assert [(r.pair, r.answer, r.in_force) for r in plain.history] == [
            (r.pair, r.answer, r.in_force) for r in ahead.history
        ]


@given(seed=st.integers(0, 50), given_answers=st.lists(st.booleans(), max_size=20))
def test_after_thinking_ahead_two_answers_need_no_further_split(seed: int, given_answers: list[bool]) -> None:
    X = np.random.default_rng(seed).normal(size=(50, 2))
    session = Session(X, random_state=seed, method="cobras")
    assert isinstance(session.space, EuclideanSpace)
    for n, answer in enumerate(given_answers):
        if n % 2 == 0:  # enough for two answers
            for think in branches(session):
                think()
            n_splits = len(session.space._splits)
        if (pair := session.ask()) is None:
            break
        session.tell(answer, pair)
        assert len(session.space._splits) == n_splits


def test_thoughts_come_breadth_first() -> None:
    X = np.random.default_rng(3).normal(size=(60, 2))
    session = Session(X, random_state=3, method="cobras")
    supposed = [tuple(think() or ()) for think in branches(session)]
    for answers, found in zip(([1], [0], [1, 1], [1, 0], [0, 1], [0, 0]), supposed, strict=True):
        real = Session(X, random_state=3, method="cobras")
        for answer in answers:
            real.tell(bool(answer), real.ask() or ())
        assert tuple(real.ask() or ()) == found


def test_a_thinker_stops_at_the_answer_and_goes_on_with_the_next_question() -> None:
    X = np.random.default_rng(0).normal(size=(400, 3))
    plain, ahead = Session(X, random_state=0, method="cobras"), Session(X, random_state=0, method="cobras")
    thinker = Thinker()
    for k in range(40):
        thinker.begin(ahead)
        pair = plain.ask()
        assert pair is not None
        assert pair == ahead.ask()
        plain.tell(k % 3 == 0, pair)
        ahead.tell(k % 3 == 0, pair)
    thinker.begin(ahead)
    assert thinker.finish(wait=60)  # undisturbed, it thinks to the end
    assert isinstance(ahead.space, EuclideanSpace)
    n_splits = len(ahead.space._splits)
    for answer in (True, False):
        pair = ahead.ask()
        assert pair is not None
        ahead.tell(answer, pair)
    assert len(ahead.space._splits) == n_splits
    thinker.begin(ahead)
    assert thinker.end(wait=30)


def test_a_thought_that_fails_does_not_end_the_thinking() -> None:
    thought = []

    def fails_at_same(space, constraints, seed):  # type: ignore[no-untyped-def]
        whole = Partition.of([(space.root(seed),)])
        if (yield Step(Pair(0, 1), whole)) is Answer.SAME:
            raise RuntimeError("no clustering fits")
        thought.append(1)
        while True:
            yield Step(None, whole)

    thinker, session = Thinker(), Session([[0.0], [1.0]], fails_at_same, random_state=0)
    for n_times in (1, 2):
        thinker.begin(session)
        assert thinker.finish(wait=10)
        assert len(thought) == 3 * n_times  # the other three begin with same
    session.tell(False, (0, 1))
    assert session.ask() is None


@pytest.mark.parametrize(("method", "n_answers"), [("cobras", 60), ("adder", 12)])
def test_thinking_ahead_in_another_thread_while_answers_come(method: str, n_answers: int) -> None:
    X = np.random.default_rng(0).normal(size=(400, 3))
    plain, ahead = Session(X, method, random_state=0), Session(X, method, random_state=0)
    threads = []
    for k in range(n_answers):
        pair = plain.ask()
        assert pair == ahead.ask()
        for think in branches(ahead):
            threads.append(threading.Thread(target=think))
            threads[-1].start()
        plain.tell(k % 3 == 0, pair)
        ahead.tell(k % 3 == 0, pair)
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(plain.labels_, ahead.labels_)
    ahead.undo()
    ahead.redo()
    assert plain.ask() == ahead.ask()


def test_the_rows_of_the_next_questions_are_reported_once_and_not_after_the_answer() -> None:
    X = np.random.default_rng(3).normal(size=(60, 2))
    session, thinker, reports = Session(X, random_state=3, method="cobras"), Thinker(), []
    wanted = {row for think in branches(session)[:2] for row in think() or ()}
    thinker.begin(session, reports.append)
    assert thinker.finish(wait=60)
    thinker.begin(session, reports.append, delay=60)
    assert thinker.end(wait=30)  # the delay ends with the answer
    assert reports == [sorted(wanted)]


def test_a_job_that_hangs_neither_blocks_the_program_nor_its_end() -> None:
    program = (
        "import threading; from cobras.session.ahead import Worker; worker = Worker('test');"
        "failed = worker.submit(lambda: 1 / 0); worker.submit(threading.Event().wait);"
        "print(type(failed.exception(10)).__name__)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (found.returncode, found.stdout, found.stderr) == (0, "ZeroDivisionError\n", "")
