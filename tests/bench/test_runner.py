"""The runner: what is written, that a killed run goes on, and that methods of one's own take part."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import adjusted_rand_score

from cobras import COBRAS
from cobras.bench.experiment import read_experiment
from cobras.bench.results import (
    KEY,
    RUN,
    Run,
    collect,
    lock_folder,
    read_about,
    read_results,
    read_runs,
    write_part,
)
from cobras.bench.runner import run_experiment, trials
from cobras.bench.tasks import load_task
from cobras.bench.trial import run_trial
from cobras.core.exceptions import CobrasError, DataChangedError

SMALL = """
tasks = ["generated-blobs", "generated-moons"]
repetitions = 2
folds = 3
queries = 20
[methods.COBRAS]
use = "cobras.COBRAS"
[methods.COBRA-10]
use = "cobras.COBRA"
n_super_instances = 10
repetitions = 1
"""

OWN = '''
import numpy as np
from cobras import Pair
from cobras.methods import Step

def nearest_first(space, constraints, seed, *, size=3):
    """A session method: asks whether parts belong to the first one, and merges nothing."""
    parts = space.split(space.root(seed), size)
    partition = space.partition(np.zeros(space.n, dtype=int))
    for part in parts[1:]:
        yield Step(Pair(parts[0].representative, part.representative), partition)
    while True:
        yield Step(None, partition)

class Slow:
    """An estimator that asks all pairs of its first rows and never learns."""
    def __init__(self, random_state=None, trouble=False):
        self.trouble = trouble
    def fit(self, X, *, oracle=None, train_indices=None):
        import itertools
        from cobras import StopAsking
        if self.trouble:
            raise ZeroDivisionError("no such luck")
        self.labels_per_query_ = [np.zeros(len(X), dtype=int)]
        try:
            for i, j in itertools.combinations(train_indices, 2):
                sum(range(2_000_000))
                oracle(i, j)
                self.labels_per_query_.append(self.labels_per_query_[-1])
        except StopAsking:
            pass
        return self
'''


@pytest.fixture
def toml(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def test_one_row_for_every_run_and_query(toml, tmp_path):
    out = tmp_path / "out"
    assert run_experiment(read_experiment(toml), out, n_jobs=1) == 2 * 3 * (2 + 1)
    rows, runs = read_results(out), read_runs(out)
    assert rows.columns == ["task", "method", "repetition", "fold", "query", "ari", "seconds"]
    assert rows.schema["ari"] == rows.schema["seconds"] == pl.Float32
    assert rows.height == runs.height * 21 == 18 * 21
    assert rows.select(*KEY, "query").is_unique().all()
    assert (rows.sort(*KEY, "query").group_by(KEY).agg(pl.col("seconds").diff().min())["seconds"] >= 0).all()
    assert runs.columns == list(RUN)
    assert not runs["cut_off"].any()
    about = read_about(out)
    assert about["runs"][0]["n_runs"] == 18
    assert {"commit", "python", "packages", "machine", "started", "seconds"} <= about["runs"][0].keys()
    assert run_experiment(read_experiment(toml), out, n_jobs=1) == 0


def test_scores_are_those_of_the_estimator_on_the_test_fold(toml):
    experiment = read_experiment(toml)
    trial = next(o for o in trials(experiment) if o.key == ("generated-moons", "COBRAS", 1, 2))
    run = run_trial(experiment, trial)
    task, train = load_task("generated-moons"), experiment.train_mask(len(trial.task.X), 1, 2)
    est = COBRAS(20, random_state=run.seed).fit(task.X, task.y, train_indices=train)
    expected = [adjusted_rand_score(task.y[~train], labels[~train]) for labels in est.labels_per_query_]
    assert run.aris[: len(expected)] == pytest.approx(expected)
    assert run.aris[len(expected) :] == [run.aris[-1]] * (21 - len(expected))
    assert train[est.queries_[:, :2]].all()


def test_all_methods_get_the_same_folds_and_seeds(toml, tmp_path):
    run_experiment(read_experiment(toml), tmp_path / "out", n_jobs=1)
    seeds = read_runs(tmp_path / "out").group_by("repetition", "fold").agg(pl.col("seed").n_unique())
    assert seeds["seed"].to_list() == [1] * 6


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_killed_run_goes_on_and_ends_the_same(toml, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    run_experiment(read_experiment(toml), whole, n_jobs=1)
    n_written = 0
    for n_parts, when in ((3, "after"), (1, "before"), (5, "after"), (2, "before")):
        command = [sys.executable, "-c", KILLABLE, str(toml), str(broken), str(n_parts), when]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
        n_written += n_parts - (when == "before")
        assert len(read_runs(broken)) + len(list(broken.glob("parts/*.parquet"))) == n_written
    assert 0 < n_written < len(read_runs(whole))
    run_experiment(read_experiment(toml), broken, n_jobs=1)
    assert read_results(whole).drop("seconds").equals(read_results(broken).drop("seconds"))
    assert read_runs(whole).drop("seconds").equals(read_runs(broken).drop("seconds"))
    assert not list(broken.glob("parts/*"))


# Every run is saved as soon as it ends. The process kills itself: from outside, a busy machine could be too late.
KILLABLE = """
import os, signal, sys
from pathlib import Path
from cobras.bench import runner
from cobras.bench.experiment import read_experiment
toml, out, n_parts, when = sys.argv[1:]
write_part, n_calls = runner.write_part, 0
def write_or_be_killed(*given):
    global n_calls
    n_calls += 1
    is_last = n_calls == int(n_parts)
    if is_last and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    write_part(*given)
    if is_last:
        os.kill(os.getpid(), signal.SIGKILL)
