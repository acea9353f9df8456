"""Small tasks that need no file: the same rows on every machine, for quick runs and for CI."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from cobras.bench.sources.prepare import shuffled
from cobras.core.types import FloatArray
from cobras.data.dataset import scaled

Labelled = tuple[FloatArray, npt.NDArray[np.intp]]


def blobs() -> Labelled:
    """Five round clusters in five dimensions, of 20 to 100 rows, some of which touch."""
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(5), (100, 80, 60, 40, 20))
    centres = rng.normal(scale=3.0, size=(5, 5))
    return centres[y] + rng.normal(size=(len(y), 5)), y


def moons() -> Labelled:
    """Two interleaved half circles: no cluster is the region around one centre."""
    rng = np.random.default_rng(2)
    y = np.repeat(np.arange(2), 120)
    angle = rng.uniform(0, np.pi, size=len(y))
    arc = np.column_stack((np.cos(angle), np.sin(angle)))
    arc[y == 1] = (1.0, 0.4) - arc[y == 1]
    return arc + rng.normal(scale=0.12, size=arc.shape), y


def grid() -> Labelled:
    """Sixteen blobs on a grid, each of four clusters made of four that do not touch: the case for questions."""
    rng = np.random.default_rng(3)
    blob = np.repeat(np.arange(16), 25)
    row, column = np.divmod(blob, 4)
    X = np.column_stack((column, row)) + rng.normal(scale=0.12, size=(len(blob), 2))
    return X, (column + 2 * row) % 4


def lines() -> Labelled:
    """Three long, parallel, noisy lines in twenty dimensions, most of them irrelevant."""
    rng = np.random.default_rng(4)
    y = np.repeat(np.arange(3), (90, 70, 50))
    X = rng.normal(scale=0.3, size=(len(y), 20))
    X[:, 0] += rng.uniform(-4, 4, size=len(y))
    X[:, 1] += 1.5 * y
    return X, y


GENERATED: dict[str, Callable[[], Labelled]] = {
    f"generated-{make.__name__}": make for make in (blobs, moons, grid, lines)
}


def generate(name: str) -> Labelled:
    """The rows, scaled to [0, 1], and the class codes of a generated task.

    Examples
    --------
    >>> X, y = generate("generated-grid")
    >>> X.shape, np.bincount(y)
    ((400, 2), array([100, 100, 100, 100]))
    """
    X, y = GENERATED[name]()
    order = shuffled(len(X))
    return scaled(X[order]), y[order].astype(np.intp)
