"""ADDER and its parts, against brute force."""

import threading
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics import adjusted_rand_score

from cobras import ADDER, Answer, Constraints, InvalidDataError, LabelOracle, Session, run
from cobras.methods.adder import points as landscape
from cobras.methods.adder.diffusion import Diffusion, affinities
from cobras.methods.adder.points import Landscape
from cobras.methods.adder.predictors import PREDICTORS, Known, believe, left_out
from cobras.methods.adder.similarity import Likeness
from cobras.methods.adder.state import join_likely
from cobras.spaces.euclidean import EuclideanSpace
from cobras.spaces.series import SeriesSpace
from tests.problems import problems

X, y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def land():
    return Landscape(EuclideanSpace(X), seed=0, n_parts=5)


def some_known(seed: int, n: int = 20) -> Known:
    rng = np.random.default_rng(seed)
    points = rng.permutation(len(X))[:n]
    return Known(points, np.unique(y[points], return_inverse=True)[1], np.ones(n, bool))


@pytest.mark.parametrize("a", [0.9, 0.99])
def test_a_column_is_that_of_the_inverse(a):
    S = affinities(X, 10)
    whole = (1 - a) * np.linalg.inv(np.eye(len(X)) - a * S.toarray())
    for i in (0, 77, 149):
        np.testing.assert_allclose(Diffusion(S, a).column(i), whole[:, i], atol=1e-6)


@given(st.integers(1, 12), st.integers(1, 15), st.integers(0, 100), st.booleans())
def test_affinities_are_symmetric_and_bounded(n, k, seed, twins):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (n, 2)).astype(float) if twins else rng.random((n, 2))
    S = affinities(rows, k)
    assert isinstance(S, sparse.csr_array)
    dense = S.toarray()
    np.testing.assert_allclose(dense, dense.T)
    assert not dense.diagonal().any()
    assert np.abs(np.linalg.eigvalsh(dense)).max() <= 1 + 1e-9


@pytest.mark.parametrize("name", PREDICTORS)
@pytest.mark.parametrize("seed", range(3))
def test_a_point_left_out_is_predicted_from_the_others(land, name, seed):
    known, predictor = some_known(seed), PREDICTORS[name]
    M = known.membership
    found = left_out(predictor, predictor.influence(land, known.points), M)
    for x in range(len(M)):
        others = np.arange(len(M)) != x
        rest = Known(*(part[others] for part in known))
        alone = predictor(land, rest, M[others], known.points[[x]])
        np.testing.assert_allclose(found[x], alone[0], atol=1e-4)


def test_the_mixture_is_a_distribution_and_trusts_who_predicts_well(land):
    known = some_known(0, n=40)
    everywhere = np.arange(land.n)
    p = believe(land, known, everywhere, tuple(PREDICTORS))
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
    assert (p.argmax(axis=1) == y).mean() > 0.9


def test_the_predictor_that_predicts_best_is_heard(land):
    """Clusters that are stripes along one direction: linear regression knows them, the nearest point does not."""
    rng = np.random.default_rng(0)
    rows = rng.random((300, 30))
    rows[:, 0] *= 2
    half = (rows[:, 0] > 1).astype(int)
    wide = Landscape(EuclideanSpace(rows), seed=0, n_parts=3)
    known = Known(np.arange(80), half[:80], np.ones(80, bool))
    everywhere = np.arange(300)
    both = believe(wide, known, everywhere, ("nearest", "linear"))
    linear = believe(wide, known, everywhere, ("linear",))
    nearest = believe(wide, known, everywhere, ("nearest",))
    right = [(p.argmax(axis=1)[80:] == half[80:]).mean() for p in (nearest, linear, both)]
    assert right[1] > right[0] + 0.1
    np.testing.assert_allclose(both, linear, atol=0.05)


def test_a_block_keeps_the_order_it_was_asked_for(land):
    """Also where all points are asked for."""
    order = np.random.default_rng(0).permutation(land.n)
    whole = land.columns("distance", np.arange(land.n))
    np.testing.assert_array_equal(land.block("distance", order, order), whole[np.ix_(order, order)])


