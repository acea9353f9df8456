"""A session whose process is killed or interrupted at any instant goes on as if nothing had happened."""

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from cobras import Answer, Session
from cobras.session import session as module
from tests.session.durability.journals import MEMORY, reopen

KILLS = 500 if os.environ.get("COBRAS_SOAK") else 50


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(dir=MEMORY) as made:
        yield Path(made)


# One process imports and compiles everything, then forks a child for every round: a kill costs milliseconds. The
# child says after each change how many events the journal has and what the session looks like.
NURSERY = """
import os, random, signal, struct, sys, time, zlib
from sklearn.datasets import load_iris
from cobras import CobrasError, Session
from tests.session.durability.journals import reopen

X, y = load_iris(return_X_y=True)
order = random.Random(0).sample(range(150), 150)
X, y = X[order], y[order]
first = Session(X[:120], random_state=5)
for _ in range(15):
    first.tell(y[first.ask().i] == y[first.ask().j], first.ask())
first.append(X[120:])
first.board()
folder, kills = sys.argv[1], int(sys.argv[2])
path, known, state, interrupted, kinds, total = os.path.join(folder, "s.cobras"), [], None, 0, set(), 0
chance = random.Random(1)

def look(session):
    seen = (session.history, session.names, session.marks, session.ask(), session.can_undo, session.can_redo)
    return zlib.crc32(repr((seen, session.labels_.tolist(), session.cluster_ids_, session.to_split)).encode())

def change(session, chance):
    n = session.space.n
    i, j = chance.sample(range(n), 2)
    cluster = chance.randrange(session.partition.n_clusters)
    kinds = "answer answer answer answer board constraint mark name move merge split append undo revise"
    kind = chance.choice(kinds.split())
    # Only right after an undo is there something to redo.
    match "redo" if session.can_redo and chance.random() < 0.5 else kind:
        case "answer":
            pair = session.ask()
            if pair is not None:
                session.tell(y[pair.i] == y[pair.j], pair)
        case "constraint":
            session.add_constraint(i, j, y[i] == y[j])
        case "mark":
            session.mark(cluster, pure=i % 2 == 0, complete=i % 3 == 0)
        case "name":
            session.name(cluster, f"{i} {j}")
        case "board":
            board = session.board(3)
            if board is not None:
                rows = [*board.cards, *board.piles]
                session.sort(board, [[row for row in rows if y[row] == label] for label in range(3)])
        case "move":
            session.move([i], chance.choice([None, cluster]))
        case "merge":
            session.merge(cluster, i % session.partition.n_clusters)
        case "split":
            session.split(cluster)
        case "append":
            session.append(X[n : n + 3])
        case "undo":
            session.undo()
        case "redo":
            session.redo()
        case "revise":
            session.revise(chance.randrange(len(session.history) or 1), None)

def work(pipe, chance):
    with reopen(path, X, 120, random_state=5) as session:
        while True:
            try:
                change(session, chance)
            except CobrasError:  # there is nothing to undo
                continue
            os.write(pipe, struct.pack("<qq", len(session._file.events()), look(session)))

for kill in range(kills):
    if kill % 10 == 9:  # begin anew now and then, so that kills also hit the creation of a file
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))
        known, state = [], None
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            work(writer, random.Random(kill))
        finally:
            os._exit(1)
    os.close(writer)
    with open(reader, "rb") as pipe:
        # Some changes, however busy the machine is, and then any instant.
        begun = pipe.read(16 * chance.randrange(10))
        time.sleep(chance.random() * (0.02 if begun else 0.1))
        os.kill(child, signal.SIGKILL)
        interrupted += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        said = list(struct.iter_unpack("<qq", begun + pipe.read()))
    total += len(said)
    n, state = said[-1] if said else (len(known), state)
    with reopen(path, X, 120, random_state=5) as session:
        events = session._file.events()
        # What was acknowledged is there; one change more may have been on its way, and looking may add a rebase.
        assert n <= len(events) <= n + 2, (n, len(events))
        assert list(events[: len(known)]) == known
        assert len(events) > n or state is None or look(session) == state, kill
        state = look(session)
        known = list(session._file.events())
        kinds |= {event.kind for event in events}
print(interrupted, total, *sorted(kinds - {"rebase"}))
"""


@pytest.mark.skipif(os.name != "posix", reason="needs fork and SIGKILL")
def test_no_acknowledged_change_is_lost_by_a_kill(tmp_path, report_tried):
    run = [sys.executable, "-c", NURSERY, str(tmp_path), str(KILLS)]
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    interrupted, total, *kinds = done.stdout.split()
    assert int(interrupted) == KILLS
    assert int(total) > KILLS
    assert kinds == sorted(CHANGES)
    report_tried("a kill of a session", KILLS, acknowledged_changes=int(total), kinds_of_change=len(kinds))


