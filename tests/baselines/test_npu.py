"""NPU: its arithmetic, its forest, and what must hold in every round of it."""

import itertools
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris

from cobras import Answer, Constraints, InvalidDataError, Session
from cobras.baselines.clusterers import cosc
from cobras.baselines.clusterers.mpckmeans import MPCKMeans
from cobras.baselines.explore import Neighbourhoods, explore_consolidate, min_max
from cobras.baselines.npu import membership, npu, uncertainty
from tests.laws.problems import Problem, problems


class Nearest(BaseEstimator):
    """The nearest of some rows drawn at random; must-linked rows move together. Counts its fits."""

    fits: list = []  # noqa: RUF012

    def __init__(self, n_clusters=3, random_state=None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X, *, must_link, cannot_link):
        rng = np.random.default_rng(self.random_state)
        centers = X[rng.choice(len(X), self.n_clusters, replace=False)]
        self.labels_ = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        for i, j in must_link:
            self.labels_[self.labels_ == self.labels_[j]] = self.labels_[i]
        Nearest.fits.append((len(must_link), len(cannot_link)))
        return self


class Warm(Nearest):
    given: list = []  # noqa: RUF012

    def fit(self, X, *, must_link, cannot_link, init_labels=None):
        Warm.given.append(init_labels)
        return super().fit(X, must_link=must_link, cannot_link=cannot_link)


@st.composite
def cases(draw, *, infer_last=False, unsure=True, true_k=False, max_rows=25):
    """A problem for one of the three methods, with a K that need not be right."""
    problem = draw(problems(methods=("cobras",), spaces=("table",), unsure=unsure, max_rows=max_rows))
    k = len(set(problem.y.tolist())) if true_k else draw(st.integers(1, 7))
    problem.method = draw(st.sampled_from([npu, explore_consolidate, min_max]))
    problem.options = {"n_clusters": k, "clusterer": draw(st.sampled_from(["mpckmeans", Nearest(k)]))}
    problem.options["infer_last"] = infer_last
    if problem.method is npu:
        problem.options["n_trees"] = 5
    return problem


def watched(problem, n=None):
    """Answer n questions; return the pairs, the session, and the neighbourhoods at the start of each round."""
    seen, session = [], problem.session()
    refresh = Neighbourhoods.refresh

    def watch(self):
        refresh(self)
        seen.append([list(group) for group in self.groups])

    with patch.object(Neighbourhoods, "refresh", watch):
        asked = problem.answer_all(session, n)
    return asked, session, seen


# -- arithmetic ----------------------------------------------------------------------------------------------


def test_uncertainty_by_hand():
    entropy, n_questions = uncertainty(np.array([[0.5, 0.5], [0.9, 0.1], [0.1, 0.9], [1.0, 0.0]]))
    np.testing.assert_allclose(entropy, [1, 0.469, 0.469, 0], atol=5e-4)
    np.testing.assert_allclose(n_questions, [1.5, 1.1, 1.1, 1])
    np.testing.assert_allclose(entropy / n_questions, [0.667, 0.426, 0.426, 0], atol=5e-4)


@given(st.integers(1, 6).flatmap(lambda n: arrays(float, (4, n), elements=st.floats(0, 1, width=16))))
def test_membership_is_a_distribution_and_uncertainty_has_its_bounds(similarities):
    p = membership(similarities)
    n = p.shape[1]
    np.testing.assert_allclose(p.sum(axis=1), 1)
    entropy, n_questions = uncertainty(p)
    assert (entropy >= -1e-12).all()
    assert (entropy <= np.log2(n) + 1e-12).all()
    assert (n_questions >= 1 - 1e-12).all()
    assert (n_questions <= (n + 1) / 2 + 1e-12).all()


# -- rounds --------------------------------------------------------------------------------------------------


@given(cases())
def test_neighbourhoods_are_pure_disjoint_and_of_training_rows(problem):
    _, session, seen = watched(problem, 60)
    train = np.arange(len(problem.X)) if problem.train is None else np.flatnonzero(problem.train)
    relation = session._replay.constraints.relation
    for groups in seen:
        placed = [i for group in groups for i in group]
        assert len(placed) == len(set(placed))
        assert set(placed) <= set(train.tolist())
        classes = [{int(problem.y[i]) for i in group} for group in groups]
        assert all(len(c) == 1 for c in classes)
        assert len(set.union(*classes)) == len(groups)
        assert all(
            relation(a[0], b[0]) is Answer.DIFFERENT for at, a in enumerate(groups) for b in groups[:at]
        )


