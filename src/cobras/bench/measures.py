"""What an experiment measures: adjusted Rand index, aligned ranks, means with their error, run times.

Aligned ranks follow the COBRAS paper; rank 1 is the best. An error says how much a figure would change if the
experiment were run again *on the same tasks* with other folds and seeds. The scores of folds inside a repetition
are not independent, so errors come from the differences between repetitions wherever there are several. How well a
result holds on other tasks is another question, which the Friedman test and the number of tasks won answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy  # its part stats, slow to import, is loaded by the first use

from cobras.core.types import FloatArray, IndexArray
from cobras.spaces.kernels.compile import kernel

LEVEL = 0.95


class Mean(NamedTuple):
    """A mean with the variance of its error and the degrees of freedom that variance was estimated with."""

    value: FloatArray
    variance: FloatArray
    df: FloatArray

    @property
    def half_width(self) -> FloatArray:
        """Half of the 95 % confidence interval; NaN where nothing is known of the error."""
        quantile = scipy.stats.t.ppf((1 + LEVEL) / 2, self.df)
        return np.asarray(np.where(self.variance == 0, 0.0, quantile * np.sqrt(self.variance)))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of a single number."""
        return float(self.value - self.half_width), float(self.value + self.half_width)


class Friedman(NamedTuple):
    """The Friedman aligned-rank statistic and the probability of one as large if all methods were equal."""

    statistic: float
    p: float


# By hand: a run of 250 queries scores up to 251 clusterings of a small test set, and on 50 rows scikit-learn's
# function takes 1.2 ms of CPU time, this one 0.6 microseconds.
@kernel()
def adjusted_rand(a: IndexArray, b: IndexArray) -> float:
    """Agreement of two partitions of the same items, given by labels from 0 on: 1 if equal, 0 as by chance.

    Examples
    --------
    >>> round(adjusted_rand(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2])), 4)
    0.5714
    """
    n = len(a)
    if n < 2:
        return 1.0
    counts = np.zeros((a.max() + 1, b.max() + 1), np.int64)
    for item in range(n):
        counts[a[item], b[item]] += 1
    # Numbers of pairs that are together, as floats: 100,000 items have more pairs than 32 bits hold.
    both, in_a, in_b = 0.0, 0.0, 0.0
    for row in counts:
        total = row.sum()
        in_a += total * (total - 1.0) / 2
        for count in row:
            both += count * (count - 1.0) / 2
    for column in counts.T:
        total = column.sum()
        in_b += total * (total - 1.0) / 2
    expected = in_a * in_b / (n * (n - 1.0) / 2)
    highest = (in_a + in_b) / 2
    return 1.0 if highest == expected else (both - expected) / (highest - expected)


def ari_per_query(labels_per_query: Iterable[IndexArray], y: IndexArray, test: IndexArray) -> FloatArray:
    """The adjusted Rand index on the test instances only, after 0, 1, 2, ... answers.

    Examples
    --------
    >>> ari_per_query([[0, 0, 0, 0], [0, 0, 1, 1]], np.array([0, 0, 1, 1]), np.array([0, 1, 2])).tolist()
    [0.0, 1.0]
    """
    truth = np.ascontiguousarray(y[test], np.int64)
    scores: list[float] = []
    before = None
    for labels in labels_per_query:
        found = np.asarray(labels)[test]
        if before is None or not np.array_equal(found, before):
            # Numbered anew, so that the table of counts is small: few of the clusters reach into a small test set.
            _, codes = np.unique(found, return_inverse=True)
            scores.append(adjusted_rand(codes.astype(np.int64), truth))
        else:
            scores.append(scores[-1])
        before = found
    return np.array(scores)


def aligned_ranks(Z: FloatArray) -> FloatArray:
    """The average aligned rank of each method; 1 is the best.

    Each task's mean over the methods is subtracted, then all values are ranked together from the largest (rank 1)
    to the smallest; equal values share their average rank. Z holds scores, larger is better, of shape
    (n_tasks, n_methods); with a third axis each number of queries is ranked by itself.

    Examples
    --------
    >>> aligned_ranks(np.array([[0.9, 0.5], [0.6, 0.55]])).tolist()
    [1.5, 3.5]
    """
    return np.asarray(_pooled_ranks(Z).mean(axis=0))


