"""The shares of a mixture, against the textbook's two steps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras.spaces.kernels.expectation import mixture_shares


@given(st.integers(0, 30), st.integers(1, 9), st.floats(0.1, 5), st.integers(0, 1000))
def test_shares_by_expectation_and_maximisation(n, h, weight, seed):
    rng = np.random.default_rng(seed)
    likelihood, prior = rng.uniform(0.01, 1, (h, n)), weight * rng.uniform(0.1, 1, h)
    shares = prior / prior.sum()
    for _ in range(20):
        explains = shares[:, None] * likelihood
        explains /= explains.sum(axis=0)
        shares = explains.sum(axis=1) + prior
        shares /= shares.sum()
    np.testing.assert_allclose(mixture_shares(likelihood, prior, 20), shares, atol=1e-12)


@given(st.integers(1, 40), st.floats(0.1, 5), st.floats(0.05, 0.95), st.integers(0, 100))
def test_the_shares_of_two_hypotheses_are_the_best_of_a_grid(n, weight, share, seed):
    """The likelihood of the truth times that of the prior is the largest there."""
    likelihood = np.random.default_rng(seed).uniform(0.01, 1, (2, n))
    prior = weight * np.array([share, 1 - share])
    found = mixture_shares(likelihood, prior, 60)
    assert found.sum() == pytest.approx(1)
    grid = np.linspace(0, 1, 2002)[1:-1]
    both = np.stack([grid, 1 - grid], axis=1)

    def log_likelihood(shares):
        return np.log(shares @ likelihood).sum(axis=-1) + np.log(shares) @ prior

    # Expectation and maximisation stops a little before the top.
    assert log_likelihood(found) >= log_likelihood(both).max() - 0.01
