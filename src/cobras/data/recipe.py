"""How data was read, so that the same file gives the same features again: what a session file stores as JSON.

Session files hold the result of `Recipe.to_json`, so its keys may be added to, but never renamed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

# Keys that are stored only where they say something.
_OPTIONAL = frozenset(
    [
        "columns",
        "files",
        "remote",
        "name",
        "sheet",
        "header",
        "sub_header",
        "blank",
        "totals",
        "times",
        "folder",
        "suffix",
        "scales",
        "ignored",
        "use",
        "types",
        "weights",
    ]
)
_MAPPINGS = frozenset(["ignored", "types", "weights"])  # pairs of a column and what is said of it


@dataclass(frozen=True, slots=True)
class Notation:
    """How numbers are written in a column of text.

    Attributes
    ----------
    decimal, group : str
        The decimal mark, and what separates thousands.
    units : tuple of (str, float)
        The units that a number may have, in lower case, each with its factor; "" stands for none.

    Examples
    --------
    >>> Notation(",", ".", (("€", 1.0),)).to_json()
    {'decimal': ',', 'group': '.', 'units': {'€': 1.0}}
    """

    decimal: str = "."
    group: str = ","
    units: tuple[tuple[str, float], ...] = (("", 1.0),)

    def to_json(self) -> dict[str, Any]:
        """The notation as plain values."""
        return {"decimal": self.decimal, "group": self.group, "units": dict(self.units)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Notation:
        """The notation that `to_json` gave."""
        return cls(stored["decimal"], stored["group"], tuple(stored["units"].items()))


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
        How a date is written, with "|" between several ways, of which the first that fits counts; "" for a column
        whose type is a date. None for numbers and categories.
    values : tuple of str
        The words of a category that have a feature each.
    notation : Notation or None
        How numbers are written where the column is text; None where it is numbers.
    missing : tuple of str
        The words that were taken as missing values.
    same : tuple of (str, str), or None
        Words of a category, in lower case, that mean one of `values`. None: each word stands for itself, and upper
        case makes a difference.
    weight : float
        By what its features are multiplied: differences in it count that much more.

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
    notation: Notation | None = None
    missing: tuple[str, ...] = ()
    same: tuple[tuple[str, str], ...] | None = None
    weight: float = 1.0

    def meaning(self, value: Any) -> Any:
        """What a value counts as: spellings of a word that are read as the same have the same meaning.

        Examples
        --------
        >>> plan = ColumnRecipe("plan", "category", values=("Gold", "Free"), same=())
        >>> plan.meaning("GOLD ") == plan.meaning("Gold"), plan.meaning("GOLD") == plan.meaning("Free")
        (True, False)
        """
        if self.same is None or value is None:
            return value
        word = " ".join(str(value).split()).lower()
        return dict(self.same).get(word, word)

    def to_json(self) -> dict[str, Any]:
        """The recipe as plain values."""
        start: dict[str, Any] = {"name": self.name, "as": self.kind}
        last: dict[str, Any] = {"missing": list(self.missing)} if self.missing else {}
        last |= {"weight": self.weight} if self.weight != 1 else {}
        if self.kind == "category":
            same = {} if self.same is None else {"same": dict(self.same)}
            return {**start, "values": list(self.values), **same, **last}
        format = {} if self.format is None else {"format": self.format}
        notation = {} if self.notation is None else {"notation": self.notation.to_json()}
        ends = {"fill": self.fill, "low": self.low, "high": self.high}
        return {**start, **format, **notation, **ends, **last}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> ColumnRecipe:
        """The recipe that `to_json` gave."""
        known = {
            key: value for key, value in stored.items() if key in ("name", "low", "high", "fill", "weight")
        }
        # Recipes of remote tables were once stored without the format of their dates.
        format = stored.get("format", "") if stored["as"] == "date" else None
        same, notation = stored.get("same"), stored.get("notation")
        return cls(
            kind=stored["as"],
            format=format,
            values=tuple(stored.get("values", ())),
            notation=None if notation is None else Notation.from_json(notation),
            missing=tuple(stored.get("missing", ())),
            same=None if same is None else tuple(same.items()),
            **known,
        )


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
    sheet : str or None
        The sheet of an Excel file.
    header : int
        The number of lines above the header.
    sub_header : int
        The number of lines of the header below its first.
    blank, totals : bool
        Whether rows without any value, and rows of totals and notes at the end, are left out, also where the file
        has grown. In older session files it is how many there were.
    times : bool
        Whether cells of an Excel file that hold no date are times of day; in older session files they are dates.
    folder, suffix : str
        Where, from the folder of the table, the images are that a column names, and what their names lack.
    scales : tuple of float
        The factors of the parts of image features.
    ignored : tuple of (str, str)
        The columns that are no features, each with the reason.
    use : tuple of str
        The columns that are features on request, although they look like names of the rows.
    types, weights : tuple of (str, str) and of (str, float)
        The types and weights of columns, as given to `read_dataset`.

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
    sheet: str | None = None
    header: int = 0
    sub_header: int = 0
    blank: bool = False
    totals: bool = False
    times: bool = False
    folder: str = ""
    suffix: str = ""
    scales: tuple[float, ...] = ()
    ignored: tuple[tuple[str, str], ...] = ()
    use: tuple[str, ...] = ()
    types: tuple[tuple[str, str], ...] = ()
    weights: tuple[tuple[str, float], ...] = ()

    def meanings(self) -> Callable[[str, Any], Any]:
        """A function of a column and a value of it that gives what the value counts as."""
        spelled = {column.name: column for column in self.columns or () if column.same is not None}
        return lambda name, value: spelled[name].meaning(value) if name in spelled else value

    def gaps(self) -> Callable[[str, Any], bool]:
        """A function of a column and a value of it that says whether it is missing: empty, or a word for that."""
        words = {column.name: frozenset(column.missing) for column in self.columns or () if column.missing}
        # NaN is the only value that differs from itself.
        return lambda name, value: (
            value is None or value != value or value == "" or value in words.get(name, ())
        )

    def to_json(self) -> dict[str, Any]:
        """The recipe as plain values."""
        if self.kind == "bundled":
            return {"kind": self.kind, "name": self.name}
        stored = {
            key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()
        }
        if self.columns is not None:
            stored["columns"] = [column.to_json() for column in self.columns]
        stored |= {key: dict(getattr(self, key)) for key in _MAPPINGS}
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
        for key in _MAPPINGS & known.keys():
            known[key] = tuple(known[key].items())
        return cls(**known)
