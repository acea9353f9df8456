"""A method is fed from the entries, and restarted if it does not know `Reconsider`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import (
    Answer,
    LabelOracle,
    Pair,
    Partition,
    Reconsider,
    Session,
    Step,
    run,
)

rng = np.random.default_rng(0)
y = np.repeat([0, 1, 2], 15)
X = rng.normal(size=(45, 2)) + 3 * y[:, None]


def all_pairs(space, constraints, seed, *, adds: str = "yes"):
    """Compare each two of six super-instances; nothing is known here of `Reconsider` or of what is implied."""
    parts = space.split(space.root(seed), 6)
    same = np.eye(len(parts), dtype=bool)
    for a in range(len(parts)):
        for b in range(a):
            pair = Pair(parts[a].representative, parts[b].representative)
            answer = yield Step(pair, clusters(parts, same))
            if adds == "yes":
                constraints.add(*pair, answer)
            same[a, b] = same[b, a] = answer is Answer.SAME
    while True:
        yield Step(None, clusters(parts, same))


def clusters(parts, same):
    first = [int(np.flatnonzero(row)[0]) for row in np.linalg.matrix_power(same.astype(int), len(parts)) > 0]
    return Partition.of([tuple(p for p, f in zip(parts, first, strict=True) if f == k) for k in set(first)])


def state(session):
    return (
        session.ask(),
        session.labels_.tolist(),
        session.history,
        [p.labels.tolist() for p in session.partitions],
    )


@pytest.mark.parametrize("adds", ["yes", "no"])
@pytest.mark.parametrize("change", ["constraint", "mark"])
def test_a_method_of_ones_own_goes_on_after_a_constraint_or_a_mark(adds, change):
    plain, session = (Session(X, all_pairs, random_state=0, adds=adds) for _ in range(2))
    for s in (plain, session):
        run(s, LabelOracle(y), until=lambda s: s.n_answers >= 4)
        s.skip(s.ask())
    before = state(session)
    if change == "constraint":
        i, j = np.flatnonzero(y == 0)[:2].tolist()
        session.add_constraint(i, j, Answer.SAME)
    else:
        session.mark(0, pure=True)
    # No answer is asked for twice, not even an unsure one; nor is what the answers imply.
    assert session.ask() not in [record.pair for record in session.history]
    assert adds == "yes" or session.ask() == plain.ask()
    assert session.n_answers == 5
    session.undo()
    assert state(session) == before
    session.redo()
    run(session, LabelOracle(y))
    run(plain, LabelOracle(y))
    np.testing.assert_array_equal(session.labels_, plain.labels_)


def test_a_restarted_method_is_answered_from_a_constraint():
    session = Session(X, all_pairs, random_state=0)
    pair = session.ask()
    session.add_constraint(*pair, Answer.DIFFERENT)
    assert session.ask() != pair
    assert session.n_answers == 0
    assert session.history[0].kind == "constraint"


def test_a_method_that_asks_the_same_pair_again_asks_the_person():
    def stubborn(space, constraints, seed):
        while True:
            yield Step(Pair(0, 1), Partition.of([(space.root(seed),)]))

    session = Session(X, stubborn, random_state=0)
    session.tell(True, (0, 1))
    session.add_constraint(2, 3, Answer.SAME)
    assert session.ask() == (0, 1)


def test_a_method_that_knows_reconsider_is_not_restarted():
    starts = []

    def knowing(space, constraints, seed):
        starts.append(1)
        whole = Partition.of([(space.root(seed),)])
        while True:
            try:
                yield Step(None if len(constraints) else Pair(0, 1), whole)
            except Reconsider:
                continue

    session = Session(X, knowing, random_state=0)
    session.add_constraint(2, 3, Answer.SAME)
    assert session.ask() is None
    assert len(starts) == 1


@given(st.lists(st.sampled_from([True, False, None, "constraint", "mark", "undo", "revise"]), max_size=12))
def test_replay_equals_live_for_a_method_that_is_restarted(steps):
    session = Session(X, all_pairs, random_state=0)
    for step in steps:
        pair = session.ask()
        if step == "undo" and session.can_undo:
            session.undo()
        elif step == "revise" and session.history:
            session.revise(0, None)
        elif step == "mark":
            session.mark(0, pure=True)
        elif step == "constraint" and session.set_aside:
            i, j = session.set_aside[0]
            session.add_constraint(i, j, bool(y[i] == y[j]))
        elif (step is None or isinstance(step, bool)) and pair is not None:
            session.tell(None if step is None else bool(y[pair.i] == y[pair.j]), pair)
    live = state(session)
    if session.can_undo:
        session.undo()
        session.redo()
    assert state(session) == live
