"""Rows in dask, on its own scheduler, in blocks of seven rows: the same questions and labels as in memory."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobras import (
    COBS,
    DaskSpace,
    EuclideanSpace,
    InvalidDataError,
    Session,
)
from cobras.spaces.base import RemoteSpace, VectorSpace
from cobras.spaces.dask.space import as_table
from tests.laws.problems import in_passes, problems
from tests.spaces.dask.clusters import cut_up

pytestmark = pytest.mark.usefixtures("small_partitions")
few = settings(max_examples=settings.default.max_examples // 2)


@few
@given(problems(methods=("cobras", "cobra"), spaces=("passes",)), st.integers(0, 2**32 - 1))
def test_a_session_asks_and_finds_what_it_would_in_memory(problem, seed):
    problem.train = None
    problem.options["medoid"] = "nearest_to_centroid"
    here = problem.session()
    with dask.config.set(scheduler="synchronous"):
        problem.X = cut_up(problem.X, seed)
        there = problem.session()
        assert problem.answer_all(there, 12) == problem.answer_all(here, 12)
        assert there.ask() == here.ask()
        np.testing.assert_array_equal(there.labels_, here.labels_)
        rows = list(range(here.space.n))
        assert list(there.partition.clusters_of(rows).values()) == here.labels_.tolist()


@few
@given(
    problems(methods=("cobras",), spaces=("passes",)),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["all", "train"]),
)
def test_parts_are_those_of_memory(problem, seed, among):
    with in_passes(), dask.config.set(scheduler="synchronous"):
        here, there = EuclideanSpace(problem.X), DaskSpace(cut_up(problem.X, seed))
        assert isinstance(there, RemoteSpace)
        assert not isinstance(there, VectorSpace)
        a, b = (space.root(problem.seed) for space in (here, there))
        for k in (3, 2, 4):
            assert (a.first, len(a), a.mark, a.n_train, a.path) == (
                b.first,
                len(b),
                b.mark,
                b.n_train,
                b.path,
            )
            np.testing.assert_array_equal(a.members, b.members)
            assert a.members.dtype == b.members.dtype
            np.testing.assert_array_equal(a.centroid, b.centroid)
            assert here.representatives(a, 3) == there.representatives(b, 3)
            np.testing.assert_array_equal(there.rows(b.members[::-1]), problem.X[a.members[::-1]])
            a, b = (max(space.split(s, k, among), key=len) for space, s in ((here, a), (there, b)))


def test_partitions_begin_where_blocks_do_and_small_ones_are_joined(monkeypatch):
    X = da.zeros((1000, 2), chunks=((90, 110, 400, 0, 5, 395), (1, 1)), dtype="float32")
    with in_passes(block=100), dask.config.set(scheduler="synchronous"):
        assert as_table(X).starts.tolist() == [0, 100, 200, 600, 1000]
        monkeypatch.setattr("cobras.spaces.dask.space.LEAST", 300 * 2 * 4)
        assert as_table(X).starts.tolist() == [0, 600, 1000]


def test_rows_that_were_dropped_are_fetched_again(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 2))
    monkeypatch.setattr("cobras.spaces.dask.space.KEPT", 0)
    with in_passes(at_once=25), dask.config.set(scheduler="synchronous"):
        space, expected = DaskSpace(da.from_array(X, chunks=10)), EuclideanSpace(X)
        halves = [part for s in space.split(space.root(0), 4) for part in space.split(s, 2)]
        again = [part for s in expected.split(expected.root(0), 4) for part in expected.split(s, 2)]
        for a, b in zip(halves, again, strict=True):
            assert [p.members.tolist() for p in space.split(a, 2)] == [
                p.members.tolist() for p in expected.split(b, 2)
            ]


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (da.zeros(5), "table with rows and columns, but its shape is \\(5,\\)"),
        (da.zeros((0, 2)), "table with rows and columns, but its shape is \\(0, 2\\)"),
        (da.zeros((4, 2), dtype="complex128"), "values of type complex128, but only numbers"),
        (dask.delayed(np.zeros)((4, 2)), "X is a Delayed of dask, but only arrays"),
        (dd.from_pandas(pd.DataFrame({"a": [1.0], "b": ["x"]}), npartitions=1), "Column 'b' of X holds str"),
        (dd.from_pandas(pd.DataFrame({"a": [1.0]}), npartitions=1)["a"], "it is a Series"),
    ],
)
def test_what_cannot_be_clustered_is_refused_at_once(X, sentence):
    with pytest.raises(InvalidDataError, match=sentence):
        Session(X, method="cobras")


@pytest.mark.parametrize("n", [40, 4])
@pytest.mark.parametrize(
    ("value", "sentence"),
    [(np.nan, "X holds NaN or infinity, first at row 3, column 1"), (1e200, "X holds values beyond")],
)
def test_missing_and_huge_values_are_found_in_the_first_pass(n, value, sentence):
    X = np.random.default_rng(0).normal(size=(n, 2))
    X[3, 1] = X[-1, 1] = value
    with in_passes(at_once=5), dask.config.set(scheduler="synchronous"):
        session = Session(da.from_array(X, chunks=2), method="cobras")
        with pytest.raises(InvalidDataError, match=sentence):
            session.ask()


def test_what_needs_memory_is_refused_with_a_sentence():
    X = da.zeros((20, 2), chunks=5)
    with pytest.raises(InvalidDataError, match="cobs needs all rows in memory"):
        Session(X, "cobs")
    with pytest.raises(InvalidDataError, match="needs all rows in memory"):
        COBS().fit(X, np.zeros(20))
    with pytest.raises(InvalidDataError, match="With train_indices a table must lie in memory"):
        Session(X, train_indices=[1, 2], method="cobras")
    with pytest.raises(InvalidDataError, match="medoid are for tables in memory"):
        Session(X, medoid="pam", method="cobras")
    with pytest.raises(InvalidDataError, match="Leave ids out"):
        Session(X, method="cobras").export("labels/", ids=range(20))


def test_columns_of_all_kinds_of_numbers_are_those_of_memory():
    frame = pd.DataFrame(
        {
            "a": [1, 2, 30],
            "b": [True, False, True],
            "c": pd.array([1, 2, 3], "Int64"),
            "d": np.float32([1, 2, 3]),
        }
    )
    with dask.config.set(scheduler="synchronous"):
        for columns in (["a"], ["b"], ["a", "b"], ["d"], ["d", "a"], ["c", "d"]):
            table = as_table(dd.from_pandas(frame[columns], npartitions=2))
            expected = frame[columns].to_numpy(np.float32 if columns == ["d"] else np.float64)
            assert table.dtype == expected.dtype
            np.testing.assert_array_equal(table[np.arange(3)], expected)
        assert as_table(da.zeros((3, 2), dtype="float16")).dtype == np.float32
