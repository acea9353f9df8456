"""A method beside COBRAS, its variants, and reports on several experiments."""

import json

import numpy as np
import pytest

from cobras import InvalidDataError
from cobras.bench.report import write_report
from cobras.bench.report.comparisons import comparison_tables, leave_one_task_out, variants_of_methods
from cobras.bench.report.pages import Table
from cobras.bench.report.summary import read_summary
from cobras.bench.results import KEY
from tests.bench.made_results import costing, steady, write_results


def experiment(folder, methods, **options):
    given = {"queries": 20, "repetitions": dict.fromkeys(methods, 2), "folds": 3, "noise": 0.0} | options
    return write_results(folder, methods, **given)


def test_the_lead_is_the_difference_fold_by_fold(tmp_path):
    ours = {"COBRAS": (steady(0.2, 0.5), costing(1, 1)), "Mine": (steady(0.3, 0.6), costing(1, 1))}
    summary = read_summary(experiment(tmp_path / "x", ours))
    table, text = comparison_tables(summary)
    assert isinstance(table, Table)
    assert isinstance(text, str)
    lead, per_task = summary.difference("Mine", "COBRAS", [10])
    row = next(row for row in table.rows if row[0] == "10")
    assert row[1].startswith(f"{float(lead.value):.3f}")
    assert f"{per_task.min():+.3f}" in row[4]
    assert row[3].startswith(f"{int((per_task > 0).sum())} of ")
    assert "Mine over COBRAS" in text
    assert "best aligned rank at 100 % of" in text


def test_the_lead_is_also_told_as_a_median_and_without_the_faces(tmp_path):
    tasks = ("wine", "faces-pose", "glass", "faces-eyes", "sonar")
    ours = {"COBRAS": (steady(0.2, 0.5), costing(1, 1)), "Mine": (steady(0.3, 0.9), costing(1, 1))}
    summary = read_summary(experiment(tmp_path / "x", ours, tasks=tasks, noise=0.02))
    table = comparison_tables(summary)[0]
    assert table.header[1:4] == ("lead in mean ARI", "without faces", "median task")
    assert "the mean over the other 3 tasks" in table.caption
    _, per_task = summary.difference("Mine", "COBRAS", [10])
    row = next(row for row in table.rows if row[0] == "10")
    assert row[1].startswith(f"{per_task.mean():.3f} ±")
    assert row[2].startswith(f"{per_task[[0, 2, 4]].mean():.3f} ±")
    assert row[3] == f"{sorted(per_task)[2]:.3f}"


def test_without_faces_there_is_no_such_column(tmp_path):
    ours = {"COBRAS": (steady(0.2, 0.5), costing(1, 1)), "Mine": (steady(0.3, 0.6), costing(1, 1))}
    for k, tasks in enumerate((("wine", "glass"), ("faces-pose", "faces-eyes"))):
        table = comparison_tables(read_summary(experiment(tmp_path / str(k), ours, tasks=tasks)))[0]
        assert table.header[1:3] == ("lead in mean ARI", "median task")
        assert all(len(row) == len(table.header) for row in table.rows)


def test_frozen_points_of_a_comparison_are_marked(tmp_path):
    ours = {"COBRAS": (steady(0.2, 0.5), costing(0, 0.01)), "Mine": (steady(0.3, 0.6), costing(1, 1))}
    summary = read_summary(experiment(tmp_path / "x", ours, limit=30))
    table = comparison_tables(summary)[0]
    share = summary.frozen_shares("Mine", ["easy", "medium", "hard"])
    queries = [row[0] for row in table.rows]
    assert queries == [f"{q} †" if share[q] else str(q) for q in (5, 10, 15)]
    assert "†" in queries[-1]
    assert "†: frozen points" in table.caption


def test_methods_of_the_paper_have_no_such_table(tmp_path):
    ours = {"COBRAS": (steady(0.2, 0.5), costing(1, 1)), "COBRA-10": (steady(0.3, 0.6), costing(1, 1))}
    assert comparison_tables(read_summary(experiment(tmp_path / "x", ours))) == []


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


def test_experiments_with_other_budgets_are_cut_to_the_smallest(tmp_path):
    ours = {"COBRAS": (steady(0.2, 0.5), costing(1, 1)), "Mine": (steady(0.3, 0.6), costing(1, 1))}
    long = experiment(tmp_path / "long", {"COBRAS": ours["COBRAS"]})
    short = experiment(tmp_path / "short", {"Mine": ours["Mine"]}, queries=12)
    together = read_summary(long, short)
    assert together.n_queries == 12
    for folder, method in ((long, "COBRAS"), (short, "Mine")):
        alone = read_summary(folder)
        rows = (together.runs["method"] == method).to_numpy()
        np.testing.assert_array_equal(together.ari[rows], alone.ari[:, :13])
        np.testing.assert_array_equal(together.seconds[rows], alone.seconds[:, :13])
    assert "12 queries" in write_report(long, short, out=tmp_path / "out").read_text(encoding="utf-8")


FAMILY = {"Mine": {}, "weak": {"part": False}, "fine": {"size": 2}}  # parameters
# What each has on each task, whatever the number of queries.
LEVELS = {
    "a": {"COBRAS": 0.3, "Mine": 0.40, "weak": 0.30, "fine": 0.80},
    "b": {"COBRAS": 0.3, "Mine": 0.50, "weak": 0.30, "fine": 0.45},
    "c": {"COBRAS": 0.3, "Mine": 0.60, "weak": 0.55, "fine": 0.50},
}


