"""What a person says and does in a session: each is one event of the journal, and one undo takes it back."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from cobras.core.board import Board
from cobras.core.checks import (
    as_new_rows,
    as_whole_number,
    known_groups,
)
from cobras.core.exceptions import CobrasError, DataWarning, InvalidDataError, StaleQuestionError
from cobras.core.frames import Items, NewRows, is_frame
from cobras.core.partition import Partition
from cobras.core.progress import shared_items
from cobras.core.types import Action, Answer, Event, Pair, Record
from cobras.methods.registry import METHODS, MethodEntry, registration
from cobras.session.acts import Acts
from cobras.session.boards import next_board
from cobras.session.questions import RunningSession, locked
from cobras.session.replay import Replay, Revision
from cobras.spaces.base import check_can_grow, check_new_rows


class Preview(NamedTuple):
    """What would be shown after a move, a merge or a board, which has not been done.

    Attributes
    ----------
    partition : Partition
        The clustering.
    n_changed : int
        How many items would be in another cluster, that is one with another id.
    taken_back : tuple of Record
        The answers that would have no effect any more, because they stand in the way.
    """

    partition: Partition
    n_changed: int
    taken_back: tuple[Record, ...] = ()


def _names(can: Callable[[MethodEntry], bool]) -> str:
    """The methods that can do something, in words."""
    *others, last = (name for name, method in METHODS.items() if can(method))
    return f"{', '.join(others)} and {last}"


class AnswerableSession(RunningSession):
    """The part of a session that records answers and acts."""

    # -- asking and telling ----------------------------------------------------------------------------------------

    @locked
    def tell(self, answer: Answer | bool | None, pair: Sequence[int]) -> None:
        """Answer the open question; `pair` names it, so that a late or doubled answer is refused."""
        answer = Answer.of(answer)
        open_pair = self.ask()
        try:
            i, j = (as_whole_number(row, "A row") for row in pair)
        except (TypeError, ValueError):
            raise InvalidDataError(
                f"An answer is for a pair of rows, as ask() returns it, not for {pair!r}."
            ) from None
        if open_pair is None:
            raise StaleQuestionError(f"Answer is for pair ({i}, {j}), but there is no open question.")
        if {i, j} != set(open_pair):
            raise StaleQuestionError(
                f"Answer is for pair ({i}, {j}), but the open question is ({open_pair.i}, {open_pair.j}). "
                "Call ask() again."
            )
        self._replay.constraints.check(*open_pair, answer)
        self._add(Event("answer", {"i": open_pair.i, "j": open_pair.j, "answer": int(answer)}))

    def skip(self, pair: Sequence[int]) -> None:
        """Answer that one is unsure: the pair is set aside and never becomes a constraint."""
        self.tell(Answer.UNSURE, pair)

    @locked
    def add_constraint(self, i: int, j: int, answer: Answer | bool) -> None:
        """Say what is known about any pair, asked or not."""
        answer, i, j = Answer.of(answer), as_whole_number(i, "A row"), as_whole_number(j, "A row")
        for row in (i, j):
            if not 0 <= row < self.space.n:
                raise InvalidDataError(f"There is no row {row}; rows go from 0 to {self.space.n - 1}.")
        if i == j or answer is Answer.UNSURE:
            raise InvalidDataError("A constraint says SAME or DIFFERENT about two different rows.")
        self._replay.constraints.check(i, j, answer)
        self._add(Event("constraint", {"i": i, "j": j, "answer": int(answer)}))

    @locked
    def add_constraints(
        self, must_link: Any = None, cannot_link: Any = None, *, labels: Any = None, unknown: Any = None
    ) -> None:
        """Say what is known of many rows at once, for example from earlier work; one undo takes it all back.

        What contradicts itself or the answers raises, and then nothing is added. It counts as no answer.

        Parameters
        ----------
        must_link, cannot_link : array-like of shape (m, 2), optional
            Pairs of row numbers.
        labels : array-like of shape (n,), optional
            One label for each row: equal ones are the same, others are different. None, NaN and other missing
            values are rows of which nothing is known; -1 is a label as any other. Labels that are texts become
            names of clusters.
        unknown : optional
            A label that means the same as a missing value, such as -1.
        """
        labelled = {} if labels is None else known_groups(labels, self.space.n, unknown)
        self._add(self._acts.add_known(labelled, must_link, cannot_link))

    @locked
    def mark(self, cluster: int, *, pure: bool = False, complete: bool = False) -> None:
        """Mark a cluster as pure (do not split it) or complete (do not touch it); with neither, remove the mark."""
        if not registration(self.parameters["method"]).honours_marks:
            able = _names(lambda method: method.honours_marks)
            raise InvalidDataError(f"{self.parameters['method']} knows no marks; {able} do.")
        marks, marked = self._acts.marks(cluster), self._replay.constraints.marked
        # Of what was marked before, the method may have other super-instances by now.
        at = self.clusters_of(row for row, _ in marked)
        marks += [mark for mark in marked if at[mark[0]] == cluster and mark not in marks]
        self._add(Event("mark", {"super_instances": marks, "pure": bool(pure), "complete": bool(complete)}))

    @locked
    def name(self, cluster: int, text: str) -> None:
        """Name a cluster; the name stays with its representative when numbers change. Empty text removes it."""
        if not isinstance(text, str) or any("\ud800" <= character <= "\udfff" for character in text):
            raise InvalidDataError(f"The name of a cluster is a text of whole characters, not {text!r}.")
        # A row that was answered stays in its cluster, where a method may move others.
        first = self._acts.typical_row(cluster)
        body: dict[str, Any] = {"representative": first, "text": text.strip()}
        # After a merge, one cluster may hold the representatives of several names.
        body["replaces"] = [r for r, at in self.clusters_of(self._history.names).items() if at == cluster]
        body["ends_redo"] = True
        self._record(Event("name", body))

    # -- acting on what one sees -----------------------------------------------------------------------------------

    @locked
    def move(self, rows: Iterable[int], to: int | None, *, anyway: bool = False) -> None:
        """Move rows to another cluster or, with None, out of the one that they are in.

        It says that they are the same as each other and as that cluster, and different from the one they leave.
        They are shown there at once, whatever the method makes of it; with None in a cluster of their own, unless
        the method has a better one. What contradicts the answers is refused; with `anyway`, it takes back the
        answers in the way, and no others: they stay in the history, but have no effect. One undo takes all back.
        """
        self._add(self._acts.move(rows, to, self._history.names, anyway))

    @locked
    def merge(self, a: int, b: int, *, anyway: bool = False) -> None:
        """Make one of two clusters, given by their numbers; `anyway` as in `move`.

        Examples
        --------
        >>> from cobras import Session
        >>> session = Session([[0.0], [0.2], [5.0], [5.2]], "cobras", random_state=0)
        >>> session.add_constraints(labels=[0, 0, 1, 1])
        >>> session.merge(0, 1, anyway=True)
        >>> session.partition.n_clusters, session.undo().text, session.partition.n_clusters
        (1, 'a merge, which took back answers', 2)
        """
        self._add(self._acts.merge(a, b, anyway))

    @locked
    def split(self, cluster: int) -> None:
        """Ask inside a cluster next, until two items in it are different or nothing inside is left to ask."""
        if not registration(self.parameters["method"]).honours_splits:
            able = _names(lambda method: method.honours_splits)
            raise InvalidDataError(
                f"{self.parameters['method']} cannot be asked to split a cluster; {able} can. Move items out of it."
            )
        self._add(self._acts.split(cluster))

    @locked
    def append(self, X: Any) -> None:
        """Add rows at the end of the data: the collection grows.

        With COBRAS, COBRA and ADDER all old rows stay where they are, and each new one joins the cluster that
        `predict` gives it. Answers, names, marks and ids of clusters stay, and the next questions are about new
        rows whose place is unsure. Any other method begins again on all rows, with all answers. One undo takes the
        rows back, and redo brings them again. All of them may be shown, whatever `train_indices` were.

        Cells of a data frame that do not fit count as missing, with a `DataWarning`. The rows are not stored in a
        session file: keep them, and open it with all rows in their order.

        Examples
        --------
        >>> from cobras import Session
        >>> session = Session([[0.0], [0.2], [5.0], [5.2]], "cobras", random_state=0)
        >>> while (pair := session.ask()) is not None:
        ...     session.tell(abs(pair.i - pair.j) == 1 and min(pair) != 1, pair)
        >>> session.append([[0.3], [4.9]])
        >>> session.labels_.tolist()
        [0, 0, 1, 1, 0, 1]
        >>> session.undo().text, len(session.labels_)
        ('the append of 2 rows', 4)
        """
        space = check_can_grow(self.space)
        first = check_can_grow(self._setting.collection.first).X
        rows = as_new_rows(self._new_rows(X).X, first.shape[1], self._columns)
        if self._file is not None and self._items is not None:
            self._file.check_features(space.n, space.n + len(rows))
            if is_frame(X):
                self._items.check_together(X, rows)
        check_new_rows(rows, first)
        # A copy, unless it is one already: the rows must not change with an array of the caller.
        self._grow(space, rows if rows.base is None and rows is not X else rows.copy())
        # For `to_frame`; what was appended here before has been undone.
        self._added[space.n] = X if self._items is not None and is_frame(X) else None

    @locked
    def after_move(self, rows: Iterable[int], to: int | None, *, anyway: bool = False) -> Preview:
        """What `move` would change. It raises what `move` would raise, and nothing is written."""
        return self._preview(self._acts.move(rows, to, self._history.names, anyway))

    @locked
    def after_merge(self, a: int, b: int, *, anyway: bool = False) -> Preview:
        """What `merge` would change."""
        return self._preview(self._acts.merge(a, b, anyway))

    # -- boards ----------------------------------------------------------------------------------------------------

    @locked
    def board(self, n_cards: int = 6) -> Board | None:
        """Some rows to be sorted in place of answering the open question, at most `n_cards` of them cards.

        None when nothing is left that a board could ask. Pairs and boards may be mixed at any moment.
        """
        n_cards, replay = as_whole_number(n_cards, "The number of cards"), self._replay
        if n_cards < 1:
            raise InvalidDataError(f"A board has one card or more, not {n_cards}.")
        if n_cards not in replay.boards:
            given = self._setting, self._history, replay, self.space, n_cards, self._homes
            replay.boards[n_cards] = next_board(*given)
        return replay.boards[n_cards]

    @locked
    def sort(self, board: Board, groups: Iterable[Sequence[int]]) -> None:
        """Sort a board: lists of its rows that belong together. A card that is in none is unsure.

        It says something about every two cards, and about every card and every pile; about two piles only where
        they are in one list. It counts as one answer, and one undo takes it back. A board that was made before
        something else was said or done is refused.
        """
        self._add(self._sort(board, groups))

    @locked
    def after_sort(self, board: Board, groups: Iterable[Sequence[int]]) -> Preview:
        """What `sort` would change."""
        return self._preview(self._sort(board, groups))

    @locked
    def board_after(
        self, board: Board, groups: Iterable[Sequence[int]], n_cards: int = 6
    ) -> Callable[[], Board | None]:
        """A function that returns the board that follows if this one is sorted so.

        It changes nothing and may run in any thread.
        """
        history = self._history.after(self._sort(board, groups))

        def find() -> Board | None:
            replay = Replay(self._setting, history)
            return next_board(self._setting, history, replay, self.space, n_cards)

        return find

    # -- changing one's mind ---------------------------------------------------------------------------------------

    @locked
    def undo(self) -> Action:
        """Take back the last thing that was done, whatever it was, and return what it was."""
        if not self.can_undo:
            raise CobrasError("There is nothing to undo.")
        action = self._history.done[-1].action
        self._state = None
        self._record(Event("undo", {"action": action.kind}))
        return action

    @locked
    def redo(self) -> Action:
        """Bring back what was undone last, and return what it was."""
        if not self.can_redo:
            raise CobrasError("There is nothing to redo.")
        for entry in self._history.undone[-1].entries:
            if entry.kind == "append":
                self._setting.collection.grow(self.space, entry.fingerprint)
        self._state = None
        self._record(Event("redo"))
        return self._history.done[-1].action

    @locked
    def revise(self, index: int, answer: Answer | bool | None) -> Revision:
        """Change an old answer, by its index in the history, and replay everything after it.

        A board, a move or a merge can be revised to UNSURE only: then it says nothing any more.
        """
        answer, index = Answer.of(answer), as_whole_number(index, "An answer")
        places = [at for at, e in enumerate(self._history.entries) if e.is_recorded]
        if not 0 <= index < len(places):
            raise InvalidDataError(
                f"There is no answer {index}; the history holds {len(places)}, counted from 0."
            )
        entry = self._history.entries[places[index]]
        if entry.pair is None and answer is not Answer.UNSURE:
            raise InvalidDataError(
                f"Answer {index} is a {entry.kind}, which can be revised to UNSURE, not to {answer.name}."
            )
        before = self._replay
        void = before.without_effect(self._history.entries)
        event = Event("revise", {"at": places[index], "answer": int(answer)})
        # On a copy first: a revision that contradicts earlier answers must change nothing.
        history = self._history.after(event)
        after = Replay(self._setting, history)
        if places[index] in after.contradicted:
            raise after.contradicted[places[index]]
        self._state = None
        self._record(event)
        self._state = after
        lost = after.without_effect(history.entries).keys() - void.keys()
        unasked = after.unasked - before.unasked - lost
        records = list(zip(places, self.history, strict=True))
        return Revision(
            tuple(record for place, record in records if place in lost),
            tuple(record for place, record in records if place in unasked),
        )

    # -- inside ----------------------------------------------------------------------------------------------------

    @property
    def _acts(self) -> Acts:
        replay = self._replay
        return Acts(self.space, self.partition, replay.constraints, self._homes, replay.implied)

    def _sort(self, board: Board, groups: Iterable[Sequence[int]]) -> Event:
        if not isinstance(board, Board):
            raise InvalidDataError(f"Only a board can be sorted, as board() returns it, not {board!r}.")
        if board not in self._replay.boards.values() and board != self.board(max(1, len(board.cards))):
            raise StaleQuestionError("This board is not the one to be sorted any more. Call board() again.")
        return self._acts.sort(board, groups, self._setting.doubts)

    def _new_rows(self, X: Any) -> NewRows:
        """New rows, read as the session's own were; a warning says what of them counts as missing."""
        if isinstance(X, Items):
            raise InvalidDataError(
                "New rows are given as a data frame or an array, not as a Dataset, which has scales of its own; "
                "give its frame."
            )
        rows = NewRows(X) if self._items is None else self._items.new_rows(X)
        for note in rows.notes:
            warnings.warn(note, DataWarning, stacklevel=4)  # beyond the public method and its lock
        return rows

    def _preview(self, event: Event) -> Preview:
        before, after = self._replay, Replay(self._setting, self._history.after(event))
        ids, new_ids = self.cluster_ids_, after.ids_at(len(after.partitions) - 1)
        shared = shared_items(before.partition, after.partition)
        n_same = sum(count for (old, new), count in shared.items() if ids[old] == new_ids[new])
        gone = {Pair(i, j): answer for i, j, answer in event.body.get("against", ())}
        taken_back = tuple(
            record
            for record in self.history
            if any(gone.get(pair.ordered) == a and pair not in record.void for pair, a in record.said)
        )
        return Preview(after.partition, self.space.n - n_same, taken_back)
