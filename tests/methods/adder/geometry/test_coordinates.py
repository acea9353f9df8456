"""Columns and ranks as coordinates, against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from scipy.stats import kurtosis, rankdata

from cobras.methods.adder.geometry.coordinates import Coordinates, Ranks, Unit, has_heavy_tails

values = st.lists(st.integers(-5, 5), min_size=1, max_size=20)


@given(values)
def test_ranks_are_those_of_scipy(column):
    column = np.array(column, dtype=np.float64)
    expected = (rankdata(column) - 0.5) / len(column) - 0.5
    np.testing.assert_allclose(Ranks.of(column).at(column), expected, atol=1e-12)


@given(values, st.lists(st.floats(-9, 9), min_size=2, max_size=5))
def test_ranks_of_other_values_keep_their_order_and_stay_in_the_range(column, others):
    ranks = Ranks.of(np.array(column, dtype=np.float64))
    found = ranks.at(np.sort(others))
    assert (np.diff(found) >= 0).all()
    assert ranks.shares[0] <= found[0]
    assert found[-1] <= ranks.shares[-1]


def test_ranks_count_as_much_as_columns():
    rows = np.random.default_rng(0).lognormal(0, 2, (300, 3)) * (1, 1000, 1)
    placed = Coordinates.of(rows, with_ranks=True).place(rows)
    columns, ranks = placed[:, :3], placed[:, 3:]
    assert np.median(pdist(columns) ** 2) == pytest.approx(np.median(pdist(ranks) ** 2))
    np.testing.assert_allclose(placed.mean(axis=0), 0, atol=1e-9)
    for column, expected in zip(ranks.T, rows.T, strict=True):
        np.testing.assert_array_equal(rankdata(column), rankdata(expected))


def test_tails_are_heavy_by_the_kurtosis_of_scipy():
    rng = np.random.default_rng(0)
    columns = [
        rng.normal(size=500),
        rng.uniform(size=500),
        rng.poisson(0.1, 500),
        rng.lognormal(0, 1.5, 500),
        np.repeat([0.0, 9.0], 250),
        np.append(rng.normal(size=499), 1e6),
        np.zeros(500),
    ]
    rows = np.column_stack(columns)
    clipped = np.clip(rows, *np.quantile(rows, [0.01, 0.99], axis=0))
    expected = np.nan_to_num(kurtosis(clipped[:, :-1])) > 3
    assert has_heavy_tails(rows).tolist() == [*expected, False]
    assert has_heavy_tails(rows).tolist() == [False, False, True, True, False, False, False]


@pytest.mark.parametrize(
    "rows", [np.zeros((3, 2)), np.ones((1, 2)), np.repeat([[0.0], [7.0]], [40, 2], axis=0)]
)
def test_rows_that_hardly_differ(rows):
    placed = Coordinates.of(rows, with_ranks=True).place(rows)
    assert np.isfinite(placed).all()
    assert len(np.unique(placed, axis=0)) == len(np.unique(rows, axis=0))


@pytest.mark.parametrize(("n_heavy", "has_ranks"), [(0, False), (1, False), (2, True), (3, True)])
def test_ranks_are_used_where_most_columns_have_heavy_tails(n_heavy, has_ranks):
    rng = np.random.default_rng(0)
    rows = np.hstack([rng.lognormal(0, 2, (300, n_heavy)), rng.normal(size=(300, 3 - n_heavy))])
    assert bool(Coordinates.of(rows, with_ranks=True).ranks) == has_ranks
    assert not Coordinates.of(rows, with_ranks=False).ranks


def test_all_rows_of_the_sample_are_the_same():
    rows = np.zeros((3000, 2))
    rows[5::30] = 9.0
    found = Coordinates.of(rows, with_ranks=True)
    assert found.ranks
    assert len(np.unique(found.place(rows), axis=0)) == 2


def test_without_ranks_only_the_columns_are_left():
    rows = np.arange(12.0).reshape(4, 3)
    found = Coordinates.of(rows, with_ranks=False)
    assert found.n_columns == 3
    np.testing.assert_allclose(found.place(rows) * 2.0**found.unit.exponent, rows - rows.mean(axis=0))


def test_rows_of_which_most_are_the_same():
    rows = np.zeros((40, 2))
    rows[:3] = 1e-100, 1e-99
    assert 0.1 < np.abs(Unit.of(rows).scale(rows)).max() < 2
    zeros = np.zeros((3, 2))
    assert not Unit.of(zeros).scale(zeros).any()
