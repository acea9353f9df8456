"""COBRA on nine points: every question and every clustering, worked out by hand."""

import numpy as np
import pytest

from cobras import COBRA, Answer, Session

# Three groups on a line, in two clusters. With four super-instances the widest group is cut in two.
#
#     0  1  2.25     10  11  12.25     30  31    36
#     a  a  a        b   b   b         a   a     a
X = np.array([[0], [1], [2.25], [10], [11], [12.25], [30], [31], [36]], dtype=float)
y = np.array(list("aaabbbaaa"))


def test_every_question_and_every_clustering():
    """The means are 1.08, 11.08, 30.5 and 36; the representatives 1, 4, 6 (the lower of two) and 8."""
    trace = [
        ("000111223", (6, 8)),  # 5.5 apart: same
        ("000111222", (1, 4)),  # 10: different
        ("000111222", (4, 6)),  # 19.42: different
        ("000111222", (1, 6)),  # 29.42: same
    ]
    session = Session(X, "cobra", random_state=0, n_super_instances=4, representative="closest")
    for labels, pair in trace:
        assert "".join(map(str, session.labels_)) == labels
        assert session.ask().ordered == pair
        session.tell(y[pair[0]] == y[pair[1]], pair)
    assert "".join(map(str, session.labels_)) == "000111000"
    assert session.ask() is None


def test_it_asks_again_when_a_constraint_wakes_it():
    """All clusters are apart by unsure answers; then the person says that two of them are the same."""
    session = Session(X, "cobra", random_state=0, n_super_instances=3)
    while session.ask() is not None:
        session.tell(Answer.UNSURE, session.ask())
    assert session.partition.n_clusters == 3
    # Instance 8 is a member of the third super-instance, 7 its representative.
    session.add_constraint(1, 8, True)
    assert session.partition.n_clusters == 3
    session.add_constraint(8, 7, True)
    assert "".join(map(str, session.labels_)) == "000111000"


@pytest.mark.parametrize("n_super_instances", [9, 50])
def test_a_super_instance_per_row_at_most(n_super_instances):
    model = COBRA(n_super_instances=n_super_instances, random_state=0).fit(X, y)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1, 0, 0, 0]
    assert len(set(model.labels_per_query_[0])) == 9


def test_one_super_instance_needs_no_question():
    assert Session(X, "cobra", random_state=0, n_super_instances=1).ask() is None
