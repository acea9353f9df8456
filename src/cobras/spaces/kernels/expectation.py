"""The shares of a mixture by expectation and maximisation, where the likelihoods of its parts are fixed."""

import numpy as np

from cobras.spaces.kernels.compile import Array, kernel


@kernel("contract", "reassoc")
def mixture_shares(given: Array, prior: Array, n_rounds: int) -> Array:
    """Return the shares of a mixture that make the truth likeliest, after `n_rounds` rounds.

    Parameters
    ----------
    given : (h, n) array of float
        The likelihood that each hypothesis gave to each truth.
    prior : (h,) array of float
        It counts as many truths as its sum that were shared so.
    n_rounds : int
    """
    h, n = given.shape
    # What all hypotheses explain of a truth adds up to one, so the sum of all is known beforehand.
    total = prior.sum()
    shares = prior / total
    total += n
    inverse = np.empty(n)
    for _ in range(n_rounds):
        for j in range(n):
            inverse[j] = 0.0
        for x in range(h):
            likelihoods, share = given[x], shares[x]
            for j in range(n):
                inverse[j] += share * likelihoods[j]
        for j in range(n):
            inverse[j] = 1.0 / inverse[j]
        for x in range(h):
            likelihoods, explained = given[x], 0.0
            for j in range(n):
                explained += likelihoods[j] * inverse[j]
            shares[x] = (shares[x] * explained + prior[x]) / total
    return shares
