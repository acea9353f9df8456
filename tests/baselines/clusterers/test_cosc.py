"""COSC: the functional, its descent, and what the clusterings promise."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from cobras.baselines.clusterers.cosc import COSC, cluster
from cobras.baselines.clusterers.ratiodca import CutProblem, balance, cut_off, inner, ratio_dca
from cobras.baselines.clusterers.splits import Effort
from cobras.core.exceptions import InconsistentAnswersError, InvalidDataError

SOAK = 10 if os.environ.get("COBRAS_SOAK") else 1
FULL, FAST = Effort(), Effort(n_starts=2, n_runs=1, max_inner=1000, perturbation=False, jump=True)
seeds = st.integers(0, 10_000)


@parametrize_with_checks([COSC(random_state=0), COSC(3, preset="fast", vertex_weights="one")])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def random_graph(rng, low=3, high=12):
    n = int(rng.integers(low, high + 1))
    A = np.triu(rng.random((n, n)) * (rng.random((n, n)) < rng.uniform(0.3, 0.9)), 1)
    path = np.arange(n - 1)
    A[path, path + 1] += 0.01 * (A[path, path + 1] == 0)
    W = sp.csr_array(A + A.T)
    return W, W.sum(axis=0) if rng.random() < 0.5 else np.ones(n)


def random_problem(seed, high=12):
    """A graph with cannot-links that some partition meets."""
    rng = np.random.default_rng(seed)
    W, volume = random_graph(rng, high=high)
    truth = rng.permutation(len(volume)) % 2
    pairs = rng.integers(0, len(volume), (int(rng.integers(0, 6)), 2))
    apart = np.unique(np.sort(pairs[truth[pairs[:, 0]] != truth[pairs[:, 1]]], axis=1), axis=0)
    return W, volume, apart, rng


def brute_force(W, volume, apart, gamma):
    """F of all sets that hold vertex 0 not, by its definition; shape (2 ** (n - 1) - 1,)."""
    n = len(volume)
    sides = (np.arange(1, 2 ** (n - 1))[:, None] >> np.arange(n)) & 1
    cut = np.einsum("si,ij,sj->s", sides, W.toarray(), 1 - sides)
    violations = (sides[:, apart[:, 0]] == sides[:, apart[:, 1]]).sum(axis=1)
    return (cut + gamma * violations) * (1 / (sides @ volume) + 1 / ((1 - sides) @ volume)), sides.astype(
        bool
    )


def all_of(problem):
    return problem.tail, problem.head, problem.weight, problem.volume, problem.left, problem.right


@given(seeds, st.floats(0, 5))
def test_the_functional_of_an_indicator_is_the_cost_of_its_set(seed, gamma):
    W, volume, apart, rng = random_problem(seed, high=8)
    problem = CutProblem.of(W, volume, apart)
    for expected, side in zip(*brute_force(W, volume, apart, gamma), strict=True):
        assert problem.cut(side).cost(gamma) == pytest.approx(expected)
        f = rng.normal() + rng.uniform(0.1, 3) * side
        assert problem.value(f, gamma) == pytest.approx(expected)


@given(seeds, st.floats(0, 5))
def test_no_threshold_is_missed_and_the_best_is_not_worse_than_the_vector(seed, gamma):
    W, volume, apart, rng = random_problem(seed)
    problem = CutProblem.of(W, volume, apart)
    f = rng.normal(size=len(volume)).round(int(rng.integers(0, 3)))  # ties
    if f.min() == f.max():
        return
    best = problem.threshold(f, gamma)
    costs = [problem.cut(f > t).cost(gamma) for t in np.unique(f)[:-1]]
    assert best.cost(gamma) == pytest.approx(min(costs))
    assert best.cost(gamma) <= problem.value(f, gamma) * (1 + 1e-9)


@given(seeds)
def test_the_balancing_term_is_the_sum_over_pairs(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 10))
    b, f = rng.random(n) + 0.01, rng.integers(0, 5, n).astype(float)
    np.testing.assert_allclose(balance(f, b), (np.sign(f[:, None] - f) @ b) * b / b.sum(), atol=1e-12)


@given(seeds, st.floats(0, 20))
def test_cutting_off_minimises_its_objective(seed, reach):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10))
    z, mass, u = rng.normal(size=n) * 5, rng.random(n) + 0.1, np.empty(n)
    z -= z.mean()

    def objective(v):
        return 0.5 * (mass * v * v).sum() - z @ v + reach * (v.max() - v.min())

    assert cut_off(z, mass, reach, u) == pytest.approx((mass * u * u).sum())
    for scale in (1e-4, 1e-2, 1.0):
        for _ in range(20):
            assert objective(u) <= objective(u + scale * rng.normal(size=n)) + 1e-9


@given(seeds, st.floats(0, 5))
def test_primal_is_above_dual_and_they_meet(seed, gamma):
    W, volume, apart, rng = random_problem(seed)
    problem = CutProblem.of(W, volume, apart)
    f = rng.normal(size=len(volume))
    h = problem.value(f, gamma) * balance(f, volume)
    slope = gamma * np.sign(f[problem.left] - f[problem.right])
    np.add.at(h, problem.left, slope)
    np.subtract.at(h, problem.right, slope)
    dual, gaps = np.zeros(len(problem.tail)), []
    for n_iterations in (1, 5, 20, 2000):
        u, above, below = inner(
            h,
            gamma * len(apart),
            problem.start,
            problem.head,
            problem.weight,
            problem.mass,
            dual,
            n_iterations,
            0.0,
        )
        u = u / max(-below, 1e-300)
        variation = (problem.weight * abs(u[problem.tail] - u[problem.head])).sum()
        primal = variation + gamma * len(apart) * (u.max() - u.min()) - h @ u
        assert primal == pytest.approx(above, abs=1e-8)
        assert above >= below - 1e-10
        assert (abs(dual) <= 1).all()
        gaps.append(above - below)
    assert gaps[-1] <= 1e-3 * max(1.0, -below)


@given(seeds, st.floats(0, 5))
def test_ratio_dca_decreases_strictly(seed, gamma):
    W, volume, apart, rng = random_problem(seed)
    problem = CutProblem.of(W, volume, apart)
    f = rng.normal(size=len(volume))
    reached, values = ratio_dca(f, gamma, 1000, problem.start, problem.mass, *all_of(problem))
    assert values[0] == pytest.approx(problem.value(f, gamma))
    assert (np.diff(values) < 0).all()
    assert values[-1] == pytest.approx(problem.value(reached, gamma))
    assert problem.descend(f, gamma, 1000).cost(gamma) <= values[-1] * (1 + 1e-9)
    assert problem.descend(np.ones(len(f)), gamma, 1000).value >= 0  # a constant start is changed


@pytest.mark.parametrize(("effort", "share"), [(FULL, 0.95), (FAST, 0.8)], ids=["full", "fast"])
def test_the_optimum_of_small_graphs_is_reached(effort, share):
    n_cases = n_reached = 0
    for seed in range(100 * SOAK):
        W, volume, apart, _ = random_problem(seed)
        costs, sides = brute_force(W, volume, apart, 0.0)
        feasible = (sides[:, apart[:, 0]] != sides[:, apart[:, 1]]).all(axis=1)
        best = costs[feasible].min()
        n = len(volume)
        labels = cluster(W, volume, np.arange(n), apart, 2, effort, np.random.default_rng(seed))
        found = CutProblem.of(W, volume, apart).cut(labels == 1)
        assert found.n_violations == 0
        assert found.value >= best * (1 - 1e-9)
        n_cases += 1
        n_reached += found.value <= best * (1 + 1e-9)
    print(f"optimum reached in {n_reached} of {n_cases} cases")
    assert n_reached >= share * n_cases


@given(seeds, st.sampled_from([2.0**-20, 0.125, 8.0, 2.0**20]), st.sampled_from([2, 3]))
@settings(max_examples=20 * SOAK)
def test_the_scale_of_the_weights_does_not_matter(seed, factor, k):
    W, volume, apart, _ = random_problem(seed)
    n = len(volume)
    if k >= n:
        return
    labels = [
        cluster(W * c, volume, np.arange(n), apart, k, FAST, np.random.default_rng(0)) for c in (1.0, factor)
    ]
    np.testing.assert_array_equal(*labels)


@given(seeds, st.integers(1, 5), st.sampled_from(["symmetric", "mutual"]), st.booleans())
@settings(max_examples=40 * SOAK)
def test_what_every_clustering_promises(seed, k, graph, warm):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 40))
    X = rng.normal(size=(n, 2)).round(int(rng.integers(0, 3)))  # equal rows
    y = rng.integers(0, max(k, 1), n)
    pairs = rng.integers(0, n, (int(rng.integers(0, 15)), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    model = COSC(k, preset="fast", graph=graph, n_neighbors=5, random_state=0)
    given_ = {"must_link": pairs[same], "cannot_link": pairs[~same], "init_labels": y if warm else None}
    try:
        labels = model.fit(X, **given_).labels_
    except InvalidDataError as error:
        assert "groups" in str(error)  # noqa: PT017
        return
    assert sorted(set(labels)) == list(range(k))
    assert labels[0] == 0
    assert (labels[pairs[same, 0]] == labels[pairs[same, 1]]).all()
    violated = {tuple(sorted(p)) for p in pairs[~same].tolist() if labels[p[0]] == labels[p[1]]}
    assert model.n_violations_ == len(violated)
    if k <= 2:
        assert model.n_violations_ == 0
    np.testing.assert_array_equal(clone(model).fit(X, **given_).labels_, labels)


@pytest.mark.parametrize("preset", ["full", "fast"])
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("weights", ["degree", "one"])
def test_separated_blobs_are_found_exactly(preset, k, weights):
    X, y = make_blobs(40 * k, 3, centers=10.0 * np.eye(4)[:k, :3], cluster_std=0.5, random_state=0)
    model = COSC(k, preset=preset, vertex_weights=weights, random_state=0)
    assert adjusted_rand_score(y, model.fit(X).labels_) == 1
    assert adjusted_rand_score(y, model.fit(X, init_labels=np.arange(len(X)) % k).labels_) == 1


@pytest.mark.parametrize("k", [2, 3])
def test_constraints_pull_the_clustering_to_the_labels(k):
    X, y = load_iris(return_X_y=True)
    X, y = X[y >= 3 - k], y[y >= 3 - k]
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, len(X), (120, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    model = COSC(k, preset="fast", random_state=0)
    without = adjusted_rand_score(y, model.fit(X).labels_)
    with_them = model.fit(X, must_link=pairs[same], cannot_link=pairs[~same])
    assert adjusted_rand_score(y, with_them.labels_) > without
    again = model.fit(X, must_link=pairs[same], cannot_link=pairs[~same], init_labels=y)
    assert adjusted_rand_score(y, again.labels_) > without


def test_the_graph_is_built_once_for_the_same_rows():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = COSC(preset="fast", random_state=0).fit(X)
    first = model.affinity_matrix_
    assert model.fit(X.copy(), cannot_link=[(0, 1)]).affinity_matrix_ is first
    X[0] += 1.0  # in place
    assert model.fit(X).affinity_matrix_ is not first
    assert model.set_params(n_neighbors=5).fit(X).affinity_matrix_.nnz < first.nnz


def test_pieces_isolated_vertices_and_parts_of_a_given_graph():
    blocks = [np.ones((3, 3)) - np.eye(3), np.ones((4, 4)) - np.eye(4), np.zeros((1, 1))]
    W = sp.csr_array(sp.block_diag(blocks))
    volume = np.maximum(W.sum(axis=0), 1e-6)
    rng = np.random.default_rng(0)
    for k in range(1, 9):
        labels = cluster(W, volume, np.arange(8), np.empty((0, 2), dtype=int), k, FULL, rng)
        assert len(set(labels)) == k
        if k == 3:
            assert len(set(labels[:3])) == len(set(labels[3:7])) == 1


def test_degenerate_data():
    X = np.zeros((12, 2))
    X[:, 1] = 5.0  # constant columns, equal rows
    assert set(COSC(2, random_state=0).fit(X).labels_) == {0, 1}
    assert set(COSC(3, preset="fast", random_state=0).fit(X, cannot_link=[(0, 1)]).labels_) == {0, 1, 2}
    assert COSC(1).fit(X).cut_ == 0
    assert COSC(1).fit(X[:1]).labels_.tolist() == [0]
    assert COSC(1).fit(X, cannot_link=[(3, 4)]).n_violations_ == 1
    assert COSC(2).fit(X, must_link=[(i, i + 1) for i in range(10)]).labels_.tolist() == [0] * 11 + [1]
    exactly = COSC(3).fit(X, must_link=[(i, i + 1) for i in range(11) if i not in (3, 7)])
    assert exactly.labels_.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    far = np.array([[0.0], [1e-8], [1e6], [2e6]], dtype=np.float32)
    assert set(COSC(2, random_state=0).fit(far).labels_) == {0, 1}


def test_an_odd_cycle_is_met_as_well_as_possible():
    X = np.random.default_rng(0).normal(size=(30, 2))
    for preset in ("full", "fast"):
        model = COSC(2, preset=preset, random_state=0).fit(X, cannot_link=[(0, 1), (1, 2), (2, 0), (5, 6)])
        assert model.n_violations_ == 1


@pytest.mark.parametrize(
    ("options", "given_", "message"),
    [
        ({"n_clusters": 9}, {}, "n_clusters must be at most the number of rows, n_samples=8, not 9"),
        (
            {"n_clusters": 8},
            {"must_link": [(0, 1)]},
            "n_clusters=8, but the must-links join the rows to 7 groups",
        ),
        ({"n_clusters": 0}, {}, "n_clusters must be a whole number from 1 on, not 0"),
        ({"scale": -1.0}, {}, "scale must be a number above 0, not -1.0"),
        ({"preset": "slow"}, {}, "preset must be one of full, fast, not 'slow'"),
        ({}, {"cannot_link": [(0, 8)]}, "cannot_link names row 8, but rows go from 0 to 7"),
        ({}, {"init_labels": [0, 1]}, "one label for each of the 8 rows"),
    ],
)
def test_errors_are_one_sentence(options, given_, message):
    with pytest.raises(InvalidDataError, match=message):
        COSC(**options).fit(np.arange(16.0).reshape(8, 2), **given_)


def test_contradicting_constraints_name_the_chain():
    with pytest.raises(InconsistentAnswersError, match="contradicts"):
        COSC().fit(np.eye(5), must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
