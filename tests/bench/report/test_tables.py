"""Tables of all methods: points that a time limit froze are marked, and no others."""

import pytest

from cobras.bench.report import write_report
from cobras.bench.report.summary import read_summary
from cobras.bench.report.tables import aligned_rank, ari_per_task, mean_ari
from tests.bench.made_results import PAPER, costing, steady, write_results

LIMIT = 1400.0  # seconds; COSC-NPU reaches it on the two larger tasks only


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    slow = {"COSC-NPU": (steady(0.3, 0.42), costing(1, 3))}
    return write_results(tmp_path_factory.mktemp("tables") / "x", PAPER | slow, limit=LIMIT)


@pytest.fixture(scope="module")
def summary(folder):
    return read_summary(folder)


def marked(table):
    """The cells with a mark, by the name of the row and the column."""
    return {
        (row[0], name)
        for row in table.rows
        for name, cell in zip(table.header[1:], row[1:], strict=True)
        if cell.endswith("†")
    }


def test_frozen_points_are_marked_and_no_others(summary):
    tasks = [task.name for task in summary.tasks]
    share = summary.frozen_shares("COSC-NPU", tasks)
    assert 0 < share[-1] < 1
    at = [q for q in (10, 25, 50, 100, 250) if share[q]]
    assert 0 < len(at) < 5
    expected = {("COSC-NPU", f"{q} queries") for q in at}
    assert marked(mean_ari(summary)) == expected | {("COSC-NPU", "AUC")}
    assert marked(aligned_rank(summary)) == expected
    first = next(q for q in range(251) if share[q])
    for table in (mean_ari(summary), aligned_rank(summary)):
        assert f"COSC-NPU from {first} queries on" in table.caption


def test_tasks_are_marked_by_their_own_runs(summary):
    for table, q in zip(ari_per_task(summary), (10, 25, 50, 100, 250, 250), strict=True):
        frozen = {t.name for t in summary.tasks if summary.frozen_shares("COSC-NPU", [t.name])[q]}
        rows = frozen | ({"mean of 3 tasks"} if frozen else set())
        assert marked(table) == {(name, "COSC-NPU") for name in rows}, table.title
        assert ("frozen" in table.caption) == bool(frozen)
    assert frozen == {"medium", "hard"}


def test_a_mark_is_told_with_the_claim_it_touches(folder):
    page = write_report(folder).with_name("report.md").read_text(encoding="utf-8")
    assert "of its runs were cut off by the time limit" in page


def test_without_a_limit_nothing_is_marked(tmp_path):
    folder = write_results(tmp_path / "x")
    page = write_report(folder).with_name("report.md").read_text(encoding="utf-8")
    for word in ("†", "frozen", "were cut off"):
        assert word not in page
