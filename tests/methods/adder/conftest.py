"""Iris as the points of ADDER, whose columns are computed once for all tests, and a few answers about it."""

import pytest
from sklearn.datasets import load_iris

from cobras import Answer, Constraints
from cobras.methods.adder.geometry.points import Points
from cobras.methods.adder.knowledge import Options
from cobras.methods.adder.predictors import predictor_names
from cobras.methods.adder.state import State
from cobras.spaces.euclidean import EuclideanSpace


@pytest.fixture(scope="session")
def iris():
    return Points(EuclideanSpace(load_iris().data), seed=0, n_parts=5)


@pytest.fixture(scope="session")
def options():
    return Options(n_parts=5, join=1 / 3, calm=0.1, doubt=0.15, predictors=predictor_names("all"))


@pytest.fixture(scope="module")
def space():
    return EuclideanSpace(load_iris().data)


@pytest.fixture
def state(space, options):
    y = load_iris().target
    constraints = Constraints()
    for i, j in ((0, 60), (60, 61), (0, 3), (61, 140)):
        constraints.add(i, j, Answer.of(bool(y[i] == y[j])))
    return State(space, constraints, 0, options)
