"""Experiments by minutes of a person's time: what the person has at each second, and the report."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from cobras import HumanOracle, InvalidDataError, Session, run
from cobras.bench.experiment import read_experiment
from cobras.bench.report import write_report
from cobras.bench.runner import run_experiment
from cobras.bench.tasks import load_task
from cobras.bench.trial import Trial, run_trial

EXPERIMENT = """
tasks = ["generated-blobs"]
repetitions = 1
folds = 3
minutes = 3

[methods.pairs]
use = "cobras.methods.adder:adder"
person = "crowd"

[methods.boards]
use = "cobras.methods.adder:adder"
person = "crowd"
boards = 5
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "minutes.toml"
    path.write_text(EXPERIMENT)
    return path


@pytest.mark.parametrize("contestant", [0, 1])
def test_the_score_of_a_second_is_that_of_the_acts_that_were_over(file, contestant):
    experiment = read_experiment(file)
    task, way = load_task("generated-blobs"), experiment.contestants[contestant]
    found = run_trial(experiment, Trial(task, way, 0, 1))
    train, seed = experiment.train_mask(len(task.X), 0, 1), experiment.run_seed(0, 1)
    person = HumanOracle(task.y, "crowd", random_state=seed)
    session = Session(task.X, "adder", seed, train_indices=train)
    scores, ends = [], [0.0]
    while ends[-1] <= 180:
        scores.append(adjusted_rand_score(task.y[~train], session.labels_[~train]))
        run(session, person, until=lambda s, n=session.n_answers: s.n_answers > n, boards=way.boards)
        ends.append(person.seconds)
    expected = [scores[sum(end <= second for end in ends) - 1] for second in range(181)]
    np.testing.assert_allclose(found.aris, expected, atol=1e-6)
    assert len(found.aris) == len(found.seconds_per_query) == 181
    assert np.all(np.diff(found.seconds_per_query) >= 0)


def test_the_report_compares_boards_with_pairs(file, tmp_path):
    experiment = read_experiment(file)
    run_experiment(experiment, tmp_path / "out", n_jobs=1)
    text = write_report(tmp_path / "out").with_suffix(".md").read_text()
    assert "| boards less pairs |" in text
    assert "3 min" in text
    assert "claims of the paper" not in text


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("minutes = 3", "minutes = 3\nqueries = 10", "sets queries and minutes"),
        ("minutes = 3", "queries = 10", "names a person where an experiment sets minutes"),
        ('person = "crowd"\n\n', "\n", "names a person where an experiment sets minutes"),
        ('"crowd"', '"tired"', "is one of exact, careful, crowd"),
        ('"cobras.methods.adder:adder"', '"cobras.ADDER"', "package:function"),
        ("boards = 5", "boards = -1", "from 0 on"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(file, old, new, words):
    file.write_text(EXPERIMENT.replace(old, new))
    with pytest.raises(InvalidDataError, match=words):
        read_experiment(file)
