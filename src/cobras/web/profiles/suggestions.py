"""A name for a cluster of rows, from the columns that tell it apart: "high income, business"."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from cobras.data.tables.columns import isolate, value_line
from cobras.data.tables.fit import YES
from cobras.web.profiles.distributions import OTHER, ColumnClasses, Difference, is_yes_no

N_PHRASES = 2
NOTABLE = 0.3  # difference of shares from which on a column gives a name
MOST = 0.5  # share of a cluster that must have a word for it to be called so
LONGEST = 40  # characters of a value


def column_name(differences: Sequence[tuple[ColumnClasses, Difference]]) -> str:
    """The phrases of the columns that differ most, as many as a person would say."""
    phrases = (phrase(column, found) for column, found in differences if found.score >= NOTABLE)
    return value_line(list(dict.fromkeys(p for p in phrases if p))[:N_PHRASES])


def phrase(column: ColumnClasses, found: Difference) -> str:
    """What a person would say of a cluster in a column; empty where there is nothing to say in few words."""
    name = isolate(readable(column.recipe.name))
    if column.recipe.kind == "category":
        return _category_phrase(column, found, name)
    above = np.cumsum(found.outside - found.inside)  # how much more of the cluster lies above each step
    more, less = float(above.max()), float(-above.min())
    early, late = ("early", "late") if column.recipe.kind == "date" else ("low", "high")
    if min(more, less) >= NOTABLE:
        return f"medium {name}" if column.recipe.kind == "number" else ""
    return f"{late if more > less else early} {name}"


def _category_phrase(column: ColumnClasses, found: Difference, name: str) -> str:
    more = found.inside - found.outside
    best = int(np.argmax(more))
    value = [*column.recipe.values, OTHER][best].strip()
    if found.inside[best] < MOST or more[best] < NOTABLE or value == OTHER or len(value) > LONGEST:
        return ""
    if is_yes_no(column.recipe):
        bare = re.sub(r"^(is|has|have|was) ", "", name)
        return name if value.casefold() in YES else f"no {bare}"
    # A letter or a number says nothing without its column.
    return value if re.search(r"[^\W\d_]{3,}", value) else f"{name} {isolate(value)}"


def readable(name: str) -> str:
    """The name of a column in words.

    Examples
    --------
    >>> readable("yearly_income"), readable("  Sepal.Length ")
    ('yearly income', 'Sepal Length')
    """
    return " ".join(re.sub(r"[_.\s]+", " ", name).split()) or name.strip()
