"""The next question, against brute force, and boards."""

from itertools import combinations, product

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from cobras import Answer, Constraints, HumanOracle, Session, run
from cobras.methods.adder.state import MOST_PILES, OPEN, State, board_of_components
from tests.methods.adder.test_marks import set_marks

X, y = load_iris(return_X_y=True)


def test_the_nearest_pairs_of_two_clusters(state):
    pairs = [(i, j) for i in (0, 3) for j in (60, 61)]
    expected = sorted(pairs, key=lambda pair: np.linalg.norm(X[pair[0]] - X[pair[1]]))
    assert state.nearest_pairs(3, 61) == expected[:3]


def test_the_parts_to_compare_are_of_unknown_relation_and_only_once(state):
    asked = set()
    while (two := state.most_informative_parts(asked)) is not None:
        assert state.relation(*two) is None
        assert two not in asked
        asked.add(two)
    assert len(asked) <= len(list(combinations(range(5), 2)))
    for part in state.first_parts[1:]:
        state.constraints.add(state.first_parts[0].representative, part.representative, Answer.UNSURE)
    assert state.most_informative_parts(asked) is None


def test_clusters_are_compared_likeliest_first(state):
    """For a setosa, the cluster of the two known ones comes first; its own cluster never comes."""
    likely = state.likely_clusters(10, 0.0)
    order, p = zip(*likely, strict=True)
    component = state.constraints.component
    assert component(order[0]) == component(0)
    assert len({component(i) for i in order}) == len(order)
    assert list(p) == sorted(p, reverse=True)
    assert sum(p) == pytest.approx(1)
    assert component(0) not in [component(i) for i, _ in state.likely_clusters(3, 0.0)]
    assert state.likely_clusters(10, 1.0) == likely[:1]


def test_the_most_uncertain_instance_is_a_new_one_until_all_are_tried(state):
    while (instance := state.most_uncertain()) is not None:
        assert instance not in state.tried
        assert instance not in state.seeds()
        state.tried.add(instance)
    assert state.tried | set(state.seeds()) == set(range(150))


def component_sizes(state):
    """The components of the seeds, by root, and how many rows have a seed of each as their nearest one."""
    component, seeds = state.constraints.component, state.seeds()
    nearest = ((X[:, None] - X[seeds]) ** 2).sum(axis=2).argmin(axis=1)
    roots = list(dict.fromkeys(map(component, seeds)))
    return roots, [sum(component(seeds[x]) == root for x in nearest) for root in roots]


def test_what_the_relation_of_two_components_puts_right(state):
    """The product of their sizes, times how probably the likelier relation is wrong."""
    roots, size = component_sizes(state)
    found, gain = state._gains(dict(zip(roots, map(float, size), strict=True)), state._chances())
    assert found == roots
    seeds, similarity = state.seeds(), state._similarities()
    for (a, i), (b, j) in combinations(enumerate(roots), 2):
        of_i, of_j = ([x for x, s in enumerate(seeds) if state.constraints.component(s) == r] for r in (i, j))
        p = similarity[np.ix_(of_i, of_j)].mean()
        is_open = min(p, 1 - p) > OPEN and state.relation(i, j) is None
        expected = size[a] * size[b] * min(p, 1 - p) if is_open else 0.0
        np.testing.assert_allclose([gain[a, b], gain[b, a]], expected)
    assert not gain.diagonal().any()
    best, two = state._best_pair()
    np.testing.assert_allclose(best, gain.max())
    assert two is not None
    assert gain[roots.index(two[0]), roots.index(two[1])] == gain.max()


def test_two_components_are_compared_when_this_puts_more_right_than_to_place_an_instance(space, options):
    """First little is known; then only the relation of two rows is open, and few rows are near them."""
    constraints = Constraints()
    state = State(space, constraints, 0, options)
    gain, two = state._best_pair()
    assert gain > state._most_uncertain()[1]
    assert state.most_informative_pair() == two
    seeds = state.seeds()
    for i, j in combinations(seeds, 2):
        constraints.add(i, j, Answer.of(bool(y[i] == y[j])))
    for i, j in product((57, 98), seeds):
        constraints.add(i, j, Answer.DIFFERENT)
    gain, two = state._best_pair()
    assert two is not None
    assert set(two) == {57, 98}
    assert 0 < gain < state._most_uncertain()[1]
    assert state.most_informative_pair() is None
    # Nothing is worth less than an instance when there is none to place.
    state.tried.update(range(len(X)))
    assert state._most_uncertain() == (None, 0.0)
    assert state.most_informative_pair() == two


