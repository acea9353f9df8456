"""ADDER as a whole."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from cobras import ADDER, Answer, LabelOracle, SeriesSpace, Session, run
from cobras.core.constraints import Constraints
from cobras.methods.adder import adder
from cobras.methods.adder.geometry import points
from cobras.spaces.euclidean import EuclideanSpace
from tests.laws.problems import problems

X, y = load_iris(return_X_y=True)


@given(problems(methods=("adder",), distinct=True, unsure=False))
def test_with_all_answers_the_training_rows_are_right(problem):
    session = problem.session()
    problem.answer_all(session)
    train = np.ones(len(problem.X), bool) if problem.train is None else problem.train
    assert adjusted_rand_score(problem.y[train], session.labels_[train]) == 1


@given(problems(methods=("adder",), distinct=True, unsure=False), st.integers(3, 12))
def test_many_rows_are_seen_as_micro_clusters(problem, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(points, "MOST_POINTS", most)
        session, again = problem.session(), problem.session()
        asked = problem.answer_all(session, 30)
        assert problem.answer_all(again, 30) == asked
        np.testing.assert_array_equal(again.labels_, session.labels_)
        assert session.labels_.shape == (len(problem.X),)
        session.undo() if asked else None
        assert session.n_answers == max(len(asked) - 1, 0)


@given(problems(methods=("adder",), spaces=("table",)), st.integers(-460, 460))
def test_the_unit_of_the_data_does_not_matter(problem, power):
    problem.X = problem.X.astype(np.float64)
    session = problem.session()
    asked = problem.answer_all(session, 30)
    problem.X = problem.X * 2.0**power
    other = problem.session()
    assert problem.answer_all(other, 30) == asked
    np.testing.assert_array_equal(other.labels_, session.labels_)


@pytest.mark.parametrize("factor", [1e-140, 1e-25, 1e25, 1e140])
def test_tiny_and_huge_numbers(factor):
    labels = ADDER(max_queries=15, random_state=0).fit(X, y).labels_
    scaled = ADDER(max_queries=15, random_state=0).fit(X * factor, y).labels_
    # No power of two, so that rows which lie between two means may come to the other one.
    assert adjusted_rand_score(labels, scaled) > 0.95


@pytest.mark.parametrize("outlier", [1e100, -1e140])
def test_an_outlier_leaves_the_others_in_their_clusters(outlier):
    rows = X.copy()
    rows[7, 2] = outlier
    labels = ADDER(max_queries=30, random_state=0).fit(rows, y).labels_
    assert adjusted_rand_score(y, labels) > 0.9


def test_shapes_that_k_means_cannot_cut():
    moons, halves = make_moons(400, noise=0.06, random_state=0)
    est = ADDER(max_queries=20, random_state=0).fit(moons, halves)
    assert adjusted_rand_score(halves, est.labels_) > 0.98
    assert (est.predict(moons) == est.labels_).mean() > 0.9


def test_all_first_parts_are_compared_before_an_instance_is_placed():
    """With well separated clusters, the first questions are about representatives of the twelve parts."""
    centres = np.array([[0.0, 0], [9, 0], [0, 9]])
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 40)
    rows = centres[labels] + rng.normal(size=(120, 2))
    session = Session(rows, "adder", random_state=0)
    parts = session.space.split(session.space.root(0), 12)
    representatives = {part.representative for part in parts}
    assert set(session.ask()) <= representatives
    while adjusted_rand_score(labels, session.labels_) < 1:
        pair = session.ask()
        assert set(pair) <= representatives
        session.tell(labels[pair.i] == labels[pair.j], pair)
    assert session.n_answers <= 12


def test_the_first_question_needs_the_parts_alone(monkeypatch):
    """Nothing is measured until it is answered; and then once, though two threads want it."""
    measured = []
    measure = points.Points._measure
    monkeypatch.setattr(points.Points, "_measure", lambda *given: (measured.append(given), measure(*given)))
    session = Session(X, "adder", random_state=0)
    pair = session.ask()
    assert not measured
    assert session.partition.n_clusters == 1
    with ThreadPoolExecutor(2) as pool:
        following = [pool.submit(session.question_after(Answer(n))) for n in (0, 1)]
    assert len(measured) == 1
    session.tell(Answer.SAME, pair)
    assert session.ask() == following[1].result()
    assert len(measured) == 1


def test_before_the_first_answer_a_person_may_do_anything_else():
    session = Session(X[:140], "adder", random_state=0)
    first = session.ask()
    session.append(X[140:])
    assert session.n_answers == 0
    assert len(session.labels_) == 150
    session.undo()
    assert session.ask() == first
    session.mark(0, complete=True)
    assert session.ask() is None
    assert session.marks == {0: "complete"}
    session.undo()
    session.split(0)
    run(session, LabelOracle(y), until=lambda s: s.partition.n_clusters > 1)
    assert session.n_answers > 0


def test_whoever_is_unsure_at_once_gets_another_question():
    session = Session(X, "adder", random_state=0)
    asked = []
    for _ in range(4):
        asked.append(session.ask())
        session.tell(Answer.UNSURE, asked[-1])
    assert len(set(asked)) == 4
    assert {*session.set_aside} == {pair.ordered for pair in asked}


def n_first_parts(groups: np.ndarray, wanted: np.ndarray, n_answers: int, seed: int) -> int:
    """Into how many first parts rows in far groups are split after so many answers."""
    rng = np.random.default_rng(seed)
    rows = 10 * rng.normal(size=(groups.max() + 1, 4))[groups] + rng.normal(size=(len(groups), 4))
    constraints = Constraints()
    steps = adder(EuclideanSpace(rows), constraints, 0)
    step = next(steps)
    while len(constraints) < n_answers:
        step = steps.send(Answer(int(wanted[step.pair.i] == wanted[step.pair.j])))
    return len(step.beliefs.state.first_parts)


def test_first_parts_become_finer_where_clusters_are_many_and_not_for_a_few_different_ones():
    """Two clusters of a dozen groups each: near groups are often different, and yet clusters are not many."""
    two, many = np.repeat(np.arange(24), 40), np.repeat(np.arange(60), 16)
    # Now and then chance has it that nearly all answers are "different" there, too.
    assert np.mean([n_first_parts(two, two % 2, 30, seed) == 12 for seed in range(8)]) >= 0.75
    assert all(n_first_parts(many, many, 20, seed) > 48 for seed in range(3))


@pytest.mark.parametrize("seed", [3, 4])
def test_first_parts_become_no_finer_while_most_answers_about_them_are_same(seed):
    """A person who begins with "different" a few times, and then mostly says "same"."""
    constraints = Constraints()
    steps = adder(EuclideanSpace(np.random.default_rng(seed).normal(size=(150, 4))), constraints, 0)
    step = next(steps)
    while len(constraints) < 30:
        is_same = len(constraints) >= 6 and len(constraints) % 3 != 0
        step = steps.send(Answer.SAME if is_same else Answer.DIFFERENT)
    assert len(step.beliefs.state.first_parts) == 48


@pytest.mark.parametrize("seed", range(3))
def test_clusters_of_several_regions_are_found(seed):
    """As departments of a shop, which hold kinds of goods: regions of one cluster lie anywhere."""
    rows, region = make_blobs(600, 4, centers=24, cluster_std=0.8, random_state=seed)
    found = ADDER(max_queries=200, random_state=0).fit(rows, region % 3).labels_
    assert adjusted_rand_score(region % 3, found) > 0.9


def test_hundreds_of_clusters_of_a_few_rows_are_found_after_few_answers():
    """As records of the same person: most have one to four."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(200), rng.integers(1, 5, 200))
    rows = rng.normal(size=(200, 12))[person] + 0.15 * rng.normal(size=(len(person), 12))
    found = ADDER(max_queries=30, random_state=0).fit(rows, person).labels_
    assert adjusted_rand_score(person, found) > 0.9


