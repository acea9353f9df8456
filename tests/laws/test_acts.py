"""Laws of what a person does to clusters: it is shown at once, and a preview tells what it will change.

What is refused changes nothing.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import Answer, InconsistentAnswersError, InvalidDataError, StaleQuestionError
from tests.laws.acting import KINDS, act, any_groups, constraints_of, known, true_groups
from tests.laws.problems import DOUBTING, OPTIONS, OWN, problems
from tests.laws.test_journal import state

EVERYTHING = (*OPTIONS, OWN)


def begin(problem, data, kinds=KINDS, most=8):
    session = problem.session()
    for _ in range(data.draw(st.integers(0, most))):
        act(session, problem, data, kinds)
    return session


def n_in_other_clusters(labels, ids, new_labels, new_ids):
    return int(np.sum(np.array(ids)[labels] != np.array(new_ids)[new_labels]))


@given(problem=problems(max_rows=20, methods=EVERYTHING), data=st.data())
def test_moved_rows_are_shown_together_in_the_target_and_apart_from_where_they_were(problem, data):
    session = begin(problem, data)
    n, labels, ids = session.space.n, session.labels_, session.cluster_ids_
    rows = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4, unique=True))
    to = data.draw(st.one_of(st.none(), st.integers(0, session.partition.n_clusters - 1)))
    before = state(session)
    try:
        preview = session.after_move(rows, to)
        assert state(session) == before
        session.move(rows, to)
    except (InconsistentAnswersError, InvalidDataError):
        assert state(session) == before
        return
    after = session.labels_
    assert len(set(after[rows].tolist())) == 1
    said = dict(session.history[-1].said)
    targets = [i for pair, answer in said.items() if answer is Answer.SAME for i in pair if i not in rows]
    if to is not None and set(np.flatnonzero(labels == to)) - set(rows):
        assert [labels[i] for i in targets] == [to]
        assert after[targets[0]] == after[rows[0]]
    apart = [i for pair, answer in said.items() if answer is Answer.DIFFERENT for i in pair if i not in rows]
    assert {labels[i] for i in apart} <= set(labels[rows].tolist()) - {to}
    if to is None:
        assert after[rows[0]] not in after[apart]
    np.testing.assert_array_equal(preview.partition.labels, after)
    assert preview.n_changed == n_in_other_clusters(labels, ids, after, session.cluster_ids_)


@given(problem=problems(max_rows=20, methods=("cobras", "cobra"), transitive=True), data=st.data())
def test_a_move_changes_no_other_row_of_cobras_and_cobra(problem, data):
    """Unless a row stands for others, or what the move says answers the open question."""
    session = begin(problem, data, kinds=("answer",))
    question = session.ask()
    labels = session.labels_
    told = {i for record in session.history for pair, _ in record.said for i in pair}
    shown = {s.representative for c in session.partition.clusters for s in c.super_instances}
    rows = [i for i in range(len(problem.X)) if i not in told | shown]
    if not rows:
        return
    moved = data.draw(st.lists(st.sampled_from(rows), min_size=1, max_size=3, unique=True))
    session.move(moved, None)
    if session.ask() != question:
        return
    others = np.setdiff1d(np.arange(len(problem.X)), moved)
    same = labels[others][:, None] == labels[others]
    after = session.labels_[others]
    np.testing.assert_array_equal(after[:, None] == after, same)


@given(problem=problems(max_rows=20, methods=EVERYTHING), data=st.data())
def test_merged_clusters_are_one(problem, data):
    session = begin(problem, data)
    if session.partition.n_clusters < 2:
        return
    labels, ids, before = session.labels_, session.cluster_ids_, state(session)
    a, b = data.draw(
        st.lists(st.integers(0, session.partition.n_clusters - 1), min_size=2, max_size=2, unique=True)
    )
    shown = [s.representative for c in (a, b) for s in session.partition.cluster(c).super_instances]
    try:
        preview = session.after_merge(a, b)
        assert state(session) == before
        session.merge(a, b)
    except InconsistentAnswersError as error:
        refused = error.pair
        assert state(session) == before
    else:
        refused = None
    if refused is not None:
        assert known(session).relation(*refused) is Answer.DIFFERENT
        return
    after, said = session.labels_, session.history[-1].said
    assert {labels[i] for pair, _ in said for i in pair} == {a, b}
    assert len({after[i] for pair, _ in said for i in pair}) == 1
    if problem.method in ("cobras", "cobra") and problem.options["reuse"] == "transitive":
        assert len(set(after[shown].tolist())) == 1 or session.marks
    np.testing.assert_array_equal(preview.partition.labels, after)
    assert preview.n_changed == n_in_other_clusters(labels, ids, after, session.cluster_ids_)


@given(problem=problems(max_rows=12, methods=EVERYTHING), data=st.data())
def test_what_is_done_anyway_takes_back_exactly_the_answers_in_the_way(problem, data):
    """Each of them contradicts what is known without it; nothing else changes, and one undo brings them back."""
    session = begin(problem, data, most=12)
    n_clusters = session.partition.n_clusters
    if data.draw(st.booleans()) and n_clusters > 1:
        clusters = data.draw(st.lists(st.integers(0, n_clusters - 1), min_size=2, max_size=2, unique=True))
        look, do, given = session.after_merge, session.merge, clusters
    else:
        rows = st.lists(st.integers(0, session.space.n - 1), min_size=1, max_size=3, unique=True)
        to = st.one_of(st.none(), st.integers(0, n_clusters - 1))
        look, do, given = session.after_move, session.move, (data.draw(rows), data.draw(to))
    before = state(session)
    try:
        assert look(*given).taken_back == ()
        return
    except InvalidDataError:
        return
    except InconsistentAnswersError:
        assert state(session) == before
    try:
        preview = look(*given, anyway=True)
    except InconsistentAnswersError:
        # What it says contradicts itself: the target is known to be the same as what is left.
        assert given[-1] is not None
        return
    assert state(session) == before
    do(*given, anyway=True)
    after = state(session)
    np.testing.assert_array_equal(preview.partition.labels, session.labels_)
    old, new = before[3], session.history
    assert len(new) == len(old) + 1
    assert new[-1].in_force
    assert all(record.said == other.said for record, other in zip(old, new, strict=False))
    changed = tuple(r for r, other in zip(old, new, strict=False) if set(other.void) - set(r.void))
    assert preview.taken_back
    if problem.method not in DOUBTING:
        assert changed == preview.taken_back
        says = known(session)
        for record in changed:
            gone = set(new[record.index].void) - set(record.void)
            assert all(says.relation(*p) is opposite(a) for p, a in record.said if p in gone)
    assert "took back" in session.undo().text
    assert state(session) == before
    session.redo()
    assert state(session) == after


def opposite(answer):
    return Answer.SAME if answer is Answer.DIFFERENT else Answer.DIFFERENT


@given(problem=problems(max_rows=25, methods=("cobras", "cobra"), transitive=True), data=st.data())
def test_after_split_the_questions_are_inside_until_two_are_different(problem, data):
    session = begin(problem, data, kinds=("answer", "answer", "board", "constraint", "mark"))
    chosen = data.draw(st.integers(0, session.partition.n_clusters - 1))
    inside = set(np.flatnonzero(session.labels_ == chosen).tolist())
    before = session.labels_.tolist()
    try:
        session.split(chosen)
    except InvalidDataError:
        return
    said = known(session)
    # After an unsure answer, "same" may be known of rows that represent nothing: it counts when its turn comes.
    if not session.set_aside and not any(
        said.relation(i, j) is Answer.DIFFERENT for i in inside for j in inside
    ):
        assert session.labels_.tolist() == before
    while session.to_split:
        pair = session.ask()
        assert inside.issuperset(pair)
        answer = problem.answer(*pair)
        session.tell(answer, pair)
        if answer is Answer.DIFFERENT:
            assert session.to_split == ()
            break
    else:
        # Nothing inside is left: all that may be shown are one component, or the person is unsure.
        train = np.ones(len(problem.X), bool) if problem.train is None else problem.train
        rows = [i for i in inside if train[i]]
        unsure = bool(session.set_aside)
        distinct = len(np.unique(problem.X[rows], axis=0)) > 1 if problem.space == "table" else False
        if rows and distinct and not unsure and problem.method == "cobras":
            assert session.ask() is None or not inside.issuperset(session.ask())


@given(problem=problems(max_rows=20, methods=EVERYTHING), data=st.data())
def test_a_board_shows_nothing_that_is_implied(problem, data):
    session = begin(problem, data)
    n_cards = data.draw(st.integers(1, 7))
    before = state(session)
    board = session.board(n_cards)
    assert state(session) == before
    if board is None:
        assert session.ask() is None or constraints_of(session).relation(*session.ask()) is not None
        return
    train = np.ones(session.space.n, bool)
    if problem.train is not None:
        train[: len(problem.train)] = problem.train
    named = {i for record in session.history for pair, _ in record.said for i in pair}
    assert all(train[row] or row in named for row in board.cards)
    assert 1 <= len(board.cards) <= n_cards
    assert len(board.piles) <= 8
    said = constraints_of(session)
    relation = said.relation
    for card in board.cards:
        assert any(relation(card, i) is None for i in (*board.cards, *board.piles) if i != card)
    for pile in board.piles:
        assert any(relation(card, pile) is None for card in board.cards)
    components = [said.component(i) for i in (*board.cards, *board.piles)]
    assert len(set(components)) == len(components)
    if session.can_undo:  # both replay all events
        session.undo()
        session.redo()
        assert session.board(n_cards) == board


@given(problem=problems(max_rows=20, methods=EVERYTHING), data=st.data())
def test_a_board_says_what_the_same_answers_to_pairs_say(problem, data):
    session = begin(problem, data, kinds=("answer",))
    board = session.board(data.draw(st.integers(1, 6)))
    if board is None:
        return
    groups = any_groups(data, board) if data.draw(st.booleans()) else true_groups(problem, board)
    expected, before = constraints_of(session), state(session)
    doubts = problem.method in DOUBTING
    try:
        for pair, answer in board.pairs(groups):
            expected.add(*pair, answer)
        is_consistent = True
    except InconsistentAnswersError:
        is_consistent = False
    if not is_consistent and not doubts:
        with pytest.raises(InconsistentAnswersError) as caught:
            session.sort(board, groups)
        assert caught.value.chain
        assert state(session) == before
        return
    rows = {row for pair, _ in board.pairs(groups) for row in pair}
    session.sort(board, groups)
    assert session.n_answers == len(before[3]) + 1
    assert session.history[-1].kind == "board"
    if is_consistent and not doubts:
        found = constraints_of(session)
        for i in rows:
            for j in rows - {i}:
                assert found.relation(i, j) is expected.relation(i, j)
    with pytest.raises(StaleQuestionError):
        session.sort(board, groups)


@given(problems(distinct=True, unsure=False, transitive=True, methods=("cobras",)), st.integers(1, 7))
def test_cobras_recovers_the_target_by_boards_alone(problem, n_cards):
    from sklearn.metrics import adjusted_rand_score

    problem.options |= {"split_fallback": "train_only", "max_level": None}
    session, by_pairs = problem.session(), problem.session()
    while (board := session.board(n_cards)) is not None:
        session.sort(board, true_groups(problem, board))
    assert session.ask() is None
    problem.answer_all(by_pairs)
    shown = slice(None) if problem.train is None else problem.train
    assert adjusted_rand_score(by_pairs.labels_[shown], session.labels_[shown]) == 1


@given(problem=problems(max_rows=20, methods=EVERYTHING), data=st.data())
def test_an_id_stays_with_the_cluster_that_keeps_most_items(problem, data):
    session = begin(problem, data, most=3)
    used = {*session.cluster_ids_}
    for _ in range(4):
        labels, ids = session.labels_, session.cluster_ids_
        kinds = [kind for kind in KINDS if kind not in ("undo", "redo", "revise")]
        act(session, problem, data, kinds)
        new, new_ids = session.labels_, session.cluster_ids_
        assert len(set(new_ids)) == len(new_ids) == session.partition.n_clusters
        shared = np.zeros((len(ids), len(new_ids)), int)
        np.add.at(shared, (labels, new[: len(labels)]), 1)
        expected = {}
        for _count, _id, number, old in sorted(
            (-shared[a, b], ids[a], b, a) for a, b in zip(*np.nonzero(shared), strict=True)
        ):
            if number not in expected and ids[old] not in expected.values():
                expected[number] = ids[old]
        for number, given_id in enumerate(new_ids):
            if number in expected:
                assert given_id == expected[number]
            else:
                assert given_id not in used
        used |= {*new_ids}
