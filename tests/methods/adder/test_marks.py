"""Clusters that are marked as pure or complete."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from cobras import Answer, Constraints, LabelOracle, Session, run
from cobras.core.constraints import Marked
from cobras.methods.adder.geometry import points
from cobras.methods.adder.marks import Marks
from tests.laws.problems import problems

X, y = load_iris(return_X_y=True)


def set_marks(constraints, cluster, *, complete=False, number=0):
    for s in cluster.super_instances:
        constraints.marked[s.mark] = Marked(s, number)
        if complete:
            constraints.complete[s.mark] = number
        else:
            constraints.pure.add(s.mark)


def test_marked_clusters_are_kept_as_they_were_shown(iris):
    """Cluster 0 is marked as pure, cluster 1 as complete, cluster 2 not at all."""
    constraints = Constraints()
    marks = Marks(constraints, iris)
    shown = iris.partition(y)
    pure, complete, _ = shown.clusters
    assert not marks
    set_marks(constraints, pure)
    set_marks(constraints, complete, complete=True, number=9)
    assert marks
    assert [sorted(c.tolist()) for c in marks.clusters(complete=False)] == [list(range(50))]
    assert [sorted(c.tolist()) for c in marks.clusters(complete=True)] == [list(range(50, 100))]
    assert np.flatnonzero(marks.inside()).tolist() == list(range(100))
    assert np.flatnonzero(marks.inside(complete_only=True)).tolist() == list(range(50, 100))
    constraints.add(3, 7, Answer.DIFFERENT)
    links = marks.links([3, 7, 8, 60, 99, 120])
    assert links.relation(60, 99) is Answer.SAME
    assert links.relation(7, 8) is Answer.SAME
    assert links.relation(3, 7) is Answer.DIFFERENT  # an answer counts for more than a mark
    assert links.relation(99, 120) is None
    for s in pure.super_instances:
        del constraints.marked[s.mark]
    assert marks.clusters(complete=False) == []
    assert np.flatnonzero(marks.inside()).tolist() == list(range(50, 100))


@given(problems(methods=("adder",), unsure=False), st.integers(0, 9), st.booleans(), st.booleans())
def test_a_complete_cluster_stays_and_is_never_asked_about(problem, n, one, pure_first):
    session = problem.session()
    problem.answer_all(session, n)
    if pure_first:
        session.mark(0, pure=True)
        problem.answer_all(session, n)
    kept = {tuple(c.members.tolist()) for c in session.partition.clusters[: 1 if one else None : 2]}
    for members in kept:
        before = session.labels_
        session.mark(int(session.labels_[members[0]]), complete=True)
        np.testing.assert_array_equal(session.labels_, before)
    inside = set(chain.from_iterable(kept))
    assert not any({i, j} & inside for i, j in problem.answer_all(session))
    assert {tuple(c.members.tolist()) for c in session.partition.clusters} >= kept


@given(problems(methods=("adder",), unsure=False), st.integers(0, 9))
def test_a_pure_cluster_stays_together_and_no_further_member_is_asked_about(problem, n):
    session = problem.session()
    problem.answer_all(session, n)
    kept = [c.members for c in session.partition.clusters[::2]]
    for members in kept:
        session.mark(int(session.labels_[members[0]]), pure=True)
    for _ in range(30):
        assert all(len(set(session.labels_[members].tolist())) == 1 for members in kept)
        asked = problem.answer_all(session, 1)
        assert not any({i, j} <= set(members.tolist()) for i, j in asked for members in kept)
        if not asked:
            break


@pytest.mark.parametrize("kind", ["pure", "complete"])
@pytest.mark.parametrize("most_points", [60, 5000])
def test_a_cluster_marked_before_the_first_answer_stays_when_rows_are_added(monkeypatch, kind, most_points):
    """The super-instances that are shown then are the first parts, and later others."""
    monkeypatch.setattr(points, "MOST_POINTS", most_points)
    session = Session(X[:120], "adder", random_state=0)
    session.mark(0, **{kind: True})
    for new in (X[120:140], X[140:]):
        session.append(new)
        assert session.labels_.tolist() == [0] * len(session.labels_)
        assert session.marks == {0: kind}
        assert session.ask() is None or kind == "pure"  # which new rows are not part of
    session.mark(0)
    assert session.marks == {}
    assert session.ask() is not None


def test_a_cluster_marked_after_an_append_is_the_one_that_is_shown():
    """Until the first answer, that is not yet the clustering that ADDER would show of all rows."""
    session = Session(X[:120], "adder", random_state=0)
    session.append(X[120:])
    session.mark(0, complete=True)
    assert (session.labels_.tolist(), session.marks, session.ask()) == ([0] * 150, {0: "complete"}, None)


def test_a_marked_cluster_stays_where_the_method_begins_again():
    """As it does when answers are taken back, here in another cluster."""
    rng = np.random.default_rng(0)
    kind = rng.integers(3, size=90)
    rows = rng.normal(size=(90, 2)) + 3 * np.eye(3)[kind][:, :2]
    session = run(Session(rows, "adder", 0), LabelOracle(kind), until=lambda s: s.n_answers >= 12)
    marked = session.partition.cluster(0).members
    session.mark(0, complete=True)
    other = next(r for r in session.history if r.answer is Answer.SAME and session.labels_[r.pair.i] != 0)
    session.move([other.pair.i], None, anyway=True)
    np.testing.assert_array_equal(session.partition.cluster(0).members, marked)
    assert session.marks == {0: "complete"}


def test_a_mark_that_is_taken_back_changes_nothing():
    plain, marked = (run(Session(X, "adder", random_state=0), LabelOracle(y), until=ten) for _ in range(2))
    marked.mark(0, complete=True)
    assert marked.ask() != plain.ask() or marked.marks == {0: "complete"}
    marked.mark(0)
    assert marked.marks == {}
    for session in (plain, marked):
        run(session, LabelOracle(y), until=lambda s: s.n_answers >= 20)
    assert [r.pair for r in marked.history] == [r.pair for r in plain.history]


def ten(session):
    return session.n_answers >= 10


@pytest.mark.parametrize("pure", [True, False])
def test_a_marked_cluster_stays_together_where_micro_clusters_hold_several_known_instances(monkeypatch, pure):
    """All that is known of a cluster may lie in micro-clusters that are shown elsewhere."""
    monkeypatch.setattr(points, "MOST_POINTS", 6)
    rows = np.array([[0.0], [0.2], [0.3], [1.0], [1.1], [5.0], [5.2], [9.0]])
    for pair in combinations(range(len(rows)), 2):
        for cluster in range(2):
            session = Session(rows, "adder", random_state=0, n_parts=1, join=1.0)
            session.add_constraint(*pair, True)
            if cluster < session.partition.n_clusters:
                members = session.partition.cluster(cluster).members
                session.mark(cluster, pure=pure, complete=not pure)
                assert len(set(session.labels_[members].tolist())) == 1
