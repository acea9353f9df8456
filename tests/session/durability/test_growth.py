"""Sessions whose collection grows: in memory, in a file, and what is refused."""

import numpy as np
import pytest

from cobras import DataChangedError, DataGrownError, InvalidDataError, LabelOracle, SeriesSpace, Session, run
from tests.laws.problems import OWN
from tests.laws.test_journal import state

rng = np.random.default_rng(0)
Y = rng.integers(3, size=90)
X = rng.normal(size=(90, 2)) + 6 * Y[:, None]
METHODS = ("cobras", "cobra", "adder", OWN)


def answered(method, n_answers=12, path=None, n=60):
    session = Session(X[:n], method, 0) if path is None else Session.open(path, X[:n], method, 0)
    run(session, LabelOracle(Y), until=lambda s: s.n_answers >= n_answers)
    return session


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (np.zeros((2, 3)), "The new rows have 3 columns, but the session has 2. Give the same columns."),
        ([[0.0, np.nan]], "X holds NaN or infinity, first at row 0, column 1. Fill or drop such rows."),
        (np.empty((0, 2)), "X must be a table with rows and columns, but its shape is (0, 2)."),
        (
            X[:2].astype(np.float32),
            "The new rows are float32, but the session has float64. Convert them by astype.",
        ),
        (
            np.array([["a", "b"]], object),
            "Column 0 of X holds 'a' in row 0, but only numbers can be clustered. Drop or encode it.",
        ),
        (X[0], "X must be a table with rows and columns, but its shape is (2,)."),
    ],
)
def test_bad_rows_are_refused_in_one_sentence_and_nothing_changes(method, rows, sentence):
    session = answered(method, 3)
    before = state(session)
    with pytest.raises(InvalidDataError) as caught:
        session.append(rows)
    assert str(caught.value) == sentence
    assert state(session) == before


def test_series_and_spaces_of_ones_own_do_not_grow():
    session = Session(SeriesSpace(X[:10]), random_state=0)
    with pytest.raises(InvalidDataError, match="Rows can be added to a table of numbers in memory only"):
        session.append(X[:2])


def test_all_spaces_share_the_rows_and_no_array_of_the_caller_is_kept():
    session, new = answered("cobras"), X[60:].copy()
    session.append(new)
    new[:] = 7.0
    np.testing.assert_array_equal(session.space.X, X)
    assert np.shares_memory(session.space.X, session.space.old.X)


@pytest.mark.parametrize("method", METHODS)
def test_a_file_is_opened_with_all_rows_and_with_nothing_else(method, tmp_path):
    path = tmp_path / "s.cobras"
    with answered(method, path=path) as session:
        session.append(X[60:70])
        run(session, LabelOracle(Y), until=lambda s: s.n_answers >= 16)
        session.append(X[70:75])
        live = state(session)
    other, swapped = X[:75].copy(), X[:75].copy()
    other[66] += 1
    swapped[[62, 72]] = swapped[[72, 62]]
    for wrong in (X[:60], X[:70], X[:74], other, swapped, X[:75][::-1], X[:75].astype(np.float32)):
        with pytest.raises(DataChangedError, match="belongs to another table"):
            Session.open(path, wrong, method)
    with pytest.raises(DataGrownError, match="has the first 75 of these 90 rows") as caught:
        Session.open(path, X, method)
    assert (caught.value.n_before, caught.value.n_rows) == (75, 90)
    with Session.open(path, X[:75], method) as session:
        assert state(session) == live
    with Session.open(path, X, method, grow=True) as session:
        assert session.undo().text == "the append of 15 rows"
        assert state(session) == live


def test_rows_that_were_taken_back_may_be_there_or_not(tmp_path):
    path = tmp_path / "s.cobras"
    with answered("cobras", path=path) as session:
        before = state(session)
        session.append(X[60:70])
        after = state(session)
        session.undo()
    with Session.open(path, X[:60]) as session:
        assert state(session) == before
        with pytest.raises(InvalidDataError, match="The rows that were added are not at hand"):
            session.redo()
        assert (state(session), session.can_redo) == (before, True)
    with Session.open(path, X[:70]) as session:
        assert state(session) == before
        session.redo()
        assert state(session) == after
        session.undo()
    with Session.open(path, np.concatenate([X[:60], X[80:]]), grow=True) as session:
        assert (len(session.labels_), session.can_redo) == (70, False)


def test_a_row_that_differs_is_found_before_anything_is_written(tmp_path):
    rows = np.repeat(X, 40, axis=0)  # more than the sample that is compared at once
    path = tmp_path / "s.cobras"
    with Session.open(path, rows[:1000], "cobras", 0) as session:
        session.append(rows[1000:3600])
    rows[1001] += 1
    with (
        Session.open(path, rows) as session,
        pytest.raises(DataChangedError, match="belongs to another table"),
    ):
        session.tell(True, session.ask())


def test_train_indices_are_about_the_first_rows(tmp_path):
    path, train = tmp_path / "s.cobras", np.arange(0, 60, 2)
    with Session.open(path, X[:60], "cobras", 0, train_indices=train) as session:
        session.append(X[60:])
        live = state(session)
    with Session.open(path, X, train_indices=[*train, *range(60, 90)]) as session:
        assert state(session) == live
    with pytest.raises(DataChangedError, match="other train_indices"):
        Session.open(path, X, train_indices=range(90))


@pytest.mark.parametrize("method", METHODS)
def test_rows_that_come_again_after_other_answers_are_clustered_once_each(method):
    session = answered(method, 20)
    session.append(X[60:])
    run(session, LabelOracle(Y), until=lambda s: s.n_answers >= 40)
    while session.can_undo:
        session.undo()
    other = np.where(Y == 2, 1, Y)
    run(session, LabelOracle(other), until=lambda s: s.n_answers >= 20)
    session.append(X[60:])
    for _ in range(20):
        held = [s.members for group in session.partition.groups for s in group]
        np.testing.assert_array_equal(np.sort(np.concatenate(held)), np.arange(90))
        if (pair := session.ask()) is None:
            break
        session.tell(other[pair.i] == other[pair.j], pair)
