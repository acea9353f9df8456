"""Moves, merges, splits and what is known: what they say, where they are shown, and what is refused."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from cobras import Answer, InconsistentAnswersError, InvalidDataError, LabelOracle, Session, run
from cobras.core.types import Event
from cobras.session.file import fingerprints
from cobras.session.journal import Journal
from tests.laws.problems import OWN

X, y = load_iris(return_X_y=True)
SAME, DIFFERENT = Answer.SAME, Answer.DIFFERENT


def answered(n, method="cobras", **options):
    session = Session(X, method, random_state=0, **options)
    return run(session, LabelOracle(y), until=lambda s: s.n_answers >= n)


def plain_row(session, cluster):
    """A row of a cluster that is no representative and that nothing is known about."""
    told = {i for r in session.history for pair, _ in r.said for i in pair}
    shown = {i for c in session.partition.clusters for i in c.representatives}
    rows = np.flatnonzero(session.labels_ == cluster).tolist()
    return next((i for i in rows if i not in told | shown), None)


def partial_labels(n, seed=0):
    rows = np.random.default_rng(seed).choice(len(y), n, replace=False)
    given = np.full(len(y), np.nan)
    given[rows] = y[rows]
    return rows, given


@pytest.mark.parametrize(
    "as_given",
    [
        lambda given: given,
        lambda given: [None if k != k else str(k) for k in given],
        lambda given: np.ma.masked_invalid(given),
        lambda given: np.nan_to_num(given, nan=-1),
        lambda given: pd.Series(given, dtype="Int64"),
        lambda given: pl.Series(given, nan_to_null=True),
    ],
)
def test_labels_of_some_rows_become_as_few_constraints_as_needed(as_given):
    rows, given = partial_labels(30)
    session = Session.from_labels(X, as_given(given), random_state=0, unknown=-1)
    (record,) = session.history
    is_text = isinstance(list(as_given(given))[rows[0]], str)
    assert session.names == ({int(session.labels_[i]): f"{y[i]}.0" for i in rows} if is_text else {})
    assert (record.kind, session.n_answers, session.parameters["method"]) == ("known", 0, "adder")
    assert len(record.said) == 30  # a chain for each of three labels, and three cannot-links
    labels = session.labels_
    for i, j in combinations(rows, 2):
        assert (labels[i] == labels[j]) == (y[i] == y[j])
    assert adjusted_rand_score(y, labels) > 0.6
    assert session.undo().text == "what was known of 30 items"
    assert (session.history, session.names) == ((), {})
    session.redo()
    np.testing.assert_array_equal(session.labels_, labels)


@pytest.mark.parametrize("method", ["cobras", "cobra", "adder"])
def test_what_is_known_is_not_asked_and_outlives_the_session(tmp_path, method):
    rows, given = partial_labels(60)
    file = tmp_path / "known.cobras"
    with Session.from_labels(X, given, method, 0, path=file) as session:
        run(session, LabelOracle(y), until=lambda s: s.n_answers >= 15)
        asked = [record.pair for record in session.history if record.kind == "answer"]
        assert asked
        assert not any(set(pair) <= set(rows.tolist()) for pair in asked)
        labels = session.labels_
    with Session.open(file, X) as session:
        np.testing.assert_array_equal(session.labels_, labels)
    with pytest.raises(InvalidDataError, match="holds a session already"):
        Session.from_labels(X, given, path=file)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "Nothing is said about any two rows"),
        ({"labels": [None] * len(y)}, "Nothing is said about any two rows"),
        ({"labels": [0, 1]}, "There are 2 labels for 150 rows"),
        ({"labels": 7}, "Labels are given as one value for each row, not as 7"),
        ({"labels": "species"}, "Labels are given as one value for each row, not as 'species'"),
        (
            {"labels": pl.DataFrame({"y": y})},
            "Labels are given as one value for each row, not as a DataFrame",
        ),
        ({"labels": [[1]] * len(y)}, "A label is a number or a text, not \\[1\\]"),
        ({"must_link": [(0, 150)]}, "must_link names row 150, but rows go from 0 to 149"),
        ({"cannot_link": [(3, 3)]}, "cannot_link pairs row 3 with itself"),
        ({"must_link": [(0, 1, 2)]}, "must_link must hold pairs of row numbers"),
    ],
)
def test_constraints_that_make_no_sense_are_refused(given, sentence):
    session = Session(X, random_state=0, method="cobras")
    with pytest.raises(InvalidDataError, match=sentence):
        session.add_constraints(**given)
    assert not session.can_undo


def test_constraints_that_contradict_are_refused_together(tmp_path):
    session = Session(X, random_state=0, method="cobras")
    session.add_constraint(0, 1, SAME)
    for given in (
        {"cannot_link": [(5, 6), (1, 0)]},
        {"must_link": [(2, 3), (3, 4)], "cannot_link": [(2, 4)]},
    ):
        with pytest.raises(InconsistentAnswersError):
            session.add_constraints(**given)
        assert len(session.history) == 1
    file = tmp_path / "new.cobras"
    with pytest.raises(InvalidDataError):
        Session.from_labels(X, [1, 2], path=file)
    assert not file.exists()


@pytest.mark.parametrize("method", ["cobras", "cobra", "adder", "cobs", "min_max"])
def test_a_moved_row_is_in_its_new_cluster_at_once_and_back_after_undo(method):
    session = answered(12, method, **({"n_clusters": 3} if method == "min_max" else {}))
    before, names = session.labels_, session.names
    for to in range(session.partition.n_clusters):
        source = (to + 1) % session.partition.n_clusters
        if (row := plain_row(session, source)) is None:
            continue
        member = int(session.partition.cluster(to).representatives[0])
        session.move([row], to=to)
        assert session.labels_[row] == session.labels_[member]
        assert session.history[-1].kind == "move"
        assert [answer for _, answer in session.history[-1].said] == [SAME, DIFFERENT]
        assert session.undo().text == "the move of 1 item"
        np.testing.assert_array_equal(session.labels_, before)
        assert session.names == names


def test_a_row_that_does_not_belong_is_a_cluster_of_its_own():
    session = answered(12)
    row, n = plain_row(session, 0), session.partition.n_clusters
    assert session.after_move([row], None).n_changed == 1
    session.move([row], None)
    assert session.partition.n_clusters == n + 1
    assert len(session.partition.cluster(int(session.labels_[row]))) == 1
    assert session.n_answers == 12


def test_answers_go_on_around_a_moved_row():
    session = answered(8)
    row = plain_row(session, 1)
    session.move([row], 0)
    truth = y.copy()
    truth[row] = y[session.partition.cluster(0).representatives[0]]
    run(session, LabelOracle(truth))
    assert session.ask() is None
    assert session.progress.unsatisfied == ()


def test_the_representative_alone_is_moved():
    """COBRAS would let all of its super-instance follow."""
    session = Session([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]], "cobra", 0, n_super_instances=2)
    representative = session.partition.cluster(0).representatives[0]
    session.name(0, "low")
    assert session.after_move([representative], 1).n_changed == 1
    session.move([representative], 1)
    assert session.labels_[representative] == session.labels_[3]
    assert sorted(np.bincount(session.labels_).tolist()) == [2, 4]
    stays = next(i for i in range(3) if i != representative)
    assert session.names == {int(session.labels_[stays]): "low"}
    session.undo()
    assert session.names == {0: "low"}


def test_several_rows_are_the_same_as_each_other():
    session = answered(12)
    rows = [plain_row(session, 0), plain_row(session, 1)]
    session.move(rows, None)
    assert len(set(session.labels_[rows].tolist())) == 1
    assert [answer for _, answer in session.history[-1].said] == [SAME, DIFFERENT, DIFFERENT]


@pytest.mark.parametrize("method", ["cobras", "cobra", "adder", "cobs"])
def test_merged_clusters_are_one_and_the_preview_says_how_many_move(method):
    session = answered(12, method)
    labels = session.labels_
    a, b = 0, 1
    try:
        preview = session.after_merge(a, b)
    except InconsistentAnswersError:
        session.undo()
        while session.n_answers and session.partition.n_clusters > 1:
            try:
                preview = session.after_merge(a, b)
                break
            except InconsistentAnswersError:
                session.undo()
        labels = session.labels_
    if session.partition.n_clusters < 2:
        return
    representatives = [session.partition.cluster(c).representatives[0] for c in (a, b)]
    session.merge(a, b)
    assert len(set(session.labels_[representatives].tolist())) == 1
    np.testing.assert_array_equal(preview.partition.labels, session.labels_)
    if method in ("cobras", "cobra"):
        assert len(set(session.labels_[np.isin(labels, (a, b))].tolist())) == 1


def test_what_contradicts_the_answers_is_refused_with_the_chain():
    session = answered(20)
    before = session.labels_
    with pytest.raises(InconsistentAnswersError, match=r"contradicts earlier answers: .* different"):
        session.merge(0, 1)
    i, j = session.constraints().must_link[0].tolist()
    with pytest.raises(InconsistentAnswersError, match="are same") as caught:
        session.move([i], None)
    assert caught.value.chain
    assert len(session.history) == 20
    np.testing.assert_array_equal(session.labels_, before)
    assert session.labels_[i] == session.labels_[j]


def test_a_later_revision_may_take_a_move_out_of_force():
    session = Session([[0.0], [1.0], [3.0], [3.1]], "cobra", 0, n_super_instances=4)
    session.add_constraint(0, 1, DIFFERENT)
    session.add_constraint(1, 2, DIFFERENT)
    session.move([0], to=int(session.labels_[2]))  # 0 is the same as 2
    assert session.revise(0, SAME).no_longer_apply[0].kind == "move"
    record = session.history[2]
    assert (record.kind, record.in_force) == ("move", False)
    assert session.labels_[0] == session.labels_[1] != session.labels_[2]
    assert session.undo().text == "the change of a constraint to same"
    assert session.labels_[0] == session.labels_[2]


def test_a_move_is_withdrawn_by_revising_it_to_unsure():
    session = answered(12)
    before, row = session.labels_, plain_row(session, 0)
    session.move([row], None)
    with pytest.raises(
        InvalidDataError, match="Answer 12 is a move, which can be revised to UNSURE, not to SAME"
    ):
        session.revise(12, True)
    session.revise(12, None)
    np.testing.assert_array_equal(session.labels_, before)
    assert (session.history[12].answer, session.history[12].said) == (Answer.UNSURE, ())
    assert session.undo().text == "the removal of the move of 1 item"


def test_a_revision_is_named_by_the_number_that_the_page_shows():
    session = Session(X, random_state=0)
    session.add_constraint(0, 1, SAME)
    session.tell(SAME, session.ask())
    session.tell(SAME, session.ask())
    session.revise(2, None)
    assert session.undo().text == "the change of answer 2 to unsure"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda s: s.move([], 0), "Nothing was chosen"),
        (lambda s: s.move([150], 0), "no row 150"),
        (lambda s: s.move([0.5], 0), "A row is given by a whole number"),
        (lambda s: s.move([0], 99), "There is no cluster 99"),
        (lambda s: s.move(range(150), None), "All items of the cluster were chosen"),
        (lambda s: s.merge(1, 1), "Cluster 1 is one already"),
        (lambda s: s.merge(0, 99), "There is no cluster 99"),
        (lambda s: s.split(99), "There is no cluster 99"),
    ],
)
def test_wrong_arguments(call, sentence):
    session = answered(12)
    with pytest.raises(InvalidDataError, match=sentence):
        call(session)
    assert len(session.history) == 12


def test_who_cannot_split_says_so():
    with pytest.raises(InvalidDataError, match="cobs cannot be asked to split"):
        Session(X, "cobs", random_state=0, k_max=3, n_eps=2, max_min_points=2, n_sigma=2).split(0)
    session = answered(12)
    session.mark(0, pure=True)
    with pytest.raises(InvalidDataError, match="Remove the mark first"):
        session.split(0)
    session.move([plain_row(session, 1)], None)
    alone = int(session.labels_[session.history[-1].said[0][0].i])
    with pytest.raises(InvalidDataError, match="holds one item"):
        session.split(alone)
    with pytest.raises(InvalidDataError, match="only items that were moved"):
        session.mark(alone, pure=True)


def test_a_mark_stays_where_rows_are_moved_out_of_a_cluster():
    session = answered(12)
    cluster = session.partition.cluster(0)
    row = plain_row(session, 0)
    session.move([row], None)
    session.mark(int(session.labels_[cluster.representatives[0]]), complete=True)
    assert session.marks == {int(session.labels_[cluster.representatives[0]]): "complete"}
    inside = set(cluster.members.tolist()) - {row}
    for _ in range(20):
        if (pair := session.ask()) is None:
            break
        assert not inside & set(pair)
        session.tell(y[pair.i] == y[pair.j], pair)


def test_a_row_that_is_moved_out_of_a_cluster_does_not_take_its_mark_along():
    """Nor does a new row that is shown with it."""
    session = Session([[0.73], [0.94]], "cobras", random_state=0)
    session.mark(0, complete=True)
    session.move([0], None)
    assert (session.labels_.tolist(), session.marks) == ([0, 1], {1: "complete"})
    session.append([[0.7]])
    assert (session.labels_.tolist(), session.marks) == ([0, 1, 0], {1: "complete"})


def test_a_mark_changes_no_row_also_after_rows_were_added():
    session = Session([[2.0], [1.0]], "cobra", 0)
    for new in ([[1.0], [0.0]], [[0.0]]):
        session.append(new)
        assert session.labels_.tolist() == [0, 1, 1, 1, 1][: len(session.labels_)]
    session.mark(1, pure=True)
    assert (session.labels_.tolist(), session.marks) == ([0, 1, 1, 1, 1], {1: "pure"})


def test_what_a_method_asked_again_stands_in_no_ones_way():
    """The method begins again after the constraint, and asks about 0 and 2, which follows from the others."""
    session = Session([[0.6], [0.3], [0.0]], OWN, random_state=0)
    session.tell(SAME, (1, 2))
    session.tell(Answer.UNSURE, (0, 2))
    session.add_constraint(0, 1, SAME)
    assert [r.pair for r in session.after_move([1], None, anyway=True).taken_back] == [(1, 2)]
    session.move([1], None, anyway=True)
    assert session.labels_.tolist() == [0, 0, 1]
    assert session.history[2].in_force


def test_what_was_taken_back_and_follows_again_is_taken_back_again():
    rows = [[2.0], [0.0], [0.0], [0.0], [1.0], [2.0], [2.0], [2.0], [0.0], [2.0], [1.0]]
    session = Session(rows, "cobras", random_state=0, reuse="exact")
    session.add_constraint(0, 2, DIFFERENT)
    session.add_constraint(1, 4, DIFFERENT)
    session.tell(SAME, (1, 0))
    session.merge(0, 1, anyway=True)
    assert session.history[1].void == ((1, 4),)
    session.revise(2, DIFFERENT)  # now it follows from this and the merge
    assert session.history[1].in_force
    session.merge(0, 1, anyway=True)
    assert [record.in_force for record in session.history] == [True, False, False, True, True]


@pytest.mark.parametrize("method", ["cobras", "cobra", "adder", "cobs", OWN])
def test_a_row_that_equals_moved_ones_is_shown_with_them(method):
    session = Session([[1.0], [1.0], [2.0]], method, random_state=0)
    session.move([1, 2], None)
    ids = session.cluster_ids_
    session.append([[2.0]])
    assert (session.labels_.tolist(), session.cluster_ids_) == ([0, 1, 1, 1], ids)


def test_a_new_row_goes_along_when_the_row_that_it_is_shown_with_is_moved_on():
    session = Session([[0.0], [1.0], [2.0], [5.0], [20.0], [21.0]], "cobra", 0, n_super_instances=2)
    session.move([3], 1)
    session.append([[5.1], [1.1]])
    assert session.labels_.tolist() == [0, 0, 0, 1, 1, 1, 1, 0]
    session.append([[5.2]])  # nearest to the row that is beside the moved one
    assert session.labels_.tolist() == [0, 0, 0, 1, 1, 1, 1, 0, 1]
    session.move([3], None, anyway=True)
    assert session.labels_.tolist() == [0, 0, 0, 1, 2, 2, 1, 0, 1]
    session.move([6], 2)  # what is said of a row itself counts more
    assert session.labels_.tolist() == [0, 0, 0, 1, 2, 2, 2, 0, 2]
    for _ in range(4):
        session.undo()
    assert session.labels_.tolist() == [0, 0, 0, 1, 1, 1]


def test_a_new_row_is_not_alone_where_all_other_rows_of_its_cluster_were_moved():
    """Also where its nearest row was not moved."""
    session = Session([[0.0], [0.0], [0.0], [0.0], [6.0], [13.0], [13.0]], "cobra", 0, n_super_instances=2)
    session.move([1, 5, 6], None)
    ids = session.cluster_ids_
    session.append([[7.5]])
    assert (session.labels_.tolist(), session.cluster_ids_) == ([0, 1, 0, 0, 0, 1, 1, 1], ids)


def test_new_rows_of_an_earlier_version_stay_where_they_were(tmp_path):
    """Its events do not say that new rows follow moved ones."""
    rows, path = np.array([[1.0], [1.0], [2.0], [2.0]]), tmp_path / "s.cobras"
    with Session.open(path, rows[:3], "cobras", 0) as session:
        session.move([1, 2], None)
    with Journal(path) as journal:
        journal.append(Event("append", {"n_before": 3, "n_rows": 1, **fingerprints(rows[3:])}))
    with Session.open(path, rows) as session:
        assert session.labels_.tolist() == [0, 1, 1, 2]
        session.undo()
        session.append(rows[3:])
        assert session.labels_.tolist() == [0, 1, 1, 1]
