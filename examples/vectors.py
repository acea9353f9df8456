"""
Vectors of your own
===================

You have vectors from a network of your own, and a table with what people are to see.
The vectors are compared, the table is shown: ``cobras serve names.csv --vectors
names.npy``.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.decomposition import PCA

from cobras import LabelOracle, Session, read_dataset, run

rng = np.random.default_rng(0)
parts = rng.integers(9, size=120)
embedding = rng.normal(size=(9, 16))[parts] * 2 + rng.normal(size=(120, 16))
groups = parts % 3  # three parts each belong together, which the vectors do not tell
folder = Path(tempfile.mkdtemp())
pl.DataFrame({"name": [f"person {k}" for k in range(120)]}).write_csv(
    folder / "names.csv"
)
np.save(folder / "names.npy", embedding)
dataset = read_dataset(folder / "names.csv", vectors=folder / "names.npy")
print(*dataset.notes, sep="\n")
print(dataset.show(3))

# %%
# Three groups answer 20 questions.

session = Session(dataset, random_state=0)
place = PCA(2).fit_transform(dataset.X)
run(session, LabelOracle(groups), until=lambda s: s.n_answers >= 20)

_, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for axis, n in zip(axes, [0, 8, 20], strict=True):
    ids = np.take(session.cluster_ids_at(n), session.labels_at(n))
    axis.scatter(*place.T, c=ids % 20, cmap="tab20", vmin=0, vmax=19, s=14)
    axis.set(title=f"{n} answers: {len(set(ids))} clusters", xticks=[], yticks=[])
print(f"{session.n_answers} answers, {session.labels_.max() + 1} clusters")
assert all(
    len(set(groups[session.labels_ == cluster])) == 1
    for cluster in range(session.labels_.max() + 1)
)

# %%
# More: :doc:`/guides/data`.
