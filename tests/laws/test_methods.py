"""Laws of every method, over all options, data with duplicates, training masks and unsure answers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from cobras import Answer, Constraints
from tests.laws.problems import problems


@given(problems())
def test_labels_partition_the_data_after_every_answer(problem):
    session = problem.session()
    for _ in range(40):
        labels = session.labels_
        assert labels.shape == (len(problem.X),)
        assert sorted(set(labels.tolist())) == list(range(session.partition.n_clusters))
        rows = np.concatenate([s.members for c in session.partition.clusters for s in c.super_instances])
        assert sorted(rows.tolist()) == list(range(len(problem.X)))
        for cluster in session.partition.clusters:
            for s in cluster.super_instances:
                assert len(set(labels[s.members].tolist())) == 1
                assert s.representative in s.members
        if not problem.answer_all(session, 1):
            break


@given(problems())
def test_only_pairs_of_different_training_rows_are_asked(problem):
    train = np.ones(len(problem.X), bool) if problem.train is None else problem.train
    for i, j in problem.answer_all(problem.session(), 60):
        assert i != j
        assert train[i]
        assert train[j]


@given(problems(transitive=True))
def test_no_implied_pair_is_asked_and_none_twice(problem):
    """Of what is in force: ADDER takes an answer out while it asks again, by another pair."""
    session, seen = problem.session(), set()
    while (pair := session.ask()) is not None:
        known = Constraints()
        for record in session.history:
            if record.in_force:
                known.add(*record.pair, record.answer)
        assert known.relation(*pair) is None
        assert pair.ordered not in seen
        seen.add(pair.ordered)
        session.tell(problem.answer(*pair), pair)


@given(problems(), st.integers(0, 30), st.integers(0, 30))
def test_the_same_seed_asks_the_same_and_a_smaller_budget_is_a_prefix(problem, small, more):
    short, long = problem.session(), problem.session()
    asked_short = problem.answer_all(short, small)
    asked_long = problem.answer_all(long, small + more)
    assert asked_long[: len(asked_short)] == asked_short
    for q in range(len(asked_short) + 1):
        np.testing.assert_array_equal(short.labels_at(q), long.labels_at(q))


@given(problems(distinct=True, unsure=False, transitive=True, methods=("cobras",)))
def test_cobras_recovers_the_target_on_distinct_training_rows(problem):
    problem.options |= {"split_fallback": "train_only", "max_level": None}
    session = problem.session()
    problem.answer_all(session)
    shown = slice(None) if problem.train is None else problem.train
    assert adjusted_rand_score(problem.y[shown], session.labels_[shown]) == 1


# Not with k-Shape, which may leave groups empty.
@given(problems(distinct=True, unsure=False, transitive=True, methods=("cobra",), spaces=("table", "dtw")))
def test_cobra_recovers_the_target_with_a_super_instance_per_row(problem):
    problem.train = None
    problem.options["n_super_instances"] = len(problem.X)
    session = problem.session()
    problem.answer_all(session)
    assert adjusted_rand_score(problem.y, session.labels_) == 1


@given(problems(transitive=True, unsure=False, methods=("cobras",)))
def test_cobras_is_consistent_between_medoids_after_each_iteration(problem):
    problem.options["first_iteration"] = "single"
    session = problem.session()
    for _ in range(60):
        clusters = session.partition.clusters
        medoids = [(i, c) for c, cluster in enumerate(clusters) for i in cluster.representatives]
        for i, a in medoids:
            for j, b in medoids:
                assert (problem.y[i] == problem.y[j]) == (a == b)
        if not problem.answer_all(session, 1):
            break


@given(problems(transitive=True, unsure=False, methods=("cobra",)))
def test_cobra_coarsens_and_violates_no_answer(problem):
    session = problem.session()
    previous = session.labels_
    while (pair := session.ask()) is not None:
        n_before = session.partition.n_clusters
        session.tell(problem.answer(*pair), pair)
        now = session.labels_
        assert len(set(zip(previous.tolist(), now.tolist(), strict=True))) == n_before
        assert session.partition.n_clusters <= n_before - (problem.answer(*pair) is Answer.SAME)
        assert session.progress.unsatisfied == ()
        previous = now


@given(problems(methods=("cobras",)))
def test_cobras_reports_change_only_with_a_completed_iteration(problem):
    """After the first iteration, the reported super-instances are those of a merge that has ended."""
    problem.options |= {"first_iteration": "single", "reuse": "transitive"}
    problem.unsure = 0
    session = problem.session()
    problem.answer_all(session, 40)
    for before, after in zip(session.partitions, session.partitions[1:], strict=False):
        if before is not after:
            old = {tuple(s.members) for c in before.clusters for s in c.super_instances}
            new = {tuple(s.members) for c in after.clusters for s in c.super_instances}
            assert len(new) > len(old)


@given(problems(unsure=True))
def test_unsure_answers_never_become_constraints(problem):
    session = problem.session()
    problem.answer_all(session, 60)
    links = {tuple(sorted(p)) for pairs in session.constraints() for p in pairs.tolist()}
    for pair in session.set_aside:
        assert tuple(pair) not in links
    assert len([r for r in session.history if r.answer is Answer.UNSURE]) >= len(session.set_aside)
