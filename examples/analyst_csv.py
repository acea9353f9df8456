"""
Analyst: a CSV file
===================

You have a table and want groups that mean something to you, and back in the same table.
You need the shell and no Python. The wines of scikit-learn stand in for your table,
with a few columns that real tables have: names, prices with a currency, words, and one
that says the same everywhere.
"""

import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA

from cobras import LabelOracle, Session, read_dataset, run

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
wine = load_wine()
order = rng.permutation(178)
measured = pl.DataFrame(wine.data[order], schema=list(wine.feature_names))
table = measured.select(
    pl.Series("bottle", [f"B{k:03}" for k in range(178)]),
    pl.Series("price", [f"{price:.2f} €" for price in rng.gamma(4, 3, 178)]),
    pl.Series("cellar", rng.choice(["north", "south"], 178)),
    pl.lit("Italy").alias("country"),
    pl.all(),
)
table[:150].write_csv(folder / "wines.csv")
table[150:].write_csv(folder / "next-month.csv")
print(table[:3, :7])

# %%
# Answer
# ------
#
# ``cobras serve wines.csv`` opens a page in the browser. It shows two wines and asks
# whether they belong together: press S for same, D for different.
#
# .. image:: ../images/first-run.png
#    :alt: Two wines side by side, the map of all wines, the columns and their uses
#
# ``cobras ask wines.csv`` asks the same in the terminal. Both begin by saying how the
# table was read: what names the rows, and that the country tells nothing. Price and
# cellar do not tell what is in a bottle, so you leave them out, too. Here one answer,
# *y* for same, comes through a pipe:


def cobras(words: str, keys: str = "") -> None:
    """Run the command and print what it prints."""
    command, both = ["cobras", *words.split()], subprocess.STDOUT
    print("$", *command)
    print(
        subprocess.check_output(command, cwd=folder, input=keys, text=True, stderr=both)
    )


cobras("ask wines.csv --drop price --drop cellar --seed 0 --max-queries 1", keys="y")

# %%
# The answer is in ``wines.cobras``. The same command goes on from there; so does
# ``cobras serve``, and so does Python, which we use here to give 29 further answers.
# The vineyards, which are not in the table, stand in for you.

dataset = read_dataset(folder / "wines.csv", id="bottle", drop=["price", "cellar"])
place = PCA(2).fit_transform(dataset.X)  # for a map
session = Session.open(folder / "wines.cobras", dataset)
run(session, LabelOracle(wine.target[order][:150]), until=lambda s: s.n_answers >= 30)
session

# %%
# Before, during, after
# ---------------------
#
# Each point is a wine; wines that are alike lie close together. Before the first answer
# all are one cluster. The first answers split it, perhaps too finely; the next ones say
# which parts are one. A cluster keeps its id, and so its colour, while others change.

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
figure.suptitle("150 wines")
for axis, n in zip(axes, [0, 4, 30], strict=True):
    ids = np.take(session.cluster_ids_at(n), session.labels_at(n))
    axis.scatter(*place.T, c=ids % 20, cmap="tab20", vmin=0, vmax=19, s=14)
    axis.set(title=f"{n} answers: {len(set(ids))} cluster(s)", xticks=[], yticks=[])

# %%
# Take it away
# ------------
#
# Look at what the clusters have in common, name them (on the page: click a name and
# type), and write the table with its clusters. In the shell that is ``cobras export
# wines.cobras --out wines-clusters.csv``.

means = session.to_frame().group_by("cluster").agg(pl.mean("alcohol", "flavanoids"))
print(means.sort("cluster"))
assert means.sort("alcohol")["cluster"].to_list() == [1, 0, 2]

for cluster, name in enumerate(["few flavanoids", "light", "strong"]):
    session.name(cluster, name)
clusters = session.to_frame()
clusters.write_csv(folder / "wines-clusters.csv")
print(clusters.select("bottle", "price", "alcohol", "cluster_name").head())
session.close()

# %%
# Next month
# ----------
#
# New bottles get the clusters of those that they are like. ``confidence`` says how sure
# that is; with ``--unknown-below 0.6`` the unsure ones stay empty.

cobras("predict wines.cobras next-month.csv --out labelled.csv")
print(pl.read_csv(folder / "labelled.csv").head())

# %%
# More: :doc:`/guides/web` on the page, :doc:`/guides/data` on how files are read,
# :doc:`/reference/shell` on all options.
