"""The spaces of a collection that grows."""

import numpy as np
import pytest

from cobras import EuclideanSpace, InvalidDataError, SeriesSpace
from cobras.spaces.collection import Collection

X = np.arange(12.0).reshape(6, 2)


def test_each_append_has_its_space_until_another_takes_its_place():
    collection = Collection(EuclideanSpace(X[:3]))
    a = collection.add(collection.first, X[3:4], "a")
    b = collection.add(a, X[4:], "b", X)
    assert [space.n for space in (collection.after(""), collection.after("a"), collection.after("ab"))] == [
        3,
        4,
        6,
    ]
    assert collection.add(a, X[4:], "b") is b
    np.testing.assert_array_equal(a.X, X[:4])
    c = collection.add(collection.first, X[5:], "c")
    collection.keep_only(collection.first, "c")
    np.testing.assert_array_equal(c.X, X[[0, 1, 2, 5]])
    with pytest.raises(InvalidDataError, match="not at hand"):
        collection.after("a")


def test_series_do_not_grow():
    collection = Collection(SeriesSpace(X))
    with pytest.raises(InvalidDataError, match="a table of numbers in memory only"):
        collection.add(collection.first, X, "a")
