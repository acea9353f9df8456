"""Checks of what a user gives: data, labels, seeds and options, which are refused in one clear sentence."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from os import PathLike, fspath
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from cobras.core.exceptions import CobrasError, InvalidDataError, first_line
from cobras.core.types import Answer, BoolArray, FloatArray, IndexArray, Pair, Said


class InvalidTypeError(InvalidDataError, TypeError):
    """X holds something that is no number: scikit-learn's conventions ask for a `TypeError` there."""


@contextmanager
def as_invalid_data() -> Iterator[None]:
    """Raise what scikit-learn or a data frame says about X as `InvalidDataError`, in their words."""
    try:
        yield
    except CobrasError:
        raise
    except TypeError as error:
        raise InvalidTypeError(str(error)) from error
    except (ValueError, OverflowError) as error:
        raise InvalidDataError(str(error)) from error


def as_matrix(X: Any) -> FloatArray:
    """A C-contiguous float matrix; float32 stays float32, and nothing is copied that fits.

    Examples
    --------
    >>> as_matrix([[1, 2], [3, float("nan")]])
    Traceback (most recent call last):
    ...
    cobras.core.exceptions.InvalidDataError: X holds NaN or infinity, first at row 1, column 1. ...
    """
    if X is None or isinstance(X, (str, PathLike, Mapping)):
        raise InvalidDataError(
            f"X is {reprlib.repr(X)}, but the data is an array of numbers, a data frame, or what "
            "read_dataset(path) returns for a file."
        )
    # Every sparse matrix has this method; to import scipy.sparse would take 0.15 s.
    if hasattr(X, "tocsr"):
        raise InvalidDataError(
            "X is sparse, but the data must be dense. Reduce it first, e.g. with TruncatedSVD."
        )
    try:
        array = np.asarray(X)
    except (ValueError, TypeError) as error:
        raise InvalidDataError(
            f"X is not a table of numbers: {first_line(error)[:100].rstrip('.')}."
        ) from None
    if array.ndim != 2 or 0 in array.shape:
        raise InvalidDataError(f"X must be a table with rows and columns, but its shape is {array.shape}.")
    if array.dtype.kind == "c":
        raise InvalidDataError("X holds complex numbers. Give their real and imaginary parts as columns.")
    check_gaps(X if isinstance(X, np.ma.MaskedArray) else array)
    if array.dtype.kind not in "fiub":
        array = _numbers(X, array)
    # float16 ends at 65504, too early for squares; integers may need all digits of float64.
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float32 if array.dtype == np.float16 else np.float64)
    if sentence := flaw(array):
        raise InvalidDataError(sentence)
    return np.ascontiguousarray(array)


def check_gaps(X: Any) -> None:
    """Refuse masked cells and times that are missing: as numbers they would be values like any other."""
    if isinstance(X, np.ma.MaskedArray):
        gaps = np.ma.getmaskarray(X)
    elif isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        gaps = np.isnat(X)
    else:
        return
    if gaps.ndim == 2 and gaps.any():
        row, column = np.argwhere(gaps)[0]
        raise InvalidDataError(f"X has gaps, first at row {row}, column {column}. Fill or drop such rows.")


def check_columns(X: Any) -> None:
    """Refuse a data frame with columns of the same name, and one whose rows have yet to be fetched.

    Examples
    --------
    >>> import polars as pl
    >>> check_columns(pl.LazyFrame({"x": [1]}))
    Traceback (most recent call last):
    ...
    cobras.core.exceptions.InvalidDataError: X is a LazyFrame, whose rows are not in memory. Give collect() of it.
    """
    if hasattr(X, "collect_schema") and not hasattr(X, "shape"):
        raise InvalidDataError(
            f"X is a {type(X).__name__}, whose rows are not in memory. Give collect() of it."
        )
    names = column_names(X) or ()
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidDataError(
            f"X has more than one column called {twice!r}; give each column a name of its own."
        )


def column_names(X: Any) -> tuple[str, ...] | None:
    """The names of the columns of a data frame; None where X is none."""
    # The columns of pyarrow are their content.
    named = getattr(X, "column_names", None)
    try:
        if hasattr(X, "collect_schema"):  # of polars: the columns of a lazy frame give a warning
            named = X.collect_schema().names()
        columns = named if isinstance(named, list) else getattr(X, "columns", None)
        names = None if columns is None else tuple(map(str, columns))
    except TypeError:  # a task of dask has every attribute one asks for
        return None
    return names


