"""What the tests of rows in dask share."""

import pytest


@pytest.fixture(scope="module")
def small_partitions():
    """Partitions as they come, however small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cobras.spaces.dask.space.LEAST", 1)
        yield