@given(cases(unsure=False))
def test_a_round_places_one_instance_and_founds_a_neighbourhood_iff_it_is_apart_from_all(problem):
    asked, session, seen = watched(problem)
    partitions, at = session.partitions, 0
    for before, after in itertools.pairwise(seen):
        (x,) = {i for g in after for i in g} - {i for g in before for i in g}
        answers = []
        while at < len(asked) and asked[at].i == x:
            answers.append(problem.answer(*asked[at]))
            assert len({asked[at].j} & {i for g in before for i in g}) == 1
            at += 1
        assert 1 <= len(answers) <= len(before)
        assert all(a is Answer.DIFFERENT for a in answers[:-1])
        assert (len(after) > len(before)) == (answers == [Answer.DIFFERENT] * len(before))
        assert (len(after) > len(before)) == (answers[-1] is Answer.DIFFERENT)
        assert all(p is partitions[at - 1] for p in partitions[at - len(answers) : at])
    assert at == len(asked)
    shown = np.arange(len(problem.X)) if problem.train is None else np.flatnonzero(problem.train)
    assert sorted(i for group in seen[-1] for i in group) == shown.tolist()  # exhausted
    assert {frozenset(group) for group in seen[-1]} == {
        frozenset(int(i) for i in shown if problem.y[i] == c) for c in problem.y[shown].tolist()
    }


@given(cases())
def test_no_implied_pair_and_no_test_row_is_asked_and_nobody_more_than_three_times(problem):
    asked, _, _ = watched(problem)
    known = Constraints()
    for i, j in asked:
        assert known.relation(i, j) is None
        assert i != j
        assert problem.train is None or problem.train[[i, j]].all()
        known.add(i, j, problem.answer(i, j))
    assert len({tuple(sorted(pair)) for pair in asked}) == len(asked)
    n_groups = len(set(problem.y.tolist()))
    assert max(np.unique([i for i, _ in asked], return_counts=True)[1], default=0) <= 3 * n_groups


@given(cases(infer_last=True, true_k=True, unsure=False))
def test_with_the_true_number_of_clusters_the_last_neighbourhood_need_not_be_asked(problem):
    asked, _, seen = watched(problem)
    assert all(len({int(problem.y[i]) for i in group}) == 1 for groups in seen for group in groups)
    assert sum(map(len, seen[-1])) == (len(problem.X) if problem.train is None else problem.train.sum())
    n_questions = np.unique([i for i, _ in asked], return_counts=True)[1]
    assert max(n_questions, default=0) <= problem.options["n_clusters"] - 1


@given(cases(infer_last=True), st.data())
def test_any_number_of_clusters_comes_to_an_end_whatever_is_volunteered(problem, data):
    session = problem.session()
    for _ in range(3):
        problem.answer_all(session, data.draw(st.integers(0, 10)))
        i, j = data.draw(st.tuples(*[st.integers(0, len(problem.X) - 1)] * 2))
        if i != j:
            session.add_constraint(i, j, bool(problem.y[i] == problem.y[j]))
    problem.answer_all(session)
    labels = session.labels_.tolist()
    assert session.ask() is None
    session._state = None
    assert session.labels_.tolist() == labels


def test_doubt_about_one_neighbourhood_does_not_imply_another():
    constraints = Constraints()
    constraints.add(0, 1, Answer.DIFFERENT)
    neighbourhoods = Neighbourhoods(np.arange(3), 0, constraints)
    neighbourhoods.refresh()
    report = Session(np.zeros((3, 1)), method="cobras").partition
    asking = neighbourhoods.place(2, [0, 1], report, 2)
    assert next(asking).pair == (2, 0)
    assert asking.send(Answer.UNSURE).pair == (2, 1)
    with pytest.raises(StopIteration):
        asking.send(Answer.DIFFERENT)
    neighbourhoods.refresh()
    assert neighbourhoods.groups == [[0], [1]]
    assert neighbourhoods.candidates().tolist() == []


def test_the_most_informative_instance_is_asked_and_the_likeliest_neighbourhood_first():
    """With a similarity of our own in the place of the forest's."""
    rng = np.random.default_rng(0)
    y = np.arange(30) % 4
    X = rng.normal(size=(30, 2)) + 2 * y[:, None]
    alike = np.exp(-np.linalg.norm(X[:, None] - X[None], axis=2))
    problem = Problem(X, y, None, npu, 0, {"n_clusters": 4})
    with patch(
        "cobras.baselines.npu.similarity",
        lambda _, rows, groups: np.stack([alike[np.ix_(rows, g)].mean(axis=1) for g in groups], axis=1),
    ):
        asked, _, seen = watched(problem)
    at = 0
    for groups in seen[:-1]:
        turn = [pair for pair in asked[at:] if pair.i == asked[at].i]
        at += len(turn)
        if len(groups) > 1:
            outside = np.setdiff1d(np.arange(30), [i for g in groups for i in g])
            best = []
            for x in outside:
                p = np.array([alike[x, g].mean() for g in groups])
                p /= p.sum()
                best.append(-(p * np.log2(p)).sum() / sum(n * q for n, q in enumerate(sorted(p)[::-1], 1)))
            assert turn[0].i == outside[np.argmax(best)]
            p = np.array([alike[turn[0].i, g].mean() for g in groups])
            homes = [next(n for n, g in enumerate(groups) if j in g) for _, j in turn]
            assert homes == np.argsort(-p)[: len(homes)].tolist()
    assert at == len(asked)


