"""Where points lie: the columns as they were given and, if most have heavy tails, the ranks of their values.

In a table of counts or amounts, such as words in mails, a few large values make nearly all distances. Ranks tell
the other rows apart. Other tables do without, since ranks close the gaps between clusters.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from cobras.core.types import BoolArray, FloatArray

N_SAMPLE = 500  # rows from which units and scales are estimated
HEAVY = 3.0  # the excess of kurtosis from which tails are heavy; that of a normal distribution is 0
RARE = 0.01  # the share of values at both ends that are drawn in before: single wrong ones do not decide
MOST = 0.5  # of the columns must have heavy tails
FARTHEST = 2.0**20  # typical distances: its square leaves a double 12 bits for the square of one


class Coordinates(NamedTuple):
    """How rows of the data become coordinates, which are centred.

    Attributes
    ----------
    unit : Unit
    mean : array of shape (d,)
        That of the rows, in this unit.
    ranks : tuple of Ranks
        Those of all columns; none in a table without heavy tails.
    weight : float
        By which ranks are multiplied.
    """

    unit: Unit
    mean: FloatArray
    ranks: tuple[Ranks, ...]
    weight: float

    @classmethod
    def of(cls, rows: FloatArray, with_ranks: bool) -> Self:
        """Those for these rows."""
        unit = Unit.of(rows)
        scaled = unit.scale(rows)
        mean = scaled.mean(axis=0)
        if not with_ranks or has_heavy_tails(scaled).mean() <= MOST:
            return cls(unit, mean, (), 0.0)
        ranks = tuple(map(Ranks.of, rows.T))
        apart, apart_by_rank = typical_square(scaled - mean), typical_square(rank_columns(ranks, rows))
        # All rows of the sample may be the same, where others come at regular distances between them.
        weight = float(np.sqrt(apart / apart_by_rank)) if apart_by_rank > 0 else 0.0
        return cls(unit, mean, ranks, weight)

    @property
    def n_columns(self) -> int:
        """How many coordinates are columns of the data; they come first."""
        return len(self.mean)

    def place(self, X: FloatArray) -> FloatArray:
        """The coordinates of rows, which need not be among the data."""
        # Centred, so that sums of squares lose no digits to a common offset.
        columns = self.unit.scale(X.astype(np.float64)) - self.mean
        return np.hstack([columns, self.weight * rank_columns(self.ranks, X)]) if self.ranks else columns


def has_heavy_tails(rows: FloatArray) -> BoolArray:
    """Which columns have many values far from the others: their kurtosis is high.

    Examples
    --------
    >>> wide, heavy = np.linspace(0, 1, 200), np.linspace(0, 1, 200) ** 20
    >>> has_heavy_tails(np.column_stack([wide, heavy])).tolist()
    [False, True]
    """
    clipped = np.clip(rows, *np.quantile(rows, [RARE, 1 - RARE], axis=0))
    squares = (clipped - clipped.mean(axis=0)) ** 2
    found: BoolArray = (squares**2).mean(axis=0) > (3 + HEAVY) * squares.mean(axis=0) ** 2
    return found


class Ranks(NamedTuple):
    """The different values of a column, ascending, and their ranks, as shares of its rows."""

    values: FloatArray
    shares: FloatArray

    @classmethod
    def of(cls, column: FloatArray) -> Self:
        """The ranks in this column; their mean is zero.

        Examples
        --------
        >>> Ranks.of(np.array([1.0, 3.0, 3.0, 900.0])).shares.tolist()
        [-0.375, 0.0, 0.375]
        """
        values, counts = np.unique(column, return_counts=True)
        return cls(values, (np.cumsum(counts) - counts / 2) / len(column) - 0.5)

    def at(self, column: FloatArray) -> FloatArray:
        """The ranks of these values; one that is not in the column lies between its neighbours."""
        return np.interp(column, self.values, self.shares)


def rank_columns(ranks: tuple[Ranks, ...], X: FloatArray) -> FloatArray:
    """The ranks of the values of rows, column by column."""
    return np.column_stack([r.at(column) for r, column in zip(ranks, X.T, strict=True)])


def squares_between(rows: FloatArray) -> FloatArray:
    """The squared distances between the pairs of a sample of rows, which are centred."""
    sample = rows[:: -(-len(rows) // N_SAMPLE)]
    squares = np.einsum("ij,ij->i", sample, sample)
    squared = np.maximum(squares[:, None] + squares - 2 * sample @ sample.T, 0)
    between: FloatArray = squared[np.triu_indices(len(sample), 1)]
    return between


def typical_square(rows: FloatArray) -> float:
    """The median of these, or the mean where most are zero."""
    between = squares_between(rows)
    return float(np.median(between) or between.mean())


class Unit(NamedTuple):
    """The unit in which coordinates are measured: a power of two, which changes no digit of ordinary data.

    A typical row then lies about one from the middle; one that is more than `FARTHEST` away is moved nearer. So
    squares neither overflow nor vanish.
    """

    exponent: int
    middle: FloatArray

    @classmethod
    def of(cls, rows: FloatArray) -> Self:
        """The unit for these rows."""
        middle = np.median(rows[:: -(-len(rows) // N_SAMPLE)], axis=0)
        # The largest coordinate, since a square may overflow.
        apart = np.abs(rows - middle).max(axis=1, initial=0)
        exponent = int(np.frexp(np.median(apart[apart > 0]))[1]) if apart.any() else 0
        return cls(exponent, np.ldexp(middle, -exponent))

    def scale(self, rows: FloatArray) -> FloatArray:
        """These rows, measured in this unit."""
        rows = np.ldexp(rows, -self.exponent)
        apart = np.abs(rows - self.middle).max(axis=1, initial=0)
        far = apart > FARTHEST
        rows[far] = self.middle + (rows[far] - self.middle) / apart[far, None] * FARTHEST
        return rows
