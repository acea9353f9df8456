"""Iris as the points of ADDER; its columns are computed once for all tests."""

import pytest
from sklearn.datasets import load_iris

from cobras.methods.adder.points import Points
from cobras.spaces.euclidean import EuclideanSpace


@pytest.fixture(scope="session")
def iris():
    return Points(EuclideanSpace(load_iris().data), seed=0, n_parts=5)
