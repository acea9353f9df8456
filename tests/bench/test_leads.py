"""A method beside COBRAS, and reports on several experiments."""

import numpy as np
import pytest

from cobras import InvalidDataError
from cobras.bench.leads import leads
from cobras.bench.pages import Table, Text
from cobras.bench.report import write_report
from cobras.bench.results import KEY
from cobras.bench.summary import read_summary
from tests.bench.fabricated import costing, fabricate, steady


def experiment(folder, methods, **options):
    given = {"queries": 20, "repetitions": dict.fromkeys(methods, 2), "folds": 3, "noise": 0.0} | options
    return fabricate(folder, methods, **given)


def test_the_lead_is_the_difference_fold_by_fold(tmp_path):
    ours = {"COBRAS": (steady(0.2, 0.5), costing(1, 1)), "Mine": (steady(0.3, 0.6), costing(1, 1))}
    summary = read_summary(experiment(tmp_path / "x", ours))
    table, text = leads(summary)
    assert isinstance(table, Table)
    assert isinstance(text, Text)
    lead, per_task = summary.difference("Mine", "COBRAS", [10])
    row = next(row for row in table.rows if row[0] == "10")
    assert row[1].startswith(f"{float(lead.value):.3f}")
    assert f"{per_task.min():+.3f}" in row[3]
    assert row[2].startswith(f"{int((per_task > 0).sum())} of ")
    assert "Mine over COBRAS" in text.text


def test_methods_of_the_paper_have_no_such_table(tmp_path):
    ours = {"COBRAS": (steady(0.2, 0.5), costing(1, 1)), "COBRA-10": (steady(0.3, 0.6), costing(1, 1))}
    assert leads(read_summary(experiment(tmp_path / "x", ours))) == []


def test_two_experiments_make_the_same_report_as_one(tmp_path):
    ours = {"COBRAS": (steady(0.2, 0.5), costing(1, 1)), "Mine": (steady(0.3, 0.6), costing(1, 1))}
    both = read_summary(experiment(tmp_path / "both", ours))
    parts = [experiment(tmp_path / name, {name: ours[name]}) for name in ours]
    together = read_summary(*parts)
    assert together.methods == both.methods
    np.testing.assert_array_equal(together.ari, both.ari)
    assert together.runs.select(KEY).equals(both.runs.select(KEY))
    page = write_report(*parts, out=tmp_path / "out")
    assert "Mine minus COBRAS" in page.read_text(encoding="utf-8")


def test_experiments_that_do_not_fit_are_refused(tmp_path):
    mine = {"Mine": (steady(0.3, 0.6), costing(1, 1))}
    first = experiment(tmp_path / "a", mine)
    with pytest.raises(InvalidDataError, match="more than one of"):
        read_summary(first, experiment(tmp_path / "b", mine))
    with pytest.raises(InvalidDataError, match="differ in folds: 3 and 4"):
        read_summary(first, experiment(tmp_path / "c", {"Other": mine["Mine"]}, folds=4))
