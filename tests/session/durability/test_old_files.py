"""Session files of the first version: what was answered and named is what it was.

So are the clusters and the next question, where the method is the same. Another processor rounds sums otherwise, so
that ties between representatives may fall otherwise; and ADDER asks other questions now.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from cobras import Session

FIXTURES = Path(__file__).parent / "fixtures"
EXPECTED = json.loads((FIXTURES / "sessions.json").read_text())
X = load_iris().data
CHANGED = {"adder"}


@pytest.mark.parametrize("method", EXPECTED)
def test_a_session_goes_on_where_it_stopped(method, tmp_path):
    path = shutil.copy(FIXTURES / f"{method}.cobras", tmp_path)
    expected = EXPECTED[method]
    with Session.open(path, X) as session:
        session.verify()
        assert session.parameters["method"] == method
        assert session.n_answers == expected["n_answers"]
        assert [[*r.pair, int(r.answer)] for r in session.history] == expected["history"]
        assert all(r.in_force for r in session.history)
        assert sorted(session.names.values()) == sorted(expected["names"].values())
        assert session.marks == {}
        if method not in CHANGED:
            assert {str(number): text for number, text in session.names.items()} == expected["names"]
            assert adjusted_rand_score(expected["labels"], session.labels_) > 0.9
            # Of the same clusters, but perhaps not the same instances.
            clusters = [expected["labels"][i] for i in session.ask() or ()]
            assert clusters == [expected["labels"][i] for i in expected["question"] or ()]
        n_records, names, labels = len(session.history), session.names, session.labels_
        # What was done last comes back first, also where the first version had no undo for it.
        undone = [session.undo().kind]
        while undone[-1] in ("name", "mark"):
            undone.append(session.undo().kind)
    with Session.open(path, X) as session:
        assert len(session.history) == n_records - (undone[-1] != "revise")
        for kind in reversed(undone):
            assert session.redo().kind == kind
        assert [[*r.pair, int(r.answer)] for r in session.history] == expected["history"]
        assert session.labels_.tolist() == labels.tolist()
        assert session.names == names


def test_the_recipe_in_a_session_file_reads_its_table(tmp_path):
    """The file says how flowers.csv was read: `cobras ask flowers.csv --label species --method adder`."""
    session = shutil.copy(FIXTURES / "flowers.cobras", tmp_path)
    table = shutil.copy(FIXTURES / "flowers.csv", tmp_path)
    out = tmp_path / "out.csv"
    command = [
        sys.executable,
        "-m",
        "cobras",
        "export",
        session,
        "--data",
        table,
        "--out",
        str(out),
        "--json",
    ]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    written, first = pl.read_csv(out), pl.read_csv(FIXTURES / "flowers-clusters.csv")
    assert written.columns == [*first.columns[:-1], "cluster_id", "cluster"]
    assert written.drop("cluster", "cluster_id").equals(first.drop("cluster"))
    assert found["labels"] == written["cluster"].to_list()
    said = {(a["i"], a["j"]): a["answer"] for a in found["answers"] if a["answer"] != "unsure"}
    assert all(a["in_force"] for a in found["answers"])
    for clusters in (first["cluster"], written["cluster"]):
        assert {(i, j): "same" if clusters[i] == clusters[j] else "different" for i, j in said} == said
    assert [a["answer"] for a in found["answers"]].count("unsure") == 1
    assert found["n_answers"] == len(found["answers"]) == 9
