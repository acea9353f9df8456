"""Laws of k-means, then its optimum on tiny sets, and its quality beside scikit-learn."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import datasets
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from cobras.spaces.kernels.kmeans import KMeansResult, best_centers, describe_groups, kmeans

SOAK = 10 if os.environ.get("COBRAS_SOAK") else 1
LARGE = 4097  # judged on a sample


def fit(X: np.ndarray, k: int, seed: int = 0, **options: float) -> KMeansResult:
    return kmeans(X, k, np.random.default_rng(seed), **options)


def squares(X: np.ndarray, centers: np.ndarray) -> np.ndarray:
    return ((X.astype(np.float64)[:, None] - centers.astype(np.float64)) ** 2).sum(2)


def same_groups(a: np.ndarray, b: np.ndarray) -> bool:
    return len({*zip(a.tolist(), b.tolist(), strict=True)}) == len({*a.tolist()}) == len({*b.tolist()})


@st.composite
def tables(draw: st.DrawFn, max_rows: int = 300) -> np.ndarray:
    """Rows in clumps, with repeated rows, shifted and scaled."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, d = draw(st.integers(1, max_rows)), draw(st.integers(1, 9))
    n_clumps = draw(st.integers(1, 5))
    X = rng.normal(size=(n, d)) + 5 * rng.normal(size=(n_clumps, d))[rng.integers(0, n_clumps, n)]
    if draw(st.booleans()):
        X = np.round(X)
    if draw(st.booleans()):
        X = X[rng.integers(0, n, n)]
    X = X * draw(st.sampled_from([1.0, 1e-3, 1e5])) + draw(st.sampled_from([0.0, 1.0, -30.0]))
    return np.ascontiguousarray(X, draw(st.sampled_from([np.float32, np.float64])))


@settings(max_examples=150 * SOAK, deadline=None)
@given(X=tables(), k=st.integers(1, 12), seed=st.integers(0, 99), max_iter=st.sampled_from([0, 1, 300]))
def test_laws(X: np.ndarray, k: int, seed: int, max_iter: int) -> None:
    before = X.copy()
    labels, centers, inertia = fit(X, k, seed, max_iter=max_iter)
    assert X.tobytes() == before.tobytes()
    assert labels.shape == (len(X),)
    assert labels.dtype == np.int32
    assert centers.dtype == X.dtype

    distinct, copies = np.unique(X, axis=0, return_inverse=True)
    assert centers.shape == (min(k, len(distinct)), X.shape[1])
    assert np.array_equal(np.unique(labels), np.arange(len(centers)))
    assert same_groups(copies.ravel(), copies.ravel() * k + labels), "equal rows share a label"

    far = squares(X, centers)
    size = np.abs(X.astype(np.float64)).max() ** 2 * X.shape[1]
    slack = 1e-5 * (far.min(1) + 1e-6 * size) if X.dtype == np.float32 else 1e-12 * (far.min(1) + size)
    # Centers are rounded to the precision of X.
    slack += 4 * np.finfo(X.dtype).eps * np.sqrt(size * far.max(1))
    assert (far[np.arange(len(X)), labels] <= far.min(1) + slack).all()
    assert inertia == pytest.approx(far.min(1).sum(), rel=1e-4, abs=slack.sum() + 1e-30)

    again = fit(X, k, seed, max_iter=max_iter)
    assert np.array_equal(labels, again.labels)
    assert centers.tobytes() == again.centers.tobytes()
    assert inertia == again.inertia


@settings(max_examples=60 * SOAK, deadline=None)
@given(X=tables(), k=st.integers(1, 6))
def test_without_tolerance_centers_are_means(X: np.ndarray, k: int) -> None:
    labels, centers, _ = fit(X, k, tol=0.0)
    means = np.array([X[labels == c].mean(0, dtype=np.float64) for c in range(len(centers))])
    np.testing.assert_allclose(centers, means, rtol=1e-6, atol=1e-6 * np.abs(X).max())


numbers = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=200 * SOAK, deadline=None)
@given(rows=st.lists(st.tuples(numbers, numbers), min_size=2, max_size=40), seed=st.integers(0, 9))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_two_distinct_rows_give_two_groups(
    dtype: type[np.floating], rows: list[tuple[float, float]], seed: int
) -> None:
    limit = float(np.finfo(dtype).max)
    X = np.clip(np.array(rows), -limit, limit).astype(dtype)
    labels, centers, _ = fit(X, 2, seed)
    assert len(centers) == len(np.unique(labels)) == min(2, len(np.unique(X, axis=0)))
    assert np.isfinite(centers).all()
    assert all(len({*labels[(row == X).all(1)].tolist()}) == 1 for row in X)


