"""The columns of a table, and how those of a cluster differ from the rest.

All rows are put into classes once: numbers and dates into twenty steps of equally many rows, categories by their
word. A cluster is then compared by counting, so that its cost depends on its own size only.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from cobras.core.types import FloatArray, IndexArray
from cobras.data import Dataset
from cobras.data.recipe import ColumnRecipe
from cobras.data.tables.columns import category_codes, cells, floats
from cobras.data.tables.fit import NO, YES
from cobras.web.api.explanations import Distribution, Share, Shares

N_CLASSES = 20  # steps of equally many rows, by which two distributions of numbers are compared
N_STEPS = 24  # steps of equal width, by which they are drawn
N_VALUES = 5  # values of a category that are shown
N_LOOKED_AT = 40  # columns that are compared exactly: those whose features differ most
MOST_KEPT = 200  # columns whose classes are kept in memory
DAY = 86_400.0
OTHER = "other"
THIN = "\u202f"  # the narrow blank that does not break a line


@dataclass(frozen=True, eq=False)
class ColumnClasses:
    """A column: the class of each row, -1 where its value is missing, and how many rows each class has."""

    recipe: ColumnRecipe
    classes: IndexArray
    n_classes: int
    values: FloatArray | None = None

    @cached_property
    def counts(self) -> IndexArray:
        """How many rows each class has."""
        return self.count(slice(None))

    def count(self, places: IndexArray | slice) -> IndexArray:
        """How many of these rows are in each class."""
        found = self.classes[places]
        counts: IndexArray = np.bincount(found[found >= 0], minlength=self.n_classes)
        return counts


class Difference(NamedTuple):
    """How a cluster differs from the rest in a column.

    Attributes
    ----------
    score : float
        From 0 to 1: the largest difference of the shares below some number, or the share of rows that would have to
        get another word.
    inside, outside : array
        The share of each class in the cluster and in the rest.
    """

    score: float
    inside: FloatArray
    outside: FloatArray


def difference(column: ColumnClasses, places: IndexArray) -> Difference:
    """How the rows at these places differ from the others in a column; values that are missing do not count."""
    counts = column.count(places)
    others = column.counts - counts
    if not counts.any() or not others.any():
        return Difference(0.0, np.zeros(column.n_classes), np.zeros(column.n_classes))
    inside, outside = counts / counts.sum(), others / others.sum()
    if column.recipe.kind == "category":
        score = np.abs(inside - outside).sum() / 2
    else:
        score = np.abs(np.cumsum(inside - outside)).max()
    # Few rows differ from the others by chance: about so much.
    return Difference(float(max(0.0, score - 0.5 / np.sqrt(counts.sum()))), inside, outside)


class TableColumns:
    """The columns by which the items of a table are compared, for the rows that the page shows."""

    def __init__(self, dataset: Dataset, numbers: IndexArray, features: FloatArray) -> None:
        self._dataset, self._numbers, self._features = dataset, numbers, features
        self._recipes = list(dataset.recipe.columns or ())
        widths = [len(r.values) if r.kind == "category" else 1 for r in self._recipes]
        self._starts = np.concatenate([[0], np.cumsum(widths)]).astype(int)
        self._read = lru_cache(maxsize=MOST_KEPT)(self._read_column)

    @cached_property
    def _mean_and_spread(self) -> tuple[FloatArray, FloatArray]:
        X = self._features
        spread = X.std(axis=0, dtype=float)
        return X.mean(axis=0, dtype=float), np.where(spread > 0, spread, np.inf)

    def differences(self, places: IndexArray, at_most: int) -> list[tuple[ColumnClasses, Difference]]:
        """The columns in which these rows differ most from the others, the most different first."""
        if not self._recipes or self._starts[-1] != self._features.shape[1]:
            return []
        mean, spread = self._mean_and_spread
        apart = np.abs(self._features[places].mean(axis=0, dtype=float) - mean) / spread
        by_column = np.maximum.reduceat(apart, self._starts[:-1])
        looked_at = np.argsort(-by_column, kind="stable")[:N_LOOKED_AT]
        found = [(column := self._read(int(k)), difference(column, places)) for k in looked_at]
        return sorted(found, key=lambda pair: -pair[1].score)[:at_most]

    def _read_column(self, k: int) -> ColumnClasses:
        recipe = self._recipes[k]
        if self._dataset.large is not None:
            return self._from_features(k, recipe)
        column = cells(self._dataset.frame, recipe.name)
        if len(column) != len(self._numbers):
            column = column.gather(self._numbers)
        if recipe.kind != "category":
            return _numbers(recipe, floats(column, recipe.format, recipe.notation).to_numpy().astype(float))
        codes = category_codes(column, recipe).astype(np.int64)
        gaps = column.is_null() | column.is_in(list(recipe.missing)) if recipe.missing else column.is_null()
        codes[gaps.fill_null(True).to_numpy()] = -1
        return ColumnClasses(recipe, codes, len(recipe.values) + 1)

    def _from_features(self, k: int, recipe: ColumnRecipe) -> ColumnClasses:
        """The same of a table larger than memory; which values were missing is not known any more."""
        features = self._features[:, self._starts[k] : self._starts[k + 1]]
        if recipe.kind != "category":
            shares = features[:, 0].astype(float) / recipe.weight
            return _numbers(recipe, recipe.low + shares * (recipe.high - recipe.low))
        codes = np.where(features.any(axis=1), features.argmax(axis=1), len(recipe.values))
        return ColumnClasses(recipe, codes, len(recipe.values) + 1)


def _numbers(recipe: ColumnRecipe, values: FloatArray) -> ColumnClasses:
    known = values[np.isfinite(values)]
    if not len(known):
        return ColumnClasses(recipe, np.full(len(values), -1), 1, values)
    borders = np.unique(np.quantile(known, np.linspace(0, 1, N_CLASSES + 1)[1:-1]))
    classes = np.where(np.isfinite(values), np.searchsorted(borders, values, side="left"), -1)
    return ColumnClasses(recipe, classes, len(borders) + 1, values)


def column_model(column: ColumnClasses, places: IndexArray) -> Distribution | Shares:
    """A column as it is drawn."""
    is_inside = np.zeros(len(column.classes), bool)
    is_inside[places] = True
    gone = column.classes < 0
    missing = float(gone[is_inside].mean()) if len(places) else 0.0
    missing_outside = float(gone[~is_inside].mean()) if not is_inside.all() else 0.0
    if column.values is None:
        return Shares(
            name=column.recipe.name,
            values=_values(column, difference(column, places)),
            missing=missing,
            missing_outside=missing_outside,
        )
    known = column.values[~gone]
    low, high = np.quantile(known, [0.01, 0.99], method="nearest")
    if low == high:
        low, high = known.min(), known.max()
    extent, n_steps = (high - low) or 1.0, N_STEPS
    if (known == np.round(known)).all() and column.recipe.kind == "number":
        # Steps of whole numbers hold equally many of them each, or the drawing would be a comb.
        width = max(1, int(np.ceil((extent + 1) / N_STEPS)))
        n_steps = int(np.ceil((extent + 1) / width))
        extent = float(n_steps * width)
    sides = [column.values[is_inside & ~gone], column.values[~is_inside & ~gone]]
    shares = [
        np.bincount(np.clip((n_steps * (x - low) / extent).astype(int), 0, n_steps - 1), minlength=n_steps)
        / max(1, len(x))
        for x in sides
    ]
    middles = [float(np.median(x)) if len(x) else float(low) for x in sides]
    places_of = [float(np.clip((m - low) / extent, 0, 1)) for m in middles]
    text = date_text if column.recipe.kind == "date" else brief_number
    return Distribution(
        kind="date" if column.recipe.kind == "date" else "number",
        name=column.recipe.name,
        low=text(float(low)),
        high=text(float(high)),
        inside=shares[0].round(4).tolist(),
        outside=shares[1].round(4).tolist(),
        at=places_of[0],
        at_outside=places_of[1],
        middle=text(middles[0]),
        middle_outside=text(middles[1]),
        missing=missing,
        missing_outside=missing_outside,
    )


def _values(column: ColumnClasses, found: Difference) -> list[Share]:
    names = [*column.recipe.values, OTHER]
    order = np.argsort(-np.abs(found.inside - found.outside), kind="stable")
    chosen = [c for c in order[:N_VALUES] if found.inside[c] + found.outside[c] > 0]
    # Among those that are shown, the most frequent ones first.
    chosen.sort(key=lambda c: -found.inside[c])
    return [
        Share(value=names[c], inside=float(found.inside[c]), outside=float(found.outside[c])) for c in chosen
    ]


def brief_number(value: float) -> str:
    """A number for the end of an axis: three digits, thousands set apart by blanks, which are no decimal marks.

    Examples
    --------
    >>> print(brief_number(31415.9), brief_number(0.12345), brief_number(-2.0))
    31\u202f400 0.123 -2
    """
    if value and not 1e-4 <= abs(value) < 1e9:
        return f"{value:.3g}"
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}".replace(",", THIN) if abs(rounded) >= 100 else f"{rounded:g}"


def date_text(seconds: float) -> str:
    """A date from seconds since 1970; a moment of the first day is a time of day.

    Examples
    --------
    >>> date_text(1.7e9), date_text(3600.0)
    ('2023-11-14', '01:00')
    """
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return brief_number(seconds)
    return f"{moment:%H:%M}" if 0 <= seconds < DAY else f"{moment:%Y-%m-%d}"


def is_yes_no(recipe: ColumnRecipe) -> bool:
    """Whether a category says yes or no."""
    return {word.casefold().strip() for word in recipe.values} <= YES | NO
