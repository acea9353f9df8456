"""Algorithms 1 and 2 on a dozen points: every question and every clustering, worked out by hand.

The points lie on a line, in four groups. Instance numbers above, values below:

    A               B         C                   D
    0   1   2       3   4     5   6   7   8       9   10  11
    0   1   2.25    10  11    29  32  33  34.25   42  43  44.25
    a   a   a       b   b     c   b   b   b       a   a   a

The wanted clusters are a = A and D, b = B and most of C, and c, a single instance hidden in C.
"""

import numpy as np
import pytest

from cobras import Answer, Constraints, EuclideanSpace, LabelOracle, Session, run
from cobras.core.partition import Partition
from cobras.methods.cobras import split_level
from cobras.methods.protocol import Variant

VALUES = [0, 1, 2.25, 10, 11, 29, 32, 33, 34.25, 42, 43, 44.25]
X = np.array(VALUES)[:, None]
y = np.array(list("aaabbcbbbaaa"))
SAME, DIFFERENT, UNSURE = Answer.SAME, Answer.DIFFERENT, Answer.UNSURE

# Of two halves the smaller one is followed, and of two clusters the closest representatives are shown: then nothing
# depends on random numbers or on the order in which k-means numbers its parts.
OPTIONS = {"branch": "smallest", "representative": "closest"}

ALL_IN_ONE = "000000000000"
A_B_C_D = "000112222333"
TRACE = [
    # First iteration, Algorithm 2. The halves of everything are AB, with mean 4.85, to which 2.25, instance 2, is
    # nearest; and CD, with mean 36.79, whose representative is 34.25, instance 8.
    (ALL_IN_ONE, (2, 8), DIFFERENT),
    # The smaller half is AB. Its halves: A, mean 1.08, instance 1; and B, mean 10.5, where 3 and 4 are equally near
    # and the lower one counts.
    (ALL_IN_ONE, (1, 3), DIFFERENT),
    # Of A and B the smaller is B. Its halves are its two instances.
    (ALL_IN_ONE, (3, 4), SAME),
    # Different, different, same: level 2, so Algorithm 1 splits everything into 2^2 = 4 parts: A, B, C and D, with
    # the means 1.08, 10.5, 32.06 and 43.08 and the representatives 1, 3, 6 and 10.
    # The merge begins. The closest are A and B, 9.42, but (1, 3) is known. Then C and D, 11.02.
    (A_B_C_D, (6, 10), DIFFERENT),
    # Then B and C, 21.56.
    (A_B_C_D, (3, 6), SAME),
    # B and C are one cluster, of which A and D are known to be different, by (1, 3) and by (6, 10). Only A and D,
    # 42 apart, are left.
    ("000111111222", (1, 10), SAME),
    # The first iteration is complete: A and D, B and C. The largest super-instance is C. Its halves: 29 alone,
    # instance 5; and 32, 33, 34.25, mean 33.08, instance 7.
    ("000111111000", (5, 7), DIFFERENT),
    # Only the second half can be halved again, into 32 and 33, where the lower instance 6 counts, and 34.25.
    ("000111111000", (6, 8), SAME),
    # Level 1: C is split into 2 parts, 5 with mean 29 and 678 with mean 33.08; (5, 7) says that they are different.
    # Closest to each other are 678 and D, 10 apart. The clustering that is reported stays the last complete one.
    ("000111111000", (7, 10), DIFFERENT),
    # Then 5 and D, 14.08.
    ("000111111000", (5, 10), DIFFERENT),
    # Then 5 and B, 18.5.
    ("000111111000", (3, 5), DIFFERENT),
    # Then 678 and B, 22.58. That 6 is like 3 does not say it of 7, which now is the representative.
    ("000111111000", (3, 7), SAME),
    # The second iteration is complete, and the clustering is the wanted one.
]
WANTED = "000112111000"


def text(labels):
    return "".join(map(str, labels))


def test_every_question_and_every_clustering():
    session = Session(X, "cobras", random_state=0, **OPTIONS)
    for labels, pair, answer in TRACE:
        assert text(session.labels_) == labels
        assert session.ask().ordered == pair
        assert (y[pair[0]] == y[pair[1]]) == bool(answer)
        session.tell(answer, session.ask())
    assert text(session.labels_) == WANTED
    while (pair := session.ask()) is not None:
        session.tell(y[pair.i] == y[pair.j], pair)
        assert text(session.labels_) == WANTED
    # In the end every super-instance is a single instance.
    assert all(len(s) == 1 for c in session.partition.clusters for s in c.super_instances)


@pytest.mark.parametrize(
    ("first_iteration", "reports"),
    [
        ("partial", [ALL_IN_ONE] * 3 + [A_B_C_D] * 2 + ["000111111222"]),
        ("unmerged", [ALL_IN_ONE] * 3 + [A_B_C_D] * 3),
        ("single", [ALL_IN_ONE] * 6),
        # After one "different" the two halves, after two of them the four parts.
        ("eager", [ALL_IN_ONE, "000001111111", A_B_C_D] + [A_B_C_D] * 2 + ["000111111222"]),
    ],
)
def test_what_is_reported_during_the_first_iteration(first_iteration, reports):
    session = Session(X, "cobras", random_state=0, first_iteration=first_iteration, **OPTIONS)
    run(session, LabelOracle(y), until=lambda s: s.n_answers >= len(TRACE))
    assert [record.pair.ordered for record in session.history] == [pair for _, pair, _ in TRACE]
    assert [text(session.labels_at(q)) for q in range(6)] == reports
    assert [text(session.labels_at(q)) for q in range(6, 12)] == ["000111111000"] * 6


