"""What a journal means: events, folded into the entries in force."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import Answer, Event, InvalidDataError
from cobras.session.history import Entry, History

said = st.builds(
    lambda kind, i, j, answer: Event(kind, {"i": i, "j": j, "answer": answer}),
    st.sampled_from(["answer", "constraint"]),
    st.integers(0, 9),
    st.integers(0, 9),
    st.sampled_from([-1, 0, 1]),
)
marked = st.builds(
    lambda i, size, pure: Event("mark", {"super_instances": [[i, size]], "pure": pure, "complete": not pure}),
    st.integers(0, 9),
    st.integers(1, 5),
    st.booleans(),
)
named = st.builds(
    lambda i, text: Event("name", {"representative": i, "text": text}),
    st.integers(0, 3),
    st.sampled_from(["a", "b", ""]),
)
pushed = st.one_of(said, marked)


def folded(events):
    history = History()
    for event in events:
        history.apply(event)
    return history


@given(st.lists(st.one_of(said, marked, named), max_size=20))
def test_entries_come_in_the_order_of_the_events(events):
    history = folded(events)
    assert history.entries == [Entry.of(event) for event in events if event.kind != "name"]
    assert history.n_answers == sum(event.kind == "answer" for event in events)
    assert [e for section in history.sections() for e in section] == history.entries


@given(st.lists(st.one_of(pushed, named), max_size=10), st.lists(pushed, min_size=1, max_size=5))
def test_undo_takes_back_and_redo_brings_back(before, after):
    history = folded([*before, *after, *[Event("undo")] * len(after)])
    assert history.entries == folded(before).entries
    assert history.n_answers == folded(before).n_answers
    for _ in after:
        history.apply(Event("redo"))
    assert history == folded([*before, *after])


@given(st.lists(pushed, min_size=1, max_size=8), pushed)
def test_a_new_answer_ends_redo(events, new):
    history = folded([*events, Event("undo"), new])
    assert history.undone == []
    assert history.entries == folded([*events[:-1], new]).entries


@given(st.lists(said, min_size=1, max_size=8), st.data(), st.sampled_from(Answer))
def test_revise_changes_one_answer_and_marks_the_place(events, data, answer):
    at = data.draw(st.integers(0, len(events) - 1))
    history = folded([*events, Event("revise", {"at": at, "answer": int(answer)})])
    expected = [Entry.of(event) for event in events]
    assert [e.pair for e in history.entries] == [e.pair for e in expected]
    assert [e.answer for e in history.entries] == [
        answer if k == at else e.answer for k, e in enumerate(expected)
    ]
    assert history.boundaries == [len(events)]


@given(st.lists(named, max_size=10))
def test_the_last_name_counts_and_an_empty_one_removes(events):
    names = {event.body["representative"]: event.body["text"] for event in events}
    assert folded(events).names == {i: text for i, text in names.items() if text}


@given(st.lists(pushed, max_size=8))
def test_records_are_answers_and_constraints_counted_from_0(events):
    history = folded(events)
    records = history.records(void={0})
    assert [r.index for r in records] == list(range(len(records)))
    places = [k for k, e in enumerate(history.entries) if e.kind != "mark"]
    assert [r.in_force for r in records] == [place != 0 for place in places]


def test_an_event_of_a_later_version_changes_nothing():
    assert folded([Event("applause", {"loud": True})]) == History()


def test_a_row_that_the_data_does_not_have_is_named():
    history = folded([Event("answer", {"i": 3, "j": 9, "answer": 1})])
    history.check_rows(10)
    with pytest.raises(InvalidDataError, match="names row 9, but the data has 9 rows"):
        history.check_rows(9)