runner.SAVE_EVERY, runner.write_part = 0, write_or_be_killed
runner.run_experiment(read_experiment(Path(toml)), Path(out), n_jobs=1)
"""


def test_parts_met_again_add_nothing(tmp_path):
    run = Run("t", "m", 0, 0, 1, 2, 0.5, False, None, 9, 2, 3, [0.0, 0.5, 1.0], [0.1, 0.2, 0.5])
    write_part(tmp_path, [run])
    part = next(tmp_path.glob("parts/*"))
    again = part.read_bytes()
    collect(tmp_path)
    assert not part.exists()
    before = read_results(tmp_path), read_runs(tmp_path)
    part.write_bytes(again)  # as after a kill between writing the result and removing the part
    collect(tmp_path)
    assert read_results(tmp_path).equals(before[0])
    assert read_runs(tmp_path).equals(before[1])
    assert before[0]["query"].to_list() == [0, 1, 2]


def test_methods_of_ones_own_lie_beside_the_file(tmp_path):
    (tmp_path / "mine_for_bench.py").write_text(OWN)
    path = tmp_path / "own.toml"
    path.write_text(
        SMALL
        + '[methods.Mine]\nuse = "mine_for_bench:nearest_first"\nsize = 4\n'
        + '[methods.KMeans]\nuse = "sklearn.cluster.KMeans"\nn_clusters = "classes"\nn_init = 1\n'
    )
    run_experiment(read_experiment(path), tmp_path / "out", methods=["Mine", "KMeans"], n_jobs=2)
    runs = read_runs(tmp_path / "out")
    assert set(runs["method"]) == {"Mine", "KMeans"}
    assert set(runs.filter(method="Mine")["n_queries"]) == {3}
    assert set(runs.filter(method="KMeans")["n_queries"]) == {0}
    assert read_results(tmp_path / "out").filter(method="KMeans", query=20)["ari"].mean() > 0.2


def test_a_run_beyond_its_time_repeats_its_last_clustering(tmp_path):
    (tmp_path / "slow_for_bench.py").write_text(OWN)
    path = tmp_path / "slow.toml"
    path.write_text(SMALL + '[methods.Slow]\nuse = "slow_for_bench.Slow"\nseconds = 0.15\nfirst_folds = 1\n')
    run_experiment(read_experiment(path), tmp_path / "out", methods=["Slow"], n_jobs=1)
    runs = read_runs(tmp_path / "out")
    assert runs["cut_off"].all()
    assert (runs["n_queries"] < 20).all()
    assert set(runs["fold"]) == {0}
    assert read_results(tmp_path / "out").height == runs.height * 21


def test_a_failing_method_is_named_with_its_place_and_the_others_are_kept(tmp_path):
    (tmp_path / "broken_for_bench.py").write_text(OWN)
    path = tmp_path / "broken.toml"
    path.write_text(SMALL + '[methods.Broken]\nuse = "broken_for_bench.Slow"\ntrouble = true\n')
    with pytest.raises(
        CobrasError, match=r"Broken on generated-\w+, repetition 0, fold 0: ZeroDivisionError: no such"
    ):
        run_experiment(read_experiment(path), tmp_path / "out", n_jobs=1)
    assert read_runs(tmp_path / "out").height == 4  # fold 0 of the two methods before it


def test_other_parameters_do_not_mix_with_results_that_are_there(toml, tmp_path):
    out = tmp_path / "out"
    run_experiment(read_experiment(toml), out, methods=["COBRA-10"], n_jobs=1)
    for old, new, word in (
        ("n_super_instances = 10", "n_super_instances = 11", "other parameters of COBRA-10"),
        ("queries = 20", "queries = 30", "queries = 20, not 30"),
    ):
        toml.write_text(SMALL.replace(old, new))
        with pytest.raises(DataChangedError, match=word):
            run_experiment(read_experiment(toml), out, n_jobs=1)
    toml.write_text(SMALL.replace("repetitions = 1", "repetitions = 2"))  # more of the same is welcome
    assert run_experiment(read_experiment(toml), out, methods=["COBRA-10"], n_jobs=1) == 6


def test_two_runs_into_one_folder_are_refused(toml, tmp_path):
    with lock_folder(tmp_path / "out"), pytest.raises(CobrasError, match="Another run is writing"):
        run_experiment(read_experiment(toml), tmp_path / "out", n_jobs=1)


def test_unknown_names_are_refused(toml, tmp_path):
    for names in ({"methods": ["KOBRAS"]}, {"tasks": ["irish"]}):
        with pytest.raises(CobrasError, match="Experiment small has no"):
            run_experiment(read_experiment(toml), tmp_path / "out", **names)


def test_the_quick_experiment_and_its_report_from_the_shell(tmp_path):
    quick = Path(__file__).parents[2] / "examples" / "quick.toml"
    command = [sys.executable, "-m", "cobras", "bench"]
    ran = subprocess.run(
        [*command, "run", quick, "--out", tmp_path, "--json"], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {"folder": str(tmp_path), "n_runs": 3 * (6 * 5 + 1), "n_runs_before": 0}
    best = read_results(tmp_path).filter(query=60).group_by("method").agg(pl.col("ari").mean())
    assert dict(best.iter_rows())["COBRAS"] > 0.5
    done = subprocess.run([*command, "report", tmp_path, "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "COBRA-25" in Path(json.loads(done.stdout)["report"]).read_text()


def test_forecast_counts_what_is_left(toml):
    from cobras.cli.bench import Forecast

    experiment = read_experiment(toml)
    forecast = Forecast(n_jobs=1)
    waiting = trials(experiment)
    assert np.isfinite(forecast.seconds_left())
    forecast.start(waiting, [{"method": "COBRAS", "task": "generated-moons", "seconds": 2.0}])
    assert forecast.seconds_left() == 2.0 * len(waiting)  # all that is known is said of all


def test_results_do_not_depend_on_the_number_of_processes(toml, tmp_path):
    experiment = read_experiment(toml)
    for n_jobs in (1, 2):
        run_experiment(experiment, tmp_path / str(n_jobs), n_jobs=n_jobs)
    one, two = (read_results(tmp_path / str(n)).drop("seconds") for n in (1, 2))
    assert one.equals(two)
