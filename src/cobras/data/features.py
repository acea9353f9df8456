"""Which columns of a table are features, which one names the rows, and the matrix that comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.data.dataset import scaled
from cobras.exceptions import InvalidDataError
from cobras.types import FloatArray

_ID_NAMES = frozenset({"id", "ids", "index", "key", "uuid", "guid", "identifier", "rowid"})
_NARROW = (pl.Float32, pl.Boolean, pl.Int8, pl.UInt8, pl.Int16, pl.UInt16)


def row_ids(
    frame: pl.DataFrame, id: str | None, candidates: Sequence[str], notes: list[str]
) -> tuple[npt.NDArray[Any], list[str]]:
    """The names of the rows, and the columns that do nothing but name them, the one in use first."""
    named = [name for name in candidates if name != id and _is_name(frame[name])]
    counts = [name for name in candidates if name not in (id, *named) and _is_count(frame[name])]
    if not any(frame.schema[name].is_numeric() for name in candidates if name not in (id, *named, *counts)):
        counts = []  # all the numbers there are
    found = [*named, *counts]
    if id is not None:
        _check_id(frame[id])
        found.insert(0, id)
    elif found:
        notes.append(f"Used {found[0]!r} as the names of the rows.")
    if found[1:]:
        notes.append(f"Left out {listed(found[1:])}: only names or counts the rows.")
    return (frame[found[0]].to_numpy() if found else np.arange(frame.height)), found


def _check_id(column: pl.Series) -> None:
    if column.null_count():
        fault = f"{column.null_count()} of its cells are empty"
    elif column.n_unique() < len(column):
        fault = f"{column.filter(column.is_duplicated())[0]!r} occurs more than once"
    else:
        return
    raise InvalidDataError(f"Column {column.name!r} cannot name the rows: {fault}.")


def _is_name(column: pl.Series) -> bool:
    name = column.name.strip().lower()
    called_so = name in _ID_NAMES or name.endswith(("_id", " id"))
    fits = called_so and (column.dtype.is_integer() or column.dtype == pl.String)
    return fits and column.null_count() == 0 and column.n_unique() == len(column)


def _is_count(column: pl.Series) -> bool:
    """Whether an integer column counts on from 0 or 1; among less than five rows that proves nothing."""
    if not column.dtype.is_integer() or len(column) < 5 or column.null_count() or column[0] not in (0, 1):
        return False
    return bool((column.cast(pl.Float64) - column[0] == pl.Series(np.arange(len(column)))).all())


def feature_names(frame: pl.DataFrame, candidates: Sequence[str], notes: list[str]) -> list[str]:
    """The candidates that hold numbers or booleans; the notes say why the others do not count."""
    features: list[str] = []
    text: list[str] = []
    empty: list[str] = []
    other: list[str] = []
    for name in candidates:
        column = frame[name].fill_nan(None) if frame.schema[name].is_float() else frame[name]
        if column.null_count() == len(column):
            empty.append(name)
        elif column.dtype.is_numeric() or column.dtype == pl.Boolean:
            features.append(name)
        else:
            is_text = column.dtype in (pl.String, pl.Categorical, pl.Enum)
            (text if is_text else other).append(name)
    for left_out, why in ((text, "text"), (other, "not numbers")):
        if left_out:
            notes.append(f"Left out {listed(left_out)}: {why}, shown but not used.")
    if empty:
        notes.append(f"Left out {listed(empty)}: empty.")
    return features


def feature_matrix(file: Path, frame: pl.DataFrame, features: Sequence[str], notes: list[str]) -> FloatArray:
    """The features as one matrix, gaps filled, scaled; float32 where all of it is."""
    dtypes = [frame.schema[name] for name in features]
    narrow = pl.Float32 in dtypes and all(dtype in _NARROW for dtype in dtypes)
    X = np.empty((frame.height, len(features)), dtype=np.float32 if narrow else np.float64)
    filled = {}
    for k, name in enumerate(features):
        column = frame[name].cast(pl.Float32 if narrow else pl.Float64).fill_nan(None)
        if column.is_infinite().any():
            row = int(column.is_infinite().fill_null(False).arg_true()[0])
            raise InvalidDataError(
                f"Column {name!r} of {file.name} is infinite in row {row}, counted from 0; "
                "correct the value or leave the column out."
            )
        if gaps := column.null_count():
            filled[name] = gaps
            half = (column / 2).median()  # the mean of two halves cannot overflow
            column = column.fill_null(2 * float(half))  # type: ignore[arg-type]
        X[:, k] = column.to_numpy()
    if filled:
        total = sum(filled.values())
        notes.append(
            f"Filled {total} missing value{'s' * (total > 1)} in {listed(list(filled))} with the median."
        )
    notes.append(f"Scaled {len(features)} column{'s' * (len(features) > 1)} to [0, 1].")
    return scaled(X)


def listed(names: Sequence[str], at_most: int = 4) -> str:
    """Names in quotes, the rest of a long list as a number.

    Examples
    --------
    >>> listed(["a", "b", "c"], 2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(name) for name in names[:at_most])
    return shown if len(names) <= at_most else f"{shown} and {len(names) - at_most} more"