def family(folder, levels=LEVELS, **options):
    """Mine with two variants beside COBRAS: one folder per task."""
    contestants = [{"name": name, "use": "mine.Mine", "parameters": given} for name, given in FAMILY.items()]
    contestants.append({"name": "COBRAS", "use": "cobras.COBRAS", "parameters": {}})
    folders = []
    for task, level in levels.items():
        curves = {name: (steady(value, value), costing(1, 1)) for name, value in level.items()}
        folders.append(experiment(folder / task, curves, tasks=(task,), **options))
        about = json.loads((folders[-1] / "about.json").read_text())
        about["experiment"]["contestants"] = contestants
        (folders[-1] / "about.json").write_text(json.dumps(about))
    return folders


def titled(blocks, title):
    return next(block for block in blocks if isinstance(block, Table) and block.title == title)


def test_variants_are_the_same_estimator_with_parameters(tmp_path):
    summary = read_summary(*family(tmp_path))
    assert variants_of_methods(summary) == {"Mine": ("weak", "fine")}
    titles = [block.title for block in comparison_tables(summary) if isinstance(block, Table)]
    assert titles == ["Mine minus COBRAS", "Mine minus its variants", "Mine by leave-one-task-out"]
    assert not any("aligned rank" in block for block in comparison_tables(summary) if isinstance(block, str))


def test_what_a_part_brings_is_the_method_minus_the_variant(tmp_path):
    table = titled(comparison_tables(read_summary(*family(tmp_path))), "Mine minus its variants")
    assert table.header == ("variant", "10 queries", "tasks ahead")
    assert table.rows == (("weak", "0.117 ± 0.000", "3 of 3"), ("fine", "-0.083 ± 0.000", "2 of 3"))


def test_variants_without_cobras_are_compared_with_the_method_alone(tmp_path):
    without = {
        task: {name: v for name, v in level.items() if name != "COBRAS"} for task, level in LEVELS.items()
    }
    blocks = comparison_tables(read_summary(*family(tmp_path, without)))
    assert [block.title for block in blocks] == ["Mine minus its variants"]


def test_each_task_is_judged_by_the_choice_of_the_others(tmp_path):
    """On a alone "fine" is the best, by far: it is chosen for b and c, and not for a, where it would win."""
    summary = read_summary(*family(tmp_path))
    choice = leave_one_task_out(summary, ("Mine", "weak", "fine"), [10, 20])
    assert dict(zip(choice.tasks, choice.chosen, strict=True)) == {"a": "Mine", "b": "fine", "c": "fine"}
    found = dict(zip(choice.tasks, choice.leads[..., 0].T.tolist(), strict=True))
    for task, expected in {"a": (0.1, 0.1), "b": (0.15, 0.2), "c": (0.2, 0.3)}.items():
        assert found[task] == pytest.approx(expected, abs=1e-6)
    blocks = comparison_tables(summary)
    table = titled(blocks, "Mine by leave-one-task-out")
    # Standard errors: 0.05 / sqrt(3) and 0.1 / sqrt(3).
    assert table.rows == (
        ("chosen without the task", "0.150 ± 0.029", "0.150 ± 0.029"),
        ("defaults", "0.200 ± 0.058", "0.200 ± 0.058"),
    )
    assert blocks[-1] == "How often each was chosen: fine 2, Mine 1."


def test_equal_variants_leave_the_defaults(tmp_path):
    equal = {task: {"COBRAS": 0.3} | dict.fromkeys(FAMILY, level["Mine"]) for task, level in LEVELS.items()}
    choice = leave_one_task_out(read_summary(*family(tmp_path, equal)), tuple(FAMILY), [10])
    assert set(choice.chosen) == {"Mine"}
    np.testing.assert_array_equal(*choice.leads)


def test_leave_one_task_out_uses_the_folds_that_all_have_run(tmp_path):
    repetitions = {"COBRAS": 1, "Mine": 3, "weak": 2, "fine": 1}
    summary = read_summary(*family(tmp_path, repetitions=repetitions, noise=0.1))
    points, names = [5, 20], ("Mine", "weak", "fine")
    choice = leave_one_task_out(summary, names, points)
    first = summary.runs["repetition"].to_numpy() == 0

    def mean(method, task, queries):
        mine = (summary.runs["method"] == method).to_numpy() & (summary.runs["task"] == task).to_numpy()
        return summary.ari[mine & first][:, queries].astype(float).mean()

    for x, task in enumerate(choice.tasks):
        others = [other for other in LEVELS if other != task]
        totals = {name: sum(mean(name, other, points) for other in others) for name in names}
        assert choice.chosen[x] == max(totals, key=totals.get)
        for z, name in enumerate((choice.chosen[x], "Mine")):
            expected = [mean(name, task, [q]) - mean("COBRAS", task, [q]) for q in points]
            np.testing.assert_allclose(choice.leads[z, x], expected, atol=1e-6)
    assert "the 9 folds that all" in titled(comparison_tables(summary), "Mine by leave-one-task-out").caption
