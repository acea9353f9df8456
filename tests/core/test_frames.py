"""What counts as a data frame, and what does not."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from dask import array, dataframe

from cobras import Dataset, EuclideanSpace, Session, read_dataset
from cobras.core.frames import Items, as_items, is_frame

MIXED = {"x": [0.0, 0.1, 5.0], "c": ["a", "b", "a"]}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_frames_are_read(make):
    assert is_frame(make(MIXED))
    found = as_items(make(MIXED))
    assert isinstance(found, Dataset)
    np.testing.assert_array_equal(found.X, read_dataset(pl.DataFrame(MIXED)).X)


@pytest.mark.parametrize(
    "data",
    [
        np.zeros((3, 2)),
        [[0.0], [1.0]],
        ((0.0,), (1.0,)),
        "flowers.csv",
        EuclideanSpace(np.zeros((3, 1))),
        array.zeros((3, 2)),
        dataframe.from_pandas(pd.DataFrame({"x": [1.0, 2.0]}), npartitions=1),
        pd.Series([1, 2]),
        None,
    ],
    ids=lambda data: type(data).__name__,
)
def test_all_else_is_left_as_it_is(data):
    assert not is_frame(data)
    assert as_items(data) is None


def test_a_data_set_is_taken_as_it_is():
    dataset = read_dataset(pl.DataFrame(MIXED))
    assert isinstance(dataset, Items)
    assert as_items(dataset) is dataset
    session = Session(dataset, random_state=0, method="cobras")
    assert session.space.X is dataset.X
    assert session.to_frame().columns == ["x", "c", "cluster_id", "cluster"]