def as_new_rows(X: Any, n_columns: int, names: tuple[str, ...] | None = None) -> FloatArray:
    """A float matrix of rows to be compared with older ones, whose columns may have names.

    Examples
    --------
    >>> as_new_rows([[1.0, 2.0]], 3)
    Traceback (most recent call last):
    ...
    cobras.core.exceptions.InvalidDataError: The new rows have 2 columns, but the session has 3. ...
    """
    if is_dask(X):
        raise InvalidDataError(
            "The new rows are held by dask, but must be in memory. Give compute() of some of them."
        )
    matrix, given = as_matrix(X), column_names(X)
    if (width := matrix.shape[1]) != n_columns:
        raise InvalidDataError(
            f"The new rows have {width} column{'s' * (width > 1)}, but the session has {n_columns}. Give the same "
            "columns."
        )
    if given is not None and names is not None and given != names:
        new, old = next((a, b) for a, b in zip(given, names, strict=True) if a != b)
        raise InvalidDataError(
            f"The new rows have a column {new!r} where the session has {old!r}. Give the same columns in the same "
            "order."
        )
    return matrix


def flaw(array: FloatArray, first_row: int = 0) -> str | None:
    """What keeps rows of floats, the first of which has this number, from being clustered; None if nothing does."""
    # NaN and infinity show in the extremes, so that good data needs no mask of its own size.
    low, high = float(array.min()), float(array.max())
    if not np.isfinite(low + high):
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            row, column = bad[0]
            return (
                f"X holds NaN or infinity, first at row {first_row + row}, column {column}. "
                "Fill or drop such rows."
            )
    limit = float(np.sqrt(np.finfo(array.dtype).max)) / (8 * array.shape[1])
    # Beyond this limit the sum of squares of a row would overflow.
    if max(-low, high) > limit:
        return f"X holds values beyond {limit:.0e}. Scale the columns first."
    return None


def is_dask(X: Any) -> bool:
    """Whether X is an array or a data frame of dask, whose rows may lie on other machines."""
    return type(X).__module__.partition(".")[0] == "dask"


def _numbers(X: Any, array: np.ndarray[Any, Any]) -> FloatArray:
    """Objects converted to numbers; a column that holds anything else is named in the error."""
    names = list(getattr(X, "columns", range(array.shape[1])))
    for name, column in zip(names, array.T, strict=True):
        try:
            column.astype(np.float64)
        except (ValueError, TypeError):
            row = next(k for k, value in enumerate(column) if not _is_number(value))
            raise InvalidDataError(
                f"Column {name!r} of X holds {column[row]!r} in row {row}, but only numbers can be "
                "clustered. Drop or encode it."
            ) from None
        except OverflowError:
            raise InvalidDataError(
                f"Column {name!r} of X holds numbers that are too large. Scale it first."
            ) from None
    return array.astype(np.float64)


def _is_number(value: Any) -> bool:
    try:
        np.asarray(value, object).astype(np.float64)
    except (ValueError, TypeError):
        return False
    return True


def as_train_mask(train_indices: Any, n: int) -> BoolArray | None:
    """Which rows may be shown, from row numbers or a boolean mask; None for all."""
    if train_indices is None:
        return None
    given = np.asarray(train_indices)
    if given.dtype == bool and given.shape == (n,):
        mask = given.copy()
    elif given.ndim == 1 and (given.dtype.kind in "iu" or given.size == 0):
        if given.size and not (given.min() >= 0 and given.max() < n):
            raise InvalidDataError(f"train_indices must lie between 0 and {n - 1}.")
        mask = np.zeros(n, dtype=bool)
        mask[given.astype(np.intp)] = True
    else:
        raise InvalidDataError(f"train_indices must be row numbers or a boolean mask of length {n}.")
    if not mask.any():
        raise InvalidDataError("train_indices is empty, so nothing could be asked. Name at least one row.")
    return mask


def as_labels(y: Any, n: int | None = None) -> np.ndarray[Any, Any]:
    """One label per row, of n rows where that is known, and none of them missing.

    Examples
    --------
    >>> as_labels(["rose", None, "lily"])
    Traceback (most recent call last):
    ...
    cobras.core.exceptions.InvalidDataError: y holds no label for row 1 (None). Fill or drop such rows.
    """
    labels = np.asarray(y)
    if labels.ndim != 1 or (n is not None and len(labels) != n):
        rows = "row" if n is None else f"of the {n} rows"
        raise InvalidDataError(f"y must hold one label for each {rows}, but its shape is {labels.shape}.")
    missing = np.ma.getmaskarray(y) if isinstance(y, np.ma.MaskedArray) else np.zeros(len(labels), bool)
    # numpy makes a text "nan" of a NaN among texts.
    values = np.array([*y], object) if labels.dtype.kind in "US" and not isinstance(y, np.ndarray) else labels
    if values.dtype.kind in "fcmM":
        missing = missing | (values != values)
    elif values.dtype.kind == "O":
        missing = missing | [is_missing(value) for value in values]
    if missing.any():
        row = int(missing.argmax())
        raise InvalidDataError(f"y holds no label for row {row} ({labels[row]}). Fill or drop such rows.")
    return labels


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA: what does not equal itself."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # NA does not say whether it equals anything
        return type(value).__name__ == "NAType"


