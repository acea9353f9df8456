"""Average linkage under cannot-links, against the mean over all pairs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cobras.spaces.kernels.linkage import join_likely


@given(st.integers(1, 12), st.integers(0, 1000), st.floats(0, 1), st.floats(0, 0.4))
def test_joining_respects_what_is_apart_and_stops_at_the_threshold(n, seed, least, share):
    rng = np.random.default_rng(seed)
    p = rng.random((n, n))
    p = (p + p.T) / 2
    apart = np.eye(n, dtype=bool) | (rng.random((n, n)) < share)
    apart |= apart.T
    size = rng.integers(1, 4, n).astype(float)
    found = join_likely(np.where(apart, -1.0, p), size.copy(), least)
    np.testing.assert_array_equal(found, slow_join(p, apart, size, least))


def test_nothing_likely_and_everything_likely():
    p = np.full((4, 4), 0.5)
    assert join_likely(p.copy(), np.ones(4), 0.6).tolist() == [0, 1, 2, 3]
    assert join_likely(p.copy(), np.ones(4), 0.5).tolist() == [0, 0, 0, 0]
    assert join_likely(np.full((4, 4), -1.0), np.ones(4), 0.0).tolist() == [0, 1, 2, 3]


def slow_join(p, apart, size, least):
    """The same, from the definition: the mean over all pairs."""
    groups = [[i] for i in range(len(p))]

    def likely(a, b):
        if any(apart[i, j] for i in a for j in b):
            return -1.0
        weights = np.array([[size[i] * size[j] for j in b] for i in a])
        return float((p[np.ix_(a, b)] * weights).sum() / weights.sum())

    while len(groups) > 1:
        best, a, b = max(
            ((likely(groups[a], groups[b]), -a, -b) for b in range(len(groups)) for a in range(b)),
        )
        if best < least or best < 0:
            break
        groups[-a] += groups.pop(-b)
    labels = np.empty(len(p), int)
    for group in groups:
        labels[group] = min(group)
    return labels
