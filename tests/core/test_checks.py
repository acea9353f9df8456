"""What cannot be clustered is refused in one sentence."""

import numpy as np
import polars as pl
import pytest

from cobras import InvalidDataError, Session


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ([[1.0, np.nan]], "NaN or infinity, first at row 0, column 1"),
        ([[1.0], [-np.inf]], "NaN or infinity, first at row 1, column 0"),
        (np.empty((0, 3)), "its shape is \\(0, 3\\)"),
        (np.empty((3, 0)), "its shape is \\(3, 0\\)"),
        ([1.0, 2.0], "its shape is \\(2,\\)"),
        ([["rose"], ["lily"]], "Column 0 of X holds .*rose.*, but only numbers can be clustered"),
        ([[1.0], [2.0, 3.0]], "X is not a table"),
        ([[1e300], [0.0]], "values beyond"),
        (pl.DataFrame({"a": [1.0], "name": ["rose"]}), "Column 'name' of X holds 'rose'"),
        ([[None], [1]], "Column 0 of X holds None|NaN or infinity"),
    ],
)
def test_bad_data_gets_one_sentence(data, sentence):
    with pytest.raises(InvalidDataError, match=sentence) as caught:
        Session(data)
    assert "\n" not in str(caught.value)


def test_sparse_data_gets_one_sentence():
    from scipy.sparse import csr_matrix

    with pytest.raises(InvalidDataError, match="sparse"):
        Session(csr_matrix(np.eye(3)))