def test_columns_that_two_threads_ask_for_do_not_get_mixed_up():
    """The second thread comes while the column of the first is being computed."""
    land, whole = (Landscape(EuclideanSpace(X), seed=0, n_parts=5) for _ in range(2))
    other = threading.Thread(target=lambda: land.columns("distance", np.array([140])))
    make = land._make["distance"]

    def interrupted(point):
        if point == 7:
            other.start()
            other.join(0.2)  # seconds; it waits if it has to, and goes on afterwards
        return make(point)

    land._make["distance"] = interrupted
    first = land.columns("distance", np.array([7]))
    other.join()
    np.testing.assert_array_equal(first, whole.columns("distance", np.array([7])))
    both = np.array([7, 140])
    np.testing.assert_array_equal(land.columns("distance", both), whole.columns("distance", both))


@given(st.integers(1, 9), st.integers(0, 1000), st.floats(0, 1))
def test_joining_respects_what_is_apart_and_stops_at_the_threshold(n, seed, least):
    rng = np.random.default_rng(seed)
    p = rng.random((n, n))
    p = (p + p.T) / 2
    apart = np.eye(n, dtype=bool) | (rng.random((n, n)) < 0.2)
    apart |= apart.T
    size = rng.integers(1, 4, n).astype(float)
    before = p.copy(), apart.copy(), size.copy()
    group = join_likely(p, apart, size, least)
    for given_, kept in zip((p, apart, size), before, strict=True):
        np.testing.assert_array_equal(given_, kept)
    np.testing.assert_array_equal(group, slow_join(p, apart, size, least))


def slow_join(p, apart, size, least):
    """The same, from the definition: the mean over all pairs of seeds."""
    groups = [[i] for i in range(len(p))]

    def likely(a, b):
        if any(apart[i, j] for i in a for j in b):
            return -1.0
        weights = np.array([[size[i] * size[j] for j in b] for i in a])
        return float((p[np.ix_(a, b)] * weights).sum() / weights.sum())

    while len(groups) > 1:
        best, a, b = max(
            ((likely(groups[a], groups[b]), -a, -b) for b in range(len(groups)) for a in range(b)),
        )
        if best < least or best < 0:
            break
        groups[-a] += groups.pop(-b)
    labels = np.empty(len(p), int)
    for group in groups:
        labels[group] = min(group)
    return np.unique(labels, return_inverse=True)[1]


def test_likeness_learns_how_alike_members_are(land):
    """For one person all three species differ, for the other the last two are one."""
    fine, coarse = Constraints(), Constraints()
    rng = np.random.default_rng(0)
    for i, j in rng.integers(0, len(X), (40, 2)):
        if i != j:
            for constraints, labels in ((fine, y), (coarse, np.minimum(y, 1))):
                constraints.add(i, j, Answer.SAME if labels[i] == labels[j] else Answer.DIFFERENT)
    points = np.array([60, 120])
    assert Likeness(land, coarse).among(points)[0, 1] > Likeness(land, fine).among(points)[0, 1]


@given(problems(methods=("adder",), distinct=True, unsure=False))
def test_with_all_answers_the_training_rows_are_right(problem):
    session = problem.session()
    problem.answer_all(session)
    train = np.ones(len(problem.X), bool) if problem.train is None else problem.train
    assert adjusted_rand_score(problem.y[train], session.labels_[train]) == 1


