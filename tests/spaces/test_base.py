"""What all spaces share: the split tree, their choice, groups that join others, and a collection that grows."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import EuclideanSpace, InvalidDataError, SeriesSpace, Space
from cobras.spaces.base import (
    OPTIONS,
    Collection,
    RemoteSpace,
    VectorSpace,
    as_rows,
    choose_space,
    nearest_trained,
    squared_distances,
)
from tests.spaces.data import blobs, seeds

ROWS = np.arange(12.0).reshape(6, 2)


def test_two_threads_make_a_split_once():
    X, _ = blobs(200_000)
    space = EuclideanSpace(X)
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: space.split(space.root(0), 2), range(4)))
    assert all(part is made[0][g] for parts_ in made for g, part in enumerate(parts_))


def test_a_space_is_chosen_by_what_holds_the_rows():
    X = np.arange(12.0).reshape(6, 2)
    space, options = choose_space(as_rows(X), [0, 2, 4], {"n_init": 3, "branch": "random"})
    assert isinstance(space, EuclideanSpace)
    assert isinstance(space, VectorSpace)
    assert not isinstance(space, RemoteSpace)
    assert options == {**OPTIONS, "n_init": 3}
    assert space.n_init == 3
    assert np.flatnonzero(space.train).tolist() == [0, 2, 4]
    series = SeriesSpace(X)
    assert isinstance(series, Space)
    assert not isinstance(series, VectorSpace)
    assert choose_space(as_rows(series), None, {}) == (series, series.parameters)
    with pytest.raises(InvalidDataError, match="A space knows which rows may be shown"):
        choose_space(series, [0], {})
    with pytest.raises(InvalidDataError, match="medoid"):
        choose_space(X, None, {"medoid": "nearest"})


@given(seeds, st.integers(1, 6), st.integers(1, 4))
def test_a_group_without_training_member_joins_the_nearest_that_has_one(seed, k, d):
    rng = np.random.default_rng(seed)
    medoids, means = rng.normal(size=(2, k, d))
    n_train = rng.integers(0, 2, k)
    n_train[rng.integers(k)] = 1
    joins = nearest_trained(medoids, means, n_train)
    for g in range(k):
        away = {h: ((medoids[h] - means[g]) ** 2).sum() for h in range(k) if n_train[h]}
        assert joins[g] == (g if n_train[g] else min(away, key=away.get))


def test_equal_rows_are_at_distance_0_exactly():
    rows = np.array([[1e8 + 0.1, 3.0], [1.0, 5.0]])
    np.testing.assert_allclose(squared_distances(rows, np.array([1.0, 4.0])), [(1e8 - 0.9) ** 2 + 1, 1])
    assert squared_distances(rows, rows[0])[0] == 0


def test_each_append_has_its_space_until_another_takes_its_place():
    collection = Collection(EuclideanSpace(ROWS[:3]))
    a = collection.add(collection.first, ROWS[3:4], "a")
    b = collection.add(a, ROWS[4:], "b", ROWS)
    assert [space.n for space in (collection.after(""), collection.after("a"), collection.after("ab"))] == [
        3,
        4,
        6,
    ]
    assert collection.add(a, ROWS[4:], "b") is b
    np.testing.assert_array_equal(a.X, ROWS[:4])
    c = collection.add(collection.first, ROWS[5:], "c")
    collection.keep_only(collection.first, "c")
    np.testing.assert_array_equal(c.X, ROWS[[0, 1, 2, 5]])
    with pytest.raises(InvalidDataError, match="not at hand"):
        collection.after("a")


def test_series_do_not_grow():
    collection = Collection(SeriesSpace(ROWS))
    with pytest.raises(InvalidDataError, match="a table of numbers in memory only"):
        collection.add(collection.first, ROWS, "a")
