"""What sessions, clusterings, data sets and estimators show of themselves, in a terminal and in a notebook."""

import re

import numpy as np
import polars as pl
import pytest

from cobras import ADDER, COBRAS, NPU, LabelOracle, MPCKMeans, Session, read_dataset, run
from cobras.core.notebook import N_SHOWN, cluster_rows, show_html

X = np.repeat([[0.0], [5.0]], 6, axis=0) + np.linspace(0, 0.5, 12)[:, None]
y = np.repeat([0, 1], 6)


def cells(html):
    """The rows of the table, and the lines below it."""
    rows = [re.findall(r"<t[hd]>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", html)]
    return rows, re.findall(r"<p>(.*?)</p>", html)


def test_a_session():
    session = Session(X, "cobras", 0)
    assert repr(session) == "Session(12 rows, cobras after 0 answers)"  # nothing is computed for it
    pair = session.ask()
    assert repr(session) == f"Session(12 rows, cobras, 1 cluster after 0 answers, next ({pair.i}, {pair.j}))"
    run(session, LabelOracle(y), until=lambda s: s.partition.n_clusters == 2)
    session.name(0, "<script>")
    session.mark(1, complete=True)
    html = session._repr_html_()
    assert re.search(r"<strong>2 clusters of 12 rows after \d+ answers?</strong>", html)
    rows, lines = cells(html)
    assert rows == [
        ["cluster", "rows", "name", "mark"],
        ["0", "6", "&lt;script&gt;", ""],
        ["1", "6", "", "complete"],
    ]
    following = session.ask()
    assert lines[-1].startswith(f"Next: do rows {following.i} and {following.j} belong together?")
    session.mark(1)
    run(session, LabelOracle(y))
    assert cells(session._repr_html_())[1][-1] == "You may stop. Nothing is left worth asking."


def test_a_clustering():
    session = run(Session(X, "cobras", 0), LabelOracle(y), until=lambda s: s.partition.n_clusters == 2)
    assert repr(session.partition) == "Partition(2 clusters of 6, 6 rows)"
    assert cells(session.partition._repr_html_())[0][1:] == [["0", "6"], ["1", "6"]]
    told = {row for record in session.history for row in record.pair}
    session.move([next(row for row in range(6) if row not in told)], to=1)
    assert repr(session.partition) == "EditedPartition(2 clusters of 7, 5 rows)"


def test_a_data_set():
    frame = pl.DataFrame({"x": [1.0, 2.0, 4.0], "<b>": ["a", "b", "c"], "kind": [0, 1, 1]})
    dataset = read_dataset(frame, label="kind")
    assert repr(dataset) == "Dataset(table: 3 rows x 1 feature, label 'kind')"
    rows, lines = cells(dataset._repr_html_())
    assert [row[:3] for row in rows[1:]] == [
        ["x", "used", "number"],
        ["&lt;b&gt;", "ignored", "text"],
        ["kind", "label", "number"],
    ]
    assert len(lines) == len(dataset.notes)


@pytest.mark.parametrize("estimator", [COBRAS(8), ADDER(8), NPU(MPCKMeans(2), max_queries=4, n_trees=5)])
def test_an_estimator(estimator):
    name = type(estimator).__name__
    assert repr(estimator).startswith(f"{name}(")
    assert name in estimator._repr_html_()
    fitted = estimator.set_params(random_state=0).fit(X, y)
    shown = fitted._repr_mimebundle_()
    assert shown["text/plain"] == repr(fitted)
    queries = f"{fitted.n_queries_} quer{'y' if fitted.n_queries_ == 1 else 'ies'}"
    assert f"{fitted.n_clusters_} clusters of 12 rows after {queries}" in shown["text/html"]


def test_many_clusters_are_cut():
    columns, rows = cluster_rows([1] * 30, ids=range(5, 35))
    assert columns == ["cluster", "rows", "id"]
    html = show_html("30 clusters", columns, rows)
    assert html.count("<tr>") == N_SHOWN + 1
    assert "<p>and 10 more</p>" in html