def friedman_aligned(Z: FloatArray) -> Friedman:
    """Test whether all methods are equal, by aligned ranks (García et al. 2010).

    The statistic is approximately chi-squared with one degree of freedom fewer than there are methods.

    Examples
    --------
    Four ranks 1, 2 against 3, 4 have rank sums 3 and 7 by method, 5 and 5 by task:

    >>> test = friedman_aligned(np.array([[0.9, 0.5], [0.6, 0.55]]))
    >>> test.statistic, round(test.p, 4)  # (9 + 49 - 50) / (30 - 25)
    (1.6, 0.2059)
    """
    # By hand: scipy.stats.friedmanchisquare ranks inside each task, and has no aligned variant.
    ranks = _pooled_ranks(Z)
    n, k = ranks.shape
    if k < 2:
        return Friedman(float("nan"), float("nan"))
    between = np.square(ranks.sum(axis=0)).sum() - k * n**2 / 4 * (k * n + 1) ** 2
    within = k * n * (k * n + 1) * (2 * k * n + 1) / 6 - np.square(ranks.sum(axis=1)).sum() / k
    statistic = float((k - 1) * between / within)
    return Friedman(statistic, float(scipy.stats.chi2.sf(statistic, k - 1)))


def _pooled_ranks(Z: FloatArray) -> FloatArray:
    """The rank of every score among all of them, in the shape of Z."""
    scores = np.asarray(Z, np.float64)
    differences = scores - scores.mean(axis=1, keepdims=True)
    flat = differences.reshape(-1, *scores.shape[2:])
    # Rounded, so that rounding errors of the subtraction do not break ties.
    return np.asarray(scipy.stats.rankdata(-flat.round(9), axis=0)).reshape(scores.shape)


def mean_over_folds(scores: FloatArray, repetition: IndexArray, n_folds: int) -> Mean:
    """The mean score of a method on one task.

    With several repetitions the error comes from how their means differ. With one repetition it comes from how the
    folds differ, with the correction of Nadeau and Bengio (2003) for training sets that overlap: the variance is
    multiplied by 1 / m + 1 / (n_folds - 1) for m folds, about twice the value for independent scores.

    `scores` has one row per fold that was run, `repetition` says to which each belongs, and `n_folds` counts the
    folds of the whole cross-validation.

    Examples
    --------
    >>> found = mean_over_folds(np.array([0.1, 0.3, 0.6, 0.6]), np.array([0, 0, 1, 1]), n_folds=2)
    >>> float(found.value), round(float(found.variance), 4), float(found.df)  # means 0.2 and 0.6: 0.08 / 2
    (0.4, 0.04, 1.0)
    >>> found = mean_over_folds(np.array([0.2, 0.6]), np.array([0, 0]), n_folds=2)
    >>> round(float(found.variance), 4)  # 0.08 * (1/2 + 1)
    0.12
    """
    scores = np.asarray(scores, np.float64)
    m = len(scores)
    value = scores.mean(axis=0)
    _, group, sizes = np.unique(repetition, return_inverse=True, return_counts=True)
    R = len(sizes)
    df = np.full(value.shape, (R if R > 1 else m) - 1.0)
    if R > 1:
        # Repetitions may have different numbers of folds: each weighs as many folds as it has.
        sums = np.zeros((R, *value.shape))
        np.add.at(sums, group, scores - value)
        return Mean(value, np.square(sums / m).sum(axis=0) * R / (R - 1), df)
    if m > 1:
        return Mean(value, scores.var(axis=0, ddof=1) * (1 / m + 1 / (n_folds - 1)), df)
    unknown = np.full(value.shape, np.nan)
    return Mean(value, unknown, unknown)


def mean_over_tasks(means: Sequence[Mean]) -> Mean:
    """The mean over tasks, each counting the same; the tasks are taken as given, not as a sample of others.

    Examples
    --------
    >>> one = Mean(np.array(0.2), np.array(0.04), np.array(9.0))
    >>> both = mean_over_tasks([one, Mean(np.array(0.6), np.array(0.04), np.array(9.0))])
    >>> round(float(both.value), 4), float(both.variance), round(float(both.df), 4)
    (0.4, 0.02, 18.0)
    """
    value = np.mean([mean.value for mean in means], axis=0)
    variances = np.array([mean.variance for mean in means])
    total = variances.sum(axis=0)
    # Welch and Satterthwaite: how well a sum of variances is known, each with its own degrees of freedom.
    parts = (np.square(variances) / np.array([mean.df for mean in means])).sum(axis=0)
    df = np.square(total) / np.where(parts == 0, 1.0, parts)
    return Mean(value, total / len(means) ** 2, np.where(total == 0, 1.0, df))


