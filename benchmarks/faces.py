"""COBRAS on the CMU faces, read from image files: the features of EfficientNet-Lite0 beside pixels.

    COBRAS_DATA=folder python -m benchmarks.faces

The folder must hold cmu_faces_images.npz and cmu_faces_targets.csv. The 624 images are written out as PNG files and
read as a user's folder is. Mean adjusted Rand index over ten seeds for the identity of the person; the answers come
from the targets.
"""

import os
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from PIL import Image
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from cobras import LabelOracle, Session, read_dataset, run
from cobras.core.types import FloatArray

SEEDS = range(10)
BUDGETS = (25, 50, 100, 200)


def write_faces(source: Path, folder: Path) -> list[str]:
    """Write the images as files; returns the identity of each, in the order of the files' names."""
    with np.load(source / "cmu_faces_images.npz") as data:
        images, brightest = data["images"], data["maxval"]
    identity = pl.read_csv(source / "cmu_faces_targets.csv")["identity"].to_list()
    for k, (image, white) in enumerate(zip(images, brightest, strict=True)):
        grey = np.minimum(image * 255.0 / white, 255).round().astype(np.uint8)
        Image.fromarray(grey).save(folder / f"face{k:03}.png")
    return [str(name) for name in identity]


def main() -> None:
    """Print a line for each sort of features."""
    source = Path(os.environ["COBRAS_DATA"])
    with tempfile.TemporaryDirectory() as name, threadpool_limits(1):
        identity = np.array(write_faces(source, Path(name)))
        print(f"{'mean ARI for identity':24}" + "".join(f"{b:>8}" for b in BUDGETS) + "  queries")
        for features in ("efficientnet", "pixels"):
            dataset = read_dataset(name, features=features)
            scores = np.array([ari(dataset.X, identity, seed) for seed in SEEDS])
            shown = "".join(f"{mean:8.3f}" for mean in scores.mean(axis=0))
            print(f"{features:13}{dataset.X.shape[1]:>5} columns{shown[1:]}", flush=True)


def ari(X: FloatArray, identity: npt.NDArray[np.str_], seed: int) -> list[float]:
    """The adjusted Rand index at each budget."""
    session = Session(X, random_state=seed)
    run(session, LabelOracle(identity), until=lambda s: s.n_answers >= max(BUDGETS))
    last = session.n_answers
    return [float(adjusted_rand_score(identity, session.labels_at(min(b, last)))) for b in BUDGETS]


if __name__ == "__main__":
    main()
