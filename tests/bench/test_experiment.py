from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import NPU, MPCKMeans
from cobras.bench.experiment import Experiment, read_experiment
from cobras.core.exceptions import InvalidDataError

QUICK = """
tasks = ["generated-blobs"]
[methods.COBRAS]
use = "cobras.COBRAS"
"""


@pytest.fixture
def write(tmp_path):
    def written(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return path

    return written


def test_reads_what_the_paper_did():
    experiment = read_experiment(Path(__file__).parents[2] / "experiments" / "paper.toml")
    assert len(experiment.tasks) == 21
    assert [c.name for c in experiment.contestants] == [
        *("COBRAS", "COBRA-10", "COBRA-25", "COBRA-50", "COBS", "MPCKMeans-NPU", "COSC-NPU"),
    ]
    assert (experiment.repetitions, experiment.folds, experiment.queries) == (10, 10, 250)


def test_more_answers_do_not_make_cobs_worse_in_the_committed_results():
    """On average over the tasks, from 50 to 250 queries, by no more than one standard error."""
    results = pl.read_parquet(
        Path(__file__).parents[2] / "experiments" / "paper" / "results" / "COBS.parquet"
    )
    means = (
        results.group_by("task", "query")
        .agg(pl.col("ari").mean())
        .pivot(on="query", index="task", values="ari")
    )
    assert len(means) == 21
    gains = (means["250"] - means["50"]).to_numpy()
    assert gains.mean() >= -gains.std(ddof=1) / np.sqrt(len(gains))


def test_makes_nested_estimators_with_the_true_number_of_classes(write):
    text = (
        QUICK
        + '[methods.N]\nuse = "cobras.NPU"\nclusterer = {use = "cobras.MPCKMeans", n_clusters = "classes"}'
    )
    made = read_experiment(write(text)).contestants[1].make_estimator(n_classes=7, max_queries=30, seed=5)
    assert isinstance(made, NPU)
    assert isinstance(made.clusterer, MPCKMeans)
    assert (made.clusterer.n_clusters, made.max_queries, made.random_state) == (7, 30, 5)


@given(st.integers(10, 200), st.integers(2, 10), st.integers(0, 5))
def test_every_instance_is_held_out_once_in_a_repetition(n, folds, repetition):
    experiment = Experiment("e", (), (), folds=folds)
    held_out = [~experiment.train_mask(n, repetition, fold) for fold in range(folds)]
    assert np.sum(held_out, axis=0).tolist() == [1] * n
    sizes = np.sum(held_out, axis=1)
    assert sizes.max() - sizes.min() <= 1


def test_folds_and_seeds_are_those_of_the_experiment_alone():
    experiment, other = Experiment("e", (), ()), Experiment("e", (), (), seed=1)
    seeds = [experiment.run_seed(r, f) for r in range(10) for f in range(10)]
    assert len(set(seeds)) == 100
    assert seeds == [experiment.run_seed(r, f) for r in range(10) for f in range(10)]
    assert other.run_seed(0, 0) != seeds[0]
    assert (experiment.train_mask(50, 0, 0) != experiment.train_mask(50, 1, 0)).any()
    assert (experiment.train_mask(50, 0, 0) != other.train_mask(50, 0, 0)).any()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tasks = [", "cannot be read as TOML"),
        ('tasks = ["iris"]', "names no method"),
        (QUICK.replace("tasks =", "task ="), "sets task, but an experiment has only"),
        (QUICK.replace('["generated-blobs"]', "[]"), "names no task"),
        (QUICK.replace("cobras.COBRAS", "cobras.KOBRAS"), "no estimator 'cobras.KOBRAS'"),
        (QUICK.replace("cobras.COBRAS", "nowhere:method"), "no method 'nowhere:method'"),
        (QUICK + "brunch = 3", "cannot be made: .*brunch"),
        (QUICK + "seconds = -1", "seconds of COBRAS must be a positive number, not -1"),
        (QUICK + "repetitions = 0", "repetitions of COBRAS must be a whole number from 1 on"),
        ("folds = 1" + QUICK, "folds must be a whole number from 2 on, not 1"),
        (QUICK.replace("methods.COBRAS", 'methods."../out"'), "leave out slashes"),
        (QUICK.replace('use = "cobras.COBRAS"', ""), "needs a line such as use"),
        (QUICK.replace("cobras.COBRAS", "pathlib.Path"), "has no fit"),
    ],
)
def test_says_what_is_wrong_before_anything_runs(write, text, sentence):
    with pytest.raises(InvalidDataError, match=sentence):
        read_experiment(write(text))


def test_says_that_a_file_is_missing(tmp_path):
    with pytest.raises(InvalidDataError, match=r"There is no file .*nowhere\.toml"):
        read_experiment(tmp_path / "nowhere.toml")