def test_an_inference_from_too_few_clusters_gives_way_to_a_constraint():
    X = np.arange(12.0)[:, None] + 10 * (np.arange(12) // 4)[:, None]
    problem = Problem(X, np.arange(12) // 4, None, npu, 0, {"n_clusters": 2, "infer_last": True})
    session = problem.session()
    problem.answer_all(session)
    n_before = session.n_answers
    session.add_constraint(0, 4, False)
    session.add_constraint(4, 8, False)
    session.add_constraint(0, 8, False)
    for row in range(12):
        if row % 4:
            session.add_constraint(row, row - row % 4, True)
    assert session.ask() is None
    assert session.n_answers == n_before
    assert session._replay.constraints.relation(1, 11) is Answer.DIFFERENT


# -- doubt, help and marks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [npu, explore_consolidate, min_max])
def test_a_person_who_is_always_unsure_is_asked_once_about_each_instance(method):
    session = Session(np.arange(9.0)[:, None], method, 1, n_clusters=2)
    asked = []
    while (pair := session.ask()) is not None:
        session.skip(pair)
        asked.append(pair.i)
    assert len(asked) == len(set(asked)) == 8
    assert len(session.set_aside) == 8


def test_two_further_members_are_shown_to_an_unsure_person():
    X = np.arange(20.0)[:, None]
    session = Session(X, npu, 0, n_clusters=2, n_trees=5)
    while len(session.constraints().must_link) < 4:
        session.tell(True, session.ask())
    first = session.ask()
    shown = []
    while session.ask() is not None and session.ask().i == first.i:
        shown.append(session.ask().j)
        session.skip(session.ask())
    assert len(set(shown)) == len(shown) == 3
    session.tell(True, session.ask())
    while (pair := session.ask()) is not None:
        assert pair.i != first.i
        session.tell(True, pair)
    session.add_constraint(first.i, first.j, True)  # the doubt is settled: nothing is left
    assert session.ask() is None
    assert session._replay.constraints.component(first.i) == session._replay.constraints.component(0)


def test_what_a_person_volunteers_places_instances_and_costs_no_question():
    y = np.arange(12) % 3
    session = Session(np.random.default_rng(0).normal(size=(12, 2)), npu, 0, n_clusters=3, n_trees=5)
    for i in range(3, 12):
        session.add_constraint(i, i % 3, True)
    n = 0
    while (pair := session.ask()) is not None:
        session.tell(bool(y[pair.i] == y[pair.j]), pair)
        n += 1
    assert n <= 3


@pytest.mark.parametrize("method", ["npu", "explore_consolidate", "min_max"])
def test_marks_are_refused(method):
    session = Session(np.arange(9.0)[:, None], method, 0, n_clusters=3)
    with pytest.raises(InvalidDataError, match=f"{method} knows no marks; cobras, cobra and adder do"):
        session.mark(cluster=1, pure=True)


# -- clusterers ----------------------------------------------------------------------------------------------


def test_replay_undo_and_a_session_on_the_same_space_repeat_no_clustering_and_no_forest():
    X, y = load_iris(return_X_y=True)
    clusterer = Nearest(3)
    session = Session(X, npu, 0, clusterer=clusterer, n_trees=5)
    Problem(X, y, None, npu, 0).answer_all(session, 20)
    n_fits, pair, labels = len(Nearest.fits), session.ask(), session.labels_.tolist()
    with patch("cobras.baselines.npu.leaves", side_effect=AssertionError):
        for _ in range(5):
            session.undo()
            session.ask()
        for _ in range(5):
            session.redo()
        assert (session.ask(), session.labels_.tolist()) == (pair, labels)
        assert len(Nearest.fits) == n_fits
    other = Session(session.space, npu, 0, clusterer=Nearest(2), n_trees=5)
    assert other.ask() is not None
    assert len(Nearest.fits) == n_fits + 1


def test_a_clusterer_starts_from_the_clustering_before_if_it_can():
    X, y = load_iris(return_X_y=True)
    for options, warm_start in (({"warm_start": True}, True), ({"warm_start": False}, False), ({}, False)):
        Warm.given.clear()
        session = Session(X, npu, 0, clusterer=Warm(3), n_trees=5, **options)
        Problem(X, y, None, npu, 0).answer_all(session, 10)
        assert Warm.given[0] is None
        starts = [labels is not None for labels in Warm.given[1:]]
        assert starts == [warm_start] * len(starts)
        assert starts
    Warm.given.clear()
    session = Session(X, explore_consolidate, 0, clusterer=Warm(3))
    Problem(X, y, None, npu, 0).answer_all(session, 10)
    assert all(labels is None for labels in Warm.given)


@pytest.mark.parametrize("warm_start", [True, False])
def test_cosc_builds_its_graph_once_in_all_rounds(warm_start):
    X, y = load_iris(return_X_y=True)
    options = {"clusterer": "cosc", "n_clusters": 3, "n_trees": 5, "warm_start": warm_start}
    with patch.object(cosc, "similarity_graph", wraps=cosc.similarity_graph) as graph:
        session = Session(X, npu, 0, **options)
        Problem(X, y, None, npu, 0).answer_all(session, 8)
    assert graph.call_count == 1


class Strict(Warm):
    """Refuses what cannot be done, as some clusterers do."""

    def fit(self, X, *, must_link, cannot_link, init_labels=None):
        linked = Constraints()
        for i, j in must_link:
            linked.add(int(i), int(j), Answer.SAME)
        assert self.n_clusters <= len({linked.component(i) for i in range(len(X))})
        assert init_labels is None or max(init_labels) < self.n_clusters
        return super().fit(X, must_link=must_link, cannot_link=cannot_link)


@pytest.mark.parametrize("method", [npu, explore_consolidate, min_max])
@pytest.mark.parametrize("n_clusters", [2, 5, 30])
def test_no_more_clusters_are_asked_for_than_the_must_links_leave(method, n_clusters):
    X, y = np.random.default_rng(0).normal(size=(12, 2)), np.arange(12) % 3
    problem = Problem(X, y, None, method, 0, {"clusterer": Strict(n_clusters), "infer_last": False})
    session = problem.session()
    problem.answer_all(session)
    assert session.partition.n_clusters <= max(n_clusters, 3)


def test_a_clusterer_is_cloned_and_keeps_its_own_seed():
    X, _ = load_iris(return_X_y=True)
    clusterer = MPCKMeans(3)
    Session(X, npu, 0, clusterer=clusterer).ask()
    assert clusterer.random_state is None
    assert not hasattr(clusterer, "labels_")
    seeded = [Session(X, npu, seed, clusterer=Nearest(3, random_state=5)).labels_.tolist() for seed in (0, 1)]
    assert seeded[0] == seeded[1]


def test_bad_options_are_named():
    X = np.zeros((3, 1))
    with pytest.raises(InvalidDataError, match="needs the number of clusters"):
        Session(X, npu, 0).ask()
    with pytest.raises(InvalidDataError, match="explore_consolidate needs the number of clusters"):
        Session(X, explore_consolidate, 0).ask()
    with pytest.raises(InvalidDataError, match="no clusterer 'kmeans'"):
        Session(X, npu, 0, clusterer="kmeans", n_clusters=2).ask()
    with pytest.raises(InvalidDataError, match="n_trees"):
        Session(X, npu, 0, n_clusters=2, n_trees=0)


# -- sessions ------------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(cases(), st.integers(0, 12))
def test_the_same_seed_asks_the_same_and_undo_is_before(problem, n):
    session, again = problem.session(), problem.session()
    seen = [(session.ask(), session.labels_.tolist())]
    while len(seen) <= n and problem.answer_all(session, 1):
        seen.append((session.ask(), session.labels_.tolist()))
        problem.answer_all(again, 1)
        assert (again.ask(), again.labels_.tolist()) == seen[-1]
    for before in reversed(seen[:-1]):
        session.undo()
        assert (session.ask(), session.labels_.tolist()) == before


@settings(max_examples=30)
@given(cases(max_rows=15), st.data())
def test_a_changed_answer_is_replayed_to_the_end(problem, data):
    session = problem.session()
    if not problem.answer_all(session, 12):
        return
    try:
        session.revise(data.draw(st.integers(0, session.n_answers - 1)), data.draw(st.sampled_from(Answer)))
    except ValueError:
        return
    pair, labels = session.ask(), session.labels_.tolist()
    session._state = None
    assert (session.ask(), session.labels_.tolist()) == (pair, labels)
    for _ in range(60 * len(problem.X)):
        if (pair := session.ask()) is None:
            break
        known = session._replay.constraints
        session.tell(Answer.DIFFERENT if known.relation(*pair) is None else known.relation(*pair), pair)
    assert session.ask() is None
