"""Estimators that the first version pickled are loaded; old modules are imported only when somebody asks."""

import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

import cobras

FIXTURES = Path(__file__).parent / "fixtures"  # pickled by the first version, fitted on iris
CLUSTERERS = {"COPKMeans", "MPCKMeans"}


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.pickle")), ids=lambda path: path.stem)
def test_an_estimator_pickled_by_an_older_version_is_loaded(path):
    X, y = load_iris(return_X_y=True)
    old = pickle.loads(path.read_bytes())
    assert type(old) is getattr(cobras, path.stem)
    if path.stem in CLUSTERERS:
        np.testing.assert_array_equal(old.predict(X[::3]), old.labels_)
        return
    np.testing.assert_array_equal(old.labels_per_query_[-1], old.labels_)
    assert len(old.labels_per_query_) == old.n_queries_ + 1
    assert set(old.predict(X)) == set(old.super_instance_labels_)
    if path.stem in ("COBRAS", "COBRA"):
        # Another processor rounds sums otherwise, so that ties between representatives may fall otherwise.
        again = clone(old).fit(X, y)
        np.testing.assert_array_equal(old.queries_[:3], again.queries_[:3])
        assert adjusted_rand_score(old.labels_, again.labels_) > 0.9


@pytest.mark.parametrize(("old", "new"), cobras._MOVED.items())
def test_an_old_name_is_the_module_of_today(old, new):
    assert import_module(old) is import_module(new)
    assert import_module(new).__spec__.name == new


def test_nothing_is_imported_before_somebody_asks():
    code = "import sys, cobras; print(*(name for name in sys.modules if name.startswith('cobras.')))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.split() == []
