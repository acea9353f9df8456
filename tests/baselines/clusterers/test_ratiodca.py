"""The functional of COSC and its descent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras.baselines.clusterers.ratiodca import (
    CutProblem,
    balance_subgradient,
    functional,
    ratio_dca,
    solve_dual,
    solve_primal,
)
from tests.baselines.clusterers.brute_force import cut_costs, random_problem

seeds = st.integers(0, 10_000)


@given(seeds, st.floats(0, 5))
def test_the_functional_of_an_indicator_is_the_cost_of_its_set(seed, gamma):
    W, volume, apart, rng = random_problem(seed, high=8)
    problem = CutProblem.of(W, volume, apart)
    for expected, side in zip(*cut_costs(W, volume, apart, gamma), strict=True):
        assert problem.cut(side).cost(gamma) == pytest.approx(expected)
        f = rng.normal() + rng.uniform(0.1, 3) * side
        assert functional(f, gamma, problem) == pytest.approx(expected)


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
    assert best.cost(gamma) <= functional(f, gamma, problem) * (1 + 1e-9)


@given(seeds)
def test_the_balancing_term_is_the_sum_over_pairs(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 10))
    b, f = rng.random(n) + 0.01, rng.integers(0, 5, n).astype(float)
    np.testing.assert_allclose(
        balance_subgradient(f, b), (np.sign(f[:, None] - f) @ b) * b / b.sum(), atol=1e-12
    )


@given(seeds, st.floats(0, 20))
def test_cutting_off_minimises_its_objective(seed, reach):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10))
    z, mass, u = rng.normal(size=n) * 5, rng.random(n) + 0.1, np.empty(n)
    z -= z.mean()

    def objective(v):
        return 0.5 * (mass * v * v).sum() - z @ v + reach * (v.max() - v.min())

    levels = rng.random(2) * rng.choice([0.0, 1.0, 100.0], 2)  # the search may start anywhere
    assert solve_primal(z, mass, reach, levels, u) == pytest.approx((mass * u * u).sum())
    for scale in (1e-4, 1e-2, 1.0):
        for _ in range(20):
            assert objective(u) <= objective(u + scale * rng.normal(size=n)) + 1e-9


@given(seeds, st.floats(0, 5))
def test_primal_is_above_dual_and_they_meet(seed, gamma):
    W, volume, apart, rng = random_problem(seed)
    problem = CutProblem.of(W, volume, apart)
    f = rng.normal(size=len(volume))
    h = functional(f, gamma, problem) * balance_subgradient(f, volume)
    slope = gamma * np.sign(f[problem.left] - f[problem.right])
    np.add.at(h, problem.left, slope)
    np.subtract.at(h, problem.right, slope)
    dual, gaps = np.zeros(len(problem.tail)), []
    for n_iterations in (1, 5, 20, 2000):
        u, above, below = solve_dual(h, gamma * len(apart), problem, dual, n_iterations, 0.0)
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
    reached, values = ratio_dca(f, gamma, 1000, problem)
    assert values[0] == pytest.approx(functional(f, gamma, problem))
    assert (np.diff(values) < 0).all()
    assert values[-1] == pytest.approx(functional(reached, gamma, problem))
    assert problem.descend(f, gamma, 1000).cost(gamma) <= values[-1] * (1 + 1e-9)
    assert problem.descend(np.ones(len(f)), gamma, 1000).value >= 0  # a constant start is changed
