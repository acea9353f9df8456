"""A table with numbers, words, dates and gaps: the wines of scikit-learn with a few columns more.

The true classes answer the questions here; a person would run `cobras ask wines.csv --label cultivar`.
"""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

from cobras import LabelOracle, Session, read_dataset, run

wines = load_wine()
rng = np.random.default_rng(0)
n = len(wines.data)
table = pl.DataFrame(wines.data, schema=list(wines.feature_names)).with_columns(
    bottle=pl.Series([f"bottle {k}" for k in rng.permutation(n)]),
    cellar=pl.Series(rng.choice(["north", "south"], n)),
    bought=pl.Series(np.datetime64("2020-01-01") + rng.integers(900, size=n).astype("m8[D]")),
    country=pl.lit("Italy"),
    cultivar=pl.Series(wines.target_names[wines.target]),
)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "wines.csv")
    table.write_csv(path)
    dataset = read_dataset(path, label="cultivar", id="bottle", drop=["cellar", "bought"])

print(*dataset.notes, sep="\n")
print(dataset.show(0))
session = Session(dataset.X, random_state=0)
run(session, LabelOracle(dataset.labels), until=lambda s: s.n_answers >= 40)
score = adjusted_rand_score(dataset.labels, session.labels_)
print(f"{session.n_answers} answers, ARI {score:.2f}")
assert score > 0.7