@pytest.mark.parametrize(
    ("a", "b", "dtype"),
    [
        (1e-200, 2e-200, np.float64),
        (0.0, 5e-324, np.float64),
        (-5e-324, 5e-324, np.float64),
        (1e16, 1e16 + 2, np.float64),
        (1e150, 1.1e150, np.float64),
        (-1.7e308, 1.7e308, np.float64),
        (1.7e308, 1.6999999999e308, np.float64),
        (0.0, 1e-45, np.float32),
        (1.0, 1.0000001, np.float32),
        (-3.4e38, 3.4e38, np.float32),
        (2.0**24, 2.0**24 + 2, np.float32),
    ],
)
@pytest.mark.parametrize("n", [2, 3, 50, LARGE])
@pytest.mark.parametrize("constant", [0.0, 1e30])
def test_extreme_values_are_told_apart(
    a: float, b: float, dtype: type[np.floating], n: int, constant: float
) -> None:
    X = np.full((n, 2), a, dtype)
    X[:, 1] = constant
    X[n // 2, 0] = b  # alone, so that a sample of a large set may well miss it
    labels, centers, _ = fit(X, 2)
    assert np.array_equal(labels != labels[0], X[:, 0] != X[0, 0])
    rounding = {"rtol": 2 * np.finfo(dtype).eps}
    np.testing.assert_allclose(np.sort(centers[:, 0]), np.sort([X[0, 0], X[n // 2, 0]]), **rounding)
    assert len(fit(X, 7).centers) == 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_largest_numbers_do_not_overflow(dtype: type[np.floating]) -> None:
    rng, largest = np.random.default_rng(0), np.finfo(dtype).max
    for trial in range(300 * SOAK):
        X = rng.choice(np.array([0, 1, largest, -largest, 0.99999 * largest, -largest / 3], dtype), (5, 2))
        centers = fit(X, 2, trial, n_init=2).centers
        assert len(centers) == min(2, len(np.unique(X, axis=0)))
        assert np.isfinite(centers).all()


@pytest.mark.parametrize("n", [1, 2, 100, LARGE])
def test_equal_rows_are_one_group(n: int) -> None:
    labels, centers, inertia = fit(np.full((n, 3), 0.1), 5)
    assert not labels.any()
    assert centers.tolist() == [[0.1] * 3]
    assert inertia == 0


def test_few_distinct_rows_are_singletons() -> None:
    X = np.array([[0.0], [1e-30], [1.0], [1e30]])
    assert sorted(fit(X, 4).labels.tolist()) == sorted(fit(X, 9).labels.tolist()) == [0, 1, 2, 3]
    X = np.random.default_rng(0).normal(size=(7, 3))
    many = np.repeat(X, 100, axis=0)
    for k in (7, 20):
        labels, centers, inertia = fit(many, k)
        assert same_groups(labels, np.repeat(np.arange(7), 100))
        np.testing.assert_allclose(centers[labels], many, rtol=1e-12)
        assert inertia <= 1e-25


@settings(max_examples=60 * SOAK, deadline=None)
@given(seed=st.integers(0, 2**32), power=st.integers(-40, 40), shift=st.integers(-8, 8), k=st.integers(2, 5))
def test_scale_and_shift_change_no_label(seed: int, power: int, shift: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(200, 3)) + 30 * rng.normal(size=(5, 3))[rng.integers(0, 5, 200)], 3)
    expected = fit(X, k, seed).labels
    assert np.array_equal(expected, fit(X * 2.0**power, k, seed).labels)
    assert same_groups(expected, fit(X + shift, k, seed).labels)


def test_layout_and_flags_do_not_matter() -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    expected = fit(X, 3).labels
    frozen = X.copy()
    frozen.setflags(write=False)
    assert np.array_equal(expected, fit(frozen, 3).labels)
    assert np.array_equal(expected, fit(np.asfortranarray(X), 3).labels)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n", [2, 50])
def test_values_that_are_not_finite_are_refused(bad: float, n: int) -> None:
    X = np.zeros((n, 2))
    X[n // 2, 1] = bad
    with pytest.raises(ValueError, match="NaN or infinite"):
        fit(X, 2)


@pytest.mark.parametrize(("n", "k", "n_init"), [(0, 2, 10), (5, 0, 10), (5, 2, 0)])
def test_nothing_to_do_is_refused(n: int, k: int, n_init: int) -> None:
    with pytest.raises(ValueError, match="needs a row, a group and a restart"):
        fit(np.zeros((n, 2)), k, n_init=n_init)


def test_tiny_sets_reach_the_optimum() -> None:
    rng = np.random.default_rng(1)
    reached = []
    for trial in range(200 * SOAK):
        n, d = int(rng.integers(3, 9)), int(rng.integers(1, 4))
        X = rng.normal(size=(n, d))
        least = np.inf
        for bits in itertools.product([False, True], repeat=n - 1):
            one = np.array([*bits, True])
            groups = [X[one], X[~one]] if not one.all() else [X]
            if len(groups) == 2:
                least = min(least, sum(((g - g.mean(0)) ** 2).sum() for g in groups))
        inertia = fit(X, 2, trial).inertia
        assert inertia >= least * (1 - 1e-9)
        reached.append(inertia <= least * (1 + 1e-9))
    assert np.mean(reached) >= 0.97


def problems(count: int) -> Iterator[tuple[np.ndarray, int]]:
    rng = np.random.default_rng(5)
    real = [load().data for load in (datasets.load_iris, datasets.load_wine, datasets.load_digits)]
    for q in range(count):
        n, d, k = (int(np.exp(rng.uniform(np.log(a), np.log(b)))) for a, b in ((10, 3000), (1, 65), (2, 33)))
        k = min(k, max(2, n // 3))
        match q % 6:
            case 0:
                X = 3 * rng.normal(size=(8, d))[rng.integers(0, 8, n)] + rng.normal(size=(n, d))
            case 1:
                X = rng.uniform(size=(n, d))
            case 2:
                X = rng.standard_t(1.5, size=(n, d))
            case 3:
                X = rng.normal(size=(n, d)) @ (rng.normal(size=(d, d)) * np.exp(rng.normal(size=d)))
            case 4:
                X = rng.normal(size=(n, d))[rng.integers(0, n, n)]
            case _:
                X = real[q // 6 % 3]
                X = (X / np.maximum(X.std(0), 1e-9))[rng.permutation(len(X))[: max(n, 3 * k)]]
        yield np.ascontiguousarray(X, np.float32 if q % 2 else np.float64), k


def test_quality_is_that_of_scikit_learn() -> None:
    ratios = []
    with threadpool_limits(1):
        for q, (X, k) in enumerate(problems(150 * SOAK)):
            if len(np.unique(X, axis=0)) > k:  # else both are zero, up to rounding
                ratios.append(fit(X, k, q).inertia / KMeans(k, n_init=10, random_state=q).fit(X).inertia_)
    assert len(ratios) > 100 * SOAK
    assert np.mean(ratios) <= 1.01
    assert np.quantile(ratios, 0.95) <= 1.05


def test_quality_on_a_large_set_with_heavy_tails() -> None:
    X = np.random.default_rng(0).standard_t(2.0, size=(20_000, 4))
    ratios = []
    with threadpool_limits(1):
        for k in (2, 5, 12):
            expected = KMeans(k, n_init=10, random_state=0).fit(X).inertia_
            ratios += [fit(X, k, seed).inertia / expected for seed in range(4)]
    assert np.mean(ratios) <= 1.02


@given(tables(), st.integers(1, 6), st.booleans(), st.integers(0, 2**32))
def test_groups_are_described_as_by_brute_force(X: np.ndarray, k: int, all_shown: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = np.unique(rng.integers(0, k, len(X)), return_inverse=True)[1]
    shown = np.empty(0, bool) if all_shown else rng.random(len(X)) < 0.5
    ordered, starts, means, medoids, n_train = describe_groups(X, labels, int(labels.max()) + 1, shown)
    for g in range(len(means)):
        mine = np.flatnonzero(labels == g)
        assert ordered[starts[g] : starts[g + 1]].tolist() == mine.tolist()
        np.testing.assert_allclose(means[g], X[mine].mean(axis=0, dtype=float), rtol=1e-9, atol=1e-9)
        may = mine if all_shown else mine[shown[mine]]
        assert n_train[g] == len(may)
        away = ((X[may if len(may) else mine] - means[g]) ** 2).sum(axis=1)
        best = (may if len(may) else mine)[away.argmin()]
        assert ((X[medoids[g]] - means[g]) ** 2).sum() <= ((X[best] - means[g]) ** 2).sum() * (1 + 1e-9)
        assert medoids[g] in (may if len(may) else mine)


@pytest.mark.parametrize(("k", "n_distinct"), [(2, 4000), (7, 4000), (5, 3)])
def test_the_best_centers_of_a_sample_are_as_good_as_those_of_scikit_learn(k: int, n_distinct: int) -> None:
    rng = np.random.default_rng(k)
    X = (rng.normal(size=(n_distinct, 4)) + 2 * rng.integers(0, 4, n_distinct)[:, None])[
        np.arange(4000) % n_distinct
    ]
    centers = best_centers(X, k, rng, 10)
    assert len(centers) == min(k, n_distinct)
    with threadpool_limits(1):
        expected = KMeans(len(centers), n_init=10, random_state=0).fit(X).inertia_
    assert squares(X, centers).min(axis=1).sum() <= 1.01 * expected + 1e-9
