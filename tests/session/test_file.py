"""Sessions on disk: create, resume, refuse what does not belong together."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris

from cobras import (
    DataChangedError,
    InvalidDataError,
    LabelOracle,
    Session,
    SessionFileError,
    run,
)
from cobras.methods.cobra import cobra
from cobras.methods.registry import METHODS, MethodEntry
from cobras.session.file import holds_session, stored_notes

X, y = load_iris(return_X_y=True)


def test_open_creates_and_resumes(tmp_path):
    path = tmp_path / "flowers.cobras"
    with Session.open(path, X, random_state=3, method="cobras") as s:
        run(s, LabelOracle(y), until=lambda s: s.n_answers >= 20)
        s.set_note(source="flowers.csv")
        expected = s.ask(), s.labels_.tolist(), s.history
    with Session.open(path, X) as s:
        assert (s.ask(), s.labels_.tolist(), s.history) == expected
        assert s.get_note("source") == "flowers.csv"
        assert s.parameters["random_state"] == 3
        s.undo()
    with Session.open(path, X, "cobras", 3) as s:
        assert s.n_answers == 19
        s.redo()
        assert s.labels_.tolist() == expected[1]
    assert [p.name for p in tmp_path.iterdir()] == ["flowers.cobras"]


def test_what_a_file_says_of_its_data_is_read_without_the_data(tmp_path):
    path = tmp_path / "flowers.cobras"
    assert not holds_session(path)
    path.touch()
    assert not holds_session(path)
    assert (stored_notes(path), path.stat().st_size) == ((None, None), 0)
    with Session.open(path, X, random_state=3, method="cobras") as s:
        s.set_note(data="flowers.csv", recipe={"kind": "table"})
    assert holds_session(path)
    assert stored_notes(path) == ("flowers.csv", {"kind": "table"})


def test_a_drawn_seed_is_stored(tmp_path):
    with Session.open(tmp_path / "s.cobras", X) as s:
        first, seed = s.ask(), s.parameters["random_state"]
    with Session.open(tmp_path / "s.cobras", X) as s:
        assert (s.ask(), s.parameters["random_state"]) == (first, seed)


def test_training_rows_are_stored(tmp_path):
    train = np.arange(0, 150, 3)
    with Session.open(tmp_path / "s.cobras", X, train_indices=train, random_state=0, method="cobras") as s:
        s.tell(True, s.ask())
    with Session.open(tmp_path / "s.cobras", X) as s:
        assert set(s.ask()) <= set(train.tolist())
        assert s.n_answers == 1
    with pytest.raises(DataChangedError, match="other train_indices"):
        Session.open(tmp_path / "s.cobras", X, train_indices=[1, 2, 3], method="cobras")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"X": X[:-1]}, f"belongs to another table .*: that one has {len(X)} rows. Open"),
        ({"X": X[::-1].copy()}, "belongs to another table .*: that one has other values, another order or"),
        ({"X": X.astype(np.float32)}, "belongs to another table .* float32.*: that one has .* another type"),
        ({"method": "cobra"}, "was made with method='cobras', not 'cobra'"),
        ({"random_state": 1}, "was made with random_state=0, not 1"),
        ({"branch": "smallest"}, "was made with branch='random', not 'smallest'"),
    ],
)
def test_other_data_or_parameters_are_refused_and_nothing_is_lost(tmp_path, arguments, sentence):
    path = tmp_path / "s.cobras"
    with Session.open(path, X, random_state=0, method="cobras") as s:
        s.tell(True, s.ask())
    with pytest.raises(DataChangedError, match=sentence):
        Session.open(path, **({"X": X} | arguments))
    with Session.open(path, X) as s:
        assert s.n_answers == 1


def test_a_change_outside_the_sampled_rows_is_found_before_an_answer_is_written(tmp_path):
    big = np.random.default_rng(0).random((20_000, 2))
    with Session.open(tmp_path / "s.cobras", big, random_state=0, method="cobras") as s:
        s.tell(True, s.ask())
    changed = big.copy()
    changed[1] += 1
    with Session.open(tmp_path / "s.cobras", changed) as s:
        with pytest.raises(DataChangedError, match="belongs to another table"):
            s.tell(True, s.ask())
        with pytest.raises(DataChangedError):
            s.verify()
        assert s.n_answers == 1


@pytest.mark.parametrize("options", [{"method": "npu"}, {"branch": "middle"}, {"method": "no such"}])
def test_a_session_that_cannot_start_leaves_no_file(tmp_path, options):
    with pytest.raises(InvalidDataError):
        Session.open(tmp_path / "s.cobras", X, **options)
    assert list(tmp_path.iterdir()) == []


def test_one_file_one_session(tmp_path):
    with (
        Session.open(tmp_path / "s.cobras", X),
        pytest.raises(SessionFileError, match="open"),
    ):
        Session.open(tmp_path / "s.cobras", X)


def test_a_foreign_file_is_not_touched(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("buy milk")
    with pytest.raises(SessionFileError, match="not a session file"):
        Session.open(path, X)
    assert path.read_text() == "buy milk"


def newer_cobras(
    space, constraints, seed, *, branch, first_iteration, reuse, split_fallback, representative, max_level
):
    return cobra(space, constraints, seed, n_super_instances=30)


def test_a_newer_version_that_asks_otherwise_keeps_all_answers(tmp_path, monkeypatch):
    """The journal is replayed by another method: its answers become constraints, and live goes on from there."""
    path = tmp_path / "s.cobras"
    with Session.open(path, X, random_state=0, method="cobras") as s:
        run(s, LabelOracle(y), until=lambda s: s.n_answers >= 15)
        said = [a.tolist() for a in s.constraints()]
    monkeypatch.setitem(METHODS, "cobras", MethodEntry(f"{__name__}:newer_cobras"))
    with Session.open(path, X) as s:
        assert [a.tolist() for a in s.constraints()] == said
        run(s, LabelOracle(y), until=lambda s: s.n_answers >= 25)
        live = s.ask(), s.labels_.tolist(), s.history
    with Session.open(path, X) as s:
        assert (s.ask(), s.labels_.tolist(), s.history) == live


# -- methods that a file names -----------------------------------------------------------------------------------

OWN = """
from cobras.methods.cobra import cobra

def ask(space, constraints, seed, *, k: int = 3):
    return cobra(space, constraints, seed, n_super_instances=k)
"""


def test_a_file_imports_no_code_that_the_caller_does_not_name(tmp_path, monkeypatch):
    (tmp_path / "somebody_elses.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "s.cobras"
    with Session.open(path, X, "somebody_elses:ask", 0) as s:
        s.tell(True, s.ask())
    monkeypatch.delitem(sys.modules, "somebody_elses")
    with pytest.raises(InvalidDataError, match=r"method='somebody_elses:ask'.* is code outside cobras"):
        Session.open(path, X)
    assert "somebody_elses" not in sys.modules
    with Session.open(path, X, "somebody_elses:ask") as s:
        assert s.n_answers == 1


def test_a_registered_method_by_its_module_opens_as_before(tmp_path):
    with Session.open(tmp_path / "s.cobras", X, "cobras.methods.cobra:cobra", 0) as s:
        s.tell(True, s.ask())
    with Session.open(tmp_path / "s.cobras", X) as s:
        assert s.n_answers == 1
