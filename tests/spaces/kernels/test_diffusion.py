"""Series of products with a sparse matrix, against the same with a whole one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cobras.spaces.kernels.diffusion import sum_series


@given(
    st.integers(1, 9), st.integers(1, 6), st.sampled_from([(1, 2, 1), (0.9, 0.9, 0)]), st.integers(0, 1000)
)
def test_the_sums_of_a_series(n, n_terms, steps, seed):
    rng = np.random.default_rng(seed)
    S = rng.random((n, n)) * (rng.random((n, n)) < 0.5) / n
    source, weights = rng.normal(size=n), rng.normal(size=(2, n_terms))
    terms = [source, steps[0] * S @ source]
    while len(terms) < n_terms:
        terms.append(steps[1] * S @ terms[-1] - steps[2] * terms[-2])
    table = sparse.csr_array(S, dtype=np.float32)
    found = sum_series(
        table.data, table.indices.astype(np.uint32), table.indptr.astype(np.uint32),
        *(np.array(part, np.float32) for part in (source, steps, weights)),
    )  # fmt: skip
    np.testing.assert_allclose(found, weights @ terms[:n_terms], atol=1e-4)