@given(problems(methods=("adder",), distinct=True, unsure=False), st.integers(3, 12))
def test_many_rows_are_seen_as_micro_clusters(problem, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(landscape, "MOST_POINTS", most)
        session, again = problem.session(), problem.session()
        asked = problem.answer_all(session, 30)
        assert problem.answer_all(again, 30) == asked
        np.testing.assert_array_equal(again.labels_, session.labels_)
        assert session.labels_.shape == (len(problem.X),)
        session.undo() if asked else None
        assert session.n_answers == max(len(asked) - 1, 0)


def test_shapes_that_k_means_cannot_cut():
    moons, halves = make_moons(400, noise=0.06, random_state=0)
    est = ADDER(max_queries=20, random_state=0).fit(moons, halves)
    assert adjusted_rand_score(halves, est.labels_) > 0.98
    assert (est.predict(moons) == est.labels_).mean() > 0.9


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


def test_a_promise_is_forgotten_when_it_is_taken_back():
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


def test_a_wrong_answer_is_found_and_not_in_force():
    """One answer of many is wrong: it is asked again by another pair, which contradicts it."""
    found = 0
    for wrong in range(4, 12):
        session = Session(X, "adder", random_state=0)
        for at in range(70):
            i, j = session.ask()
            session.tell((y[i] == y[j]) != (at == wrong), (i, j))
        void = [record.index for record in session.history if not record.in_force]
        known = session._replayed.constraints
        assert set(known.doubted) == {session.history[x].pair.ordered for x in void}
        assert all(known.answered(*r.pair) is r.answer for r in session.history if r.in_force)
        found += void == [wrong]
        if void == [wrong]:
            assert adjusted_rand_score(y, session.labels_) > 0.95
    assert found >= 4


def test_right_answers_cost_few_second_questions():
    session = run(Session(X, "adder", random_state=0), LabelOracle(y), until=lambda s: s.n_answers >= 60)
    known, again = Constraints(), 0
    for record in session.history:
        again += known.relation(*record.pair) is not None
        known.add(*record.pair, record.answer)
        assert record.in_force
    assert again <= 3


@given(problems(methods=("adder",), unsure=False), st.booleans())
def test_the_person_may_speak_about_the_very_answer_that_is_in_doubt(problem, confirm):
    problem.options["doubt"] = 0.0  # every answer is asked again
    session = problem.session()
    while (pair := session.ask()) is not None:
        doubted = session._replayed.constraints.doubted
        if doubted:
            (about, answer), *_ = doubted.items()
            session.add_constraint(*about, answer if confirm else Answer(1 - answer))
            known = session._replayed.constraints
            assert known.relation(*about) is (answer if confirm else Answer(1 - answer))
            assert (about in known.doubted) is not confirm
            return
        session.tell(problem.answer(*pair), pair)


def test_which_answers_may_be_doubted_is_not_remembered_from_another_course():
    """The same two answers, of which first the second, then the first is volunteered."""
    rows = np.array([[0.03], [-0.74], [-1.29], [1.42], [0.45]])
    used, fresh = (Session(rows, "adder", random_state=0, n_parts=1, doubt=0.0) for _ in range(2))
    used.tell(True, used.ask())
    used.add_constraint(*used.ask(), False)
    used.undo()
    used.undo()
    for session in (used, fresh):
        session.add_constraint(*session.ask(), True)
        session.tell(False, session.ask())
    assert used.constraints().must_link.tolist() == fresh.constraints().must_link.tolist()
    assert used.ask() == fresh.ask()


@pytest.mark.parametrize("pure", [True, False])
def test_a_promised_cluster_stays_together_where_micro_clusters_hold_several_known_instances(
    monkeypatch, pure
):
    """All that is known of a cluster may lie in micro-clusters that are shown elsewhere."""
    monkeypatch.setattr(landscape, "MOST_POINTS", 6)
    rows = np.array([[0.0], [0.2], [0.3], [1.0], [1.1], [5.0], [5.2], [9.0]])
    for pair in combinations(range(len(rows)), 2):
        for cluster in range(2):
            session = Session(rows, "adder", random_state=0, n_parts=1, join=1.0)
            session.add_constraint(*pair, True)
            if cluster < session.partition.n_clusters:
                members = session.partition.cluster(cluster).members
                session.mark(cluster, pure=pure, complete=not pure)
                assert len(set(session.labels_[members].tolist())) == 1


def test_bad_options_and_spaces_are_refused():
    with pytest.raises(InvalidDataError, match="some of near far nearest"):
        Session(X, "adder", predictors="near nowhere").ask()
    with pytest.raises(InvalidDataError, match="table of numbers"):
        Session(SeriesSpace(X), "adder").ask()
