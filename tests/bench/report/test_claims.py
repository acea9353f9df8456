"""The check-list: data in which a claim holds, and data in which it does not."""

import numpy as np
import polars as pl
import pytest

from cobras.bench.report import write_report
from cobras.bench.report.claims import check_claims, leads_of_cobra
from cobras.bench.report.pages import Verdict
from cobras.bench.report.summary import read_summary
from tests.bench.made_results import FAMILY, PAPER, cobra, cobras, costing, steady, write_results

EFFICIENT, NEAR_10, NEAR_25, NEAR_50, NPU, FASTEST, COBS, INTERACTIVE, ANYTIME = range(9)


def checks(folder, methods=None, **how):
    return check_claims(
        read_summary(write_results(folder / "x", PAPER if methods is None else methods, **how))
    )


def verdicts(*args, **how):
    return [check.verdict for check in checks(*args, **how)]


def test_all_hold_where_they_should(tmp_path):
    assert verdicts(tmp_path) == [Verdict.HOLDS] * 9


# What is changed in data where all claims hold, and the claims that then fail.
BROKEN = {
    "an NPU method is best": ({"COSC-NPU": (steady(0.95, 0.95), costing(1, 3))}, {EFFICIENT}),
    "COBRA-10 leads by far": ({"COBRA-10": (cobra(10, lead=0.3), costing(0.05, 0.0002))}, {NEAR_10}),
    "COBRA-25 never leads": ({"COBRA-25": (lambda q: cobras(q) - 0.1, costing(0.06, 0.0003))}, {NEAR_25}),
    "COBRA-50 stays ahead": (
        {"COBRA-50": (lambda q: cobra(50)(q) + 0.15 * (q > 80), costing(0.08, 0.0004))},
        {EFFICIENT, NEAR_50, ANYTIME},
    ),
    "NPU methods learn late": ({"MPCKMeans-NPU": (steady(0.0, 0.6), costing(0.1, 0.3))}, {NPU}),
    "COBRAS is slow": ({"COBRAS": (cobras, costing(1, 8))}, {FASTEST, INTERACTIVE}),
    "COBS is slow at every query": ({"COBS": (steady(0.1, 0.5), costing(30, 5))}, {COBS}),
    "COBS has no pool to build": ({"COBS": (steady(0.1, 0.5), costing(0.1, 0.1))}, {COBS}),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_claim_that_the_data_contradict_does_not_hold(tmp_path, case):
    change, broken = BROKEN[case]
    found = verdicts(tmp_path, PAPER | change)
    assert {i for i, verdict in enumerate(found) if verdict is Verdict.FAILS} == broken
    unclear = {i for i, verdict in enumerate(found) if verdict is not Verdict.HOLDS} - broken
    assert unclear == ({NPU} if case == "an NPU method is best" else set())  # it is no better early than late


def test_a_difference_within_the_error_is_unclear(tmp_path):
    same = {method: (cobras, costing(1, 0.01)) for method in FAMILY}
    found = verdicts(tmp_path, same, noise=0.1)
    assert found[ANYTIME] is Verdict.UNCLEAR


def test_one_fold_proves_nothing(tmp_path):
    once = dict.fromkeys(PAPER, 1)
    found = verdicts(tmp_path, repetitions=once, folds=1)
    assert found[NEAR_10 : NEAR_50 + 1] == [Verdict.UNCLEAR] * 3
    assert found[ANYTIME] is Verdict.UNCLEAR


@pytest.mark.parametrize(
    ("methods", "measured"),
    [
        (FAMILY, {NEAR_10, NEAR_25, NEAR_50, FASTEST, INTERACTIVE, ANYTIME}),
        (("COBRAS",), {INTERACTIVE}),
        (("COBRAS", "COBS"), {EFFICIENT, FASTEST, COBS, INTERACTIVE}),
        (("COBS", "COSC-NPU"), {NPU, COBS}),
        (("COBRA-25", "COBS"), {COBS}),
    ],
)
def test_what_did_not_run_is_not_measured(tmp_path, methods, measured):
    found = checks(tmp_path, {method: PAPER[method] for method in methods})
    assert {i for i, check in enumerate(found) if check.verdict is not Verdict.NOT_MEASURED} == measured
    assert all(check.missing for i, check in enumerate(found) if i not in measured)


def test_methods_of_others_do_not_touch_the_paper(tmp_path):
    mine = {"Mine": (steady(0.99, 0.99), costing(0, 1e-5))}
    assert verdicts(tmp_path, PAPER | mine) == [Verdict.HOLDS] * 9


def claims_of(page):
    text = page.with_name("report.md").read_text(encoding="utf-8")
    return text[text.index("## What the paper claims") : text.index("## Figures")]


def test_a_report_with_another_method_has_the_same_verdicts_and_figures(tmp_path):
    """Another method that is better than all, ran fewer folds, lacks a task of the paper and has one of its own."""
    repetitions = {method: 3 if method in FAMILY else 2 for method in PAPER}
    paper = write_results(tmp_path / "paper", noise=0.05, repetitions=repetitions)
    mine = write_results(
        tmp_path / "mine",
        {"Mine": (steady(0.99, 0.99), costing(0, 1e-5))},
        tasks=("easy", "medium", "hardest"),
        repetitions={"Mine": 1},
    )
    alone, joint = read_summary(paper), read_summary(mine, paper)
    assert joint.ranking.methods == (*alone.ranking.methods, "Mine")
    assert check_claims(joint) == check_claims(alone)
    first = write_report(paper, out=tmp_path / "a")
    assert claims_of(write_report(mine, paper, out=tmp_path / "b")) == claims_of(first)


def test_only_methods_of_others(tmp_path):
    assert verdicts(tmp_path, {"Mine": PAPER["COBS"]}, queries=5) == [Verdict.NOT_MEASURED] * 9


def test_a_small_budget_leaves_claims_about_many_queries_open(tmp_path):
    found = verdicts(tmp_path, queries=30)
    assert [found[i] for i in (NEAR_10, NEAR_25, NEAR_50, NPU, ANYTIME)] == [
        Verdict.HOLDS,
        *[Verdict.NOT_MEASURED] * 4,
    ]


def test_a_method_without_a_common_task_is_not_compared(tmp_path):
    apart = [("easy", "COBRA-10"), ("medium", "COBRA-10"), ("hard", "COBRAS")]
    found = checks(tmp_path, {m: PAPER[m] for m in ("COBRAS", "COBRA-10")}, without=apart)
    assert found[NEAR_10].missing == "COBRAS and COBRA-10 have no task and fold in common."
    assert found[ANYTIME].verdict is Verdict.NOT_MEASURED


def test_runs_without_a_question_are_survived(tmp_path):
    found = checks(tmp_path, {m: PAPER[m] for m in ("COBRAS", "COBS")}, limit=1e-9, queries=5)
    assert found[INTERACTIVE].verdict is Verdict.NOT_MEASURED
    assert found[COBS].verdict is Verdict.UNCLEAR


def test_figures_come_with_their_error(tmp_path):
    tasks = ("first", "second", "third", "fourth")
    change = {"COBRA-10": (cobra(10, 0.04), costing(1, 1))}
    near = checks(tmp_path, PAPER | change, noise=0, tasks=tasks)[NEAR_10].parts[0]
    lead = (cobra(10, 0.04)(10) - cobras(10)) * np.mean([1, 5 / 6, 4 / 6, 0.5])
    assert near.text == f"COBRA-10 minus COBRAS at 10 queries: {lead:.3f} ± 0.000 (ahead on 4 of 4 tasks)"


def ahead_until(last):
    """COBRA-50 above COBRAS by 0.04 at 50 to `last` queries and below it by 0.1 elsewhere, on the easiest task."""
    return {"COBRA-50": (lambda q: cobras(q) + np.where((q >= 50) & (q <= last), 0.04, -0.1), costing(1, 1))}


def test_a_lead_beyond_its_place_contradicts_elsewhere_even_if_the_mean_does_not(tmp_path):
    """From 100 to 250 queries COBRA-50 is behind on average, but ahead at 100 to 129."""
    check = checks(tmp_path, PAPER | ahead_until(129))[NEAR_50]
    assert check.verdict is Verdict.FAILS
    assert [part.true for part in check.parts] == [True, True, True, False]
    assert "queries: -0." in check.parts[-1].text
    assert check.parts[-1].text.endswith("at 130 to 250; higher by more than the error at 100 to 129")
    assert checks(tmp_path / "short", PAPER | ahead_until(99))[NEAR_50].verdict is Verdict.HOLDS


def test_the_lead_is_judged_at_the_size_itself(tmp_path):
    late = {"COBRA-25": (lambda q: cobras(q) + np.where((q > 25) & (q < 40), 0.03, -0.1), costing(1, 1))}
    assert checks(tmp_path, PAPER | late)[NEAR_25].parts[0].true is False


def test_where_cobra_is_ahead_is_said_with_its_error(tmp_path):
    never = {"COBRA-10": (lambda q: cobras(q) - 0.1, costing(1, 1)), "Mine": PAPER["COBS"]}
    folder = write_results(tmp_path / "x", {"COBRAS": PAPER["COBRAS"], **ahead_until(129), **never}, noise=0)
    behind, ahead = leads_of_cobra(read_summary(folder))
    assert behind == "COBRA-10 is nowhere ahead of COBRAS from 5 queries on."
    words = "The mean ARI of COBRA-50 is above that of COBRAS at 50 to 129 queries"
    assert ahead.startswith(f"{words}, and by more than the error at 50 to 129: ")
    assert ahead.endswith("0.030 ± 0.000 at 100 queries.")  # 0.04 times the mean scale of the tasks
    assert ahead in write_report(folder).with_name("report.md").read_text(encoding="utf-8")


def test_one_slow_task_is_enough_to_spoil_interaction(tmp_path):
    """Two of twenty runs on one of three tasks: few of all answers, too many of that task's."""
    folder = write_results(tmp_path / "x", {"COBRAS": PAPER["COBRAS"]})
    file = folder / "results" / "COBRAS.parquet"
    slow = (pl.col("task") == "hard") & (pl.col("repetition") == 0) & (pl.col("fold") < 2)
    frame = pl.read_parquet(file)
    frame.with_columns(
        pl.when(slow).then(pl.col("seconds") * 1000).otherwise("seconds").alias("seconds")
    ).write_parquet(file)
    check = check_claims(read_summary(folder))[INTERACTIVE]
    assert [part.true for part in check.parts] == [True, False]
    assert "hard" in check.parts[1].text
