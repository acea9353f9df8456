"""Vectors of one's own, with the originals still on the cards: `cobras ask names.csv --vectors names.npy`."""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from cobras import LabelOracle, Session, read_dataset, run

rng = np.random.default_rng(0)
groups = rng.integers(3, size=80)
embedding = rng.normal(size=(3, 16))[groups] * 4 + rng.normal(size=(80, 16))
with tempfile.TemporaryDirectory() as folder:
    pl.DataFrame({"name": [f"person {k}" for k in range(80)]}).write_csv(Path(folder, "names.csv"))
    np.save(Path(folder, "names.npy"), embedding)
    dataset = read_dataset(Path(folder, "names.csv"), vectors=Path(folder, "names.npy"))

print(*dataset.notes, sep="\n")
print(dataset.show(3))
session = Session(dataset.X, random_state=0)
run(session, LabelOracle(groups), until=lambda s: s.n_answers >= 15)
right = all(len(set(groups[session.labels_ == c])) == 1 for c in range(session.labels_.max() + 1))
print(f"{session.n_answers} answers, {session.labels_.max() + 1} clusters")
assert right
