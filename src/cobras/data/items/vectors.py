"""An embedding of one's own: one row of numbers for each item."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray
from cobras.data.tables.columns import listed
from cobras.data.tables.files import read_table


def read_vectors(path: Path, n: int, source: str) -> FloatArray:
    """The numbers of a file, as they are; there must be as many rows as items."""
    frame = read_table(path)[0]
    odd = [name for name, dtype in frame.schema.items() if not (dtype.is_numeric() or dtype == pl.Boolean)]
    if odd:
        raise InvalidDataError(
            f"{path.name} must hold vectors, that is numbers only, but {listed(odd)} are not."
        )
    if frame.height != n:
        raise InvalidDataError(f"{path.name} holds {frame.height} vectors, but {source} has {n} items.")
    narrow = all(dtype == pl.Float32 for dtype in frame.dtypes)
    X: FloatArray = np.ascontiguousarray(frame.to_numpy().astype(np.float32 if narrow else np.float64))
    if not np.isfinite(X).all():
        row = int(np.flatnonzero(~np.isfinite(X).all(axis=1))[0])
        raise InvalidDataError(
            f"{path.name} has a gap or is infinite in row {row}, counted from 0; correct it."
        )
    return X
