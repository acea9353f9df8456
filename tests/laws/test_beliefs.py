"""Laws of how sure a session is, after anything that a person may have done."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import InvalidDataError, LabelOracle, Session, run
from tests.laws.acting import act, constraints_of
from tests.laws.problems import BELIEVING, OPTIONS, OWN, problems
from tests.laws.test_acts import begin

EVERYTHING = (*OPTIONS, OWN)
IN_ROWS = ("table", "passes")


@given(problem=problems(max_rows=20, methods=EVERYTHING, spaces=IN_ROWS), data=st.data())
def test_probabilities_add_up_and_the_largest_is_predicted(problem, data):
    session = begin(problem, data)
    rng = np.random.default_rng(problem.seed)
    new = np.concatenate([problem.X, rng.normal(size=(5, problem.X.shape[1])) * 3])
    P = session.predict_proba(new)
    assert P.shape == (len(new), session.partition.n_clusters)
    assert P.min() >= 0
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-6)
    predicted = session.predict(new)
    assert predicted.dtype == np.int32
    np.testing.assert_array_equal(predicted, P.argmax(axis=1))


@given(problem=problems(max_rows=20, methods=EVERYTHING, spaces=IN_ROWS), data=st.data())
def test_confidence_is_that_of_the_cluster_a_row_is_shown_in(problem, data):
    session = begin(problem, data)
    sure, n = session.confidence_, session.space.n
    assert (sure.dtype, sure.shape) == (np.float32, (n,))
    assert 0 <= sure.min() <= sure.max() <= 1
    moves = [r for r in session.history if r.kind == "move" and r.answer is None]
    # A move of which only a part was taken back still counts.
    moves = [r for r in moves if {pair.ordered for pair, _ in r.said} - {*r.void}]
    moved = {row for record in moves for row in problem.moved[record.index]}
    assert (sure[list(moved)] == 1).all()
    if problem.method not in BELIEVING:
        rest = [row for row in range(n) if row not in moved]
        here = session.predict_proba(problem.rows(0, n))[np.arange(n), session.labels_]
        # Answers with which the clustering agrees make their rows nearly sure.
        constraints, labels = constraints_of(session), session.labels_
        wrong = [pair for pair, answer in constraints if (labels[pair.i] == labels[pair.j]) != int(answer)]
        settled = sorted({*constraints.rows()} - {row for pair in wrong for row in pair})
        here[settled] = np.maximum(here[settled], 0.99)
        np.testing.assert_allclose(sure[rest], here[rest], atol=1e-6)


@given(problem=problems(max_rows=20, methods=("cobras", "cobra"), spaces=IN_ROWS), data=st.data())
def test_the_centre_of_a_super_instance_is_in_its_cluster(problem, data):
    session = begin(problem, data)
    clusters = session.partition.clusters
    centres = [(tuple(s.centroid), c) for c, cluster in enumerate(clusters) for s in cluster.super_instances]
    for centre, c in centres:
        if all(other != centre for other, d in centres if d != c):
            assert session.predict([centre]).tolist() == [c]


@given(problem=problems(max_rows=20, methods=EVERYTHING, spaces=IN_ROWS), data=st.data())
def test_undo_restores_how_sure_it_was_and_redo_brings_it_back(problem, data):
    session = begin(problem, data)
    before, P = session.confidence_, session.predict_proba(problem.X)
    kinds = ("answer", "board", "name", "mark", "constraint", "move", "merge", "split")
    if act(session, problem, data, kinds) == "nothing":
        return
    after = session.confidence_
    session.undo()
    np.testing.assert_array_equal(session.confidence_, before)
    np.testing.assert_array_equal(session.predict_proba(problem.X), P)
    session.redo()
    np.testing.assert_array_equal(session.confidence_, after)


@given(problem=problems(max_rows=10, methods=("cobras",), spaces=("dtw", "kshape")))
def test_series_are_refused_in_a_sentence(problem):
    session = problem.session()
    with pytest.raises(InvalidDataError, match="rows of numbers only"):
        session.predict(problem.X)
    with pytest.raises(InvalidDataError, match="all rows are numbers in memory"):
        session.confidence_  # noqa: B018


@pytest.mark.parametrize("method", sorted(OPTIONS))
@pytest.mark.parametrize("power", [-400, -60, 60, 450])
def test_the_units_of_the_data_change_nothing(method, power):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) + np.repeat([[0, 0], [3, 0], [0, 3]], 10, axis=0)
    new, y = rng.normal(size=(20, 2)) * 3, np.repeat([0, 1, 2], 10)
    needs_number = method in ("npu", "explore_consolidate", "min_max")
    options = {"n_clusters": 3} if needs_number else {name: v[0] for name, v in OPTIONS[method].items()}
    options = {"predictors": "all"} if method == "adder" else options
    found = []
    for unit in (1.0, 2.0**power):
        session = Session(X * unit, method, random_state=0, **options)
        run(session, LabelOracle(y), until=lambda s: s.n_answers >= 6)
        found.append((session.ask(), session.labels_, session.confidence_, session.predict_proba(new * unit)))
    for as_is, scaled in zip(*found, strict=True):
        np.testing.assert_array_equal(as_is, scaled)
