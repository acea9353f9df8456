"""The registry says the truth about every method."""

import subprocess
import sys

import numpy as np
import pytest

from cobras import InvalidDataError, SeriesSpace, Session
from cobras.methods.cobra import cobra
from cobras.methods.registry import METHODS, all_options, find_method, registration

X = np.random.default_rng(0).normal(size=(20, 8))
GIVEN = {name: {"n_clusters": 2} for name in ("npu", "explore_consolidate", "min_max")}


def own_method(space, constraints, seed, *, depth=2):
    """A method of a user's own; it is never run here."""


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_found_by_name_by_home_and_as_it_is(name):
    function = find_method(name)
    assert function.__name__ == name
    assert find_method(METHODS[name].home) is find_method(function) is function
    for given in (name, METHODS[name].home, function):
        assert registration(given) is METHODS[name]


@pytest.mark.parametrize("name", METHODS)
def test_who_takes_no_series_refuses_them(name):
    session = lambda: Session(SeriesSpace(X), name, 0, **GIVEN.get(name, {})).ask()  # noqa: E731
    if METHODS[name].takes_series:
        assert session() is not None
    else:
        with pytest.raises(InvalidDataError):
            session()


@pytest.mark.parametrize("name", METHODS)
def test_who_does_not_honour_marks_refuses_them(name):
    session = Session(X, name, 0, **GIVEN.get(name, {}))
    if METHODS[name].honours_marks:
        session.mark(0, complete=True)
        assert session.marks == {0: "complete"}
    else:
        with pytest.raises(InvalidDataError, match="marks"):
            session.mark(0, complete=True)


def test_a_method_of_ones_own_is_trusted():
    home = f"{__name__}:own_method"
    assert find_method(home) is own_method
    for given in (home, own_method):
        own = registration(given)
        assert own.home == home
        assert own.takes_series
        assert own.takes_remote
        assert own.honours_marks


@pytest.mark.parametrize("name", ["cobraz", "nowhere:method", "cobras.methods.cobra:nothing", ":", ""])
def test_an_unknown_method_is_refused(name):
    with pytest.raises(InvalidDataError, match=r"There is no method .* Use one of cobras, cobra, "):
        find_method(name)


def test_options_and_their_defaults():
    assert all_options(cobra, {"reuse": "exact"}) == {
        "n_super_instances": 25,
        "reuse": "exact",
        "representative": "first",
    }
    with pytest.raises(InvalidDataError, match=r"cobra has no option depth. It has n_super_instances, "):
        all_options(cobra, {"depth": 1})
    assert all_options(own_method, {}) == {"depth": 2}


def test_the_baselines_are_not_loaded_before_they_are_asked_for():
    code = "import sys, cobras.session.session as s; print(*(m for m in sys.modules if 'baselines' in m))"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "\n"
    )


def test_adder_is_the_default_where_it_can_compare_all_instances():
    import dask.array as da

    assert Session(X).parameters["method"] == "adder"
    assert Session(SeriesSpace(X)).parameters["method"] == "adder"
    assert Session(da.from_array(X)).parameters["method"] == "cobras"
