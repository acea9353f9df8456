"""Progress: how stable the clusters are, and which answers they do not satisfy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine

from cobras import Answer, LabelOracle, Pair, Record, Session, run
from cobras.core.progress import kept_share, overlap, satisfied, stable_share
from tests.problems import problems

X, y = load_iris(return_X_y=True)


def answered(n):
    return run(Session(X, random_state=0), LabelOracle(y), until=lambda s: s.n_answers >= n)


def test_progress_tells_which_answers_do_not_hold():
    session = answered(60)
    labels = session.labels_
    broken = [r for r in session.history if (labels[r.pair.i] == labels[r.pair.j]) != bool(r.answer)]
    progress = session.progress
    assert list(progress.unsatisfied) == broken
    assert progress.n_answers == 60
    assert 0 <= progress.stable_share <= 1
    assert answered(5).progress.stable_share is None


def test_a_session_on_wine_violates_some_answers():
    """COBRAS may, because members of a super-instance follow its representative: the count is worth showing."""
    Xw, yw = load_wine(return_X_y=True)
    session = run(Session(Xw, random_state=1), LabelOracle(yw), until=lambda s: s.n_answers >= 40)
    assert session.progress.unsatisfied


def test_an_exhausted_session_says_so():
    session = run(Session(X[:20], random_state=0), LabelOracle(y[:20] * 0))
    assert session.progress.may_stop
    assert session.progress.reason == "Nothing is left worth asking."


@settings(max_examples=20)
@given(problems(methods=("cobras", "cobra", "adder")), st.integers(1, 25), st.integers(0, 25))
def test_overlap_by_super_instances_is_overlap_by_rows(problem, n_answers, at):
    session = problem.session()
    problem.answer_all(session, n_answers)
    before, now = session.partitions[min(at, len(session.partitions) - 1)], session.partition
    shared = np.zeros((before.n_clusters, now.n_clusters), int)
    np.add.at(shared, (before.labels, now.labels), 1)
    np.testing.assert_array_equal(overlap(before, now), shared)
    assert kept_share(shared) == stable_share(before.labels, now.labels)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.permutations(range(5)))
def test_new_numbers_for_the_same_clusters_are_no_change(labels, numbers):
    before = np.array(labels, np.int32)
    assert stable_share(before, np.array(numbers, np.int32)[before]) == 1


@pytest.mark.parametrize(
    ("answer", "holds"), [(Answer.SAME, False), (Answer.DIFFERENT, True), (Answer.UNSURE, True)]
)
def test_an_answer_holds_where_the_clusters_agree_with_it(answer, holds):
    record = Record(0, "answer", Pair(0, 1), answer, at=0.0)
    assert satisfied(record, {0: 3, 1: 4}) is holds
    assert satisfied(record, np.array([2, 2], np.int32)) is (holds is False or answer is Answer.UNSURE)
