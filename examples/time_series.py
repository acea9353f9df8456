"""
Time series
===========

Series are compared by dynamic time warping, so they may be shifted and of different
lengths. The table has a row for each moment of each engine; ``cobras serve engines.csv
--kind series`` opens the page on it.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from cobras import LabelOracle, SeriesSpace, Session, read_dataset, run

rng = np.random.default_rng(0)
shapes = [np.sin, lambda t: np.sign(np.sin(t)), lambda t: t % 3 - 1.5]
kinds = rng.integers(3, size=90)
t = np.linspace(0, 2, 50)
rows = []
for k, kind in enumerate(kinds):
    speed = rng.choice([5, 8, 11])
    values = shapes[kind](speed * t) + rng.normal(scale=0.1, size=50)
    rows.append(pl.DataFrame({"engine": f"engine {k}", "time": t, "noise": values}))
path = Path(tempfile.mkdtemp(), "engines.csv")
pl.concat(rows).write_csv(path)
dataset = read_dataset(path, kind="series", id="engine")
print(*dataset.notes, sep="\n")

# %%
# The shape of the noise answers 25 questions, whatever the speed of the engine.

session = Session(SeriesSpace(dataset.series, distance="dtw"), random_state=0)
run(session, LabelOracle(kinds), until=lambda s: s.n_answers >= 25)
print(f"{session.n_answers} answers, {session.labels_.max() + 1} clusters")

# %%
# The clusters before, during and after: each cell holds the series of one cluster, one
# above the other. First each speed is a cluster of its own; then answers join them.

after = [0, 12, 25]
widest = max(session.labels_at(n).max() + 1 for n in after)
figure, axes = plt.subplots(
    3, widest, figsize=(9, 4.5), layout="constrained", sharey=True
)
for line, n_answers in zip(axes, after, strict=True):
    labels, ids = session.labels_at(n_answers), session.cluster_ids_at(n_answers)
    for cluster, axis in enumerate(line):
        axis.set_axis_off()
        for row in np.flatnonzero(labels == cluster):
            axis.plot(
                dataset.show(int(row)).channels[0],
                color=f"C{ids[cluster]}",
                alpha=0.5,
                linewidth=0.8,
            )
    line[0].set_title(
        f"{n_answers} answers: {len(ids)} clusters", loc="left", fontsize=9
    )
assert all(
    len(set(kinds[session.labels_ == cluster])) == 1
    for cluster in range(session.labels_.max() + 1)
)

# %%
# More: :doc:`/guides/series`.
