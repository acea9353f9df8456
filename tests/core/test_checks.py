"""What cannot be clustered is refused in one sentence."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from cobras import InvalidDataError, Session


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ([[1.0, np.nan]], "NaN or infinity, first at row 0, column 1"),
        ([[1.0], [-np.inf]], "NaN or infinity, first at row 1, column 0"),
        (np.empty((0, 3)), "its shape is \\(0, 3\\)"),
        (np.empty((3, 0)), "its shape is \\(3, 0\\)"),
        ("customers.csv", r"X is 'customers.csv', .* read_dataset\(path\)"),
        ({"a": [1, 2]}, r"read_dataset\(path\)"),
        (None, r"X is None, .* read_dataset\(path\)"),
        (np.ones((2, 2), complex), "X holds complex numbers"),
        ([1.0, 2.0], "its shape is \\(2,\\)"),
        ([["rose"], ["lily"]], "Column 0 of X holds .*rose.*, but only numbers can be clustered"),
        ([[1.0], ["lily"]], "Column 0 of X holds .*lily.* in row 1, but only numbers can be clustered"),
        ([[1.0], [2.0, 3.0]], r"X is not a table.*[^.]\.$"),
        (pa.record_batch({"day": [dt.date(2024, 1, 31)], "size": [1.5]}), "X is not a table of numbers: "),
        ([[1e300], [0.0]], "values beyond"),
        ([[None], [1]], "Column 0 of X holds None|NaN or infinity"),
        ([[1], [10**400]], "Column 0 of X holds numbers that are too large. Scale it first."),
        (np.ma.masked_array([[1.0], [2.0]], [[False], [True]]), "X has gaps, first at row 1, column 0"),
        (np.array([["2024-01-31", "NaT"]], "datetime64[D]"), "X has gaps, first at row 0, column 1"),
        ([[np.timedelta64(3, "s")], [np.timedelta64("NaT")]], "X has gaps, first at row 1, column 0"),
    ],
)
def test_bad_data_gets_one_sentence(data, sentence):
    with pytest.raises(InvalidDataError, match=sentence) as caught:
        Session(data, method="cobras")
    assert "\n" not in str(caught.value)


def test_sparse_data_gets_one_sentence():
    from scipy.sparse import csr_matrix

    with pytest.raises(InvalidDataError, match="sparse"):
        Session(csr_matrix(np.eye(3)), method="cobras")
