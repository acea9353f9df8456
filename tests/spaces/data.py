"""Rows and series that several tests of spaces draw."""

import numpy as np
from hypothesis import strategies as st

seeds = st.integers(0, 2**32 - 1)


@st.composite
def series(draw, max_series=25, max_length=14):
    """Series of equal or different lengths and of one or more channels, some of them repeated or flat."""
    rng = np.random.default_rng(draw(seeds))
    n, channels = draw(st.integers(1, max_series)), draw(st.integers(1, 2))
    lengths = rng.integers(1, max_length + 1, n) if draw(st.booleans()) else np.full(n, rng.integers(1, 15))
    step = draw(st.sampled_from([1e-9, 0.5, 2.0]))  # 2: many values are equal, and many series flat
    return [np.round(rng.normal(size=(channels, length)) / step) * step for length in lengths]


def blobs(n, d=5, k=4, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return (rng.normal(size=(n, d)) + rng.normal(size=(k, d), scale=3)[y]).astype(dtype), y
