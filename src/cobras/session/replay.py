"""A method that is replayed from the entries of a history: each answer is sent when its pair is asked."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import NamedTuple

from cobras.core.board import Board
from cobras.core.constraints import Constraints, Marked
from cobras.core.edits import Edit, EditedPartition, Editor, rows_beside
from cobras.core.exceptions import InconsistentAnswersError, InvalidDataError
from cobras.core.ids import ClusterIds, KeptIds
from cobras.core.partition import Partition, SuperInstance
from cobras.core.types import Answer, Pair, Record
from cobras.methods.protocol import Expectation, Grown, Reconsider, Step, Steps
from cobras.session.beliefs import growth_of
from cobras.session.entries import COUNTED, Entry
from cobras.session.history import History
from cobras.spaces.base import Collection, Space


class Revision(NamedTuple):
    """What changing an old answer did to later ones.

    Attributes
    ----------
    no_longer_apply : tuple of Record
        Answers that contradict the revised one. They are kept in the history, but have no effect.
    no_longer_asked : tuple of Record
        Answers to questions that do not come up any more. They stay in force as constraints.
    """

    no_longer_apply: tuple[Record, ...]
    no_longer_asked: tuple[Record, ...]


class Setting(NamedTuple):
    """What a replay needs beside the history."""

    collection: Collection  # the data, before and after rows were added
    start: Callable[[Space, Constraints], Steps]  # starts the method
    editor: Callable[[Space], Editor]  # what shows moves and merges on top of what the method shows
    doubts: bool  # whether the method takes answers that contradict each other


class SplitRequest(NamedTuple):
    """A cluster that is to be split: one of its rows, its number in a clustering, and where rows were in that."""

    row: int
    partition: Partition
    number: int
    homes: dict[int, SuperInstance]

    def holds(self, pair: Pair) -> bool:
        """Whether both rows are inside."""
        return {*self.partition.clusters_of(pair, self.homes).values()} == {self.number}


class Replay:
    """The running method, the constraints it works on and the partition after every answer.

    Attributes
    ----------
    space : Space
        The data, with all rows that were added.
    step : Step
        The open question and the clustering of the method.
    partition : Partition
        The clustering that is shown: that of the method, with moves and merges on top.
    partitions : list of Partition
        One per answer or board, and the one before the first.
    expected : list of float or None
        As many: the adjusted Rand index that the method expects each of them to have, if it says so.
    boards : dict of int to Board or None
        The boards that were made for the open question, by their number of cards.
    unasked : set of int
        Places in the history of answers whose question did not come up again; they were added as constraints.
    contradicted : dict of int to InconsistentAnswersError
        Places of entries that contradict earlier ones, hence are not in force, and what they contradict.
    void : dict of int to set of Pair
        Which of their pairs these are.
    implied : set of Pair
        Pairs that a method asked again when it began anew, and that were answered by what the others imply.
    """

    def __init__(self, setting: Setting, history: History) -> None:
        self.step: Step
        self.space = setting.collection.first
        self.constraints = Constraints()
        self.boards: dict[int, Board | None] = {}
        self.partitions: list[Partition] = []
        self.expected: list[float | None] = []
        self.unasked: set[int] = set()
        self.contradicted: dict[int, InconsistentAnswersError] = {}
        self.void: dict[int, set[Pair]] = {}
        self.implied: set[Pair] = set()
        self._answers: dict[Pair, Answer] = {}
        self._place = 0
        self._setting = setting
        # Made when they are needed: most runs have neither edits nor somebody who looks at ids.
        self._editor: Editor | None = None
        self._ids: ClusterIds | None = None
        self._shown: list[tuple[Partition, bool]] = []
        # Where some of the entries were undone, kept ids count at the end of the others.
        kept, n_entries = history.kept_ids, len(history.entries)
        self._to_keep = None if kept is None else kept._replace(place=min(kept.place, n_entries))
        self._kept: dict[int, KeptIds] = {}
        self._edits: list[Edit] = []
        self._beside: dict[int, int] = {}  # new rows, and the moved ones that they are shown with
        self._requests: dict[int, SplitRequest] = {}
        self._begin()
        self._show(is_new=True)
        for section in history.sections():
            self.asked_otherwise = not self.feed(section)

    def feed(self, entries: Sequence[Entry]) -> bool:
        """Feed entries in order; False when an unexpected question made the rest constraints at once."""
        self.boards = {}
        for at, entry in enumerate(entries):
            if entry.kind == "answer" and not self._is_answer_to_open_question(entry):
                # No answer is lost: the rest is added without asking, and the method looks at all of it once.
                for rest in entries[at:]:
                    if rest.kind in COUNTED:
                        self._show(is_new=True)
                    if rest.kind == "answer":
                        self.unasked.add(self._place)
                    if rest.kind in ("append", "mark"):  # what is shown must be what the answers so far say
                        self._reconsider()
                    self._add(rest)
                self._reconsider()
                self._end_requests()
                self._show(is_new=False)
                return False
            if entry.kind == "answer":
                self._answer(entry)
            else:
                shown = self.step.partition
                self._add(entry)
                if entry.kind != "append":
                    self._reconsider()
                if entry.kind == "mark" and self.step.beliefs is None:
                    # It says nothing about rows, also where more is known of new rows than is shown.
                    self.step = replace(self.step, partition=shown)
            self._end_requests()
            self._show(is_new=entry.kind in COUNTED)
        return True

    def ids_at(self, n_answers: int) -> tuple[int, ...]:
        """The ids of the clusters that were shown after the first answers and boards."""
        self._ids = self._ids or ClusterIds(self._shown, self._kept)
        return self._ids.at(n_answers)

    @property
    def moved(self) -> frozenset[int]:
        """The rows that a person moved."""
        return frozenset(row for edit in self._edits for row in edit.rows)

    def without_effect(self, entries: Sequence[Entry]) -> dict[int, set[Pair]]:
        """The pairs that are not in force, by place: contradicted when they came, or doubted by the method."""
        constraints, doubted = self.constraints, self.constraints.doubted
        void = {place: set(pairs) for place, pairs in self.void.items()}
        for place, entry in enumerate(entries) if doubted or self._setting.doubts else ():
            found = {pair.ordered for pair, answer in entry.said if doubted.get(pair.ordered) is answer}
            if entry.kind == "board":
                # It may have said something else about a pair than an answer that is doubted, too.
                said = [(pair, answer) for pair, answer in entry.said if answer is not Answer.UNSURE]
                found |= {p.ordered for p, answer in said if constraints.answer_to(*p) is not answer}
            if found:
                void.setdefault(place, set()).update(found)
        return void

    def _answer(self, entry: Entry) -> None:
        assert entry.pair is not None
        assert entry.answer is not None
        self._answers[entry.pair.ordered] = entry.answer
        self.implied.discard(entry.pair.ordered)
        self._end_requests(entry)
        self._take(self._steps.send, entry.answer)
        self._place += 1

    def _begin(self) -> None:
        steps = self._setting.start(self.space, self.constraints)
        if not isinstance(steps, Generator):
            raise InvalidDataError(
                f"A method is a generator function that yields Step(pair, partition), but it returned {steps!r}."
            )
        self._steps: Steps = steps
        self._take(next, steps)

    def _take(self, go_on: Callable[..., object], given: object) -> None:
        """Go on to the next step of the method, which may be a user's own."""
        try:
            found = go_on(given)
        except StopIteration:
            raise InvalidDataError(
                "The method has ended. When nothing is left to ask, it must go on to yield Step(None, partition)."
            ) from None
        if not isinstance(found, Step):
            raise InvalidDataError(f"A method yields Step(pair, partition), but it yielded {found!r}.")
        self.step = found

    def _is_answer_to_open_question(self, entry: Entry) -> bool:
        if self.step.pair is None or entry.pair is None or entry.pair.ordered != self.step.pair.ordered:
            return False
        # A method asks what is implied only without transitive reuse.
        implied = self.constraints.relation(*entry.pair)
        return implied is None or entry.answer in (implied, Answer.UNSURE)

    def _add(self, entry: Entry) -> None:
        place, self._place = self._place, self._place + 1
        match entry.kind:
            case "mark":
                self._mark(entry, place)
            case "split":
                (row,) = entry.rows
                self._requests[place] = self._request_split(row)
                self.constraints.to_split.update(dict.fromkeys(entry.marked, place))
            case "move" | "merge":
                self._edit(entry, place)
            case "append":
                self._grow(entry)
            case _:
                for pair, answer in entry.said:
                    self._add_pair(entry, place, pair, answer)
        self._end_requests(entry)

    def _add_pair(self, entry: Entry, place: int, pair: Pair, answer: Answer) -> None:
        is_board, known = entry.kind == "board", self.constraints.relation(*pair)
        if is_board and answer is Answer.UNSURE:
            if known is not None:
                return
            self._answers.setdefault(pair.ordered, answer)
        self.implied.discard(pair.ordered)
        try:
            self.constraints.add(*pair, answer)
            if not is_board:
                self.constraints.volunteered.add(pair.ordered)
        except InconsistentAnswersError as error:
            if is_board and self._setting.doubts:
                self.constraints.doubted[pair.ordered] = answer
                return
            self.contradicted.setdefault(place, error)
            self.void.setdefault(place, set()).add(pair.ordered)

    def _edit(self, entry: Entry, place: int) -> None:
        """Add all that a move or a merge says, or nothing where some of it contradicts an answer.

        Answers that it takes back are as if they had not been given.
        """
        against = () if entry.answer is Answer.UNSURE else entry.against
        gone = {pair.ordered for pair, answer in against if self.constraints.answer_to(*pair) is answer}
        try:
            (self.constraints.without(gone | self.implied) if gone else self.constraints).check_all(
                entry.said
            )
        except InconsistentAnswersError as error:
            self.contradicted[place] = error
            self.void[place] = {pair.ordered for pair, _ in entry.said}
            return
        if gone:
            self._take_back(gone)
        for pair, answer in entry.said:
            self.implied.discard(pair.ordered)
            self.constraints.add(*pair, answer)
            self.constraints.volunteered.add(pair.ordered)
        if entry.said:
            self._edits.append(Edit(entry.rows, entry.said))
        if gone:
            # Methods expect that more and more is known, so that they need not look at all of it again.
            self._restart()

    def _take_back(self, gone: set[Pair]) -> None:
        for pair in gone:
            self.constraints.doubt(pair)
            self.constraints.volunteered.discard(pair)
            self._answers.pop(pair, None)
        self.constraints.forget(self.implied)  # the method will ask again
        self.implied = set()
        edits = (
            (rows, tuple(one for one in said if one[0].ordered not in gone)) for rows, said in self._edits
        )
        self._edits = [Edit(rows, said) for rows, said in edits if said]

    def _grow(self, entry: Entry) -> None:
        """Give the method the new rows; the clusters that are to be split are then those of the same rows."""
        old, before, believes = self.space, self.step.partition, self.step.beliefs is not None
        space = self._setting.collection.grow(old, entry.fingerprint)
        growth = growth_of(self.step, self.constraints, old, space)
        # An editor remembers in which super-instances rows are, and these have changed.
        self.space, self._editor = space, None
        try:
            self._take(self._steps.throw, Grown(before, space, growth))
            if not believes or self.step.beliefs is None:
                # Even if it found out more from the answers: until the next one, old rows stay where they are.
                self.step = replace(self.step, partition=growth.partition, beliefs=None)
        except Grown:
            self._restart()
        if entry.follows_moves and isinstance(shown := self._edited(), EditedPartition):
            self._beside |= rows_beside(space.X, old.n, shown)
        self._show(is_new=False)
        self._requests = {place: self._request_split(one.row) for place, one in self._requests.items()}

    def _request_split(self, row: int) -> SplitRequest:
        return SplitRequest(row, self.partition, self.partition.clusters_of([row])[row], {})

    def _end_requests(self, entry: Entry | None = None) -> None:
        """End the requests inside which an entry found a difference; without one, those not asked about."""
        requests = self._requests
        if not requests:
            return
        if entry is not None:
            apart = [pair for pair, answer in entry.said if answer is Answer.DIFFERENT]
            requests = {p: one for p, one in requests.items() if not any(map(one.holds, apart))}
        elif self.step.pair is None or not any(one.holds(self.step.pair) for one in requests.values()):
            requests = {}
        to_split = self.constraints.to_split
        for mark in [mark for mark, place in to_split.items() if place not in requests]:
            del to_split[mark]
        self._requests = requests

    def _show(self, is_new: bool) -> None:
        """Add what is shown now, or put it in the place of what was shown before."""
        self.partition = self._edited()
        beliefs = self.step.beliefs
        expected = beliefs.expected_ari() if isinstance(beliefs, Expectation) else None
        if is_new:
            self.partitions.append(self.partition)
            self.expected.append(expected)
        else:
            self.partitions[-1] = self.partition
            self.expected[-1] = expected
        if self._to_keep is not None and self._place >= self._to_keep.place:
            self._kept[len(self._shown)] = self._to_keep
            self._to_keep = None
        self._shown.append((self.partition, is_new))

    def _edited(self) -> Partition:
        """The clustering of the method with moves and merges on top."""
        if not self._edits:
            return self.step.partition
        self._editor = self._editor or self._setting.editor(self.space)
        return self._editor.edit(self.step.partition, self._edits, self.constraints, self._beside)

    def _mark(self, entry: Entry, place: int) -> None:
        constraints, marks = self.constraints, {*entry.marked}
        # A new mark replaces the old one; one that says neither pure nor complete only removes it.
        for mark in marks:
            constraints.pure.discard(mark)
            constraints.complete.pop(mark, None)
            constraints.marked.pop(mark, None)
        if entry.pure:
            constraints.pure.update(entry.marked)
        if entry.complete:
            constraints.complete.update(dict.fromkeys(entry.marked, place))
        if entry.pure or entry.complete:
            shown = (s for group in self.step.partition.groups for s in group)
            constraints.marked.update({s.mark: Marked(s, place) for s in shown if s.mark in marks})

    def _reconsider(self) -> None:
        """Tell the method that the constraints or marks have changed; restart one that does not handle this."""
        try:
            self._take(self._steps.throw, Reconsider(self.step.partition))
        except Reconsider:
            self._restart()

    def _restart(self) -> None:
        """Begin anew on the constraints as they are, and answer from them what has been answered before."""
        self._begin()
        seen: set[Pair] = set()  # a method that asks the same pair again wants a person to answer it
        while (pair := self.step.pair) is not None and pair.ordered not in seen:
            known = self.constraints.relation(*pair)
            # One that a person said and that was taken back is said again by this.
            was_said = known in (
                self.constraints.answer_to(*pair),
                self.constraints.doubted.get(pair.ordered),
            )
            if known is not None and not was_said:
                self.implied.add(pair.ordered)
            if known is None:  # unsure, or the method adds no answers to the constraints
                known = self._answers.get(pair.ordered)
            if known is None:
                return
            seen.add(pair.ordered)
            self._take(self._steps.send, known)
