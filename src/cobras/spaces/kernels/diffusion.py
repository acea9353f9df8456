"""Diffusion over a graph: sums of a series whose terms follow from each other by products with a sparse matrix."""

import numpy as np

from cobras.spaces.kernels.compile import Array, kernel


@kernel()
def sum_series(
    data: Array, columns: Array, starts: Array, source: Array, steps: Array, weights: Array
) -> Array:
    """Return sums of x_0, x_1, ..., where x_0 is the source, x_1 = a S x_0 and x_k = b S x_k-1 - c x_k-2.

    With 1, 2 and 1 these are Chebyshev's polynomials of S, with a, a and 0 the powers of a S.

    Parameters
    ----------
    data, columns, starts : arrays of float32, uint32 and uint32
        The matrix S in compressed rows. Indices without a sign need no check whether they count from the end: this
        takes half of the time.
    source : (n,) array of float32
    steps : (3,) array of float32
        The numbers a, b and c.
    weights : (n_sums, n_terms) array of float32
        Those of the terms in each sum.
    """
    n, (n_sums, n_terms) = len(source), weights.shape
    found = np.zeros((n_sums, n), np.float32)
    before, now = np.zeros(n, np.float32), source.copy()
    for k in range(n_terms):
        if k > 0:
            factor = steps[1] if k > 1 else steps[0]
            # The next term takes the place of the last one but one.
            for i in range(n):
                total = np.float32(0)
                for at in range(starts[i], starts[i + 1]):
                    total += data[at] * now[columns[at]]
                before[i] = factor * total - steps[2] * before[i]
            before, now = now, before
        for s in range(n_sums):
            sums, weight = found[s], weights[s, k]
            for i in range(n):
                sums[i] += weight * now[i]
    return found
