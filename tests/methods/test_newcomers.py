"""Where new rows go, and what is asked first after they came."""

import numpy as np
import pytest

from tests.session.durability.test_growth import X, Y, answered


@pytest.mark.parametrize("method", ["cobras", "cobra", "adder"])
def test_rows_unlike_anything_seen_are_asked_about_first(method):
    session = answered(method, 30)
    session.append([[40.0, -40.0], [40.1, -40.0], [39.9, -40.1], *X[60:62]])
    assert any(60 <= row < 63 for row in session.ask())


@pytest.mark.parametrize("method", ["cobras", "cobra", "adder"])
def test_new_rows_of_a_marked_cluster_leave_the_mark_as_it_is(method):
    session = answered(method, 40)
    number = int(session.labels_[0])
    session.mark(number, complete=True)
    session.name(number, "done")
    session.append(X[60:])
    assert set(session.labels_[60:][Y[60:] == Y[0]].tolist()) == {number}
    assert (session.marks, session.names) == ({number: "complete"}, {number: "done"})
    inside = set(np.flatnonzero(session.labels_ == number).tolist())
    for _ in range(15):
        if (pair := session.ask()) is None:
            break
        assert inside.isdisjoint(pair)
        session.tell(Y[pair.i] == Y[pair.j], pair)
    assert set(np.flatnonzero(session.labels_ == session.labels_[0]).tolist()) == inside
    session.mark(int(session.labels_[0]))
    assert session.marks == {}