@pytest.mark.parametrize("distance", ["dtw", "kshape"])
def test_series_are_clustered_by_their_distances(distance):
    rng, kind = np.random.default_rng(0), np.arange(60) % 3
    t = np.linspace(0, 6, 40)
    values = np.sin((1 + kind[:, None]) * t) + rng.normal(scale=0.2, size=(60, 40))
    session = Session(SeriesSpace(values, distance=distance), "adder", 0)
    run(session, LabelOracle(kind), until=lambda s: s.n_answers >= 20)
    assert adjusted_rand_score(kind, session.labels_) > 0.95
    assert session.confidence_.shape == (60,)


def two_that_overlap(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two clusters, between which many belong to either."""
    rng = np.random.default_rng(0)
    half = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + half[:, None] * 2.0, half


def test_what_differs_from_one_of_two_clusters_is_in_the_other():
    """This is not asked, so that the same answers tell of more rows; and it is not said to be sure."""
    rows, half = two_that_overlap()
    sessions = {}
    for exclusion in (0.8, 1.0):
        sessions[exclusion] = session = Session(rows, "adder", random_state=0, exclusion=exclusion)
        run(session, LabelOracle(half), until=lambda s: s.n_answers >= 60)
    n_rows = {
        exclusion: len({i for record in s.history for i in record.pair}) for exclusion, s in sessions.items()
    }
    assert n_rows[0.8] > n_rows[1.0] + 5
    session = sessions[0.8]
    told = np.unique(session.constraints().must_link)
    inferred = np.setdiff1d(session.constraints().cannot_link, told)
    assert len(inferred) > 5
    assert len(session.partition.clusters) == 2
    assert session.confidence_[told].min() >= np.float32(0.99)
    assert session.confidence_[inferred].min() < np.float32(0.9)
    # All of it is undone with the answers that it came from.
    fresh = Session(rows, "adder", random_state=0, exclusion=0.8)
    run(fresh, LabelOracle(half), until=lambda s: s.n_answers >= 30)
    while session.n_answers > 30:
        session.undo()
    assert session.ask() == fresh.ask()
    np.testing.assert_array_equal(session.labels_, fresh.labels_)


def test_a_third_cluster_is_not_taken_for_one_of_two():
    """Rows of clusters that were not met before are compared with all that are likely."""
    rng = np.random.default_rng(0)
    kind = np.repeat(np.arange(6), 40)
    rows = rng.normal(size=(240, 2)) + np.array([[0, 0], [2, 0], [4, 0], [0, 2], [2, 2], [4, 2]])[kind] * 1.5
    session = Session(rows, "adder", random_state=0, exclusion=0.8)
    run(session, LabelOracle(kind), until=lambda s: s.n_answers >= 120)
    assert len({kind[i] for i in np.unique(session.constraints().must_link)}) == 6
    assert len(session.partition.clusters) >= 6
