"""A space with rows added: old parts stay, new rows go to the nearest one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cobras import EuclideanSpace
from cobras.spaces.growth import FOLLOW, GrownSpace


@given(st.integers(0, 2**32 - 1), st.integers(2, 25), st.lists(st.integers(1, 25), min_size=1, max_size=3))
def test_parts_are_those_of_the_old_rows_until_too_many_are_new(seed, n, added):
    rng = np.random.default_rng(seed)
    X = rng.random((n + sum(added), 2))
    spaces = [EuclideanSpace(X[:n])]
    for count in added:
        spaces.append(GrownSpace(spaces[-1], X[spaces[-1].n : spaces[-1].n + count]))
    space = spaces[-1]
    nodes = [(space.root(3), spaces[0].root(3))]
    while nodes:
        node, before = nodes.pop()
        assert np.isin(before.members, node.members).all()
        assert node.representative == before.representative
        np.testing.assert_allclose(node.centroid, X[node.members].mean(axis=0))
        parts, old = space.split(node, 2), spaces[0].split(before, 2)
        np.testing.assert_array_equal(np.sort(np.concatenate([p.members for p in parts])), node.members)
        if len(old) < 2 or len(node) > FOLLOW * len(before):
            continue
        # The search of COBRAS goes on in the same half.
        assert node.random().random(1) == before.random().random(1)
        for part, first in zip(parts, old, strict=True):
            assert part.members[part.members < n].tolist() == first.members.tolist()
        nodes += zip(parts, old, strict=True)


@given(st.integers(0, 2**32 - 1), st.integers(2, 20), st.integers(2, 20))
def test_what_other_rows_joined_is_split_by_itself(seed, n, added):
    rng = np.random.default_rng(seed)
    X = rng.random((n + added, 2))
    space = GrownSpace(EuclideanSpace(X[:n]), X[n:])
    whole, rows = space.old.root(0), space.new_rows
    for some in (rows, rows[: added // 2 + 1]):
        (joined,) = space.grow([whole], some, np.zeros(len(some), dtype=np.intp))
        for s in (joined, space.group(some, 0)):
            held = np.concatenate([part.members for part in space.split(s, 2)])
            np.testing.assert_array_equal(np.sort(held), s.members)


def test_a_part_is_represented_by_the_nearest_of_the_rows_that_it_holds_and_may_show():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [1.5], [30.0], [31.0]])
    old = EuclideanSpace(X[:6], np.array([True, True, False, True, True, True]))
    space = GrownSpace(old, X[6:])
    parts = sorted(space.split(space.root(0), 3), key=lambda s: s.first)
    assert [s.members.tolist() for s in parts] == [[0, 1, 2, 6], [3, 4, 5], [7, 8]]
    found = space.represent(tuple(parts), [0, 2, 6, 5, 3])
    assert [s.representative for s in found] == [6, 5, parts[2].representative]
    again = space.represent(tuple(parts), [6, 5])
    assert [a is b for a, b in zip(found, again, strict=True)] == [True, True, True]
