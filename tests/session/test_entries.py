"""Events become entries; what cobras cannot have written raises."""

import pytest

from cobras import Answer, Event, Pair
from cobras.session.entries import Entry

SAME, DIFFERENT, UNSURE = Answer.SAME, Answer.DIFFERENT, Answer.UNSURE


def test_a_board_says_its_pairs():
    entry = Entry.of(Event("board", {"cards": [1, 2, 5], "piles": [7], "groups": [[1, 7], [2]]}))
    assert entry.said == (
        (Pair(1, 7), SAME),
        (Pair(1, 2), DIFFERENT),
        (Pair(2, 7), DIFFERENT),
        (Pair(1, 5), UNSURE),
        (Pair(2, 5), UNSURE),
        (Pair(5, 7), UNSURE),
    )
    assert entry.groups == ((1, 7), (2,))
    assert (entry.pair, entry.answer) == (None, None)
    assert sorted(set(entry.all_rows())) == [1, 2, 5, 7]


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (Event("answer", {"i": 1, "j": 2, "answer": 0}), "different"),
        (Event("constraint", {"i": 1, "j": 2, "answer": 1}), "same"),
        (Event("mark", {"super_instances": [[1, 4]], "pure": True, "complete": False}), "a mark"),
        (Event("board", {"cards": [1, 2], "piles": [], "groups": []}), "a board of 2 cards"),
        (Event("move", {"rows": [3], "said": [[3, 4, 0]]}), "the move of 1 item"),
        (Event("merge", {"said": [[3, 4, 1]]}), "a merge"),
        (Event("split", {"row": 3, "super_instances": [[3, 9]]}), "a split"),
    ],
)
def test_an_entry_says_in_a_few_words_what_was_done(event, text):
    action = Entry.of(event).action()
    assert (action.kind, action.text) == (event.kind, text)


@pytest.mark.parametrize(
    "event",
    [
        Event("board", {"cards": [1, 1], "piles": [], "groups": []}),
        Event("board", {"cards": [1, 2], "piles": [2], "groups": []}),
        Event("board", {"cards": [1, 2], "piles": [], "groups": [[3]]}),
        Event("board", {"cards": [1, 2], "piles": [], "groups": [[1], [1]]}),
        Event("board", {"cards": [True], "piles": [], "groups": []}),
        Event("move", {"rows": [1], "said": [[1, 1, 1]]}),
        Event("move", {"rows": [-1], "said": []}),
        Event("merge", {"said": [[1, 2, 5]]}),
        Event("split", {"row": 1.5, "super_instances": []}),
        Event("answer", {"i": 1, "j": 2, "answer": 1}, at=float("inf")),
    ],
)
def test_what_makes_no_sense_raises(event):
    with pytest.raises((ValueError, TypeError, KeyError)):
        Entry.of(event)
