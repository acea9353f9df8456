"""
Photographer: a folder of pictures
==================================

You have a folder of pictures without any order, and want one folder for each subject.
``cobras serve pictures/`` shows two pictures and asks whether they belong together.
This page does the same in Python, with small pictures that it paints itself: the sea,
forests and cities, by day, at dusk and at night.
"""

# sphinx_gallery_thumbnail_number = 3
import shutil
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from PIL import Image, ImageDraw
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from cobras import LabelOracle, Session, read_dataset, run

rng = np.random.default_rng(0)


SKIES = {"day": (150, 190, 230), "dusk": (230, 130, 80), "night": (30, 30, 70)}


def paint(subject: str, light: str) -> Image.Image:
    """Return a picture of 48 x 32 pixels."""
    dark = {"day": 1, "dusk": 0.7, "night": 0.4}[light]
    sky = rng.normal(SKIES[light], 15).clip(0, 255).astype(int)
    picture = Image.new("RGB", (48, 32), tuple(sky))
    pen = ImageDraw.Draw(picture)
    if subject == "sea":
        x, y = rng.integers(8, 40), rng.integers(4, 16)
        pen.ellipse((x - 5, y - 5, x + 5, y + 5), fill=(255, 240, 180))
        pen.rectangle((0, 22, 48, 32), fill=(0, int(90 * dark), int(160 * dark)))
    elif subject == "forest":
        for x in rng.integers(0, 48, size=rng.integers(4, 9)):
            tree = [(x - 6, 30), (x, rng.integers(4, 14)), (x + 6, 30)]
            pen.polygon(tree, fill=(int(40 * dark), int(110 * dark), int(50 * dark)))
    else:
        for x in range(0, 48, 8):
            top = int(rng.integers(6, 24))
            pen.rectangle((x, top, x + 6, 32), fill=(int(120 * dark),) * 3)
            for y in range(top + 2, 30, 5):
                pen.rectangle((x + 2, y, x + 3, y + 1), fill=(250, 220, 120))
    return picture


folder = Path(tempfile.mkdtemp())
(folder / "pictures").mkdir()
subjects = rng.choice(["sea", "forest", "city"], 120)
lights = rng.choice(list(SKIES), 120)
for number, (subject, light) in enumerate(zip(subjects, lights, strict=True)):
    paint(subject, light).save(folder / "pictures" / f"IMG_{number:04}.png")

# %%
# Read the folder
# ---------------
#
# Pictures are compared by their shapes and colours, or by what a network sees in them,
# where the extra ``[images]`` is installed: that finds things, not only outlines, and
# is the better choice for photographs.

dataset = read_dataset(folder / "pictures", features="shapes")
print(*dataset.notes, sep="\n")

# %%
# The first question
# ------------------

session = Session(dataset, random_state=0)
pair = session.ask()
figure, axes = plt.subplots(1, 2, figsize=(5, 2), layout="constrained")
for axis, row in zip(axes, pair, strict=True):
    axis.imshow(plt.imread(folder / "pictures" / dataset.ids[row]))
    axis.set(title=dataset.ids[row], xticks=[], yticks=[])

# %%
# Twenty answers
# --------------
#
# The subjects that were painted stand in for you. ``labels_at`` is the clustering that
# you had after so many answers; the frames show the clusters. First light and subject
# count alike; the answers say that the subject is meant.

run(session, LabelOracle(subjects), until=lambda s: s.n_answers >= 20)
score = adjusted_rand_score(subjects, session.labels_)
print(f"{session.n_answers} answers, adjusted Rand index {score:.2f}")

place = PCA(2).fit_transform(dataset.X)
colours = np.array([*plt.get_cmap("tab10").colors, *plt.get_cmap("Dark2").colors])
figure, axes = plt.subplots(3, 1, figsize=(8, 11), layout="constrained")
for axis, n_answers in zip(axes, [0, 7, 20], strict=True):
    labels, ids = session.labels_at(n_answers), session.cluster_ids_at(n_answers)
    axis.scatter(*place.T, s=0)
    for row in range(0, 120, 3):
        picture = plt.imread(folder / "pictures" / dataset.ids[row])
        box = AnnotationBbox(OffsetImage(picture, zoom=0.6), place[row], pad=0)
        box.patch.set(edgecolor=colours[ids[labels[row]] % len(colours)], linewidth=2.5)
        axis.add_artist(box)
    axis.set_title(f"{n_answers} answers: {len(ids)} clusters")
    axis.set(xticks=[], yticks=[])
    axis.margins(0.1)

# %%
# One folder for each cluster
# ---------------------------
#
# Copies are made, so the pictures stay where they are.

for name, label in zip(dataset.ids, session.labels_, strict=True):
    target = folder / "sorted" / f"cluster {label}"
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "pictures" / name, target)
for path in sorted((folder / "sorted").iterdir()):
    print(path.name, len(list(path.iterdir())), "pictures")
assert score > 0.9

# %%
# The way you mean it
# -------------------
#
# Somebody else wants the same pictures by light. The data is the same, the answers are
# not, and so the clusters are others.

other = Session(dataset, random_state=0)
run(other, LabelOracle(lights), until=lambda s: s.n_answers >= 40)
print(f"by light: adjusted Rand index {adjusted_rand_score(lights, other.labels_):.2f}")
figure, axes = plt.subplots(4, 10, figsize=(9, 3), layout="constrained")
rows = np.argsort(other.labels_, kind="stable")[2::3]
for axis, row in zip(axes.T.flat, rows, strict=True):
    axis.imshow(plt.imread(folder / "pictures" / dataset.ids[row]))
    axis.set(xticks=[], yticks=[])
    plt.setp(axis.spines.values(), color=colours[other.labels_[row]], linewidth=3)

# %%
# More: :doc:`/guides/data` on formats and on what pictures are compared by,
# :doc:`/guides/web` on boards, with which you sort six pictures at once.
