"""A map of the data: two coordinates per row, so that rows that are alike lie close together.

Principal components are there at once. t-SNE (openTSNE by Poličar, Stražar and Zupan) takes seconds to minutes, so
it runs in a process of its own, `python -m cobras.data.maps ROWS FOLDER`, which writes one layout after another
while it improves and ends when its standard input is closed. Large data: a sample is laid out, and every other row
is placed between the sampled rows nearest to it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from cobras.core.types import FloatArray, IndexArray

Coordinates: TypeAlias = npt.NDArray[np.float32]

N_FITTED = 20_000  # rows that the principal components are computed from
N_LAID_OUT = 6_000  # rows that t-SNE lays out itself
N_DIMENSIONS = 50  # principal components that t-SNE sees, as is usual
N_NEIGHBOURS = 4  # sampled rows between which another row is placed
BLOCK = 2_048  # rows at a time, to bound memory
SEED = 0  # the same data has the same map whenever it is opened
EXAGGERATED, REFINED, STRIDE = 250, 500, 125  # iterations of t-SNE: in each phase, and between two layouts


def points(X: FloatArray) -> FloatArray:
    """The rows as points: series of several channels one after the other, gaps as 0; anything else as it is.

    Examples
    --------
    >>> points(np.array([[[1.0, 2.0], [np.nan, 4.0]]]))
    array([[1., 2., 0., 4.]])
    """
    flat = X.reshape(len(X), -1)
    return flat if np.isfinite(flat).all() else np.nan_to_num(flat, nan=0.0, posinf=0.0, neginf=0.0)


def pca_map(X: FloatArray) -> Coordinates:
    """The first two principal components, in [0, 1].

    Examples
    --------
    >>> pca_map(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])).round(3).tolist()
    [[0.0, 0.5], [0.5, 0.5], [1.0, 0.5]]
    """
    return unit_square(principal_components(X, 2))


def tsne_maps(X: FloatArray) -> Iterator[Coordinates]:
    """Layouts by t-SNE in [0, 1], each better than the one before; none for too few rows or equal ones."""
    from openTSNE import TSNEEmbedding, affinity, initialization

    n = len(X)
    rows = principal_components(X, max(2, min(N_DIMENSIONS, X.shape[1])))
    if n < 10 or not rows[:, 0].any():
        return
    chosen = np.sort(np.random.default_rng(SEED).permutation(n)[:N_LAID_OUT])
    sample = rows[chosen]
    near = nearest(rows, sample) if n > len(chosen) else None
    # Three times the perplexity is the number of neighbours that count.
    perplexity = min(30.0, (len(chosen) - 1) / 3)
    alike = affinity.PerplexityBasedNN(
        sample, perplexity=perplexity, method="exact", n_jobs=1, random_state=SEED
    )
    start = initialization.rescale(sample[:, :2].astype(np.float64))
    layout = TSNEEmbedding(start, alike, n_jobs=1, random_state=SEED)
    for n_iter, exaggeration, momentum in ((EXAGGERATED, 12, 0.5), (REFINED, None, 0.8)):
        for _ in range(0, n_iter, STRIDE):
            layout = layout.optimize(n_iter=STRIDE, exaggeration=exaggeration, momentum=momentum)
            yield unit_square(place_rows(np.asarray(layout), chosen, near))


def principal_components(X: FloatArray, n_components: int) -> Coordinates:
    """The rows along the directions in which they differ most; columns of zeros where there are no more."""
    from sklearn.decomposition import PCA

    n, d = X.shape
    n_fitted = min(n, N_FITTED if d <= 1024 else 1024)
    sample = X[np.sort(np.random.default_rng(SEED).permutation(n)[:n_fitted])].astype(np.float64)
    found = np.zeros((n, n_components), np.float32)
    if n_fitted == 1:
        return found
    k = min(n_components, n_fitted, d)
    with np.errstate(all="ignore"):  # it also divides by the variance, which is 0 where all rows are alike
        model = PCA(k, svd_solver="covariance_eigh" if d <= n_fitted else "full").fit(sample)
    for start in range(0, n, BLOCK):
        found[start : start + BLOCK, :k] = model.transform(X[start : start + BLOCK])
    return found


def unit_square(coordinates: FloatArray) -> Coordinates:
    """Return points moved and scaled into the unit square, equally in both directions.

    Examples
    --------
    >>> unit_square(np.array([[2.0, 0.0], [6.0, 2.0]])).tolist()
    [[0.0, 0.25], [1.0, 0.75]]
    """
    low, high = coordinates.min(axis=0), coordinates.max(axis=0)
    extent = float((high - low).max())
    scale = 1 / extent if extent >= np.finfo(np.float32).tiny else 0.0  # below it 1 / extent overflows
    moved: Coordinates = ((coordinates - (low + high) / 2) * scale + 0.5).astype(np.float32)
    return np.clip(moved, 0, 1)


def nearest(rows: Coordinates, sample: Coordinates) -> tuple[IndexArray, Coordinates]:
    """For every row the sampled rows nearest to it, and weights that fall with the distance and sum to 1."""
    k = min(N_NEIGHBOURS, len(sample))
    found = np.empty((len(rows), k), np.int32)
    weights = np.empty((len(rows), k), np.float32)
    squares = np.einsum("ij,ij->i", sample, sample)
    for start in range(0, len(rows), BLOCK):
        block = slice(start, start + BLOCK)
        away = squares - 2 * rows[block] @ sample.T
        found[block] = np.argpartition(away, k - 1, axis=1)[:, :k]
        near = rows[block, None] - sample[found[block]]
        closeness = 1 / (np.einsum("ijk,ijk->ij", near, near) + 1e-12)
        weights[block] = closeness / closeness.sum(axis=1, keepdims=True)
    return found, weights


def place_rows(
    layout: FloatArray, chosen: IndexArray, near: tuple[IndexArray, Coordinates] | None
) -> Coordinates:
    """The layout of all rows: the sampled ones where they are, the others between their neighbours."""
    if near is None:
        return layout.astype(np.float32)
    found, weights = near
    everywhere: Coordinates = np.einsum("ij,ijk->ik", weights, layout.astype(np.float32)[found])
    everywhere[chosen] = layout
    return everywhere


def main(rows: str, folder: str) -> None:
    """Lay out the rows of an .npy file and print the name of every layout that is ready in the folder."""
    _lower_priority()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for number, layout in enumerate(tsne_maps(np.load(rows, mmap_mode="r"))):
        target = Path(folder, f"{number}.npy")
        np.save(target, layout)
        print(target, flush=True)


def _lower_priority() -> None:
    """Lower the priority of this process: answers and the browser come first."""
    if not hasattr(os, "nice"):
        return
    os.nice(10)
    if os.getsid(0) == os.getpid():  # Linux may weigh sessions instead of processes
        with contextlib.suppress(OSError):
            Path("/proc/self/autogroup").write_text("10")


def _end_with_parent() -> None:
    # Not through sys.stdin: Python aborts when it ends while a thread holds the lock of a buffer.
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
