"""From a file to a `Dataset`: which columns are features, which name the rows, and what happens to gaps."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from cobras.data.dataset import Dataset, Row
from cobras.data.features import feature_matrix, feature_names, listed, row_ids
from cobras.data.tables import DataNotFoundError, read_table
from cobras.exceptions import DataChangedError, InvalidDataError


def read_dataset(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    id: str | None = None,
    drop: Sequence[str] = (),
) -> Dataset:
    r"""Read a table and make it ready to be clustered and shown.

    Numbers and booleans become features, scaled to [0, 1]; gaps are filled with the column's median. Text is
    shown but not used. A column that names the rows (called id, or counting 0, 1, 2, ...) is used as such.

    Parameters
    ----------
    path : path
        A .csv, .tsv, .parquet, .jsonl, .json or .npy file. Delimiter, encoding and decimal comma are found.
    label : str, optional
        A column with known classes. It is kept in `labels` and in the export, never in `X` or on a card.
    id : str, optional
        The column that names the rows.
    drop : sequence of str
        Columns to leave out of `X` and of the cards. They are still exported.

    Returns
    -------
    Dataset
        With `notes` that say what was done.

    Raises
    ------
    InvalidDataError
        In one sentence, when the file cannot be used.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "flowers.csv")
    ...     _ = file.write_text("name,length,width,kind\nrose,4,1,a\nlily,6,1,b\nivy,,3,a\n")
    ...     flowers = read_dataset(file, label="kind")
    >>> flowers.X
    array([[0. , 0. ],
           [1. , 0. ],
           [0.5, 1. ]])
    >>> flowers.show(1)
    Row(values={'name': 'lily', 'length': 6, 'width': 1})
    >>> for note in flowers.notes:
    ...     print(note)
    Left out 'name': text, shown but not used.
    Filled 1 missing value in 'length' with the median.
    Scaled 2 columns to [0, 1].
    """
    file = Path(path)
    frame, how_read = read_table(file)
    notes = list(how_read)
    for name in [label, id, *drop]:
        if name is not None and name not in frame.columns:
            raise InvalidDataError(
                f"{file.name} has no column {name!r}; its columns are {listed(frame.columns, 20)}."
            )
    if label is not None and label in (id, *drop):
        raise InvalidDataError(f"Column {label!r} cannot be both the label and the id or a dropped column.")
    hidden = {label, *drop}
    open_columns = [name for name in frame.columns if name not in hidden]
    ids, id_columns = row_ids(frame, id, open_columns, notes)
    features = feature_names(frame, [name for name in open_columns if name not in id_columns], notes)
    if not features:
        raise InvalidDataError(
            f"{file.name} has no column of numbers to cluster by; "
            f"its columns are {listed(frame.columns, 20)}."
        )
    X = feature_matrix(file, frame, features, notes)
    return Dataset(
        X=X,
        ids=ids,
        columns=tuple(features),
        frame=frame,
        labels=None if label is None else frame[label].to_numpy(),
        card=_Rows(pl.DataFrame([frame[name] for name in open_columns])),
        notes=tuple(notes),
        recipe={
            "kind": "table",
            "label": label,
            "id": id_columns[0] if id_columns else None,
            "drop": list(drop),
            "features": features,
        },
    )


def read_recipe(path: str | os.PathLike[str], recipe: Mapping[str, Any]) -> Dataset:
    """Read a file again in the way that `Dataset.recipe` says.

    Raises
    ------
    DataChangedError
        When the file no longer has the columns of the recipe.
    """
    if recipe.get("kind") != "table":
        raise InvalidDataError(f"A recipe of kind {recipe.get('kind')!r} does not read files.")
    try:
        dataset = read_dataset(path, label=recipe["label"], id=recipe["id"], drop=recipe["drop"])
    except DataNotFoundError:
        raise
    except InvalidDataError as error:
        raise DataChangedError(f"{path} is not what it was when the session began: {error}") from error
    if list(dataset.columns) != recipe["features"]:
        raise DataChangedError(
            f"{path} is not what it was when the session began: its features were "
            f"{listed(recipe['features'])} and are {listed(dataset.columns)}."
        )
    return dataset


class _Rows:
    """The cards of a table: row i, without the columns that must stay hidden."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame

    def __call__(self, i: int) -> Row:
        return Row(self.frame.row(i, named=True))
