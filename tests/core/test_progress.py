"""Progress: how stable the clusters are, and which answers they do not satisfy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics.cluster import contingency_matrix

from cobras import Answer, LabelOracle, Pair, Record, Session, run
from cobras.core.progress import (
    ENOUGH,
    LASTING,
    is_satisfied,
    kept_share,
    n_answers_left,
    overlap,
    pairs_set_aside,
)

X, y = load_iris(return_X_y=True)


def answered(n):
    return run(Session(X, "cobras", random_state=0), LabelOracle(y), until=lambda s: s.n_answers >= n)


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
    session = run(Session(Xw, "cobras", random_state=1), LabelOracle(yw), until=lambda s: s.n_answers >= 40)
    assert session.progress.unsatisfied


def test_an_exhausted_session_says_so():
    session = run(Session(X[:20], random_state=0), LabelOracle(y[:20] * 0))
    assert session.progress.may_stop
    assert session.progress.reason == "Nothing is left worth asking."


def test_one_may_stop_when_the_method_expects_that_all_is_well():
    rows, kinds = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    session = Session(rows + 9 * kinds[:, None], "adder", random_state=0)
    stops = []
    run(session, LabelOracle(kinds), until=lambda s: stops.append(s.progress.may_stop) or s.n_answers >= 25)
    progress, expected = session.progress, session.expected_ari_
    assert len(expected) == len(session.partitions) == 26
    assert progress.expected_ari == expected[-1]
    assert progress.may_stop
    assert progress.reason == "The clusters are probably nearly what you mean."
    # None before the first answer.
    lasts = [min(value or 0 for value in expected[max(0, n - LASTING) : n + 1]) for n in range(26)]
    assert stops == [lasts[n] >= ENOUGH and n >= LASTING for n in range(26)]
    low, high = progress.ari_range
    assert low <= expected[-1] <= high <= 1
    # The same answers give the same expectations, and undo takes the last one back.
    session.undo()
    assert session.expected_ari_ == expected[:-1]
    # COBRAS has no such beliefs: that clusters are stable is no reason to stop.
    other = answered(60).progress
    assert (other.may_stop, other.expected_ari, other.n_left) == (False, None, None)


@given(st.floats(0.95, 0.99), st.integers(0, 240))
def test_a_steady_course_is_foretold_and_another_one_is_not(share, n):
    course = [1 - share**k for k in range(n + 1)]
    left = n_answers_left(course)
    needed = np.log(0.1) / np.log(share) - n
    foretold = needed + 1.5 * LASTING
    if left is not None:
        assert n >= 40
        assert abs(left - foretold) <= 5
    elif n >= 40:
        assert needed < 0 or foretold > 30
    assert n_answers_left(course[::-1]) is None
    assert n_answers_left([None] * n) is None


def test_a_board_with_unsure_cards_is_set_aside_once():
    session = answered(12)
    board = session.board(5)
    session.sort(board, [board.cards[:1]])
    assert len(session.set_aside) > 1
    assert session.progress.n_set_aside == 1
    last = session.history[-1]
    assert len(pairs_set_aside(last, session.set_aside)) == len(session.set_aside)
    assert not any(pairs_set_aside(record, session.set_aside) for record in session.history[:-1])
    session.revise(last.index, Answer.UNSURE)
    assert session.progress.n_set_aside == len(session.set_aside) == 0


def test_what_is_not_in_force_need_not_be_satisfied():
    same = [(Pair(0, k), Answer.SAME) for k in (1, 2)]
    clusters = {0: 0, 1: 1, 2: 0}
    assert not is_satisfied(Record(0, "board", None, None, 0.0, said=tuple(same)), clusters)
    void = Record(0, "board", None, None, 0.0, in_force=False, said=tuple(same), void=(Pair(0, 1),))
    assert is_satisfied(void, clusters)
    assert not is_satisfied(void, clusters | {2: 2})


@pytest.mark.parametrize(
    ("method", "options"), [("cobras", {}), ("cobra", {}), ("min_max", {"n_clusters": 3})]
)
@given(seed=st.integers(0, 99), answers=st.lists(st.sampled_from([True, False, False, None]), max_size=40))
def test_overlap_is_what_counting_rows_gives(method, options, seed, answers):
    X = np.random.default_rng(seed).normal(size=(40, 2))
    session = Session(X, method, random_state=seed, **options)
    for answer in answers:
        if (pair := session.ask()) is not None:
            session.tell(answer, pair)
    partitions = session.partitions
    for before, now in (
        (partitions[a], partitions[b]) for a, b in ((0, -1), (-1, 0), (len(partitions) // 2, -1))
    ):
        np.testing.assert_array_equal(overlap(before, now), contingency_matrix(before.labels, now.labels))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.permutations(range(5)))
def test_new_numbers_for_the_same_clusters_are_no_change(labels, numbers):
    assert kept_share(contingency_matrix(labels, np.array(numbers)[labels])) == 1


def test_the_share_is_that_of_the_best_match():
    assert kept_share(contingency_matrix([0, 0, 1, 1], [1, 1, 1, 0])) == 0.75


@pytest.mark.parametrize(
    ("answer", "apart", "together"),
    [(Answer.SAME, False, True), (Answer.DIFFERENT, True, False), (Answer.UNSURE, True, True)],
)
def test_an_answer_holds_where_the_clusters_agree_with_it(answer, apart, together):
    record = Record(0, "answer", Pair(0, 1), answer, at=0.0)
    assert is_satisfied(record, {0: 3, 1: 4}) is apart
    assert is_satisfied(record, np.array([2, 2], np.int32)) is together
