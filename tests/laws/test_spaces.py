"""Laws of every space: rows in memory, in passes and in dask, series by DTW and by k-Shape."""

from unittest import mock

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import DaskSpace, EuclideanSpace, Space
from tests.laws.problems import SPACES, in_passes, problems
from tests.spaces.dask.clusters import cut_up


@pytest.fixture(autouse=True, scope="module")
def in_one_thread():
    """Dask without workers, and partitions as they come, however small."""
    with (
        dask.config.set(scheduler="synchronous"),
        mock.patch("cobras.spaces.dask.space.LEAST", 1),
    ):
        yield


@st.composite
def spaces(draw):
    """What makes the same space again and again, its training rows, and a seed."""
    problem = draw(problems(methods=("cobras",), spaces=(*SPACES, "dask")))
    if problem.space != "dask":
        return lambda: problem.session().space, problem.train, problem.seed
    problem.train = None

    def make():
        with in_passes():
            return DaskSpace(cut_up(problem.X, problem.seed))

    return make, None, problem.seed


def nodes(space, seed, ks, among="all"):
    """A walk down the split tree, always into the largest part: each node with its parts."""
    s = space.root(seed)
    for k in ks:
        parts = space.split(s, k, among)
        yield s, k, parts
        s = max(parts, key=len)


KS = st.lists(st.integers(1, 5), min_size=1, max_size=4)
AMONG = st.sampled_from(["all", "train"])


@given(spaces(), KS, AMONG)
def test_a_split_partitions_the_members(made, ks, among):
    make, _, seed = made
    space = make()
    assert isinstance(space, Space)
    assert space.root(seed).members.tolist() == list(range(space.n))
    for s, k, parts in nodes(space, seed, ks, among):
        assert 1 <= len(parts) <= k
        assert sorted(np.concatenate([part.members for part in parts]).tolist()) == s.members.tolist()
        for part in parts:
            assert len(part) == len(part.members) > 0
            assert np.all(np.diff(part.members) > 0)
            assert part.first == part.members[0]
        if len(parts) == 1:
            assert parts[0] is s


@given(spaces(), KS, AMONG, st.integers(1, 4))
def test_representatives_are_training_members(made, ks, among, count):
    make, train, seed = made
    space = make()
    for _, _, parts in nodes(space, seed, ks, among):
        for part in parts:
            shown = [i for i in part.members.tolist() if train is None or train[i]]
            assert part.n_train == len(shown)
            assert part.representative in shown
            found = space.representatives(part, count)
            assert found[0] == part.representative
            assert len(set(found)) == len(found) == min(count, len(shown))
            assert set(found) <= set(shown)


def described(parts):
    return [(p.members.tolist(), p.representative, p.n_train, p.centroid.tolist(), p.path) for p in parts]


@given(spaces(), KS, AMONG, st.integers(2, 5))
def test_the_same_node_gives_the_same_split_whatever_was_asked_before(made, ks, among, other):
    make, _, seed = made
    space, busy = make(), make()
    for s, k, parts in nodes(space, seed, ks, among):
        assert all(a is b for a, b in zip(space.split(s, k, among), parts, strict=True))
    # Other splits, draws and seeds in between do not matter.
    busy.split(busy.root(seed + 1), other)
    busy.split(busy.root(seed), other, draw=1)
    for _, _, parts in nodes(busy, seed, [other, 2]):
        assert parts
    expected = [described(parts) for _, _, parts in nodes(space, seed, ks, among)]
    assert [described(parts) for _, _, parts in nodes(busy, seed, ks, among)] == expected


@given(spaces(), st.integers(2, 5))
def test_nodes_have_paths_of_their_own(made, k):
    make, _, seed = made
    space = make()
    root = space.root(seed)
    paths = [root.path]
    for parts in (space.split(root, k), space.split(root, k, draw=1), space.split(root, k, "train")):
        paths += [part.path for part in parts if part is not root]
    assert len(set(paths)) == len(paths)


@given(spaces(), st.integers(1, 5))
def test_distances_are_symmetric_and_not_negative(made, k):
    make, _, seed = made
    space = make()
    parts = space.split(space.root(seed), k)
    between = space.distances(parts, parts)
    assert between.shape == (len(parts), len(parts))
    np.testing.assert_allclose(between, between.T, atol=1e-6)
    # A flat series has no shape: its shape-based distance is one, also from itself.
    has_shape = [bool(np.any(part.centroid)) for part in parts]
    np.testing.assert_allclose(np.diag(between)[has_shape], 0, atol=1e-6)
    assert (between >= -1e-6).all()
    np.testing.assert_array_equal(space.distances(parts[:1], parts), between[:1])


# From four groups on, one in 300 draws ends in a local optimum: few restarts see a sample.
@given(st.integers(0, 1000), st.integers(2, 3))
def test_memory_passes_and_dask_find_the_same_clear_groups(seed, k):
    """Passes and dask also find the same medoids; these belong to the centers before the last pass."""
    rng = np.random.default_rng(seed)
    group = np.concatenate([np.arange(k), rng.integers(k, size=30)])
    X = 1000.0 * group[:, None] + rng.random((len(group), 2))
    with in_passes(at_once=10):
        spaces = [EuclideanSpace(X), DaskSpace(cut_up(X, seed))]
    in_memory, in_passes_, in_dask = (
        sorted((part.members.tolist(), part.representative) for part in space.split(space.root(seed), k))
        for space in (EuclideanSpace(X), *spaces)
    )
    assert in_passes_ == in_dask
    wanted = sorted(np.flatnonzero(group == g).tolist() for g in range(k))
    assert [members for members, _ in in_memory] == [members for members, _ in in_dask] == wanted