@pytest.mark.parametrize(
    ("branch", "pairs", "k"),
    [
        # As in the first iteration of the trace.
        ("smallest", [(2, 8), (1, 3), (3, 4)], 4),
        # The larger half is CD: C against D; then C, which is larger than D: 29 against the rest; then the rest:
        # 32 and 33 against 34.25, which are the same. Three times different: 2^3 parts.
        ("largest", [(2, 8), (6, 10), (5, 7), (6, 8)], 8),
    ],
)
def test_the_split_level_of_everything(branch, pairs, k):
    space, constraints, asked = EuclideanSpace(X), Constraints(), []
    root = space.root(0)
    steps = split_level(space, constraints, root, Partition.of([(root,)]), Variant(branch=branch))
    try:
        step = next(steps)
        while True:
            asked.append(step.pair.ordered)
            step = steps.send(Answer.of(bool(y[step.pair.i] == y[step.pair.j])))
    except StopIteration as end:
        found = end.value
    assert (asked, found) == (pairs, k)


def test_a_random_branch_belongs_to_the_node_and_the_seed():
    """Both halves of the first split are followed by some seed, and always the same one by the same seed."""
    second = [(1, 3), (6, 10)]
    found = []
    for seed in [*range(12), *range(12)]:
        session = Session(X, "cobras", random_state=seed)
        session.tell(DIFFERENT, session.ask())
        found.append(second.index(session.ask().ordered))
    assert set(found) == {0, 1}
    assert found[:12] == found[12:]


def test_the_split_level_can_be_limited():
    """One "different" at most: two parts, and nothing is left to be merged."""
    session = Session(X, "cobras", random_state=0, max_level=1, **OPTIONS)
    session.tell(DIFFERENT, session.ask())
    assert text(session.labels_) == "000001111111"


def test_an_unsure_person_is_shown_two_further_pairs_and_then_the_search_stops():
    """The members nearest to the mean 4.85 of AB are 2, 1, 0; those nearest to the mean 36.79 of CD are 8, 7, 6."""
    session = Session(X, "cobras", random_state=0, **OPTIONS)
    for pair in ((2, 8), (1, 7), (0, 6)):
        assert session.ask().ordered == pair
        assert text(session.labels_) == ALL_IN_ONE
        session.tell(UNSURE, session.ask())
    # Level 0, so two parts; they stay apart until something says otherwise. CD, the larger one, comes next.
    assert text(session.labels_) == "000001111111"
    assert session.ask().ordered == (6, 10)


def test_what_is_implied_is_not_asked():
    """With (1, 10) known to be the same, and (3, 6) too, only the split level and C against D need answers."""
    session = Session(X, "cobras", random_state=0, **OPTIONS)
    session.add_constraint(1, 10, SAME)
    session.add_constraint(3, 6, SAME)
    asked = []
    while session.n_answers < 3:
        pair = session.ask()
        asked.append(pair.ordered)
        session.tell(y[pair.i] == y[pair.j], pair)
    # (6, 10) follows: 6 is like 3, 3 is different from 1, and 1 is like 10.
    assert asked == [(2, 8), (1, 3), (3, 4)]
    assert text(session.labels_) == "000111111000"


def test_only_what_was_answered_is_reused_with_exact():
    session = Session(X, "cobras", random_state=0, reuse="exact", **OPTIONS)
    session.add_constraint(1, 10, SAME)
    session.add_constraint(3, 6, SAME)
    for pair in ((2, 8), (1, 3), (3, 4)):
        assert session.ask().ordered == pair
        session.tell(y[pair[0]] == y[pair[1]], pair)
    # A and D are one cluster, B and C another one, by the very pairs of their representatives; (1, 3) was answered.
    assert text(session.labels_) == "000111111000"


@pytest.mark.parametrize(("fallback", "asked"), [("train_only", [(0, 1)]), ("none", [])])
def test_training_rows_on_one_side_of_a_split(fallback, asked):
    """K-means puts the training rows 0 and 1 together; the others join them, because they may not be shown."""
    rows = np.array([[0.0], [1.0], [100.0], [101.0]])
    session = Session(rows, "cobras", random_state=0, train_indices=[0, 1], split_fallback=fallback)
    while (pair := session.ask()) is not None:
        assert pair.ordered == asked[session.n_answers]
        session.tell(False, pair)
    assert session.n_answers == len(asked)
    assert text(session.labels_) == ("0111" if asked else "0000")


def test_identical_rows_are_not_asked_about():
    assert Session(np.ones((5, 2)), "cobras", random_state=0).ask() is None


@pytest.mark.parametrize("kind", ["pure", "complete"])
def test_a_marked_cluster_is_not_split(kind):
    """After six answers B and C are cluster 1."""
    session = Session(X, "cobras", random_state=0, **OPTIONS)
    run(session, LabelOracle(y), until=lambda s: s.n_answers >= 6)
    session.mark(1, **{kind: True})
    marked = set(range(3, 9))
    while (pair := session.ask()) is not None:
        assert len(marked & set(pair)) <= (1 if kind == "pure" else 0)
        session.tell(y[pair.i] == y[pair.j], pair)
    assert text(session.labels_) == "000111111000"
