"""The clusters of new rows by the nearest super-instances, beside a loop over all of them."""

from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cobras.spaces import nearest
from cobras.spaces.nearest import POWER, LabelledCentroids
from tests.spaces.data import seeds


@given(seed=seeds, at_once=st.sampled_from([1, 20, 2**21]), whole=st.booleans())
def test_probabilities_are_those_of_a_loop(seed, at_once, whole):
    rng = np.random.default_rng(seed)
    labels = np.sort(np.concatenate([np.arange(3), rng.integers(0, 3, rng.integers(0, 6))]))
    centroids, X = rng.normal(size=(len(labels), 2)), rng.normal(size=(25, 2))
    if whole:  # many rows are on a centroid, or as far from two
        centroids, X = centroids.round(), X.round()
    found = LabelledCentroids(centroids, labels)
    with mock.patch.object(nearest, "AT_ONCE", at_once):
        P, predicted = found.probabilities(X), found.predict(X)
        sure = found.confidence(X, predicted)
    for row, x in enumerate(X):
        away = [min(np.linalg.norm(x - c) for c in centroids[labels == k]) for k in range(3)]
        weights = np.array([float(a == 0) for a in away]) if 0 in away else np.array(away) ** -float(POWER)
        np.testing.assert_allclose(P[row], weights / weights.sum(), atol=1e-9)
        assert away[predicted[row]] <= min(away) + 1e-9
    np.testing.assert_array_equal(predicted, P.argmax(axis=1))
    np.testing.assert_array_equal(sure, P.max(axis=1).astype(np.float32))


def test_a_row_far_from_everything_is_surely_in_no_cluster():
    found = LabelledCentroids(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0, 1, 2]))
    near, far = found.probabilities(np.array([[0.05, 0.0], [1e4, -1e4]]))
    assert near.max() > 0.99
    np.testing.assert_allclose(far, 1 / 3, atol=0.01)
