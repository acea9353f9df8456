"""Session files of the first version: what was answered, named and asked is what it was."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from sklearn.datasets import load_iris

from cobras import Session

FIXTURES = Path(__file__).parent / "fixtures"
EXPECTED = json.loads((FIXTURES / "sessions.json").read_text())
X = load_iris().data


@pytest.mark.parametrize("method", EXPECTED)
def test_a_session_goes_on_where_it_stopped(method, tmp_path):
    path = shutil.copy(FIXTURES / f"{method}.cobras", tmp_path)
    expected = EXPECTED[method]
    with Session.open(path, X) as session:
        session.verify()
        assert session.parameters["method"] == method
        assert session.n_answers == expected["n_answers"]
        assert [[*r.pair, int(r.answer)] for r in session.history] == expected["history"]
        assert session.labels_.tolist() == expected["labels"]
        assert {str(number): text for number, text in session.names.items()} == expected["names"]
        assert (session.ask() and list(session.ask())) == expected["question"]
        n_events = len(session.history)
        session.undo()
    with Session.open(path, X) as session:
        assert len(session.history) == n_events - 1


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
    assert out.read_text() == (FIXTURES / "flowers-clusters.csv").read_text()  # as the first version wrote it
    assert found["labels"] == pl.read_csv(out)["cluster"].to_list()
    assert [a["answer"] for a in found["answers"]].count("unsure") == 1
    assert found["n_answers"] == len(found["answers"]) == 9
