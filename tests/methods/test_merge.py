"""The merge step: a trace by hand, every rule on a small example, and all of it against a slow definition."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import Answer, Constraints, EuclideanSpace, SuperInstance
from cobras.core.partition import Partition
from cobras.methods.merge import merge
from cobras.methods.protocol import Variant

SAME, DIFFERENT, UNSURE = Answer.SAME, Answer.DIFFERENT, Answer.UNSURE
X = np.array([[0.0], [1.0], [3.0], [7.0], [15.0], [31.0]])
y = [0, 1, 0, 1, 0, 2]


def singles(rows=X):
    """One cluster for each row."""
    return [(SuperInstance(np.array([i]), i, row, 1),) for i, row in enumerate(rows)]


def ask_all(steps, answer=lambda i, j: Answer.of(y[i] == y[j])):
    """Answer all questions; return them with the reported labels, and the clusters by their instances."""
    asked = []
    try:
        step = next(steps)
        while True:
            asked.append((tuple(step.pair), "".join(map(str, step.partition.labels))))
            step = steps.send(answer(*step.pair))
    except StopIteration as end:
        return asked, [tuple(s.representative for s in cluster) for cluster in end.value]


@pytest.mark.parametrize("representative", ["first", "closest"])
def test_every_question_and_every_clustering(representative):
    """The values are 0, 1, 3, 7, 15 and 31, so that all distances differ.

    The first super-instance of each cluster is shown, or the two closest ones.
    """
    trace = [
        # The pair with "first", with "closest", and the labels; then the distance, and the answer.
        ((0, 1), (0, 1), "012345"),  # 1: different
        ((1, 2), (1, 2), "012345"),  # 2: different
        ((0, 2), (0, 2), "012345"),  # 3: same; with 1 both are different
        ((0, 3), (2, 3), "010234"),  # 4, from 3 to 7: different
        ((1, 3), (1, 3), "010234"),  # 6: same; between {0, 2} and {1, 3} nothing is open
        ((1, 4), (3, 4), "010123"),  # 8, from 7 to 15: different
        ((0, 4), (2, 4), "010123"),  # 12, from 3 to 15: same
        ((0, 5), (4, 5), "010102"),  # 16, from 15 to 31: different
        ((1, 5), (3, 5), "010102"),  # 24, from 7 to 31: different
    ]
    variant = Variant(representative=representative)
    asked, clusters = ask_all(merge(EuclideanSpace(X), Constraints(), [], singles(), None, variant))
    shown = 0 if representative == "first" else 1
    assert asked == [(row[shown], row[2]) for row in trace]
    assert clusters == [(0, 2, 4), (1, 3), (5,)]


def test_a_report_stands_for_the_partly_merged_clustering():
    report = Partition.of([tuple(s for (s,) in singles())])
    asked, _ = ask_all(merge(EuclideanSpace(X), Constraints(), [], singles(), report, Variant()))
    assert {labels for _, labels in asked} == {"000000"}


def test_known_must_links_are_joined_first_and_known_cannot_links_are_not_asked():
    constraints = Constraints()
    constraints.add(2, 0, SAME)
    constraints.add(2, 4, SAME)
    constraints.add(0, 1, DIFFERENT)
    asked, clusters = ask_all(merge(EuclideanSpace(X), constraints, [], singles(), None, Variant()))
    # {0, 2, 4} is different from 1. Open are 3, closest to 2; then 1 and 3; then 5, closest to 4.
    assert asked == [((0, 3), "010203"), ((1, 3), "010203"), ((0, 5), "010102"), ((1, 5), "010102")]
    assert [sorted(cluster) for cluster in clusters] == [[0, 2, 4], [1, 3], [5]]


def test_nothing_is_asked_when_all_relations_are_known():
    constraints = Constraints()
    for i, j in combinations(range(6), 2):
        constraints.add(i, j, Answer.of(y[i] == y[j]))
    asked, clusters = ask_all(merge(EuclideanSpace(X), constraints, [], singles(), None, Variant()))
    assert asked == []
    assert [sorted(cluster) for cluster in clusters] == [[0, 2, 4], [1, 3], [5]]


def test_old_clusters_are_compared_with_new_ones_only():
    """0 and 1 are known to be different; 2 is new."""
    constraints = Constraints()
    constraints.add(0, 1, DIFFERENT)
    old, new = singles()[:2], singles()[2:3]
    asked, clusters = ask_all(merge(EuclideanSpace(X), constraints, old, new, None, Variant()))
    assert asked == [((1, 2), "012"), ((0, 2), "012")]
    assert clusters == [(0, 2), (1,)]


@pytest.mark.parametrize(
    ("reuse", "pairs"),
    [
        # (0, 2) implies, with (0, 1), that 1 and 2 are different.
        ("transitive", []),
        # 0 and 2 are joined by their own answer, and 0 and 1 are apart by theirs.
        ("exact", []),
        # 0 and 2 are not joined before their turn, so 1 and 2 come first.
        ("reference", [(1, 2)]),
    ],
)
def test_what_costs_no_query(reuse, pairs):
    constraints = Constraints()
    constraints.add(0, 2, SAME)
    constraints.add(0, 1, DIFFERENT)
    variant = Variant(reuse=reuse)
    asked, clusters = ask_all(merge(EuclideanSpace(X), constraints, [], singles()[:3], None, variant))
    assert [pair for pair, _ in asked] == pairs
    assert clusters == [(0, 2), (1,)]


def test_only_answers_between_representatives_count_with_exact():
    """3 is a member of {2, 3}, but not the representative: what is known of it helps only by implication."""
    rows = np.array([[0.0], [10.0], [20.0], [21.0]])
    clusters = [*singles(rows)[:2], (SuperInstance(np.array([2, 3]), 2, np.array([20.5]), 2),)]
    for reuse, n_asked in (("transitive", 2), ("exact", 3)):
        constraints = Constraints()
        constraints.add(2, 3, SAME)
        constraints.add(3, 1, DIFFERENT)
        steps = merge(EuclideanSpace(rows), constraints, [], clusters, None, Variant(reuse=reuse))
        asked, _ = ask_all(steps, lambda i, j: DIFFERENT)
        assert len(asked) == n_asked


def test_three_unsure_answers_keep_two_clusters_apart():
    """Three pairs of representatives: the medoids, then the next ones."""
    rows = np.array([[0.0], [1.0], [2.25], [10.0], [11.0], [12.25]])
    parts = [
        (SuperInstance(np.array([0, 1, 2]), 1, np.array([13 / 12]), 3),),
        (SuperInstance(np.array([3, 4, 5]), 4, np.array([133 / 12]), 3),),
    ]
    constraints, space = Constraints(), EuclideanSpace(rows)
    asked, clusters = ask_all(merge(space, constraints, [], parts, None, Variant()), lambda i, j: UNSURE)
    assert [pair for pair, _ in asked] == [(1, 4), (0, 3), (2, 5)]
    assert clusters == [(1,), (4,)]
    again, _ = ask_all(merge(space, constraints, [], parts, None, Variant()))
    assert again == []


def test_complete_clusters_are_not_touched_and_stay_together():
    """0 and 3 were marked as one complete cluster, 5 as another one; of the others 2 and 4 are the same."""
    constraints = Constraints()
    constraints.complete.update({(0, 1): 7, (3, 1): 7, (5, 1): 8})
    constraints.add(0, 1, SAME)  # an answer does not change a complete cluster
    asked, clusters = ask_all(merge(EuclideanSpace(X), constraints, [], singles(), None, Variant()))
    assert asked == [((1, 2), "012034"), ((2, 4), "012034")]
    assert sorted(sorted(cluster) for cluster in clusters) == [[0, 3], [1], [2, 4], [5]]


@given(st.integers(1, 9), st.integers(0, 1000), st.integers(1, 4), st.integers(0, 6))
def test_against_the_definition(n, seed, n_classes, n_known):
    rng = np.random.default_rng(seed)
    rows, labels = rng.random((n, 2)), rng.integers(n_classes, size=n)
    answer = lambda i, j: Answer.of(bool(labels[i] == labels[j]))  # noqa: E731
    fast, slow = Constraints(), Constraints()
    for i, j in rng.integers(n, size=(n_known, 2)).tolist():
        if i != j:
            fast.add(i, j, answer(i, j))
            slow.add(i, j, answer(i, j))
    steps = merge(EuclideanSpace(rows), fast, [], singles(rows), None, Variant(representative="closest"))
    asked, clusters = ask_all(steps, answer)
    expected_pairs, expected_clusters = slow_merge(rows, slow, answer)
    assert [set(pair) for pair, _ in asked] == expected_pairs
    assert sorted(sorted(cluster) for cluster in clusters) == expected_clusters


def slow_merge(rows, constraints, answer):
    """The closest two clusters of unknown relation, until there are none; all is computed anew every time."""
    clusters, asked = [[i] for i in range(len(rows))], []
    while True:
        relations = {
            (a, b): constraints.relation(clusters[a][0], clusters[b][0]) for a, b in pairs_of(clusters)
        }
        if (known := next((two for two, r in relations.items() if r is SAME), None)) is not None:
            clusters[known[0]] += clusters.pop(known[1])
            continue
        unknown = [two for two, relation in relations.items() if relation is None]
        if not unknown:
            return asked, sorted(sorted(cluster) for cluster in clusters)
        _, i, j = min(
            (np.linalg.norm(rows[i] - rows[j]), i, j)
            for a, b in unknown
            for i in clusters[a]
            for j in clusters[b]
        )
        asked.append({i, j})
        constraints.add(i, j, answer(i, j))


def pairs_of(clusters):
    return list(combinations(range(len(clusters)), 2))
