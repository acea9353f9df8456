"""Events are folded into the entries in force and the actions that undo takes back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import Answer, Event, InvalidDataError
from cobras.session.entries import Entry
from cobras.session.history import History

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
old_names = st.builds(
    lambda i, text: Event("name", {"representative": i, "text": text, "replaces": [3]}),
    st.integers(0, 3),
    st.sampled_from(["a", "b", ""]),
)
named = old_names.map(lambda event: Event("name", {**event.body, "ends_redo": True}))
boards = st.builds(
    lambda cards, pile, n: Event("board", {"cards": cards, "piles": [pile], "groups": [[*cards[:n], pile]]}),
    st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True),
    st.integers(10, 12),
    st.integers(0, 4),
)
moves = st.builds(
    lambda row, to: Event("move", {"rows": [row], "said": [[row, 9 + to, 1]], "names": [[row, 9 + to]]}),
    st.integers(0, 3),
    st.integers(0, 3),
)
merges = st.just(Event("merge", {"said": [[0, 1, 1], [1, 2, 1]]}))
splits = st.just(Event("split", {"row": 4, "super_instances": [[4, 7]]}))
revisions = st.builds(
    lambda at, answer: Event("revise", {"at": at, "answer": int(answer)}),
    st.integers(0, 3),
    st.sampled_from(Answer),
)
pushed = st.one_of(said, marked, boards, moves, merges, splits)
actions = st.one_of(pushed, named, revisions)


def folded(events):
    history = History()
    for event in events:
        history.apply(event)
    return history


def possible(events):
    """Those of the events that can be applied one after another."""
    history, found = History(), []
    for event in events:
        try:
            history = history.after(event)
        except (IndexError, ValueError):
            continue
        found.append(event)
    return found


def undo(history):
    return history.after(Event("undo", {"action": history.done[-1].action.kind}))


@given(st.lists(st.one_of(pushed, named), max_size=20))
def test_entries_come_in_the_order_of_the_events(events):
    history = folded(events)
    assert history.entries == [Entry.of(event) for event in events if event.kind != "name"]
    assert history.n_answers == sum(event.kind in ("answer", "board") for event in events)
    assert [e for section in history.sections() for e in section] == history.entries
    assert [done.action.kind for done in history.done] == [event.kind for event in events]


@given(st.lists(actions, max_size=12), st.lists(st.sampled_from(["undo", "redo"]), max_size=30))
def test_undo_takes_back_and_redo_brings_back_whatever_was_done(events, steps):
    """A stack of whole histories is the simplest model of undo."""
    events = possible(events)
    models = [folded(events[:n]) for n in range(len(events) + 1)]
    at, history = len(events), models[-1]
    for step in steps:
        if step == "undo" and at:
            history, at = undo(history), at - 1
        elif step == "redo" and at < len(events):
            history, at = history.after(Event("redo")), at + 1
        model = models[at]
        assert (history.entries, history.boundaries) == (model.entries, model.boundaries)
        assert (history.names, history.n_answers, history.done) == (model.names, model.n_answers, model.done)
        assert len(history.undone) == len(events) - at


@given(st.lists(actions, min_size=1, max_size=8), actions)
def test_something_new_ends_redo(events, new):
    events = possible(events)
    if not events or len(possible([*events[:-1], new])) < len(events):
        return
    history = undo(folded(events)).after(new)
    assert history.undone == []
    assert history == folded([*events[:-1], new])


def test_an_undo_names_the_kind_of_what_it_takes_back():
    history = folded([Event("answer", {"i": 0, "j": 1, "answer": 1})])
    with pytest.raises(ValueError, match="another action"):
        history.apply(Event("undo", {"action": "name"}))


class FirstVersion:
    """The fold as the first version had it: undo was of answers, constraints and marks."""

    def __init__(self):
        self.entries, self.boundaries, self.undone, self.names = [], [], [], {}

    def apply(self, event):
        body = event.body
        if event.kind in ("answer", "constraint", "mark"):
            self.entries.append(Entry.of(event))
            self.undone = []
        elif event.kind == "undo":
            self.undone.append((self.entries.pop(), self.boundaries))
            self.boundaries = sorted({min(b, len(self.entries)) for b in self.boundaries})
        elif event.kind == "redo":
            entry, self.boundaries = self.undone.pop()
            self.entries.append(entry)
        elif event.kind == "revise":
            old = self.entries[body["at"]]
            if old.answer is None:
                raise ValueError
            self.entries[body["at"]] = Entry(old.kind, old.pairs, Answer(body["answer"]))
            self.undone = []
            self.boundaries = sorted({*self.boundaries, len(self.entries)})
        elif event.kind == "rebase":
            self.boundaries = sorted({*self.boundaries, len(self.entries)})
        elif event.kind == "name":
            for row in (body["representative"], *body["replaces"]):
                self.names.pop(row, None)
            if body["text"]:
                self.names[body["representative"]] = body["text"]


others = st.sampled_from([Event("undo"), Event("redo"), Event("rebase")])


@given(st.lists(st.one_of(said, marked, old_names, revisions, others, others), max_size=25))
def test_files_of_the_first_version_mean_what_they_meant(events):
    history, old = History(), FirstVersion()
    for event in events:
        try:
            old.apply(event)
        except (IndexError, ValueError):
            with pytest.raises((IndexError, ValueError)):
                history.after(event)
            continue
        history = history.after(event)
        assert (history.entries, history.boundaries, history.names) == (
            old.entries,
            old.boundaries,
            old.names,
        )
        assert len(history.undone) == len(old.undone)
    # And everything that is in force can now be undone, one action after another.
    n_redo = len(history.undone)
    for _ in range(len(history.done)):
        history = undo(history)
    assert (history.entries, history.names, history.n_answers) == ([], {}, 0)
    for _ in range(len(history.undone) - n_redo):
        history = history.after(Event("redo"))
    assert (history.entries, history.names) == (old.entries, old.names)


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


@given(st.lists(old_names, max_size=10))
def test_the_last_name_counts_and_an_empty_one_removes(events):
    names = {}
    for event in events:
        names = {i: text for i, text in names.items() if i != 3}
        names[event.body["representative"]] = event.body["text"]
    assert folded(events).names == {i: text for i, text in names.items() if text}


@given(st.lists(pushed, max_size=8), st.data())
def test_records_are_what_says_something_about_pairs_counted_from_0(events, data):
    history = folded(events)
    told = [(k, e) for k, e in enumerate(history.entries) if e.kind not in ("mark", "split")]
    pairs = [(k, pair) for k, e in told for pair, _ in e.said]
    lost = set(data.draw(st.lists(st.sampled_from(pairs)))) if pairs else set()
    void = {k: {pair.ordered for at, pair in lost if at == k} for k, _ in told}
    records = history.records(void)
    assert [r.index for r in records] == list(range(len(told)))
    for record, (place, entry) in zip(records, told, strict=True):
        assert (record.kind, record.pair, record.answer) == (entry.kind, entry.pair, entry.answer)
        assert (record.said, record.groups) == (entry.said, entry.groups)
        assert {pair.ordered for pair in record.void} == void[place]
        assert record.in_force is not bool(record.void)


def test_an_event_of_a_later_version_changes_nothing():
    assert folded([Event("applause", {"loud": True})]) == History()


def test_a_row_that_the_data_does_not_have_is_named():
    history = folded([Event("answer", {"i": 3, "j": 9, "answer": 1})])
    for shown in (history, undo(history)):
        shown.check_rows(10)
        with pytest.raises(InvalidDataError, match="names row 9, but the data has 9 rows"):
            shown.check_rows(9)
