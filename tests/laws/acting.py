"""Things that a person may do to a session, drawn at random."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from cobras import Answer, Constraints, InconsistentAnswersError, InvalidDataError
from cobras.core.edits import EditedPartition
from tests.laws.problems import WITH_A_PERSON, Problem

ASKED = ("answer", "answer", "answer", "board", "board")
KINDS = (
    *ASKED,
    *("name", "mark", "constraint", "known", "move", "merge", "split", "append", "undo", "revise", "redo"),
)


def act(session, problem: Problem, data, kinds=KINDS) -> str:
    """Do one thing, and return its kind; "nothing" where it is not possible."""
    n, with_a_person = session.space.n, problem.method in WITH_A_PERSON
    possible = {
        "append": problem.more is not None and n < len(problem.labels),
        "mark": with_a_person,
        "split": with_a_person,
        "constraint": n > 1,
        "known": n > 1,
        "merge": session.partition.n_clusters > 1,
        "undo": session.can_undo,
        "redo": session.can_redo,
        "revise": bool(session.history),
    }
    kind = data.draw(st.sampled_from([kind for kind in kinds if possible.get(kind, True)]))
    try:
        return kind if DO[kind](session, problem, data) is None else "nothing"
    except InconsistentAnswersError as error:
        if not error.chain:
            raise
    except InvalidDataError as error:
        if not any(words in str(error) for words in ("one item", "marked as", "All items", "only items")):
            raise
    return "nothing"


def cluster(session, data):
    return data.draw(st.integers(0, session.partition.n_clusters - 1))


def answer(session, problem, data):
    return None if problem.answer_all(session, 1) else "nothing"


def board(session, problem, data):
    shown = session.board(data.draw(st.integers(1, 6)))
    if shown is None:
        return "nothing"
    session.sort(shown, true_groups(problem, shown) if data.draw(st.booleans()) else any_groups(data, shown))
    return None


def true_groups(problem, shown):
    rows = [*shown.cards, *shown.piles]
    return [
        [row for row in rows if problem.labels[row] == label]
        for label in sorted({*problem.labels[rows].tolist()})
    ]


def any_groups(data, shown):
    rows = [*shown.cards, *shown.piles]
    homes = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    return [[row for row, home in zip(rows, homes, strict=True) if home == g] for g in (1, 2, 3)]


def name(session, problem, data):
    session.name(cluster(session, data), data.draw(st.sampled_from(["roses", "lilies", ""])))


def mark(session, problem, data):
    before = session.labels_.tolist()
    session.mark(cluster(session, data), pure=data.draw(st.booleans()), complete=data.draw(st.booleans()))
    if problem.options.get("reuse") == "transitive" and not problem.unsure and not has_acts(session):
        assert session.labels_.tolist() == before


def has_acts(session):
    return any(record.kind in ("move", "merge", "board", "known") for record in session.history)


def constraint(session, problem, data):
    n = session.space.n
    i, j = data.draw(st.lists(st.integers(0, n - 1), min_size=2, max_size=2, unique=True))
    if known(session).relation(i, j) is not None:
        return "nothing"
    session.add_constraint(i, j, problem.labels[i] == problem.labels[j])
    return None


def labels(session, problem, data):
    """Labels of some rows, and perhaps one more link between any two."""
    n = session.space.n
    rows = data.draw(st.lists(st.integers(0, n - 1), min_size=2, max_size=6, unique=True))
    as_label = data.draw(st.sampled_from([int, "label {}".format]))  # texts become names
    given = [as_label(problem.labels[row]) if row in rows else None for row in range(n)]
    link = [rows[:2]] if data.draw(st.booleans()) else None
    session.add_constraints(cannot_link=link, labels=given)


def move(session, problem, data):
    rows = data.draw(st.lists(st.integers(0, session.space.n - 1), min_size=1, max_size=4, unique=True))
    to = data.draw(st.one_of(st.none(), st.integers(0, session.partition.n_clusters - 1)))
    labels, before = session.labels_, {*constraints_of(session)}
    session.move(rows, to, anyway=data.draw(st.booleans()))
    # Rows that were known to be the same go with them, unless the move took that back.
    homes, said = {*labels[rows].tolist()} - {to}, Constraints()
    for pair, answer in before.intersection(constraints_of(session)):
        said.add(*pair, answer)
    along = {i for row in rows for i in said.members(row) if labels[i] in homes}
    problem.moved[session.history[-1].index] = along.union(rows)


def merge(session, problem, data):
    pairs = st.lists(st.integers(0, session.partition.n_clusters - 1), min_size=2, max_size=2, unique=True)
    session.merge(*data.draw(pairs), anyway=data.draw(st.booleans()))


def split(session, problem, data):
    session.split(cluster(session, data))


def append(session, problem, data):
    n = session.space.n
    rows = problem.rows(n, n + data.draw(st.integers(1, 6)))
    labels, ids, history, names = (
        session.labels_.tolist(),
        session.cluster_ids_,
        session.history,
        session.names,
    )
    marks, expected, acted = session.marks, session.predict(rows), has_acts(session)
    session.append(rows)
    # What is in force may change where a method begins again and asks in another order.
    assert [record.said for record in session.history] == [record.said for record in history]
    assert len(session.labels_) == session.space.n == n + len(rows)
    if problem.method == "adder" or problem.options.get("reuse") == "transitive":
        assert session.labels_[:n].tolist() == labels
        assert (session.cluster_ids_, session.names, session.marks) == (ids, names, marks)
        assert acted or session.labels_[n:].tolist() == expected.tolist()
        check_rows_near_moved_ones(session, problem, n)


def check_rows_near_moved_ones(session, problem, n):
    """New rows are shown with the nearest old rows of their cluster of the method if all were moved out of it."""
    if not isinstance(session.partition, EditedPartition):
        return
    rows, labels, base = problem.rows(0, session.space.n), session.labels_, session.partition.base.labels
    for row, away in enumerate(cdist(rows[n:], rows[:n], "sqeuclidean"), n):
        here = base[:n] == base[row]
        near = np.flatnonzero(here & (away == away.min(where=here, initial=np.inf))).tolist()
        if near and session.partition.cut.keys() >= {*near}:
            assert labels[row] in labels[near]


def undo(session, problem, data):
    session.undo()


def redo(session, problem, data):
    session.redo()


def revise(session, problem, data):
    record = data.draw(st.sampled_from(session.history))
    answers = list(Answer) if record.pair is not None else [Answer.UNSURE]
    session.revise(record.index, data.draw(st.sampled_from(answers)))


DO = {
    kind.__name__: kind
    for kind in (answer, board, name, mark, constraint, move, merge, split, append, undo, redo, revise)
}
DO["known"] = labels


def known(session) -> Constraints:
    """What the answers and everything else in force say."""
    constraints = Constraints()
    for record in session.history:
        for pair, said in record.said:
            if pair not in record.void:
                constraints.add(*pair, said)
    return constraints


def constraints_of(session) -> Constraints:
    """The must-links and cannot-links that the session gives, with all that they imply."""
    links, constraints = session.constraints(), Constraints()
    for pairs, said in ((links.must_link, Answer.SAME), (links.cannot_link, Answer.DIFFERENT)):
        for i, j in pairs.tolist():
            constraints.add(i, j, said)
    return constraints
