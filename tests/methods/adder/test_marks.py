"""Clusters that are marked as pure or complete."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from cobras import Answer, Constraints, LabelOracle, Session, run
from cobras.methods.adder import points
from cobras.methods.adder.marks import Marks
from tests.laws.problems import problems

X, y = load_iris(return_X_y=True)


def test_marked_clusters_are_kept_as_they_were_shown(iris):
    """Cluster 0 is marked as pure, cluster 1 as complete, cluster 2 not at all."""
    constraints = Constraints()
    marks = Marks(constraints, iris)
    shown = iris.partition(y)
    pure, complete, _ = ([s.mark for s in cluster.super_instances] for cluster in shown.clusters)
    assert not marks
    constraints.pure.update(pure)
    constraints.complete.update(dict.fromkeys(complete, 9))
    marks.update(shown)
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
    constraints.pure.clear()
    marks.update(iris.partition(np.zeros(150, dtype=int)))
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