def as_pairs(pairs: Any, name: str, n: int) -> IndexArray:
    """Pairs of row numbers as an array of shape (m, 2)."""
    array = np.asarray([] if pairs is None else pairs)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InvalidDataError(f"{name} must hold pairs of row numbers, but its shape is {array.shape}.")
    if array.dtype.kind not in "iu":
        raise InvalidDataError(
            f"{name} holds the pair {tuple(array[0].tolist())}, but rows are given by whole numbers from 0."
        )
    outside = array[(array < 0) | (array >= n)]
    if outside.size:
        raise InvalidDataError(f"{name} names row {outside[0]}, but rows go from 0 to {n - 1}.")
    itself = array[array[:, 0] == array[:, 1]]
    if itself.size:
        raise InvalidDataError(f"{name} pairs row {itself[0, 0]} with itself. Leave such pairs out.")
    return array.astype(np.int64)


def as_said(must_link: Any, cannot_link: Any, n: int) -> Said:
    """What must-links and cannot-links say about which pairs.

    Examples
    --------
    >>> as_said([(0, 2)], None, 3)
    ((Pair(i=0, j=2), <Answer.SAME: 1>),)
    """
    links = ((must_link, "must_link", Answer.SAME), (cannot_link, "cannot_link", Answer.DIFFERENT))
    return tuple(
        (Pair(i, j), answer) for given, name, answer in links for i, j in as_pairs(given, name, n).tolist()
    )


def known_groups(y: Any, n: int, unknown: Any = None) -> dict[Any, list[int]]:
    """The rows of each label that is known; a missing value, or one equal to `unknown`, is not.

    Examples
    --------
    >>> known_groups(["rose", None, "lily", "rose", ""], 5, unknown="")
    {'rose': [0, 3], 'lily': [2]}
    """
    if isinstance(y, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(y)
        y = [None if gone else value for value, gone in zip(y.data, hidden, strict=True)]
    if isinstance(y, str) or column_names(y) is not None or not hasattr(y, "__iter__"):
        what = repr(y) if column_names(y) is None else f"a {type(y).__name__}"
        raise InvalidDataError(f"Labels are given as one value for each row, not as {what}.")
    values = y.to_pylist() if hasattr(y, "to_pylist") else list(y)  # no value of pyarrow is None
    if len(values) != n:
        raise InvalidDataError(
            f"There are {len(values)} labels for {n} rows. Give one for each row, and None where it is not known."
        )
    groups: dict[Any, list[int]] = {}
    try:
        for row, value in enumerate(values):
            if not is_missing(value) and (unknown is None or value != unknown):
                groups.setdefault(value, []).append(row)
    except (TypeError, ValueError):
        raise InvalidDataError(f"A label is a number or a text, not {value!r}.") from None
    return groups


def as_whole_number(value: Any, what: str) -> int:
    """An integer, of Python or numpy; a bool or 1.0 is none."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InvalidDataError(f"{what} is given by a whole number, not by {value!r}.")
    return int(value)


def as_path(value: Any, what: str) -> str:
    """The text of a path."""
    path = fspath(value) if isinstance(value, PathLike) else value
    if not isinstance(path, str) or not path:
        raise InvalidDataError(f"{what} is given by its path, a text or a Path, not by {value!r}.")
    return path


def as_seed(random_state: Any) -> int:
    """A seed from None (drawn), an integer or one of numpy's generators."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return int(random_state)
    raise InvalidDataError(f"random_state must be None or an integer from 0 on, not {random_state!r}.")


def check_options(function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Compare options with the annotations of the function they are for: choices, switches and counts."""
    hints = _hints(function)
    for name, value in options.items():
        hint = hints.get(name)
        if get_origin(hint) is Literal and value not in get_args(hint):
            raise InvalidDataError(f"{name} must be one of {', '.join(get_args(hint))}, not {value!r}.")
        if hint is int or int in get_args(hint):
            # A bool is an int to Python, but nobody means it as a count.
            allowed = value is None and type(None) in get_args(hint)
            if not allowed and (
                isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1
            ):
                raise InvalidDataError(f"{name} must be a whole number from 1 on, not {value!r}.")
        if hint is bool and (not isinstance(value, (int, np.bool_, np.integer)) or value not in (0, 1)):
            raise InvalidDataError(f"{name} must be True or False, not {value!r}.")


@lru_cache
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    while isinstance(function, partial):
        function = function.func
    try:
        return get_type_hints(function)
    except (TypeError, NameError):  # an object that can be called, or names that are gone
        return {}


def check_plain(options: Mapping[str, Any]) -> None:
    """Refuse options that cannot be written into a session file."""
    for name, value in options.items():
        if not isinstance(value, (str, int, float, type(None), np.integer)):
            raise InvalidDataError(
                f"A session file stores names and numbers, but {name} is {value!r}. Give its name."
            )
