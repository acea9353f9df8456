"""Time series in a long table: a row for each moment. A person would run `cobras ask engines.csv --kind series`."""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from cobras import LabelOracle, Session, read_dataset, run
from cobras.spaces.series import SeriesSpace

rng = np.random.default_rng(0)
shapes = [lambda t: np.sin(6 * t), lambda t: np.sign(np.sin(6 * t)), lambda t: t % 0.5]
kinds = rng.integers(3, size=60)
rows = []
for k, kind in enumerate(kinds):
    t = np.linspace(0, 2, 50)
    values = shapes[kind](t) * rng.uniform(0.5, 2) + rng.normal(scale=0.05, size=50)
    rows.append(pl.DataFrame({"engine": f"engine {k}", "time": t, "noise": values}))
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "engines.csv")
    pl.concat(rows).write_csv(path)
    dataset = read_dataset(path, kind="series", id="engine")

print(*dataset.notes, sep="\n")
print(dataset.ids[0], dataset.show(0).channels.shape)
session = Session(SeriesSpace(dataset.series, distance="dtw"), branch="smallest", random_state=0)
run(session, LabelOracle(kinds), until=lambda s: s.n_answers >= 20)
right = all(len(set(kinds[session.labels_ == c])) == 1 for c in range(session.labels_.max() + 1))
print(f"{session.n_answers} answers, {session.labels_.max() + 1} clusters")
assert right
