import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from cobras.bench.rand import adjusted_rand, ari_per_query

labelings = st.integers(1, 60).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 7), min_size=n, max_size=n)] * 2)
)


@given(labelings)
def test_equals_scikit_learn(both):
    a, b = map(np.array, both)
    assert adjusted_rand(a, b) == pytest.approx(adjusted_rand_score(a, b), abs=1e-12)


@given(labelings, st.permutations(range(8)))
def test_is_symmetric_and_blind_to_names(both, names):
    a, b = map(np.array, both)
    assert adjusted_rand(a, b) == pytest.approx(adjusted_rand(b, a), abs=1e-12)
    assert adjusted_rand(np.array(names)[a], b) == pytest.approx(adjusted_rand(a, b), abs=1e-12)
    assert adjusted_rand(a, np.array(names)[a]) == 1


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([0, 0, 1, 1], [0, 0, 1, 2], 4 / 7),
        ([0, 0, 0, 0], [0, 1, 2, 3], 0),
        ([0, 0, 0], [0, 0, 0], 1),
        ([0, 1, 2], [2, 1, 0], 1),
        ([0], [0], 1),
        ([0, 0, 1, 1], [0, 1, 0, 1], -0.5),
    ],
)
def test_worked_by_hand(a, b, expected):
    assert adjusted_rand(np.array(a), np.array(b)) == pytest.approx(expected)


def test_sums_beyond_32_bits():
    y = np.repeat([0, 1], 100_000)
    assert adjusted_rand(y, y) == 1
    assert adjusted_rand(y, np.roll(y, 1000)) == pytest.approx(adjusted_rand_score(y, np.roll(y, 1000)))


@given(st.integers(0, 2**32 - 1))
def test_per_query_is_the_index_on_the_test_instances_alone(seed):
    rng = np.random.default_rng(seed)
    y, test = rng.integers(0, 3, 40), rng.permutation(40)[:12]
    clusterings = [rng.integers(0, 5, 40) for _ in range(4)]
    clusterings.insert(2, clusterings[1].copy())
    expected = [adjusted_rand_score(y[test], labels[test]) for labels in clusterings]
    assert ari_per_query(clusterings, y, test) == pytest.approx(expected)
