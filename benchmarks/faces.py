"""Image features on faces and on drawn shapes: EfficientNet-Lite0, shapes and colours, pixels.

    COBRAS_DATA=folder python -m benchmarks.faces [--answers 40] [--seeds 10]

The folder must hold cmu_faces_images.npz and cmu_faces_targets.csv; without it only shapes are measured. The 624
faces, and 400 circles, squares, triangles and stars of random size, place and turn in four colours, are written out
as PNG files and read as a user's folder is. Where the network is not installed, its features of the faces come from
cmu_faces_efficientnet_lite0.npz, if the folder has it. Each line has the adjusted Rand index of k-means with the
right number of clusters, and those of COBRAS and ADDER after the answers, which come from the targets; means over
the seeds.
"""

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from PIL import Image, ImageDraw
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from cobras import LabelOracle, Session, read_dataset, run
from cobras.core.types import FloatArray
from cobras.data.items.images import has_network

METHODS = ("cobras", "adder")
N_SHAPES = 400
SIDE = 96  # pixels of a drawing
CORNERS = {"circle": 64, "square": 4, "triangle": 3, "star": 10}
HUES = np.array([(200, 40, 40), (40, 150, 60), (50, 80, 200), (220, 170, 30)])

Targets = dict[str, npt.NDArray[np.str_]]


def write_faces(source: Path, folder: Path) -> Targets:
    """Write the images as files; returns what is wanted of each, in the order of the files' names."""
    with np.load(source / "cmu_faces_images.npz") as data:
        images, brightest = data["images"], data["maxval"]
    for k, (image, white) in enumerate(zip(images, brightest, strict=True)):
        grey = np.minimum(image * 255.0 / white, 255).round().astype(np.uint8)
        Image.fromarray(grey).save(folder / f"face{k:03}.png")
    table = pl.read_csv(source / "cmu_faces_targets.csv")
    return {name: table[name].to_numpy() for name in ("identity", "pose", "eyes")}


def write_shapes(folder: Path) -> Targets:
    """Draw shapes into files; returns the shape and the colour of each."""
    rng = np.random.default_rng(0)
    shapes, colours = rng.choice(list(CORNERS), N_SHAPES), rng.integers(len(HUES), size=N_SHAPES)
    for k, (shape, colour) in enumerate(zip(shapes, colours, strict=True)):
        n, radius = CORNERS[shape], rng.uniform(0.15, 0.35) * SIDE
        turns = rng.uniform(0, 2 * np.pi) + 2 * np.pi * np.arange(n) / n
        reach = np.where((np.arange(n) % 2 == 1) & (shape == "star"), 0.45, 1.0) * radius
        centre = rng.uniform(radius, SIDE - radius, 2)
        points = centre + reach[:, None] * np.stack([np.cos(turns), np.sin(turns)], axis=1)
        paint = np.clip(HUES[colour] + rng.normal(0, 15, 3), 0, 255).astype(int)
        paper = int(rng.integers(225, 256))
        image = Image.new("RGB", (4 * SIDE, 4 * SIDE), (paper, paper, paper))
        ImageDraw.Draw(image).polygon(
            [(4 * x, 4 * y) for x, y in points.tolist()], fill=tuple(paint.tolist())
        )
        image.resize((SIDE, SIDE), Image.Resampling.BOX).save(folder / f"shape{k:03}.png")
    return {"shape": shapes, "colour": colours.astype(str)}


def features_of(folder: Path, features: str, what: str) -> FloatArray | None:
    """The features of a folder of images; None where they cannot be had."""
    if features != "efficientnet" or has_network():
        return read_dataset(folder, features=features).X
    kept = Path(os.environ.get("COBRAS_DATA", ""), f"cmu_{what}_efficientnet_lite0.npz")
    if not kept.is_file():
        return None
    with np.load(kept) as data:
        X: FloatArray = data["features"]
    return X


def scores(X: FloatArray, wanted: npt.NDArray[np.str_], n_answers: int, n_seeds: int) -> list[float]:
    """The mean adjusted Rand index of k-means and of each method."""
    k = len(np.unique(wanted))
    clusters = (KMeans(k, n_init=5, random_state=seed).fit_predict(X) for seed in range(n_seeds))
    found = [float(np.mean([adjusted_rand_score(wanted, labels) for labels in clusters]))]
    for method in METHODS:
        aris = []
        for seed in range(n_seeds):
            session = Session(X, method=method, random_state=seed)
            run(session, LabelOracle(wanted), until=lambda s: s.n_answers >= n_answers)
            aris.append(adjusted_rand_score(wanted, session.labels_))
        found.append(float(np.mean(aris)))
    return found


def main() -> None:
    """Print a line for each target and sort of features."""
    parser = argparse.ArgumentParser(description="Adjusted Rand index of clusterings of images.")
    parser.add_argument("--answers", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    print(f"{'target':10}{'features':14}{'columns':>8}{'k-means':>9}" + "".join(f"{m:>8}" for m in METHODS))
    with tempfile.TemporaryDirectory() as name, threadpool_limits(1):
        sets = {"shapes": write_shapes}
        if source := os.environ.get("COBRAS_DATA"):
            sets["faces"] = lambda folder: write_faces(Path(source), folder)
        for what, make in sets.items():
            folder = Path(name, what)
            folder.mkdir()
            wanted = make(folder)
            for features in ("efficientnet", "shapes", "pixels"):
                X = features_of(folder, features, what)
                if X is None:
                    continue
                for target, labels in wanted.items():
                    shown = "".join(f"{s:8.3f}" for s in scores(X, labels, options.answers, options.seeds))
                    print(f"{target:10}{features:14}{X.shape[1]:8} {shown}", flush=True)


if __name__ == "__main__":
    main()
