"""What was made of each column, and by what items are compared: for a page that shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from cobras.data.dataset import value_text
from cobras.data.items.images import INSTALL, has_network
from cobras.data.items.texts import INSTALL_SENTENCES
from cobras.data.recipe import ColumnRecipe
from cobras.data.tables.columns import cells, n_missing
from cobras.data.tables.fit import NO, TEXT, YES, n_gaps_of

if TYPE_CHECKING:
    from cobras.data.dataset import Dataset

Use: TypeAlias = Literal["used", "name", "label", "ignored"]
Type: TypeAlias = Literal["number", "date", "yes/no", "category", "text", "image", "other"]
Quality: TypeAlias = Literal["good", "fair", "poor"]
DROPPED = "left out on request"
N_EXAMPLES = 3
N_SEEN = 1_000  # rows in which examples are looked for; of a table larger than memory, gaps as well
LONGEST = 60  # characters of an example


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """What a column of the table is taken for.

    Attributes
    ----------
    name : str
    use : {"used", "name", "label", "ignored"}
        "used" if items are compared by it, "name" if it names the rows, "label" if it holds the known classes.
    type : {"number", "date", "yes/no", "category", "text", "image", "other"}
    reason : str
        Why it is ignored; empty where it is not, or where a session of an earlier version does not say.
    share_missing : float
        The share of cells without a value, words that stand for a gap included. Of a table larger than memory, that
        of its first rows.
    missing : tuple of str
        Words that were taken as missing values.
    examples : tuple of str
        A few values; none of a column that is not to be shown.
    weight : float
        How much differences in it count.
    """

    name: str
    use: Use
    type: Type
    reason: str = ""
    share_missing: float = 0.0
    missing: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """By what items are compared: a name for it, how well that works, and what would be better."""

    by: str
    quality: Quality
    advice: str = ""


def column_info(dataset: Dataset) -> tuple[ColumnInfo, ...]:
    r"""What each column of a data set is taken for, in the order of the file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from cobras.data import read_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "flowers.csv")
    ...     _ = file.write_text("name,price\nrose,$4\nlily,unknown\nivy,$3\n")
    ...     for column in column_info(read_dataset(file)):
    ...         print(column.name, column.use, column.type, round(column.share_missing, 2), *column.examples)
    name ignored text 0.0 rose lily ivy
    price used number 0.33 $4 $3
    """
    frame = dataset.frame if dataset.large is None else dataset.large.read(0, N_SEEN)
    recipes = {recipe.name: recipe for recipe in dataset.recipe.columns or ()}
    return tuple(_info(dataset, frame, name, recipes.get(name)) for name in frame.columns)


def _info(dataset: Dataset, frame: pl.DataFrame, name: str, recipe: ColumnRecipe | None) -> ColumnInfo:
    stored, column = dataset.recipe, cells(frame, name)
    reason = dict(stored.ignored).get(name, "")
    use: Use = "ignored"
    if name == stored.label:
        use = "label"
    elif recipe is not None or (name in (stored.text, stored.image) and stored.vectors is None):
        use, reason = "used", ""
    elif name == stored.id:
        use, reason = "name", ""
    elif name in stored.drop:
        reason = DROPPED
    elif not reason and stored.vectors is not None:
        reason = "items are compared by vectors of your own"
    elif not reason and stored.kind in ("text", "image"):
        reason = f"only the {stored.kind}s are compared"
    n_gaps = n_missing(column) if recipe is None else n_gaps_of(frame, recipe)
    missing = () if recipe is None else recipe.missing
    is_hidden = name in (stored.label, *stored.drop) or stored.hidden is None
    examples = () if is_hidden else _examples(column, missing)
    kind = _type(column, recipe, reason, name == stored.image, name == stored.text)
    if dict(stored.types).get(name) == "text":
        kind = "text"
    weight = 1.0 if recipe is None else recipe.weight
    return ColumnInfo(name, use, kind, reason, n_gaps / max(1, len(column)), missing, examples, weight)


def _type(column: pl.Series, recipe: ColumnRecipe | None, reason: str, is_image: bool, is_text: bool) -> Type:
    dtype = column.dtype
    if is_image or is_text:
        return "image" if is_image else "text"
    if dtype == pl.Boolean:
        return "yes/no"
    if recipe is not None:
        if recipe.kind == "category" and {word.casefold().strip() for word in recipe.values} <= YES | NO:
            return "yes/no"
        return recipe.kind
    if dtype.is_numeric() or dtype.is_temporal():
        return "number" if dtype.is_numeric() else "date"
    if dtype == pl.String:
        return (
            "text"
            if reason == TEXT or column.head(N_SEEN).n_unique() > len(column.head(N_SEEN)) / 2
            else "category"
        )
    return "category" if dtype in (pl.Categorical, pl.Enum) else "other"


def _examples(column: pl.Series, missing: tuple[str, ...]) -> tuple[str, ...]:
    """The first different values, as text."""
    found: list[str] = []
    for value in column.head(N_SEEN).drop_nulls().to_list():
        text = " ".join(value_text(value).split())
        text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
        if text and value == value and value not in missing and text not in found:
            found.append(text)
        if len(found) == N_EXAMPLES:
            break
    return tuple(found)


def comparison(dataset: Dataset) -> Comparison:
    """By what the items of a data set are compared, and how well that works.

    Examples
    --------
    >>> from cobras.data import load_demo
    >>> comparison(load_demo())
    Comparison(by='pixels, which all have the same place', quality='good', advice='')
    """
    recipe = dataset.recipe
    if recipe.kind == "bundled":
        return Comparison("pixels, which all have the same place", "good")
    if recipe.vectors is not None:
        return Comparison("vectors of your own", "good")
    objects = "" if has_network() else f"To compare what images show: {INSTALL}, then start again."
    pixels = "Start again: a new session compares by shapes and colours" + (
        ", or what images show." if has_network() else f"; to compare what they show, first {INSTALL}."
    )
    sentences = (
        f"To compare what texts mean: {INSTALL_SENTENCES}, then start again with --features sentences."
    )
    known: dict[str | None, Comparison] = {
        "efficientnet": Comparison("what a network sees in the images", "good"),
        "shapes": Comparison("shapes and colours", "fair", objects),
        "pixels": Comparison("pixels", "poor", pixels),
        "lsi": Comparison("the words of the texts", "fair", sentences),
        "sentences": Comparison("what the texts mean, by sentence embeddings", "good"),
        "dtw": Comparison("dynamic time warping", "good"),
        "kshape": Comparison("the shape of the series", "good"),
        "points": Comparison("the moments of the series, one by one", "fair"),
    }
    if recipe.kind == "text":
        return known[recipe.features or "lsi"]
    return known.get(recipe.features, Comparison("the columns", "good"))
