"""Reading results, and comparing only what can be compared."""

import numpy as np
import polars as pl
import pytest

from cobras.bench.report.summary import read_summary
from cobras.core.exceptions import InvalidDataError
from tests.bench.made_results import FAMILY, PAPER, cobras, costing, write_results


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """COBRAS and COBRA ran six repetitions, the others one; COBS lacks a task, COSC-NPU two of three."""
    return write_results(
        tmp_path_factory.mktemp("paper") / "results",
        repetitions={method: 6 if method in FAMILY else 1 for method in PAPER},
        without=[("hard", "COBS"), ("easy", "COSC-NPU"), ("hard", "COSC-NPU")],
        queries=60,
    )


@pytest.fixture(scope="module")
def summary(folder):
    return read_summary(folder)


@pytest.fixture(scope="module")
def frame(folder):
    return pl.concat([pl.read_parquet(file) for file in (folder / "results").iterdir()])


class TestReading:
    def test_tasks_grow_and_methods_follow_the_paper(self, summary):
        assert [task.name for task in summary.tasks] == ["easy", "medium", "hard"]
        assert summary.methods == tuple(PAPER)
        assert (summary.name, summary.n_queries, summary.n_folds) == ("fabricated", 60, 10)

    def test_methods_of_others_come_last(self, tmp_path):
        mine = write_results(tmp_path / "x", {"Mine": PAPER["COBS"], "COBS": PAPER["COBS"]}, queries=2)
        assert read_summary(mine).methods == ("COBS", "Mine")

    def test_each_run_has_its_own_curve(self, summary, frame):
        for row in (0, 7, len(summary.runs) - 1):
            run = summary.runs.row(row, named=True)
            key = [pl.col(name) == run[name] for name in ("task", "method", "repetition", "fold")]
            rows = frame.filter(*key).sort("query")
            np.testing.assert_array_equal(summary.ari[row], rows["ari"])
            np.testing.assert_array_equal(summary.seconds[row], rows["seconds"])

    def test_the_order_of_rows_does_not_matter(self, summary, frame, folder, tmp_path):
        (tmp_path / "results").mkdir()
        frame.sample(fraction=1, shuffle=True, seed=0).write_parquet(tmp_path / "results" / "all.parquet")
        pl.read_parquet(folder / "runs.parquet").reverse().write_parquet(tmp_path / "runs.parquet")
        again = read_summary(tmp_path)  # without about.json
        np.testing.assert_array_equal(again.ari, summary.ari)
        assert (again.n_folds, again.name) == (10, tmp_path.name)

    def test_an_empty_folder_is_refused(self, tmp_path):
        with pytest.raises(InvalidDataError, match="holds no results"):
            read_summary(tmp_path / "nowhere")

    @pytest.mark.parametrize("damage", ["row missing", "row twice", "run missing", "other run"])
    def test_results_that_are_not_whole_are_refused(self, tmp_path, damage):
        found = write_results(tmp_path / "x", {"COBRAS": PAPER["COBRAS"]}, queries=3)
        rows, runs = found / "results" / "COBRAS.parquet", found / "runs.parquet"
        frame, listed = pl.read_parquet(rows), pl.read_parquet(runs)
        match damage:
            case "row missing":
                frame[1:].write_parquet(rows)
            case "row twice":
                pl.concat([frame[1:], frame[-1:]]).write_parquet(rows)
            case "run missing":
                listed[1:].write_parquet(runs)
            case "other run":
                listed.with_columns(pl.col("fold") + 1).write_parquet(runs)
        with pytest.raises(InvalidDataError, match="not whole"):
            read_summary(found)


class TestFairness:
    def test_what_cannot_be_compared_is_left_out_and_named(self, summary):
        comparable = summary.comparable(summary.methods)
        assert "COSC-NPU" not in comparable.methods
        assert len(comparable.methods) == len(PAPER) - 1
        assert comparable.tasks == ("easy", "medium")
        assert comparable.left_out[0] == "COSC-NPU is left out: it ran on 1 of 3 tasks only."
        assert comparable.left_out[1].endswith(": hard.")

    def test_what_is_complete_leaves_nothing_out(self, summary):
        assert summary.comparable(FAMILY) == (FAMILY, ("easy", "medium", "hard"), ())

    def test_ranks_use_the_common_folds_only(self, summary, frame):
        ranking = summary.ranking
        assert ranking.n_common == (10, 10)
        first = frame.filter(pl.col("repetition") == 0, pl.col("query") == 50)
        for i, task in enumerate(ranking.tasks):
            for j, method in enumerate(ranking.methods):
                scores = first.filter(pl.col("task") == task, pl.col("method") == method)["ari"]
                assert ranking.Z[i, j, 50] == pytest.approx(scores.mean(), abs=1e-6)

    def test_rank_intervals_hold_the_ranks_and_stay_possible(self, summary):
        ranking = summary.ranking
        low, high = ranking.interval
        assert (low <= ranking.ranks).all()
        assert (ranking.ranks <= high).all()
        n, k = ranking.Z.shape[:2]
        assert low.min() >= (n + 1) / 2
        assert high.max() <= n * k - (n - 1) / 2

    def test_methods_without_a_common_task_have_no_ranking(self, tmp_path):
        two = {"COBRAS": PAPER["COBRAS"], "COBS": PAPER["COBS"]}
        apart = [("easy", "COBRAS"), ("hard", "COBS")]
        summary = read_summary(
            write_results(tmp_path / "x", two, tasks=("easy", "hard"), queries=3, without=apart)
        )
        assert summary.ranking is None
        assert summary.run_time_ratios("COBRAS", "COBS", 3) == {}