# -- Ctrl-C ------------------------------------------------------------------------------------------------------

X = [[0.0], [0.1], [0.2], [5.0], [5.1], [9.0], [9.1], [9.2]]
FOLDER = str(Path(module.__file__).parent)
CHANGES = {
    "board": lambda s: s.sort(s.board(2), []),
    "move": lambda s: s.move([7], to=int(s.labels_[5])),
    "merge": lambda s: s.merge(int(s.labels_[7]), int(s.labels_[5])),
    "split": lambda s: s.split(np.bincount(s.labels_).argmax()),
    "append": lambda s: s.append([[5.2]]),
    "answer": lambda s: s.tell(None, s.ask()),
    "constraint": lambda s: s.add_constraint(0, 1, Answer.SAME),
    "mark": lambda s: s.mark(0, pure=True),
    "name": lambda s: s.name(0, "b" if s.names.get(0) == "a" else "a"),
    "undo": Session.undo,
    "redo": Session.redo,
    "revise": lambda s: s.revise(0, None),
}


@contextmanager
def interrupted_after(n_lines):
    """Raise KeyboardInterrupt once so many lines of the session's modules have run."""
    left = n_lines

    def trace(frame, event, argument):
        nonlocal left
        if not frame.f_code.co_filename.startswith(FOLDER):
            return None
        left -= event == "line"
        if left < 0:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def seen(session):
    asked = session.ask(), session.to_split, session.can_undo, session.can_redo
    return session.history, session.names, session.marks, session.cluster_ids_, asked


@pytest.mark.parametrize("kind", CHANGES)
def test_after_an_interruption_memory_is_what_the_file_says(kind, folder, report_tried):
    path, change = folder / "s.cobras", CHANGES[kind]
    step = 1 if os.environ.get("COBRAS_SOAK") else 4
    session = Session.open(path, X, "cobra", 0, n_super_instances=8)
    for n_lines in range(0, 4000, step):
        # A state in which the change is possible, and not one that grows.
        while session.can_undo:
            session.undo()
        session.tell(True, session.ask())
        session.tell(False, session.ask())
        if kind == "redo":
            session.undo()
        try:
            with interrupted_after(n_lines):
                change(session)
        except KeyboardInterrupt:
            pass
        else:
            break
        found = seen(session)
        session.close()
        session = reopen(path, np.array([*X, [5.2]]))
        assert seen(session) == found, n_lines
    else:
        pytest.fail("the change never came to its end")
    session.close()
    assert n_lines > 5 * step
    report_tried("Ctrl-C within a change, after any line", n_lines // step, kinds_of_change=1)


def test_an_interrupted_session_in_memory_holds_all_or_nothing():
    for n_lines in range(400):
        session = Session(X, "cobra", 0, n_super_instances=8)
        session.tell(True, session.ask())
        try:
            with interrupted_after(n_lines):
                session.undo()
        except KeyboardInterrupt:
            assert (session.n_answers, session.can_undo, session.can_redo) in (
                (1, True, False),
                (0, False, True),
            )
            assert len(session.history) == session.n_answers
        else:
            return
    pytest.fail("undo never came to its end")


# -- memory ------------------------------------------------------------------------------------------------------

GROWTH = """
import gc, random, sys
from sklearn.datasets import load_iris
from cobras import Session

X, y = load_iris(return_X_y=True)
chance = random.Random(0)

def megabytes():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6

with Session.open(sys.argv[1], X, random_state=0) as session:
    for step in range(-200, int(sys.argv[2])):
        if step == 0:
            before = megabytes()
        pair = session.ask()
        # Up to 40 answers deep, so that a replay is short.
        if pair is None or session.n_answers > chance.random() * 40:
            session.undo()
        else:
            session.tell(None if chance.random() < 0.1 else bool(y[pair.i] == y[pair.j]), pair)
    print(megabytes() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the kernel says no sizes")
def test_answers_and_undos_take_no_more_memory(folder, report_tried):
    steps = 20_000 if os.environ.get("COBRAS_SOAK") else 1_000
    run = [sys.executable, "-c", GROWTH, folder / "s.cobras", str(steps)]
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < (24 if os.environ.get("COBRAS_SOAK") else 6)
    report_tried("an answer or undo in a session", steps, MB_more_memory=float(done.stdout))
