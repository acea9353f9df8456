"""
Engineer: a data frame in a notebook
====================================

You have a data frame in a notebook and want a column of clusters that follow your own
idea of what is alike, and the same clusters for the rows of tomorrow. The frame here
has numbers, words, yes and no, gaps, and an index: four kinds of load on servers.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from cobras import LabelOracle, Session, read_dataset, run

rng = np.random.default_rng(0)
kinds = pd.DataFrame(
    {
        "cpu": [80, 30, 15, 45],
        "memory": [30, 75, 20, 45],
        "requests": [900, 400, 50, 200],
        "disk": ["ssd", "ssd", "hdd", "hdd"],
        "nightly": [False, False, True, True],
    },
    index=["web", "cache", "backup", "batch"],
)
kind = rng.choice(kinds.index, 240)
servers = kinds.loc[kind].set_axis([f"srv-{number:03}" for number in range(240)])
for column in ["cpu", "memory", "requests"]:
    servers[column] = servers[column] * rng.lognormal(sigma=0.3, size=240)
servers.loc[rng.random(240) < 0.05, "memory"] = np.nan
today, tomorrow = servers[:200], servers[200:]
today.head()

# %%
# Read the frame
# --------------
#
# ``read_dataset`` scales numbers, fills gaps, and makes words and yes or no comparable.
# It says what it did. Frames of polars, pyarrow and others work in the same way.

dataset = read_dataset(today)
place = PCA(2).fit_transform(dataset.X)  # for a map
dataset

# %%
# Answer
# ------
#
# In a notebook, ``session.widget()`` shows the page below the cell, and
# ``cobras.serve(today)`` opens it in a browser and gives the session back when you
# close it. Or write your own loop of ``ask`` and ``tell``; ``run`` is one in which an
# oracle answers, here the kinds of load. A session shows itself:

session = Session(dataset, random_state=0)
run(session, LabelOracle(kind[:200]), until=lambda s: s.n_answers >= 25)
session

# %%
# The map before, during and after. Words and yes or no make the two strips. After one
# answer there were only two clusters: the first questions find out how fine you want
# it.

_, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for axis, n in zip(axes, [0, 1, 25], strict=True):
    ids = np.take(session.cluster_ids_at(n), session.labels_at(n))
    axis.scatter(*place.T, c=ids % 20, cmap="tab20", vmin=0, vmax=19, s=14)
    axis.set(title=f"{n} answers: {len(set(ids))} clusters", xticks=[], yticks=[])

# %%
# Labels for the frame
# --------------------
#
# The result is a pandas frame again, with its index.

result = session.to_frame()
result.groupby("cluster")[["cpu", "memory", "requests"]].mean().round(1)

# %%
# Of which rows is it least sure? These are worth a look; ``session.move`` puts one
# elsewhere.

today.assign(cluster=session.labels_, sure=session.confidence_.round(2)).nsmallest(
    4, "sure"
)

# %%
# The rows of tomorrow
# --------------------
#
# ``predict`` labels them and leaves the session as it is. ``append`` takes them in:
# then later questions are about them, too, and old rows keep their clusters until you
# answer.

score = adjusted_rand_score(kind[200:], session.predict(tomorrow))
session.append(tomorrow)
print(f"{session.n_answers} answers, {len(session.labels_)} rows now")
print(f"adjusted Rand index of the new ones: {score:.2f}")
assert score > 0.9

# %%
# ``Session.open("servers.cobras", dataset)`` keeps the answers in a file, also when the
# kernel dies. More: :doc:`/guides/library` on estimators for pipelines, frames and
# earlier labels, :doc:`/guides/sessions` on all that a session can do.
