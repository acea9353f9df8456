"""Speed and quality, measured as ratios; here the data sets: none is downloaded, features lie in [0, 1].

`large` is about much data, `page` about the waiting of a person, `peers` about what others have published.

Spambase (4,601 mails, 57 columns) is used where COBRAS_DATA names a folder with spambase.csv, its class last.
"""

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.preprocessing import minmax_scale

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

FOLDER = Path(os.environ.get("COBRAS_DATA", "."))
HAS_SPAMBASE = (FOLDER / "spambase.csv").is_file()
_BUNDLED = {"iris": load_iris, "wine": load_wine, "wdbc": load_breast_cancer, "digits": load_digits}


def load(name: str) -> tuple[FloatArray, IntArray]:
    """Return X and y of "iris", "wine", "wdbc", "digits", "blobs-<n>" or "spambase", where that is at hand."""
    if name.startswith("blobs-"):
        return blobs(int(name.removeprefix("blobs-")))
    if name == "spambase":
        table = np.genfromtxt(FOLDER / "spambase.csv", delimiter=",", skip_header=1, dtype=str)
        return minmax_scale(table[:, :-1].astype(np.float64)), (table[:, -1] == "spam").astype(np.int64)
    X, y = _BUNDLED[name](return_X_y=True)
    first = np.sort(np.unique(X, axis=0, return_index=True)[1])
    return minmax_scale(X[first].astype(np.float64)), y[first].astype(np.int64)


def blobs(n: int, n_features: int = 20, n_centres: int = 10) -> tuple[FloatArray, IntArray]:
    """Draw overlapping Gaussian blobs."""
    X, y = make_blobs(n, n_features, centers=n_centres, cluster_std=8.0, random_state=0)
    return minmax_scale(X.astype(np.float64)), y.astype(np.int64)
