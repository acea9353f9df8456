"""`--known`: what a person knows before the first question, from a column of the data or from a file.

A file holds labels (the id or number of a row, and its label) or links (two rows, and whether they are the same),
as `cobras export --answers` and the page write them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cobras.cli.options import is_column
from cobras.core.exceptions import InconsistentAnswersError, InvalidDataError
from cobras.core.notebook import quantity
from cobras.core.types import Answer, Pair

if TYPE_CHECKING:
    import polars as pl

    from cobras.data import Dataset
    from cobras.session.session import Session

SAME = frozenset(("same", "must_link", "must-link", "must link", "mustlink", "ml", "1", "true", "yes"))
DIFFERENT = frozenset(
    ("different", "cannot_link", "cannot-link", "cannot link", "cannotlink", "cl", "0", "-1", "false", "no")
)
RELATIONS = ("answer", "constraint", "relation", "link", "type")
LABELS = ("label", "class", "cluster", "known", "target")
N_SHOWN = 3  # values that an error names


class Known(NamedTuple):
    """What is known: the label of each row, None where it is not, or pairs of rows.

    `plain` are the labels as they are written, `labels` those in one spelling each.
    """

    labels: Sequence[Any] | None = None
    must_link: Sequence[tuple[int, int]] = ()
    cannot_link: Sequence[tuple[int, int]] = ()
    plain: Sequence[Any] | None = None


def add_known(session: Session, dataset: Dataset, known: str) -> None:
    """Add what is known to a session, unless it is there already: the same command goes on with a session."""
    from cobras.core.board import pairs_of_groups
    from cobras.core.checks import known_groups

    if dataset.large is not None:
        raise InvalidDataError("--known needs a table in memory; this one is larger.")
    found = _read_column(dataset, known) if is_column(known) else read_known(Path(known), dataset)
    links = ((found.must_link, Answer.SAME), (found.cannot_link, Answer.DIFFERENT))
    pairs = [(Pair(*pair), answer) for linked, answer in links for pair in linked]
    # A session of before took each spelling of a label for a label of its own; it goes on so.
    folded, plain = (
        [] if labels is None else list(known_groups(labels, len(dataset)).values())
        for labels in (found.labels, found.plain)
    )
    said = {record.said for record in session.history if record.kind == "known"}
    if said.isdisjoint((*pairs_of_groups(groups), *pairs) for groups in (folded, plain)):
        try:
            session.add_constraints(found.must_link, found.cannot_link, labels=found.labels)
        except InconsistentAnswersError as error:
            raise error.with_names(dataset.names) from None
        print(_description(found, len(folded), known), file=sys.stderr)


def _description(found: Known, n_labels: int, source: str) -> str:
    """What was taken, in a sentence."""
    if found.labels is None:
        links = (found.must_link, "must-link"), (found.cannot_link, "cannot-link")
        return f"Known from {source}: {' and '.join(quantity(len(pairs), word) for pairs, word in links)}."
    n_rows = sum(label is not None for label in found.labels)
    rows = f"{n_rows} of {quantity(len(found.labels), 'row')}"
    gaps = "Empty cells and words such as N/A are no label."
    return f"Known from {source}: {quantity(n_labels, 'label')}, of {rows}. {gaps}"


def _read_column(dataset: Dataset, name: str) -> Known:
    if name not in dataset.frame.columns:
        raise InvalidDataError(f"--known takes a column of the data or a file, but there is no {name!r}.")
    from cobras.data.tables.fit import same_words

    column = dataset.frame[name]
    return Known(_values(same_words(column)), plain=_values(column))


def _values(column: pl.Series) -> list[Any]:
    """The cells of a column; None for an empty text and for words such as N/A and unknown, which are no label."""
    from cobras.data.tables.notation import MISSING

    return [None if isinstance(cell, str) and cell.strip().lower() in MISSING else cell for cell in column]


def read_known(path: Path, dataset: Dataset) -> Known:
    """Read a file of labels or links; rows are named by their ids, or else by their numbers from 0."""
    from cobras.data.tables.files import read_table
    from cobras.data.tables.fit import same_words

    frame = read_table(path)[0]
    if frame.width < 2:
        raise InvalidDataError(
            f"{path.name} has one column; give id and label, or two ids and whether they are the same."
        )
    rows = _Rows(path.name, dataset)
    if rows.has(frame.columns[0]):
        raise InvalidDataError(
            f"{path.name} begins with {frame.columns[0]!r}, which is a row; add a first line with the names of the "
            "columns, such as id,label or i,j,answer."
        )
    names = {name.strip().lower(): name for name in frame.columns}
    relation = next((names[name] for name in RELATIONS if name in names), None)
    if {"i", "j"} <= names.keys() and relation is None:
        raise InvalidDataError(f"{path.name} has i and j, but no column of {', '.join(RELATIONS)}.")
    if relation is not None or (frame.width == 3 and _are_relations(frame.to_series(2))):
        return _links(frame, relation or frame.columns[2], rows, path.name)
    id = names.get(str(dataset.recipe.id).lower()) or names.get("id") or frame.columns[0]
    others = [name for name in frame.columns if name != id]
    label = next((names[name] for name in LABELS if name in names and names[name] != id), others[-1])
    if all(isinstance(cell, str) and rows.has(cell) for cell in frame[label]):
        raise InvalidDataError(
            f"{path.name} names two rows on each line, but not what they are; add a column that says must-link or "
            "cannot-link."
        )
    labels: list[Any] = [None] * len(dataset)
    plain = labels.copy()
    values = _values(frame[label])
    for cell, value, word in zip(frame[id], values, same_words(frame[label]), strict=True):
        if value is not None:
            row = rows.of(cell)
            if labels[row] not in (None, word):
                raise InvalidDataError(
                    f"{path.name} says {plain[row]!r} and {value!r} about the row {cell!r}; leave one of them out."
                )
            plain[row], labels[row] = value, word
    return Known(labels, plain=plain)


def _are_relations(column: pl.Series) -> bool:
    return {str(cell).strip().lower() for cell in column.drop_nulls()} <= SAME | DIFFERENT | {"unsure"}


def _links(frame: pl.DataFrame, relation: str, rows: _Rows, source: str) -> Known:
    first, second = [name for name in frame.columns if name != relation][:2]
    if {"i", "j"} <= set(frame.columns):
        first, second = "i", "j"
    in_force = frame["in_force"].to_list() if "in_force" in frame.columns else [True] * frame.height
    pairs: dict[str, list[tuple[int, int]]] = {"same": [], "different": []}
    for a, b, word, holds in zip(frame[first], frame[second], frame[relation], in_force, strict=True):
        text = str(word).strip().lower()
        if text == "unsure" or word is None or not holds:
            continue
        if text not in SAME | DIFFERENT:
            raise InvalidDataError(
                f"{source} says {word!r} about a pair; use must-link or cannot-link, or same and different."
            )
        pairs["same" if text in SAME else "different"].append((rows.of(a), rows.of(b)))
    return Known(None, pairs["same"], pairs["different"])


class _Rows:
    """The numbers of rows by their ids, as texts; by the numbers themselves where none of a file is an id."""

    def __init__(self, source: str, dataset: Dataset) -> None:
        self.source, self.n = source, len(dataset)
        self._place: dict[str, int] = {}
        for row, name in enumerate(dataset.names):
            self._place.setdefault(str(name), row)
        for name, row in list(self._place.items()):
            if name.isdecimal():  # a spreadsheet makes 7 of the id 007
                self._place.setdefault(str(int(name)), row)
        self._by: str | None = None

    def has(self, cell: str) -> bool:
        """Whether a text is the id of a row."""
        return cell in self._place

    def of(self, cell: Any) -> int:
        """The row that a cell names."""
        found = self._place.get(str(cell))
        by = "id" if found is not None else "number"
        if found is None and isinstance(cell, int) and 0 <= cell < self.n:
            found = cell
        some = ", ".join(list(self._place)[:N_SHOWN])
        if found is None:
            raise InvalidDataError(
                f"{self.source} names the row {cell!r}, which the data does not have; its ids are {some}, ..."
            )
        if self._by not in (None, by):  # a slip in an id, or ids of other data
            raise InvalidDataError(
                f"{self.source} names some rows by their ids and some by their numbers; use the ids ({some}, ...)."
            )
        self._by = by
        return found
