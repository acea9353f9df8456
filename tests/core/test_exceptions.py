"""Errors: one base, one sentence, and what they are to Python."""

import pytest

import cobras
from cobras import Answer, CobrasError, DataWarning, InconsistentAnswersError, Pair, StopAsking
from cobras.core import exceptions

ERRORS = [
    value for value in vars(exceptions).values() if isinstance(value, type) and issubclass(value, Exception)
]


@pytest.mark.parametrize("error", ERRORS)
def test_every_error_is_public_and_most_have_one_base(error):
    assert getattr(cobras, error.__name__) is error
    assert issubclass(error, CobrasError) == (error not in (DataWarning, StopAsking))


def test_errors_about_values_are_value_errors_and_those_about_files_are_os_errors():
    kinds = {error.__name__: error.__mro__[2] for error in ERRORS if error.__mro__[1] is CobrasError}
    assert kinds.pop("SessionFileError") is OSError
    assert set(kinds.values()) == {ValueError}


def test_a_contradiction_names_all_answers_that_imply_it():
    chain = [(Pair(1, 2), Answer.SAME), (Pair(2, 3), Answer.DIFFERENT)]
    error = InconsistentAnswersError(Pair(1, 3), Answer.SAME, chain)
    assert str(error) == (
        "Answer SAME for pair (1, 3) contradicts earlier answers: 1 and 2 are same, 2 and 3 are different. "
        "Revise one of them, or answer otherwise."
    )
    assert (error.pair, error.chain) == (Pair(1, 3), tuple(chain))
