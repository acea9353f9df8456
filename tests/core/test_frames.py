"""What counts as a data frame, and what does not."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from dask import array, dataframe

from cobras import Dataset, EuclideanSpace, InvalidDataError, Session, read_dataset
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


def test_labels_in_another_order_than_the_rows_are_refused(tmp_path):
    """An index that says nothing about the rows of X is left alone: labels are taken by their position."""
    rows = pd.DataFrame(MIXED, index=["p", "q", "r"])
    labels = pd.Series([1, 2, 1], index=["p", "q", "r"])
    with pytest.raises(InvalidDataError, match=r"in another order.*Give y.loc\[X.index\]"):
        Session.from_labels(rows, labels[::-1], path=tmp_path / "a.cobras")
    assert not (tmp_path / "a.cobras").exists()
    for same in (labels, labels.reset_index(drop=True), labels.tolist(), labels.to_numpy()):
        pairs = Session.from_labels(rows, same, random_state=0).constraints()
        assert pairs.must_link.tolist() == [[0, 2]]
        assert pairs.cannot_link.tolist() == [[0, 1]]