def test_with_all_relations_known_no_two_components_are_compared(space, options):
    """Every seed was compared with one of each species."""
    constraints = Constraints()
    first = State(space, constraints, 0, options)
    for i, j in combinations(first.seeds(), 2):
        constraints.add(i, j, Answer.of(bool(y[i] == y[j])))
    assert first.most_informative_pair() is None
    assert first.most_informative_parts(set()) is None


def test_nothing_about_a_complete_cluster_is_worth_asking(state):
    mark_first_cluster(state, complete=True)
    roots, gain = state._gains(dict.fromkeys(component_sizes(state)[0], 1.0), state._chances())
    inside = [x for x, root in enumerate(roots) if not state.may_ask_about(root)]
    assert inside
    assert not gain[inside].any()
    assert not gain[:, inside].any()
    assert set(state.open_seeds()) < set(state.seeds())


def mark_first_cluster(state, *, complete):
    cluster = state.partition().clusters[0]
    set_marks(state.constraints, cluster, complete=complete)


def test_an_inference_ends_where_an_answer_says_where_the_instance_is(state):
    """Otherwise the cluster of the answer and the inferred one would be taken for one."""
    constraints = state.constraints
    constraints.add(10, 0, Answer.DIFFERENT)
    state.infer(10, 70)
    assert state.relation(10, 70) is Answer.SAME
    assert state.inferences() == {10: 70}
    assert 10 not in state.settled_instances()
    constraints.add(10, 120, Answer.SAME)
    assert state.relation(10, 70) is None
    assert state.relation(120, 70) is None
    assert state.inferences() == {}
    assert 10 in state.settled_instances()


def sort_right(session: Session, n_cards: int = 6):
    """Show a board, sort it as the species are, and return it."""
    board = session.board(n_cards)
    groups: dict[int, list[int]] = {}
    for row in (*board.cards, *board.piles):
        groups.setdefault(int(y[row]), []).append(row)
    session.sort(board, list(groups.values()))
    return board


def test_boards_alone_find_the_clusters():
    session = Session(X, method="adder", random_state=0)
    for _ in range(12):
        board = sort_right(session)
        assert 1 <= len(board.cards) <= 6
        assert len(board.piles) <= MOST_PILES
    assert adjusted_rand_score(y, session.labels_) > 0.9


def test_an_answer_that_is_checked_is_on_the_board():
    """And the board comes from the method: to make one from the next questions takes two replays."""
    session, person = Session(X, method="adder", random_state=0), HumanOracle(y, "crowd", random_state=0)
    n_checks = 0
    for _ in range(40):
        step = session._replay.step
        assert step.board is not None
        if step.scope().is_check:
            n_checks += 1
            board = session.board()
            card, pile = step.pair
            assert card in board.cards
            assert session._replay.constraints.relation(card, pile) is None
            assert pile in board.piles
        run(session, person, until=lambda s, n=session.n_answers: s.n_answers > n, boards=6)
    assert n_checks > 1


def test_cards_that_teach_the_same_are_not_shown_together():
    """Of two identical rows at most one is a card."""
    twice = np.repeat(X[::3], 2, axis=0)
    session = Session(twice, method="adder", random_state=0)
    for _ in range(6):
        board = session.board(6)
        assert len({row // 2 for row in board.cards}) == len(board.cards)
        session.sort(board, [[row] for row in board.cards])


def test_the_components_with_the_largest_gains_are_chosen_together():
    gain = np.zeros((5, 5))
    for a, b, worth in ((0, 1, 3.0), (1, 2, 2.0), (3, 4, 1.0)):
        gain[a, b] = gain[b, a] = worth
    board = board_of_components([10, 11, 12, 13, 14], gain, np.array([1, 5, 1, 1, 1]), 6)
    assert board.piles == (11,)
    assert set(board.cards) == {10, 12}


@pytest.mark.parametrize("n_answered", [[4, 5], [1, 1]])
def test_there_is_always_a_card(n_answered):
    gain = np.array([[0.0, 1.0], [1.0, 0.0]])
    board = board_of_components([7, 8], gain, np.array(n_answered), 6)
    assert board.cards
    assert {*board.cards, *board.piles} == {7, 8}


def test_a_split_asks_inside_the_cluster():
    session = Session(X, method="adder", random_state=0)
    for _ in range(8):
        sort_right(session)
    before = session.labels_.copy()
    session.split(1)
    pair = session.ask()
    assert {int(session.labels_[i]) for i in pair} == {1}
    session.undo()
    np.testing.assert_array_equal(session.labels_, before)
