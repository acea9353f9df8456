"""Data that comes along, for a first try without a file of one's own."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from cobras.core.types import FloatArray, IndexArray
from cobras.data.dataset import Dataset, Picture
from cobras.data.recipe import Recipe


def load_demo() -> Dataset:
    """The 1,797 handwritten digits of scikit-learn, shown as pictures of 8 x 8 pixels.

    Examples
    --------
    >>> digits = load_demo()
    >>> digits.X.shape, digits.show(0).pixels.shape
    ((1797, 64), (8, 8))
    """
    import polars as pl

    pixels, labels = _digits()
    # All pixels share one unit, so they are scaled together: a pixel that is never inked stays unimportant.
    X = np.ascontiguousarray(pixels / 16.0)
    return Dataset(
        X=X,
        ids=np.arange(len(X)),
        columns=tuple(f"pixel_{row}_{column}" for row in range(8) for column in range(8)),
        frame=pl.DataFrame({"id": np.arange(len(X)), "digit": labels}),
        labels=labels,
        card=_Pictures(X.reshape(-1, 8, 8)),
        notes=("1,797 handwritten digits. Sort them as you like: by digit, by slant, by hand.",),
        recipe=Recipe("bundled", name="digits"),
    )


def _digits() -> tuple[FloatArray, IndexArray]:
    """What `sklearn.datasets.load_digits` gives, without the seconds that its import takes at a cold start."""
    import polars as pl

    package = find_spec("sklearn")
    for folder in (package and package.submodule_search_locations) or ():
        file = Path(folder, "datasets", "data", "digits.csv.gz")
        if file.is_file():
            table = pl.read_csv(file, has_header=False).to_numpy()
            return table[:, :-1].astype(np.float64), table[:, -1].astype(np.int64)
    from sklearn.datasets import load_digits

    digits: tuple[FloatArray, IndexArray] = load_digits(return_X_y=True)
    return digits


class _Pictures:
    """The cards of a stack of pictures."""

    def __init__(self, pixels: FloatArray) -> None:
        self.pixels = pixels

    def __call__(self, i: int) -> Picture:
        return Picture(self.pixels[i])
