"""Answers, pairs and events."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import Answer, Event, InvalidDataError, Pair


@pytest.mark.parametrize("answer", Answer)
def test_an_answer_is_read_from_its_name_and_its_number(answer):
    for value in (answer, answer.name, answer.name.lower(), int(answer), np.int8(answer)):
        assert Answer.of(value) is answer


@pytest.mark.parametrize(
    ("value", "answer"), [(True, Answer.SAME), (np.False_, Answer.DIFFERENT), (None, Answer.UNSURE)]
)
def test_an_answer_is_read_from_a_bool_or_none(value, answer):
    assert Answer.of(value) is answer


@pytest.mark.parametrize("value", [2, 0.5, 1.0, "maybe", "", [], object()])
def test_anything_else_is_no_answer(value):
    with pytest.raises(InvalidDataError, match=r"An answer must be Answer\.SAME, DIFFERENT or UNSURE"):
        Answer.of(value)


@given(st.integers(), st.integers())
def test_an_ordered_pair_has_the_smaller_row_first(i, j):
    pair = Pair(i, j)
    assert pair.ordered == Pair(j, i).ordered == (min(i, j), max(i, j))


def test_events_are_equal_whenever_they_happened():
    assert Event("undo", at=1.0) == Event("undo", at=2.0) != Event("redo", at=1.0)
