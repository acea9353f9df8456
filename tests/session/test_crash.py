"""A session whose process is killed at any instant goes on as if nothing had happened."""

import os
import subprocess
import sys

import pytest

KILLS = 500 if os.environ.get("COBRAS_SOAK") else 50

# One process imports and compiles everything, then forks a child for every round: a kill costs milliseconds.
NURSERY = """
import os, random, signal, struct, sys, time
from sklearn.datasets import load_iris
from cobras import LabelOracle, Session, run

X, y = load_iris(return_X_y=True)
reference = run(Session(X, random_state=5), LabelOracle(y))
folder, kills = sys.argv[1], int(sys.argv[2])
path, acknowledged, interrupted = os.path.join(folder, "s.cobras"), 0, 0
chance = random.Random(1)

def answer(pipe):
    with Session.open(path, X, random_state=5) as session:
        while (pair := session.ask()) is not None:
            session.tell(y[pair.i] == y[pair.j], pair)
            os.write(pipe, struct.pack("<q", session.n_answers))

for kill in range(kills):
    if kill % 10 == 9:  # begin anew now and then, so that kills also hit the creation of a file
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))
        acknowledged = 0
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        answer(writer)
        os._exit(0)
    os.close(writer)
    time.sleep(chance.random() * 0.06)
    os.kill(child, signal.SIGKILL)
    interrupted += os.WIFSIGNALED(os.waitpid(child, 0)[1])
    with open(reader, "rb") as pipe:
        said = [n for (n,) in struct.iter_unpack("<q", pipe.read())]
    acknowledged = max([acknowledged, *said])
    with Session.open(path, X, random_state=5) as session:
        n = session.n_answers
        assert acknowledged <= n <= acknowledged + 1, (acknowledged, n)
        assert [r.pair for r in session.history] == [r.pair for r in reference.history[:n]]
        assert (session.labels_ == reference.labels_at(n)).all()
        acknowledged = n
print(interrupted, acknowledged)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs fork and SIGKILL")
def test_no_acknowledged_answer_is_lost_by_a_kill(tmp_path):
    run = [sys.executable, "-c", NURSERY, str(tmp_path), str(KILLS)]
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    interrupted, _ = map(int, done.stdout.split())
    assert interrupted >= KILLS * 0.8
