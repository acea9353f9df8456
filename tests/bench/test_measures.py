"""Measures: laws, brute force, and simulations in which the truth is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.metrics import adjusted_rand_score

from cobras.bench.measures import (
    Mean,
    adjusted_rand,
    aligned_ranks,
    area_under_curve,
    ari_per_query,
    bootstrap_interval,
    bootstrap_means,
    friedman_aligned,
    latencies,
    mean_over_folds,
    mean_over_tasks,
    median_interval,
)

hundredths = st.integers(-100, 100).map(lambda i: i / 100)
tables = arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=7), elements=hundredths)
curves = arrays(float, st.integers(1, 20), elements=hundredths)


def ranks_by_hand(Z):
    """Count for every value how many are larger, and half of those that are equal."""
    n, k = Z.shape
    D = [[Z[i][j] - sum(Z[i]) / k for j in range(k)] for i in range(n)]
    flat = [value for row in D for value in row]

    def rank(value):
        equal = sum(abs(other - value) < 1e-9 for other in flat)
        return 1 + sum(other > value + 1e-9 for other in flat) + (equal - 1) / 2

    return [sum(rank(D[i][j]) for i in range(n)) / n for j in range(k)]


class TestAlignedRanks:
    @given(tables)
    def test_they_are_those_counted_by_hand(self, Z):
        np.testing.assert_allclose(aligned_ranks(Z), ranks_by_hand(Z))

    @given(tables)
    def test_their_mean_is_that_of_all_ranks(self, Z):
        assert aligned_ranks(Z).mean() == pytest.approx((Z.size + 1) / 2)

    @given(tables, st.data())
    def test_a_constant_added_to_a_task_changes_nothing(self, Z, data):
        constants = data.draw(arrays(float, (len(Z), 1), elements=hundredths))
        np.testing.assert_allclose(aligned_ranks(Z + constants), aligned_ranks(Z))

    @given(tables, st.randoms())
    def test_swapping_methods_swaps_ranks(self, Z, random):
        order = random.sample(range(Z.shape[1]), Z.shape[1])
        np.testing.assert_allclose(aligned_ranks(Z[:, order]), aligned_ranks(Z)[order])

    @given(tables)
    def test_turning_scores_round_turns_ranks_round(self, Z):
        np.testing.assert_allclose(aligned_ranks(-Z), Z.size + 1 - aligned_ranks(Z))

    def test_each_number_of_queries_is_ranked_by_itself(self):
        Z = np.random.default_rng(0).normal(size=(5, 3, 4)).round(1)
        expected = np.transpose([aligned_ranks(Z[:, :, q]) for q in range(4)])
        np.testing.assert_array_equal(aligned_ranks(Z), expected)

    def test_unlike_plain_ranks_they_see_how_large_a_difference_is(self):
        Z = np.array([[0.9, 0.5], [0.55, 0.6]])
        assert aligned_ranks(Z).tolist() == [2.0, 3.0]
        assert aligned_ranks(np.array([[0.55, 0.5], [0.2, 0.6]])).tolist() == [3.0, 2.0]


class TestFriedman:
    def test_its_null_distribution_is_chi_squared(self):
        random = np.random.default_rng(0)
        k, n = 4, 15
        found = [
            friedman_aligned(random.normal(size=(n, k)) + random.normal(size=(n, 1))) for _ in range(3000)
        ]
        statistics = np.array([test.statistic for test in found])
        assert statistics.mean() == pytest.approx(k - 1, abs=4 * np.sqrt(2 * (k - 1) / 3000))
        assert np.mean([test.p < 0.05 for test in found]) == pytest.approx(0.05, abs=0.015)

    def test_a_method_that_always_wins_is_found(self):
        Z = np.random.default_rng(0).normal(size=(21, 4))
        Z[:, 2] += 3
        assert friedman_aligned(Z).p < 1e-6

    def test_equal_methods_give_nothing(self):
        test = friedman_aligned(np.full((5, 3), 0.4))
        assert test.statistic == pytest.approx(0)
        assert test.p == pytest.approx(1)

    def test_one_method_cannot_be_tested(self):
        assert np.isnan(friedman_aligned(np.ones((4, 1)))).all()


class TestMeans:
    """Scores with an effect of the repetition: their intervals must cover the true mean 95 times in 100."""

    def scores(self, R, m, effect, n=4000, seed=0):
        random = np.random.default_rng(seed)
        repetition = np.repeat(np.arange(R), m)
        return random.normal(size=(R, n))[repetition] * effect + random.normal(size=(R * m, n)), repetition

    def coverage(self, mean, truth=0.0):
        return np.mean(np.abs(mean.value - truth) <= mean.half_width)

    @pytest.mark.parametrize("effect", [0, 1])
    def test_repetitions_are_what_differs(self, effect):
        scores, repetition = self.scores(10, 10, effect)
        assert self.coverage(mean_over_folds(scores, repetition, 10)) == pytest.approx(0.95, abs=0.015)
        if effect:  # taking folds for independent would claim too much
            assert self.coverage(mean_over_folds(scores, np.arange(100), 10)) < 0.7

    def test_one_repetition_is_judged_with_care(self):
        scores, repetition = self.scores(1, 10, effect=0)
        assert self.coverage(mean_over_folds(scores, repetition, 10)) > 0.97

    def test_over_tasks_of_unequal_noise(self):
        found = []
        for seed, R in enumerate((10, 3, 1, 10)):
            scores, repetition = self.scores(R, 10, 0, seed=seed)
            found.append(mean_over_folds((seed + 1) * scores, repetition if R > 1 else np.arange(10), 10))
        assert self.coverage(mean_over_tasks(found)) == pytest.approx(0.95, abs=0.015)

    def test_equal_sizes_are_the_textbook_case(self):
        scores, repetition = self.scores(4, 5, 1, n=7)
        means = scores.reshape(4, 5, 7).mean(axis=1)
        found = mean_over_folds(scores, repetition, 5)
        np.testing.assert_allclose(found.value, means.mean(axis=0))
        np.testing.assert_allclose(found.variance, means.var(axis=0, ddof=1) / 4)

    def test_an_unfinished_repetition_counts_by_its_folds(self):
        found = mean_over_folds(np.array([0.0, 0.0, 0.9]), np.array([0, 0, 1]), 2)
        assert found.value == pytest.approx(0.3)

    def test_one_fold_has_no_error_that_is_known(self):
        found = mean_over_folds(np.array([0.5]), np.array([0]), 10)
        assert found.value == 0.5
        assert np.isnan(found.half_width)

    def test_equal_scores_have_no_error(self):
        sure = mean_over_folds(np.full(10, 0.5), np.zeros(10, int), 10)
        assert mean_over_tasks([sure, sure]).half_width == 0

    def test_half_widths_are_students(self):
        assert Mean(np.array(0.0), np.array(1.0), np.array(9.0)).half_width == pytest.approx(2.2622, abs=1e-4)


class TestResampling:
    def draws(self, scores, repetition, n=500):
        return np.array(list(bootstrap_means([scores], [repetition], n)))[:, 0]

    @pytest.mark.parametrize(("R", "folds"), [(1, 10), (10, 10)])
    def test_draws_spread_as_the_mean_does(self, R, folds):
        random = np.random.default_rng(0)
        repetition = np.repeat(np.arange(R), folds)
        scores = random.normal(size=(R, 1))[repetition] * (R > 1) + random.normal(size=(R * folds, 1))
        units = scores.reshape(R, folds).mean(axis=1) if R > 1 else scores[:, 0]
        draws = self.draws(scores, repetition)
        assert draws.mean() == pytest.approx(scores.mean(), abs=0.06)
        assert draws.std() == pytest.approx(units.std() / np.sqrt(len(units)), rel=0.1)

    def test_methods_share_a_draw(self):
        scores = np.random.default_rng(0).normal(size=(10, 1)).repeat(2, axis=1)
        draws = self.draws(scores, np.zeros(10, int), 20)
        np.testing.assert_array_equal(draws[:, 0], draws[:, 1])

    def test_the_same_seed_draws_the_same(self):
        scores = np.random.default_rng(0).normal(size=(10, 2))
        np.testing.assert_array_equal(
            self.draws(scores, np.zeros(10, int), 5), self.draws(scores, np.zeros(10, int), 5)
        )

    def test_the_interval_is_about_the_estimate(self):
        draws = np.random.default_rng(0).normal(3, 1, (20000, 2))
        low, high = bootstrap_interval(np.array([0.0, 5.0]), draws)
        np.testing.assert_allclose(low, [-1.96, 3.04], atol=0.06)
        np.testing.assert_allclose(high, [1.96, 6.96], atol=0.06)


class TestArea:
    @given(curves)
    def test_it_lies_between_the_lowest_and_the_highest_score(self, curve):
        assert curve.min() - 1e-12 <= area_under_curve(curve) <= curve.max() + 1e-12

    @given(st.integers(1, 300), hundredths)
    def test_a_constant_is_its_own_area(self, n, value):
        assert area_under_curve(np.full(n, value)) == pytest.approx(value)

    @given(curves, curves)
    def test_a_higher_curve_has_more(self, curve, other):
        n = min(len(curve), len(other))
        low, high = np.minimum(curve[:n], other[:n]), np.maximum(curve[:n], other[:n])
        assert area_under_curve(low) <= area_under_curve(high) + 1e-12

    def test_each_run_has_its_own(self):
        np.testing.assert_allclose(area_under_curve(np.array([[0, 0.5, 1], [1, 1, 1]])), [0.5, 1])


class TestMedianInterval:
    @pytest.mark.parametrize("n", [6, 10, 21])
    def test_it_covers_the_true_median(self, n):
        random = np.random.default_rng(0)
        found = [median_interval(random.lognormal(size=n)) for _ in range(2000)]
        assert np.mean([low <= 1 <= high for low, high in found]) > 0.94

    @given(arrays(float, st.integers(1, 30), elements=hundredths))
    def test_it_holds_the_median_of_the_values(self, values):
        low, high = median_interval(values)
        assert low <= np.median(values) <= high

    def test_it_narrows_with_more_values(self):
        low, high = median_interval(np.arange(1000.0))
        assert high - low < 70


class TestLatencies:
    @given(
        arrays(float, (3, 6), elements=st.floats(0, 10)),
        arrays(int, 3, elements=st.integers(0, 5)),
    )
    def test_they_add_up_to_the_time_after_the_first_query(self, waits, n_queries):
        seconds = waits.cumsum(axis=1)
        last = seconds[np.arange(3), n_queries]
        found = latencies(np.where(np.arange(6) > n_queries[:, None], last[:, None], seconds), n_queries)
        assert len(found) == n_queries.sum()
        assert found.sum() == pytest.approx((last - seconds[:, 0]).sum(), abs=1e-6)


labelings = st.integers(1, 60).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 7), min_size=n, max_size=n)] * 2)
)


@given(labelings)
def test_adjusted_rand_equals_scikit_learn(both):
    a, b = map(np.array, both)
    assert adjusted_rand(a, b) == pytest.approx(adjusted_rand_score(a, b), abs=1e-12)


@given(labelings, st.permutations(range(8)))
def test_adjusted_rand_is_symmetric_and_ignores_names(both, names):
    a, b = map(np.array, both)
    assert adjusted_rand(a, b) == pytest.approx(adjusted_rand(b, a), abs=1e-12)
    assert adjusted_rand(np.array(names)[a], b) == pytest.approx(adjusted_rand(a, b), abs=1e-12)
    assert adjusted_rand(a, np.array(names)[a]) == 1


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([0, 0, 1, 1], [0, 0, 1, 2], 4 / 7),
        ([0, 0, 0, 0], [0, 1, 2, 3], 0),
        ([0, 0, 0], [0, 0, 0], 1),
        ([0, 1, 2], [2, 1, 0], 1),
        ([0], [0], 1),
        ([0, 0, 1, 1], [0, 1, 0, 1], -0.5),
    ],
)
def test_adjusted_rand_worked_by_hand(a, b, expected):
    assert adjusted_rand(np.array(a), np.array(b)) == pytest.approx(expected)


def test_adjusted_rand_sums_beyond_32_bits():
    y = np.repeat([0, 1], 100_000)
    assert adjusted_rand(y, y) == 1
    assert adjusted_rand(y, np.roll(y, 1000)) == pytest.approx(adjusted_rand_score(y, np.roll(y, 1000)))


@given(st.integers(0, 2**32 - 1))
def test_ari_per_query_is_the_index_on_the_test_instances_alone(seed):
    rng = np.random.default_rng(seed)
    y, test = rng.integers(0, 3, 40), rng.permutation(40)[:12]
    clusterings = [rng.integers(0, 5, 40) for _ in range(4)]
    clusterings.insert(2, clusterings[1].copy())
    expected = [adjusted_rand_score(y[test], labels[test]) for labels in clusterings]
    assert ari_per_query(clusterings, y, test) == pytest.approx(expected)