class TestComparisons:
    def test_a_difference_is_taken_fold_by_fold(self, summary, frame):
        lead, per_task = summary.difference("COBRAS", "COBS", [20, 30])
        wide = (
            frame.filter(pl.col("query").is_in([20, 30]), pl.col("repetition") == 0, pl.col("task") != "hard")
            .group_by("task", "method", maintain_order=True)
            .agg(pl.col("ari").cast(pl.Float64).mean())
            .pivot("method", index="task", values="ari")
            .sort("task")
        )
        np.testing.assert_allclose(np.sort(per_task), np.sort((wide["COBRAS"] - wide["COBS"]).to_numpy()))
        assert lead.value == pytest.approx(per_task.mean())

    def test_a_shared_disturbance_cancels(self, tmp_path):
        two = {"COBRAS": PAPER["COBRAS"], "COBRA-10": (lambda q: cobras(q) - 0.1, costing(1, 1))}
        exact = read_summary(write_results(tmp_path / "x", two, queries=5, noise=0))
        lead, per_task = exact.difference("COBRAS", "COBRA-10", [5])
        np.testing.assert_allclose(per_task, [0.1, 0.075, 0.05], atol=1e-6)
        assert lead.half_width == pytest.approx(0, abs=1e-6)

    def test_ratios_are_first_over_second_on_common_folds(self, summary, frame):
        found = summary.run_time_ratios("COBRAS", "COBS", 60)
        assert list(found) == ["easy", "medium"]
        last = frame.filter(pl.col("query") == 60, pl.col("repetition") == 0, pl.col("task") == "easy")
        ours, theirs = (last.filter(pl.col("method") == m)["seconds"].median() for m in ("COBRAS", "COBS"))
        assert found["easy"] == pytest.approx(ours / theirs)
        assert found["easy"] < 1

    def test_times_too_short_to_be_measured_give_no_ratio(self, tmp_path):
        two = {"COBRAS": PAPER["COBRAS"], "Instant": (cobras, costing(0, 0))}
        summary = read_summary(write_results(tmp_path / "x", two, queries=3))
        assert summary.run_time_ratios("COBRAS", "Instant", 3) == {}

    def test_each_query_has_its_own_lead(self, summary):
        every = summary.lead_per_query("COBRAS", "COBS")
        for q in (0, 7, 60):
            alone, _ = summary.difference("COBRAS", "COBS", [q])
            np.testing.assert_allclose([part[q] for part in every], alone, atol=1e-9)

    def test_a_difference_on_some_tasks(self, summary):
        _, per_task = summary.difference("COBRAS", "COBS", [20])
        lead, alone = summary.difference("COBRAS", "COBS", [20], ["medium"])
        assert alone.tolist() == [lead.value] == [per_task[1]]

    def test_runs_are_frozen_after_their_last_answer(self, tmp_path):
        slow = {"COSC-NPU": (cobras, costing(1, 3)), "COBRAS": PAPER["COBRAS"]}
        summary = read_summary(write_results(tmp_path / "x", slow, queries=20, limit=61))
        for tasks in (["easy"], ["easy", "medium", "hard"], []):
            runs = summary.runs.filter(pl.col("method") == "COSC-NPU", pl.col("task").is_in(tasks))
            given = runs.filter("cut_off")["n_queries"].to_list()
            expected = [sum(n < q for n in given) / max(len(runs), 1) for q in range(21)]
            np.testing.assert_allclose(summary.frozen_shares("COSC-NPU", tasks), expected)
        assert 0 < summary.frozen_shares("COSC-NPU", ["easy", "hard"])[20] < 1
        assert not summary.frozen_shares("COBRAS", ["easy", "hard"]).any()
        # A frozen point repeats the one before.
        row = int(summary.runs["n_queries"].arg_min())
        last = summary.runs["n_queries"][row]
        assert (summary.ari[row, last:] == summary.ari[row, last]).all()

    def test_waits_count_given_answers_only(self, tmp_path):
        slow = {"COSC-NPU": (cobras, costing(1, 3))}
        summary = read_summary(write_results(tmp_path / "x", slow, queries=20, limit=31))
        assert len(summary.waiting_times("COSC-NPU")) == summary.runs["n_queries"].sum()
        assert summary.waiting_times("COSC-NPU", "easy").min() > 1
        assert summary.runs["cut_off"].any()
