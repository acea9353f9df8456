"""How data was read, so that the same file gives the same features again: what a session file stores as JSON.

Session files hold the result of `Recipe.to_json`, so its keys may be added to, but never renamed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

_OPTIONAL = ("columns", "files", "remote", "name")  # keys that are stored only where they say something


@dataclass(frozen=True, slots=True)
class ColumnRecipe:
    """How a column of a table becomes features.

    Attributes
    ----------
    name : str
    kind : {"number", "date", "category"}
    low, high : float
        What becomes 0 and 1; dates are seconds since 1970.
    fill : float
        What takes the place of a gap.
    format : str or None
        How a date is written; "" for a column whose type is a date. None for numbers and categories.
    values : tuple of str
        The words of a category that have a feature each.

    Examples
    --------
    >>> ColumnRecipe("x", "number", 0.0, 9.0).to_json()
    {'name': 'x', 'as': 'number', 'fill': 0.0, 'low': 0.0, 'high': 9.0}
    """

    name: str
    kind: Literal["number", "date", "category"]
    low: float = 0.0
    high: float = 1.0
    fill: float = 0.0
    format: str | None = None
    values: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The recipe as plain values."""
        start = {"name": self.name, "as": self.kind}
        if self.kind == "category":
            return {**start, "values": list(self.values)}
        format = {} if self.format is None else {"format": self.format}
        return {**start, **format, "fill": self.fill, "low": self.low, "high": self.high}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> ColumnRecipe:
        """The recipe that `to_json` gave."""
        known = {key: value for key, value in stored.items() if key in ("name", "low", "high", "fill")}
        # Recipes of remote tables were once stored without the format of their dates.
        format = stored.get("format", "") if stored["as"] == "date" else None
        return cls(kind=stored["as"], format=format, values=tuple(stored.get("values", ())), **known)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What, together with the file, gives the features of a data set again.

    Attributes
    ----------
    kind : str
        "table", "text", "image" or "series"; "bundled" for data that is part of the package.
    label, id : str or None
        The columns with known classes and with the names of the rows.
    drop : tuple of str
        The columns that were left out on request.
    text, image, vectors, features : str or None
        As given to `read_dataset`, or as guessed.
    hidden : tuple of str or None
        The columns that no card shows. None: no column may be shown.
    columns : tuple of ColumnRecipe or None
        How the columns of a table become features; None for other features.
    files : tuple of str or None
        The names of the files in a folder.
    remote : bool
        Whether workers of a cluster read the data.
    name : str or None
        Which bundled data it is.

    Examples
    --------
    >>> Recipe("bundled", name="digits").to_json()
    {'kind': 'bundled', 'name': 'digits'}
    """

    kind: str = "table"
    label: str | None = None
    id: str | None = None
    drop: tuple[str, ...] = ()
    text: str | None = None
    image: str | None = None
    vectors: str | None = None
    features: str | None = None
    hidden: tuple[str, ...] | None = None
    columns: tuple[ColumnRecipe, ...] | None = None
    files: tuple[str, ...] | None = None
    remote: bool = False
    name: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The recipe as plain values."""
        if self.kind == "bundled":
            return {"kind": self.kind, "name": self.name}
        stored = {
            key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()
        }
        if self.columns is not None:
            stored["columns"] = [column.to_json() for column in self.columns]
        return {key: value for key, value in stored.items() if value or key not in _OPTIONAL}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Recipe:
        """The recipe that `to_json` gave; keys that are not known are ignored."""
        names = {f.name for f in fields(cls)}
        known: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in stored.items()
            if key in names
        }
        if "columns" in known:
            known["columns"] = tuple(ColumnRecipe.from_json(column) for column in known["columns"])
        return cls(**known)
