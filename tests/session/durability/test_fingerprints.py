"""Fingerprints of tables."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras.core.exceptions import InvalidDataError, SessionFileError
from cobras.core.types import Event
from cobras.session.file import SessionFile, fingerprint, quick_fingerprint

tables = st.tuples(
    st.integers(0, 6), st.integers(0, 4), st.sampled_from(["f4", "f8", "i2", "?", "U3", ">f8"])
)


@given(tables, st.integers(0, 2**32 - 1))
def test_fingerprints_do_not_depend_on_the_layout(table: tuple[int, int, str], seed: int) -> None:
    n, d, dtype = table
    X = np.random.default_rng(seed).integers(0, 9, (n, d)).astype(dtype)
    wide = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)
    for name in (fingerprint, quick_fingerprint):
        assert name(X) == name(np.asfortranarray(X)) == name(wide[::2, ::3]) == name(X[::-1].copy()[::-1])
        assert name(X) != name(X[None])
        assert name(X) != name(X.astype("c16" if dtype != "U3" else "U4"))


@given(st.integers(0, 2999), st.integers(0, 1))
def test_the_full_fingerprint_sees_every_value_and_the_quick_one_most_spaced_rows(i: int, j: int) -> None:
    X = np.zeros((3000, 2), dtype=np.float32)
    full, quick = fingerprint(X), quick_fingerprint(X)
    X[i, j] = 1
    assert fingerprint(X) != full
    assert (quick_fingerprint(X) != quick) == (i in np.arange(1024) * 2999 // 1023)
    few = np.zeros((1024, 2))
    before = quick_fingerprint(few)
    few[i % 1024, j] = 1
    assert quick_fingerprint(few) != before


def test_a_mapped_table_is_not_copied_as_a_whole(tmp_path: Path) -> None:
    X = np.memmap(tmp_path / "X", dtype=np.float32, mode="w+", shape=(100_000, 80))
    X[5, 5] = 1
    tracemalloc.start()
    try:
        mapped = fingerprint(X), fingerprint(X[:, ::2])
        assert tracemalloc.get_traced_memory()[1] < X.nbytes / 5
    finally:
        tracemalloc.stop()
    assert mapped == (fingerprint(np.array(X)), fingerprint(np.array(X[:, ::2])))


def test_objects_have_no_fingerprint() -> None:
    for name in (fingerprint, quick_fingerprint):
        with pytest.raises(InvalidDataError, match="type object has no fingerprint"):
            name(np.array([["a", 1]], dtype=object))


def test_a_file_that_is_gone_before_all_rows_are_read_gives_no_traceback(tmp_path: Path) -> None:
    file = SessionFile(tmp_path / "a.cobras", np.ones((4, 2)))
    file.create({"method": "cobras", "random_state": 0}, None)
    file._wait()
    (tmp_path / "a.cobras").unlink()
    # As if the rows had taken longer: an error in the thread would be a warning here, and a traceback elsewhere.
    file._fingerprint_in_background(4)
    file._wait()
    with pytest.raises(SessionFileError, match="deleted or moved"):
        file.append(Event("undo"))
    file.close()
