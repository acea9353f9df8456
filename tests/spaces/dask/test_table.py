"""Regions in the partitions of a dask array, beside those in memory."""

import dask
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobras.spaces.dask.space import as_table
from cobras.spaces.dask.table import RemoteLabels, RemotePart, RemoteRegion
from cobras.spaces.passes.memory import MemoryRegion
from tests.laws.problems import in_passes
from tests.spaces.dask.clusters import cut_up

pytestmark = pytest.mark.usefixtures("small_partitions")
few = settings(max_examples=settings.default.max_examples // 2)


@few
@given(
    st.integers(2, 60), st.integers(1, 5), st.integers(1, 9), st.integers(1, 20), st.integers(0, 2**32 - 1)
)
def test_a_region_does_what_one_in_memory_does(n, d, k, block, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(rng.choice([np.float32, np.float64]))
    labels = rng.integers(2, size=n).astype(np.uint8)
    labels[rng.integers(n)] = 1
    members, centers = np.flatnonzero(labels), rng.normal(size=(k, d))
    with in_passes(block=block), dask.config.set(scheduler="synchronous"):
        table = as_table(cut_up(X, seed))
        assert not (table.starts[:-1] % block).any()
        of = np.split(labels, table.starts[1:-1])
        split = RemoteLabels(
            [dask.delayed(part) for part in of], np.array([np.bincount(p, minlength=2) for p in of])
        )
        there = RemoteRegion(table, RemotePart(table, None, split, 1, int(members[0])))
        here = MemoryRegion(X, members, None, block)
        assert len(there) == len(here) == len(members)
        positions = np.unique(rng.integers(len(members), size=5))
        np.testing.assert_array_equal(there.rows(positions), here.rows(positions))
        np.testing.assert_array_equal(there.at(members[::-1]), X[members[::-1]])
        kept, found = there.assign(centers, find_farthest=True)
        expected_labels, expected = here.assign(centers, find_farthest=True)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)
        candidates = found.candidates[found.candidates >= 0]
        np.testing.assert_array_equal(there.at(candidates[::-1]), X[candidates[::-1]])
        np.testing.assert_array_equal(np.concatenate(dask.compute(*kept.partitions)), expected_labels)
        found, away = there.nearest(centers[0], 3)
        best = np.argsort(away, kind="stable")[:3]
        np.testing.assert_array_equal(
            found[best], members[np.argsort(((X[members] - centers[0]) ** 2).sum(axis=1))[:3]]
        )
        moved, rows = there.all_rows()
        np.testing.assert_array_equal(moved, members)
        np.testing.assert_array_equal(rows, X[members])