def bootstrap_means(
    scores: Sequence[FloatArray], repetition: Sequence[IndexArray], n: int, seed: int = 0
) -> Iterator[FloatArray]:
    """Yield the mean scores of all tasks, n times with folds drawn anew (bootstrap), for errors of what is no mean.

    Inside each task repetitions are drawn with replacement, or folds where there are fewer than five repetitions.
    All methods share a draw, as they share the folds. `scores` and `repetition` have an item per task, each with a
    row per fold; what is yielded has a row per task.
    """
    random = np.random.default_rng(seed)
    # A draw counts how often each repetition (or fold) was chosen, so one product gives the mean of the sample.
    units = [_unit_means(values, numbers) for values, numbers in zip(scores, repetition, strict=True)]
    for _ in range(n):
        draws = (random.multinomial(len(values), np.full(len(values), 1 / len(values))) for values in units)
        yield np.array(
            [
                np.tensordot(draw / len(values), values, axes=1)
                for draw, values in zip(draws, units, strict=True)
            ]
        )


def _unit_means(scores: FloatArray, repetition: IndexArray) -> FloatArray:
    """What is drawn: the mean of each repetition, or each fold where there are fewer than five repetitions."""
    numbers = np.unique(repetition)
    if len(numbers) < 5:
        return np.asarray(scores, np.float64)
    return np.array([scores[repetition == number].mean(axis=0, dtype=np.float64) for number in numbers])


def bootstrap_interval(estimate: FloatArray | float, draws: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The 95 % interval of an estimate: that of its draws (first axis), moved from their median to the estimate.

    Drawing anew adds noise, which pulls ranks towards the middle: the width is right, the median of the draws not.

    Examples
    --------
    >>> low, high = bootstrap_interval(5.0, np.linspace(0.0, 2.0, 201))
    >>> round(float(low), 2), round(float(high), 2)
    (4.05, 5.95)
    """
    low, middle, high = np.percentile(draws, [100 * (1 - LEVEL) / 2, 50, 100 * (1 + LEVEL) / 2], axis=0)
    return np.asarray(estimate + low - middle), np.asarray(estimate + high - middle)


def area_under_curve(curves: FloatArray) -> FloatArray:
    """The area under score curves over the queries (last axis), divided by its width: a constant 1 gives 1.

    Examples
    --------
    >>> float(area_under_curve(np.array([0.0, 1.0, 1.0])))
    0.75
    """
    n = curves.shape[-1]
    if n == 1:
        return np.asarray(curves[..., 0])
    return np.asarray(np.trapezoid(curves, axis=-1) / (n - 1))


def median_interval(values: FloatArray) -> tuple[float, float]:
    """A 95 % interval for the median of what the values are a sample of, without assumptions on its distribution.

    Two order statistics chosen by the binomial distribution; with fewer than six values their range, which then
    covers the median less often.

    Examples
    --------
    >>> median_interval(np.arange(1.0, 22.0))  # of 21 values the 6th and the 16th
    (6.0, 16.0)
    """
    ordered = np.sort(values)
    n = len(ordered)
    # The probability that fewer than `below` values lie under the median is at most 2.5 %.
    below = max(int(scipy.stats.binom.ppf((1 - LEVEL) / 2, n, 0.5)), 1)
    return float(ordered[below - 1]), float(ordered[n - below])


def latencies(seconds: FloatArray, n_queries: IndexArray) -> FloatArray:
    """Seconds between an answer and the clustering it led to, for every answer given in some runs.

    A row of `seconds` is what a run had cost in total after 0, 1, 2, ... answers; what follows the `n_queries`
    answers that it was really given is repetition and does not count.

    Examples
    --------
    >>> latencies(np.array([[5.0, 6.0, 8.0], [1.0, 4.0, 4.0]]), np.array([2, 1])).tolist()
    [1.0, 2.0, 3.0]
    """
    waits = np.diff(np.asarray(seconds, np.float64), axis=1)
    return np.asarray(waits[np.arange(waits.shape[1]) < np.asarray(n_queries)[:, None]])
