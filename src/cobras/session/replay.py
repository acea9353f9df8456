"""A method running on the entries of a history: each answer is sent when its pair is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cobras.core.constraints import Constraints
from cobras.core.exceptions import InconsistentAnswersError
from cobras.core.partition import Partition
from cobras.core.types import Answer, Pair
from cobras.methods.protocol import Reconsider, Step, Steps
from cobras.session.history import Entry, History


class Replay:
    """The running method, the constraints it works on and the partition after every answer.

    Attributes
    ----------
    step : Step
        The open question and the current partition.
    partitions : list of Partition
        One per answer, and the one before the first.
    unasked : set of int
        Places in the history of answers whose question did not come up again; they were added as constraints.
    contradicted : dict of int to InconsistentAnswersError
        Places of entries that contradict earlier ones, hence are not in force, and what they contradict.
    """

    def __init__(self, start: Callable[[Constraints], Steps], history: History) -> None:
        self.constraints = Constraints()
        self.unasked: set[int] = set()
        self.contradicted: dict[int, InconsistentAnswersError] = {}
        self._answers: dict[Pair, Answer] = {}
        self._place = 0
        self._start = start
        self._steps = start(self.constraints)
        self.step: Step = next(self._steps)
        self.partitions: list[Partition] = [self.step.partition]
        for section in history.sections():
            self.asked_otherwise = not self.feed(section)

    def feed(self, entries: Sequence[Entry]) -> bool:
        """Feed entries in order; False when an unexpected question made the rest constraints at once."""
        for at, entry in enumerate(entries):
            if entry.kind != "answer":
                self._add(entry)
                self._reconsider()
            elif self._is_answer_to_open_question(entry):
                assert entry.pair is not None
                assert entry.answer is not None
                self._answers[entry.pair.ordered] = entry.answer
                self.step = self._steps.send(entry.answer)
                self.partitions.append(self.step.partition)
                self._place += 1
            else:
                # No answer is lost: the rest is added without asking, and the method looks at all of it once.
                for rest in entries[at:]:
                    if rest.kind == "answer":
                        self.unasked.add(self._place)
                        self.partitions.append(self.step.partition)
                    self._add(rest)
                self._reconsider()
                return False
        return True

    def without_effect(self, entries: Sequence[Entry]) -> set[int]:
        """Places of the entries that are not in force: contradicted when they came, or doubted by the method."""
        doubted = self.constraints.doubted
        return self.contradicted.keys() | {
            place
            for place, entry in enumerate(entries)
            if entry.pair is not None and doubted.get(entry.pair.ordered) is entry.answer
        }

    def _is_answer_to_open_question(self, entry: Entry) -> bool:
        if self.step.pair is None or entry.pair is None or entry.pair.ordered != self.step.pair.ordered:
            return False
        # A method asks what is implied only without transitive reuse.
        implied = self.constraints.relation(*entry.pair)
        return implied is None or entry.answer in (implied, Answer.UNSURE)

    def _add(self, entry: Entry) -> None:
        place, self._place = self._place, self._place + 1
        if entry.pair is not None and entry.answer is not None:
            try:
                self.constraints.add(*entry.pair, entry.answer)
                self.constraints.volunteered.add(entry.pair.ordered)
            except InconsistentAnswersError as error:
                self.contradicted[place] = error
            return
        # A new mark replaces the old one; one that says neither pure nor complete only removes it.
        for mark in entry.marked:
            self.constraints.pure.discard(mark)
            self.constraints.complete.pop(mark, None)
        if entry.pure:
            self.constraints.pure.update(entry.marked)
        if entry.complete:
            self.constraints.complete.update(dict.fromkeys(entry.marked, place))

    def _reconsider(self) -> None:
        """Tell the method that the constraints or marks have changed; restart one that does not handle this."""
        try:
            self.step = self._steps.throw(Reconsider())
        except Reconsider:
            self._restart()
        self.partitions[-1] = self.step.partition

    def _restart(self) -> None:
        """Begin anew on the constraints as they are, and answer from them what has been answered before."""
        self._steps = self._start(self.constraints)
        self.step = next(self._steps)
        seen: set[Pair] = set()  # a method that asks the same pair again wants a person to answer it
        while (pair := self.step.pair) is not None and pair.ordered not in seen:
            known = self.constraints.relation(*pair)
            if known is None:  # unsure, or the method adds no answers to the constraints
                known = self._answers.get(pair.ordered)
            if known is None:
                return
            seen.add(pair.ordered)
            self.step = self._steps.send(known)
